"""Kernels as C: straight-line code of one recorded function, for one system or many at once.

What is emitted belongs to ``native.h``, which defines the numbers (``real``: one, or a vector of
``LANES``), their operations, and how they are loaded and stored. The order of the operations, and
with it every bit, is the recording's; constants and parameters come from an array, so that a
compiler cannot fold them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pymodel.compile.kernel import Kernel

#: Operations of a function: a compiler's time grows faster than the length of what it compiles.
PIECE = 500


@dataclass(frozen=True)
class Emitted:
    """A kernel as C.

    Attributes
    ----------
    pieces : tuple of str
        Functions ``<name>_<number>``, to be called one after the other; each is a file of its own,
        behind ``native.h``.
    workspace : int
        Values that the pieces hand on.
    """

    pieces: tuple[str, ...]
    workspace: int


def emit(kernel: Kernel, name: str, piece: int = PIECE) -> Emitted:
    """Write a kernel as C functions.

    Parameters
    ----------
    kernel : Kernel
        Its inputs and then its carried values are ``IN(0)``, ``IN(1)``, ...; its fixed leaves
        ``K(0)``, ...; its results, carried values first, are stored as ``OUT(0)``, ...
    name : str
        In front of the functions' names.
    piece : int
        Operations of a function at most.
    """
    emitter = _Emitter(kernel, name, piece)
    return Emitted(tuple(emitter.pieces()), emitter.workspace)


def in_order(kernel: Kernel) -> list[int]:
    """Order the operations: sines and what they need first, as their call saves all registers."""
    nodes = kernel.graph.nodes
    rotations = [index for index in kernel.operations if nodes[index].op == "sincos"]
    early = kernel.graph.ancestors(rotations) | set(rotations)
    return sorted(kernel.operations, key=lambda index: (index not in early, index))


class _Emitter:
    """Where each value of a kernel is, while it is written."""

    def __init__(self, kernel: Kernel, name: str, piece: int) -> None:
        self.kernel, self.name = kernel, name
        self.nodes = kernel.graph.nodes
        arguments = [*kernel.inputs.values(), *(old for old, _ in kernel.carried.values())]
        self.leaves = {ref.node: f"IN({k})" for k, ref in enumerate(arguments)}
        self.leaves |= {node: f"K({k})" for k, node in enumerate(kernel.fixed_leaves)}
        order = in_order(kernel)
        self.chunks = [order[i : i + piece] for i in range(0, len(order), piece)] or [[]]
        self.home = {node: k for k, chunk in enumerate(self.chunks) for node in chunk}
        self.stores: dict[int, list[str]] = {}  # operation, or leaf -> its statements
        for place, ref in enumerate(kernel.results.values()):
            value = self._spread(ref.node, False)
            value = f"-{value}" if ref.negative else value
            if ref.negative or ref.node not in self.leaves:
                value = f"RESULT({value})"
            statement = f"  OUT({place}) = {value};"
            self.stores.setdefault(self._source(ref.node), []).append(statement)
        self.slots, self.workspace = self._handed_on()
        self.given: dict[int, list[int]] = {}  # operation -> its value, or its sine and cosine
        for node in kernel.needed:
            self.given.setdefault(self._source(node), []).append(node)

    def _source(self, node: int) -> int:
        """The operation that computes a node: of a sine the one that gives the cosine, too."""
        op, args = self.nodes[node]
        return args[0][0] if op in ("sin", "cos") and node not in self.leaves else node

    def _operand(self, node: int, negative: bool) -> str:
        op, args = self.nodes[node]
        own = f"{op[0]}{args[0][0]}" if op in ("sin", "cos") else f"x{node}"
        return ("-" if negative else "") + self.leaves.get(node, own)

    def _stays(self, node: int) -> bool:
        """Whether a value is one of the fixed leaves, of which all systems may have the same."""
        return self.leaves.get(node, "").startswith("K")

    def _spread(self, node: int, negative: bool) -> str:
        """An operand as a number of each system, also what all systems have in common."""
        value = self._operand(node, negative)
        return f"SPREAD({value})" if self._stays(node) else value

    def _read(self, chunk: Sequence[int]) -> set[int]:
        """Values, no leaves, that some operations read."""
        return {arg for i in chunk for arg, _ in self.nodes[i].args} - self.leaves.keys()

    def _handed_on(self) -> tuple[dict[int, int], int]:
        """Place in the workspace of each value that a later piece reads, and how many there are."""
        pieces = range(len(self.chunks))
        last = {
            node: k
            for k in pieces
            for node in self._read(self.chunks[k])
            if self.home[self._source(node)] != k
        }
        begin: list[list[int]] = [[] for _ in pieces]
        end: list[list[int]] = [[] for _ in pieces]
        for node, k in last.items():
            begin[self.home[self._source(node)]].append(node)
            end[k].append(node)
        slots: dict[int, int] = {}
        free: list[int] = []
        used = 0
        for k in pieces:
            for node in sorted(begin[k]):
                if not free:
                    free, used = [used], used + 1
                slots[node] = free.pop()
            free += [slots[node] for node in end[k]]
        return slots, used

    def pieces(self) -> Iterator[str]:
        """The functions; a result that none of them stores is a bug here."""
        stored = 0
        for number, chunk in enumerate(self.chunks):
            lines = [f"void {self.name}_{number}(PIECE_ARGUMENTS) {{"]
            for node in sorted(self._read(chunk)):
                if self.home[self._source(node)] != number:
                    own = self._operand(node, False)
                    lines.append(f"  const real {own} = W({self.slots[node]});")
            for index in chunk:
                lines += self._operation(index)
            if number == 0:  # results that are there before anything is computed
                for leaf in self.leaves:
                    lines += self.stores.get(leaf, ())
            stored += sum(line.startswith("  OUT(") for line in lines)
            yield "\n".join([*lines, "}", ""])
        results = len(self.kernel.results)
        assert stored == results, f"{self.name}: {stored} of {results} results are stored"

    def _operation(self, index: int) -> Iterator[str]:
        op, args = self.nodes[index]
        alone = all(self._stays(node) for node, _ in args)
        first = self._spread(*args[0]) if alone else self._operand(*args[0])
        operands = ", ".join([first, *(self._operand(*arg) for arg in args[1:])])
        if op == "sincos":
            yield f"  real s{index}, c{index};"
            yield f"  SINCOS({operands}, s{index}, c{index});"
        else:
            yield f"  const real x{index} = {op.upper()}({operands});"
        for node in self.given[index]:
            if node in self.slots:
                yield f"  W({self.slots[node]}) = {self._operand(node, False)};"
        yield from self.stores.get(index, ())
