"""Waits that end: what does not come in time is named, and fails the test at once."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cocotb.triggers import SimTimeoutError, with_timeout
from cocotb.utils import get_sim_time

from tb.common.clock import PERIOD_NS

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
        super().__init__(f"hang at {get_sim_time('ns'):g} ns, after {cycles} cycles: {what}")


class BusHangError(HangError):
    """A request that the bus does not take, or a response that it does not give."""


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
        self._end = get_sim_time("ns") + cycles * PERIOD_NS

    def check(self) -> None:
        """Raise HangError if the limit has passed."""
        if get_sim_time("ns") > self._end:
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
