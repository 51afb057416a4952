/* How long a built kernel takes, measured around a loop in C. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef unsigned (*evaluation)(const void *in, void *out, const void *k, size_t blocks);
typedef unsigned (*steps_of)(const void *in, void *state, void *trace, const void *k,
                             const void *k_special, size_t blocks, size_t rows, int64_t first,
                             int64_t steps, int64_t every, int64_t save);

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

/* The fastest of many rounds of calls, ns; each call has its own inputs, stride bytes apart. */
double evaluations_ns(evaluation evaluate, const char *in, size_t stride, int calls, void *out,
                      const void *k, size_t blocks, double budget) {
  double best = INFINITY;
  for (double spent = 0; spent < budget;) {
    const double begin = now_ns();
    for (int i = 0; i < calls; i++) {
      evaluate(in + i * stride, out, k, blocks);
    }
    const double ns = now_ns() - begin;
    best = fmin(best, ns);
    spent += ns;
  }
  return best;
}

/* The fastest of many runs of so many steps from a start of so many bytes, ns. */
double steps_ns(steps_of advance, const void *start, void *state, size_t bytes, const void *k,
                size_t blocks, int64_t steps, double budget) {
  double best = INFINITY;
  for (double spent = 0; spent < budget;) {
    memcpy(state, start, bytes);
    const double begin = now_ns();
    advance(NULL, state, NULL, k, k, blocks, 0, 0, steps, 0, 0);
    const double ns = now_ns() - begin;
    best = fmin(best, ns);
    spent += ns;
  }
  return best;
}
