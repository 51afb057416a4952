"""Runs of the step array: calls, well-formed or not, and what the model gives for them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pymodel.machine.array import ArrayTwin, Given
from pymodel.runs.array_runs import Array


@dataclass(frozen=True)
class Call:
    """A call on the stream.

    Attributes
    ----------
    function
        Number of its function.
    words
        Its beats.
    users
        TUSER of each beat; only the first one counts. Empty: the function in all.
    """

    function: int
    words: Sequence[int]
    users: Sequence[int] = ()

    def is_dropped(self, array: Array, stored: Collection[int]) -> bool:
        """Whether it is malformed, these functions being stored."""
        if self.function not in stored:
            return True
        return len(self.words) != array.table[self.function].inputs


class Row(NamedTuple):
    """What must leave for a call, and where it comes from.

    Attributes
    ----------
    given
        As the model has it.
    call
        Which of the run's calls.
    number
        Which of its rows.
    batch, system
        Where it ran.
    """

    given: Given
    call: int
    number: int
    batch: int
    system: int


@dataclass
class Expected:
    """What a run must leave behind.

    Attributes
    ----------
    rows
        In the order in which they leave.
    batches
        Function and calls (their numbers) of each batch.
    word_cycles, dropped
        Registers of that name.
    """

    rows: list[Row] = field(default_factory=list)
    batches: list[tuple[int, list[int]]] = field(default_factory=list)
    word_cycles: int = 0
    dropped: int = 0


def batches_of(
    array: Array, calls: Sequence[Call], stored: Collection[int]
) -> list[tuple[int, list[int]]]:
    """Function and calls (their numbers) of each batch.

    The first beat of a call of another stored function ends a batch, even if it is dropped.
    """
    found, is_open = [], False
    for number, call in enumerate(calls):
        if call.function not in stored:
            continue
        if is_open and found[-1][0] != call.function:
            is_open = False
        if call.is_dropped(array, stored):
            continue
        if not is_open:
            found.append((call.function, []))
        found[-1][1].append(number)
        is_open = len(found[-1][1]) < array.machine.systems
    return found


def expected(
    array: Array, twin: ArrayTwin, calls: Sequence[Call], stored: Collection[int] | None = None
) -> Expected:
    """Run calls on the model.

    Parameters
    ----------
    array, twin
        What is loaded, and its model.
    calls
        Of a run.
    stored
        Numbers of the functions that are stored; default: all of the array.
    """
    stored = range(len(array.table)) if stored is None else stored
    found = Expected(batches=batches_of(array, calls, stored))
    for batch, (function, members) in enumerate(found.batches):
        given = twin.run([(function, calls[number].words) for number in members])
        found.word_cycles += twin.word_cycles
        for place, item in enumerate(given):
            row, system = divmod(place, len(members))
            found.rows.append(Row(item, members[system], row, batch, system))
    found.dropped = sum(call.is_dropped(array, stored) for call in calls)
    return found
