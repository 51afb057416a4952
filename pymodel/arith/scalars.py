"""The scalars that the algorithm text is evaluated with.

The text (:mod:`pymodel.algorithms`) uses ``+``, ``-``, ``*`` and unary ``-`` on scalars, and asks
its arithmetic for everything else: :class:`SupportsArithmetic` lists it. The order of the
operations in the text is the specification; an arithmetic never reorders them.

:class:`Float64` has the host's floats, :class:`BitExact` equals the hardware in every bit;
:class:`pymodel.compile.graph.Graph` is a third arithmetic, which records instead of computing.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from pymodel.arith.fp import BINARY32, Format


class SupportsScalar(Protocol):
    """What the text does with a scalar: floats, arrays and numpy's numbers have it, too."""

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...
    def __mul__(self, other: Self, /) -> Self: ...
    def __neg__(self) -> Self: ...


#: A scalar of whatever arithmetic, in records that hold those of any.
Scalar: TypeAlias = Any
S = TypeVar("S", bound=SupportsScalar)  #: a scalar of an arithmetic
Vector = Sequence[S]
Matrix = Sequence[Sequence[S]]  #: rows


class SupportsArithmetic(Protocol[S]):
    """What the text asks an arithmetic for."""

    @property
    def name(self) -> str:
        """As :func:`parse` takes it."""

    @property
    def flags(self) -> int:
        """Sticky float flags of all operations so far (bits 4..0 as in ``fflags``)."""

    def const(self, x: float) -> S:
        """Round a Python float to a scalar."""

    def parameter(self, name: str, x: float) -> S:
        """Give a parameter of the mechanism, known by its name; zero may fold."""

    def structural(self, name: str, x: float) -> S:
        """Give a parameter that is structure where it is 0 or +-1 (a joint axis): these fold."""

    def recip(self, x: S) -> S:
        """1 / x."""

    def sincos(self, x: S) -> tuple[S, S]:
        """(sin x, cos x)."""

    def is_zero(self, x: S) -> bool:
        """Whether x is zero: for a status, never to choose operations."""

    def is_finite(self, x: S) -> bool:
        """Whether x is finite: for a status, never to choose operations."""


class SupportsPivoting(SupportsArithmetic[S], Protocol[S]):
    """What the solvers ask an arithmetic for, besides."""

    def larger(self, x: S, y: S) -> bool:
        """|x| > |y|: for pivoting, which a recording refuses."""


class SupportsValues(SupportsArithmetic[S], Protocol[S]):
    """What reading a scalar asks an arithmetic for, besides."""

    def to_float(self, x: S) -> float:
        """The scalar's value as a Python float; a recording has none."""


class Float64:
    """Python floats: the text without the rounding of a narrow format (binary64, no flush)."""

    name = "float64"
    flags = 0
    unit_roundoff = 2.0**-53

    def const(self, x: float) -> float:
        """Return x."""
        return float(x)

    def parameter(self, name: str, x: float) -> float:
        """Return x."""
        return float(x)

    structural = parameter

    def recip(self, x: float) -> float:
        """Return 1 / x; infinite for zero."""
        return 1.0 / x if x else math.copysign(math.inf, x)

    def sincos(self, x: float) -> tuple[float, float]:
        """Return (sin x, cos x), two NaNs for what is not finite."""
        return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)

    def is_zero(self, x: float) -> bool:
        """Return whether x is zero."""
        return x == 0.0

    def is_finite(self, x: float) -> bool:
        """Return whether x is finite."""
        return math.isfinite(x)

    def larger(self, x: float, y: float) -> bool:
        """Return |x| > |y|."""
        return abs(x) > abs(y)

    def to_float(self, x: float) -> float:
        """Return x."""
        return x


