/* The operations of the float units on arrays of bits, in any format, with their flags.
 *
 * The specification is pymodel/arith/fp.py, of sine and cosine pymodel/arith/sincos.py: this has its
 * steps and its names, and must give its bits. */
#include <stddef.h>
#include <stdint.h>

#include "sincos_tables.h"

enum { INVALID = 16, DIV_BY_ZERO = 8, OVERFLOW = 4, UNDERFLOW = 2, INEXACT = 1 };

typedef __int128 wide;
typedef unsigned __int128 unsigned_wide;

typedef struct {
  int man_w, bias;
  uint64_t sign_mask, inf, nan, quiet_bit, implicit;
} format_t;

typedef struct {
  uint64_t bits;
  int flags;
} result_t;

static format_t format_of(int exp_w, int man_w) {
  uint64_t implicit = (uint64_t)1 << man_w, inf = (((uint64_t)1 << exp_w) - 1) << man_w;
  format_t fmt = {
    .man_w = man_w,
    .bias = (1 << (exp_w - 1)) - 1,
    .sign_mask = (uint64_t)1 << (exp_w + man_w),
    .inf = inf,
    .nan = inf | implicit >> 1,
    .quiet_bit = implicit >> 1,
    .implicit = implicit,
  };
  return fmt;
}

static uint64_t magnitude_of(format_t fmt, uint64_t a) { return a & (fmt.sign_mask - 1); }

static uint64_t significand_of(format_t fmt, uint64_t a) {
  return (a & (fmt.implicit - 1)) | fmt.implicit;
}

static int is_signaling(format_t fmt, uint64_t a) {
  return magnitude_of(fmt, a) > fmt.inf && !(a & fmt.quiet_bit);
}

static result_t exactly(uint64_t bits) { return (result_t){bits, 0}; }

static result_t nan_result(format_t fmt, int invalid) {
  return (result_t){fmt.nan, invalid ? INVALID : 0};
}

static int bit_length(unsigned_wide x) {
  uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
  if (high) {
    return 128 - __builtin_clzll(high);
  }
  return low ? 64 - __builtin_clzll(low) : 0;
}

/* significand * 2**(exponent - bias - man_w), significand > 0, to nearest and ties to even */
static result_t rounded(format_t fmt, uint64_t sign, unsigned_wide significand, int exponent) {
  int flags = 0, shift = bit_length(significand) - fmt.man_w - 1;
  if (shift > 0) {
    unsigned_wide one = 1;
    if (significand & ((one << shift) - 1)) {
      flags = INEXACT;
      significand += (one << (shift - 1)) - 1 + ((significand >> shift) & 1);
    }
    significand >>= shift;
  } else {
    significand <<= -shift;
  }
  /* The implicit bit adds one to the exponent, and so does a carry out of the rounding. */
  wide magnitude = (wide)(exponent + shift - 1) * (wide)fmt.implicit + (wide)significand;
  if (magnitude >= (wide)fmt.inf) {
    return (result_t){sign | fmt.inf, OVERFLOW | INEXACT};
  }
  if (magnitude < (wide)fmt.implicit) {
    return (result_t){sign, UNDERFLOW | INEXACT};
  }
  return (result_t){sign | (uint64_t)magnitude, flags};
}

/* The larger exponent's significand stands ALIGN bits up. What of the other one would go below is at
 * most 53 bits at the bottom of 64 or more that are rounded away: a one stands for all of it. */
enum { ALIGN = 64 };

static result_t add(format_t fmt, uint64_t a, uint64_t b) {
  uint64_t magnitude_a = magnitude_of(fmt, a), magnitude_b = magnitude_of(fmt, b);
  if (magnitude_a >= fmt.inf || magnitude_b >= fmt.inf) {
    if (magnitude_a > fmt.inf || magnitude_b > fmt.inf) {
      return nan_result(fmt, is_signaling(fmt, a) || is_signaling(fmt, b));
    }
    if (magnitude_a == magnitude_b && a != b) {
      return nan_result(fmt, 1);
    }
    return exactly(magnitude_a == fmt.inf ? a : b);
  }
  if (magnitude_a < magnitude_b) { /* a is the larger one */
    uint64_t other = a;
    a = b;
    b = other;
    other = magnitude_a;
    magnitude_a = magnitude_b;
    magnitude_b = other;
  }
  int exponent_a = (int)(magnitude_a >> fmt.man_w), exponent_b = (int)(magnitude_b >> fmt.man_w);
  wide x = exponent_a ? (wide)significand_of(fmt, a) << ALIGN : 0;
  wide y = exponent_b ? (wide)significand_of(fmt, b) : 0;
  int right = exponent_a - exponent_b;
  y = right <= ALIGN ? y << (ALIGN - right) : (wide)(y != 0);
  wide total = (a & fmt.sign_mask ? -x : x) + (b & fmt.sign_mask ? -y : y);
  if (total > 0) {
    return rounded(fmt, 0, (unsigned_wide)total, exponent_a - ALIGN);
  }
  if (total < 0) {
    return rounded(fmt, fmt.sign_mask, (unsigned_wide)-total, exponent_a - ALIGN);
  }
  return exactly(a & b & fmt.sign_mask);
}

