"""The 2x2 inverter against the model: entries, flags, singular status, latency."""

import math

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from pymodel.algorithms import linalg
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.arith.stimulus import corners
from pymodel.hardware.clock import PERIOD_NS
from tb.common import matrices
from tb.common.words import pack, unpack
from tb.inv_adjugate_2x2.bench import BENCH


class Inverter:
    def __init__(self, dut, board):
        self.dut, self.board = dut, board
        self.fmt = Format(BENCH.params["EXP_W"], BENCH.params["MAN_W"])
        self.latency = 2 * BENCH.params["MUL_STAGES"] + BENCH.params["ADD_STAGES"]
        self.latency += BENCH.params["REC_STAGES"]
        cocotb.start_soon(Clock(dut.clk_i, PERIOD_NS, unit="ns", impl="gpi").start())

    async def check(self, bits, context):
        """Invert one matrix given as four bit patterns."""
        arithmetic = BitExact(self.fmt)
        m = [arithmetic.scalar(x) for x in bits]
        inverse, singular = linalg.inv_adjugate_2x2(arithmetic, (m[:2], m[2:]))
        await FallingEdge(self.dut.clk_i)
        self.dut.a_i.value = pack(bits, self.fmt.width)
        if self.latency:
            await ClockCycles(self.dut.clk_i, self.latency)
        wants = [entry.bits for row in inverse for entry in row]
        self.board.model.show({"y_o": pack(wants, self.fmt.width)})
        await Timer(1, "ns")
        got = unpack(int(self.dut.y_o.value), 4, self.fmt.width)
        for i, want in enumerate(wants):
            self.board.compare(f"y_o[{i}]", got[i], want, self.fmt, context=context)
        self.board.compare(
            "singular_o", int(self.dut.singular_o.value), int(singular), context=context
        )
        self.board.compare(
            "flags_o", int(self.dut.flags_o.value), arithmetic.flags, context=context
        )
        return singular


@BENCH.test(timeout_us=10_000)
async def random_matrices(dut, board):
    """General, symmetric positive definite, badly scaled, nearly singular, and special values."""
    inverter = Inverter(dut, board)
    rng, fmt = board.rng, inverter.fmt
    special = corners(fmt)
    for run in BENCH.items(board, range(BENCH.settings["runs"][BENCH.simulator])):
        kind = ("general", "spd", "scaled", "nearly singular", "special")[run % 5]
        m = rng.normal(size=(2, 2))
        if kind == "spd":
            m = m @ m.T
        elif kind == "scaled":
            m *= 2.0 ** rng.integers(-fmt.bias // 2, fmt.bias // 2, size=(2, 1))
        elif kind == "nearly singular":
            m[1] = m[0] * rng.normal() * (1 + rng.normal(size=2) * 2.0**-fmt.man_w)
        bits = [fmt.from_float(x) for x in m.flat]
        if kind == "special":
            for i in np.flatnonzero(rng.random(4) < 0.6):
                bits[i] = special[rng.integers(len(special))]
        await inverter.check(bits, f"run {run}, {kind} matrix {[hex(x) for x in bits]}")


@BENCH.test(timeout_us=100)
async def singular_matrices(dut, board):
    """Determinant zero, and inverses that are not finite, are never silent; others are regular."""
    inverter = Inverter(dut, board)
    fmt = inverter.fmt
    tiny, nan = fmt.to_float(fmt.min_normal), float("nan")
    for m in (
        (0, 0, 0, 0),
        (1, 1, 1, 1),
        (1, 2, 2, 4),
        (1, 0, 0, 0),
        (tiny, 0, 0, tiny),
        (1, 0, 0, nan),
        (float("inf"), 0, 0, 1),
    ):
        singular = await inverter.check([fmt.from_float(x) for x in m], f"matrix {m}")
        board.compare("model says singular", int(singular), 1, context=f"matrix {m}")
    for m in (*matrices.one_bit_in_the_exponent(fmt), (2, 1, 1, 2)):
        singular = await inverter.check([fmt.from_float(x) for x in m], f"matrix {m}")
        board.compare("model says singular", int(singular), 0, context=f"matrix {m}")


@BENCH.test(timeout_us=100)
async def one_entry_too_large(dut, board):
    """An inverse is singular if one entry of it is not finite, whichever that is."""
    inverter = Inverter(dut, board)
    fmt = inverter.fmt
    for m in matrices.one_cofactor_too_large(fmt):
        singular = await inverter.check([fmt.from_float(x) for x in m], f"matrix {m}")
        board.compare("model says singular", int(singular), 1, context=f"matrix {m}")
        got = unpack(int(dut.y_o.value), 4, fmt.width)
        not_finite = sum(not math.isfinite(fmt.to_float(x)) for x in got)
        board.compare("entries not finite", not_finite, 1, context=f"matrix {m}")


test_inv_adjugate_2x2 = BENCH.pytest()
