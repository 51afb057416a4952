"""The LDUP inverters against the model: entries, flags, singular status, latency, resets.

Runs ldup_engine, which links an inverter to float units and which co-processors use.
"""

import math
from itertools import islice

import numpy as np
from cocotb.triggers import FallingEdge

from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.fp import Format
from pymodel.compile import latency
from pymodel.hardware import clock
from pymodel.hardware.waiting import Deadline, follow_run
from tb.common import matrices
from tb.common.coverage import pivots
from tb.common.words import pack, unpack
from tb.inv_ldup.bench import BENCH

RUN_CYCLES = 150_000  # about so many of whole runs, one after each reset
CLOSE_PIVOTS = 400  # runs at most; binary32 has 310 for N = 4
HELD_CYCLES = 4  # that results are seen to stay where nothing is asked for


class Inverter:
    """Drives one engine and compares it with the model."""

    def __init__(self, dut, board):
        self.dut, self.board = dut, board
        self.n = BENCH.params["N"]
        self.fmt = Format(BENCH.params["EXP_W"], BENCH.params["MAN_W"])
        stages = latency.Stages.of(BENCH.params)
        self.latency = latency.inversion(self.n, BENCH.params["PARALLEL"], stages)
        self._runs = 0

    async def reset(self):
        for port in ("run_i", "clear_i", "a_i"):
            getattr(self.dut, port).value = 0
        await clock.start(self.dut)

    async def start(self, bits):
        self.dut.a_i.value = pack(bits, self.fmt.width)
        self.dut.run_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.run_i.value = 0

    async def check(self, bits, context):
        """Invert one matrix given as n * n bit patterns; returns whether it is singular."""
        n, board = self.n, self.board
        arithmetic = pivots.Watched(self.fmt)
        scalars = [arithmetic.scalar(x) for x in bits]
        rows = [scalars[n * i : n * i + n] for i in range(n)]
        inverse, singular = inv_ldup(arithmetic, rows)
        wants = [entry.bits for row in inverse for entry in row]
        await self.start(bits)
        said = {"y_o": pack(wants, self.fmt.width)}
        await follow_run(self.dut, board, self.latency, context, said)
        got = unpack(int(self.dut.y_o.value), n * n, self.fmt.width)
        for i, want in enumerate(wants):
            board.compare(
                f"y_o[{i}] = y[{i // n}][{i % n}]", got[i], want, self.fmt, context=context
            )
        board.compare("singular_o", int(self.dut.singular_o.value), int(singular), context=context)
        board.compare("flags_o", int(self.dut.flags_o.value), arithmetic.flags, context=context)
        pivots.cover(board.met, n, BENCH.params["PARALLEL"], arithmetic, inverse)
        self._runs += 1
        if self._runs % 2:  # the other runs come without a pause
            held = {"y_o": pack(wants, self.fmt.width), "singular_o": int(singular)}
            held["flags_o"] = arithmetic.flags
            await FallingEdge(self.dut.clk_i)
            for port, want in held.items():
                board.compare(f"{port} a cycle later", int(getattr(self.dut, port).value), want)
        return singular


async def _start(dut, board):
    inverter = Inverter(dut, board)
    await inverter.reset()
    return inverter


@BENCH.test(timeout_us=10_000)
async def random_matrices(dut, board):
    """Every kind of matrix, one after the other without a pause."""
    inverter = await _start(dut, board)
    singular = []
    for run in BENCH.items(board, range(BENCH.settings["runs"][BENCH.simulator])):
        kind = matrices.KINDS[run % len(matrices.KINDS)]
        bits = matrices.random_matrix(inverter.fmt, inverter.n, kind, board.rng)
        context = f"run {run}, {kind} matrix {[hex(x) for x in bits]}"
        singular.append(await inverter.check(bits, context))
    assert not BENCH.whole or 0 < sum(singular) < len(singular) / 2


@BENCH.test(timeout_us=1_000)
async def singular_matrices(dut, board):
    """Zero pivots, and inverses that are not finite, are never silent, and nothing hangs."""
    inverter = await _start(dut, board)
    n, fmt = inverter.n, inverter.fmt
    regular = 2 * np.eye(n) + np.ones((n, n))
    for m in matrices.singular_matrices(fmt, n):
        bits = [fmt.from_float(x) for x in m.flat]
        singular = await inverter.check(bits, f"matrix {m.tolist()}")
        board.compare("model says singular", int(singular), 1, context=f"matrix {m.tolist()}")
    bits = [fmt.from_float(x) for x in regular.flat]
    bits[0] = 1  # a subnormal
    await inverter.check(bits, "a subnormal entry")
    bits = [1 if i % (n + 1) == 0 else 0 for i in range(n * n)]
    assert await inverter.check(bits, "subnormal pivots count as zero")
    bits = [fmt.from_float(x) for x in regular.flat]
    assert not await inverter.check(bits, "regular matrix after singular ones")
    for exponent in (1 << bit for bit in range(fmt.exp_w)):  # of all pivots: none is a zero
        bits = [exponent << fmt.man_w if i % (n + 1) == 0 else 0 for i in range(n * n)]
        assert not await inverter.check(bits, f"pivots of exponent {exponent}")


