"""The tracer: the algorithm text of a whole step as a data-flow graph, ready to be scheduled.

What a program fixes is the topology: how many bodies, how they hang together, which parameters are
zero, the integrator. Masses, lengths, gravity and the step are parameters, loaded when a run
starts.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import NamedTuple

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare
from pymodel.arith.scalars import BitExact
from pymodel.compile.graph import LEAVES, OPERATIONS, Graph, Node, Ref


class Transition(NamedTuple):
    """A state: what the step finds, and what it leaves."""

    old: Ref
    new: Ref


@dataclass(frozen=True)
class Step:
    """A traced step of one or more systems.

    Every output is an addition of its own, and the readers of a state can all come before the
    addition that gives its successor: so that can be written over the state.

    Attributes
    ----------
    graph : Graph
    state : dict
        Name -> :class:`Transition`: ``q[k]``, ``p[k]``, with re-basing ``t_cut[loop].x``, ``.y``.
    observables : dict
        Name -> Ref: ``qd[k]``, and with re-basing ``p_used[k]``, the momenta that they belong to.
    context : dict
        Node -> number of the system it belongs to; empty for a single one.
    """

    graph: Graph
    state: dict
    observables: dict
    context: dict

    @property
    def outputs(self):
        """Everything that the step has to compute, as Refs."""
        return [*(new for _, new in self.state.values()), *self.observables.values()]

    def operations(self):
        """Nodes that a step computes, operands first; not those of parameters alone."""
        nodes, constant = self.graph.nodes, self._constant()
        reachable = self.graph.reachable(self.outputs)
        return [i for i in reachable if nodes[i].op in OPERATIONS and i not in constant]

    def readers(self):
        """{node: operations that read it}."""
        nodes, found = self.graph.nodes, defaultdict(list)
        for index in self.operations():
            for arg, _ in nodes[index].args:
                found[arg].append(index)
        return found

    def _constant(self):
        """Nodes that depend on parameters and constants alone, but for outputs."""
        nodes, found = self.graph.nodes, set()
        computed = {ref.node for ref in self.outputs if nodes[ref.node].op in OPERATIONS}
        for index in self.graph.reachable(self.outputs):  # operands first
            fixed = all(arg in found for arg in self.graph.operands(index))
            if fixed and index not in computed and nodes[index].op != "input":
                found.add(index)
        return found

    def leaves(self):
        """{node: name} of all values that are there before a step, states included."""
        nodes, constant = self.graph.nodes, self._constant()
        names = {}
        for index in self.graph.reachable(self.outputs):
            if nodes[index].op == "input":
                names[index] = nodes[index].args[0]
            elif index in constant:
                names[index] = leaf_name(index, nodes[index])
        return names

    def values(self, fmt):
        """Bits of the parameters: {name: bits}; what depends on parameters alone is computed."""
        arithmetic, nodes = BitExact(fmt), self.graph.nodes
        found, bits = {}, {}

        def operand(arg):
            return -found[arg[0]] if arg[1] else found[arg[0]]

        for index in sorted(self._constant()):
            node = nodes[index]
            if node.op == "parameter":
                found[index] = arithmetic.const(self.graph.parameters[node.args[0]])
            elif node.op == "const":
                found[index] = arithmetic.const(node.args[0])
            elif node.op in ("sin", "cos"):
                found[index] = found[node.args[0][0]][node.op == "cos"]
            else:
                args = [operand(arg) for arg in node.args]
                found[index] = {
                    "add": lambda x, y: x + y,
                    "mul": lambda x, y: x * y,
                    "rec": arithmetic.recip,
                    "sincos": arithmetic.sincos,
                }[node.op](*args)
            if node.op != "sincos":
                bits[leaf_name(index, node)] = found[index].bits
        return bits


def leaf_name(index, node):
    """Name of a parameter, a constant, or what is computed from them."""
    if node.op == "parameter":
        return node.args[0]
    return repr(node.args[0]) if node.op == "const" else f"node {index}"


def t_cut_names(scenario):
    """Names of the impulses on the pins that close the loops, as states of a re-basing run."""
    return [f"t_cut[{loop}].{axis}" for loop in range(len(scenario.loops)) for axis in "xy"]


def trace(scenario, rebasing=False, rebase_now=False, **options):
    """Trace one step of a scenario's mechanism.

    Parameters
    ----------
    scenario : pymodel.mechanism.scenario.Scenario
    rebasing : bool
        The run re-bases momenta in some steps: the impulses on the loops' pins are states.
    rebase_now : bool
        This is the step that does it.
    options
        ``shape``, ``base`` of :func:`pymodel.prepare`.

    Returns
    -------
    Step
    """
    graph = Graph()
    mechanism = prepare(graph, scenario, **options)
    q, p = ([graph.input(f"{name}[{k}]") for k in range(mechanism.size)] for name in "qp")
    t_cut = [graph.input(name) for name in t_cut_names(scenario)] if rebasing else []
    generator = integrate(mechanism, q, p, tuple(t_cut) if rebase_now else None)
    q_new, p_new, rates = serve(graph, generator)
    new = [*q_new, *p_new, *(rates.t_cut if rebasing else ())]
    olds = [*q, *p, *t_cut]
    state = {
        graph.nodes[old.node].args[0]: Transition(old, x) for old, x in zip(olds, new, strict=True)
    }
    observables = {f"qd[{k}]": x for k, x in enumerate(rates.q_dot)}
    if rebasing:
        observables |= {f"p_used[{k}]": x for k, x in enumerate(rates.p)}
    return with_copies(Step(graph, state, observables, {}))


def with_copies(step):
    """The step with outputs copied where they are not what :class:`Step` promises.

    A copy is x + (-0), which changes no value and raises no flag.
    """
    graph, operations = step.graph, set(step.operations())
    minus_zero = -graph.const(0.0)
    readers = step.readers()
    after = defaultdict(list, {node: list(some) for node, some in readers.items()})
    taken = set()

    def copy(ref):
        return Ref(graph, graph.append(Node("add", (ref.key, minus_zero.key))))

    def simple(ref):
        return (
            ref.node in operations - taken
            and graph.nodes[ref.node].op == "add"
            and not ref.negative
        )

    def successor(old, new):
        waits_for = set(readers[old.node]) - {new.node}
        if simple(new) and not _reachable(after, new.node) & waits_for:
            taken.add(new.node)
            for reader in waits_for:
                after[reader].append(new.node)
            return new
        # A copy reads no state but its own: then nobody waits for it.
        is_other_state = graph.nodes[new.node].op == "input" and new.node != old.node
        return copy(copy(new) if is_other_state else new)

    state = {name: Transition(old, successor(old, new)) for name, (old, new) in step.state.items()}
    observables = {}
    for name, ref in step.observables.items():
        observables[name] = ref if simple(ref) else copy(ref)
        taken.add(ref.node)
    return replace(step, state=state, observables=observables)


def _reachable(after, start):
    """All nodes that come after a node."""
    seen, stack = set(), [start]
    while stack:
        for node in after[stack.pop()]:
            if node not in seen:
                seen.add(node)
                stack.append(node)
    return seen


def context_name(context, name):
    """Name of a value of one of several interleaved systems."""
    return f"{context}: {name}"


def interleave(steps):
    """One step of several independent systems; their names get the system's number in front."""
    whole = Step(Graph(), {}, {}, {})
    for context, step in enumerate(steps):
        _add_system(whole, step, context)
    return whole


