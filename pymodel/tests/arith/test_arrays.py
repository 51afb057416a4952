"""Arrays of a format have the bits of the float units' model."""

import numpy as np
import pytest

from pymodel.arith.arrays import FormatArrays, Rounded
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.runs.robot_calls import random_states
from pymodel.tests.robots import ROBOTS

FORMATS = [Format(*widths) for widths in ((8, 23), (8, 19), (8, 15), (8, 7), (5, 10), (4, 2))]
PAIRS = 4000


def operands(fmt, rng):
    """Random bits, pairs of near exponents, ties and corners; of infinities and NaNs some."""
    top = 1 << fmt.width
    a, b = rng.integers(0, top, (2, PAIRS))
    near = (a & ~((1 << fmt.man_w) - 1)) ^ rng.integers(0, 4 << fmt.man_w, PAIRS)
    b = np.where(rng.random(PAIRS) < 0.5, near % top, b)
    ends = [0, fmt.sign_mask, fmt.min_normal, fmt.max_finite, fmt.inf, fmt.one, fmt.canonical_nan]
    corners = np.array([(x, y) for x in ends for y in ends]).T
    return np.concatenate([a, corners[0]]), np.concatenate([b, corners[1]])


def bits_of(fmt, values):
    return [fmt.from_float(float(x)) for x in values]


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
@pytest.mark.parametrize("operation", ["add", "sub", "mul", "recip", "sin", "cos"])
def test_operations(fmt, operation):
    arrays, exact = FormatArrays(fmt), BitExact(fmt)
    a, b = operands(fmt, np.random.default_rng(7))
    x, y = (Rounded(arrays, np.array([fmt.to_float(int(n)) for n in some])) for some in (a, b))
    do = {
        "add": lambda it, x, y: x + y,
        "sub": lambda it, x, y: x - y,
        "mul": lambda it, x, y: x * y,
        "recip": lambda it, x, y: it.recip(x),
        "sin": lambda it, x, y: it.sincos(x)[0],
        "cos": lambda it, x, y: it.sincos(x)[1],
    }[operation]
    want = [do(exact, *map(exact.scalar, map(int, pair))).bits for pair in zip(a, b, strict=True)]
    found = do(arrays, x, y).values
    assert bits_of(fmt, found) == want
    assert not np.signbit(found[np.isnan(found)]).any()  # the one NaN


@pytest.mark.parametrize("fmt", FORMATS[:5], ids=str)
def test_numbers_are_rounded_once(fmt):
    rng = np.random.default_rng(11)
    x = rng.normal(size=PAIRS) * 2.0 ** rng.integers(-160, 160, PAIRS)
    assert bits_of(fmt, FormatArrays(fmt).rounded(x)) == bits_of(fmt, x)


def test_rounding_to_binary32_by_the_host():
    """Ties, overflows, what is flushed to zero; each alone, and all that is not small at once."""
    fmt, rng = BINARY32, np.random.default_rng(13)
    ends = np.array([fmt.to_float(bits) for bits in (fmt.min_normal, fmt.one, fmt.max_finite)])
    near = np.outer(ends, 1.0 + np.arange(-9, 10) * 2.0**-26).ravel()
    some = np.concatenate([near, rng.normal(size=PAIRS), [0.0, np.inf, np.nan]])
    x = np.concatenate([some, -some])
    arrays = FormatArrays(fmt)
    assert bits_of(fmt, [arrays.rounded(np.array([one]))[0] for one in x]) == bits_of(fmt, x)
    large = x[~(np.abs(x) < fmt.to_float(fmt.min_normal)) | (x == 0.0)]
    assert bits_of(fmt, arrays.rounded(large)) == bits_of(fmt, large)


@pytest.mark.parametrize("fmt", [Format(8, 23), Format(5, 10)], ids=str)
@pytest.mark.parametrize("function", ["FD", "dID"])
def test_functions_of_a_robot(fmt, function):
    robot = reduced(load(ROBOTS / "iiwa14.urdf"))
    kernel, table = recorded(robot, function), random_states(robot, function, 5, seed=3)
    arrays, exact = FormatArrays(fmt), BitExact(fmt)
    found = kernel.evaluate(arrays, {name: arrays.array(table[name]) for name in kernel.inputs})
    for row in range(5):
        given = {name: exact.const(table[name][row]) for name in kernel.inputs}
        for name, x in kernel.evaluate(exact, given).items():
            assert fmt.from_float(float(found[name].values[row])) == x.bits


def test_a_wide_format_is_refused():
    with pytest.raises(ValueError, match="must not be wider"):
        FormatArrays(Format(8, 24))
