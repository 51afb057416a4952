"""Functions of robots in hardware: every word is that of the text, evaluated without a kernel."""

from pymodel.hardware.cosim import robot
from tb.cosim_robot.bench import BENCH

calls = robot.test_of(BENCH)
test_cosim_robot = BENCH.pytest()
