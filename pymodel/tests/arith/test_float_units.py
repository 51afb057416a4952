"""The float units on arrays have the bits and flags of the specification."""

import numpy as np
import pytest

from pymodel.arith import c_build, float_units
from pymodel.arith.fp import Format
from pymodel.arith.stimulus import all_pairs, corner_pairs, corners, random_pairs

SMALL = [Format(*widths) for widths in ((4, 2), (4, 3), (5, 2))]
LARGE = [
    Format(*widths) for widths in ((4, 52), (5, 10), (8, 7), (8, 23), (11, 2), (11, 40), (11, 52))
]
RANDOM = 5000
PAIRS, SINGLE = ("add", "mul"), ("recip", "sincos")


@pytest.fixture(autouse=True)
def _compiled():
    try:
        c_build.compiler()
    except c_build.NoCompilerError as error:
        pytest.skip(str(error))


def check(fmt, operation, *operands):
    found = float_units.evaluate(fmt, operation, *operands)
    wanted = float_units.specified(fmt, operation, *operands)
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == want.dtype
        (wrong,) = np.nonzero(got != want)
        where = [[hex(side[k]) for side in operands] for k in wrong[:3]]
        assert not wrong.size, (where, [hex(x) for x in got[wrong[:3]]])


@pytest.mark.parametrize("fmt", SMALL, ids=str)
@pytest.mark.parametrize("operation", PAIRS)
def test_every_pair(fmt, operation):
    check(fmt, operation, *all_pairs(fmt))


@pytest.mark.parametrize("fmt", [*SMALL, Format(5, 7), Format(8, 7)], ids=str)
@pytest.mark.parametrize("operation", SINGLE)
def test_every_number(fmt, operation):
    check(fmt, operation, np.arange(1 << fmt.width, dtype=np.uint64))


def near_pairs(fmt, rng):
    """Exponents that differ by little, where most bits cancel; bits of a few or of all places."""
    a, b = random_pairs(fmt, rng, RANDOM)
    top = np.uint64(fmt.sign_mask | (fmt.inf & ~(3 << fmt.man_w)))
    return a, (a & top) ^ (b & ~top)


@pytest.mark.parametrize("fmt", LARGE, ids=str)
@pytest.mark.parametrize("operation", PAIRS)
def test_pairs(fmt, operation):
    rng = np.random.default_rng(1)
    for pairs in (corner_pairs(fmt), random_pairs(fmt, rng, RANDOM), near_pairs(fmt, rng)):
        check(fmt, operation, *pairs)


@pytest.mark.parametrize("fmt", LARGE, ids=str)
@pytest.mark.parametrize("operation", SINGLE)
def test_numbers(fmt, operation):
    if operation == "sincos" and not fmt.has_sincos:
        with pytest.raises(ValueError, match="must be at most 8/23"):
            float_units.evaluate(fmt, operation, np.zeros(1, np.uint64))
        return
    numbers, _ = random_pairs(fmt, np.random.default_rng(2), RANDOM)
    check(fmt, operation, np.array(corners(fmt), np.uint64))
    check(fmt, operation, numbers)


@pytest.mark.parametrize("fmt", [Format(8, 23), Format(6, 14)], ids=str)
def test_sine_and_cosine_of_every_binade(fmt):
    """Angles of all sizes up to the largest in range, and a little beyond."""
    rng = np.random.default_rng(3)
    exponents = np.arange(min(fmt.bias + 20, 2 * fmt.bias + 1), dtype=np.uint64)
    mantissas = rng.integers(0, fmt.min_normal, (100, 1), dtype=np.uint64)
    numbers = (exponents << np.uint64(fmt.man_w) | mantissas).ravel()
    check(
        fmt, "sincos", numbers | rng.choice([np.uint64(0), np.uint64(fmt.sign_mask)], len(numbers))
    )


@pytest.mark.parametrize("operation", [*PAIRS, *SINGLE])
def test_without_a_compiler(monkeypatch, operation):
    """The specification answers."""
    monkeypatch.setattr(float_units, "_library", _no_library)
    operands = random_pairs(Format(5, 10), np.random.default_rng(4), 10)
    check(Format(5, 10), operation, *operands[: float_units.OPERATIONS[operation][0]])


@pytest.mark.parametrize(
    ("operation", "shapes"),
    [("add", (400, 3)), ("mul", (3, 400)), ("add", (3,)), ("recip", (3, 3)), ("recip", ((3, 2),))],
)
def test_operands_that_do_not_fit(operation, shapes):
    operands = [np.zeros(shape, np.uint64) for shape in shapes]
    takes, _ = float_units.OPERATIONS[operation]
    with pytest.raises(ValueError, match=f"{operation} takes {takes} arrays? of one length, shape"):
        float_units.evaluate(Format(5, 10), operation, *operands)


def _no_library():
    raise c_build.NoCompilerError("none")
