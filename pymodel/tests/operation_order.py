"""The order of float operations, phase by phase, as formulas that one can read.

Each phase of the algorithm text runs on symbols, nothing shared or folded, and every quantity that
it gives is written with all its brackets. What is too long for that is written function by function
(:mod:`pymodel.tests.operation_texts`). ``operation_order.txt`` holds these formulas as they are
meant to be; after a change on purpose,

    python -m pymodel.tests.operation_order

writes it again. In a formula the operands of a sum or product are sorted, as their order changes no
bit, and a minus sign stands where the text has it, as it is exact. ``v1``, ``v2``, ... are what a
phase uses more than once.
"""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from pymodel.algorithms import drives, integrators, linalg, many_handles, step, sums, two_handles
from pymodel.algorithms.bodies import BodyConstants
from pymodel.algorithms.requests import serve
from pymodel.algorithms.space import Plane, Twist
from pymodel.compile.count import Unpivoted, subdesign_operands
from pymodel.compile.graph import Graph, Ref, symbols
from pymodel.mechanism.scenario import Loop, Table
from pymodel.mechanism.topology import build_tree
from pymodel.tests import operation_texts
from pymodel.tests.chains import random_chain
from pymodel.tests.mechanisms import hang

PINNED = Path(__file__).with_name("operation_order.txt")

Quantities = dict[str, Ref]
Formulas = dict[str, str]  #: name of a quantity -> its formula


# --- formulas -------------------------------------------------------------------------------------


class _Writer:
    """Writes the quantities of one phase as formulas; what is used twice stands before its uses."""

    def __init__(self, graph: Graph, quantities: Quantities) -> None:
        self.nodes = graph.nodes
        self.names: dict[int, str] = {}  # of the nodes that are written already
        self.formulas: Formulas = {}
        self.quantities = {ref.node: name for name, ref in quantities.items() if not ref.negative}
        self.uses = Counter(ref.node for ref in quantities.values())
        for index in graph.reachable(quantities.values()):
            op, args = self.nodes[index]
            if op in ("add", "mul", "rec"):
                self.uses.update(node for node, _ in args)
            elif op in ("sin", "cos"):
                self.uses[self._angle(index)[0]] += 1
        for name, ref in quantities.items():
            text = self._signed(ref.node, ref.negative)
            if name not in self.formulas:
                self.formulas[name] = _without_brackets(text)

    def _angle(self, index: int) -> tuple[int, bool]:
        """Node and sign of what a sine or cosine is of."""
        ((both, _),) = self.nodes[index].args
        return self.nodes[both].args[0]

    def _signed(self, index: int, negative: bool) -> str:
        return ("-" if negative else "") + self._node(index)

    def _node(self, index: int) -> str:
        if index in self.names:
            return self.names[index]
        op, args = self.nodes[index]
        if op in ("input", "parameter"):
            return f"({args[0]})" if " " in args[0] else args[0]
        if op == "const":
            return f"{args[0]:.6g}"
        text = self._operation(index)
        if self.uses[index] > 1 and op in ("add", "mul", "rec"):
            numbered = f"v{1 + sum(name.startswith('v') for name in self.formulas)}"
            name = self.names[index] = self.quantities.get(index, numbered)
            self.formulas[name] = _without_brackets(text)
            return name
        return text

    def _factor(self, index: int, negative: bool) -> str:
        text = self._signed(index, negative)
        product = self.nodes[index].op == "mul" and index not in self.names
        return f"({text})" if product else text

    def _operation(self, index: int) -> str:
        op, args = self.nodes[index]
        if op in ("sin", "cos"):
            return f"{op} {self._factor(*self._angle(index))}"
        if op == "rec":
            return f"(1/{self._factor(*args[0])})"
        if op == "mul":
            return "*".join(sorted(self._factor(*arg) for arg in args))
        terms = sorted((negative, self._node(node)) for node, negative in args)
        (negative, first), (minus, second) = terms
        return f"({'-' if negative else ''}{first} {'-' if minus else '+'} {second})"


def write(graph: Graph, quantities: Quantities) -> Formulas:
    """Write quantities of a graph as formulas.

    Parameters
    ----------
    graph : Graph
    quantities : dict
        Name -> Ref.

    Returns
    -------
    dict
        Name -> formula, of the quantities and of what they use more than once.
    """
    return _Writer(graph, quantities).formulas


