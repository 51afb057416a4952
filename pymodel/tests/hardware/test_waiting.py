"""Waits for what does not come end, and what comes at another time is red."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from pymodel.hardware import waiting
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.step_engine import MARGIN_CYCLES, Outcome, StepEngine, compare_end
from pymodel.hardware.waiting import Deadline, HangError, follow_run
from pymodel.machine.isa import Machine
from pymodel.machine.registers import step_engine

pytestmark = pytest.mark.rtl_of()


def test_a_deadline_passes(sim_time):
    start = sim_time[0]
    deadline = Deadline(7, lambda: "the end")
    for cycles in range(8):
        sim_time[0] = start + cycles * PERIOD_NS
        deadline.check()
    sim_time[0] += PERIOD_NS
    with pytest.raises(HangError, match="after 7 cycles: the end"):
        deadline.check()


class Port:
    """An output whose value a function says."""

    def __init__(self, says):
        self.says = says

    @property
    def value(self):
        return int(self.says())


class Engine:
    """A run that is busy for so many cycles and done in one of them; then results are read."""

    def __init__(self, busy, done, read):
        self.cycle, self.clk_i = 1, None
        self.busy_o = Port(lambda: self.cycle <= busy)
        self.done_o = Port(lambda: self.cycle == done)
        self.read_o = Port(lambda: read)

    def __await__(self):
        """The next cycle."""
        self.cycle += 1
        return iter(())


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ((5, 5, 1), None),
        ((5, 4, 1), "done_o differs at cycle 4"),
        ((5, 6, 1), "done_o differs at cycle 5"),
        ((4, 5, 1), "busy cycles differs"),
        ((99, 5, 1), "hang at .*, after 6 cycles: a run to end, busy_o 1"),
        ((5, 5, 0), "read_o differs"),
    ],
)
def test_a_run_that_ends_otherwise_is_red(board, monkeypatch, run, said):
    engine = Engine(*run)
    monkeypatch.setattr(waiting, "FallingEdge", lambda clock: engine)
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        asyncio.run(follow_run(engine, board, 5))


def test_a_run_of_the_step_engine_that_neither_ends_nor_traces_hangs(sim_time, monkeypatch):
    """While it traces it may take any time."""
    machine = Machine()
    engine = StepEngine.__new__(StepEngine)
    engine.map, engine.machine = step_engine(machine.bus_words), machine
    engine._pace, traced = 50, iter([1, 1, 1])
    looks = []

    async def read(name):
        return engine.mask("STATUS", "BUSY")

    async def take(trace):
        return next(traced, 0)

    async def later(cycles):
        looks.append(cycles)
        assert len(looks) < 100, "it waits for ever"
        sim_time[0] += cycles * PERIOD_NS

    monkeypatch.setattr(engine, "read", read)
    monkeypatch.setattr(engine, "take", take)
    monkeypatch.setattr(engine, "_start_watch", lambda: None)
    monkeypatch.setattr(engine, "now", lambda: round(sim_time[0] / PERIOD_NS))
    monkeypatch.setattr(engine, "pause", later)
    with pytest.raises(HangError, match="a run to end, 0 words traced, STATUS .*BUSY 1"):
        asyncio.run(engine.finish(40))
    assert 50 + MARGIN_CYCLES < (len(looks) - 2) * 40 < 50 + MARGIN_CYCLES + 3 * 40


RIGHT = Outcome(trace=[], cycles=9, steps_done=3, status=0, stopped=False, flags=0b10001)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, None),
        ({"steps_done": 2}, "STEPS_DONE differs"),
        ({"stopped": True}, "STOPPED differs"),
        ({"flags": 0b10000}, "FLAGS differs"),
    ],
)
def test_a_run_of_the_step_engine_that_ends_otherwise_is_red(board, wrong, said):
    """Than the model says: after another step, stopped, with other float flags."""
    model = SimpleNamespace(steps_done=3, stopped=False, flags=0b10001)
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        compare_end(board, replace(RIGHT, **wrong), model, "")