def _add_system(whole, step, context):
    graph, moved = whole.graph, {}

    def ref(old):
        return Ref(graph, moved[old.node], old.negative)

    def name(own):
        return context_name(context, own)

    for index, node in enumerate(step.graph.nodes):
        if node.op == "const":
            moved[index] = graph.const(node.args[0]).node
            continue
        if node.op in LEAVES:
            args = (name(node.args[0]),)
        else:
            args = tuple((moved[arg], negative) for arg, negative in node.args)
        moved[index] = graph.append(Node(node.op, args))
        whole.context[moved[index]] = context
    graph.parameters.update((name(own), value) for own, value in step.graph.parameters.items())
    whole.state.update(
        (name(own), Transition(ref(old), ref(new))) for own, (old, new) in step.state.items()
    )
    whole.observables.update((name(own), ref(value)) for own, value in step.observables.items())


def listing(step):
    """The operations of a step as text: a list of lines, each names its result and operands."""
    nodes, names = step.graph.nodes, step.leaves()

    def operand(node, negative):
        return ("-" if negative else "") + names.get(node, f"%{node}")

    lines = []
    for index in step.graph.reachable(step.outputs):
        node = nodes[index]
        if index not in names:
            lines.append(f"%{index} = {node.op} " + ", ".join(operand(*arg) for arg in node.args))
    outputs = {name: new for name, (_, new) in step.state.items()} | step.observables
    return lines + [f"{name} := {operand(*ref.key)}" for name, ref in outputs.items()]
