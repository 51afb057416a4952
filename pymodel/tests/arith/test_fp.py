"""The float model against oracles that share no code with it.

Two oracles: the machine's own float32 and float64 through numpy, and exact rational arithmetic
for any format. Both are checked together with all five flags.
"""

import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pymodel.arith.fp import (
    BINARY32,
    DIV_BY_ZERO,
    INEXACT,
    INVALID,
    OVERFLOW,
    UNDERFLOW,
    Format,
    flag_text,
)
from pymodel.arith.stimulus import all_pairs, corner_pairs, corners, random_pairs
from pymodel.tests.rational import Rational

BINARY64 = Format(11, 52)
FORMATS = [Format(4, 3), Format(5, 2), Format(5, 10), Format(8, 7), BINARY32, BINARY64]
SEED = 20231103


def check(fmt, operation, operands, expected):
    """Compare the model with (bits, flags) expected, pair by pair."""
    function = getattr(fmt, operation)
    for args, want in zip(zip(*operands, strict=True), expected, strict=True):
        got = function(*args)
        assert got == want, (
            f"{fmt} {operation} {[hex(x) for x in args]}: got {got[0]:#x} {flag_text(got[1])}, "
            f"expected {want[0]:#x} {flag_text(want[1])}"
        )


# --- oracle 1: exact rational arithmetic, any format ---------------------------------------------


def against_rational(fmt, operation, operands):
    operands = [side.tolist() for side in operands]
    oracle = getattr(Rational(fmt), operation)
    check(fmt, operation, operands, [oracle(*args) for args in zip(*operands, strict=True)])


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("operation", ["add", "mul"])
def test_corner_pairs(fmt, operation):
    against_rational(fmt, operation, corner_pairs(fmt))


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("operation", ["add", "mul", "recip"])
def test_random_operands(fmt, operation):
    operands = random_pairs(fmt, np.random.default_rng(SEED), 12_000)
    against_rational(fmt, operation, operands[: 1 if operation == "recip" else 2])


@pytest.mark.parametrize("fmt", [Format(4, 3), Format(5, 2), Format(4, 2)], ids=str)
@pytest.mark.parametrize("operation", ["add", "mul"])
def test_every_pair(fmt, operation):
    against_rational(fmt, operation, all_pairs(fmt))


@pytest.mark.parametrize("fmt", [Format(4, 3), Format(5, 2), Format(5, 7), Format(8, 7)], ids=str)
def test_every_reciprocal(fmt):
    against_rational(fmt, "recip", [np.arange(1 << fmt.width, dtype=np.uint64)])


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_corner_reciprocals(fmt):
    against_rational(fmt, "recip", [np.array(corners(fmt), dtype=np.uint64)])


# --- oracle 2: the machine's floats --------------------------------------------------------------


class Machine:
    """A numpy float type with subnormals flushed; all methods work on whole arrays."""

    def __init__(self, fmt, float_type, bits_type):
        self.fmt, self.float_type, self.bits_type = fmt, float_type, bits_type
        self.tiny = np.finfo(float_type).tiny

    def values(self, bits):
        """Floats, subnormals read as zeros."""
        x = bits.astype(self.bits_type).view(self.float_type)
        return np.where(np.abs(x) < self.tiny, np.copysign(self.float_type(0), x), x)

    def results(self, y, invalid, div_by_zero, overflow, underflow, inexact):
        """(bits, flags) as lists; results that underflow are flushed, NaNs canonical."""
        y = np.where(underflow, np.copysign(self.float_type(0), y), y)
        bits = np.where(np.isnan(y), self.fmt.canonical_nan, y.view(self.bits_type))
        flags = (
            invalid * INVALID
            | div_by_zero * DIV_BY_ZERO
            | overflow * OVERFLOW
            | underflow * UNDERFLOW
            | (inexact | overflow | underflow) * INEXACT
        )
        return list(zip(bits.tolist(), flags.tolist(), strict=True))

    def signaling(self, bits):
        quiet = (bits & np.uint64(self.fmt.quiet_bit)) != 0
        return np.isnan(bits.astype(self.bits_type).view(self.float_type)) & ~quiet

    def add(self, a, b):
        x, y = self.values(a), self.values(b)
        with np.errstate(all="ignore"):
            total = x + y
            from_y = total - x  # Knuth's exact error of a sum, valid if nothing overflows
            error = (x - (total - from_y)) + (y - from_y)
        finite = np.isfinite(x) & np.isfinite(y)
        invalid = np.isinf(x) & np.isinf(y) & (x != y) | self.signaling(a) | self.signaling(b)
        overflow = finite & np.isinf(total)
        underflow = finite & (total != 0) & (np.abs(total) < self.tiny)
        return self.results(
            total,
            invalid,
            np.zeros_like(finite),
            overflow,
            underflow,
            finite & ~overflow & (error != 0),
        )


