"""The float adder, in lanes of every number of stages."""

from tb.common.fp_bench import FORMATS, FloatBench

FURTHER = {
    # A power of two less four as MAN_W: the adder's shift is one bit wider than its places need.
    "e5m12": (5, 12),
    # More leading zeros of a cancelled sum than 2^EXP_W: its exponent wraps more than once.
    "e4m20": (4, 20),
    "e4m52": (4, 52),
}
BENCH = FloatBench(__file__, unit="fp_add", operation="add", formats=FORMATS | FURTHER)
