"""Sine and cosine of the float model, against decimal arithmetic of 60 digits and the machine."""

import re
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest

from pymodel.arith import sincos, sincos_error
from pymodel.arith.fp import BINARY32, INEXACT, INVALID, UNDERFLOW, Format, flag_text
from pymodel.arith.stimulus import corners, random_pairs
from pymodel.tests.places import ROOT
from pymodel.tests.rational import Rational

pytestmark = pytest.mark.reads(sincos.PACKAGE)

E4M3, E5M2, HALF, BFLOAT16 = Format(4, 3), Format(5, 2), Format(5, 10), Format(8, 7)
FORMATS = [E4M3, E5M2, HALF, BFLOAT16, BINARY32]
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628621")
SEED = 20240607
#: ULP of binary32 that the fixed-point values are wrong by, before they are rounded.
UNROUNDED = 0.2135

every_format = pytest.mark.parametrize("fmt", FORMATS, ids=str)


def exact(x):
    """(sin x, cos x) of a Fraction: Taylor's series in decimals, at most a quarter turn."""
    getcontext().prec = 60
    x = Decimal(x.numerator) / Decimal(x.denominator)
    count = int((x / (PI / 2)).to_integral_value())
    x -= count * PI / 2
    sums, term, k = [Decimal(0), Decimal(0)], Decimal(1), 0
    while abs(term) > abs(sums[1]) * Decimal(10) ** -50 or k < 4:
        sums[k % 2] += term if k % 4 < 2 else -term
        k += 1
        term = term * x / k
    cos, sin = sums
    return [(sin, cos), (cos, -sin), (-sin, -cos), (-cos, sin)][count % 4]


def angles(fmt, count):
    """Corners, all numbers of a format of 8 bits, random ones of a larger one."""
    if fmt.width <= 8:
        return list(range(1 << fmt.width))
    rng = np.random.default_rng([SEED, fmt.width])
    numbers = [*corners(fmt), *random_pairs(fmt, rng, count)[0].tolist()]
    # and evenly from the binades in which something happens
    exponent = rng.integers(-16, min(fmt.bias, 16) + 1, count) + fmt.bias
    evenly = exponent.clip(1) << fmt.man_w | rng.integers(0, fmt.min_normal, count)
    return [*numbers, *evenly.tolist()]


def in_range(fmt, bits):
    _, kind, value = Rational(fmt).read(bits)
    return kind == "normal" and abs(value) < 2**17


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.nightly(every=5)
@every_format
def test_values_and_flags(fmt):
    """Within the bound of the exact values; in the 8-bit formats correctly rounded, all of them."""
    oracle = Rational(fmt)
    bound = Fraction(0.5 + UNROUNDED * 2.0 ** (fmt.man_w - BINARY32.man_w))
    checked = 0
    for bits in angles(fmt, 4000):
        if not in_range(fmt, bits):
            continue
        *got, flags = fmt.sincos(bits)
        values = exact(oracle.read(bits)[2])
        want = [oracle.round(Fraction(y)) for y in values]
        assert flags == want[0][1] | want[1][1], f"{bits:#x}: {flag_text(flags)}"
        if fmt.width <= 8:
            assert got == [y for y, _ in want], hex(bits)
        for y, correct, value in zip(got, want, values, strict=True):
            if correct[1] & UNDERFLOW:
                assert y == correct[0], hex(bits)
            else:
                exponent = value.copy_abs().ln() / Decimal(2).ln()
                ulp = Fraction(2) ** (int(exponent.to_integral_value("ROUND_FLOOR")) - fmt.man_w)
                assert abs(oracle.read(y)[2] - Fraction(value)) <= bound * ulp, hex(bits)
        checked += 1
    assert checked > (100 if fmt.width <= 8 else 4000)


def test_errors_over_many_angles():
    """A sample of what ``python -m pymodel.arith.sincos_error`` measures over all in range."""
    worst = sincos_error.check(1_000_000, report=lambda line: None)
    assert worst.results > 3_000_000
    assert 0.65 < worst.ulp[0] < 0.5 + UNROUNDED
    assert worst.near_zero[0] < 2.0**-32


def test_arrays_and_ints_give_the_same():
    rng = np.random.default_rng(SEED)
    bits = np.concatenate(
        [
            sincos_error.random(rng, 50_000),
            sincos_error.near_multiples(1).ravel()[::11],
            sincos_error.convergents(),
            sincos_error.tiny_and_large(),
        ]
    )
    got = zip(*(side.tolist() for side in sincos_error.sincos_of(bits)), strict=True)
    assert [BINARY32.sincos(x)[:2] for x in bits.tolist()] == list(got)


def test_the_nearest_to_a_multiple_of_a_quarter_turn():
    """16573937 * 2**-16 is 161 pi/2 but for 2**-27.8: nothing in range is nearer."""
    nearest = BINARY32.from_float(16573937 * 2.0**-16)
    assert nearest in sincos_error.convergents()
    _, cos, _ = BINARY32.sincos(nearest)
    assert 2.0**-28 < abs(BINARY32.to_float(cos)) < 2.0**-27
    directed = np.concatenate([sincos_error.convergents(), sincos_error.near_multiples().ravel()])
    x = directed.astype(np.uint32).view(np.float32).astype(float)
    smallest = np.minimum(np.abs(np.sin(x)), np.abs(np.cos(x)))
    assert np.argmin(np.where(x > 0.5, smallest, 1)) in np.flatnonzero(directed == nearest)


# --- the rules ------------------------------------------------------------------------------------