static result_t mul(format_t fmt, uint64_t a, uint64_t b) {
  uint64_t sign = (a ^ b) & fmt.sign_mask;
  uint64_t magnitude_a = magnitude_of(fmt, a), magnitude_b = magnitude_of(fmt, b);
  int zero = magnitude_a < fmt.implicit || magnitude_b < fmt.implicit;
  if (magnitude_a >= fmt.inf || magnitude_b >= fmt.inf) {
    if (magnitude_a > fmt.inf || magnitude_b > fmt.inf) {
      return nan_result(fmt, is_signaling(fmt, a) || is_signaling(fmt, b));
    }
    return zero ? nan_result(fmt, 1) : exactly(sign | fmt.inf);
  }
  if (zero) {
    return exactly(sign);
  }
  unsigned_wide product = (unsigned_wide)significand_of(fmt, a) * significand_of(fmt, b);
  int exponents = (int)(magnitude_a >> fmt.man_w) + (int)(magnitude_b >> fmt.man_w);
  return rounded(fmt, sign, product, exponents - fmt.bias - fmt.man_w);
}

static result_t recip(format_t fmt, uint64_t a) {
  uint64_t sign = a & fmt.sign_mask, magnitude = magnitude_of(fmt, a);
  if (magnitude > fmt.inf) {
    return nan_result(fmt, is_signaling(fmt, a));
  }
  if (magnitude == fmt.inf) {
    return exactly(sign);
  }
  if (magnitude < fmt.implicit) {
    return (result_t){sign | fmt.inf, DIV_BY_ZERO};
  }
  uint64_t significand = significand_of(fmt, a);
  unsigned_wide dividend = (unsigned_wide)1 << (2 * fmt.man_w + 2);
  unsigned_wide quotient = dividend / significand;
  int sticky = quotient * significand != dividend;
  int exponent = 2 * fmt.bias - 3 - (int)(magnitude >> fmt.man_w);
  return rounded(fmt, sign, quotient << 1 | sticky, exponent);
}

/* --- sine and cosine: pymodel/arith/sincos.py -------------------------------------------------- */

static int64_t ones(int width) { return ((int64_t)1 << width) - 1; }

typedef struct {
  int64_t count, negative, sin, cos;
  int sin_exponent;
} rotation_t;

/* (value, terms) at an index: slope and quadratic term together, in the lower bits the second one */
static int64_t slope_of(int64_t terms, int64_t coarse) {
  int64_t quadratic = terms & ones(QUADRATIC_W);
  return (terms >> QUADRATIC_W) + (quadratic * coarse >> (QUADRATIC_F + INDEX_W + COARSE_W - SLOPE_F));
}

static rotation_t fixed_point(int64_t significand, int exponent) {
  rotation_t found;
  int right = MAX_EXPONENT - exponent;
  right = right < 63 ? right : 63; /* nothing is left */
  const int inverse_f = INVERSE_W + SIGNIFICAND_W - 1 - MAX_EXPONENT;
  found.count = ((significand * INVERSE >> (inverse_f - 1) >> right) + 1) >> 1;
  const int left = RHO_F - (SIGNIFICAND_W - 1 - MAX_EXPONENT);
  int64_t x = (significand << left >> right) & ones(RHO_F + 1);
  int64_t angle = x << (ANGLE_F - RHO_F);
  angle += multiple_low[found.count & ones(DIGIT_W)];
  angle += multiple_middle[found.count >> DIGIT_W & ones(DIGIT_W)];
  angle += multiple_high[found.count >> 2 * DIGIT_W];
  angle &= ones(ANGLE_F + 1);
  found.negative = angle >> ANGLE_F;
  angle ^= -found.negative & ones(ANGLE_F + 1);

  int64_t rho = angle >> (ANGLE_F - RHO_F);
  int64_t index = rho >> OFFSET_W, from_start = rho & ones(OFFSET_W);
  int64_t coarse = from_start >> (OFFSET_W - COARSE_W);
  int64_t offset = from_start - ((int64_t)1 << (OFFSET_W - 1));
  const int drop = SLOPE_F + RHO_F - VALUE_F;
  found.cos = cos_value[index] - (slope_of(cos_terms[index], coarse) * offset >> drop);
  int64_t factor = sinc_value[index] + (slope_of(sinc_terms[index], coarse) * offset >> drop);
  factor >>= VALUE_F - FACTOR_F;

  int zeros = ANGLE_F - bit_length((unsigned_wide)angle), few = found.count == 0;
  int64_t normal = angle << zeros >> (ANGLE_F - NORMAL_W);
  if (few) { /* r is x */
    normal = significand << (NORMAL_W - SIGNIFICAND_W);
  }
  found.sin = normal - (normal * factor >> FACTOR_F);
  found.sin_exponent = few ? exponent : -1 - zeros;
  return found;
}

