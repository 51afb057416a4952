"""The float reciprocal, in lanes of every number of stages.

Each lane divides by both methods side by side (``z_o`` is the table's result).
"""

from tb.common.fp_bench import FloatBench

BENCH = FloatBench(__file__, unit="fp_recip", operation="recip", twin="z_o")
