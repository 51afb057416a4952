"""Kernels as lists of operations, for ``native_list.c`` to read instead of a compiler."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import NamedTuple

from pymodel.compile.kernel import Kernel

#: What an operation of a list does: its number is its place here, as in ``native_list.c``.
OPERATIONS = (
    "sum",
    "difference",
    "negative sum",
    "product",
    "negative product",
    "reciprocal",
    "negative reciprocal",
    "sine, cosine",
    "negative sine, cosine",
    "store",
    "negative store",
    "pass",
)
_NUMBER = {name: number for number, name in enumerate(OPERATIONS)}


class OperationList(NamedTuple):
    """A kernel as a list.

    Attributes
    ----------
    words : array of int
        Four for each operation: its number in :data:`OPERATIONS`, where its result goes, and its
        operands.
    slots : int
        Values that are held at once: the inputs with what is carried, then the fixed leaves, then
        what is computed; a slot is used again when nobody reads it any more.
    """

    words: array[int]
    slots: int


def listed(kernel: Kernel) -> OperationList:
    """Write a kernel as a list, in the order of the recording.

    Parameters
    ----------
    kernel : Kernel
        Not streamed.
    """
    return _Writer(kernel).written()


class _Writer:
    """Where each value of a kernel is, while the list grows."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.nodes = kernel, kernel.graph.nodes
        arguments = [*kernel.inputs.values(), *(old for old, _ in kernel.carried.values())]
        leaves = [*(ref.node for ref in arguments), *kernel.fixed_leaves]
        self.slot = {node: k for k, node in enumerate(leaves)}
        self.leaves, self.slots = frozenset(leaves), len(leaves)
        self.free: list[int] = []
        self.words: array[int] = array("i")
        self.both: dict[int, dict[str, int]] = {}  # operation -> its sine, its cosine
        for node in kernel.needed:
            op, args = self.nodes[node]
            if op in ("sin", "cos") and node not in self.leaves:
                self.both.setdefault(args[0][0], {})[op] = node
        self.stores: dict[int, list[tuple[int, bool]]] = {}  # value -> places of the output
        for place, ref in enumerate(kernel.results.values()):
            self.stores.setdefault(ref.node, []).append((place, ref.negative))

    def written(self) -> OperationList:
        """The list."""
        nodes, words = self.nodes, self.words
        for node in self.leaves & self.stores.keys():
            self._store(node)
        last = {node: k for k in self.kernel.operations for node, _ in nodes[k].args}
        for index in self.kernel.operations:
            op, args = nodes[index]
            if len(args) == 2:  # nearly all
                (a, minus_a), (b, minus_b) = args
                if op == "mul":
                    what = _NUMBER["product" if minus_a == minus_b else "negative product"]
                elif minus_a and not minus_b:
                    a, b, what = b, a, _NUMBER["difference"]
                else:
                    what = _NUMBER[_SUMS[minus_a, minus_b]]
                operands = self.slot[a], self.slot[b]
                self._release(a, last, index)
                if b != a:
                    self._release(b, last, index)
                to = self._new(index)
                words.extend((what, to, *operands))
                self._done(index, last)
                continue
            ((a, minus),) = args
            operand = self.slot[a]
            self._release(a, last, index)
            if op == "rec":
                name = "reciprocal"
                to, second, made = self._new(index), 0, [index]
            else:
                name, found = "sine, cosine", self.both[index]
                made = [*found.values()]
                to, second = (self._new(found.get(part, -1)) for part in ("sin", "cos"))
                self.free += [s for s, part in ((to, "sin"), (second, "cos")) if part not in found]
            what = _NUMBER[f"negative {name}" if minus else name]
            words.extend((what, to, operand, second))
            for node in made:
                self._done(node, last)
        return OperationList(words, self.slots)

    def _new(self, node: int) -> int:
        if self.free:
            place = self.free.pop()
        else:
            place, self.slots = self.slots, self.slots + 1
        self.slot[node] = place
        return place

    def _release(self, node: int, last: Mapping[int, int], index: int) -> None:
        """Let others have a value's slot, if this is the last operation that reads it."""
        if last[node] == index and node not in self.leaves:
            self.free.append(self.slot[node])

    def _done(self, node: int, last: Mapping[int, int]) -> None:
        """Store a value that has been computed; free its slot if nobody reads it."""
        if node in self.stores:
            self._store(node)
            if node not in last:
                self.free.append(self.slot[node])

    def _store(self, node: int) -> None:
        for place, negative in self.stores[node]:
            name = "pass" if node in self.leaves else "store"
            what = _NUMBER["negative store" if negative else name]
            self.words.extend((what, place, self.slot[node], 0))


_SUMS = {(False, False): "sum", (False, True): "difference", (True, True): "negative sum"}
