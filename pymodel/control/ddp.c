/* What differential dynamic programming does in each iteration: the sweep backwards over the knots,
 * and motions forwards, one in each lane of the compiled time step. Matrices are row by row. */

#include "ddp.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "states.h"

/* Sizes of the tangent space, of control and state, known to the compiler: its loops have no other ends. */
enum { n = 2 * NV, m = NU, s = NQ + NV };

/* Cholesky factor L of the free rows and columns of a symmetric matrix (m, m), inverses on its diagonal;
 * whether it is positive definite. */
static int factorise(const size_t *free_rows, size_t count, const double *matrix, double *L) {
  for (size_t a = 0; a < count; a++)
    for (size_t b = 0; b <= a; b++) {
      double x = matrix[free_rows[a] * m + free_rows[b]];
      for (size_t c = 0; c < b; c++) x -= L[a * m + c] * L[b * m + c];
      if (a != b) {
        L[a * m + b] = x * L[b * m + b];
      } else {
        if (!(x > 0.0)) return 0;
        L[a * m + a] = 1.0 / sqrt(x);
      }
    }
  return 1;
}

/* X (count, width) of L L^T X = B, in place. */
static inline void solve(size_t count, const double *restrict L, double *restrict B, size_t width) {
  for (size_t a = 0; a < count; a++) {
    for (size_t c = 0; c < a; c++)
      for (size_t j = 0; j < width; j++) B[a * width + j] -= L[a * m + c] * B[c * width + j];
    for (size_t j = 0; j < width; j++) B[a * width + j] *= L[a * m + a];
  }
  for (size_t a = count; a-- > 0;) {
    for (size_t c = a + 1; c < count; c++)
      for (size_t j = 0; j < width; j++) B[a * width + j] -= L[c * m + a] * B[c * width + j];
    for (size_t j = 0; j < width; j++) B[a * width + j] *= L[a * m + a];
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
  for (size_t i = 0; i < m; i++) {
    free_rows[i] = i;
    move[i] = -g[i];
  }
  if (factorise(free_rows, m, H, L)) { /* the least of all, where no limit binds */
    size_t inside = 0;
    solve(m, L, move, 1);
    for (size_t i = 0; i < m; i++) inside += low[i] <= move[i] && move[i] <= high[i];
    if (inside == m) {
      memcpy(du, move, m * sizeof *du);
      *count = m;
      return 1;
    }
  }
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

/* Products go by tiles of so many rows and columns, which stay in registers. What stands beside a matrix
 * up to whole tiles is zero, or never read. */
#define TILE_ROWS 4
#define TILE_COLUMNS 8
#define LANES 4
#define WHOLE(x, tile) (((x) + (tile) - 1) / (tile) * (tile))
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));
enum { N = WHOLE(n, TILE_COLUMNS), M = WHOLE(m, TILE_COLUMNS), F = WHOLE(n + m, TILE_COLUMNS) };

/* out = X^T Y of k rows, all three of so many numbers a row; of symmetric ones what is below the diagonal,
 * and a part of what is above. */
static inline void transposed_product(size_t k, size_t rows, size_t columns, int symmetric,
                                      const double *restrict X, size_t X_row,
                                      const double *restrict Y, size_t Y_row, double *restrict out,
                                      size_t out_row) {
  for (size_t i = 0; i < rows; i += TILE_ROWS)
    for (size_t j = 0; j < columns && !(symmetric && j >= i + TILE_ROWS); j += TILE_COLUMNS) {
      vector a0 = {0}, a1 = a0, b0 = a0, b1 = a0, c0 = a0, c1 = a0, d0 = a0, d1 = a0;
      for (size_t c = 0; c < k; c++) {
        const double *x = X + c * X_row + i;
        const vector *y = (const vector *)(Y + c * Y_row + j);
        a0 += x[0] * y[0], a1 += x[0] * y[1];
        b0 += x[1] * y[0], b1 += x[1] * y[1];
        c0 += x[2] * y[0], c1 += x[2] * y[1];
        d0 += x[3] * y[0], d1 += x[3] * y[1];
      }
      vector *to = (vector *)(out + i * out_row + j);
      const size_t row = out_row / LANES;
      to[0] = a0, to[1] = a1, to[row] = b0, to[row + 1] = b1;
      to[2 * row] = c0, to[2 * row + 1] = c1, to[3 * row] = d0, to[3 * row + 1] = d1;
    }
}

enum { ALIGNED = 64 };

/* What the sweep works with: [A B], the cost's second derivative V and V [A B], those of the knot by state
 * and control, and feedback. All begin where a vector may. */