static int sincos(format_t fmt, uint64_t a, uint64_t *sine, uint64_t *cosine) {
  uint64_t sign = a & fmt.sign_mask, magnitude = magnitude_of(fmt, a);
  uint64_t too_large = (uint64_t)(fmt.bias + MAX_EXPONENT + 1) << fmt.man_w;
  if (magnitude >= too_large || magnitude >= fmt.inf) {
    *sine = *cosine = fmt.nan;
    return magnitude <= fmt.inf || is_signaling(fmt, a) ? INVALID : 0;
  }
  if (magnitude < fmt.implicit) {
    *sine = sign;
    *cosine = (uint64_t)fmt.bias << fmt.man_w;
    return 0;
  }
  int64_t significand = (int64_t)significand_of(fmt, a) << (SIGNIFICAND_W - 1 - fmt.man_w);
  rotation_t found = fixed_point(significand, (int)(magnitude >> fmt.man_w) - fmt.bias);
  uint64_t half_turn = found.count & 2 ? fmt.sign_mask : 0, cos_sign = half_turn;
  uint64_t sin_sign = half_turn ^ (found.negative ? fmt.sign_mask : 0);
  int odd = found.count & 1;
  if (odd) {
    sin_sign ^= fmt.sign_mask;
    cos_sign ^= sign;
  } else {
    sin_sign ^= sign;
  }
  /* Neither is ever exact, nor half way: the last bit stands for what is not known. */
  int sin_bias = fmt.bias + fmt.man_w - NORMAL_W, cos_exponent = fmt.bias + fmt.man_w - VALUE_F - 1;
  result_t of_sin = rounded(
      fmt, sin_sign, (unsigned_wide)found.sin << 1 | 1, sin_bias + found.sin_exponent);
  result_t of_cos = rounded(fmt, cos_sign, (unsigned_wide)found.cos << 1 | 1, cos_exponent);
  *sine = odd ? of_cos.bits : of_sin.bits;
  *cosine = odd ? of_sin.bits : of_cos.bits;
  return of_sin.flags | of_cos.flags;
}

/* --- on arrays ---------------------------------------------------------------------------------- */

#define OF_TWO(name, operation)                                                               \
  void name(int exp_w, int man_w, size_t n, const uint64_t *a, const uint64_t *b, uint64_t *y, \
            uint8_t *flags) {                                                                  \
    format_t fmt = format_of(exp_w, man_w);                                                    \
    for (size_t i = 0; i < n; i++) {                                                           \
      result_t found = operation(fmt, a[i], b[i]);                                             \
      y[i] = found.bits;                                                                       \
      flags[i] = (uint8_t)found.flags;                                                         \
    }                                                                                          \
  }
OF_TWO(add_each, add)
OF_TWO(mul_each, mul)

void recip_each(int exp_w, int man_w, size_t n, const uint64_t *a, uint64_t *y, uint8_t *flags) {
  format_t fmt = format_of(exp_w, man_w);
  for (size_t i = 0; i < n; i++) {
    result_t found = recip(fmt, a[i]);
    y[i] = found.bits;
    flags[i] = (uint8_t)found.flags;
  }
}

void sincos_each(int exp_w, int man_w, size_t n, const uint64_t *a, uint64_t *sine,
                 uint64_t *cosine, uint8_t *flags) {
  format_t fmt = format_of(exp_w, man_w);
  for (size_t i = 0; i < n; i++) {
    flags[i] = (uint8_t)sincos(fmt, a[i], &sine[i], &cosine[i]);
  }
}
