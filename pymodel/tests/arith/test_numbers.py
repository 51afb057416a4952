"""What a caller may give as numbers."""

from fractions import Fraction

import numpy as np
import pytest

from pymodel.arith.numbers import numbers, whole


@pytest.mark.parametrize(
    "x", [1.5, 2, True, np.float32(1.5), [1, 2.5], np.arange(3), np.ma.array([1.0]), Fraction(3, 2)]
)
def test_numbers(x):
    found = numbers("x", x)
    assert found.dtype == float and found.shape == np.shape(x)
    assert found.tolist() == np.asarray(x, float).tolist()


@pytest.mark.parametrize(
    "x",
    [
        None,
        [None, 1.0],
        "1",
        ["1"],
        [Fraction(1), "1"],
        1j,
        [[1.0], [1.0, 2.0]],
        10**400,
        np.datetime64("2026"),
    ],
)
def test_what_is_no_number(x):
    """Of None numpy makes a NaN; it reads texts, and may drop an imaginary part."""
    with pytest.raises(ValueError, match="^x: must be a number, or an array of numbers$"):
        numbers("x", x)


@pytest.mark.parametrize(
    "x", [np.ma.array([1.0, 2.0], mask=[True, False]), np.ma.masked, [1.0, [np.ma.masked]]]
)
def test_a_mask_hides_a_number(x):
    with pytest.raises(ValueError, match="^x: has masked entries, which are no numbers: fill them"):
        numbers("x", x)


@pytest.mark.filterwarnings("error")
def test_what_float64_cannot_hold_is_infinite():
    assert numbers("x", np.longdouble("1e4000")) == np.inf


@pytest.mark.parametrize("x", [3, True, np.int64(-4), np.uint8(5), np.array(6)])
def test_whole_numbers(x):
    assert whole("x", x) == x and type(whole("x", x)) is int


@pytest.mark.parametrize("x", [3.0, "3", None, np.float64(3.0), np.array([3])])
def test_what_is_no_whole_number(x):
    with pytest.raises(ValueError, match="^x is .*, must be a whole number$"):
        whole("x", x)
