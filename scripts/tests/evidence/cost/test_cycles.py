"""Cycles of a step, by models."""

from pymodel.compile.latency import COMBINATIONAL, PIPELINED
from pymodel.machine.isa import Machine
from scripts.evidence.cost.points import on_engine, on_hdca_coprocessor, on_ldup_coprocessor


def test_cycles_are_those_that_the_benches_measure():
    """The numbers of docs/results.md."""
    assert on_hdca_coprocessor(COMBINATIONAL) == 136
    assert on_hdca_coprocessor(PIPELINED) == 192
    assert on_ldup_coprocessor(False, COMBINATIONAL) == 90
    assert on_ldup_coprocessor(False, PIPELINED) == 438
    assert on_ldup_coprocessor(True, PIPELINED) == 110
    depths = {"add_stages": 2, "mul_stages": 2, "rec_stages": 6, "sincos_stages": 12}
    for lanes, cycles in ((1, 141), (2, 116), (4, 111), (8, 109)):
        machine = Machine(adders=lanes, multipliers=lanes, **depths)
        assert on_engine("double_pendulum", machine) == cycles
