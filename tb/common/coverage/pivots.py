"""Points of the LDUP inverter: which rows became pivots."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from pymodel.arith.scalars import BitExact
from pymodel.hardware.coverage_point import Bin, Point

UNIT = "inv_ldup"
WHOLE_ORDERS = 4  # sizes of which every sequence of pivots is asked for
SIZES = (2, 3, 4, 6)  # that every regression inverts; random configurations have others
SCHEDULES = ("serial", "parallel")
REGULAR, ZERO_PIVOT = "regular", "zero pivot"
NOT_FINITE = "several entries not finite"
ONE_ON, ONE_OFF = "one entry of the diagonal not finite", "one entry off the diagonal not finite"
OUTCOMES = (REGULAR, ZERO_PIVOT, NOT_FINITE, ONE_ON, ONE_OFF)
#: Ranks that a pivot of a step can have among the rows that are left.
RANKS = range(max(SIZES))


def _too_many_orders(bin_: Bin) -> str:
    n, order, _ = bin_
    return "" if order < math.factorial(n) else f"{n} rows have {math.factorial(n)} sequences only"


def _no_such_row(bin_: Bin) -> str:
    n, step, rank = bin_
    if step >= n:
        return f"{n} rows have {n} steps only"
    return "" if rank < n - step else f"step {step} of {n} has {n - step} rows to choose from"


SEQUENCES = Point(
    UNIT,
    "sequence of pivots",
    {
        "N": tuple(range(2, WHOLE_ORDERS + 1)),
        "sequence": tuple(range(math.factorial(WHOLE_ORDERS))),
        "schedule": SCHEDULES,
    },
    _too_many_orders,
)
PIVOTS = Point(
    UNIT,
    "pivot of a step",
    {"N": SIZES, "step": tuple(range(max(SIZES))), "rank": tuple(RANKS)},
    _no_such_row,
)
STATUS = Point(UNIT, "outcome", {"schedule": SCHEDULES, "outcome": OUTCOMES})
POINTS = (SEQUENCES, PIVOTS, STATUS)


class Watched(BitExact):
    """Bit-exact arithmetic that keeps the comparisons of the search for pivots, and zero pivots."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.answers: list[bool] = []
        self.zero_pivots = 0

    def larger(self, x: Any, y: Any) -> bool:
        """As :meth:`BitExact.larger`."""
        self.answers.append(super().larger(x, y))
        return self.answers[-1]

    def is_zero(self, x: Any) -> bool:
        """As :meth:`BitExact.is_zero`."""
        found = super().is_zero(x)
        self.zero_pivots += found
        return found

    def ranks(self, n: int) -> list[int]:
        """The pivot of each step, counted from its first row."""
        answers, found = iter(self.answers), []
        for step in range(n):
            larger = [next(answers) for _ in range(step + 1, n)]
            found.append(max((i + 1 for i, answer in enumerate(larger) if answer), default=0))
        return found


def cover(
    tell: Callable[[Point, Bin], None],
    n: int,
    parallel: int,
    watched: Watched,
    inverse: Sequence[Sequence[Any]],
) -> None:
    """Tell what an inversion met.

    Parameters
    ----------
    tell
        Takes a point and a bin.
    n, parallel
        Parameters of the inverter.
    watched
        The arithmetic that has inverted one matrix.
    inverse
        What came out, n rows.
    """
    ranks, schedule = watched.ranks(n), SCHEDULES[parallel]
    for step, rank in enumerate(ranks if n in SIZES else ()):
        tell(PIVOTS, (n, step, rank))
    if n <= WHOLE_ORDERS:
        order = 0
        for step, rank in enumerate(ranks):
            order = order * (n - step) + rank
        tell(SEQUENCES, (n, order, schedule))
    bad = [
        (i, j)
        for i, row in enumerate(inverse)
        for j, entry in enumerate(row)
        if not watched.is_finite(entry)
    ]
    if watched.zero_pivots:
        outcome = ZERO_PIVOT
    elif len(bad) == 1:
        i, j = bad[0]
        outcome = ONE_ON if i == j else ONE_OFF
    else:
        outcome = NOT_FINITE if bad else REGULAR
    tell(STATUS, (schedule, outcome))