def binary32_mul(machine, a, b):
    """Products of float32 are exact in float64, so the flush boundary can be told there."""
    x, y = machine.values(a), machine.values(b)
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) * y.astype(np.float64)
        product = exact.astype(np.float32)
    finite = np.isfinite(x) & np.isfinite(y)
    # With 24 bits and an unbounded exponent, all from here on rounds up to the smallest normal.
    rounds_to_normal = 2.0**-126 * (1 - 2.0**-25)
    underflow = finite & (exact != 0) & (np.abs(exact) < rounds_to_normal)
    lifted = finite & ~underflow & (exact != 0) & (np.abs(exact) < 2.0**-126)
    product = np.where(lifted, np.copysign(machine.tiny, product), product)
    zero_times_inf = np.isnan(product) & ~np.isnan(x) & ~np.isnan(y)
    overflow = finite & np.isinf(product)
    return machine.results(
        product,
        zero_times_inf | machine.signaling(a) | machine.signaling(b),
        np.zeros_like(finite),
        overflow,
        underflow,
        finite & (product.astype(np.float64) != exact),
    )


def binary32_recip(machine, a):
    x = machine.values(a)
    with np.errstate(all="ignore"):
        quotient = np.float32(1) / x
        exact = quotient.astype(np.float64) * x.astype(np.float64) == 1
    normal = np.isfinite(x) & (x != 0)
    return machine.results(
        quotient,
        machine.signaling(a),
        x == 0,
        np.zeros_like(normal),
        normal & (np.abs(quotient) < machine.tiny),
        normal & ~exact,
    )


MACHINE32 = Machine(BINARY32, np.float32, np.uint32)
MACHINE64 = Machine(BINARY64, np.float64, np.uint64)
MACHINE_PAIRS = 400_000


def machine_pairs(fmt, operation):
    return random_pairs(fmt, np.random.default_rng([SEED, *operation.encode()]), MACHINE_PAIRS)


def test_binary32_add_against_the_machine():
    a, b = machine_pairs(BINARY32, "add")
    check(BINARY32, "add", (a.tolist(), b.tolist()), MACHINE32.add(a, b))


def test_binary32_mul_against_the_machine():
    a, b = machine_pairs(BINARY32, "mul")
    check(BINARY32, "mul", (a.tolist(), b.tolist()), binary32_mul(MACHINE32, a, b))


def test_binary32_recip_against_the_machine():
    a, _ = machine_pairs(BINARY32, "recip")
    check(BINARY32, "recip", (a.tolist(),), binary32_recip(MACHINE32, a))


def test_binary64_add_against_the_machine():
    a, b = machine_pairs(BINARY64, "add")
    check(BINARY64, "add", (a.tolist(), b.tolist()), MACHINE64.add(a, b))


@pytest.mark.parametrize("operation", ["mul", "recip"])
def test_binary64_values_against_the_machine(operation):
    """Values only, and not those next to the flush boundary: the rational oracle has them."""
    a, b = machine_pairs(BINARY64, operation)
    x, y = MACHINE64.values(a), MACHINE64.values(b)
    with np.errstate(all="ignore"):
        want = x * y if operation == "mul" else 1 / x
    far = ~(np.abs(want) <= 2 * MACHINE64.tiny) | (want == 0) & ((x == 0) | (y == 0))
    none = np.zeros(far.sum(), dtype=bool)
    want = MACHINE64.results(want[far], *[none] * 5)
    operands = (a[far].tolist(), b[far].tolist())[: 2 if operation == "mul" else 1]
    function = getattr(BINARY64, operation)
    for args, (bits, _) in zip(zip(*operands, strict=True), want, strict=True):
        assert function(*args)[0] == bits, [hex(x) for x in args]


# --- directed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "operands", "bits", "flags"),
    [
        # 24 bits hold this product below the smallest normal, though 23 would round it up
        ("mul", (0x3F7FFFFF, 0x80800000), 0x80000000, UNDERFLOW | INEXACT),
        ("mul", (0x3F7FFFFE, 0x80800001), 0x80800000, INEXACT),  # rounds up to smallest normal
        ("add", (0x3F800000, 0x33800000), 0x3F800000, INEXACT),  # tie, to even: down
        ("add", (0x3F800001, 0x33800000), 0x3F800002, INEXACT),  # tie, to even: up
        ("add", (0x3FFFFFFF, 0x33800000), 0x40000000, INEXACT),  # into the next binade
        ("add", (0x7F7FFFFF, 0x73000000), 0x7F800000, OVERFLOW | INEXACT),
        ("add", (0x7F7FFFFF, 0x72FFFFFF), 0x7F7FFFFF, INEXACT),
        ("add", (0x00800001, 0x80800000), 0x00000000, UNDERFLOW | INEXACT),
        ("add", (0xBF800000, 0x3F800000), 0x00000000, 0),
        ("add", (0x80000000, 0x80000001), 0x80000000, 0),  # a subnormal is a zero of its sign
        ("add", (0x7F800000, 0xFF800000), 0x7FC00000, INVALID),
        ("add", (0xFFC00001, 0x3F800000), 0x7FC00000, 0),
        ("add", (0x7F800001, 0x3F800000), 0x7FC00000, INVALID),
        ("mul", (0x00000001, 0x7F800000), 0x7FC00000, INVALID),
        ("recip", (0x807FFFFF,), 0xFF800000, DIV_BY_ZERO),
        ("recip", (0xFF800000,), 0x80000000, 0),
        ("recip", (0x7E800000,), 0x00800000, 0),
        ("recip", (0x7E800001,), 0x00000000, UNDERFLOW | INEXACT),
    ],
)
def test_known_results(operation, operands, bits, flags):
    assert getattr(BINARY32, operation)(*operands) == (bits, flags)


