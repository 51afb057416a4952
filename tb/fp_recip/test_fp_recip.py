"""The float reciprocal against the model, bit for bit with all flags, at every number of stages.

Each lane divides by both methods side by side (``z_o`` is the table's result).
"""

import numpy as np

from pymodel.arith.stimulus import corners as corners_of
from pymodel.arith.stimulus import random_pairs
from tb.fp_recip.bench import BENCH

EVERY_NUMBER_WIDTH = 16
EVERY_SIGNIFICAND_WIDTH = 32


@BENCH.test(timeout_us=10_000)
async def corners(dut, board):
    """Every corner."""
    await BENCH.stream(dut, board, np.array(corners_of(BENCH.fmt), dtype=np.uint64))


@BENCH.test(timeout_us=10_000)
async def classes(dut, board):
    """Numbers of every class and sign, each at every number of stages."""
    await BENCH.stream(dut, board, *BENCH.every_class(board.rng))


@BENCH.test(timeout_us=10_000)
async def many_operands(dut, board):
    """Every number of at most 16 bits, random ones of a larger format."""
    fmt = BENCH.fmt
    if fmt.width <= EVERY_NUMBER_WIDTH:
        numbers = np.arange(1 << fmt.width, dtype=np.uint64)
    else:
        numbers, _ = random_pairs(fmt, board.rng, BENCH.vectors)
    await BENCH.stream(dut, board, numbers)


@BENCH.test(timeout_us=10_000)
async def significands(dut, board):
    """Every significand, with any sign and exponent; random ones where there are too many."""
    fmt, rng = BENCH.fmt, board.rng
    if fmt.width <= EVERY_SIGNIFICAND_WIDTH and BENCH.simulator == "verilator":
        mantissa = np.arange(fmt.min_normal, dtype=np.uint64)
    else:
        mantissa = rng.integers(0, fmt.min_normal, BENCH.vectors, dtype=np.uint64)
    exponent = rng.integers(1, 2 * fmt.bias + 1, len(mantissa), dtype=np.uint64)
    sign = rng.integers(0, 2, len(mantissa), dtype=np.uint64) << np.uint64(fmt.width - 1)
    await BENCH.stream(dut, board, sign | (exponent << np.uint64(fmt.man_w)) | mantissa)


test_fp_recip = BENCH.pytest()
