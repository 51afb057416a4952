/* What differential dynamic programming does in each iteration: the sweep backwards over the knots,
 * and motions forwards, one in each lane of the compiled time step. Matrices are row by row. */

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Sizes of state and control, known to the compiler: its loops have no other ends. */
enum { n = NX, m = NU };

typedef unsigned (*Step)(const double *in, double *out, const double *fixed, size_t blocks);

/* Cholesky factor L of the free rows and columns of a symmetric matrix (m, m); whether it is positive
 * definite. */
static int factorise(const size_t *free_rows, size_t count, const double *matrix, double *L) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = 0; b <= a; b++) {
      double x = matrix[free_rows[a] * m + free_rows[b]];
      for (size_t c = 0; c < b; c++) x -= L[a * m + c] * L[b * m + c];
      if (a != b) {
        L[a * m + b] = x / L[b * m + b];
      } else {
        if (!(x > 0.0)) return 0;
        L[a * m + a] = sqrt(x);
      }
    }
  return 1;
}

/* X (count, width) of L L^T X = B, in place. */
static inline void solve(size_t count, const double *restrict L, double *restrict B, size_t width) {
  for (size_t a = 0; a < count; a++) {
    const double scale = 1.0 / L[a * m + a];
    for (size_t c = 0; c < a; c++)
      for (size_t j = 0; j < width; j++) B[a * width + j] -= L[a * m + c] * B[c * width + j];
    for (size_t j = 0; j < width; j++) B[a * width + j] *= scale;
  }
  for (size_t a = count; a-- > 0;) {
    const double scale = 1.0 / L[a * m + a];
    for (size_t c = a + 1; c < count; c++)
      for (size_t j = 0; j < width; j++) B[a * width + j] -= L[c * m + a] * B[c * width + j];
    for (size_t j = 0; j < width; j++) B[a * width + j] *= scale;
  }
}

static double clamped(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

#define QP_ROUNDS 50
#define QP_GRADIENT 1e-10

/* The step du within low and high that makes du^T H du / 2 + g^T du least, by projected Newton steps
 * (Tassa and others 2014); which rows are free, and the factor of those. 0 where H is not positive
 * definite there. */
static int box_qp(const double *H, const double *g, const double *low, const double *high,
                  double *du, size_t *free_rows, size_t *count, double *L, double *work) {
  double *gradient = work, *move = work + m, *tried = work + 2 * m;
  for (size_t i = 0; i < m; i++) du[i] = clamped(du[i], low[i], high[i]);
  *count = 0; /* none is factorised yet */
  for (int round = 0; round < QP_ROUNDS; round++) {
    double norm = 0.0, value = 0.0, scale = 0.0;
    size_t now = 0, changed = 0;
    for (size_t i = 0; i < m; i++) {
      double sum = 0.0;
      for (size_t j = 0; j < m; j++) sum += H[i * m + j] * du[j];
      gradient[i] = g[i] + sum;
      value += du[i] * (0.5 * sum + g[i]);
      scale = fmax(scale, fabs(g[i]));
      int held = (du[i] <= low[i] && gradient[i] > 0.0) || (du[i] >= high[i] && gradient[i] < 0.0);
      if (!held) {
        changed |= now >= *count || free_rows[now] != i;
        free_rows[now++] = i;
        norm = fmax(norm, fabs(gradient[i]));
      }
    }
    changed |= now != *count;
    *count = now;
    if (changed && !factorise(free_rows, now, H, L)) return 0;
    if (norm <= QP_GRADIENT * scale) return 1;
    for (size_t a = 0; a < *count; a++) move[a] = -gradient[free_rows[a]];
    solve(*count, L, move, 1);
    double share = 1.0;
    for (int halving = 0; halving < 40; halving++, share *= 0.5) {
      memcpy(tried, du, m * sizeof *du);
      double slope = 0.0, next = 0.0;
      for (size_t a = 0; a < *count; a++) {
        size_t i = free_rows[a];
        tried[i] = clamped(du[i] + share * move[a], low[i], high[i]);
        slope += gradient[i] * (tried[i] - du[i]);
      }
      for (size_t i = 0; i < m; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < m; j++) sum += H[i * m + j] * tried[j];
        next += tried[i] * (0.5 * sum + g[i]);
      }
      if (next <= value + 0.1 * slope) break;
    }
    if (!memcmp(tried, du, m * sizeof *du)) return 1;
    memcpy(du, tried, m * sizeof *du);
  }
  return 1;
}

/* out (a, b) = X^T Y, X (k, a), Y (k, b). */
static inline void transposed_product(size_t k, size_t a, size_t b, const double *restrict X,
                                      const double *restrict Y, double *restrict out) {
  memset(out, 0, a * b * sizeof *out);
  for (size_t c = 0; c < k; c++)
    for (size_t i = 0; i < a; i++) {
      const double x = X[c * a + i];
      for (size_t j = 0; j < b; j++) out[i * b + j] += x * Y[c * b + j];
    }
}

/* out (a, b) = X Y, X (a, k), Y (k, b). */
static inline void product(size_t a, size_t k, size_t b, const double *restrict X,
                           const double *restrict Y, double *restrict out) {
  memset(out, 0, a * b * sizeof *out);
  for (size_t i = 0; i < a; i++)
    for (size_t c = 0; c < k; c++) {
      const double x = X[i * k + c];
      for (size_t j = 0; j < b; j++) out[i * b + j] += x * Y[c * b + j];
    }
}

/* Doubles of work that `backward` needs. */
size_t backward_work(void) {
  return 5 * n * n + 3 * n * m + 3 * m * m + 2 * n + 5 * m;
}