@pytest.mark.parametrize(("exp_w", "man_w"), [(3, 23), (12, 23), (8, 1), (8, 53)])
def test_formats_out_of_range_are_refused(exp_w, man_w):
    with pytest.raises(ValueError, match="must lie in"):
        Format(exp_w, man_w)


@pytest.mark.parametrize("widths", [(5.0, 10), (5, "10"), (None, 10)])
def test_widths_are_whole_numbers(widths):
    with pytest.raises(ValueError, match="_w is .*, must be a whole number"):
        Format(*widths)


def test_a_format_is_a_value():
    assert Format(8, 23) == BINARY32
    assert hash(Format(8, 23)) == hash(BINARY32)
    assert pickle.loads(pickle.dumps(BINARY32)) == BINARY32


# --- properties ----------------------------------------------------------------------------------

unhurried = settings(deadline=None)  # how long an example takes is nobody's business


@st.composite
def numbers(draw, count):
    """A format and ``count`` bit patterns of it, corners often."""
    fmt = draw(st.builds(Format, st.integers(4, 11), st.integers(2, 52)))
    bits = st.integers(0, 2 * fmt.sign_mask - 1) | st.sampled_from(corners(fmt))
    return fmt, *(draw(bits) for _ in range(count))


def flushed(fmt, a):
    """What an exact operation makes of an operand."""
    if fmt.is_nan(a):
        return fmt.canonical_nan
    return a & fmt.sign_mask if a & ~fmt.sign_mask < fmt.min_normal else a


@unhurried
@given(numbers(2))
def test_operations_commute(case):
    fmt, a, b = case
    assert fmt.add(a, b) == fmt.add(b, a)
    assert fmt.mul(a, b) == fmt.mul(b, a)


@unhurried
@given(numbers(1))
def test_neutral_operands_change_nothing(case):
    fmt, a = case
    signaling = INVALID if fmt.is_signaling(a) else 0
    assert fmt.add(a, fmt.sign_mask) == (flushed(fmt, a), signaling)  # x + -0
    assert fmt.mul(a, fmt.one) == (flushed(fmt, a), signaling)


@unhurried
@given(numbers(2))
def test_negation_is_a_symmetry(case):
    fmt, a, b = case

    def negated(result):
        bits, flags = result
        return bits if fmt.is_nan(bits) else fmt.neg(bits), flags

    assert fmt.mul(fmt.neg(a), b) == negated(fmt.mul(a, b))
    assert fmt.recip(fmt.neg(a)) == negated(fmt.recip(a))
    bits, flags = fmt.add(a, b)
    if bits != 0 or flags:  # x + (-x) is +0 for either sign of x
        assert fmt.add(fmt.neg(a), fmt.neg(b)) == negated((bits, flags))


@unhurried
@given(numbers(0), st.data())
def test_reciprocal_of_a_power_of_two_is_exact(case, data):
    (fmt,) = case
    exponent = data.draw(st.integers(1, 2 * fmt.bias - 1))
    assert fmt.recip(exponent << fmt.man_w) == ((2 * fmt.bias - exponent) << fmt.man_w, 0)


@unhurried
@given(numbers(1))
def test_python_floats_hold_every_number(case):
    fmt, a = case
    assert fmt.from_float(fmt.to_float(a)) == flushed(fmt, a)


@unhurried
@given(st.floats())
def test_from_float_rounds_as_the_machine(x):
    try:
        want = struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:  # struct refuses where the rules say infinity
        want = BINARY32.inf | (BINARY32.sign_mask if x < 0 else 0)
    rounds_to_normal = 2.0**-126 * (1 - 2.0**-25)
    if rounds_to_normal <= abs(x) < 2.0**-126:
        want = BINARY32.min_normal | (BINARY32.sign_mask if x < 0 else 0)
    assert BINARY32.from_float(x) == flushed(BINARY32, want)


@unhurried
@given(numbers(2))
def test_ulp_distance_counts_neighbours(case):
    fmt, a, b = case
    distance = fmt.ulp_distance(a, b)
    if fmt.is_nan(a) or fmt.is_nan(b):
        assert distance is None
        return
    assert distance == fmt.ulp_distance(b, a)
    assert (distance == 0) == (fmt.to_float(a) == fmt.to_float(b))
    if fmt.min_normal <= a < fmt.inf:
        assert fmt.ulp_distance(a, a + 1) == 1
        assert fmt.ulp_distance(a, fmt.neg(a)) == 2 * fmt.ulp_distance(a, 0)
