"""Co-simulation of open two-body chains: assembly and disassembly in the RTL, every step."""

from pymodel.hardware.cosim import hdca
from tb.cosim_hdca.bench import BENCH

co_simulation = hdca.test_of(BENCH)
test_cosim_hdca = BENCH.pytest()
