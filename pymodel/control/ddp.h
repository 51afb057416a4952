/* What differential dynamic programming does in each iteration: see ddp.c. */
#ifndef DDP_H
#define DDP_H

#include <stddef.h>

/* A compiled time step, in its format; what rounds to that; which of a block's numbers it takes. */
typedef NUMBER number;
typedef struct {
  unsigned (*evaluate)(const number *in, number *out, const number *fixed, size_t blocks);
  void (*rounded)(const double *x, number *y, size_t count);
  const number *fixed;
  size_t lanes, inputs, results;
  const size_t *taken, *places;
} Step;

size_t backward_work(void);
size_t backward(size_t T, const double *A, const double *B, const double *lx, const double *lxx,
                const double *lu, const double *luu, const double *low, const double *high,
                double regular, double *k, double *K, double *expected, void *work, size_t *rows);
unsigned linearised(const Step *changes, size_t T, const double *xs, const double *us, double h,
                    double *A, double *B);
unsigned forward(const Step *step, size_t T, const double *shares, const double *x, const double *xs,
                 const double *us, const double *k, const double *K, const double *low,
                 const double *high, double h, double *xs_new, double *us_new);

#endif
