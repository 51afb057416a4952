"""What a caller may give as numbers."""

from fractions import Fraction

import numpy as np
import pytest

from pymodel.arith.numbers import numbers


@pytest.mark.parametrize(
    "x", [1.5, 2, True, np.float32(1.5), [1, 2.5], np.arange(3), np.ma.array([1.0]), Fraction(3, 2)]
)
def test_numbers(x):
    found = numbers("x", x)
    assert found.dtype == float and found.shape == np.shape(x)
    assert found.tolist() == np.asarray(x, float).tolist()


@pytest.mark.parametrize(
    "x", [None, [None, 1.0], "1", ["1"], 1j, [[1.0], [1.0, 2.0]], 10**400, np.datetime64("2026")]
)
def test_what_is_no_number(x):
    """Of None numpy makes a NaN; it reads texts, and may drop an imaginary part."""
    with pytest.raises(ValueError, match="^x: must be a number, or an array of numbers$"):
        numbers("x", x)


def test_a_mask_hides_a_number():
    with pytest.raises(ValueError, match="^x: has masked entries, which are no numbers: fill them"):
        numbers("x", np.ma.array([1.0, 2.0], mask=[True, False]))
