/* Sine and cosine of LANES numbers: those of fp_sincos, bit for bit; of double the C library's.
 *
 * The steps and names are those of pymodel/arith/sincos.py, whose constants and tables stand in a
 * generated file. Fixed point is computed in double where the product is exact there. */
#include "native.h"

#if EXP_W == 11
#include <math.h>

void sincos_lanes(real x, real *sine, real *cosine, real *w) {
  number value[LANES], s[LANES], c[LANES];
  memcpy(value, &x, sizeof x);
  for (int i = 0; i < LANES; i++) {
    s[i] = sin(value[i]);
    c[i] = cos(value[i]);
  }
  memcpy(sine, s, sizeof x);
  memcpy(cosine, c, sizeof x);
  (void)w;
}

#else
#include "native_tables.h"

#if LANES > 1
typedef int32_t i32 __attribute__((vector_size(LANES * 4)));
typedef uint32_t u32 __attribute__((vector_size(LANES * 4)));
typedef int64_t i64 __attribute__((vector_size(LANES * 8)));
typedef float f32 __attribute__((vector_size(LANES * 4)));
typedef double f64 __attribute__((vector_size(LANES * 8)));
#define CONVERT(x, type) __builtin_convertvector(x, type)
#define MASK(condition) (condition)
#else
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef float f32;
typedef double f64;
#define CONVERT(x, type) ((type)(x))
#define MASK(condition) (-(condition))
#endif
#define ONES(width) (((int64_t)1 << (width)) - 1)
#define SELECT(where, yes, no) (((yes) & (where)) | ((no) & ~(where)))