struct work {
  _Alignas(ALIGNED) double both[n][F], VF[N][F], Q[F][F], V[N][N], KY[N][N], K[M][N], Y[M][N], Quu[m][M];
  double v[N], q[F];
  double R[m * m], L[m * m], H[m], box[3 * m];
};

/* Bytes of work that `backward` needs. */
size_t backward_work(void) { return sizeof(struct work) + ALIGNED; }

/* The sweep backwards. Of T knots: A (n, n), B (n, m), first and second derivatives of the cost by
 * state and control; lx and lxx have one knot more, the end. Limits of each control are of the step.
 * Gives feed-forward k (m), feedback K (m, n), and expected[0] + expected[1] / 2: the cost that a
 * whole step changes. Returns the knots that are left: 0, or where H_uu is not positive definite. */
size_t backward(size_t T, const double *A, const double *B, const double *lx, const double *lxx,
                const double *lu, const double *luu, const double *low,
                const double *high, double regular, double *k, double *K, double *expected,
                void *work, size_t *rows) {
  struct work *w = (void *)(((uintptr_t)work + ALIGNED - 1) / ALIGNED * ALIGNED);
  memset(w, 0, sizeof *w);
  for (size_t i = 0; i < n; i++) memcpy(w->V[i], lxx + (T * n + i) * n, n * sizeof(double));
  memcpy(w->v, lx + T * n, n * sizeof(double));
  expected[0] = expected[1] = 0.0;
  for (size_t t = T; t-- > 0;) {
    const double *At = A + t * n * n, *Bt = B + t * n * m;
    double *kt = k + t * m, *Kt = K + t * m * n;
    for (size_t i = 0; i < n; i++) {
      memcpy(w->both[i], At + i * n, n * sizeof(double));
      memcpy(w->both[i] + n, Bt + i * m, m * sizeof(double));
    }
    transposed_product(n, n, F, 0, w->V[0], N, w->both[0], F, w->VF[0], F);
    transposed_product(n, n + m, F, 1, w->both[0], F, w->VF[0], F, w->Q[0], F);
    memset(w->q, 0, sizeof w->q);
    for (size_t c = 0; c < n; c++)
      for (size_t j = 0; j < F; j++) w->q[j] += w->v[c] * w->both[c][j];
    for (size_t i = 0; i < n; i++) w->q[i] += lx[t * n + i];
    for (size_t i = 0; i < m; i++) w->q[n + i] += lu[t * m + i];
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j <= i; j++) {
        w->Quu[i][j] = w->Quu[j][i] = w->Q[n + i][n + j] + luu[(t * m + i) * m + j];
        w->R[i * m + j] = w->R[j * m + i] = w->Quu[i][j] + (i == j ? regular : 0.0);
      }
    const double *Qu = w->q + n;
    size_t count;
    if (t + 1 < T) memcpy(kt, kt + m, m * sizeof *kt);
    else memset(kt, 0, m * sizeof *kt);
    if (!box_qp(w->R, Qu, low + t * m, high + t * m, kt, rows, &count, w->L, w->box)) return t + 1;
    for (size_t a = 0; a < count; a++)
      for (size_t j = 0; j < N; j++) w->Y[a][j] = j < n ? -w->Q[n + rows[a]][j] : 0.0;
    solve(count, w->L, w->Y[0], N);
    memset(w->K, 0, sizeof w->K);
    for (size_t a = 0; a < count; a++) memcpy(w->K[rows[a]], w->Y[a], sizeof *w->K);
    for (size_t i = 0; i < m; i++) memcpy(Kt + i * n, w->K[i], n * sizeof *Kt);
    /* v = Qx + K^T Quu k + K^T Qu + Qux^T k; V = Qxx + K^T (Quu K + 2 Qux), each term symmetric */
    for (size_t i = 0; i < m; i++) {
      double x = 0.0;
      for (size_t j = 0; j < m; j++) x += w->Quu[i][j] * kt[j];
      expected[0] += kt[i] * Qu[i];
      expected[1] += kt[i] * x;
      w->H[i] = x + Qu[i];
    }
    memcpy(w->v, w->q, n * sizeof(double));
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < n; j++)
        w->v[j] += w->K[i][j] * w->H[i] + w->Q[n + i][j] * kt[i];
    transposed_product(m, m, N, 0, w->Quu[0], M, w->K[0], N, w->Y[0], N);
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < n; j++) w->Y[i][j] += 2.0 * w->Q[n + i][j];
    transposed_product(m, n, N, 1, w->K[0], N, w->Y[0], N, w->KY[0], N);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j <= i; j++)
        w->V[i][j] = w->V[j][i] = lxx[(t * n + i) * n + j] + w->Q[i][j] + w->KY[i][j];
  }
  return 0;
}

