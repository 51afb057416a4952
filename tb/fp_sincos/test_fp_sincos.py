"""Sine and cosine against the model, bit for bit with all flags, at every number of stages."""

import numpy as np

from pymodel.arith import sincos, sincos_error
from pymodel.arith.stimulus import corners as corners_of
from pymodel.arith.stimulus import random_pairs
from tb.fp_sincos.bench import BENCH

EVERY_NUMBER_WIDTH = 16
TURNS_SHARE = {"verilator": 5, "icarus": 101}  # one of so many multiples of pi/2


def both_signs(numbers):
    """The numbers and their negatives."""
    numbers = np.asarray(numbers, dtype=np.uint64)
    return np.concatenate([numbers, numbers | np.uint64(BENCH.fmt.sign_mask)])


@BENCH.test(timeout_us=10_000)
async def corners(dut, board):
    """Every corner, and both ends of every binade: of the whole range and beyond."""
    fmt = BENCH.fmt
    ends = np.arange(2 * fmt.bias + 2)[:, None] << fmt.man_w
    ends = np.abs(ends + np.arange(-2, 3)).ravel()  # below zero comes back as a subnormal
    await BENCH.stream(
        dut,
        board,
        np.concatenate(
            [
                np.array(corners_of(fmt), dtype=np.uint64),
                both_signs(ends),
            ]
        ),
    )


@BENCH.test(timeout_us=10_000)
async def classes(dut, board):
    """Numbers of every class and sign, each at every number of stages."""
    await BENCH.stream(dut, board, *BENCH.every_class(board.rng))


@BENCH.test(timeout_us=10_000)
async def many_angles(dut, board):
    """Every number of at most 16 bits, random ones of a larger format."""
    fmt = BENCH.fmt
    if fmt.width <= EVERY_NUMBER_WIDTH:
        numbers = np.arange(1 << fmt.width, dtype=np.uint64)
        board.rng.shuffle(numbers)  # neighbours share too many bits to tell them apart
    else:
        count = BENCH.vectors // 4
        numbers, _ = random_pairs(fmt, board.rng, count)
    await BENCH.stream(dut, board, numbers)


@BENCH.test(timeout_us=10_000)
async def angles_in_range(dut, board):
    """Random significands, exponents evenly from those where more than x and 1 comes out."""
    fmt, rng, count = BENCH.fmt, board.rng, BENCH.vectors // 4
    largest = min(sincos.MAX_EXPONENT, fmt.bias)
    exponent = rng.integers(max(sincos_error.SMALLEST, 1 - fmt.bias), largest + 1, count) + fmt.bias
    sign = rng.integers(0, 2, count) << (fmt.width - 1)
    numbers = sign | exponent << fmt.man_w | rng.integers(0, fmt.min_normal, count)
    await BENCH.stream(dut, board, numbers.astype(np.uint64))


@BENCH.test(timeout_us=10_000)
async def near_multiples_of_a_quarter_turn(dut, board):
    """Where most bits cancel: binary32's angles, as the format rounds them."""
    fmt, share = BENCH.fmt, TURNS_SHARE[BENCH.simulator]
    near = sincos_error.near_multiples(1)[board.rng.integers(share) :: share]
    bits = np.concatenate([near.ravel(), sincos_error.convergents()])
    angles = bits.astype(np.uint32).view(np.float32).astype(float).tolist()
    numbers = np.unique(np.array([fmt.from_float(x) for x in angles], dtype=np.uint64))
    await BENCH.stream(dut, board, both_signs(board.rng.permutation(numbers)))


test_fp_sincos = BENCH.pytest()
