"""Floats by rational arithmetic: an oracle that shares nothing with the model."""

from fractions import Fraction
from functools import cache

from pymodel.arith.fp import DIV_BY_ZERO, INEXACT, INVALID, OVERFLOW, UNDERFLOW, Format


@cache
def power(exponent: int) -> Fraction:
    """Of two."""
    return Fraction(2) ** exponent


class Rational:
    """The arithmetic rules over ``fractions.Fraction``, written from the specification.

    Signs are 1 and -1. The operations take bits and give (bits, flags), as those of the format do.

    Parameters
    ----------
    fmt : Format
    """

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt
        self.exponent_max = 2 ** (fmt.exp_w - 1) - 1
        self.exponent_min = 1 - self.exponent_max
        self.read = cache(self.read)

    def read(self, bits: int) -> tuple[int, str, Fraction | None]:
        """Split a number.

        Returns
        -------
        sign : int
        kind : str
            ``zero``, ``normal``, ``inf``, ``quiet`` or ``signaling``.
        value : fractions.Fraction or None
            None if it is not finite.
        """
        text = f"{bits:0{self.fmt.width}b}"
        exponent, mantissa = text[1 : 1 + self.fmt.exp_w], text[1 + self.fmt.exp_w :]
        sign = -1 if text[0] == "1" else 1
        if "0" not in exponent:
            if "1" not in mantissa:
                return sign, "inf", None
            return sign, "quiet" if mantissa[0] == "1" else "signaling", None
        if "1" not in exponent:
            return sign, "zero", Fraction(0)
        scale = power(int(exponent, 2) - self.exponent_max - self.fmt.man_w)
        return sign, "normal", sign * scale * int("1" + mantissa, 2)

    def write(self, sign: int, exponent: int, mantissa: int) -> int:
        """Join the fields of a number."""
        text = f"{'1' if sign < 0 else '0'}{exponent:0{self.fmt.exp_w}b}"
        return int(text + f"{mantissa:0{self.fmt.man_w}b}", 2)

    def zero(self, sign: int) -> int:
        """Bits of a zero."""
        return self.write(sign, 0, 0)

    def inf(self, sign: int) -> int:
        """Bits of an infinity."""
        return self.write(sign, 2**self.fmt.exp_w - 1, 0)

    @property
    def nan(self) -> int:
        """Bits of the one NaN that operations give."""
        return self.write(1, 2**self.fmt.exp_w - 1, 2 ** (self.fmt.man_w - 1))

    def round(self, value: Fraction) -> tuple[int, int]:
        """Round a nonzero value to the nearest number (Fraction's own round is to even)."""
        sign, magnitude = (-1, -value) if value < 0 else (1, value)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if magnitude < power(exponent):
            exponent -= 1
        digits = round(magnitude / power(exponent - self.fmt.man_w))
        rounded = digits * power(exponent - self.fmt.man_w)
        if digits == 2 ** (self.fmt.man_w + 1):
            exponent, digits = exponent + 1, 2**self.fmt.man_w
        if exponent > self.exponent_max:
            return self.inf(sign), OVERFLOW | INEXACT
        if exponent < self.exponent_min:
            return self.zero(sign), UNDERFLOW | INEXACT
        bits = self.write(sign, exponent + self.exponent_max, digits - 2**self.fmt.man_w)
        return bits, INEXACT if rounded != magnitude else 0

    def nan_operand(self, *kinds: str) -> tuple[int, int] | None:
        """Result of an operation if an operand is a NaN, otherwise None."""
        if "signaling" in kinds:
            return self.nan, INVALID
        return (self.nan, 0) if "quiet" in kinds else None

    def add(self, a: int, b: int) -> tuple[int, int]:
        """Add."""
        (sign_a, kind_a, x), (sign_b, kind_b, y) = self.read(a), self.read(b)
        if result := self.nan_operand(kind_a, kind_b):
            return result
        if kind_a == kind_b == "inf" and sign_a != sign_b:
            return self.nan, INVALID
        if "inf" in (kind_a, kind_b):
            return self.inf(sign_a if kind_a == "inf" else sign_b), 0
        if x + y == 0:
            both_negative = kind_a == kind_b == "zero" and sign_a == sign_b == -1
            return self.zero(-1 if both_negative else 1), 0
        return self.round(x + y)

    def mul(self, a: int, b: int) -> tuple[int, int]:
        """Multiply."""
        (sign_a, kind_a, x), (sign_b, kind_b, y) = self.read(a), self.read(b)
        if result := self.nan_operand(kind_a, kind_b):
            return result
        kinds = {kind_a, kind_b}
        if kinds == {"zero", "inf"}:
            return self.nan, INVALID
        if "inf" in kinds:
            return self.inf(sign_a * sign_b), 0
        return self.round(x * y) if x * y else (self.zero(sign_a * sign_b), 0)

    def recip(self, a: int) -> tuple[int, int]:
        """Take the reciprocal."""
        sign, kind, x = self.read(a)
        if result := self.nan_operand(kind):
            return result
        if kind == "inf":
            return self.zero(sign), 0
        return self.round(1 / x) if x else (self.inf(sign), DIV_BY_ZERO)