static inline i64 long_bits(f64 x) {
  i64 b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static inline f64 double_of(i64 b) {
  f64 x;
  memcpy(&x, &b, sizeof x);
  return x;
}

#if LANES == 16 && defined(__AVX512F__)
#include <immintrin.h>
typedef int64_t half __attribute__((vector_size(64)));

static inline int any(i32 where) {
  return _mm512_test_epi32_mask((__m512i)where, (__m512i)where) != 0;
}

static inline i32 entries(const int32_t *table, i32 index) {
  return (i32)_mm512_i32gather_epi32((__m512i)index, table, 4);
}

static inline i64 multiples(const int64_t *table, i32 index) {
  __m512i all = (__m512i)index;
  half low = (half)_mm512_i32gather_epi64(_mm512_castsi512_si256(all), table, 8);
  half high = (half)_mm512_i32gather_epi64(_mm512_extracti64x4_epi64(all, 1), table, 8);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
#else
static inline int any(i32 where) {
  int32_t lane[LANES], found = 0;
  memcpy(lane, &where, sizeof where);
  for (int i = 0; i < LANES; i++) {
    found |= lane[i];
  }
  return found != 0;
}

static inline i32 entries(const int32_t *table, i32 index) {
  int32_t lane[LANES];
  memcpy(lane, &index, sizeof index);
  for (int i = 0; i < LANES; i++) {
    lane[i] = table[lane[i]];
  }
  memcpy(&index, lane, sizeof index);
  return index;
}

static inline i64 multiples(const int64_t *table, i32 index) {
  int32_t lane[LANES];
  int64_t entry[LANES];
  i64 found;
  memcpy(lane, &index, sizeof index);
  for (int i = 0; i < LANES; i++) {
    entry[i] = table[lane[i]];
  }
  memcpy(&found, entry, sizeof found);
  return found;
}
#endif

/* slope * offset >> DROP, the offset in two parts, so that 32 bits hold each product */
enum { DROP = SLOPE_F + RHO_F - VALUE_F, PART_W = OFFSET_W / 2 };
static inline i32 rise(i32 slope, i32 offset) {
  i32 low = slope * (offset & (int32_t)ONES(PART_W)) >> PART_W;
  return (slope * (offset >> PART_W) + low) >> (DROP - PART_W);
}

/* slope of a segment, from its two coefficients in one word */
static inline i32 slope_at(i32 terms, i32 from_start) {
  enum { SLOPE_DROP = QUADRATIC_F + INDEX_W + COARSE_W - SLOPE_F };
  i32 coarse = from_start >> (OFFSET_W - COARSE_W);
  return (terms >> QUADRATIC_W) + ((terms & (int32_t)ONES(QUADRATIC_W)) * coarse >> SLOPE_DROP);
}

/* Sine and cosine of single, with its sign (all ones if negative); where none is all ones they are 0
 * and 1 exactly, without a flag. */
static inline __attribute__((always_inline)) void rotation(f32 single, i32 sign, i32 none,
                                                           real *sine, real *cosine, real *w) {
  f64 absolute = CONVERT(single, f64);

  /* n, the count of quarter turns; r = x - n pi/2 in fixed point, modulo 2 */
  const double per_turn = INVERSE * 0x1p-16;
  i32 count = (CONVERT(absolute * per_turn, i32) + 1) >> 1;
  i64 angle = CONVERT(absolute * 0x1p26, i64) << (ANGLE_F - RHO_F);
  angle += multiples(multiple_low, count & (int32_t)ONES(DIGIT_W));
  if (any(count >> DIGIT_W)) {
    angle += multiples(multiple_middle, count >> DIGIT_W & (int32_t)ONES(DIGIT_W));
    angle += multiples(multiple_high, count >> 2 * DIGIT_W);
  }
  i64 below = angle << (63 - ANGLE_F) >> 63; /* all ones where r < 0 */
  angle = (angle ^ below) & ONES(ANGLE_F);

  /* the polynomials of a segment */
  i32 rho = CONVERT(angle >> (ANGLE_F - RHO_F), i32);
  i32 index = rho >> OFFSET_W, from_start = rho & (int32_t)ONES(OFFSET_W);
  i32 offset = from_start - (1 << (OFFSET_W - 1));
  i32 cos = entries(cos_value, index);
  cos -= rise(slope_at(entries(cos_terms, index), from_start), offset);
  i32 factor = entries(sinc_value, index);
  factor += rise(slope_at(entries(sinc_terms, index), from_start), offset);
  factor >>= VALUE_F - FACTOR_F;

  /* sin(r) = r (1 - g), r cut to NORMAL_W bits; where n = 0, r is x. A double holds the leading bits
   * of the angle without rounding them up, if those behind 53 are gone. */
  i64 few = CONVERT((count - 1) >> 31, i64);
  angle &= ~(ONES(6) & (-(angle >> 52) >> 63));
  i64 r = SELECT(few, long_bits(absolute), long_bits(CONVERT(angle, f64) * 0x1p-57));
  f64 power = double_of(r & (ONES(11) << 52));
  i64 fraction = r & (ONES(NORMAL_W - 1) << (53 - NORMAL_W));
  f64 normal = double_of(fraction | (int64_t)1024 << 52); /* 2 .. 4 */
  f64 less = CONVERT(CONVERT(normal * CONVERT(factor, f64), i32), f64);
  /* neither is ever exact, nor half way: the last bit stands for what is not known */
  f64 sin_value = (normal * 0x1p27 + 0.5 - less) * (power * 0x1p-28);
  sin_value = double_of(long_bits(sin_value) & ~CONVERT(none, i64));
  cos = SELECT(none, (none & 0) + (1 << (VALUE_F + 1)), cos << 1 | 1);
  bits s = bits_of(rounded(CONVERT(sin_value, real), w));
  bits c = bits_of(rounded(CONVERT(cos, real) * (number)0x1p-30, w));

  /* of every other quarter turn the cosine is minus the sine */
#if CARRIER == 32
#define WIDE(mask) (bits)(mask)
#else
#define WIDE(mask) (bits)CONVERT(mask, i64)
#endif
  i32 odd = -(count & 1) & ~none, half_turn = -(count >> 1 & 1) & ~none;
  i32 negative = CONVERT(below, i32) & ~none;
  i32 minus_sin = half_turn ^ negative ^ (odd | sign);
  i32 minus_cos = half_turn ^ (odd & sign);
  s ^= WIDE(minus_sin) & SIGN;
  c ^= WIDE(minus_cos) & SIGN;
  bits swap = WIDE(odd);
  *sine = real_of(choose(swap, c, s));
  *cosine = real_of(choose(swap, s, c));
}

void sincos_lanes(real x, real *sine, real *cosine, real *w) {
  f32 single = CONVERT(x, f32); /* exact */
  i32 word;
  memcpy(&word, &single, sizeof word);
  i32 sign = word >> 31, magnitude = word & 0x7fffffff;
  i32 large = MASK(magnitude >= (127 + MAX_EXPONENT + 1) << 23);
  i32 none = large | MASK(magnitude < 0x00800000);
  if (!any(none)) {
    memcpy(&single, &magnitude, sizeof single);
    rotation(single, sign, none & 0, sine, cosine, w);
    return;
  }
  magnitude &= ~none;
  memcpy(&single, &magnitude, sizeof single);
  rotation(single, sign, none, sine, cosine, w);
  bits invalid = WIDE(large);
  *sine = real_of(choose(invalid, QUIET | (invalid & 0), bits_of(*sine)));
  *cosine = real_of(choose(invalid, QUIET | (invalid & 0), bits_of(*cosine)));
#if FLAGS
  raise_lanes(w, INVALID_LANES, invalid & ~WHERE(bits_of(x) << 1 > ((INFINITE | QUIET) << 1) - 1));
#endif
}
#endif
