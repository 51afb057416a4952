"""Kernels: recorded functions of scalars, ready to be counted, scheduled and evaluated.

A kernel has *inputs*, new for each evaluation; *carried* values, which an evaluation finds and
replaces; *outputs*; and *parameters*, data that seldom changes. A time step is a kernel whose
states are carried; a plain function call carries nothing. What a kernel fixes is the structure:
which operations there are, and which parameters are zero.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pymodel.arith.errors import InputError, require
from pymodel.arith.fp import Format
from pymodel.arith.numbers import check_dict, number
from pymodel.arith.scalars import BitExact, S, SupportsArithmetic
from pymodel.compile import collector
from pymodel.compile.graph import (
    LEAVES,
    OPERATIONS,
    TRANSFERS,
    Graph,
    Node,
    RecordingError,
    Ref,
    numpy_called,
)

RESULTS = ("add", "mul", "rec", "sin", "cos")  # nodes that a lane's own bank stores
LONG_NAME, DIGEST = 120, 16  # characters: a longer formula is named by so many of its digest

#: A function of scalars: (arithmetic, {name: scalar}) -> {name: scalar}.
Function = Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]


class Carried(NamedTuple):
    """A carried value: what an evaluation finds, and what it leaves for the next one."""

    old: Ref
    new: Ref


class Slot(NamedTuple):
    """A word of a call: its number in a stream, or in the scratch memory."""

    number: int
    scratch: bool = False


@dataclass(frozen=True)
class Kernel:
    """A recorded function of scalars.

    Attributes
    ----------
    graph : Graph
    inputs, outputs : dict
        Name -> Ref.
    carried : dict
        Name -> :class:`Carried`.
    context : dict
        Node -> number of the system it belongs to; empty for a single one.
    owner : str
        Of a program among others, see :func:`apart`. It stands in :attr:`leaves` in front of the
        names of parameters.
    loads, stores : dict
        Name of an input that is loaded, and of an output that leaves -> :class:`Slot`; see
        :func:`pymodel.compile.streams.streamed`.
    kept : frozenset of str
        Outputs that stay in registers for other kernels of this owner, which have inputs, or carry
        values, of these names.
    early : frozenset of str
        Carried values that :func:`pymodel.compile.retime.retimed` has added: nobody loads or shows
        them.
    """

    graph: Graph
    inputs: dict[str, Ref]
    outputs: dict[str, Ref]
    carried: dict[str, Carried] = field(default_factory=dict)
    context: dict[int, int] = field(default_factory=dict)
    owner: str = ""
    loads: dict[str, Slot] = field(default_factory=dict)
    stores: dict[str, Slot] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    early: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        kinds = ("inputs", "carried", "outputs", "parameters")
        return f"<Kernel: {', '.join(f'{len(getattr(self, kind))} {kind}' for kind in kinds)}>"

    @property
    def parameters(self) -> dict[str, float]:
        """Name -> value of the parameters."""
        return self.graph.parameters

    @property
    def results(self) -> dict[str, Ref]:
        """Name -> Ref of all that an evaluation computes: carried values, then outputs."""
        return {name: new for name, (_, new) in self.carried.items()} | self.outputs

    @cached_property
    def needed(self) -> list[int]:
        """Nodes that the results depend on, operands first."""
        return self.graph.reachable(self.results.values())

    @cached_property
    def fixed(self) -> set[int]:
        """Nodes that depend on parameters and constants alone; what stays never counts."""
        nodes, found = self.graph.nodes, set()
        computed = {new.node for _, new in self.carried.values()}
        computed |= {self.outputs[name].node for name in self.kept}
        computed |= {nodes[i].args[0][0] for i in computed if nodes[i].op in ("sin", "cos")}
        for index in self.needed:
            moved = nodes[index].op in ("input", *TRANSFERS)
            if moved or (index in computed and nodes[index].op not in LEAVES):
                continue
            if all(arg in found for arg in self.graph.operands(index)):
                found.add(index)
        return found

    @cached_property
    def operations(self) -> list[int]:
        """Nodes that an evaluation computes, operands first; not the fixed ones."""
        nodes, fixed, ops = self.graph.nodes, self.fixed, (*OPERATIONS, *TRANSFERS)
        return [i for i in self.needed if nodes[i].op in ops and i not in fixed]

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Node -> operations that read it."""
        found = defaultdict(list)
        for index in self.operations:
            for arg, _ in self.arguments(index):
                found[arg].append(index)
        return dict(found)

    def arguments(self, index: int) -> tuple[tuple[int, bool], ...]:
        """Operands of an operation, (node, negative) each; a load has none."""
        node = self.graph.nodes[index]
        return () if node.op == "load" else node.args

    @cached_property
    def leaves(self) -> dict[int, str]:
        """Node -> name of all values that are there before an evaluation."""
        nodes = self.graph.nodes
        names: dict[int, str] = {}
        for index in self.needed:
            if nodes[index].op == "input" or index in self.fixed:
                names[index] = formula(nodes[index], names, self.owner)
        return {index: name for index, name in names.items() if nodes[index].op != "sincos"}

    @property
    def fixed_leaves(self) -> dict[int, str]:
        """Node -> name of the leaves that are data of the program: neither inputs nor carried."""
        nodes = self.graph.nodes
        return {i: name for i, name in self.leaves.items() if nodes[i].op != "input"}

    def values(self, fmt: Format, parameters: Mapping[str, float] | None = None) -> dict[str, int]:
        """Evaluate what depends on parameters and constants alone.

        Parameters
        ----------
        fmt : Format
        parameters : dict, optional
            Name -> value (float) of every parameter, in place of the recorded values: the same
            structure with other data, for :meth:`pymodel.machine.isa.Program.image`.

        Returns
        -------
        dict
            Name of each fixed leaf -> its bits in this format.

        Raises
        ------
        InputError
            If that is no format, a parameter is no finite number, or these are not the kernel's
            parameters: one that was zero when it was recorded is structure, and not among them.
        """
        require(fmt, Format, "Format")
        arithmetic, leaves = BitExact(fmt), self.fixed_leaves
        parameters = self.parameters if parameters is None else self._own(parameters)
        refs = [Ref(self.graph, index) for index in leaves]
        given = {name: arithmetic.const(x) for name, x in parameters.items()}
        scalars = self.graph.evaluate(arithmetic, {}, refs, given)
        return {name: x.bits for name, x in zip(leaves.values(), scalars, strict=True)}

    def _own(self, parameters: Mapping[str, float]) -> dict[str, float]:
        """Its parameters as floats; an InputError for anything else."""
        try:
            check_dict("parameters", parameters)
            if differ := parameters.keys() ^ self.parameters.keys():
                names = ", ".join(sorted(map(str, differ)))
                raise InputError(f"not the parameters of this kernel; missing or unknown: {names}")
            found = {name: number(f"parameters: {name}", x) for name, x in parameters.items()}
        except ValueError as error:
            raise InputError(str(error)) from None
        for name, x in found.items():
            if not math.isfinite(x):
                raise InputError(f"parameters: {name}: must be finite, got {x}")
        return found

    def evaluate(
        self,
        arithmetic: SupportsArithmetic[S],
        inputs: Mapping[str, S],
        parameters: Mapping[str, S] | None = None,
    ) -> dict[str, S]:
        """Evaluate the kernel once.

        Parameters
        ----------
        arithmetic : SupportsArithmetic
        inputs : dict
            Name -> scalar of the inputs and of the carried values.
        parameters : dict, optional
            Name -> scalar, in place of the recorded values. A parameter that was recorded as zero
            is structure and cannot be given another value.

        Returns
        -------
        dict
            Name -> scalar of the carried values after it, and of the outputs. In the hardware's
            formats a result that is the negative of something is as operations give it: a NaN is
            the one of theirs, and a subnormal input zero. (A step array's own outputs only flip the
            sign.)

        Raises
        ------
        InputError
            If the arithmetic is none.
        """
        if not hasattr(arithmetic, "recip"):
            known = "an arithmetic of pymodel.arith.scalars"
            raise InputError(f"arithmetic: must be {known}, got {arithmetic!r}")
        results = self.results
        values = self.graph.evaluate(arithmetic, inputs, results.values(), parameters)
        found = dict(zip(results, values, strict=True))
        canonical = getattr(arithmetic, "canonical", None)
        if canonical is not None:  # otherwise an arithmetic with NaNs of any kind
            for name in self._negative:
                found[name] = canonical(found[name])
        return found

    @cached_property
    def _negative(self) -> tuple[str, ...]:
        """Names of the results that are the negative of a node."""
        return tuple(name for name, ref in self.results.items() if ref.negative)

    @property
    def structure(self) -> tuple[Any, ...]:
        """What a program is made of; kernels that have it in common differ in parameters only."""
        return (
            [(index, self.graph.nodes[index]) for index in self.needed],
            list(self.inputs),
            [(name, old.key, new.key) for name, (old, new) in self.carried.items()],
            [(name, ref.key) for name, ref in self.outputs.items()],
        )