def _without_brackets(text: str) -> str:
    """A formula without the brackets around the whole of it."""
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            whole = position == len(text) - 1 and text.startswith("(")
            return text[1:-1] if whole else text
    return text


def _named(name: str, value: Any) -> Quantities:
    """A scalar, vector or matrix as quantities ``name``, ``name[0]``, ``name[0][1]``, ..."""
    if isinstance(value, Ref):
        return {name: value}
    found = {}
    for i, entry in enumerate(value):
        found |= _named(f"{name}[{i}]", entry)
    return found


# --- phases ---------------------------------------------------------------------------------------


def _subdesign(function: Callable, shapes: Sequence) -> tuple[Graph, Quantities]:
    graph = Graph(fold=False)
    result = function(*subdesign_operands(graph, function, shapes))
    matrix = result[0] if function is two_handles.joint_inverse else result
    return graph, _named({"disassemble": "T_1B"}.get(function.__name__, function.__name__), matrix)


def _matrix_and_vector(solve: Callable, n: int) -> tuple[Graph, Quantities]:
    graph = Unpivoted(fold=False)
    x, _ = solve(graph, symbols(graph, "a", (n, n)), symbols(graph, "b", (n,)))
    return graph, _named("x", x)


def _inverse() -> tuple[Graph, Quantities]:
    graph = Unpivoted(fold=False)
    inverse, _ = linalg.inv_ldup(graph, symbols(graph, "a", (3, 3)))
    return graph, _named("inverse", inverse)


def _sums() -> tuple[Graph, Quantities]:
    graph = Graph(fold=False)
    terms = symbols(graph, "x", (7,))
    return graph, _named("prefix_sums", sums.prefix_sums(terms)) | _named(
        "tree_sum", sums.tree_sum(terms)
    )


def _compound(graph: Graph, handles: Sequence[int]) -> many_handles.Compound:
    pairs = [(g, h) for g in handles for h in handles if g <= h]
    return many_handles.Compound(
        {(g, h): symbols(graph, f"xi_{g}{h}", (2, 2)) for g, h in pairs},
        {h: symbols(graph, f"xi_{h}0", (2,)) for h in handles},
    )


def _eliminate(
    parts: Sequence[Sequence[int]], a: int | None, b: int
) -> Callable[[], tuple[Graph, Quantities]]:
    def phase() -> tuple[Graph, Quantities]:
        graph = Graph(fold=False)
        compounds = [_compound(graph, handles) for handles in parts]
        whole, elimination, _ = many_handles.eliminate(graph, compounds, a, b)
        found = _named("matrix", elimination.matrix) | _named("beta_hat", elimination.beta_hat)
        for h, weight in elimination.weights.items():
            found |= _named(f"W_{h}", weight)
        for (g, h), block in whole.xi.items():
            found |= _named(f"new_xi_{g}{h}", block)
        for h, bias in whole.xi_0.items():
            found |= _named(f"new_xi_{h}0", bias)
        return graph, found

    return phase


def _recover() -> tuple[Graph, Quantities]:
    graph = Graph(fold=False)
    weights = {h: symbols(graph, f"W_{h}", (2, 2)) for h in (1, 2, 3)}
    elimination = many_handles.Elimination((), weights, symbols(graph, "beta_hat", (2,)))
    impulses = {h: symbols(graph, f"t_{h}", (2,)) for h in weights}
    return graph, _named("t_b", many_handles.recover(elimination, impulses))


def _free_body() -> tuple[Graph, Quantities]:
    graph = Graph(fold=False)
    scalars = {name: graph.input(name) for name in ("inverse_mass", "inverse_inertia")}
    others = dict.fromkeys(BodyConstants._fields)
    constants = BodyConstants(**(others | scalars))
    levers = [symbols(graph, f"s_{h}C", (2,)) for h in (1, 2)]
    known = Twist(None, (graph.input("net_momentum"),))
    body = step.free_body(constants, Plane(graph), None, levers, known)
    names = two_handles.WORD_NAMES
    return graph, dict(zip(names, two_handles.to_words(body.coefficients()), strict=True))


