"""The float multiplier, in lanes of every number of stages."""

from pymodel.hardware.configs import FORMATS
from tb.common.fp_bench import FloatBench

VARIANTS = {
    "binary32-finite": ("binary32", {"SPECIALS": 0}),
    "e4m3-finite": ("e4m3", {"SPECIALS": 0}),
    "binary32-dsp18": ("binary32", {"DSP_W": 18}),
    "binary64-dsp18": ("binary64", {"DSP_W": 18}),
}

# The product is cut in four where a significand, of up to 53 bits, is wider than DSP_W.
LEGAL = FORMATS | {"SPECIALS": range(2), "DSP_W": range(17, 54)}

BENCH = FloatBench(__file__, unit="fp_mul", operation="mul", legal=LEGAL, variants=VARIANTS)
