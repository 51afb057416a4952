"""Whole jobs through the array's streams: every word is that of the direct evaluation."""

from pymodel.hardware.cosim import array
from tb.cosim_array.bench import BENCH

jobs = array.test_of(BENCH)
test_cosim_array = BENCH.pytest()
