"""The float adder, in lanes of every number of stages."""

from tb.common.fp_bench import FORMATS, FloatBench

# Of the other formats none has a power of two less four as MAN_W: the adder's shift is then one
# bit wider than the number of places asks for.
BENCH = FloatBench(__file__, unit="fp_add", operation="add", formats=FORMATS | {"e5m12": (5, 12)})
