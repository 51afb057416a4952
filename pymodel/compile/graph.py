"""The arithmetic that records: the algorithm text leaves a data-flow graph.

Equal operations on equal operands become one node, after the operands of sums and products are put
in a canonical order: common subexpressions are shared. Negation is a sign on an edge, as it is free
in hardware. What is zero by structure folds away, and so do factors of plus or minus one where
the text says that they are structure: exactly what :class:`pymodel.arith.scalars.BitExact` with
``fold=True`` mirrors, so that both give the same bits. What remains can be counted, scheduled, and
evaluated on any arithmetic.
"""

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pymodel.arith.errors import Error
from pymodel.arith.numbers import number
from pymodel.arith.scalars import S, SupportsArithmetic

WATCHED = 1 << 14  # nodes between two that a graph's watch is told of
OPERATIONS = ("add", "mul", "rec", "sincos")
#: What moves a value between a stream and the registers: it computes nothing.
TRANSFERS = ("load", "output")
LEAVES = ("const", "parameter", "input")
NAMED = (*LEAVES, "load")  # without operands


class RecordingError(Error, TypeError):
    """What cannot be recorded: a course that depends on data, or what is no recorded scalar."""


def numpy_called(error: Exception) -> RecordingError:
    """The error that tells what numpy says of functions that recorded scalars do not have."""
    reason = "the function calls numpy with recorded scalars: take those of the arithmetic"
    return RecordingError(f"{reason} ({error})")


def _refuses(what: str) -> Callable[..., NoReturn]:
    """A method that refuses what Python asks of a scalar, with one line that says why."""

    def refuse(*_: Any) -> NoReturn:
        raise RecordingError(f"a recording {what}")

    return refuse


class Ref:
    """A signed reference to a node: what the text sees as a scalar.

    It adds, subtracts, multiplies and turns its sign. All else that Python could ask of a number is
    a TypeError, a RecordingError where there is something to take instead.
    """

    __slots__ = ("graph", "node", "negative")

    def __init__(self, graph: "Graph", node: int, negative: bool = False) -> None:
        self.graph = graph
        self.node = node
        self.negative = negative

    def __neg__(self) -> "Ref":
        if self.graph.structure(self) == 0:
            return self
        return Ref(self.graph, self.node, not self.negative)

    def __pos__(self) -> "Ref":
        return self

    def __add__(self, other: "Ref") -> "Ref":
        return self.graph.add(self, self.graph.own(other))

    def __sub__(self, other: "Ref") -> "Ref":
        return self.graph.add(self, -self.graph.own(other))

    def __mul__(self, other: "Ref") -> "Ref":
        return self.graph.mul(self, self.graph.own(other))

    __hash__ = object.__hash__  # of the object itself, not of what it stands for
    __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __bool__ = _refuses(
        "cannot compare or test scalars: compute the same operations for all data"
    )

    def __eq__(self, other: object) -> Any:
        # To differ from what is no number, such as None, depends on no data.
        return self.__bool__() if isinstance(other, Ref | Number) else NotImplemented

    __float__ = __int__ = __round__ = _refuses(
        "has no values: compute with the scalars themselves, by the functions of the arithmetic"
    )
    __radd__ = __rsub__ = __rmul__ = _refuses(
        "computes with scalars only: take arithmetic.const or arithmetic.parameter for a number"
    )
    __truediv__ = __rtruediv__ = _refuses("has no division: multiply by arithmetic.recip(x)")
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refuses(
        "has no quotients and remainders: they take courses that depend on data"
    )
    __pow__ = __rpow__ = _refuses("has no powers: multiply")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Numpy's functions of scalars and arrays: sums, products and signs, as above."""
        arrays = [np.array(x, object) if isinstance(x, Ref) else x for x in inputs]
        try:
            return getattr(ufunc, method)(*arrays, **options)
        except RecordingError:
            raise
        except (TypeError, AttributeError) as error:
            raise numpy_called(error) from error

    @property
    def key(self) -> tuple[int, bool]:
        """Node and sign: what an edge of the graph holds."""
        return self.node, self.negative


class Node(NamedTuple):
    """An operation or a leaf."""

    op: str  # const, parameter, input, add, mul, rec, sincos, sin, cos, load, output
    args: tuple[
        Any, ...
    ]  # of (node, negative); const: (value, is it structure?); leaves, load: (name,)


