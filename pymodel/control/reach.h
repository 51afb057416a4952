/* The cost of bringing a link to a placement: see reach.c. */
#ifndef REACH_H
#define REACH_H

#include <stddef.h>

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

void missing(const Kernel *kernel, const Goal *goal, size_t count, const double *states,
             double *twists);
void value(const Kernel *kernel, const Goal *goal, size_t T, size_t width, size_t first, size_t lanes,
           const double *xs, const double *us, double *costs);
void approximated(const Kernel *kernel, const Goal *goal, size_t T, const double *xs, const double *us,
                  double *lx, double *lxx, double *lu);

#endif
