"""Bit-exact model of the float units, with plain Python integers.

The rules, the same in ``rtl/fp``:

- Round to nearest, ties to even. The all-ones exponent is infinity or NaN, as in IEEE 754.
- A subnormal operand counts as a zero of its sign. A result that, rounded with an unbounded
  exponent range, lies below the smallest normal becomes a zero of its sign.
- A NaN result is always ``Format.canonical_nan``; x + (-x) is +0.
- Flags are the RISC-V ``fflags``: see the constants below. Flushing a subnormal operand raises
  none; a quiet NaN operand raises none, a signaling one raises INVALID.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from pymodel.arith import sincos as fixed
from pymodel.arith.numbers import whole

INVALID, DIV_BY_ZERO, OVERFLOW, UNDERFLOW, INEXACT = 16, 8, 4, 2, 1
FLAG_NAMES = {INVALID: "NV", DIV_BY_ZERO: "DZ", OVERFLOW: "OF", UNDERFLOW: "UF", INEXACT: "NX"}
NOT_FINITE = INVALID | DIV_BY_ZERO | OVERFLOW  # of these comes an infinity, or no number

Binary = Callable[[int, int], tuple[int, int]]
Unary = Callable[[int], tuple[int, int]]
Rotation = Callable[[int], tuple[int, int, int]]
Rounder = Callable[[int, int, int], tuple[int, int]]


def flag_text(flags: int) -> str:
    """Name the flags that are set, for example ``"OF+NX"``; ``"-"`` if none is."""
    return "+".join(name for bit, name in FLAG_NAMES.items() if flags & bit) or "-"


@dataclass(frozen=True)
class Format:
    """A binary float format of 1 + ``exp_w`` + ``man_w`` bits; numbers are held as int bits.

    Bits above the format's width must be zero; this is not checked.

    Parameters
    ----------
    exp_w : int
        Bits of the exponent, 4 to 11.
    man_w : int
        Bits of the mantissa without the implicit one, 2 to 52.

    Attributes
    ----------
    add, mul : callable
        ``(a, b) -> (bits, flags)``, correctly rounded.
    recip : callable
        ``(a) -> (bits, flags)``, correctly rounded.
    sincos : callable
        ``(angle) -> (sine, cosine, flags)``, the angle in rad, each result within 0.75 ULP.
        Infinities and magnitudes of 2**17 or more give two NaNs and INVALID. Raises ValueError
        in formats beyond 8/23: see :attr:`has_sincos`.

    Raises
    ------
    ValueError
        If ``exp_w`` or ``man_w`` is out of its range, or no whole number.
    """

    exp_w: int
    man_w: int
    add: Binary = field(init=False, repr=False, compare=False)
    mul: Binary = field(init=False, repr=False, compare=False)
    recip: Unary = field(init=False, repr=False, compare=False)
    sincos: Rotation = field(init=False, repr=False, compare=False)
    _round: Rounder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("exp_w", "man_w"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        if not 4 <= self.exp_w <= 11:
            raise ValueError(f"exp_w is {self.exp_w}, must lie in 4..11")
        if not 2 <= self.man_w <= 52:
            raise ValueError(f"man_w is {self.man_w}, must lie in 2..52")
        round_ = _rounder(self)
        add, mul, recip = _operations(self, round_)
        functions = {"_round": round_, "add": add, "mul": mul, "recip": recip}
        functions["sincos"] = _sincos(self, round_) if self.has_sincos else _no_sincos
        for name, function in functions.items():
            object.__setattr__(self, name, function)  # the dataclass is frozen

    def __reduce__(self) -> tuple[type["Format"], tuple[int, int]]:
        return Format, (self.exp_w, self.man_w)  # the operations are closures: build them anew

    def __str__(self) -> str:
        return f"{self.exp_w}/{self.man_w}"

    @property
    def width(self) -> int:
        """Bits of a number."""
        return 1 + self.exp_w + self.man_w

    @property
    def bias(self) -> int:
        """Exponent field of 1.0."""
        return (1 << (self.exp_w - 1)) - 1

    @property
    def sign_mask(self) -> int:
        """The sign bit; also the bits of -0."""
        return 1 << (self.exp_w + self.man_w)

    @property
    def inf(self) -> int:
        """Bits of +infinity."""
        return ((1 << self.exp_w) - 1) << self.man_w

    @property
    def canonical_nan(self) -> int:
        """The one NaN that operations return."""
        return self.inf | self.quiet_bit

    @property
    def quiet_bit(self) -> int:
        """The mantissa bit that is set in a quiet NaN, and not in a signaling one."""
        return 1 << (self.man_w - 1)

    @property
    def min_normal(self) -> int:
        """Bits of the smallest positive normal; also the implicit bit of the significand."""
        return 1 << self.man_w

    @property
    def max_finite(self) -> int:
        """Bits of the largest finite number."""
        return self.inf - 1

    @property
    def one(self) -> int:
        """Bits of 1.0."""
        return self.bias << self.man_w

    @property
    def has_sincos(self) -> bool:
        """Whether the format fits binary32, as ``sincos`` needs."""
        return self.exp_w <= 8 and self.man_w < fixed.SIGNIFICAND_W

    def fields(self, bits: int) -> tuple[int, int, int]:
        """Split bits into sign, biased exponent and mantissa (without the implicit bit)."""
        return (
            bits >> (self.exp_w + self.man_w),
            (bits >> self.man_w) & ((1 << self.exp_w) - 1),
            bits & (self.min_normal - 1),
        )

    def is_nan(self, bits: int) -> bool:
        """Whether the number is a NaN, quiet or signaling."""
        return bits & ~self.sign_mask > self.inf

    def is_signaling(self, bits: int) -> bool:
        """Whether the number is a NaN whose top mantissa bit is 0."""
        return self.is_nan(bits) and not bits & self.quiet_bit

    def neg(self, a: int) -> int:
        """Flip the sign bit, of a NaN too (IEEE 754 ``negate``)."""
        return a ^ self.sign_mask

    def from_float(self, x: float) -> int:
        """Round ``x`` to the format, under the rules of its operations; returns the bits.

        It is a float; another number is taken as the nearest one.

        Raises
        ------
        ValueError
            If it is no number, or a whole one beyond float64.
        """
        try:
            is_nan = math.isnan(x)
        except (TypeError, OverflowError):
            raise ValueError(f"must be a number that float64 holds, got {x!r}") from None
        if is_nan:
            return self.canonical_nan
        sign = self.sign_mask if math.copysign(1.0, x) < 0 else 0
        if math.isinf(x):
            return sign | self.inf
        if x == 0:
            return sign
        fraction, exponent = math.frexp(abs(x))  # float64 holds 53 bits
        significand, exponent = int(fraction * 2**53), exponent - 53
        return self._round(sign, significand, exponent + self.bias + self.man_w)[0]

    def to_float(self, bits: int) -> float:
        """Convert to a Python float, exactly; a subnormal reads as a zero of its sign."""
        sign, exponent, mantissa = self.fields(bits)
        if self.is_nan(bits):
            return math.nan
        if exponent == 0:
            magnitude = 0.0
        elif bits & ~self.sign_mask == self.inf:
            magnitude = math.inf
        else:
            magnitude = math.ldexp(self.min_normal | mantissa, exponent - self.bias - self.man_w)
        return -magnitude if sign else magnitude

    def ulp_distance(self, a: int, b: int) -> int | None:
        """Count the steps from number to neighbouring number between two numbers.

        Subnormals are zeros, the two zeros are one number, and infinity follows the largest
        finite number.

        Parameters
        ----------
        a, b : int
            Bits of the numbers.

        Returns
        -------
        int or None
            The distance in ULP; None if an operand is a NaN.
        """
        if self.is_nan(a) or self.is_nan(b):
            return None
        return abs(self._position(a) - self._position(b))

    def _position(self, bits: int) -> int:
        magnitude = max((bits & ~self.sign_mask) - self.min_normal + 1, 0)
        return -magnitude if bits & self.sign_mask else magnitude


def _rounder(fmt: Format) -> Rounder:
    """Build ``round(sign, significand, exponent) -> (bits, flags)``, used by every operation.

    ``sign`` is 0 or the sign bit in its place. The magnitude is
    ``significand * 2**(exponent - bias - man_w)`` with any integer significand > 0, so that
    ``exponent`` is the biased exponent if the significand has exactly man_w + 1 bits.
    """
    man_w, implicit, inf = fmt.man_w, fmt.min_normal, fmt.inf

    def round_(sign: int, significand: int, exponent: int) -> tuple[int, int]:
        flags = 0
        shift = significand.bit_length() - man_w - 1
        if shift > 0:
            if significand & ((1 << shift) - 1):
                flags = INEXACT
                odd = (significand >> shift) & 1
                significand += (1 << (shift - 1)) - 1 + odd
            significand >>= shift
        else:
            significand <<= -shift
        # The implicit bit adds one to the exponent, and so does a carry out of the rounding.
        magnitude = ((exponent + shift - 1) << man_w) + significand
        if magnitude >= inf:
            return sign | inf, OVERFLOW | INEXACT
        if magnitude < implicit:
            return sign, UNDERFLOW | INEXACT
        return sign | magnitude, flags

    return round_


def _operations(fmt: Format, round_: Rounder) -> tuple[Binary, Binary, Unary]:
    """Build ``add``, ``mul`` and ``recip`` of a format, its constants bound for speed."""
    man_w, bias, sign_mask = fmt.man_w, fmt.bias, fmt.sign_mask
    inf, nan = fmt.inf, fmt.canonical_nan
    implicit, mantissa_mask, magnitude_mask = fmt.min_normal, fmt.min_normal - 1, sign_mask - 1

    def nan_result(*operands: int) -> tuple[int, int]:
        return nan, INVALID if any(map(fmt.is_signaling, operands)) else 0

    def add(a: int, b: int) -> tuple[int, int]:
        magnitude_a, magnitude_b = a & magnitude_mask, b & magnitude_mask
        if magnitude_a >= inf or magnitude_b >= inf:
            if magnitude_a > inf or magnitude_b > inf:
                return nan_result(a, b)
            if magnitude_a == magnitude_b and a != b:
                return nan, INVALID
            return (a if magnitude_a == inf else b), 0
        exponent_a, exponent_b = magnitude_a >> man_w, magnitude_b >> man_w
        x = (a & mantissa_mask) | implicit if exponent_a else 0
        y = (b & mantissa_mask) | implicit if exponent_b else 0
        if exponent_a >= exponent_b:  # align exactly: no bit is lost before the rounding
            exponent = exponent_b
            x <<= exponent_a - exponent_b
        else:
            exponent = exponent_a
            y <<= exponent_b - exponent_a
        total = (-x if a & sign_mask else x) + (-y if b & sign_mask else y)
        if total > 0:
            return round_(0, total, exponent)
        if total < 0:
            return round_(sign_mask, -total, exponent)
        return a & b & sign_mask, 0

    def mul(a: int, b: int) -> tuple[int, int]:
        sign = (a ^ b) & sign_mask
        magnitude_a, magnitude_b = a & magnitude_mask, b & magnitude_mask
        if magnitude_a >= inf or magnitude_b >= inf:
            if magnitude_a > inf or magnitude_b > inf:
                return nan_result(a, b)
            if magnitude_a < implicit or magnitude_b < implicit:
                return nan, INVALID
            return sign | inf, 0
        if magnitude_a < implicit or magnitude_b < implicit:
            return sign, 0
        product = ((a & mantissa_mask) | implicit) * ((b & mantissa_mask) | implicit)
        exponent = (magnitude_a >> man_w) + (magnitude_b >> man_w) - bias - man_w
        return round_(sign, product, exponent)

    def recip(a: int) -> tuple[int, int]:
        sign, magnitude = a & sign_mask, a & magnitude_mask
        if magnitude > inf:
            return nan_result(a)
        if magnitude == inf:
            return sign, 0
        if magnitude < implicit:
            return sign | inf, DIV_BY_ZERO
        significand = (a & mantissa_mask) | implicit
        quotient, remainder = divmod(1 << (2 * man_w + 2), significand)
        sticky = 1 if remainder else 0
        return round_(sign, quotient << 1 | sticky, 2 * bias - 3 - (magnitude >> man_w))

    return add, mul, recip


def _sincos(fmt: Format, round_: Rounder) -> Rotation:
    """Build ``sincos`` of a format."""
    man_w, bias, sign_mask = fmt.man_w, fmt.bias, fmt.sign_mask
    inf, nan, one = fmt.inf, fmt.canonical_nan, fmt.one
    implicit, mantissa_mask, magnitude_mask = fmt.min_normal, fmt.min_normal - 1, sign_mask - 1
    too_large = min(inf, (bias + fixed.MAX_EXPONENT + 1) << man_w)
    pad = fixed.SIGNIFICAND_W - 1 - man_w
    # The exponents that `round_` takes, of the fixed-point values and a sticky bit behind them.
    sin_bias = bias + man_w - fixed.NORMAL_W
    cos_exponent = bias + man_w - fixed.VALUE_F - 1
    tables, evaluate = fixed.tables(), fixed.fixed_point

    def sincos(a: int) -> tuple[int, int, int]:
        sign, magnitude = a & sign_mask, a & magnitude_mask
        if magnitude > inf:
            return nan, nan, INVALID if fmt.is_signaling(a) else 0
        if magnitude >= too_large:
            return nan, nan, INVALID
        if magnitude < implicit:
            return sign, one, 0
        significand = ((a & mantissa_mask) | implicit) << pad
        count, negative, sin, sin_exponent, cos = evaluate(
            significand, (magnitude >> man_w) - bias, tables
        )
        half_turn = sign_mask if count & 2 else 0
        sin_sign = half_turn ^ (sign_mask if negative else 0)
        if count & 1:  # a quarter turn: the sine becomes the cosine, and the cosine minus the sine
            sin_sign, cos_sign = sin_sign ^ sign_mask, half_turn ^ sign
        else:
            sin_sign, cos_sign = sin_sign ^ sign, half_turn
        # Neither is ever exact, nor half way: the last bit stands for what is not known.
        r_sin, flags = round_(sin_sign, sin << 1 | 1, sin_bias + sin_exponent)
        r_cos, more = round_(cos_sign, cos << 1 | 1, cos_exponent)
        if count & 1:
            return r_cos, r_sin, flags | more
        return r_sin, r_cos, flags | more

    return sincos


def _no_sincos(a: int) -> tuple[int, int, int]:
    raise ValueError("sincos needs a format of exp_w 4..8 and man_w 2..23")


BINARY32 = Format(8, 23)