class Graph:
    """Arithmetic whose scalars are :class:`Ref`; see the module's docstring.

    Parameters
    ----------
    fold : bool
        False: every operation of the text stays a node of its own, nothing is shared or folded
        (what hardware with a unit for each operation does).

    Attributes
    ----------
    nodes : list of Node
        Operands stand before what reads them.
    parameters : dict
        Name -> value (float) of each parameter that was asked for.
    """

    name = "graph"
    flags = 0

    def __init__(self, fold: bool = True) -> None:
        self.fold = fold
        self.parameters: dict[str, float] = {}
        self.nodes: list[Node] = []
        self.given: dict[str, float] = {}  # parameters, those that folded too
        self.watch: Callable[[int], None] | None = None  # told the number of nodes now and then
        self._known: dict[Node, int] = {}
        self._reachable: dict[frozenset[int], list[int]] = {}  # nodes never change

    def _node(self, op: str, *args: Any, unique: bool = False) -> Ref:
        node = Node(op, args)
        if not unique and node in self._known:
            return Ref(self, self._known[node])
        return Ref(self, self.append(node))

    def append(self, node: Node) -> int:
        """Add a node as it is, nothing shared or folded; returns its index."""
        self.nodes.append(node)
        self._known[node] = len(self.nodes) - 1
        if self.watch and not len(self.nodes) % WATCHED:
            self.watch(len(self.nodes))
        return len(self.nodes) - 1

    # --- leaves -----------------------------------------------------------------------------------

    def input(self, name: str) -> Ref:
        """Return a scalar that is known only when the graph is evaluated."""
        return self._node("input", name)

    def const(self, x: float) -> Ref:
        """Return a number of the text; it is data and never folds."""
        return self._constant(float(x), False)

    def parameter(self, name: str, x: float) -> Ref:
        """Return a scalar that seldom changes, its value kept in :attr:`parameters`; 0 folds.

        Raises
        ------
        RecordingError
            If the name has another value already.
        ValueError
            If it is no number.
        """
        number(f"parameter {name!r}", x)
        self._take(name, x)
        if self.fold and x == 0:
            return self._constant(0.0, True)
        self.parameters[name] = x
        return self._node("parameter", name)

    def structural(self, name: str, x: float) -> Ref:
        """Return a parameter of which plus and minus one fold, too: an entry of a joint axis."""
        if self.fold and abs(x) == 1:
            self._take(name, x)
            return self._constant(x, True)
        return self.parameter(name, x)

    def _take(self, name: str, x: float) -> None:
        before = self.given.setdefault(name, x)
        if before != x and not (math.isnan(before) and math.isnan(x)):
            reason = f"has the values {before!r} and {x!r}: give each its own name"
            raise RecordingError(f"parameter {name} {reason}")

    def _constant(self, x: float, structure: bool) -> Ref:
        if math.copysign(1.0, x) < 0:
            return -self._constant(-x, structure)
        return self._node("const", x, structure)

    def structure(self, ref: Ref) -> float | None:
        """Return 0.0 or 1.0 if that is what a node is by structure, otherwise None."""
        node = self.nodes[ref.node]
        return node.args[0] if node.op == "const" and node.args[1] else None

    def own(self, x: Any) -> Ref:
        """Return x, which must be a scalar of this recording.

        Raises
        ------
        RecordingError
            If it is a number, anything else, or a scalar of another recording.
        """
        if x.__class__ is Ref and x.graph is self:
            return x
        if isinstance(x, Ref):
            raise RecordingError("a scalar of another recording: take those of this one")
        reason = "a scalar of the recording is wanted: arithmetic.const makes one of a number"
        raise RecordingError(f"{type(x).__name__}: {reason}")

    # --- operations -------------------------------------------------------------------------------

    def add(self, a: Ref, b: Ref) -> Ref:
        """Record a + b."""
        if self.structure(a) == 0:
            return b
        if self.structure(b) == 0:
            return a
        return self._node("add", *sorted((a.key, b.key)), unique=not self.fold)

    def mul(self, a: Ref, b: Ref) -> Ref:
        """Record a b."""
        for x, y in ((a, b), (b, a)):
            if self.structure(x) == 0:
                return x
            if self.structure(x) == 1:
                return -y if x.negative else y
        factors = sorted(((a.node, False), (b.node, False)))
        product = self._node("mul", *factors, unique=not self.fold)
        return -product if a.negative != b.negative else product

    def recip(self, x: Ref) -> Ref:
        """Record 1 / x."""
        self.own(x)
        r = self._node("rec", (x.node, False), unique=not self.fold)
        return -r if x.negative else r

    def sincos(self, x: Ref) -> tuple[Ref, Ref]:
        """Record sine and cosine of x."""
        both = self._node("sincos", self.own(x).key, unique=not self.fold)
        return self._node("sin", both.key), self._node("cos", both.key)

    # --- what depends on data ---------------------------------------------------------------------

    def is_zero(self, x: Ref) -> bool:
        """Return False: whether a result is zero shows when it is computed, and changes nothing."""
        return False

    def is_finite(self, x: Ref) -> bool:
        """Return True: the hardware stops by itself at a result that is not finite."""
        return True

    def to_float(self, x: Ref) -> float:
        """Refuse: a recorded scalar has no value.

        Raises
        ------
        RecordingError
            Always.
        """
        raise RecordingError("a recording has no values")

    def larger(self, x: Ref, y: Ref) -> bool:
        """Refuse: what is recorded would depend on the data.

        Raises
        ------
        RecordingError
            Always.
        """
        raise RecordingError(
            "a recording cannot compare two scalars: choose an algorithm without pivoting"
        )

    # --- evaluation -------------------------------------------------------------------------------

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is the caller's to judge
    def evaluate(
        self,
        arithmetic: SupportsArithmetic[S],
        inputs: Mapping[str, S],
        outputs: Iterable[Ref],
        parameters: Mapping[str, S] | None = None,
    ) -> list[S]:
        """Evaluate the graph on any arithmetic.

        Parameters
        ----------
        arithmetic : SupportsArithmetic
        inputs : dict
            Name -> scalar of the arithmetic, at least of the inputs that are needed.
        outputs : iterable of Ref
        parameters : dict, optional
            Name -> scalar, in place of the recorded values.

        Returns
        -------
        list
            The outputs' scalars. Each node is evaluated at most once.

        Raises
        ------
        KeyError
            If an input is missing.
        """
        outputs = list(outputs)
        parameters = parameters or {}
        operations: dict[str, Callable[..., Any]] = {
            "rec": arithmetic.recip,
            "sincos": arithmetic.sincos,
            "sin": operator.itemgetter(0),
            "cos": operator.itemgetter(1),
            "output": lambda x: x,
        }
        nodes = self.nodes
        values: list[Any] = [None] * len(nodes)

        def value(node: int, negative: bool) -> S:
            found: S = values[node]
            return -found if negative else found

        for index in self.reachable(outputs):
            op, args = nodes[index]
            if op in ("add", "mul"):  # nearly all: without a call
                (a, minus_a), (b, minus_b) = args
                x, y = values[a], values[b]
                if minus_a:
                    x = -x
                if minus_b:
                    y = -y
                values[index] = x + y if op == "add" else x * y
            elif op == "const":
                values[index] = arithmetic.const(args[0])
            elif op == "parameter":
                (name,) = args
                given = parameters.get(name)
                values[index] = arithmetic.const(self.parameters[name]) if given is None else given
            elif op in ("input", "load"):
                values[index] = inputs[args[0]]
            else:
                values[index] = operations[op](*(value(*arg) for arg in args))
        return [value(*ref.key) for ref in outputs]

    # --- questions about the graph ----------------------------------------------------------------

    def reachable(self, outputs: Iterable[Ref]) -> list[int]:
        """Return the indices of all nodes that the outputs depend on, ascending."""
        nodes = frozenset(ref.node for ref in outputs)
        if nodes not in self._reachable:
            self._reachable[nodes] = sorted(nodes | self.ancestors(nodes))
        return self._reachable[nodes].copy()

    def ancestors(self, indices: Iterable[int]) -> set[int]:
        """Return all nodes that some nodes depend on."""
        nodes, seen = self.nodes, set()
        stack = [arg for index in indices for arg in self.operands(index)]
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                op, args = nodes[index]
                if op not in NAMED:
                    stack += [node for node, _ in args]
        return seen

    def operands(self, index: int) -> list[int]:
        """Return the nodes that a node reads."""
        node = self.nodes[index]
        return [] if node.op in NAMED else [arg[0] for arg in node.args]

    def count(self, outputs: Iterable[Ref]) -> dict[str, int]:
        """Count the operations needed for the outputs: {"add": .., "mul": .., ...}."""
        found = Counter(self.nodes[index].op for index in self.reachable(outputs))
        return {op: found[op] for op in OPERATIONS}

    def critical_path(
        self, outputs: Sequence[Ref], latency: Mapping[str, int]
    ) -> tuple[int, dict[str, int]]:
        """Find the longest dependency path; of no outputs it has no length.

        Parameters
        ----------
        outputs : sequence of Ref
        latency : dict
            Cycles of each of :data:`OPERATIONS`.

        Returns
        -------
        length : int
            Its latency, cycles.
        operations : dict
            {op: count} on it.
        """
        longest: dict[int, int] = {}
        before: dict[int, int | None] = {}  # the operand that it is waited for longest
        for index in self.reachable(outputs):  # operands have smaller indices
            op = self.nodes[index].op
            last = max(self.operands(index), default=None, key=longest.__getitem__)
            own = latency[op] if op in OPERATIONS else 0
            longest[index] = (0 if last is None else longest[last]) + own
            before[index] = last
        last = max((ref.node for ref in outputs), default=None, key=longest.__getitem__)
        length, path = 0 if last is None else longest[last], Counter[str]()
        while last is not None:
            path[self.nodes[last].op] += 1
            last = before[last]
        return length, {op: path[op] for op in OPERATIONS}


def symbols(graph: Graph, name: str, shape: tuple[int, ...]) -> Any:
    """Make a scalar, vector or matrix (nested tuples) of inputs ``name``, ``name[0]``, ..."""
    if not shape:
        return graph.input(name)
    return tuple(symbols(graph, f"{name}[{i}]", shape[1:]) for i in range(shape[0]))


def flatten(values: Any) -> list[Ref]:
    """List all Refs in nested tuples and lists (other values are left out)."""
    if isinstance(values, Ref):
        return [values]
    if not isinstance(values, tuple | list):
        return []
    return [ref for value in values for ref in flatten(value)]