def formula(node: Node, names: Mapping[int, str], owner: str) -> str:
    """Name of a leaf; of what is computed the formula, the same in all kernels.

    Parameters
    ----------
    node : Node
    names : dict
        Node -> name of its operands.
    owner : str
        In front of the names of parameters.
    """
    if node.op == "input":
        return str(node.args[0])
    if node.op == "parameter":
        return f"{owner}{node.args[0]}"
    if node.op == "const":
        return repr(node.args[0])
    operands = ", ".join(("-" if negative else "") + names[arg] for arg, negative in node.args)
    if len(operands) > LONG_NAME:  # a formula of formulas
        operands = hashlib.sha256(operands.encode()).hexdigest()[:DIGEST]
    return f"{node.op}({operands})"


@collector.paused()
def record(
    function: Function,
    inputs: Iterable[str] = (),
    carried: Iterable[str] = (),
    parameters: Mapping[str, float] | None = None,
    graph: Graph | None = None,
) -> Kernel:
    """Record a function of scalars.

    Parameters
    ----------
    function : callable
        ``function(arithmetic, values)`` with a dict of scalars by name, which returns a dict of
        scalars by name: the new value of each carried one, and the outputs. It may ask the
        arithmetic for more parameters. It must not decide on values: see
        :class:`pymodel.compile.graph.RecordingError`.
    inputs, carried : iterable of str
        Names of the inputs and of the carried values.
    parameters : dict, optional
        Name -> value (float) of parameters that the function finds among its scalars.
    graph : Graph, optional
        An empty one to record into: one that does not fold, for example.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If a name is taken twice, the function does not return a carried value, or an argument is of
        another kind.
    pymodel.compile.graph.RecordingError
        If the function decides on data, computes with plain numbers or by numpy's functions, reads
        a scalar that it does not have, gives a parameter two values, or returns something else than
        scalars by name.
    """
    if not callable(function):
        raise ValueError(f"function: must be one, got {type(function).__name__}")
    inputs, carried = _names("inputs", inputs), _names("carried", carried)
    parameters = {} if parameters is None else parameters
    check_dict("parameters", parameters)
    parameters = {name: number(name, x) for name, x in parameters.items()}
    names = [*inputs, *carried, *parameters]
    _refuse_twice({name for name in names if names.count(name) > 1})
    graph = Graph() if graph is None else graph
    before = {name: graph.input(name) for name in (*inputs, *carried)}
    given = {name: graph.parameter(name, x) for name, x in parameters.items()}
    try:
        returned = function(graph, _Scalars(before | given))
    except RecordingError:
        raise
    except (TypeError, AttributeError) as error:
        if _is_of_numpy(error):
            raise numpy_called(error) from error
        raise
    try:
        results = dict(returned)
    except (TypeError, ValueError):
        kind = type(returned).__name__
        reason = f"the function returns a {kind}, must be a dict of scalars by name"
        raise RecordingError(reason) from None
    _refuse_twice(graph.given.keys() & before.keys())
    results = {name: _result(graph, name, x) for name, x in results.items()}
    missing = [name for name in carried if name not in results]
    if missing:
        raise ValueError(f"the function returns no new value of {', '.join(missing)}")
    transitions = {name: Carried(before[name], results.pop(name)) for name in carried}
    return Kernel(graph, {name: before[name] for name in inputs}, results, transitions)


