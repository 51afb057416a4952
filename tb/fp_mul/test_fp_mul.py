"""The float multiplier against the model, bit for bit with all flags, at every number of stages."""

from tb.common.fp_bench import FloatBench

VARIANTS = {
    "binary32-finite": ("binary32", {"SPECIALS": 0}),
    "e4m3-finite": ("e4m3", {"SPECIALS": 0}),
    "binary32-dsp18": ("binary32", {"DSP_W": 18}),
    "binary64-dsp18": ("binary64", {"DSP_W": 18}),
}

BENCH = FloatBench(__file__, unit="fp_mul", operation="mul", variants=VARIANTS)


@BENCH.test(timeout_us=10_000)
async def corners(dut, board):
    """Every pair of corners."""
    await BENCH.stream(dut, board, *BENCH.corner_pairs())


@BENCH.test(timeout_us=10_000)
async def many_operands(dut, board):
    """Every pair of an 8-bit format, random pairs of a larger one."""
    await BENCH.stream(dut, board, *BENCH.many_pairs(board.rng))


test_fp_mul = BENCH.pytest()
