/* The cost of bringing a link to a placement, of many states at once: see Reach in costs.py. The link's
 * placement, and its Jacobian, are kernels of LANES states; all else is of one state after the other. */

#include "reach.h"

#include <math.h>
#include <string.h>

#include "se3.h"
#include "states.h"

/* Sizes of state, tangent space, degrees of freedom and control, known to the compiler. */
enum { s = NQ + NV, n = 2 * NV, v = NV, m = NU };
enum { PLACEMENT = 12, JACOBIAN = 6 * v, VALUES = PLACEMENT + JACOBIAN };

/* Values (LANES, VALUES) of the kernel at states, one of which has its coordinates so far apart. */
static void evaluated(const Kernel *kernel, const double *const states[LANES], size_t apart,
                      double values[LANES][VALUES]) {
  double in[NQ * LANES], out[VALUES * LANES];
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

/* Logarithms (count, 6) of what is missing at states (count, s). */
void missing(const Kernel *kernel, const Goal *goal, size_t count, const double *states, double *twists) {
  double values[LANES][VALUES] = {0};
  for (size_t k = 0; k < count; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) some[c] = states + (k + c < count ? k + c : count - 1) * s;
    evaluated(kernel, some, 1, values);
    for (size_t c = 0; c < LANES && k + c < count; c++) missing_of(goal, values[c], twists + (k + c) * 6);
  }
}

/* Costs (lanes) of motions, lanes `first` and so on of xs (T + 1, s, width) and us (T, m, width). */
void value(const Kernel *kernel, const Goal *goal, size_t T, size_t width, size_t first, size_t lanes,
           const double *xs, const double *us, double *costs) {
  double values[LANES][VALUES] = {0};
  const size_t count = (T + 1) * lanes;
  memset(costs, 0, lanes * sizeof *costs);
  for (size_t k = 0; k < count; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) {
      const size_t own = k + c < count ? k + c : count - 1;
      some[c] = xs + own / lanes * s * width + first + own % lanes;
    }
    evaluated(kernel, some, width, values);
    for (size_t c = 0; c < LANES && k + c < count; c++) {
      const size_t knot = (k + c) / lanes, lane = (k + c) % lanes;
      double twist[6], away = 0.0, state = 0.0, torques = 0.0;
      double from_rest[n];
      missing_of(goal, values[c], twist);
      for (int i = 0; i < 6; i++) away += twist[i] * twist[i];
      difference(goal->rest, 1, some[c], width, from_rest, 1);
      for (size_t i = 0; i < n; i++) state += goal->state[i] * from_rest[i] * from_rest[i];
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

/* Derivatives by coordinates that do not add of what the distance from rest costs, over what stands there. */
static void rested(const Goal *goal, double step, const double *from_rest, double *to, double *curved) {
  size_t first, count;
  double J[36];
  for (size_t joint = 0; (count = difference_jacobian(joint, from_rest, &first, J)); joint++)
    for (size_t i = 0; i < count; i++) {
      double slope = 0.0, square[6] = {0.0};
      for (size_t r = 0; r < count; r++) {
        const double weighted = step * goal->state[first + r] * J[r * count + i];
        slope += weighted * from_rest[first + r];
        for (size_t j = 0; j < count; j++) square[j] += weighted * J[r * count + j];
      }
      to[first + i] = slope;
      for (size_t j = 0; j < count; j++) curved[(first + i) * n + first + j] = square[j];
    }
}

/* Derivatives at the knots of a motion xs (T + 1, s), us (T, m): lx (T + 1, n), lxx (T + 1, n, n), which is
 * zero, and lu (T, m). The kernel gives Jacobians, too. */
void approximated(const Kernel *kernel, const Goal *goal, size_t T, const double *xs, const double *us,
                  double *lx, double *lxx, double *lu) {
  double values[LANES][VALUES] = {0};
  for (size_t k = 0; k <= T; k += LANES) {
    const double *some[LANES];
    for (size_t c = 0; c < LANES; c++) some[c] = xs + (k + c <= T ? k + c : T) * s;
    evaluated(kernel, some, 1, values);
    for (size_t c = 0; c < LANES && k + c <= T; c++) {
      const size_t knot = k + c;
      const double place = knot < T ? goal->place : goal->place_at_end;
      const double step = knot < T ? goal->step : 1.0;
      const double *moved = values[c] + PLACEMENT;
      double twist[6], change[6][6], J[6][v] = {0}, slope[v] = {0}, square[v][v] = {0};
      double from_rest[n];
      missing_of(goal, values[c], twist);
      jacobian_log6(1, twist, change[0]);
      for (int r = 0; r < 6; r++) {
        for (int k = r < 3 ? 0 : 3; k < 6; k++)
          for (size_t j = 0; j < v; j++) J[r][j] += change[r][k] * moved[k * v + j];
        for (size_t j = 0; j < v; j++) slope[j] += twist[r] * J[r][j];
        for (size_t i = 0; i < v; i++)
          for (size_t j = 0; j < v; j++) square[i][j] += J[r][i] * J[r][j];
      }
      double *to = lx + knot * n, *curved = lxx + knot * n * n;
      difference(goal->rest, 1, some[c], 1, from_rest, 1);
      for (size_t i = 0; i < n; i++) {
        to[i] = step * goal->state[i] * from_rest[i];
        curved[i * n + i] = step * goal->state[i];
      }
      rested(goal, step, from_rest, to, curved);
      for (size_t i = 0; i < v; i++) {
        to[i] += place * slope[i];
        for (size_t j = 0; j < v; j++) curved[i * n + j] += place * square[i][j];
      }
    }
  }
  for (size_t i = 0; i < T * m; i++) lu[i] = goal->step * goal->control * us[i];
}