class _Scalars(dict[str, Ref]):
    """The scalars of a function by name, which says so where there is none."""

    def __missing__(self, name: Any) -> NoReturn:
        known = ", ".join(self) or "there are none"
        raise RecordingError(f"the function reads {name!r}, which is none of its scalars: {known}")


def _is_of_numpy(error: TypeError | AttributeError) -> bool:
    """Whether it is what numpy says of lists and arrays of scalars, not knowing what a Ref is.

    It asks each for a method of the function's name, or casts the array to one of floats.
    """
    if isinstance(error, AttributeError):
        named = getattr(np, error.name or "", None)
        return isinstance(error.obj, Ref) and isinstance(named, np.ufunc)
    asked = f" of type {Ref.__name__} which has no callable " in str(error)
    return asked or getattr(error, "from_", None) == np.dtype(object)


def _names(what: str, names: Iterable[str]) -> list[str]:
    found = list(names) if isinstance(names, Iterable) else [None]
    if not all(isinstance(name, str) for name in found):
        raise ValueError(f"{what}: must be names, got {names!r}")
    return found


def _refuse_twice(names: Collection[str]) -> None:
    if names:
        raise ValueError(f"names taken twice: {', '.join(sorted(names))}")


def _result(graph: Graph, name: str, x: Any) -> Ref:
    try:
        return graph.own(x)
    except RecordingError as error:
        raise RecordingError(f"result {name}: {error}") from None