/* The sweep backwards. Of T knots: A (n, n), B (n, m), first and second derivatives of the cost by
 * state and control; lx and lxx have one knot more, the end. Limits of each control are of the step.
 * Gives feed-forward k (m), feedback K (m, n), and expected[0] + expected[1] / 2: the cost that a
 * whole step changes. Returns the knots that are left: 0, or where H_uu is not positive definite. */
size_t backward(size_t T, const double *A, const double *B, const double *lx, const double *lxx,
                const double *lu, const double *luu, const double *low,
                const double *high, double regular, double *k, double *K, double *expected,
                double *work, size_t *rows) {
  double *V = work, *VA = V + n * n, *Qxx = VA + n * n, *KQ = Qxx + n * n, *spare = KQ + n * n;
  double *VB = spare + n * n, *Qux = VB + n * m, *QK = Qux + m * n;
  double *Quu = QK + n * m, *L = Quu + m * m, *R = L + m * m;
  double *v = R + m * m, *Qx = v + n, *Qu = Qx + n, *H = Qu + m, *box = H + m;
  memcpy(V, lxx + T * n * n, n * n * sizeof *V);
  memcpy(v, lx + T * n, n * sizeof *v);
  expected[0] = expected[1] = 0.0;
  for (size_t t = T; t-- > 0;) {
    const double *At = A + t * n * n, *Bt = B + t * n * m;
    double *kt = k + t * m, *Kt = K + t * m * n;
    product(n, n, n, V, At, VA);
    product(n, n, m, V, Bt, VB);
    transposed_product(n, n, n, At, VA, Qxx);
    transposed_product(n, m, n, Bt, VA, Qux);
    transposed_product(n, m, m, Bt, VB, Quu);
    for (size_t i = 0; i < n * n; i++) Qxx[i] += lxx[t * n * n + i];
    for (size_t i = 0; i < m * m; i++) Quu[i] += luu[t * m * m + i];
    memcpy(R, Quu, m * m * sizeof *R);
    for (size_t i = 0; i < m; i++) R[i * m + i] += regular;
    transposed_product(n, n, 1, At, v, Qx);
    transposed_product(n, m, 1, Bt, v, Qu);
    for (size_t i = 0; i < n; i++) Qx[i] += lx[t * n + i];
    for (size_t i = 0; i < m; i++) Qu[i] += lu[t * m + i];
    size_t count;
    if (t + 1 < T) memcpy(kt, kt + m, m * sizeof *kt);
    else memset(kt, 0, m * sizeof *kt);
    if (!box_qp(R, Qu, low + t * m, high + t * m, kt, rows, &count, L, box)) return t + 1;
    memset(Kt, 0, m * n * sizeof *Kt);
    for (size_t a = 0; a < count; a++)
      for (size_t j = 0; j < n; j++) QK[a * n + j] = -Qux[rows[a] * n + j];
    solve(count, L, QK, n);
    for (size_t a = 0; a < count; a++) memcpy(Kt + rows[a] * n, QK + a * n, n * sizeof *Kt);
    /* v = Qx + K^T Quu k + K^T Qu + Qux^T k, and the same of V */
    product(m, m, n, Quu, Kt, QK);
    product(m, m, 1, Quu, kt, H);
    for (size_t i = 0; i < m; i++) {
      expected[0] += kt[i] * Qu[i];
      expected[1] += kt[i] * H[i];
    }
    for (size_t j = 0; j < n; j++) {
      double x = Qx[j];
      for (size_t i = 0; i < m; i++) x += Kt[i * n + j] * (H[i] + Qu[i]) + Qux[i * n + j] * kt[i];
      v[j] = x;
    }
    transposed_product(m, n, n, Kt, QK, KQ);
    transposed_product(m, n, n, Kt, Qux, spare);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++)
        V[i * n + j] = Qxx[i * n + j] + KQ[i * n + j] + spare[i * n + j] + spare[j * n + i];
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < i; j++) V[i * n + j] = V[j * n + i] = 0.5 * (V[i * n + j] + V[j * n + i]);
  }
  return 0;
}

/* Motions from x (n) on under u + share k + K (x - xs), within the limits, one share in each lane.
 * `in` holds the step's inputs of a block: state, control, h; the states and controls of all motions
 * go to xs_new (T + 1, n, lanes), us_new (T, m, lanes). Returns the step's flags. */
unsigned forward(Step step, const double *fixed, size_t lanes, size_t T, const double *shares,
                 const double *x, const double *xs, const double *us,
                 const double *k, const double *K, const double *low, const double *high, double *in,
                 double *xs_new, double *us_new) {
  unsigned flags = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < lanes; c++) xs_new[i * lanes + c] = x[i];
  for (size_t t = 0; t < T; t++) {
    double *now = xs_new + t * n * lanes, *u = us_new + t * m * lanes;
    for (size_t i = 0; i < m; i++) {
      for (size_t c = 0; c < lanes; c++)
        u[i * lanes + c] = us[t * m + i] + shares[c] * k[t * m + i];
      for (size_t j = 0; j < n; j++)
        for (size_t c = 0; c < lanes; c++)
          u[i * lanes + c] += K[(t * m + i) * n + j] * (now[j * lanes + c] - xs[t * n + j]);
      for (size_t c = 0; c < lanes; c++)
        u[i * lanes + c] = clamped(u[i * lanes + c], low[i], high[i]);
    }
    memcpy(in, now, n * lanes * sizeof *in);
    memcpy(in + n * lanes, u, m * lanes * sizeof *in);
    flags |= step(in, now + n * lanes, fixed, 1);
  }
  return flags;
}
