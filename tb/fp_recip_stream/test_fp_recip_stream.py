"""The reciprocal between handshakes, by every method: values, order, stability, and speed."""

import numpy as np

from pymodel.arith.fp import Format
from pymodel.arith.stimulus import corners, random_pairs
from pymodel.hardware import clock
from tb.common.stream import Stream
from tb.fp_recip_stream.bench import BENCH, ITERATIVE

#: Shares of valid and of ready; whether who takes results waits for them.
GAPS = [
    (1.0, 1.0, False),
    (0.3, 1.0, False),
    (1.0, 0.3, False),
    (0.6, 0.6, False),
    (0.1, 0.2, False),
    (0.5, 0.8, True),
]


async def _start(dut, board):
    fmt = Format(BENCH.params["EXP_W"], BENCH.params["MAN_W"])
    dut.valid_i.value = dut.ready_i.value = dut.a_i.value = 0
    await clock.start(dut)
    return fmt, Stream(dut, board, "a_i", {"y_o": fmt, "flags_o": None}, fmt.recip)


def _operands(fmt, rng):
    numbers = [*corners(fmt), *random_pairs(fmt, rng, _count())[0].tolist()]
    return [numbers[i] for i in rng.permutation(len(numbers))]


def _count():
    return BENCH.settings["vectors"][BENCH.simulator]


@BENCH.test(timeout_us=10_000)
async def gaps(dut, board):
    """Operands and readiness with every kind of gaps."""
    fmt, stream = await _start(dut, board)
    operands = np.array(_operands(fmt, board.rng), dtype=object)
    for part, shares in zip(np.array_split(operands, len(GAPS)), GAPS, strict=True):
        await stream.run(part.tolist(), *shares)


@BENCH.test(timeout_us=10_000)
async def full_speed(dut, board):
    """Without gaps, latency and throughput are those of the RTL's header."""
    fmt, stream = await _start(dut, board)
    operands = _operands(fmt, board.rng)[: _count() // 4]
    iterative = BENCH.params["METHOD"] == ITERATIVE
    latency = fmt.man_w + 3 if iterative else BENCH.params["STAGES"]
    interval = fmt.man_w + 4 if iterative else 1
    cycles = await stream.run(operands)
    board.compare("cycles", cycles, latency + 1 + interval * (len(operands) - 1))


@BENCH.test(timeout_us=1_000)
async def reset(dut, board):
    """A reset in the middle drops what was under way, and nothing else."""
    fmt, stream = await _start(dut, board)
    dut.valid_i.value = 1
    dut.a_i.value = fmt.one
    dut.ready_i.value = 1
    await clock.ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 0
    dut.valid_i.value = 0
    await clock.ClockCycles(dut.clk_i, 2)
    await clock.release_reset(dut)
    await stream.run(_operands(fmt, board.rng)[:5], 0.5, 0.5)


test_fp_recip_stream = BENCH.pytest()