# --- results that can be stored -------------------------------------------------------------------


def storable(kernels: Sequence[Kernel], summed: Collection[str] = ()) -> list[Kernel]:
    """Rewrite kernels that share registers so that every result can be stored.

    A carried value is written over its predecessor, so an addition of its own gives it, and all
    readers of the predecessor can come before that one. An early one has an operation of its own,
    of the same kind in all kernels, that nobody waits for. An output is any value that is there at
    the end; by which kind of operation must not differ among the kernels. One that is kept has an
    operation of its own. Where this does not hold a copy is added: x + (-0), which changes no value
    and raises no flag.

    Parameters
    ----------
    kernels : sequence of Kernel
        Segments of one program.
    summed : collection of str
        Kept outputs that an addition must give: other kernels carry them.

    Returns
    -------
    list of Kernel
        With the same results in value. A kernel that needs no copy is returned as it is.
    """
    found = [_with_storable_results(kernel, summed) for kernel in kernels]
    kinds = defaultdict(set)
    for kernel in found:
        for name, kind in result_kinds(kernel).items():
            kinds[name].add(kind)
    mixed = {name for name, some in kinds.items() if len(some) > 1}
    return [_with_copied_outputs(kernel, mixed) for kernel in found]


def result_kinds(kernel: Kernel) -> dict[str, str]:
    """Map each result to the kind of its operation, or to ``name:<owner>``.

    An owner is the leaf or the earlier result that the result is equal to.
    """
    nodes, leaves = kernel.graph.nodes, kernel.leaves
    owners: dict[int, str] = {}
    kinds: dict[str, str] = {}
    for name, ref in kernel.results.items():
        if ref.node in leaves:
            kinds[name] = f"name:{leaves[ref.node]}"
        elif ref.node in owners:
            kinds[name] = f"name:{owners[ref.node]}"
        else:
            owners[ref.node] = name
            kinds[name] = nodes[ref.node].op
    return kinds


def _with_storable_results(kernel: Kernel, summed: Collection[str]) -> Kernel:
    graph, computed = kernel.graph, set(kernel.operations)
    readers = kernel.readers
    after = defaultdict(list, {node: list(some) for node, some in readers.items()})
    for index in kernel.needed:
        if graph.nodes[index].op in ("sin", "cos"):
            after[graph.nodes[index].args[0][0]].append(index)
    taken: set[int] = set()
    replaced = {old.node for old, _ in kernel.carried.values()}

    def is_sum(ref: Ref) -> bool:
        return ref.node in computed and graph.nodes[ref.node].op == "add" and not ref.negative

    def successor(old: Ref, new: Ref) -> Ref:
        waits_for = set(readers.get(old.node, ())) - {new.node}
        own = is_sum(new) and new.node not in taken
        if own and not _following(after, new.node) & waits_for:
            taken.add(new.node)
            for reader in waits_for:
                after[reader].append(new.node)
            return new
        # A copy reads no carried value but its own: then nobody waits for it.
        return _copy(_copy(new) if new.node in replaced - {old.node} else new)

    carried = {
        name: Carried(old, new if name in kernel.early else successor(old, new))
        for name, (old, new) in kernel.carried.items()
    }

    def output(ref: Ref) -> Ref:
        if not ref.negative and ref.node not in replaced:
            return ref
        turned = _negated(kernel, ref)
        return _copy(ref) if turned is None else turned

    def kept(name: str, ref: Ref) -> Ref:
        own = ref.node in computed and ref.node not in taken and not ref.negative
        if own and graph.nodes[ref.node].op in (("add",) if name in summed else RESULTS):
            taken.add(ref.node)
            return ref
        return _copy(ref)

    outputs = {
        name: kept(name, ref) if name in kernel.kept else output(ref)
        for name, ref in kernel.outputs.items()
    }
    return _replaced(kernel, carried, outputs)


