"""The arithmetic that records: evaluates the algorithm text into a data-flow graph.

Equal operations on equal operands become one node (common subexpressions are shared; the operands
of additions and multiplications are ordered first), sums with zero and products with zero or one
fold away, and negation is a sign on an edge, as it is free in hardware. What remains can be
counted and measured without running anything.
"""

import math
from collections import Counter
from typing import NamedTuple

OPERATIONS = ("add", "mul", "rec", "sincos")
LEAVES = ("const", "parameter", "input")


class Ref:
    """A signed reference to a node; what the text sees as a scalar."""

    __slots__ = ("graph", "node", "negative")

    def __init__(self, graph, node, negative=False):
        self.graph = graph
        self.node = node
        self.negative = negative

    def __neg__(self):
        return Ref(self.graph, self.node, not self.negative)

    def __add__(self, other):
        return self.graph.add(self, other)

    def __sub__(self, other):
        return self.graph.add(self, -other)

    def __mul__(self, other):
        return self.graph.mul(self, other)

    @property
    def key(self):
        return self.node, self.negative


class Node(NamedTuple):
    op: str  # const, parameter, input, add, mul, rec, sincos, sin, cos
    args: tuple  # of (node, negative); for const: (value,); for parameter and input: (name,)


class Graph:
    """Arithmetic whose scalars are :class:`Ref`; see the module's docstring.

    Parameters
    ----------
    fold : bool
        False: every operation of the text stays a node of its own, nothing is shared or folded
        (what hardware with a unit for each operation does).

    Attributes
    ----------
    parameters : dict
        Name -> value (float) of each parameter that was asked for.
    """

    name = "graph"
    flags = 0

    def __init__(self, fold=True):
        self.fold = fold
        self.parameters = {}
        self.nodes = []
        self._known = {}

    def _node(self, op, *args, unique=False):
        node = Node(op, args)
        if not unique and node in self._known:
            return Ref(self, self._known[node])
        return Ref(self, self.append(node))

    def append(self, node):
        """Add a node as it is, nothing shared or folded; returns its index."""
        self.nodes.append(node)
        self._known[node] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def input(self, name):
        """A scalar known only at run time."""
        return self._node("input", name)

    def parameter(self, name, x):
        """A scalar known when a run starts: its value goes to :attr:`parameters`; zero folds."""
        if self.fold and x == 0:
            return self.const(0.0)
        self.parameters[name] = x
        return self._node("parameter", name)

    def const(self, x):
        """A number that the text itself contains; zero and one fold."""
        x = float(x)
        if self.fold and math.copysign(1.0, x) < 0:
            return -self.const(-x)
        return self._node("const", x)

    def _value(self, ref):
        node = self.nodes[ref.node]
        return node.args[0] if self.fold and node.op == "const" else None

    def add(self, a, b):
        if self._value(a) == 0:
            return b
        if self._value(b) == 0:
            return a
        return self._node("add", *sorted((a.key, b.key)), unique=not self.fold)

    def mul(self, a, b):
        for x, y in ((a, b), (b, a)):
            if self._value(x) == 0:
                return self.const(0.0)
            if self._value(x) == 1:
                return -y if x.negative else y
        product = self._node(
            "mul", *sorted(((a.node, False), (b.node, False))), unique=not self.fold
        )
        return -product if a.negative != b.negative else product

    def recip(self, x):
        r = self._node("rec", (x.node, False), unique=not self.fold)
        return -r if x.negative else r

    def sincos(self, x):
        both = self._node("sincos", x.key, unique=not self.fold)
        return self._node("sin", both.key), self._node("cos", both.key)

    def to_float(self, x):  # what is recorded is never zero, infinite, or compared
        return 1.0

    def larger(self, x, y):  # no exchange: the operations do not depend on the data
        return False

    # --- questions about the graph --------------------------------------------------------------

    def reachable(self, outputs):
        """Indices of all nodes that the outputs (an iterable of Ref) depend on, ascending."""
        nodes = {ref.node for ref in outputs}
        return sorted(nodes | self.ancestors(nodes))

    def ancestors(self, indices):
        """All nodes that some nodes depend on."""
        seen, stack = set(), [arg for index in indices for arg in self.operands(index)]
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                stack += self.operands(index)
        return seen

    def operands(self, index):
        """Nodes that a node reads."""
        node = self.nodes[index]
        return [] if node.op in LEAVES else [arg[0] for arg in node.args]

    def count(self, outputs):
        """Operations needed for the outputs: {"add": .., "mul": .., "rec": .., "sincos": ..}."""
        found = Counter(self.nodes[index].op for index in self.reachable(outputs))
        return {op: found[op] for op in OPERATIONS}

    def critical_path(self, outputs, latency):
        """Longest dependency path: (its latency, operations on it).

        Parameters
        ----------
        latency : dict
            Cycles of each of :data:`OPERATIONS`.
        """
        longest = {}
        for index in self.reachable(outputs):  # operands have smaller indices
            op = self.nodes[index].op
            length, path = max(
                (longest[arg] for arg in self.operands(index)), default=(0, ()), key=lambda x: x[0]
            )
            if op in OPERATIONS:
                length, path = length + latency[op], (*path, op)
            longest[index] = length, path
        length, path = max((longest[ref.node] for ref in outputs), key=lambda x: x[0])
        return length, {op: path.count(op) for op in OPERATIONS}


def symbols(graph, name, shape):
    """A scalar, vector or matrix (nested tuples) of inputs ``name``, ``name[0]``, ..."""
    if not shape:
        return graph.input(name)
    return tuple(symbols(graph, f"{name}[{i}]", shape[1:]) for i in range(shape[0]))


def flatten(values):
    """All Refs in nested tuples and lists (other values are left out)."""
    if isinstance(values, Ref):
        return [values]
    if not isinstance(values, (tuple, list)):
        return []
    return [ref for value in values for ref in flatten(value)]