def _base() -> tuple[Graph, Quantities]:
    graph = Graph(fold=False)
    words = [graph.input(name) for name in two_handles.WORD_NAMES]
    compound = two_handles.from_words(words)
    opened, closed = step.base_open(compound), step.base_closed(compound, "ldl")
    found = _named("open.matrix", opened.matrix) | _named("open.rhs", opened.rhs)
    return graph, found | _named("eta", closed.matrix) | _named("closed.rhs", closed.rhs)


def _rates(rebasing: bool) -> tuple[Graph, Quantities]:
    """A tree of four bodies with a moving pin; the impulses and the free bodies are symbols."""
    graph = Graph(fold=False)
    scenario = hang(random_chain(np.random.default_rng(1), 4), (-1, 0, 0, 1))
    scenario = dataclasses.replace(scenario, loops=(Loop(3, (0.1, 0.2), 2, (0.3, 0.4)),))
    mechanism = step.Mechanism(graph, scenario)
    bodies: list[step.FreeBody] = []
    found: Quantities = {}

    def free_body(
        _: Any, space: Plane, pose: Any, levers: Sequence, known: Twist, drifts_of_joints: Mapping
    ) -> step.FreeBody:
        assert not drifts_of_joints
        k, count = len(bodies), len(levers)
        (net_momentum,) = known.angular
        found.update(_named(f"levers[{k}]", levers) | _named(f"net_momentum[{k}]", net_momentum))
        inverses = (graph.input(f"body[{k}].inverse_{name}") for name in ("mass", "inertia"))
        mass, inertia = inverses
        body = step.FreeBody(space, mass, ((inertia,),), levers, known)
        body.turnings = [symbols(graph, f"body[{k}].turning_{h + 1}", (2, 1)) for h in range(count)]
        bodies.append(body)
        return body

    def impulses(leaves: Sequence, taken: Sequence) -> Iterator:
        yield from ()
        on_bodies = [
            [Twist(symbols(graph, f"T_{h + 1}[{k}]", (2,)), None) for h in range(len(body.levers))]
            for k, body in enumerate(bodies)
        ]
        return on_bodies, symbols(graph, "t_cut", (2,)), None

    mechanism.impulses = impulses
    q, p, t_cut = (symbols(graph, name, (size,)) for name, size in (("q", 4), ("p", 4), ("t", 2)))
    with mock.patch.object(step, "free_body", free_body):
        now = serve(graph, step.rates(mechanism, list(q), list(p), t_cut if rebasing else None))
    if rebasing:
        return graph, _named("p", now.p)
    return graph, found | _named("q_dot", now.q_dot) | _named("p_dot", now.p_dot)


def _integrator(name: str) -> tuple[Graph, Quantities]:
    """One body; the rates of each evaluation are symbols, the states that they are asked for."""
    graph = Graph(fold=False)
    scenario = random_chain(np.random.default_rng(1), 1, integrator=name)
    mechanism = step.prepare(graph, scenario)
    found: Quantities = {}

    def rates(_: Any, q: Sequence, p: Sequence, t_cut: Any = None, time: Any = None) -> Iterator:
        yield from ()
        number = 1 + sum(known.startswith("q") for known in found)
        found.update({f"q at {number}": q[0], f"p at {number}": p[0], f"t at {number}": time})
        slopes = ([graph.input(f"k{number}.{letter}_dot")] for letter in "qp")
        q_dot, p_dot = slopes
        return step.Rates(q_dot, p_dot, p, None, None, q_dot)

    with mock.patch.object(integrators, "rates", rates):
        start = [graph.input("q")], [graph.input("p")]
        steps = integrators.integrate(mechanism, *start, time=graph.input("t"))
        q, p, _ = serve(graph, steps)
    return graph, found | {"new q": q[0], "new p": p[0]}


def _drive(kind: Callable, what: Any) -> Callable[[], tuple[Graph, Quantities]]:
    def phase() -> tuple[Graph, Quantities]:
        graph = Graph(fold=False)
        return graph, {"torque": kind(graph, "torque", what).torque(graph.input("t"))}

    return phase


