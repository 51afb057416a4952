"""Driver and checker of a unit between two valid/ready handshakes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cocotb.triggers import FallingEdge, Timer

from pymodel.arith.fp import Format
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.waiting import HangError

IDLE_CYCLES = 8  # after the last result, for what must not come
STALL_CYCLES = 1000  # without a handshake: far more than any latency, and than both ends pause
OCTET = 8  # bits
NOT_TAKEN = "the result was not taken before"


class Stream:
    """One operand in, its results out, in order.

    A word moves at a rising clock edge at which valid and ready are both high. Inputs change at
    the falling edge, outputs are read just before the rising one, so that handshakes may be
    combinational.

    Parameters
    ----------
    dut, board
        With ``clk_i``, ``valid_i``, ``ready_o``, ``valid_o``, ``ready_i``; and the scoreboard.
    operand
        The port that takes the operand.
    results
        Name of an output port -> the float format of its values, or None.
    function
        Maps an operand to the values of all results.
    """

    def __init__(
        self,
        dut: Any,
        board: Scoreboard,
        operand: str,
        results: dict[str, Format | None],
        function: Callable[[int], Sequence[int]],
    ) -> None:
        self.dut, self.board = dut, board
        self.operand, self.results, self.function = operand, results, function

    async def run(
        self,
        operands: Sequence[int],
        valid_share: float = 1.0,
        ready_share: float = 1.0,
        waits: bool = False,
    ) -> int:
        """Send all operands and take every result; nothing may come behind the last one.

        Parameters
        ----------
        operands
            Bit patterns.
        valid_share, ready_share
            In how many of the cycles an operand is offered (a refused one stays), and a result
            may be taken. An operand that is not offered reads as random bits.
        waits
            Whether who takes results is ready only once one is valid, as it may.

        Returns
        -------
        int
            Clock cycles from the first offer to the last result.

        Raises
        ------
        HangError
            If neither an operand nor a result passes for long.
        AssertionError
            If a result is wrong, or changes before it is taken.
        """
        dut, board, rng = self.dut, self.board, self.board.rng
        port = getattr(dut, self.operand)
        sent = taken = cycle = last = passed = 0
        offered = refused = None  # an operand, and the results that were not taken
        idle = 0  # cycles since all has come
        while idle < IDLE_CYCLES:
            await FallingEdge(dut.clk_i)
            if offered is None and sent < len(operands) and rng.random() < valid_share:
                offered = operands[sent]
            dut.valid_i.value = int(offered is not None)
            port.value = _bits(rng, len(port)) if offered is None else offered
            cycle += 1
            ready = int(rng.random() < ready_share)
            if waits:
                dut.ready_i.value = 0
                await Timer(1, "ns")
                ready &= self._known("valid_o", cycle)
            dut.ready_i.value = ready
            await Timer(PERIOD_NS // 2 - 2, "ns")

            if offered is not None and self._known("ready_o", cycle):
                values = self.function(offered)
                for (name, fmt), value in zip(self.results.items(), values, strict=True):
                    board.expect(name, value, fmt, f"{self.operand} = {offered:#x}")
                offered, sent, passed = None, sent + 1, cycle

            valid = self._known("valid_o", cycle)
            if refused is not None:
                board.compare("valid_o", valid, 1, cycle=cycle, context=NOT_TAKEN)
            got = {name: self._known(name, cycle) for name in self.results} if valid else None
            for name, value in (refused or {}).items():
                board.compare(name, got[name], value, self.results[name], cycle, NOT_TAKEN)
            refused = got if valid and not ready else None
            if valid and ready:
                for name, value in got.items():
                    board.observe(name, value, cycle)
                taken, last, passed = taken + 1, cycle, cycle
            if cycle - passed > STALL_CYCLES:
                ends = ("valid_i", "ready_o", "valid_o", "ready_i")
                levels = ", ".join(f"{name} {getattr(dut, name).value}" for name in ends)
                raise HangError(
                    f"{sent} operands and {taken} results of {len(operands)} have passed, {levels}",
                    STALL_CYCLES,
                )
            idle = idle + 1 if taken == len(operands) else 0
        return last

    def _known(self, name: str, cycle: int) -> int:
        """An output, which must not have unknown bits."""
        return self.board.known(name, getattr(self.dut, name).value, cycle)


def _bits(rng: np.random.Generator, width: int) -> int:
    octets = rng.bytes(-(-width // OCTET))
    return int.from_bytes(octets, "little") & ((1 << width) - 1)