def _with_copied_outputs(kernel: Kernel, names: set[str]) -> Kernel:
    outputs = {n: _copy(ref) if n in names else ref for n, ref in kernel.outputs.items()}
    return _replaced(kernel, kernel.carried, outputs)


def _replaced(kernel: Kernel, carried: dict[str, Carried], outputs: dict[str, Ref]) -> Kernel:
    """The kernel with these results; itself if they are what it has."""
    new = replace(kernel, carried=carried, outputs=outputs)
    same = [x.key for x in new.results.values()] == [x.key for x in kernel.results.values()]
    return kernel if same else new


def _copy(ref: Ref) -> Ref:
    """A new operation x + (-0)."""
    graph = ref.graph
    return Ref(graph, graph.append(Node("add", (ref.key, (-graph.const(0.0)).key))))


def _negated(kernel: Kernel, ref: Ref) -> Ref | None:
    """A product or reciprocal that nobody else reads, with its sign in an operand, or None."""
    node = kernel.graph.nodes[ref.node]
    results = [x.node for x in kernel.results.values()]
    if node.op not in ("mul", "rec") or ref.node in kernel.fixed:
        return None
    if kernel.readers.get(ref.node) or results.count(ref.node) > 1:
        return None
    (first, negative), *others = node.args
    turned = Node(node.op, ((first, not negative), *others))
    return Ref(kernel.graph, kernel.graph.append(turned))


def _following(after: Mapping[int, list[int]], start: int) -> set[int]:
    """All nodes that come after a node."""
    seen, stack = set(), [start]
    while stack:
        for node in after[stack.pop()]:
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return seen


# --- several systems ------------------------------------------------------------------------------


def context_name(context: int, name: str) -> str:
    """Name a value of one of several interleaved systems."""
    return f"{context}: {name}"


def interleave(kernels: Sequence[Kernel]) -> Kernel:
    """Make one kernel of several independent ones; names get the system's number in front."""
    whole = Kernel(Graph(), {}, {})
    for context, kernel in enumerate(kernels):
        _add_system(whole, kernel, context)
    return whole


def _add_system(whole: Kernel, kernel: Kernel, context: int) -> None:
    graph = whole.graph
    moved: dict[int, int] = {}

    def ref(old: Ref) -> Ref:
        return Ref(graph, moved[old.node], old.negative)

    def name(own: str) -> str:
        return context_name(context, own)

    for index, node in enumerate(kernel.graph.nodes):
        if node.op == "const":
            args = node.args
        elif node.op in LEAVES:
            args = (name(node.args[0]),)
        else:
            args = tuple((moved[arg], negative) for arg, negative in node.args)
        moved[index] = graph.append(Node(node.op, args))
        if node.op != "const":
            whole.context[moved[index]] = context
    graph.parameters.update((name(own), value) for own, value in kernel.parameters.items())
    whole.inputs.update((name(own), ref(x)) for own, x in kernel.inputs.items())
    whole.outputs.update((name(own), ref(x)) for own, x in kernel.outputs.items())
    whole.carried.update(
        (name(own), Carried(ref(old), ref(new))) for own, (old, new) in kernel.carried.items()
    )


def apart(
    kernels: Mapping[str, Kernel], owners: Mapping[str, str] | None = None
) -> dict[str, Kernel]:
    """Name kernels that one engine holds at once, to tell what they share from what they do not.

    Parameters
    ----------
    kernels : dict
        Name of a program -> Kernel.
    owners : dict, optional
        Name of a program -> whose carried values and parameters it has, such as a robot's name.
        Without it all have the same ones.
    """
    return {
        name: replace(kernel, owner=f"{owners[name]}: " if owners else "")
        for name, kernel in kernels.items()
    }


def listing(kernel: Kernel) -> list[str]:
    """Write the operations of a kernel as text: each line names its result and operands."""
    nodes, names = kernel.graph.nodes, kernel.leaves

    def operand(node: int, negative: bool) -> str:
        return ("-" if negative else "") + names.get(node, f"%{node}")

    lines = []
    for index in kernel.needed:
        node = nodes[index]
        if index not in kernel.fixed and node.op != "input":
            lines.append(f"%{index} = {node.op} " + ", ".join(operand(*arg) for arg in node.args))
    return lines + [f"{name} := {operand(*ref.key)}" for name, ref in kernel.results.items()]
