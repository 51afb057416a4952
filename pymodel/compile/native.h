/* Numbers and operations of the C that pymodel/compile/emit_c.py writes.
 *
 * Defined from outside: LANES, systems that are computed at once (1: no vectors); CARRIER, 32 or 64,
 * bits of the machine's floats that carry the numbers; EXP_W and MAN_W, their format; FLAGS, whether
 * flags are kept; PER_ROW, whether each system has parameters of its own.
 *
 * binary32 is the processor's float with subnormals flushed to zero (x86 detects what is tiny after
 * rounding, as the hardware units do). Narrower formats are computed in double and rounded, which is
 * as if rounded once (Figueroa, When is double rounding innocuous?, 1995). EXP_W = 11 is double as
 * the processor has it, with the C library's sine and cosine. */
#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Each operation rounds to its own type: 0, or 16 where that is so of half precision, too; 1 takes
 * double for float. */
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16 && (FLT_EVAL_METHOD != 1 || CARRIER == 32)
#error "the floats of this compiler are rounded twice; on x86 they need SSE2"
#endif

#if CARRIER == 32
typedef float number;
typedef uint32_t bits_t;
#else
typedef double number;
typedef uint64_t bits_t;
#endif
#define NARROW (CARRIER == 64 && EXP_W < 11)

#if LANES > 1
typedef number real __attribute__((vector_size(LANES * sizeof(number))));
typedef number loose __attribute__((vector_size(LANES * sizeof(number)), aligned(sizeof(number))));
typedef bits_t bits __attribute__((vector_size(LANES * sizeof(number))));
#define WHERE(condition) ((bits)(condition)) /* all ones or all zeros a lane */
#else
typedef number real;
typedef number loose;
typedef bits_t bits;
#define WHERE(condition) (-(bits)(condition))
#endif

#define SIGN ((bits_t)1 << (CARRIER - 1))
#define INFINITE (CARRIER == 32 ? (bits_t)0x7f800000 : (bits_t)0x7ff0000000000000)
#define QUIET (CARRIER == 32 ? (bits_t)0x7fc00000 : (bits_t)0x7ff8000000000000)

/* A piece of a kernel. Systems come in blocks of LANES; in and out hold a block, by name and then by
 * system, and so does k if each system has parameters of its own. What one piece leaves to another
 * waits in w; in front of it stand the flags that the processor does not keep: lanes of bits, any of
 * which sets the flag. */
#define PIECE_ARGUMENTS \
  const number *restrict in, number *restrict out, const number *restrict k, real *restrict w
#define BLOCK(p, i) (*(const loose *)((p) + (size_t)(i) * LANES))
#define IN(i) ((real)BLOCK(in, i))
#define OUT(i) (*(loose *)(out + (size_t)(i) * LANES))
#define W(i) w[i]
#if PER_ROW
#define K(i) ((real)BLOCK(k, i))
#else
#define K(i) k[i]
#endif
enum { INVALID_LANES = -4, OVERFLOW_LANES = -3, UNDERFLOW_LANES = -2, INEXACT_LANES = -1 };
#define RESERVED 4

static inline bits bits_of(real x) {
  bits b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static inline real real_of(bits b) {
  real x;
  memcpy(&x, &b, sizeof x);
  return x;
}

static inline bits choose(bits where, bits yes, bits no) { return (yes & where) | (no & ~where); }

static inline void raise_lanes(real *w, int flag, bits lanes) {
  w[flag] = real_of(bits_of(w[flag]) | lanes);
}

#if NARROW
#define ROUNDED static __attribute__((noinline, unused)) /* or it takes minutes to compile */
#else
#define ROUNDED static inline
#endif
ROUNDED real rounded(real x, real *restrict w) {
#if NARROW
  enum { SHIFT = 52 - MAN_W, BIAS = (1 << (EXP_W - 1)) - 1 };
  const bits_t least = (bits_t)(1 - BIAS + 1023) << 52;
  const bits_t largest = ((bits_t)(BIAS + 1023) << 52) | (((((bits_t)1 << MAN_W) - 1)) << SHIFT);
  bits b = bits_of(x), sign = b & SIGN, magnitude = b & ~SIGN;
  bits half = (((bits_t)1 << (SHIFT - 1)) - 1) + ((b >> SHIFT) & 1);
  bits found = (magnitude + half) >> SHIFT << SHIFT;
  bits finite = WHERE(magnitude < INFINITE);
  bits below = WHERE(found < least), above = WHERE(found > largest) & finite;
#if FLAGS
  raise_lanes(w, INEXACT_LANES, finite & (found ^ magnitude));
  raise_lanes(w, UNDERFLOW_LANES, below & WHERE(magnitude > 0));
  raise_lanes(w, OVERFLOW_LANES, above);
#else
  (void)w;
#endif
  found = choose(above, INFINITE | (found & 0), found & ~below);
  return real_of(sign | choose(finite, found, magnitude));
#else
  (void)w;
  return x;
#endif
}

#if NARROW
#define ROUND(x) rounded((x), w)
#else
#define ROUND(x) (x) /* no call: of what is inlined, most of a compiler's time would be the call */
#endif
#define ADD(a, b) ROUND((a) + (b))
#define MUL(a, b) ROUND((a) * (b))
#define REC(a) ROUND((number)1 / (a))
#define SINCOS(a, sin, cos) sincos_lanes((a), &(sin), &(cos), w)
void sincos_lanes(real x, real *sine, real *cosine, real *w);

/* What an operation gives: of the float units' formats the one NaN that they have. */
static inline real canonical(real x) {
#if EXP_W == 11
  return x;
#else
  bits b = bits_of(x), nan = WHERE((b & ~SIGN) > INFINITE);
  return real_of(choose(nan, QUIET | (b & 0), b));
#endif
}
#define RESULT(x) canonical(x)

#define SPREAD(x) ((x) - (real){0})
