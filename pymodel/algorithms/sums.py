"""Sums of scalars, part of the algorithm text: their order is the specification."""

from collections.abc import Iterable, Sequence

from pymodel.arith.scalars import S, Vector
from pymodel.mechanism.scenario import GROUND
from pymodel.mechanism.topology import Topology


def prefix_sums(values: Sequence[S]) -> list[S]:
    """Inclusive prefix sums of scalars in logarithmic depth (Sklansky's scan)."""
    if len(values) <= 1:
        return list(values)
    half = (len(values) + 1) // 2
    left, right = prefix_sums(values[:half]), prefix_sums(values[half:])
    return left + [left[-1] + value for value in right]


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
    """Sum of each planar vector and those after it: from the joints of a way to its end."""
    x, y = (prefix_sums([arm[axis] for arm in arms[::-1]])[::-1] for axis in range(2))
    return list(zip(x, y, strict=True))


def outward_sums(topology: Topology, values: Sequence[S | None]) -> list[S | None]:
    """Sum of each body's scalar and those of all it hangs on; None does not count.

    A prefix sum on every path: additions in a row grow with the logarithm of its length.
    """
    sums = [None] * topology.size
    for path in topology.paths:
        parent = topology.parents[path[0]]
        before = None if parent == GROUND else sums[parent]
        counted = [k for k in path if values[k] is not None]
        for k, x in zip(counted, prefix_sums([values[k] for k in counted]), strict=True):
            sums[k] = x if before is None else before + x
    return sums


def inward_sums(topology: Topology, values: Sequence[S]) -> list[S]:
    """Sum of each body's scalar and those of all that it carries, by suffix sums of paths."""
    sums = [None] * topology.size
    for path in reversed(topology.paths):
        own = [
            tree_sum([values[k], *(sums[c] for c in topology.children[k] if c not in path)])
            for k in path
        ]
        for k, x in zip(path[::-1], prefix_sums(own[::-1]), strict=True):
            sums[k] = x
    return sums
