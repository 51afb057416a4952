"""Time without a simulator."""

from pymodel.tests.hardware.sim_time import board, sim_time

__all__ = ["board", "sim_time"]
