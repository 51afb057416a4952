"""The bench of the float units is red for one wrong bit, however many it moves at a time."""

import asyncio
import copy
from types import SimpleNamespace

import numpy as np
import pytest

from tb.common import fp_bench
from tb.fp_add.bench import BENCH

pytestmark = pytest.mark.rtl_of()


class Now:
    """A trigger that has come."""

    def __init__(self, *_):
        pass

    def __await__(self):
        return iter(())


class Lanes:
    """What stands for the unit: it gives what is wanted, but for ``wrong``, (word, port)."""

    def __init__(self, bench, operands, wrong):
        self.words = list(bench._steps(operands))
        self.outputs, self.wrong = bench.outputs, wrong
        self.puts = 0

    def put(self, port, word):
        self.puts += 1

    def get(self, port):
        moved = self.puts // 2 - 1  # a and b
        word = self.words[moved].wanted[self.outputs.index(port)]
        index, name = self.wrong
        is_wrong = port == name and moved == index % len(self.words)
        return word ^ 1 << word.bit_length() - 1 if is_wrong else word


@pytest.fixture
def stream(monkeypatch, sim_time, board):
    """Feed a unit operands of every class under a simulator; how many."""
    monkeypatch.setattr(fp_bench, "get_sim_time", lambda unit: sim_time[0])
    monkeypatch.setattr(fp_bench, "FallingEdge", Now)
    monkeypatch.setattr(fp_bench, "Timer", Now)
    monkeypatch.setattr(fp_bench, "Clock", lambda *_, **__: SimpleNamespace(start=lambda: None))
    monkeypatch.setattr(fp_bench.cocotb, "start_soon", lambda task: None)

    def run(simulator, wrong=(0, "")):
        bench = copy.copy(BENCH)
        bench._told = bench.task("e4m3", simulator, 1)
        operands = bench.every_class(np.random.default_rng(1))
        lanes = Lanes(bench, operands, wrong)
        monkeypatch.setattr(fp_bench, "wide", lanes)
        ports = SimpleNamespace(a="a_i", b="b_i", y="y_o", flags="flags_o")
        dut = SimpleNamespace(clk_i=None, start_i=SimpleNamespace(), gen_steps=ports)
        for port in ("a_i", "b_i", *bench.outputs):
            setattr(dut, port, port)
        asyncio.run(bench.stream(dut, board, *operands))
        return len(operands[0])

    return run


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_what_is_right_is_compared_as_a_whole(stream, board, simulator):
    given = stream(simulator)
    assert board.transactions >= given * len(BENCH.outputs)


@pytest.mark.parametrize("port", BENCH.outputs)
@pytest.mark.parametrize(
    ("simulator", "word"), [("icarus", -1), ("verilator", 0), ("verilator", 1), ("verilator", -1)]
)
def test_a_wrong_bit_is_red(stream, simulator, word, port):
    with pytest.raises(AssertionError, match=rf"{port}\[\d+\] differs at cycle"):
        stream(simulator, (word, port))


def test_native_code_that_is_not_the_specification_is_red(stream, monkeypatch):
    specified = fp_bench.float_units.specified

    def other(*arguments):
        *results, flags = specified(*arguments)
        return [*results, flags ^ 1]

    monkeypatch.setattr(fp_bench.float_units, "specified", other)
    with pytest.raises(AssertionError, match="native code is not the model"):
        stream("verilator")
