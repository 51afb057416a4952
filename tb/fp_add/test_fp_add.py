"""The float adder against the model, bit for bit with all flags, at every number of stages."""

from pymodel.arith.stimulus import differences_of_ones
from tb.fp_add.bench import BENCH

PAIRS = 1 << 12


@BENCH.test(timeout_us=10_000)
async def corners(dut, board):
    """Every pair of corners."""
    await BENCH.stream(dut, board, *BENCH.corner_pairs())


@BENCH.test(timeout_us=10_000)
async def classes(dut, board):
    """Pairs of every class and sign, each at every number of stages."""
    await BENCH.stream(dut, board, *BENCH.every_class(board.rng))


@BENCH.test(timeout_us=10_000)
async def many_operands(dut, board):
    """Every pair of an 8-bit format, random pairs of a larger one."""
    await BENCH.stream(dut, board, *BENCH.many_pairs(board.rng))


@BENCH.test(timeout_us=10_000)
async def ones(dut, board):
    """Sums of ones and zeros just below the smallest normal number."""
    await BENCH.stream(dut, board, *differences_of_ones(BENCH.fmt, board.rng, PAIRS))


test_fp_add = BENCH.pytest()
