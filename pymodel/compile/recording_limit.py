"""How much is recorded at most, and how far a recording is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import TypeVar

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.compile.graph import Graph

#: Operations that are recorded at most, and what they take.
MOST, EACH = 2_000_000, "2 GB of memory"
FEW = 64  #: bodies of a mechanism up to which it is recorded without an estimate

AnyGraph = TypeVar("AnyGraph", bound=Graph)
_told: ContextVar[Callable[[int, int], None] | None] = ContextVar("told", default=None)


class TooManyOperationsError(InputError):
    """A function has more operations than are recorded."""


@contextlib.contextmanager
def watched(told: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how far a recording for many bodies is: operations so far, and expected."""
    before = _told.set(told)
    try:
        yield
    finally:
        _told.reset(before)


def extrapolated(sizes: Sequence[int], counts: Sequence[int], size: int) -> int:
    """Operations of a mechanism of some size, by the polynomial through those of smaller ones."""
    found = np.polyval(np.polyfit(sizes, counts, len(sizes) - 1), size)
    return max(round(float(found)), counts[-1] * size // sizes[-1])


def require_few(what: str, expected: int, about: str = "about") -> None:
    """Refuse to record what has too many operations, by a :class:`TooManyOperationsError`."""
    if expected > MOST:
        shown = (f"{expected:.{digits}g}" for digits in range(2, 20))
        more = next(text for text in shown if float(text) > MOST)
        reason = f"{about} {more} operations, at most {MOST:.2g} are recorded ({EACH})"
        raise TooManyOperationsError(f"{what}: {reason}")


def limited(graph: AnyGraph, what: str, expected: int) -> AnyGraph:
    """Let a graph tell who watches how far it is, and refuse what turns out to be too many.

    Parameters
    ----------
    graph
        An empty one.
    what
        Whose operations they are, in words.
    expected
        How many; 0 for few, which nobody is told of.

    Raises
    ------
    TooManyOperationsError
        If too many are expected.
    """
    require_few(what, expected)
    told = _told.get()

    def watch(nodes: int) -> None:
        require_few(what, nodes, "more than")
        if told is not None:
            told(nodes, max(nodes, expected))

    if expected:
        graph.watch = watch
    return graph
