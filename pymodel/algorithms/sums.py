"""Sums of scalars, part of the algorithm text: their order is the specification."""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from pymodel.arith.scalars import S, Vector
from pymodel.mechanism.scenario import GROUND
from pymodel.mechanism.topology import Topology

T = TypeVar("T")
Combine = Callable[[Any, Any], Any]  #: of two values, in this order


def prefix_sums(values: Sequence[T], combine: Combine = operator.add) -> list[T]:
    """Inclusive prefix sums of scalars in logarithmic depth (Sklansky's scan).

    ``combine`` may be another associative operation, as the product of matrices.
    """
    if len(values) <= 1:
        return list(values)
    half = (len(values) + 1) // 2
    left, right = prefix_sums(values[:half], combine), prefix_sums(values[half:], combine)
    return left + [combine(left[-1], value) for value in right]


def tree_sum(values: Iterable[S]) -> S:
    """Sum of scalars by a balanced binary tree: neighbours are added, level by level.

    Of an odd number the last goes on to the next level as it is. So more terms of value -0, which
    change no sum, would not change the shape either: hardware has one tree for all lengths.
    """
    values = list(values)
    while len(values) > 1:
        sums = [x + y for x, y in zip(values[::2], values[1::2], strict=False)]
        values = sums + values[2 * len(sums) :]
    return values[0]


def levers(arms: Sequence[Vector[S]]) -> list[Vector[S]]:
    """Sum of each vector and those after it: from the joints of a way to its end."""
    axes = (prefix_sums(list(components))[::-1] for components in zip(*arms[::-1], strict=True))
    return list(zip(*axes, strict=True))


def outward_sums(
    topology: Topology, values: Sequence[T], combine: Combine = operator.add
) -> list[T]:
    """Sum of each body's scalar and those of all it hangs on; None does not count.

    Where nothing counts the sum is None. A prefix sum on every path: additions in a row grow with
    the logarithm of its length. With another operation it goes from the ground outward.
    """
    sums: list[Any] = [None] * topology.size
    for path in topology.paths:
        parent = topology.parents[path[0]]
        before = None if parent == GROUND else sums[parent]
        counted = [k for k in path if values[k] is not None]
        within = prefix_sums([values[k] for k in counted], combine)
        for k, x in zip(counted, within, strict=True):
            sums[k] = x if before is None else combine(before, x)
        for k in path:  # what does not count has the sum before it
            before = sums[k] = before if values[k] is None else sums[k]
    return sums


def inward_sums(topology: Topology, values: Sequence[S]) -> list[S]:
    """Sum of each body's scalar and those of all that it carries, by suffix sums of paths."""
    sums: dict[int, S] = {}
    for path in reversed(topology.paths):
        own = [
            tree_sum([values[k], *(sums[c] for c in topology.children[k] if c not in path)])
            for k in path
        ]
        for k, x in zip(path[::-1], prefix_sums(own[::-1]), strict=True):
            sums[k] = x
    return [sums[k] for k in range(topology.size)]
