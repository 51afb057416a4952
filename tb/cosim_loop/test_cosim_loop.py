"""Plant and controller on the step engine: every state and torque is that of the model."""

from pymodel.hardware.cosim import loop
from tb.cosim_loop.bench import BENCH

closed_loop, other_parameters = loop.tests_of(BENCH)
test_cosim_loop = BENCH.pytest()
