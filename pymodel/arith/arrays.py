"""Arrays of numbers of a float format as scalars: many evaluations of the text at once.

Every operation is done in float64 and rounded to the format. That gives the bits of
:class:`pymodel.arith.scalars.BitExact`: a product of two numbers of up to 26 bits is exact in
float64, and a sum or reciprocal that is rounded twice is as if rounded once where float64's 53 bits
are at least twice the format's and two more (Figueroa, When is double rounding innocuous?, 1995).
"""

from __future__ import annotations

import numpy as np

from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact

FLOAT64_MAN_W = 52


class FormatArrays:
    """Scalars that are arrays of one format's numbers; flags are not kept.

    Parameters
    ----------
    fmt : Format
        Of at most binary32's exponent and mantissa.

    Raises
    ------
    ValueError
        If the format is wider.
    """

    flags = 0

    def __init__(self, fmt: Format) -> None:
        if not fmt.has_sincos:
            raise ValueError(f"format {fmt}: must not be wider than 8/23")
        self.fmt = fmt
        self.name = BitExact(fmt).name
        self._least = fmt.to_float(fmt.min_normal)
        self._largest = fmt.to_float(fmt.max_finite)

    def rounded(self, x: np.ndarray | float) -> np.ndarray:
        """Round float64 numbers to the format, to nearest and ties to even."""
        x = np.asarray(x, float)
        return self._to_binary32(x) if self.fmt == BINARY32 else self._by_bits(x)

    def _to_binary32(self, x: np.ndarray) -> np.ndarray:
        """As the host rounds, who has subnormal numbers in place of flushing to zero."""
        if not ((np.abs(x) >= self._least) | (x == 0.0)).all():  # too small, or a NaN
            return self._by_bits(x)
        with np.errstate(over="ignore", invalid="ignore"):
            return x.astype(np.float32).astype(float)

    def _by_bits(self, x: np.ndarray) -> np.ndarray:
        """For any format."""
        shift = np.uint64(FLOAT64_MAN_W - self.fmt.man_w)
        one = np.uint64(1)
        bits = x.view(np.uint64)
        half = (one << (shift - one)) - one + ((bits >> shift) & one)
        found = (((bits + half) >> shift) << shift).view(float)
        found = np.where(np.abs(found) < self._least, np.copysign(0.0, x), found)
        found = np.where(np.abs(found) > self._largest, np.copysign(np.inf, x), found)
        return np.where(np.isfinite(x), found, np.where(np.isnan(x), np.nan, x))

    def array(self, x: np.ndarray | float) -> Rounded:
        """Round numbers once, to a scalar."""
        return Rounded(self, self.rounded(x))

    def const(self, x: float) -> Rounded:
        """Round x once."""
        return self.array(x)

    def parameter(self, name: str, x: float) -> Rounded:
        """Round x once."""
        return self.array(x)

    structural = parameter

    def recip(self, x: Rounded) -> Rounded:
        """1 / x, correctly rounded."""
        with np.errstate(divide="ignore"):
            return self.array(np.divide(1.0, x.values))

    def sincos(self, x: Rounded) -> tuple[Rounded, Rounded]:
        """Sine and cosine as `fp_sincos` gives them, one number after the other."""
        to_float, from_float = self.fmt.to_float, self.fmt.from_float
        found = [self.fmt.sincos(from_float(float(value)))[:2] for value in x.values.reshape(-1)]
        sin, cos = (
            np.reshape([to_float(bits) for bits in some], x.values.shape)
            for some in zip(*found, strict=True)
        )
        return Rounded(self, sin), Rounded(self, cos)

    def canonical(self, x: Rounded) -> Rounded:
        """Return x with the one NaN of operations in place of a negated one."""
        return Rounded(self, np.where(np.isnan(x.values), np.nan, x.values))

    def is_zero(self, x: Rounded) -> bool:
        """Return whether an entry is zero."""
        return bool(np.any(x.values == 0.0))

    def is_finite(self, x: Rounded) -> bool:
        """Return whether all entries are finite."""
        return bool(np.all(np.isfinite(x.values)))


class Rounded:
    """Numbers of a format, as an array of float64.

    Attributes
    ----------
    values : ndarray
    """

    __slots__ = ("arithmetic", "values")

    def __init__(self, arithmetic: FormatArrays, values: np.ndarray) -> None:
        self.arithmetic = arithmetic
        self.values = values

    def __add__(self, other: Rounded) -> Rounded:
        with np.errstate(invalid="ignore"):
            return self.arithmetic.array(self.values + other.values)

    def __sub__(self, other: Rounded) -> Rounded:
        with np.errstate(invalid="ignore"):
            return self.arithmetic.array(self.values - other.values)

    def __mul__(self, other: Rounded) -> Rounded:
        with np.errstate(invalid="ignore"):
            return self.arithmetic.array(self.values * other.values)

    def __neg__(self) -> Rounded:
        return Rounded(self.arithmetic, -self.values)
