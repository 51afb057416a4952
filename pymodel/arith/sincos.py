"""Sine and cosine in fixed point, which ``Format.sincos`` rounds and ``fp_sincos.sv`` computes.

An argument comes as a significand of 24 bits and an exponent, whatever the float format: formats
narrower than binary32 are padded with zeros. Three steps, all in integers:

1. **Reduce.** n = x 2/pi to the nearest integer, roughly; r = x - n pi/2, exact to 2**-57. The
   multiples of pi/2 come from three small tables, one for each group of the bits of n, modulo 2:
   r is less than 1, so that the bits above cancel. No float in the range is nearer to a multiple
   of pi/2 than 2**-27.9, so that r has 29 significant bits whatever remains.
2. **Evaluate** with rho = abs(r), a table of 2**8 segments a unit and a quadratic polynomial in
   each: cos(r) = 1 - h(rho) and sin(r) = r (1 - g(rho)), g(rho) = 1 - sin(rho) / rho. As g is
   absolute and r is normalised, sin(r) is as good for a tiny r as for any other.
3. **Swap and negate** by n modulo 4: the caller's part, together with the one rounding.

:func:`fixed_point` evaluates on Python ints and on numpy arrays alike.
``python -m scripts.dev.generate`` writes the constants and tables of the RTL,
``python -m pymodel.arith.sincos_error`` measures the errors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

if TYPE_CHECKING:  # numbers one by one do without numpy
    import numpy as np

SIGNIFICAND_W = 24
MAX_EXPONENT = 16  #: the range is abs(x) < 2**(MAX_EXPONENT + 1)

# Reduction
INVERSE_W = 17  # bits of 2/pi: within 2**-21 by luck, enough to have abs(r) < 0.83
COUNT_W = 17  # bits of n
DIGIT_W = 6  # bits of n that address one table
ANGLE_F = 57  # fraction bits of r, modulo 2
RHO_F = 26  # fraction bits of rho
INDEX_W = 8  # top bits of rho, the segment
OFFSET_W = RHO_F - INDEX_W  # the rest
COARSE_W = 9  # its top bits, all that the quadratic term needs

# Polynomials: fraction bits of value, slope, and half of the second derivative
VALUE_F = 29
SLOPE_F = 20
QUADRATIC_F = 9
QUADRATIC_W = 8  # one less than a half would need, and a half is nearly reached

# Last product
NORMAL_W = 29  # bits of r, normalised
FACTOR_F = 27  # fraction bits of g


Column = TypeVar("Column", bound="Sequence[int] | np.ndarray")


class Tables(NamedTuple, Generic[Column]):
    """Everything that is looked up, as tuples of ints or as numpy arrays; all are unsigned.

    Attributes
    ----------
    multiples : tuple
        Three tables; ``multiples[k][j]`` is -j 2**(k ``DIGIT_W``) pi/2 modulo 2.
    cos_value, sinc_value : tuple of int or numpy.ndarray
        One entry a segment, as all that follow: cos, or g, at the segment's middle.
    cos_slope, sinc_slope : tuple of int or numpy.ndarray
        Slope, downwards for cos and upwards for g, of the chord from the middle to the start: the
        quadratic term counts from there.
    cos_quadratic, sinc_quadratic : tuple of int or numpy.ndarray
        Half the second derivative.
    """

    multiples: tuple[Column, ...]
    cos_value: Column
    cos_slope: Column
    cos_quadratic: Column
    sinc_value: Column
    sinc_slope: Column
    sinc_quadratic: Column


# --- the evaluation ------------------------------------------------------------------------------


def _choose(condition: bool, yes: int, no: int) -> int:
    return yes if condition else no


@overload
def fixed_point(
    significand: int, exponent: int, tables: Tables[tuple[int, ...]]
) -> tuple[int, int, int, int, int]: ...
@overload
def fixed_point(
    significand: np.ndarray,
    exponent: np.ndarray,
    tables: Tables[np.ndarray],
    bit_length: Callable[[np.ndarray], np.ndarray],
    choose: Callable[..., np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
def fixed_point(
    significand: Any,
    exponent: Any,
    tables: Tables[Any],
    bit_length: Callable[[Any], Any] = int.bit_length,
    choose: Callable[..., Any] = _choose,
) -> tuple[Any, Any, Any, Any, Any]:
    """Sine and cosine of the reduced argument.

    Parameters
    ----------
    significand, exponent : int or numpy.ndarray of int64
        The argument is significand * 2**(exponent - 23), in rad, with 24 bits in the significand
        and an exponent of at most ``MAX_EXPONENT``. Arrays have one shape, which is the results'.
    tables : Tables
        Of arrays, if the numbers are arrays.
    bit_length, choose : callable
        Of the kind of the numbers; ``numpy.where`` is the ``choose`` of arrays.

    Returns
    -------
    count : int or numpy.ndarray
        n: x = n pi/2 + r.
    negative : int or numpy.ndarray
        1 if r < 0, otherwise 0.
    sin, sin_exponent : int or numpy.ndarray
        abs(sin r) = sin * 2**(sin_exponent - ``NORMAL_W`` + 1), with sin in 1 .. 2 less one bit
        nearly: its first or second bit is set.
    cos : int or numpy.ndarray
        cos(r) with ``VALUE_F`` fraction bits, more than 1 by a few units at most.
    """
    right = MAX_EXPONENT - exponent
    inverse_f = INVERSE_W + SIGNIFICAND_W - 1 - MAX_EXPONENT  # fraction bits of the product
    count = ((significand * INVERSE >> (inverse_f - 1) >> right) + 1) >> 1
    left = RHO_F - (SIGNIFICAND_W - 1 - MAX_EXPONENT)
    x = (significand << left >> right) & _ones(RHO_F + 1)
    low, middle, high = tables.multiples
    digit = _ones(DIGIT_W)
    angle = x << (ANGLE_F - RHO_F)
    angle += low[count & digit] + middle[count >> DIGIT_W & digit] + high[count >> 2 * DIGIT_W]
    angle &= _ones(ANGLE_F + 1)
    negative = angle >> ANGLE_F
    angle ^= -negative & _ones(ANGLE_F + 1)

    rho = angle >> (ANGLE_F - RHO_F)
    index = rho >> OFFSET_W
    from_start = rho & _ones(OFFSET_W)
    coarse = from_start >> (OFFSET_W - COARSE_W)
    offset = from_start - (1 << (OFFSET_W - 1))
    drop = QUADRATIC_F + INDEX_W + COARSE_W - SLOPE_F
    cos_slope = tables.cos_slope[index] + (tables.cos_quadratic[index] * coarse >> drop)
    sinc_slope = tables.sinc_slope[index] + (tables.sinc_quadratic[index] * coarse >> drop)
    drop = SLOPE_F + RHO_F - VALUE_F
    cos = tables.cos_value[index] - (cos_slope * offset >> drop)
    factor = tables.sinc_value[index] + (sinc_slope * offset >> drop) >> (VALUE_F - FACTOR_F)

    zeros = ANGLE_F - bit_length(angle)
    few = count == 0  # then r is x
    normal = choose(
        few,
        significand << (NORMAL_W - SIGNIFICAND_W),
        angle << zeros >> (ANGLE_F - NORMAL_W),
    )
    sin = normal - (normal * factor >> FACTOR_F)
    return count, negative, sin, choose(few, exponent, -1 - zeros), cos


def _ones(width: int) -> int:
    return (1 << width) - 1


# --- the tables ----------------------------------------------------------------------------------

PI_F = 192  #: fraction bits of PI, and of everything here until it is rounded
_ONE = 1 << PI_F


def _arctan_of_inverse(k: int) -> int:
    """Sum the power series of arctan(1/k)."""
    total, power, n = 0, _ONE // k, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power //= k * k
        n += 2
    return total


PI = 4 * (4 * _arctan_of_inverse(5) - _arctan_of_inverse(239))  # Machin's formula


def _rounded(x: int, fraction_bits: int) -> int:
    """Round a number of ``PI_F`` fraction bits to the nearest with fewer of them."""
    return (x >> (PI_F - fraction_bits - 1)) + 1 >> 1


INVERSE = _rounded(_ONE * _ONE * 2 // PI, INVERSE_W)


def _segments() -> int:
    """Count the segments that abs(r) reaches: half a quarter turn, and the error of INVERSE."""
    wrong = abs((INVERSE << (PI_F - INVERSE_W)) - _ONE * _ONE * 2 // PI) << (MAX_EXPONENT + 1)
    largest = (_ONE // 2 + wrong) * (PI // 2) >> PI_F
    return (largest >> (PI_F - INDEX_W)) + 1


def _sin_cos(x: int) -> tuple[int, int]:
    """Sum the power series of sine and cosine."""
    sums, term, k = [0, 0], _ONE, 0
    while term:
        sums[k % 2] += term if k % 4 < 2 else -term
        k += 1
        term = term * x // _ONE // k
    return sums[1], sums[0]


@functools.cache
def tables() -> Tables[tuple[int, ...]]:
    """Compute the tables, once, as tuples of ints."""
    modulus = 2 << ANGLE_F
    multiples = []
    for low in range(0, COUNT_W, DIGIT_W):
        digits = range(1 << min(DIGIT_W, COUNT_W - low))
        multiples.append(tuple(_rounded(-(j << low) * PI // 2, ANGLE_F) % modulus for j in digits))
    rows = zip(*map(_polynomials, range(_segments())), strict=True)
    return Tables(tuple(multiples), *rows)


def _polynomials(index: int) -> tuple[int, int, int, int, int, int]:
    """Compute a segment's entries of :class:`Tables`, in the order of its fields.

    All roundings in :func:`fixed_point` are downwards; what they take away on the average is
    added here.
    """
    # rho stands for all that it may have been before it was cut off: its middle
    middle = ((2 * index + 1) << (PI_F - INDEX_W - 1)) + (1 << (PI_F - RHO_F - 1))
    sin, cos = _sin_cos(middle)
    sinc = sin * _ONE // middle
    slope = (sinc - cos) * _ONE // middle  # of g = 1 - sinc
    curvature = sinc - 2 * slope * _ONE // middle

    # half of cos(0) would need one more bit
    cos_quadratic = min(_rounded(cos // 2, QUADRATIC_F), _ones(QUADRATIC_W))
    sinc_quadratic = _rounded(curvature // 2, QUADRATIC_F)
    # from the middle to the middle of the first of the coarse offsets
    back = (1 << COARSE_W) - 1
    quadratic_f = PI_F - QUADRATIC_F - INDEX_W - COARSE_W - 1
    cos_slope = sin - (cos_quadratic * back << quadratic_f)
    sinc_slope = slope - (sinc_quadratic * back << quadratic_f)
    unit = 1 << (PI_F - VALUE_F)
    return (
        _rounded(cos - unit // 2, VALUE_F),
        _rounded(cos_slope, SLOPE_F),
        cos_quadratic,
        # half a unit for the slope's term, one and a half for the bits that are cut off after it
        _rounded(_ONE - sinc + 2 * unit, VALUE_F),
        _rounded(sinc_slope, SLOPE_F),
        sinc_quadratic,
    )


# --- the RTL's constants --------------------------------------------------------------------------

GENERATED = "Generated by `python -m scripts.dev.generate`; do not edit."
PACKAGE = "rtl/fp/fp_sincos_pkg.sv"
_CONSTANTS = {
    "SIGNIFICAND_W": "of the argument, binary32's for every format",
    "MAX_EXPONENT": "of an argument in range",
    "INVERSE_W": "bits of 2/pi",
    "COUNT_W": "quarter turns in the argument",
    "DIGIT_W": "their bits that address one table of multiples",
    "ANGLE_F": "fraction bits of the reduced argument, modulo 2",
    "RHO_F": "fraction bits of its magnitude, as the polynomials take it",
    "INDEX_W": "top bits of it, the segment",
    "OFFSET_W": "the rest",
    "COARSE_W": "top bits of the rest, for the quadratic term",
    "VALUE_F": "fraction bits of a polynomial's value",
    "SLOPE_F": "of its slope",
    "QUADRATIC_F": "of its quadratic coefficient",
    "NORMAL_W": "bits of the reduced argument, normalised",
    "FACTOR_F": "fraction bits of 1 - sin(rho) / rho",
}


def constants() -> dict[str, int]:
    """Name -> value of the constants of the RTL and of native code."""
    return {name: globals()[name] for name in (*_CONSTANTS, "QUADRATIC_W", "INVERSE")}


@functools.cache
def c_tables() -> str:
    """Write the constants and tables as a C header."""
    found = tables()
    lines = [f"#define {name} {value}" for name, value in constants().items()]

    def table(kind: str, name: str, values: Sequence[int]) -> str:
        return f"static const {kind} {name}[] = {{{', '.join(map(str, values))}}};"

    for name, values in zip(("low", "middle", "high"), found.multiples, strict=True):
        lines.append(table("int64_t", f"multiple_{name}", values))
    for name in ("cos", "sinc"):
        value, slope, quadratic = (
            getattr(found, f"{name}_{kind}") for kind in ("value", "slope", "quadratic")
        )
        terms = [a << QUADRATIC_W | b for a, b in zip(slope, quadratic, strict=True)]
        lines.append(table("int32_t", f"{name}_value", value))
        lines.append(table("int32_t", f"{name}_terms", terms))
    return "\n".join([*lines, ""])


def package() -> str:
    """Write the constants and tables as a SystemVerilog package, the text of ``PACKAGE``."""
    lines = [
        f"// {GENERATED}",
        "// Constants and tables of fp_sincos; the model explains them.",
        "package fp_sincos_pkg;",
        "",
    ]
    for name, text in _CONSTANTS.items():
        lines.append(f"  localparam int {name} = {globals()[name]};  // {text}")
    lines.append(f"  localparam logic [INVERSE_W-1:0] INVERSE = {INVERSE_W}'d{INVERSE};")
    columns = tables()._asdict()
    multiples = columns.pop("multiples")
    widths = {name: max(column).bit_length() for name, column in columns.items()}
    lines += ["", "  // Fields of a segment, the first one in the highest bits"]
    lines += [f"  localparam int {name.upper()}_W = {w};" for name, w in widths.items()]
    lines.append(f"  localparam int SEGMENT_W = {sum(widths.values())};")
    for name, table in zip(("low", "middle", "high"), multiples, strict=True):
        text = f"The {name} digit's multiple of -pi/2, modulo 2"
        digit_w = (len(table) - 1).bit_length()
        lines += _lookup(f"multiple_{name}", text, digit_w, "ANGLE_F", table, ANGLE_F + 1)
    rows = [0] * _segments()
    for name, column in columns.items():
        rows = [row << widths[name] | entry for row, entry in zip(rows, column, strict=True)]
    text = "The coefficients of a segment; the others are never reached"
    lines += _lookup("segment", text, INDEX_W, "SEGMENT_W-1", rows, sum(widths.values()))
    return "\n".join([*lines, "", "endpackage", ""])


def _lookup(
    name: str, text: str, index_w: int, high: str, table: Sequence[int], width: int
) -> list[str]:
    """Write a function with one case an entry, of which every tool makes a ROM or logic."""
    return [
        "",
        f"  // {text}",
        f"  function automatic logic [{high}:0] {name}(input logic [{index_w - 1}:0] index);",
        "    case (index)",
        *(f"      {index_w}'d{j}: {name} = {width}'h{x:x};" for j, x in enumerate(table)),
        f"      default: {name} = '0;",
        "    endcase",
        "  endfunction",
    ]
