/* Logarithms of placements and how they change, of many at once: see se3.py, whose formulas these are
 * (Barfoot, State Estimation for Robotics, 2017, section 7.1). Columns are placements: x[row * count]. */

#include "se3.h"

#include <math.h>

static const double SMALL = 0.05, NEAR_HALF_TURN = 3.14159265358979324 - 1e-3;

static void multiply(const double a[3][3], const double b[3][3], double out[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

static void skew(const double v[3], double out[3][3]) {
  const double found[3][3] = {{0.0, -v[2], v[1]}, {v[2], 0.0, -v[0]}, {-v[1], v[0], 0.0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = found[i][j];
}

static void rotation_vector(const double R[3][3], double w[3]) {
  const double turned[3] = {R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]};
  const double trace = R[0][0] + R[1][1] + R[2][2];
  const double sine = 0.5 * sqrt(turned[0] * turned[0] + turned[1] * turned[1] + turned[2] * turned[2]);
  const double angle = atan2(sine, 0.5 * (trace - 1.0));
  if (angle <= NEAR_HALF_TURN) {
    const double scale = sine > 0.0 ? 0.5 * angle / sine : 0.5;
    for (int i = 0; i < 3; i++) w[i] = scale * turned[i];
    return;
  }
  /* the longest column of R + R^T - (tr R - 1) 1 is along the axis */
  int longest = 0;
  for (int i = 1; i < 3; i++)
    if (R[i][i] > R[longest][longest]) longest = i;
  double axis[3], square = 0.0, along = 0.0;
  for (int i = 0; i < 3; i++) {
    axis[i] = R[i][longest] + R[longest][i] - (i == longest ? trace - 1.0 : 0.0);
    square += axis[i] * axis[i];
    along += axis[i] * turned[i];
  }
  const double scale = (along < 0.0 ? -angle : angle) / sqrt(square);
  for (int i = 0; i < 3; i++) w[i] = scale * axis[i];
}

/* (1 - (a/2) cot(a/2)) / a^2, (a - sin a) / a^3, and those of the twist's own Jacobian. */
static void coefficients(double a, double c[4]) {
  const double x = a * a;
  if (a < SMALL) {
    c[0] = 1.0 / 12 + x / 720 + x * x / 30240;
    c[1] = 1.0 / 6 - x / 120 + x * x / 5040;
    c[2] = 1.0 / 24 - x / 720 + x * x / 40320;
    c[3] = 1.0 / 120 - x / 2520 + x * x / 120960;
    return;
  }
  const double s = sin(a), o = cos(a);
  c[0] = (1.0 - 0.5 * a / tan(0.5 * a)) / x;
  c[1] = (a - s) / (x * a);
  c[2] = (0.5 * x + o - 1.0) / (x * x);
  c[3] = (a - 1.5 * s + 0.5 * a * o) / (x * x * a);
}

/* Inverse left Jacobian of a rotation vector. */
static void inverse_left(const double W[3][3], double c, double out[3][3]) {
  double square[3][3];
  multiply(W, W, square);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[i][j] = (i == j) - 0.5 * W[i][j] + c * square[i][j];
}

static double length(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Twists (6, count) whose exponentials are placements R (9, count), p (3, count). */
void log6(size_t count, const double *R, const double *p, double *twist) {
  for (size_t k = 0; k < count; k++) {
    double turn[3][3], w[3], W[3][3], c[4], inverse[3][3];
    for (int i = 0; i < 9; i++) turn[i / 3][i % 3] = R[i * count + k];
    rotation_vector(turn, w);
    skew(w, W);
    coefficients(length(w), c);
    inverse_left(W, c[0], inverse);
    for (int i = 0; i < 3; i++) {
      double x = 0.0;
      for (int j = 0; j < 3; j++) x += inverse[i][j] * p[j * count + k];
      twist[i * count + k] = x;
      twist[(3 + i) * count + k] = w[i];
    }
  }
}

/* How logarithms (6, count) change as their placements move on by a twist of their own frame:
 * (36, count), row by row. */
void jacobian_log6(size_t count, const double *twist, double *out) {
  for (size_t k = 0; k < count; k++) {
    double v[3], w[3], V[3][3], W[3][3], c[4], turn[3][3];
    for (int i = 0; i < 3; i++) { /* the right Jacobian is the left one of the inverse */
      v[i] = -twist[i * count + k];
      w[i] = -twist[(3 + i) * count + k];
    }
    skew(v, V);
    skew(w, W);
    coefficients(length(w), c);
    inverse_left(W, c[0], turn);
    double VW[3][3], WV[3][3], WVW[3][3], WWV[3][3], VWW[3][3], WVWW[3][3], WWVW[3][3], Q[3][3];
    multiply(V, W, VW);
    multiply(W, V, WV);
    multiply(W, VW, WVW);
    multiply(W, WV, WWV);
    multiply(VW, W, VWW);
    multiply(WVW, W, WVWW);
    multiply(W, WVW, WWVW);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        Q[i][j] = 0.5 * V[i][j] + c[1] * (WV[i][j] + VW[i][j] + WVW[i][j]) +
                  c[2] * (WWV[i][j] + VWW[i][j] - 3.0 * WVW[i][j]) + c[3] * (WVWW[i][j] + WWVW[i][j]);
    double half[3][3], corner[3][3];
    multiply(turn, Q, half);
    multiply(half, turn, corner);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        out[(i * 6 + j) * count + k] = out[((3 + i) * 6 + 3 + j) * count + k] = turn[i][j];
        out[(i * 6 + 3 + j) * count + k] = -corner[i][j];
        out[((3 + i) * 6 + j) * count + k] = 0.0;
      }
  }
}
