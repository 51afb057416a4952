/* A kernel for many systems, called from outside: evaluations, and steps one after the other.
 *
 * kernel.h, generated, says how many INPUTS, CARRIED, OUTPUTS, FIXED (constants and parameters) and
 * WORKSPACE (values between pieces) there are, and how the pieces are called: MAIN, and SPECIAL for the
 * steps that a run does otherwise. All arrays are by block of LANES systems, then by name, then by
 * system. Functions return the flags that were raised (bits 4..0 as in fflags), or NO_MEMORY. */
#include "native_call.h"

#include "kernel.h"

#define RESULTS (CARRIED + OUTPUTS)

enum { ON_STACK = (RESERVED + WORKSPACE) * sizeof(real) <= 1 << 16 };
#define ROOM (ON_STACK ? RESERVED + WORKSPACE : 1)

/* A workspace with no flag raised, here if there is room. */
static real *workspace(real *here) {
  real *w = ON_STACK ? here : aligned((RESERVED + WORKSPACE) * sizeof(real));
  if (w) {
    memset(w, 0, RESERVED * sizeof(real));
    w += RESERVED;
  }
  return w;
}

static void release(real *w) {
  if (!ON_STACK && w) {
    free(w - RESERVED);
  }
}

/* A parameter of each system, or of all: the place of a block's. */
#define OWN(k, block, count) ((k) + (PER_ROW ? (size_t)(block) * (count) * LANES : 0))

unsigned evaluate(const number *in, number *out, const number *k, size_t blocks) {
  real here[ROOM];
  real *w = workspace(here);
  if (!w) {
    return NO_MEMORY;
  }
  environment before;
  enter(&before);
  for (size_t b = 0; b < blocks; b++) {
    const number *given = in + b * (INPUTS + CARRIED) * LANES;
    number *found = out + b * RESULTS * LANES;
    MAIN(given, found, OWN(k, b, FIXED), w)
  }
  unsigned flags = leave(&before, w);
  release(w);
  return flags;
}

#if CARRIED
/* Steps first, first + 1, ... of all systems; those that are multiples of save leave a row in trace:
 * carried values before the step, then its outputs. Steps every, 2 every, ... are special. A block's
 * trace is rows long. */
unsigned advance(const number *in, number *state, number *trace, const number *k,
                 const number *k_special, size_t blocks, size_t rows, int64_t first, int64_t steps,
                 int64_t every, int64_t save) {
  const size_t size = LANES * sizeof(number), state_size = CARRIED * size;
  const size_t given = INPUTS * LANES; /* in front of the carried values, which stay where they are */
  real here[ROOM];
  real *w = workspace(here);
  number *now = aligned(given * sizeof(number) + RESULTS * size);
  number *next = aligned(given * sizeof(number) + RESULTS * size);
  unsigned flags = NO_MEMORY;
  if (w && now && next) {
    environment before;
    enter(&before);
    for (size_t b = 0; b < blocks; b++) {
      number *own = state + b * CARRIED * LANES;
      number *row = trace + b * rows * RESULTS * LANES;
      memcpy(now, in + b * given, INPUTS * size);
      memcpy(next, now, INPUTS * size);
      memcpy(now + given, own, state_size);
      for (int64_t step = first; step < first + steps; step++) {
        if (every && step && step % every == 0) {
          SPECIAL(now, next + given, OWN(k_special, b, SPECIAL_FIXED), w)
        } else {
          MAIN(now, next + given, OWN(k, b, FIXED), w)
        }
        if (save && step % save == 0) {
          memcpy(row, now + given, state_size);
          memcpy(row + CARRIED * LANES, next + given + CARRIED * LANES, OUTPUTS * size);
          row += RESULTS * LANES;
        }
        number *last = now; /* swapped: a copy would wait for what has just been stored */
        now = next;
        next = last;
      }
      memcpy(own, now + given, state_size);
    }
    flags = leave(&before, w);
  }
  release(w);
  free(now);
  free(next);
  return flags;
}
#endif