@every_format
def test_what_has_no_sine(fmt):
    for bits in angles(fmt, 1000):
        sign, kind, value = Rational(fmt).read(bits)
        if kind == "quiet":
            assert fmt.sincos(bits) == (fmt.canonical_nan, fmt.canonical_nan, 0)
        elif kind in ("signaling", "inf") or value and abs(value) >= 2**17:
            assert fmt.sincos(bits) == (fmt.canonical_nan, fmt.canonical_nan, INVALID)
        elif kind == "zero":
            assert fmt.sincos(bits) == (0 if sign > 0 else fmt.sign_mask, fmt.one, 0)


@every_format
def test_symmetries(fmt):
    for bits in angles(fmt, 1000):
        sin, cos, flags = fmt.sincos(bits)
        mirrored = sin if fmt.is_nan(sin) else fmt.neg(sin)
        assert fmt.sincos(fmt.neg(bits)) == (mirrored, cos, flags)


@pytest.mark.parametrize(
    ("angle", "sin", "cos", "flags"),
    [
        (0x00800000, 0x00800000, 0x3F800000, INEXACT),  # the smallest normal is not flushed
        (0x007FFFFF, 0x00000000, 0x3F800000, 0),  # a subnormal is a zero
        (0x80000001, 0x80000000, 0x3F800000, 0),
        (0x47FFFFFF, 0xBF7FD979, 0x3D0C6D6A, INEXACT),  # the last in range
        (0x48000000, 0x7FC00000, 0x7FC00000, INVALID),
        (0x3FC90FDB, 0x3F800000, 0xB33BBD2E, INEXACT),  # pi/2 rounded up
        (0x40490FDB, 0xB3BBBD2E, 0xBF800000, INEXACT),
    ],
)
def test_known_results(angle, sin, cos, flags):
    assert BINARY32.sincos(angle) == (sin, cos, flags)


def test_results_below_the_smallest_normal_are_flushed():
    """cos 11 = 0.0044, and the smallest normal of E4M3 is 2**-6."""
    eleven = E4M3.from_float(11.0)
    assert E4M3.sincos(eleven) == (E4M3.from_float(-1.0), 0, UNDERFLOW | INEXACT)


@pytest.mark.parametrize("fmt", [Format(9, 23), Format(8, 24), Format(11, 52)], ids=str)
def test_wider_formats_have_none(fmt):
    assert not fmt.has_sincos
    with pytest.raises(ValueError, match="exp_w 4..8"):
        fmt.sincos(0)


# --- the tables -----------------------------------------------------------------------------------


def test_every_segment_is_there_and_nothing_leaves_its_width():
    """What the RTL's widths rely on, for every offset in every segment."""
    tables = sincos.tables()
    assert [len(table) for table in tables.multiples] == [64, 64, 32]
    segments = len(tables.cos_value)
    # The argument that is farthest from the multiple of pi/2 that it is reduced by: 0.828 < 212/256
    assert segments == 212
    from_start = np.arange(1 << sincos.OFFSET_W)
    coarse = from_start >> (sincos.OFFSET_W - sincos.COARSE_W)
    offset = from_start - (1 << (sincos.OFFSET_W - 1))
    for index in range(segments):
        slopes, values = [], []
        for value, slope, quadratic in (tables[1:4], tables[4:]):
            assert 0 <= quadratic[index] < 1 << sincos.QUADRATIC_W and slope[index] >= 0
            slopes.append(slope[index] + (quadratic[index] * coarse >> 6))
            values.append((value[index], slopes[-1] * offset >> 17))
        assert np.max(slopes) < 1 << sincos.SLOPE_F
        (cos, cos_linear), (factor, sinc_linear) = values
        assert (cos - cos_linear).min() > 0.67 * 2**sincos.VALUE_F
        assert (cos - cos_linear).max() < 2**sincos.VALUE_F + 8  # rounded, it is 1
        factor = factor + sinc_linear
        assert factor.min() >= 0 and factor.max() < 2 ** (sincos.VALUE_F - 3)
        assert index or factor[0] >> 2 == 0  # the sine of a tiny number is the number


def test_package_is_up_to_date():
    """`python -m scripts.dev.generate` writes it."""
    assert (ROOT / sincos.PACKAGE).read_text() == sincos.package()


def test_tables_of_the_rtl_are_the_models():
    """Read back from the package's text, not through the generator."""
    text = (ROOT / sincos.PACKAGE).read_text()
    constants = {name: int(x) for name, x in re.findall(r"localparam int (\w+) = (\d+);", text)}
    assert re.search(r"INVERSE = 17'd(\d+);", text)[1] == str(sincos.INVERSE)
    for name in ("ANGLE_F", "RHO_F", "OFFSET_W", "VALUE_F", "NORMAL_W", "FACTOR_F"):
        assert constants[name] == getattr(sincos, name)
    entries = {}
    for index, name, entry in re.findall(r"\d+'d(\d+): (\w+) = \d+'h(\w+);", text):
        entries.setdefault(name, []).append(int(entry, 16))
        assert len(entries[name]) == int(index) + 1
    tables = sincos.tables()
    multiples = [tuple(entries[f"multiple_{digit}"]) for digit in ("low", "middle", "high")]
    assert tuple(multiples) == tables.multiples
    assert set(map(len, tables[1:])) == {len(entries["segment"])}
    for row, segment in zip(zip(*tables[1:], strict=True), entries["segment"], strict=True):
        for name, field in reversed(list(zip(sincos.Tables._fields[1:], row, strict=True))):
            width = constants[f"{name.upper()}_W"]
            assert segment & ((1 << width) - 1) == field
            segment >>= width
        assert segment == 0


def test_check_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "pymodel.arith.sincos_error", "1000"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "near multiples of pi/2",
        "convergents",
        "ends of binades",
        "random",
        "all",
    ]
