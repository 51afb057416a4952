"""Checkers of streams are red for what breaks a handshake, and for what comes behind the last."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from pymodel.arith.fp import Format
from pymodel.hardware.step_array import StepArray
from pymodel.hardware.stream_blocks import STRAY, UNKNOWN, StreamBlocks
from tb.common import stream, stream_rules
from tb.common.stream import STALL_CYCLES, Stream
from tb.common.stream_rules import StreamRules

pytestmark = pytest.mark.rtl_of()

OPERANDS = range(12)
LATE = 5  # cycles behind the last result


class Port(SimpleNamespace):
    """A signal of a few bits."""

    def __len__(self):
        return 4


class Unit:
    """Gives each operand as its result, a cycle later; ``bug`` names what it does otherwise."""

    def __init__(self, bug):
        self.bug, self.clk_i = bug, self
        self.valid_i, self.a_i, self.ready_i = Port(value=0), Port(value=0), Port(value=0)
        self.valid_o, self.y_o, self.ready_o = Port(value=0), Port(value="0"), Port(value=1)
        self.taken = self.behind = 0  # results, and cycles behind the last one

    def __await__(self):
        """The next cycle: what has moved at the edge."""
        if self.valid_o.value and self.ready_i.value:
            self.taken += 1
            self.valid_o.value = 0
        elif self.valid_o.value and self.bug == "dropped":
            self.valid_o.value = 0
        elif self.valid_o.value and self.bug == "unstable":
            self.y_o.value = f"{int(self.y_o.value, 2) ^ 1:b}"
        if self.valid_i.value and self.ready_o.value and self.bug != "stuck":
            self.valid_o.value = 1
            self.y_o.value = f"{self.a_i.value ^ (self.bug == 'wrong'):b}"
        if self.taken == len(OPERANDS):
            self.behind += 1
            self.valid_o.value = int(self.bug == "twice" and self.behind >= LATE)
        return iter(())

    def settle(self):
        """Ready where nothing waits, or what waits is taken."""
        self.ready_o.value = int(not self.valid_o.value or self.ready_i.value)
        return Now()


class Now:
    """A trigger that has come."""

    def __await__(self):
        return iter(())


#: A bug -> what is said of it.
BUGS = {
    None: None,
    "wrong": "y_o differs",
    "dropped": r"valid_o differs .*\(the result was not taken before\)",
    "unstable": r"y_o differs .*\(the result was not taken before\)",
    "twice": "but nothing was expected",
    "stuck": f"after {STALL_CYCLES} cycles: 12 operands and 0 results of 12 have passed",
}


@pytest.mark.parametrize("bug", BUGS)
def test_what_is_not_a_stream_is_red(board, monkeypatch, sim_time, bug):
    unit, said = Unit(bug), BUGS[bug]
    monkeypatch.setattr(stream, "FallingEdge", lambda clock: clock)
    monkeypatch.setattr(stream, "Timer", lambda *_: unit.settle())
    run = Stream(unit, board, "a_i", {"y_o": None}, lambda operand: [operand])
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        asyncio.run(run.run(OPERANDS, valid_share=0.7, ready_share=0.5))
        board.finish()


#: Beats (valid, ready, data, user, last), one a cycle -> what is said of the last one.
PACKETS = {
    "right": (
        [(0, 1, 0, 0, 0), (1, 0, 1, 2, 0), (1, 1, 1, 2, 0), (1, 1, 3, 2, 1), (1, 1, 4, 5, 1)],
        "",
    ),
    "fell": ([(1, 0, 1, 2, 0), (0, 1, 0, 0, 0)], "tvalid fell before its beat was taken"),
    "data changed": (
        [(1, 0, 0x3C00, 12, 0), (1, 1, 0xC000, 12, 0)],
        "tdata 0xc000 = -2.0, 0x3c00 = 1.0 before it was taken; tuser 0xc = 12; tlast 0x0 = 0",
    ),
    "wide data changed": (
        [(1, 0, 0x1_3C00, 12, 0), (1, 1, 0xC000, 12, 0)],
        "tdata 0xc000 = 49152, 0x13c00 = 80896 before it was taken; tuser",
    ),
    "last changed": (
        [(1, 0, 0, 2, 0), (1, 1, 0, 2, 1)],
        "tdata 0x0 = 0.0; tuser 0x2 = 2; tlast 0x1 = 1, 0x0 = 0 before it was taken",
    ),
    "another user": (
        [(1, 1, 1, 10, 0), (1, 1, 3, 4, 1)],
        "tuser 0x4 = 4, 0xa = 10 in the same packet before",
    ),
    "unknown data": ([(1, 1, "x", 2, 0)], "tdata has unknown bits, x"),
}


@pytest.fixture
def rules(monkeypatch, sim_time):
    """The rules of a stream whose wires are set by hand."""
    monkeypatch.setattr(stream_rules, "get_sim_time", lambda unit: sim_time[0])
    monkeypatch.setattr(stream_rules, "inside", lambda dut: SimpleNamespace(reset=None))
    monkeypatch.setattr(StreamRules, "_watch", lambda self: None)
    monkeypatch.setattr(stream_rules.cocotb, "start_soon", lambda task: None)
    wires = {f"m_axis_{name}": Port(value="0") for name in ("tvalid", "tdata", "tuser", "tlast")}
    return StreamRules(SimpleNamespace(**wires), "m_axis", "reset", Format(5, 10))


@pytest.mark.parametrize("packets", PACKETS)
def test_a_broken_rule_is_named(rules, packets):
    beats, said = PACKETS[packets]
    for valid, ready, *payload in beats:
        assert not rules.error and not rules.broken.is_set()
        for name, value in zip(("tdata", "tuser", "tlast"), payload, strict=True):
            rules._wires[name].value = value if value == "x" else f"{value:b}"
        rules._cycle(valid, ready)
    assert rules.error.startswith("m_axis at 5 ns: " if said else "") and said in rules.error
    assert rules.broken.is_set() == bool(said)


@pytest.mark.parametrize(
    ("state", "status", "said"),
    [
        ({}, 0, None),
        ({"_sender": "a task"}, 0, "more came, or less was taken"),
        ({"_begun": [1]}, 0, "more came, or less was taken"),
        ({}, STRAY, "more came, or less was taken"),
        ({}, UNKNOWN, "was unknown"),
    ],
)
def test_what_is_left_on_a_stream_is_red(sim_time, state, status, said):
    blocks = StreamBlocks.__new__(StreamBlocks)
    blocks._dut = SimpleNamespace(
        take_status_o=Port(value=status), stream_handshakes_o=Port(value="0101")
    )
    vars(blocks).update({"_sender": None, "_begun": []} | state)
    with pytest.raises(AssertionError, match=said) if said else nullcontext():
        blocks.check_over()


def test_a_call_of_two_users_is_red():
    array = StepArray.__new__(StepArray)
    array.dut, array.machine = SimpleNamespace(s_axis_tuser=Port()), SimpleNamespace(functions=16)
    assert array._given([18, 18], [3, 4]) == (2, (3, 4), True)
    with pytest.raises(AssertionError, match="changes within a call: 0x2 = 2, 0x12 = 18"):
        array._given([18, 2], [3, 4])
