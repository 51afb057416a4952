/* A kernel for many systems, called from outside: evaluations, and steps one after the other.
 *
 * kernel.h, generated, says how many INPUTS, CARRIED, OUTPUTS, FIXED (constants and parameters) and
 * WORKSPACE (values between pieces) there are, and how the pieces are called: MAIN, and SPECIAL for the
 * steps that a run does otherwise. All arrays are by block of LANES systems, then by name, then by
 * system. Functions return the flags that were raised (bits 4..0 as in fflags), or NO_MEMORY. */
#include "native.h"

#include "kernel.h"

#include <fenv.h>
#include <stdlib.h>
#ifdef __SSE__
#include <xmmintrin.h>
#elif CARRIER == 32
#error "flushing subnormals after rounding is x86's way only"
#endif

#define RESULTS (CARRIED + OUTPUTS)
#define NO_MEMORY 0xffffffffu
#define ALIGNMENT 64
/* what is computed stays between the two: it is all stored in memory */
#define BARRIER __asm__ volatile("" ::: "memory")
enum { INVALID = 16, DIV_BY_ZERO = 8, OVERFLOW = 4, UNDERFLOW = 2, INEXACT = 1 };

enum { MAY_FLUSH = 0x8040, FLUSHING = CARRIER == 32 ? MAY_FLUSH : 0 }; /* subnormals count as zero */

/* How the processor rounds, traps and flushes: as a kernel wants it, and afterwards as it was. Without
 * flags, x86's register for it is written only where it differs: a write waits for all that comes
 * before, and calls one after the other would not overlap. */
#if defined(__SSE__) && !FLAGS
enum { WANTED = 0x1f80 | FLUSHING, MODES = 0xffc0 };
typedef unsigned environment;

static void enter(environment *before) {
  *before = _mm_getcsr();
  if ((*before & MODES) != WANTED) {
    _mm_setcsr(WANTED);
  }
  BARRIER;
}

static void restore(const environment *before) {
  if ((*before & MODES) != WANTED) {
    _mm_setcsr(*before);
  }
}
#else
typedef fenv_t environment;

static void enter(environment *before) {
  feholdexcept(before);
  fesetround(FE_TONEAREST);
#ifdef __SSE__
  _mm_setcsr((_mm_getcsr() & ~MAY_FLUSH) | FLUSHING);
#endif
  BARRIER;
}

static void restore(const environment *before) { fesetenv(before); }
#endif

static unsigned leave(const environment *before, const real *w) {
  BARRIER;
  unsigned flags = 0;
#if FLAGS
  int raised = fetestexcept(FE_ALL_EXCEPT);
  flags |= raised & FE_INVALID ? INVALID : 0;
  flags |= raised & FE_DIVBYZERO ? DIV_BY_ZERO : 0;
  flags |= raised & FE_OVERFLOW ? OVERFLOW : 0;
  flags |= raised & FE_UNDERFLOW ? UNDERFLOW : 0;
  flags |= raised & FE_INEXACT ? INEXACT : 0;
  const struct { int lanes; unsigned flag; } kept[] = {
      {INVALID_LANES, INVALID},
      {OVERFLOW_LANES, OVERFLOW | INEXACT},
      {UNDERFLOW_LANES, UNDERFLOW | INEXACT},
      {INEXACT_LANES, INEXACT},
  };
  for (int i = 0; w && i < RESERVED; i++) {
    bits_t lane[LANES];
    memcpy(lane, &w[kept[i].lanes], sizeof lane);
    for (int j = 0; j < LANES; j++) {
      flags |= lane[j] ? kept[i].flag : 0;
    }
  }
#else
  (void)w;
#endif
  restore(before);
  return flags;
}

static void *aligned(size_t size) {
  return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

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

/* Round numbers to the format. */
void from_doubles(const double *x, number *y, size_t count) {
  environment before;
  enter(&before);
  for (size_t i = 0; i < count; i += LANES) {
    double block[LANES] = {0};
    size_t size = count - i < LANES ? count - i : LANES;
    memcpy(block, x + i, size * sizeof(double));
    number one[LANES];
    for (int j = 0; j < LANES; j++) {
      one[j] = (number)block[j];
    }
    real found, none[RESERVED];
    memcpy(&found, one, sizeof found);
    memset(none, 0, sizeof none);
    found = RESULT(rounded(found, none + RESERVED));
    memcpy(y + i, &found, size * sizeof(number));
  }
  leave(&before, NULL);
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
