"""The float multiplier, in lanes of every number of stages."""

from tb.common.fp_bench import FloatBench

VARIANTS = {
    "binary32-finite": ("binary32", {"SPECIALS": 0}),
    "e4m3-finite": ("e4m3", {"SPECIALS": 0}),
    "binary32-dsp18": ("binary32", {"DSP_W": 18}),
    "binary64-dsp18": ("binary64", {"DSP_W": 18}),
}

BENCH = FloatBench(__file__, unit="fp_mul", operation="mul", variants=VARIANTS)
