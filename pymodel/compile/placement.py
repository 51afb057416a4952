"""A schedule before register allocation."""

from dataclasses import dataclass
from typing import NamedTuple

from pymodel.compile.kernel import Kernel


class Issue(NamedTuple):
    """An operation at its place."""

    cycle: int
    lane: int
    node: int
    args: tuple[tuple[int, bool], ...]  # its operands, (node, negative), in the order of the lane's


@dataclass(frozen=True)
class Placement:
    """Operations of a kernel placed in time and on lanes.

    Attributes
    ----------
    kernel : Kernel
    issues : list of Issue
        In the order of their cycles.
    values : dict
        Operation (node) -> values (nodes) that it gives: itself, or sine and cosine.
    bank, arrival : dict
        Of each value (node): where it is stored, and in which cycle; a leaf arrives before 0.
    length : int
        Cycles, the last result stored.
    """

    kernel: Kernel
    issues: list[Issue]
    values: dict[int, list[int]]
    bank: dict[int, int]
    arrival: dict[int, int]
    length: int


def values_of(kernel: Kernel) -> dict[int, list[int]]:
    """Map each operation of a kernel to the values that it gives, as far as they are needed."""
    nodes = kernel.graph.nodes
    found: dict[int, list[int]] = {index: [] for index in kernel.operations}
    for index in kernel.needed:
        op, args = nodes[index]
        operation = args[0][0] if op in ("sin", "cos") else index
        if operation in found and op not in ("sincos", "output"):
            found[operation].append(index)
    return found