class Float64Arrays:
    """Arrays of float64 as scalars: many evaluations of the text at once.

    What is the same for all of them may be a Python float.
    """

    name = Float64.name
    flags = 0
    unit_roundoff = Float64.unit_roundoff

    def const(self, x: float) -> Any:
        """Return x."""
        return float(x)

    def parameter(self, name: str, x: float) -> Any:
        """Return x."""
        return float(x)

    structural = parameter

    def recip(self, x: np.ndarray) -> np.ndarray:
        """Return 1 / x; infinite for zero."""
        with np.errstate(divide="ignore"):
            found: np.ndarray = np.divide(1.0, x)
        return found

    def sincos(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (sin x, cos x): the C library's, not numpy's own, which differ by processor.

        Of complex numbers numpy's: a complex step differentiates the text.
        """
        if np.iscomplexobj(x):
            return np.sin(x), np.cos(x)
        found = [Float64().sincos(angle) for angle in np.ravel(x).tolist()]
        sin, cos = np.array(found).reshape(-1, 2).T
        return sin.reshape(np.shape(x)), cos.reshape(np.shape(x))

    def is_zero(self, x: np.ndarray) -> bool:
        """Return whether an entry is zero."""
        return bool(np.any(np.asarray(x) == 0.0))

    def is_finite(self, x: np.ndarray) -> bool:
        """Return whether all entries are finite."""
        return bool(np.all(np.isfinite(x)))

    def larger(self, x: np.ndarray, y: np.ndarray) -> bool:
        """Return |x| > |y|, of one number each."""
        return bool(np.abs(x) > np.abs(y))

    def to_float(self, x: np.ndarray) -> Any:
        """Return x."""
        return x


class BitScalar(Protocol):
    """A scalar of :class:`BitExact`.

    Attributes
    ----------
    bits : int
    """

    bits: int

    def __add__(self, other: "BitScalar", /) -> "BitScalar": ...
    def __sub__(self, other: "BitScalar", /) -> "BitScalar": ...
    def __mul__(self, other: "BitScalar", /) -> "BitScalar": ...
    def __neg__(self) -> "BitScalar": ...


class BitExact:
    """Scalars of any format, equal to the hardware bit for bit.

    Parameters
    ----------
    fmt : Format
    fold : bool
        Structure folds, as in a recording: parameters that are zero are never computed with (x + 0
        is x, 0 x is 0), nor are structural factors of +-1. (Computed, they would differ in the sign
        of a zero.)

    Attributes
    ----------
    flags : int
        Sticky float flags of all operations so far (bits 4..0 as in ``fflags``).
    unit_roundoff : float
        Largest relative error of one rounding.
    """

    def __init__(self, fmt: Format = BINARY32, fold: bool = False) -> None:
        self.fmt = fmt
        self.fold = fold
        self.flags = 0
        self.unit_roundoff = 2.0 ** -(fmt.man_w + 1)
        self.scalar: Callable[[int], BitScalar]
        self.scalar, self._zero, self._one = _scalar_type(self)

    @property
    def name(self) -> str:
        """``float32`` or ``<EXP_W>/<MAN_W>``."""
        return "float32" if self.fmt == BINARY32 else f"{self.fmt.exp_w}/{self.fmt.man_w}"

    def const(self, x: float) -> BitScalar:
        """Round x once."""
        return self.scalar(self.fmt.from_float(float(x)))

    def parameter(self, name: str, x: float) -> BitScalar:
        """Round x once; a zero is structure if this arithmetic folds."""
        return self._zero if self.fold and x == 0 else self.const(x)

    def structural(self, name: str, x: float) -> BitScalar:
        """Round x once; 0 and +-1 are structure if this arithmetic folds."""
        if self.fold and abs(x) == 1:
            return self._one if x == 1 else -self._one
        return self.parameter(name, x)

    def adopt(self, values: Any) -> Any:
        """Turn scalars of another arithmetic, in nested tuples, into this one's."""
        if not isinstance(values, tuple):
            return self.scalar(values.bits)
        adopted = map(self.adopt, values)
        return values._make(adopted) if hasattr(values, "_make") else tuple(adopted)

    def recip(self, x: BitScalar) -> BitScalar:
        """Return 1 / x, correctly rounded."""
        bits, flags = self.fmt.recip(x.bits)
        self.flags |= flags
        return self.scalar(bits)

    def sincos(self, x: BitScalar) -> tuple[BitScalar, BitScalar]:
        """Evaluate as `fp_sincos`; float64's values rounded once, where the format is too wide."""
        if self.fmt.has_sincos:
            sin, cos, flags = self.fmt.sincos(x.bits)
            self.flags |= flags
            return self.scalar(sin), self.scalar(cos)
        angle = self.fmt.to_float(x.bits)
        if not math.isfinite(angle):
            return self.const(math.nan), self.const(math.nan)
        return self.const(math.sin(angle)), self.const(math.cos(angle))

    def canonical(self, x: BitScalar) -> BitScalar:
        """Return x as an operation gives it: of NaNs the one, of subnormal numbers zero."""
        return self.scalar(self.fmt.mul(x.bits, self.fmt.one)[0])

    def is_zero(self, x: BitScalar) -> bool:
        """Return whether x is zero of either sign."""
        return self.to_float(x) == 0.0

    def is_finite(self, x: BitScalar) -> bool:
        """Return whether x is neither infinite nor a NaN."""
        return math.isfinite(self.to_float(x))

    def larger(self, x: BitScalar, y: BitScalar) -> bool:
        """Compare the bits without the sign, as hardware does: a NaN is larger than infinity."""
        magnitude = self.fmt.sign_mask - 1
        return x.bits & magnitude > y.bits & magnitude

    def to_float(self, x: BitScalar) -> float:
        """Return the value of x."""
        return self.fmt.to_float(x.bits)


def _scalar_type(arithmetic: BitExact) -> tuple[Callable[[int], BitScalar], BitScalar, BitScalar]:
    """The scalars of one arithmetic, and the zero and the one that are never computed with.

    A class for each arithmetic: closures keep an operation to a few calls. What is structure is of
    subclasses, so that its reflected operators come first.
    """
    add, mul, sign = arithmetic.fmt.add, arithmetic.fmt.mul, arithmetic.fmt.sign_mask

    class Scalar:
        __slots__ = ("bits",)

        def __init__(self, bits: int) -> None:
            self.bits = bits

        def __add__(self, other: BitScalar) -> BitScalar:
            bits, flags = add(self.bits, other.bits)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __sub__(self, other: BitScalar) -> BitScalar:
            bits, flags = add(self.bits, other.bits ^ sign)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __mul__(self, other: BitScalar) -> BitScalar:
            bits, flags = mul(self.bits, other.bits)
            arithmetic.flags |= flags
            return Scalar(bits)

        def __neg__(self) -> BitScalar:
            return Scalar(self.bits ^ sign)

        def __repr__(self) -> str:
            return f"Scalar({self.bits:#x} = {arithmetic.to_float(self)!r})"

    class StructuralZero(Scalar):
        __slots__ = ()

        def __add__(self, other: BitScalar) -> BitScalar:
            return other

        __radd__ = __rsub__ = __add__

        def __sub__(self, other: BitScalar) -> BitScalar:
            return -other

        def __mul__(self, other: BitScalar) -> BitScalar:
            return self

        __rmul__ = __mul__

        def __neg__(self) -> BitScalar:
            return self

    class StructuralOne(Scalar):
        __slots__ = ()

        def __mul__(self, other: BitScalar) -> BitScalar:
            return -other if self.bits & sign else other

        __rmul__ = __mul__

        def __neg__(self) -> BitScalar:
            return StructuralOne(self.bits ^ sign)

    return Scalar, StructuralZero(0), StructuralOne(arithmetic.fmt.from_float(1.0))


def parse(name: str, fold: bool = False) -> Float64 | BitExact:
    """Find the arithmetic called ``name``: ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.

    Raises
    ------
    ValueError
        For any other name, or a format outside EXP_W 4..11, MAN_W 2..52.
    """
    if name == "float64":
        return Float64()
    if name == "float32":
        return BitExact(BINARY32, fold)
    found = re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})", str(name))
    if not found:
        raise ValueError(
            f"arithmetic {name!r}: must be float32, float64 or <EXP_W>/<MAN_W> such as 5/10"
        )
    return BitExact(Format(int(found[1]), int(found[2])), fold)
