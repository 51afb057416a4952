"""Waits that end: what does not come in time is named, and fails the test at once."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from cocotb.triggers import FallingEdge, RisingEdge, SimTimeoutError, with_timeout

from pymodel.hardware import times
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.scoreboard import Scoreboard

Value = TypeVar("Value")


class HangError(AssertionError):
    """Something that a bench waited for did not come.

    Parameters
    ----------
    what
        What was waited for, and the state in which it stands.
    cycles
        For how many clock cycles.
    """

    def __init__(self, what: str, cycles: int) -> None:
        at = times.text(times.now_ns())
        super().__init__(f"hang at {at}, after {cycles} cycles: {what}")


class BusHangError(HangError):
    """A request that the bus does not take, or a response that it does not give, or too early."""


class AnswerError(AssertionError):
    """An answer of the bus that may not be.

    Parameters
    ----------
    access
        "read" or "write".
    name
        Of the register.
    what
        What is wrong with it.
    """

    def __init__(self, access: str, name: str, what: str) -> None:
        super().__init__(f"{access} of {name} at {times.text(times.now_ns())}: {what}")


class TraceError(AnswerError):
    """The trace of a run has more words than it should: no wrong store explains that."""

    def __init__(self, what: str) -> None:
        super().__init__("read", "TRACE_COUNT", what)


class Deadline:
    """The limit of a wait that is a loop.

    Parameters
    ----------
    cycles
        The limit, from now on.
    what
        Says what is waited for, when it has not come.
    """

    def __init__(self, cycles: int, what: Callable[[], str]) -> None:
        self._cycles, self._what = cycles, what
        self._end = times.now_ns() + cycles * PERIOD_NS

    def check(self) -> None:
        """Raise HangError if the limit has passed."""
        if times.now_ns() > self._end:
            raise HangError(self._what(), self._cycles)


async def within(cycles: int, awaitable: Awaitable[Value], what: Callable[[], str]) -> Value:
    """What is awaited, if it comes in so many clock cycles.

    Parameters
    ----------
    cycles
        The limit: a few times what the wait may take.
    awaitable
        A coroutine or a trigger.
    what
        Says what was waited for, when it has not come.

    Raises
    ------
    HangError
        If it does not come.
    """
    try:
        return await with_timeout(awaitable, cycles * PERIOD_NS, "ns")
    except SimTimeoutError:
        raise HangError(what(), cycles) from None


async def follow_run(
    dut: Any,
    board: Scoreboard,
    cycles: int,
    context: str = "",
    results: Mapping[str, int] | None = None,
) -> None:
    """Wait for the end of an engine's run, which says that it is done in its last cycle alone.

    Parameters
    ----------
    dut
        With the outputs ``busy_o``, ``done_o`` and ``read_o``; between two clock edges.
    board
        Compares them in every cycle.
    cycles
        For how many it is to be busy.
    context
        What led to it.
    results
        Output -> what the model says of it, shown in a waveform from the clock edge that ends the
        run: the outputs have their values since then.

    Raises
    ------
    HangError
        If it is busy for longer.
    AssertionError
        If they differ otherwise.
    """
    busy, done, edge = dut.busy_o, dut.done_o, FallingEdge(dut.clk_i)
    taken = 0
    while int(busy.value):
        if taken > cycles:
            raise HangError("a run to end, busy_o 1" + (f" ({context})" if context else ""), taken)
        taken += 1
        board.compare("done_o", int(done.value), int(taken == cycles), cycle=taken, context=context)
        if taken == cycles and board.model and results:
            await RisingEdge(dut.clk_i)
            board.model.show(results)
        await edge
    board.compare("busy cycles", taken, cycles, context=context)
    board.compare("read_o", int(dut.read_o.value), 1, context=context)