@BENCH.test(timeout_us=1_000)
async def one_entry_too_large(dut, board):
    """An inverse is singular if one entry of it is not finite, whichever that is."""
    inverter = await _start(dut, board)
    found = matrices.one_entry_too_large(inverter.fmt, inverter.n)
    for entry, bits in BENCH.items(board, found):
        context = f"entry {entry} alone overflows: matrix {[hex(x) for x in bits]}"
        singular = await inverter.check(bits, context)
        board.compare("model says singular", int(singular), 1, context=context)


@BENCH.test(timeout_us=1_000)
async def a_bit_from_infinite(dut, board):
    """No finite entry of an inverse is taken for an infinite one."""
    inverter = await _start(dut, board)
    found = list(matrices.a_bit_from_infinite(inverter.fmt, inverter.n).items())
    stride = 1 if BENCH.simulator == "verilator" else 5
    for text, bits in BENCH.items(board, found[::stride]):
        singular = await inverter.check(bits, f"{text}: matrix {[hex(x) for x in bits]}")
        board.compare("model says singular", int(singular), 0, context=text)


@BENCH.test(timeout_us=1_000)
async def equal_pivots(dut, board):
    """Of entries of equal magnitude the first becomes the pivot, whatever the signs."""
    inverter = await _start(dut, board)
    n, fmt, rng = inverter.n, inverter.fmt, board.rng
    for run in range(40 if BENCH.simulator == "verilator" else 8):
        m = rng.choice([-1.0, 1.0, 1.0 + 2.0**-fmt.man_w], size=(n, n))
        m += np.diag(rng.integers(0, 2, size=n))
        await inverter.check([fmt.from_float(x) for x in m.flat], f"run {run}: {m.tolist()}")


@BENCH.test(timeout_us=10_000)
async def close_pivots(dut, board):
    """The larger of two numbers becomes the pivot, whichever bit they differ in."""
    inverter = await _start(dut, board)
    cases = matrices.close_pivots(inverter.fmt, inverter.n, board.rng)
    runs = CLOSE_PIVOTS if BENCH.simulator == "verilator" else BENCH.settings["runs"]["icarus"]
    for text, bits in BENCH.items(board, islice(cases, runs)):
        await inverter.check(bits, f"{text}: matrix {[hex(x) for x in bits]}")


@BENCH.test(timeout_us=10_000)
async def infinite_columns(dut, board):
    """Two infinities in a column: operations before and after them raise no flag but their own.

    Other entries are those of a unit triangle, so that most operations are exact: what a wrong
    operand adds to the flags is not hidden, even where all of the inverse is no number.
    """
    inverter = await _start(dut, board)
    n, fmt, rng = inverter.n, inverter.fmt, board.rng
    least = n - 1 if BENCH.simulator == "icarus" else 1  # row of the second infinity
    pairs = [(k, i) for k in range(n) for i in range(max(k + 1, least), n)]
    for k, i in BENCH.items(board, pairs):
        for upper in (False, True):
            m = np.tril(rng.uniform(-1, 1, size=(n, n)), -1) + np.eye(n)
            m[[k, i], k] = rng.choice([-math.inf, math.inf], size=2)
            m = m.T if upper else m
            await inverter.check([fmt.from_float(x) for x in m.flat], f"matrix {m.tolist()}")


@BENCH.test(timeout_us=10_000)
async def states(dut, board):
    """Idle, busy, read; a run while busy does nothing; clear; reset in every cycle of a run."""
    inverter = await _start(dut, board)
    fmt, n = inverter.fmt, inverter.n

    def expect(idle, busy, read):
        for port, want in (("idle_o", idle), ("busy_o", busy), ("read_o", read)):
            board.compare(port, int(getattr(dut, port).value), want)

    bits = matrices.random_matrix(fmt, n, "permuted", board.rng)
    expect(1, 0, 0)
    await inverter.check(bits, "first")
    expect(0, 0, 1)
    for _ in range(HELD_CYCLES):
        await FallingEdge(dut.clk_i)
        expect(0, 0, 1)
    before = int(dut.y_o.value)
    for in_last_cycle in (False, True):
        await inverter.start(bits)
        cycles, limit = 0, Deadline(inverter.latency, lambda: "a run to end, busy_o 1")
        while int(dut.busy_o.value):
            limit.check()
            expect(0, 1, 0)
            cycles += 1
            dut.run_i.value = in_last_cycle or not int(dut.done_o.value)
            await FallingEdge(dut.clk_i)
        dut.run_i.value = 0
        board.compare("busy cycles of a run with refused runs", cycles, inverter.latency)
        board.compare("y_o after refused runs", int(dut.y_o.value), before)
        expect(0, 0, 1)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    expect(1, 0, 0)
    stride = 1 if BENCH.simulator == "verilator" else 5
    stride = max(stride, -(-(inverter.latency**2) // RUN_CYCLES))
    for when in range(0, inverter.latency, stride):
        await inverter.start(matrices.random_matrix(fmt, n, "special", board.rng))
        for _ in range(when):
            await FallingEdge(dut.clk_i)
        expect(0, 1, 0)
        dut.rst_ni.value = 0
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        expect(1, 0, 0)
        for port in ("y_o", "singular_o", "flags_o"):
            board.compare(f"{port} after reset", int(getattr(dut, port).value), 0)
        await inverter.check(bits, f"after a reset in cycle {when}")


test_inv_ldup = BENCH.pytest()
