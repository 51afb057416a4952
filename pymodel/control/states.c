/* Differences of states, and where a displacement leads, as Pinocchio's difference and integrate have it.
 * Coordinates add, but those of JOINTS, which end in a quaternion (x, y, z, w): {first coordinate, first
 * degree of freedom, number of degrees of freedom}, each followed by a comma. */

#include "states.h"

#include <math.h>

#include "se3.h"

typedef struct {
  size_t coordinate, dof, dofs;
} Joint;

enum { STATES = NQ + NV, TANGENT = 2 * NV };
static const Joint joints[] = {JOINTS{STATES, TANGENT, 0}};
enum { QUATERNIONS = sizeof joints / sizeof *joints - 1 };

/* The rotation of a quaternion of any length, row by row. */
static void rotation_of(const double q[4], double R[9]) {
  const double x = q[0], y = q[1], z = q[2], w = q[3], s = 2.0 / (x * x + y * y + z * z + w * w);
  const double found[9] = {1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
                           s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
                           s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
  for (int i = 0; i < 9; i++) R[i] = found[i];
}

/* p q, or of the inverse of a p of length 1 with `sign` -1. */
static void product(const double p[4], double sign, const double q[4], double out[4]) {
  const double x = sign * p[0], y = sign * p[1], z = sign * p[2], w = p[3];
  out[0] = w * q[0] + x * q[3] + y * q[2] - z * q[1];
  out[1] = w * q[1] - x * q[2] + y * q[3] + z * q[0];
  out[2] = w * q[2] + x * q[1] - y * q[0] + z * q[3];
  out[3] = w * q[3] - x * q[0] - y * q[1] - z * q[2];
}

/* What moves a ball or floating joint from a to b: linear first, in the axes of a. */
static void joint_difference(size_t dofs, const double *a, const double *b, double *away) {
  const size_t turn = dofs - 3;
  double between[4], R[9], from[9], p[3] = {0.0, 0.0, 0.0}, twist[6];
  product(a + turn, -1.0, b + turn, between);
  rotation_of(between, R);
  if (turn) {
    rotation_of(a + turn, from);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) p[i] += from[3 * j + i] * (b[j] - a[j]);
  }
  log6(1, R, p, twist);
  for (size_t i = 0; i < dofs; i++) away[i] = twist[6 - dofs + i];
}

/* b - a, (2 NV). Numbers of a state, or of what is found, stand so far apart. */
void difference(const double *a, size_t a_apart, const double *b, size_t b_apart, double *away,
                size_t apart) {
  size_t c = 0, d = 0;
  for (const Joint *joint = joints;; joint++) {
    for (; c < joint->coordinate; c++, d++) away[d * apart] = b[c * b_apart] - a[c * a_apart];
    if (joint == joints + QUATERNIONS) return;
    double from[7], to[7], found[6];
    for (size_t i = 0; i <= joint->dofs; i++) {
      from[i] = a[(c + i) * a_apart];
      to[i] = b[(c + i) * b_apart];
    }
    joint_difference(joint->dofs, from, to, found);
    for (size_t i = 0; i < joint->dofs; i++) away[(d + i) * apart] = found[i];
    c += joint->dofs + 1;
    d += joint->dofs;
  }
}

/* Of states (count, NQ + NV) that follow each other. */
void differences(size_t count, const double *a, const double *b, double *away) {
  for (size_t k = 0; k < count; k++)
    difference(a + k * STATES, 1, b + k * STATES, 1, away + k * TANGENT, 1);
}

/* Where displacements `way` (count, 2 NV) lead from states a (count, NQ + NV). */
void integrated(size_t count, const double *a, const double *way, double *b) {
  for (size_t k = 0; k < count; k++, a += STATES, b += STATES, way += TANGENT) {
    size_t c = 0, d = 0;
    for (const Joint *joint = joints;; joint++) {
      for (; c < joint->coordinate; c++, d++) b[c] = a[c] + way[d];
      if (joint == joints + QUATERNIONS) break;
      const size_t straight = joint->dofs - 3;
      const double *v = way + d, *w = way + d + straight;
      const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], angle = sqrt(square);
      const double small = angle < 0.05; /* (1 - cos a) / a^2, (a - sin a) / a^3 */
      const double B = small ? 0.5 - square / 24 + square * square / 720 : (1 - cos(angle)) / square;
      const double C = small ? 1.0 / 6 - square / 120 + square * square / 5040
                             : (angle - sin(angle)) / (square * angle);
      const double half = small ? 0.5 - square / 48 + square * square / 3840 : sin(0.5 * angle) / angle;
      const double turn[4] = {half * w[0], half * w[1], half * w[2], cos(0.5 * angle)};
      double after[4], norm = 0.0;
      product(a + c + straight, 1.0, turn, after);
      for (int i = 0; i < 4; i++) norm += after[i] * after[i];
      for (int i = 0; i < 4; i++) b[c + straight + i] = after[i] / sqrt(norm);
      if (straight) {
        double R[9];
        const double x[3] = {w[1] * v[2] - w[2] * v[1], w[2] * v[0] - w[0] * v[2],
                             w[0] * v[1] - w[1] * v[0]};
        const double y[3] = {w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2],
                             w[0] * x[1] - w[1] * x[0]};
        rotation_of(a + c + straight, R);
        for (int i = 0; i < 3; i++) {
          b[c + i] = a[c + i];
          for (int j = 0; j < 3; j++) b[c + i] += R[3 * i + j] * (v[j] + B * x[j] + C * y[j]);
        }
      }
      c += joint->dofs + 1;
      d += joint->dofs;
    }
  }
}

/* How the difference of a joint's coordinates, whose part of `away` it reads, changes as its second state
 * moves on: J (dofs, dofs), from the degree of freedom `dof`. Returns how many dofs; 0 if it has none. */
size_t difference_jacobian(size_t joint, const double *away, size_t *dof, double *J) {
  const size_t dofs = joints[joint].dofs, skipped = 6 - dofs;
  double twist[6] = {0.0}, whole[36];
  if (!dofs) return 0;
  *dof = joints[joint].dof;
  for (size_t i = 0; i < dofs; i++) twist[skipped + i] = away[*dof + i];
  jacobian_log6(1, twist, whole);
  for (size_t i = 0; i < dofs; i++)
    for (size_t k = 0; k < dofs; k++) J[i * dofs + k] = whole[(skipped + i) * 6 + skipped + k];
  return dofs;
}
