// Time and results of a function that CasADi generated; compiled with its file as CODE.
//
// Reads from stdin the number of states, how many of them to show, seconds to spend, and the states:
// the function's arguments one after the other. Prints the nanoseconds of a call (of the fastest of
// many rounds over all states), then the results of the first states, row by row, a line each.

#include CODE

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { INPUTS = 3, MOST_OUTPUTS = 2 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

static double* numbers(size_t count) {
  double* found = calloc(count + 1, sizeof *found);
  if (!found) exit(1);
  return found;
}

// Entries of a pattern: rows, columns, then either 1 (all of them) or where columns begin and rows.
static casadi_int entries(const casadi_int* pattern) {
  return pattern[2] == 1 ? pattern[0] * pattern[1] : pattern[2 + pattern[1]];
}

static void print(const casadi_int* pattern, const double* values) {
  const casadi_int rows = pattern[0], columns = pattern[1];
  double* dense = numbers(rows * columns);
  for (casadi_int column = 0; column < columns; ++column) {
    const int all = pattern[2] == 1;
    const casadi_int first = all ? column * rows : pattern[2 + column];
    const casadi_int end = all ? first + rows : pattern[3 + column];
    for (casadi_int k = first; k < end; ++k) {
      const casadi_int row = all ? k - first : pattern[3 + columns + k];
      dense[row * columns + column] = values[k];
    }
  }
  for (casadi_int k = 0; k < rows * columns; ++k) printf("%.17g ", dense[k]);
  free(dense);
}

int main(void) {
  int count, shown;
  double budget;
  if (scanf("%d %d %lf", &count, &shown, &budget) != 3) return 1;
  casadi_int sz_arg, sz_res, sz_iw, sz_w;
  call_work(&sz_arg, &sz_res, &sz_iw, &sz_w);
  double *work = numbers(sz_w), *states[INPUTS];
  casadi_int* whole = calloc(sz_iw + 1, sizeof *whole);
  const double** arg = calloc(sz_arg + INPUTS, sizeof *arg);
  double** res = calloc(sz_res + MOST_OUTPUTS, sizeof *res);
  casadi_int size[INPUTS];
  const int outputs = (int)call_n_out();
  for (int k = 0; k < INPUTS; ++k) size[k] = entries(call_sparsity_in(k));
  for (int k = 0; k < INPUTS; ++k) states[k] = numbers(count * size[k]);
  for (int k = 0; k < outputs; ++k) res[k] = numbers(entries(call_sparsity_out(k)));
  for (int row = 0; row < count; ++row)
    for (int k = 0; k < INPUTS; ++k)
      for (casadi_int i = 0; i < size[k]; ++i)
        if (scanf("%lf", states[k] + row * size[k] + i) != 1) return 1;

  double best = INFINITY;
  for (double spent = 0; spent < 1e9 * budget;) {
    const double start = now_ns();
    for (int row = 0; row < count; ++row) {
      for (int k = 0; k < INPUTS; ++k) arg[k] = states[k] + row * size[k];
      call(arg, res, whole, work, 0);
    }
    const double ns = now_ns() - start;
    best = fmin(best, ns);
    spent += ns;
  }
  printf("%.17g\n", best / count);
  for (int row = 0; row < shown; ++row) {
    for (int k = 0; k < INPUTS; ++k) arg[k] = states[k] + row * size[k];
    call(arg, res, whole, work, 0);
    for (int k = 0; k < outputs; ++k) print(call_sparsity_out(k), res[k]);
    printf("\n");
  }
  return 0;
}
