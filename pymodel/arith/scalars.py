"""The scalars that the algorithm text is evaluated with.

The text (:mod:`pymodel.algorithms`) uses ``+``, ``-``, ``*`` and unary ``-`` on scalars, and asks
its arithmetic for everything else:

``const(x)``            a scalar from a Python float
``parameter(name, x)``  the same for a parameter of the mechanism, known by its name
``recip(x)``            1 / x
``sincos(x)``           (sin x, cos x)
``to_float(x)``         the scalar's value as a Python float
``larger(x, y)``        |x| > |y|, a bool: for pivoting

The order of the operations in the text is the specification; an arithmetic never reorders them.
:class:`pymodel.compile.graph.Graph` is a third arithmetic, which records instead of computing.
"""

import math

from pymodel.arith.fp import BINARY32, Format


class Float64:
    """Python floats: the reference evaluation of the text (IEEE 754 binary64, no flush)."""

    name = "float64"
    flags = 0
    unit_roundoff = 2.0**-53

    def const(self, x):
        return float(x)

    def parameter(self, name, x):
        return float(x)

    def recip(self, x):
        return 1.0 / x if x else math.copysign(math.inf, x)

    def sincos(self, x):
        return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)

    def to_float(self, x):
        return x

    def larger(self, x, y):
        return abs(x) > abs(y)


class BitExact:
    """The twin of the RTL: scalars of any :class:`~pymodel.arith.fp.Format`, equal bit for bit.

    Attributes
    ----------
    fmt : Format
    fold_zeros : bool
        Parameters that are zero are structure, as in a traced program: with such a 0, x + 0 is x
        and 0 x is 0, without an operation. (Computed, they would differ in the sign of a zero.)
    flags : int
        Sticky float flags of all operations so far (bits 4..0 as in ``fflags``).
    unit_roundoff : float
        Largest relative error of one rounding.
    """

    def __init__(self, fmt: Format = BINARY32, fold_zeros=False):
        self.fmt = fmt
        self.fold_zeros = fold_zeros
        self.flags = 0
        self.unit_roundoff = 2.0 ** -(fmt.man_w + 1)
        self.scalar = _scalar_type(self)
        self._structural_zero = _structural_zero(self.scalar)

    @property
    def name(self):
        return "float32" if self.fmt == BINARY32 else f"{self.fmt.exp_w}/{self.fmt.man_w}"

    def const(self, x):
        return self.scalar(self.fmt.from_float(float(x)))

    def parameter(self, name, x):
        return self._structural_zero if self.fold_zeros and x == 0 else self.const(x)

    def adopt(self, values):
        """The same values in nested tuples, as scalars of this arithmetic, whose flags count."""
        if not isinstance(values, tuple):
            return self.scalar(values.bits)
        adopted = map(self.adopt, values)
        return values._make(adopted) if hasattr(values, "_make") else tuple(adopted)

    def recip(self, x):
        bits, flags = self.fmt.recip(x.bits)
        self.flags |= flags
        return self.scalar(bits)

    def sincos(self, x):
        """As `fp_sincos` does; float64's values rounded once, where the format is too wide."""
        if self.fmt.has_sincos:
            sin, cos, flags = self.fmt.sincos(x.bits)
            self.flags |= flags
            return self.scalar(sin), self.scalar(cos)
        angle = self.fmt.to_float(x.bits)
        if not math.isfinite(angle):
            return self.const(math.nan), self.const(math.nan)
        return self.const(math.sin(angle)), self.const(math.cos(angle))

    def to_float(self, x):
        return self.fmt.to_float(x.bits)

    def larger(self, x, y):
        """By the bits without the sign, as hardware compares: a NaN is larger than infinity."""
        magnitude = self.fmt.sign_mask - 1
        return x.bits & magnitude > y.bits & magnitude


def _scalar_type(arithmetic):
    """A scalar class bound to one arithmetic (closures keep an operation to a few calls)."""
    add, mul, sign = arithmetic.fmt.add, arithmetic.fmt.mul, arithmetic.fmt.sign_mask

    class Scalar:
        __slots__ = ("bits",)

        def __init__(self, bits):
            self.bits = bits

        def __add__(self, other):
            bits, flags = add(self.bits, other.bits)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __sub__(self, other):
            bits, flags = add(self.bits, other.bits ^ sign)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __mul__(self, other):
            bits, flags = mul(self.bits, other.bits)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __neg__(self):
            return Scalar(self.bits ^ sign)

        def __repr__(self):
            return f"Scalar({self.bits:#x} = {arithmetic.to_float(self)!r})"

    return Scalar


def _structural_zero(scalar):
    """The zero that is never computed with. As a subclass its reflected operators come first."""

    class StructuralZero(scalar):
        __slots__ = ()

        def __add__(self, other):
            return other

        __radd__ = __rsub__ = __add__

        def __sub__(self, other):
            return -other

        def __mul__(self, other):
            return self

        __rmul__ = __mul__

        def __neg__(self):
            return self

    return StructuralZero(0)


def parse(name: str, fold_zeros=False):
    """The arithmetic called ``name``: ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.

    Raises
    ------
    ValueError
        For any other name, or a format outside EXP_W 4..11, MAN_W 2..52.
    """
    if name == "float64":
        return Float64()
    if name == "float32":
        return BitExact(BINARY32, fold_zeros)
    try:
        exp_w, man_w = (int(part) for part in name.split("/"))
    except ValueError:
        raise ValueError(
            f"arithmetic {name!r}: must be float32, float64 or <EXP_W>/<MAN_W> such as 5/10"
        ) from None
    return BitExact(Format(exp_w, man_w), fold_zeros)
