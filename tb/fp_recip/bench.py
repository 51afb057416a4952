"""The float reciprocal, in lanes of every number of stages.

Each lane divides by both methods side by side (``z_o`` is the table's result), but for
those of more stages than the table can have.
"""

from pymodel.hardware.configs import FORMATS, RECIP_ARRAY_MAX_STAGES
from tb.common.fp_bench import FloatBench

# A product is cut in two where a significand is wider than DSP_W.
BENCH = FloatBench(
    __file__,
    unit="fp_recip",
    operation="recip",
    legal=FORMATS | {"DSP_W": range(17, 25)},
    max_stages=RECIP_ARRAY_MAX_STAGES,
    twin="z_o",
    variants={"binary32-dsp18": ("binary32", {"DSP_W": 18})},
)
