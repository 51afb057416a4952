"""Kernels as lists of operations, for ``native_list.c`` to read instead of a compiler."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from pymodel.compile.kernel import Kernel

#: What an operation of a list does: its number is its place here, as in ``native_list.c``.
OPERATIONS = (
    "sum",
    "difference",
    "negative sum",
    "product",
    "reciprocal",
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
        self.last = {node: k for k in kernel.operations for node, _ in self.nodes[k].args}
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
        nodes = self.nodes
        for node in self.leaves & self.stores.keys():
            self._store(node)
        for index in self.kernel.operations:
            op, args = nodes[index]
            if len(args) == 2:
                self._binary(index, op, args)
            else:
                self._unary(index, op, args)
        return OperationList(self.words, self.slots)

    def _binary(self, index: int, op: str, args: Sequence[tuple[int, bool]]) -> None:
        """A sum or a product, whose sign stands at what reads it."""
        (a, minus_a), (b, minus_b) = args
        if minus_a and not minus_b:
            a, b, minus_a, minus_b = b, a, minus_b, minus_a
        name = "product" if op == "mul" else _SUMS[minus_a, minus_b]
        assert op == "add" or not minus_b, f"{op} of negative operands"
        operands = self.slot[a], self.slot[b]
        for node in {a, b}:
            self._release(node, index)
        to = self._new(index)
        self.words.extend((_NUMBER[name], to, *operands))
        self._done(index)

    def _unary(self, index: int, op: str, args: Sequence[tuple[int, bool]]) -> None:
        """A reciprocal, whose sign stands at what reads it, or a sine and a cosine."""
        ((a, minus),) = args
        assert op == "sincos" or not minus, f"{op} of a negative operand"
        operand = self.slot[a]
        self._release(a, index)
        if op == "rec":
            name, second, made = "reciprocal", 0, [index]
            to = self._new(index)
        else:
            name, found = "sine, cosine", self.both[index]
            made = [*found.values()]
            to, second = (self._new(found.get(part, -1)) for part in ("sin", "cos"))
            self.free += [s for s, part in ((to, "sin"), (second, "cos")) if part not in found]
        self.words.extend((_NUMBER[f"negative {name}" if minus else name], to, operand, second))
        for node in made:
            self._done(node)

    def _new(self, node: int) -> int:
        if self.free:
            place = self.free.pop()
        else:
            place, self.slots = self.slots, self.slots + 1
        self.slot[node] = place
        return place

    def _release(self, node: int, index: int) -> None:
        """Let others have a value's slot, if this is the last operation that reads it."""
        if self.last[node] == index and node not in self.leaves:
            self.free.append(self.slot[node])

    def _done(self, node: int) -> None:
        """Store a value that has been computed; free its slot if nobody reads it."""
        if node in self.stores:
            self._store(node)
            if node not in self.last:
                self.free.append(self.slot[node])

    def _store(self, node: int) -> None:
        for place, negative in self.stores[node]:
            name = "pass" if node in self.leaves else "store"
            what = _NUMBER["negative store" if negative else name]
            self.words.extend((what, place, self.slot[node], 0))


_SUMS = {(False, False): "sum", (False, True): "difference", (True, True): "negative sum"}
