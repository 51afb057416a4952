/* The cost of bringing a link to a placement, of many states at once: see Reach in costs.py. The link's
 * placement, and its Jacobian, are kernels of LANES states; all else is of one state after the other. */

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "se3.h"

/* Sizes of state and control, of a knot, known to the compiler. */
enum { n = NX, m = NU };
enum { PLACEMENT = 12, JACOBIAN = 6 * m, VALUES = PLACEMENT + JACOBIAN };

/* A kernel that gives a link's placement: position, rotation row by row, then perhaps its Jacobian in its
 * own axes. Its inputs are these coordinates, its results stand at these places; others are zero. */
typedef struct {
  unsigned (*evaluate)(const double *in, double *out, const double *fixed, size_t blocks);
  const double *fixed;
  size_t inputs, results;
  const size_t *coordinates, *places;
} Kernel;

/* The goal's rotation, row by row, and position; where the state is to rest, and what it weighs; of all
 * knots but the last, and of the last, what the placement weighs and by what factor the state does. */
typedef struct {
  const double *rotation, *position, *rest, *state;
  double place, place_at_end, step, control;
} Goal;

/* Values (LANES, VALUES) of the kernel at states, one of which has its coordinates so far apart. */
static void evaluated(const Kernel *kernel, const double *const states[LANES], size_t apart,
                      double values[LANES][VALUES]) {
  double in[m * LANES], out[VALUES * LANES];
  for (size_t i = 0; i < kernel->inputs; i++)
    for (size_t c = 0; c < LANES; c++) in[i * LANES + c] = states[c][kernel->coordinates[i] * apart];
  kernel->evaluate(in, out, kernel->fixed, 1);
  for (size_t r = 0; r < kernel->results; r++)
    for (size_t c = 0; c < LANES; c++) values[c][kernel->places[r]] = out[r * LANES + c];
}

/* The logarithm of what is missing of a placement. */
static void missing_of(const Goal *goal, const double *placement, double twist[6]) {
  const double *R = goal->rotation, *p = placement, *own = placement + 3;
  double turn[9], away[3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++)
      turn[3 * i + j] = R[i] * own[j] + R[3 + i] * own[3 + j] + R[6 + i] * own[6 + j];
    away[i] = 0.0;
    for (int j = 0; j < 3; j++) away[i] += R[3 * j + i] * (p[j] - goal->position[j]);
  }
  log6(1, turn, away, twist);
}

/* Logarithms (count, 6) of what is missing at states (count, n). */
void missing(const Kernel *kernel, const Goal *goal, size_t count, const double *states, double *twists) {
  double values[LANES][VALUES] = {0};
  for (size_t k = 0; k < count; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) some[c] = states + (k + c < count ? k + c : count - 1) * n;
    evaluated(kernel, some, 1, values);
    for (size_t c = 0; c < LANES && k + c < count; c++) missing_of(goal, values[c], twists + (k + c) * 6);
  }
}

/* Costs (lanes) of motions, lanes `first` and so on of xs (T + 1, n, width) and us (T, m, width). */
void value(const Kernel *kernel, const Goal *goal, size_t T, size_t width, size_t first, size_t lanes,
           const double *xs, const double *us, double *costs) {
  double values[LANES][VALUES] = {0};
  const size_t count = (T + 1) * lanes;
  memset(costs, 0, lanes * sizeof *costs);
  for (size_t k = 0; k < count; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) {
      const size_t own = k + c < count ? k + c : count - 1;
      some[c] = xs + own / lanes * n * width + first + own % lanes;
    }
    evaluated(kernel, some, width, values);
    for (size_t c = 0; c < LANES && k + c < count; c++) {
      const size_t knot = (k + c) / lanes, lane = (k + c) % lanes;
      double twist[6], away = 0.0, state = 0.0, torques = 0.0;
      missing_of(goal, values[c], twist);
      for (int i = 0; i < 6; i++) away += twist[i] * twist[i];
      for (size_t i = 0; i < n; i++) {
        const double x = some[c][i * width] - goal->rest[i];
        state += goal->state[i] * x * x;
      }
      for (size_t i = 0; knot < T && i < m; i++) {
        const double u = us[(knot * m + i) * width + first + lane];
        torques += u * u;
      }
      const double place = knot < T ? goal->place : goal->place_at_end;
      const double step = knot < T ? goal->step : 1.0;
      costs[lane] += 0.5 * (place * away + step * (state + goal->control * torques));
    }
  }
}

/* Derivatives at the knots of a motion xs (T + 1, n), us (T, m): lx (T + 1, n), lxx (T + 1, n, n), which is
 * zero, and lu (T, m). The kernel gives Jacobians, too. */
void approximated(const Kernel *kernel, const Goal *goal, size_t T, const double *xs, const double *us,
                  double *lx, double *lxx, double *lu) {
  double values[LANES][VALUES] = {0};
  for (size_t k = 0; k <= T; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) some[c] = xs + (k + c <= T ? k + c : T) * n;
    evaluated(kernel, some, 1, values);
    for (size_t c = 0; c < LANES && k + c <= T; c++) {
      const size_t knot = k + c;
      const double place = knot < T ? goal->place : goal->place_at_end;
      const double step = knot < T ? goal->step : 1.0;
      const double *moved = values[c] + PLACEMENT;
      double twist[6], change[6][6], J[6][m] = {0}, slope[m] = {0}, square[m][m] = {0};
      missing_of(goal, values[c], twist);
      jacobian_log6(1, twist, change[0]);
      for (int r = 0; r < 6; r++) {
        for (int s = r < 3 ? 0 : 3; s < 6; s++)
          for (size_t j = 0; j < m; j++) J[r][j] += change[r][s] * moved[s * m + j];
        for (size_t j = 0; j < m; j++) slope[j] += twist[r] * J[r][j];
        for (size_t i = 0; i < m; i++)
          for (size_t j = 0; j < m; j++) square[i][j] += J[r][i] * J[r][j];
      }
      double *to = lx + knot * n, *curved = lxx + knot * n * n;
      for (size_t i = 0; i < n; i++) {
        to[i] = step * goal->state[i] * (some[c][i] - goal->rest[i]);
        curved[i * n + i] = step * goal->state[i];
      }
      for (size_t i = 0; i < m; i++) {
        to[i] += place * slope[i];
        for (size_t j = 0; j < m; j++) curved[i * n + j] += place * square[i][j];
      }
    }
  }
  for (size_t i = 0; i < T * m; i++) lu[i] = goal->step * goal->control * us[i];
}