#: Name of a phase -> what gives its graph and quantities.
PHASES: Mapping[str, Callable[[], tuple[Graph, Quantities]]] = {
    "body update: step.free_body (13)-(19)": _free_body,
    "body update, velocities, loads: step.rates (38)-(51)": lambda: _rates(rebasing=False),
    "re-basing: step.rebased": lambda: _rates(rebasing=True),
    **{
        f"{'assembly' if number else 'disassembly'}: two_handles.{name} ({equation})": (
            lambda function=function, shapes=shapes: _subdesign(function, shapes)
        )
        for name, function, equation, shapes, number in two_handles.SUBDESIGNS
    },
    "base: step.base_open (40), step.base_closed (42), (43)": _base,
    "base, open: linalg.solve_adjugate_2x2": lambda: _matrix_and_vector(
        linalg.solve_adjugate_2x2, 2
    ),
    "base, closed: linalg.solve_ldl": lambda: _matrix_and_vector(linalg.solve_ldl, 4),
    "base, closed: linalg.solve_blocks": lambda: _matrix_and_vector(linalg.solve_blocks, 4),
    "base, closed: linalg.solve_ldup": lambda: _matrix_and_vector(linalg.solve_ldup, 2),
    "inverse: linalg.inv_ldup (60)-(82), no rows exchanged": _inverse,
    "assembly: many_handles.eliminate, two compounds": _eliminate([(0, 2), (1, 3)], 2, 1),
    "assembly: many_handles.eliminate, a loop": _eliminate([(0, 1, 2)], 1, 2),
    "assembly: many_handles.eliminate, the ground": _eliminate([(0, 1)], None, 0),
    "disassembly: many_handles.recover": _recover,
    "torques in time: drives.FormulaDrive": _drive(
        drives.FormulaDrive, "2*sin(3*t) - cos(t)**5/(1 + t)"
    ),
    "torques in time: drives.TableDrive": _drive(
        drives.TableDrive, Table((1.0, 2.0, 4.0), (1.0, 3.0, 2.0))
    ),
    "sums: sums.prefix_sums, sums.tree_sum": _sums,
    **{
        f"integrator: {name}": lambda name=name: _integrator(name)
        for name in integrators.INTEGRATORS
    },
}


def formulas(phase: str) -> Formulas:
    """Write the formulas of a phase.

    Parameters
    ----------
    phase : str
        A key of :data:`PHASES` or of :data:`pymodel.tests.operation_texts.TEXTS`.

    Returns
    -------
    dict
        Name of each quantity, or of a function's operation -> its formula.
    """
    if phase in operation_texts.TEXTS:
        return operation_texts.formulas(phase)
    return write(*PHASES[phase]())


def assembly_trees() -> Formulas:
    """Write the balanced assembly trees of chains."""
    return {f"chain of {n}": repr(build_tree("balanced", n)) for n in range(2, 9)}


#: What stands in the file besides: the balanced assembly trees.
TREES = "order of assembly: topology.build_tree"


def everything() -> dict[str, Formulas]:
    """Write the formulas of all phases, and the assembly trees."""
    found = {phase: formulas(phase) for phase in (*PHASES, *operation_texts.TEXTS)}
    return found | {TREES: assembly_trees()}


#: Functions that take seconds to record.
LONG = {"dFDc", "dHD", "dstepc", "drk4"}


def recorders() -> Iterator[Callable[[], Any]]:
    """List what runs the text of each phase, first what is short and shares least."""
    yield from PHASES.values()
    texts = [
        (name.partition(",")[0] in LONG, record)
        for group in operation_texts.TEXTS.values()
        for name, record in reversed(group.items())
    ]
    for late in (False, True):
        yield from (record for is_long, record in texts if is_long == late)


# --- the file -------------------------------------------------------------------------------------


def pinned() -> dict[str, Formulas]:
    """Read the formulas as they are meant to be: phase -> name -> formula."""
    found: dict[str, Formulas] = {}
    for line in PINNED.read_text().splitlines():
        if line.startswith("## "):
            found[line[3:]] = current = {}
        elif line:
            name, _, formula = line.partition(" = ")
            current[name] = formula
    return found


def main() -> None:
    """Write the file."""
    parts = []
    for phase, lines in everything().items():
        parts.append(f"## {phase}\n")
        parts += [f"{name} = {formula}\n" for name, formula in lines.items()]
        parts.append("\n")
    PINNED.write_text("".join(parts).rstrip("\n") + "\n")
    print(PINNED)


if __name__ == "__main__":
    main()
