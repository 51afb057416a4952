"""Sine and cosine, in lanes of every number of stages.

Those of more than 16 stages have no multipliers; in some random configurations none has.
"""

from pymodel.hardware.configs import SINCOS_LOGIC_MAX_STAGES
from tb.common.fp_bench import FloatBench

FORMATS = {
    "binary32": (8, 23),
    "half": (5, 10),
    "e6m14": (6, 14),
    "e4m14": (4, 14),  # whose subnormals, taken as they are, would have a cosine below 1
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
BENCH = FloatBench(
    __file__,
    unit="fp_sincos",
    operation="sincos",
    formats=FORMATS,
    legal={"EXP_W": range(4, 9), "MAN_W": range(2, 24), "DSP_W": range(18, 25)}
    | {"LOGIC": range(2)},
    results=("y_o", "z_o"),
    max_stages=SINCOS_LOGIC_MAX_STAGES,
    variants={"binary32-dsp18": ("binary32", {"DSP_W": 18})},
)
