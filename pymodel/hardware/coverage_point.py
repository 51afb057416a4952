"""A question about a unit, and its bins."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

#: One value for each part of a point.
Bin = tuple[Any, ...]


def _all_reachable(bin_: Bin) -> str:
    return ""


@dataclass(frozen=True)
class Point:
    """A cross of some parts.

    Attributes
    ----------
    unit, name : str
    parts : mapping
        Name of each part -> its values: numbers or texts.
    why_not : callable
        Bin -> why nothing can reach it; empty for one that has to be met.
    """

    unit: str
    name: str
    parts: Mapping[str, tuple[Any, ...]]
    why_not: Callable[[Bin], str] = _all_reachable

    def __iter__(self) -> Iterator[Bin]:
        """All combinations, unreachable ones, too."""
        return itertools.product(*self.parts.values())

    @cached_property
    def excluded(self) -> dict[Bin, str]:
        """The bins that nothing can reach -> why."""
        return {bin_: why for bin_ in self if (why := self.why_not(bin_))}

    @cached_property
    def bins(self) -> tuple[Bin, ...]:
        """The bins that have to be met."""
        return tuple(bin_ for bin_ in self if bin_ not in self.excluded)

    def text(self, bin_: Bin) -> str:
        """A bin in words: `class of a: zero, class of b: NaN`."""
        return ", ".join(f"{name}: {value}" for name, value in zip(self.parts, bin_, strict=True))
