/* What surrounds a call of a kernel: how the processor rounds meanwhile, which flags were raised, and
 * numbers rounded to the format. For native_run.c and native_list.c. */
#ifndef NATIVE_CALL_H
#define NATIVE_CALL_H
#include "native.h"

#include <fenv.h>
#include <stdlib.h>
#ifdef __SSE__
#include <xmmintrin.h>
#elif CARRIER == 32
#error "flushing subnormals after rounding is x86's way only"
#endif

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

#endif