/* A step's results for a block of lanes of (state, control, h, 0), of which it takes some. */
static unsigned stepped(const Step *step, const double *given, number *out) {
  const size_t lanes = step->lanes;
  double taken[step->inputs * lanes];
  number in[step->inputs * lanes];
  for (size_t i = 0; i < step->inputs; i++)
    memcpy(taken + i * lanes, given + step->taken[i] * lanes, lanes * sizeof *taken);
  step->rounded(taken, in, step->inputs * lanes);
  return step->evaluate(in, out, step->fixed, 1);
}

/* Derivatives of the next state at T knots: A (n, n) and B (n, m) from states (s) and controls (m), a block of
 * lanes at a time. The places of results are those in (A, B), row by row; beyond them they are left out. A
 * and B are zero. Returns the step's flags. */
unsigned linearised(const Step *changes, size_t T, const double *xs, const double *us, double h,
                    double *A, double *B) {
  const size_t lanes = changes->lanes;
  double given[(s + m + 2) * lanes];
  number out[changes->results * lanes];
  unsigned flags = 0;
  for (size_t t = 0; t < T; t += lanes) {
    const size_t count = T - t < lanes ? T - t : lanes;
    for (size_t c = 0; c < lanes; c++) { /* the last knot fills the last block */
      const size_t knot = c < count ? t + c : T - 1;
      for (size_t i = 0; i < s; i++) given[i * lanes + c] = xs[knot * s + i];
      for (size_t i = 0; i < m; i++) given[(s + i) * lanes + c] = us[knot * m + i];
      given[(s + m) * lanes + c] = h;
      given[(s + m + 1) * lanes + c] = 0.0;
    }
    flags |= stepped(changes, given, out);
    for (size_t c = 0; c < count; c++) {
      double *own_A = A + (t + c) * n * n, *own_B = B + (t + c) * n * m;
      for (size_t r = 0; r < changes->results; r++) {
        const size_t place = changes->places[r];
        if (place < n * n) own_A[place] = out[r * lanes + c];
        else if (place < n * (n + m)) own_B[place - n * n] = out[r * lanes + c];
      }
    }
  }
  return flags;
}

/* Motions from x (s) on under u + share k + K (x - xs), within the limits, one share in each lane. The
 * states and controls of all motions go to xs_new (T + 1, s, lanes), us_new (T, m, lanes). Returns the step's
 * flags. */
unsigned forward(const Step *step, size_t T, const double *shares, const double *x, const double *xs,
                 const double *us, const double *k, const double *K, const double *low,
                 const double *high, double h, double *xs_new, double *us_new) {
  const size_t lanes = step->lanes;
  double given[(s + m + 2) * lanes], away[n * lanes];
  number out[step->results * lanes];
  unsigned flags = 0;
  for (size_t c = 0; c < lanes; c++) {
    given[(s + m) * lanes + c] = h;
    given[(s + m + 1) * lanes + c] = 0.0;
  }
  for (size_t i = 0; i < s; i++)
    for (size_t c = 0; c < lanes; c++) xs_new[i * lanes + c] = x[i];
  for (size_t t = 0; t < T; t++) {
    double *now = xs_new + t * s * lanes, *u = us_new + t * m * lanes;
    for (size_t c = 0; c < lanes; c++) difference(xs + t * s, 1, now + c, lanes, away + c, lanes);
    for (size_t i = 0; i < m; i++) {
      for (size_t c = 0; c < lanes; c++)
        u[i * lanes + c] = us[t * m + i] + shares[c] * k[t * m + i];
      for (size_t j = 0; j < n; j++)
        for (size_t c = 0; c < lanes; c++)
          u[i * lanes + c] += K[(t * m + i) * n + j] * away[j * lanes + c];
      for (size_t c = 0; c < lanes; c++)
        u[i * lanes + c] = clamped(u[i * lanes + c], low[i], high[i]);
    }
    memcpy(given, now, s * lanes * sizeof *given);
    memcpy(given + s * lanes, u, m * lanes * sizeof *given);
    flags |= stepped(step, given, out);
    for (size_t i = 0; i < s * lanes; i++) now[s * lanes + i] = 0.0;
    for (size_t r = 0; r < step->results; r++)
      for (size_t c = 0; c < lanes; c++)
        now[(s + step->places[r]) * lanes + c] = out[r * lanes + c];
  }
  return flags;
}
