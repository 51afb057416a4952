"""The step engine runs the programs of scenarios, Python takes the traces: whole runs."""

from pymodel.hardware.cosim import step
from tb.cosim_step.bench import BENCH

co_simulation, variations = step.tests_of(BENCH)
test_cosim_step = BENCH.pytest()
