"""Co-simulation of closed chains: the RTL inverts the matrix eta of the base, every step."""

from pymodel.hardware.cosim import ldup
from tb.cosim_ldup.bench import BENCH

co_simulation = ldup.test_of(BENCH)
test_cosim_ldup = BENCH.pytest()
