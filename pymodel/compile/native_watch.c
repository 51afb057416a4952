/* Steps of a kernel (native_run.c), and a look at all that they leave, in the way of the model.
 *
 * One library for all kernels of a carrier. Steps are taken a few at a time, so that what they leave is
 * still in the cache when it is looked at, and the look raises no flags of theirs. All arrays of a
 * kernel are by block of lanes systems, then by name, then by system; what is given back is by system. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#if CARRIER == 32
typedef float number;
typedef uint32_t bits;
#define EXPONENT 0x7f800000u
#else
typedef double number;
typedef uint64_t bits;
#define EXPONENT 0x7ff0000000000000u
#endif

#define NO_MEMORY 0xffffffffu
enum { ENTRIES = 3 }; /* of a symmetric 2x2 matrix */

typedef unsigned advance_t(const number *in, number *state, number *trace, const number *k,
                           const number *k_special, size_t blocks, size_t rows, int64_t first,
                           int64_t steps, int64_t every, int64_t save);

/* What a kernel leaves at each step, and which of it is what: places of results. */
typedef struct {
  int64_t lanes, carried, results;
  int64_t ranges;        /* of what must be finite: */
  const int32_t *finite; /* first place, and that behind the last */
  int64_t nonzeros;
  const int32_t *nonzero;
  int64_t joints, parts;
  const int32_t *joint; /* of each matrix, of each part that adds up to it, a, b, c of [a b; b c] */
  int64_t kept;         /* of the steps that are multiples of save */
  const int32_t *keep;
  int64_t shown; /* of all steps */
  const int32_t *show;
} layout;

/* A run: steps first, first + 1, ... of blocks; every as for advance. */
typedef struct {
  int64_t blocks, first, steps, every, save;
  int64_t fixed, fixed_special; /* numbers of a block's own parameters, 0: all have the same */
  int64_t span;                 /* steps that room is for */
  double limit;                 /* of the condition of a joint matrix */
} course;

/* pymodel.algorithms.linalg.condition_2x2, operation by operation. */
static double condition(double a, double b, double c, int definite) {
  double determinant = a * c - b * b, trace = a + c;
  if (!definite) {
    determinant = fabs(determinant);
    trace = fabs(trace);
  }
  double largest = 0.5 * (trace + sqrt((a - c) * (a - c) + 4.0 * b * b));
  return determinant > 0.0 ? largest * (largest / determinant) : INFINITY;
}

/* Whether the model would go on after a step; its largest condition of a joint matrix. */
static int right(const layout *l, const number *row, double limit, int definite, double *largest) {
  const int64_t lanes = l->lanes;
  int found = 1;
  for (int64_t r = 0; r < l->ranges; r++) {
    for (int64_t i = l->finite[2 * r]; i < l->finite[2 * r + 1]; i++) {
      bits word;
      memcpy(&word, row + i * lanes, sizeof word);
      found &= (word & EXPONENT) != EXPONENT;
    }
  }
  for (int64_t i = 0; i < l->nonzeros; i++) {
    found &= row[l->nonzero[i] * lanes] != 0;
  }
  const int32_t *place = l->joint;
  *largest = -INFINITY;
  for (int64_t i = 0; i < l->joints; i++) {
    double sum[ENTRIES] = {0};
    for (int64_t part = 0; part < l->parts; part++, place += ENTRIES) {
      for (int entry = 0; entry < ENTRIES; entry++) {
        sum[entry] += place[entry] < 0 ? 0.0 : row[place[entry] * lanes];
      }
    }
    double one = condition(sum[0], sum[1], sum[2], definite);
    found &= one < limit;
    *largest = one > *largest ? one : *largest;
  }
  return found;
}

/* Of each system: steps before the first one that is not right, or all; its largest condition until
 * then, and the first step that has it. kept is (system, kept step, name), shown (system, step, name).
 * Returns the flags of all steps that were taken, or NO_MEMORY. */
unsigned watch(const layout *l, const course *c, advance_t *advance, const number *in,
               number *state, const number *k, const number *k_special, number *room,
               const uint8_t *definite, double *kept, int64_t kept_rows, double *shown,
               int64_t *done, double *worst, int64_t *worst_step) {
  const int64_t lanes = l->lanes, end = c->first + c->steps;
  unsigned flags = 0;
  for (int64_t b = 0; b < c->blocks; b++) {
    int64_t *own = done + b * lanes;
    int64_t running = lanes;
    for (int64_t j = 0; j < lanes; j++) {
      own[j] = c->steps;
      worst[b * lanes + j] = -INFINITY;
      worst_step[b * lanes + j] = c->first;
    }
    int64_t row_kept = 0;
    for (int64_t step = c->first; step < end && running; step += c->span) {
      const int64_t count = end - step < c->span ? end - step : c->span;
      unsigned raised = advance(in, state + b * l->carried * lanes, room, k + b * c->fixed,
                                k_special + b * c->fixed_special, 1, count, step, count, c->every, 1);
      if (raised == NO_MEMORY) {
        return NO_MEMORY;
      }
      flags |= raised;
      for (int64_t i = 0; i < count; i++) {
        const number *row = room + i * l->results * lanes;
        const int64_t now = step + i - c->first;
        const int keeps = (step + i) % c->save == 0;
        for (int64_t j = 0; j < lanes; j++) {
          const int64_t system = b * lanes + j;
          if (own[j] < now) { /* it has ended */
            continue;
          }
          double largest;
          if (!right(l, row + j, c->limit, definite[system], &largest)) {
            own[j] = now;
            running--;
            continue;
          }
          if (largest > worst[system]) {
            worst[system] = largest;
            worst_step[system] = step + i;
          }
          if (keeps) {
            double *to = kept + (system * kept_rows + row_kept) * l->kept;
            for (int64_t n = 0; n < l->kept; n++) {
              to[n] = row[l->keep[n] * lanes + j];
            }
          }
          double *to = shown + (system * c->steps + now) * l->shown;
          for (int64_t n = 0; n < l->shown; n++) {
            to[n] = row[l->show[n] * lanes + j];
          }
        }
        row_kept += keeps;
      }
    }
  }
  return flags;
}
