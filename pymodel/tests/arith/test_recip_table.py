"""The widths of ``rtl/fp/fp_recip_table.sv``, proved for every significand of every format."""

import numpy as np
import pytest

LARGEST_MAN_W = 23


@pytest.mark.parametrize("man_w", range(2, LARGEST_MAN_W + 1))
def test_every_significand(man_w):
    """The quotient before rounding is at most 1.5 units low; names are those of the RTL."""
    index_w = (man_w + 4) // 4
    low_w = man_w - index_w
    square_w = 2 * index_w + 5
    error_zeros = 2 * index_w + 1
    coarse_w = min(error_zeros + 2, man_w + 1)
    less_zeros = error_zeros + 2 - coarse_w
    coarse_shift = man_w + 1 - coarse_w
    error_w = coarse_w + man_w - error_zeros + less_zeros
    error_top_w = error_zeros + less_zeros
    correction_w = man_w + 1 - error_zeros + less_zeros

    significand = np.arange(1 << man_w, 2 << man_w)
    segment = significand >> low_w
    square = (1 << (square_w + 2 * index_w + 2)) // (2 * segment + 1) ** 2
    assert square.max() < 1 << square_w

    # 2p - m, padded with ones and cut to as many fraction bits as 1 / p^2 has
    mirror = significand ^ ((1 << low_w) - 1)
    pad = max(square_w - man_w, 0)
    mirror = ((mirror + 1 << pad) - 1) >> max(man_w - square_w, 0)
    coarse = mirror * square >> (2 * square_w - coarse_w)
    assert coarse.max() < 1 << coarse_w

    error = (1 << (coarse_w + man_w)) - significand * coarse
    assert error.min() > 0
    assert error.max() < 1 << error_w
    # the complement of the product, ones below it
    cut = error_w - error_top_w
    error_top = (error - 1 >> cut) if cut >= 0 else (error << -cut) - 1
    correction = coarse * error_top >> (coarse_w + error_top_w - correction_w)
    assert correction.max() < 1 << correction_w

    quotient = (coarse << coarse_shift) + correction
    assert quotient.min() >= 1 << man_w  # the mantissa's implicit bit
    assert quotient.max() < 2 << man_w
    rest = significand * (2 * quotient + 1) - (1 << (2 * man_w + 2))
    # what REST_W bits tell the sign of
    assert (rest <= significand).all()
    assert (rest >= -2 * significand).all()
    nearest = ((1 << (2 * man_w + 2)) // significand + 1) >> 1
    assert (quotient + (rest < 0) == nearest).all()
