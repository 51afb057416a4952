"""The order of float operations of whole texts, function by function.

What a robot's function or a mechanism in space does is too long as formulas of its inputs. Here
each operation belongs to the function of the text that asks for it (``dot``, ``tree_sum`` and the
like do theirs for their caller), and stands in a formula of what this function takes. ``a``, ``b``,
... are any operands, so that most formulas occur many times. What the formulas do not show is in
digests: of each function which operands its formulas take, of its own and of which other functions;
of each text its results, down to the inputs.
"""

import hashlib
import itertools
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from pymodel import algorithms
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import serve
from pymodel.algorithms.rigid_body import branches, control, functions, segments, solved_columns
from pymodel.algorithms.rigid_body.mass_matrix import factorised
from pymodel.algorithms.rivals.acceleration_dca import accelerations
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.terms import Terms
from pymodel.compile.graph import LEAVES, Graph, Node, Ref, flatten, symbols
from pymodel.mechanism import robot_file
from pymodel.mechanism.loop import LOOPS, POINTS, WELD
from pymodel.mechanism.robot import FIXED_BASE, Robot, at_link
from pymodel.mechanism.robot_bodies import ground_under
from pymodel.mechanism.scenario import (
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Curve,
    Loop,
    Mimic,
    Scenario,
    Spring,
    Table,
)
from pymodel.tests.space import random_mechanism
from pymodel.tests.thin import point_slider, shaft_and_arm
from pymodel.tests.trees import random_robot

ALGORITHMS = Path(algorithms.__file__).parent
FILES = Path(__file__).parents[2] / "robots"
HELPERS = ("linalg", "sums", "vectors")  #: modules that do operations for their callers

Recorded = tuple["Recording", Mapping[str, Ref]]  #: and its results


class Recording(Graph):
    """A graph of all operations, nothing shared, that knows which function asked for each."""

    def __init__(self) -> None:
        super().__init__(fold=False)
        self.calls: dict[int, FrameType | None] = {}  # node -> call of a function

    def append(self, node: Node) -> int:
        """Add a node; see :class:`pymodel.compile.graph.Graph`."""
        index = super().append(node)
        if node.op not in LEAVES:
            self.calls[index] = _asking(sys._getframe(1))
        return index


#: id of a code -> what :func:`_name` gives; to hash a code takes longer than all else here.
_NAMES: dict[int, str] = {}


def _asking(frame: FrameType | None) -> FrameType | None:
    """The innermost call of a function of the algorithm text, helpers and comprehensions aside."""
    while frame is not None:
        code = frame.f_code
        name = _NAMES.get(id(code))
        if name is None:
            name = _NAMES[id(code)] = _name(code)
        if name:
            return frame
        frame = frame.f_back
    return None


def _name(code: CodeType) -> str:
    """``module.function`` of a function of the text; nothing of all others."""
    path = Path(code.co_filename)
    if ALGORITHMS not in path.parents or path.stem in HELPERS or code.co_name.startswith("<"):
        return ""
    return f"{path.stem}.{code.co_qualname.replace('.<locals>', '')}"


def _function_of(call: FrameType | None) -> str:
    return "results" if call is None else _NAMES[id(call.f_code)]


class _Functions:
    """What the functions of a recording do, in formulas of what they take."""

    def __init__(self, graph: Recording, results: Mapping[str, Ref]) -> None:
        self.nodes, self.calls = graph.nodes, graph.calls
        self.reached = graph.reachable(results.values())
        readers = defaultdict(list)
        for index in self.reached:
            for operand in graph.operands(index):
                readers[operand].append(self.calls[index])
        given = {ref.node for ref in results.values()}
        #: written where it is read: by one operation, of the same call
        self.inline = {
            index
            for index, call in self.calls.items()
            if readers[index] == [call] and index not in given
            if self.nodes[index].op not in ("sin", "cos")
        }
        self.shapes: dict[int, str] = {}  # of what is written inline, with "_" for operands
        self.digests: dict[int, str] = {}  # of all down to the inputs
        self.own: dict[int, str] = {}  # of all down to what other calls give
        for index in self.reached:
            self.digests[index] = self._digest(index, self.digests.__getitem__)
            self.own[index] = self._digest(index, partial(self._of_call, self.calls.get(index)))
            if index in self.inline:
                self.shapes[index] = self._operation(index, lambda node: self.shapes.get(node, "_"))

    def _digest(self, index: int, of: Callable[[int], str]) -> str:
        op, args = self.nodes[index]
        if op not in LEAVES:  # operands in any order: it changes no bit
            args = sorted((of(node), negative) for node, negative in args)
        return _digest([op, *map(str, args)])

    def _of_call(self, call: FrameType | None, operand: int) -> str:
        giver = self.calls.get(operand, call)
        return self.own[operand] if giver is call else _function_of(giver)

    def _operation(self, index: int, text: Callable[[int], str]) -> str:
        """An operation; ``text`` gives its operands, without brackets around them."""
        op, args = self.nodes[index]
        args = sorted(args, key=lambda arg: (arg[1], self.shapes.get(arg[0], "_")))
        texts = [self._operand(node, op, text) for node, _ in args]
        if op == "add":
            first, second = ("-" if negative else "+" for _, negative in args)
            return f"{first.strip('+')}{texts[0]} {second} {texts[1]}"
        signs = ["-" if negative else "" for _, negative in args]
        texts = [sign + x for sign, x in zip(signs, texts, strict=True)]
        return {"mul": "*".join(texts), "rec": f"1/{texts[0]}"}.get(op) or f"{op} {texts[0]}"

    def _operand(self, index: int, reader: str, text: Callable[[int], str]) -> str:
        op, args = self.nodes[index]
        if index in self.inline:
            found = text(index)
            return found if (op, reader) == ("mul", "add") else f"({found})"
        if op == "const":
            return f"{args[0]:.6g}"
        return op if op in ("sin", "cos") else text(index)

    def _formula(self, index: int) -> str:
        """What one operation and those written inline do."""
        letters: dict[int, str] = {}

        def text(node: int) -> str:
            if node in self.inline:
                return self._operation(node, text)
            return letters.setdefault(node, _letter(len(letters)))

        return self._operation(index, text)

    def formulas(self) -> dict[str, list[str]]:
        """Function -> its formulas, each once, in the order in which they come."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        for index, function in self._operations():
            found[function] |= {} if index in self.inline else {self._formula(index): None}
        return {function: list(some) for function, some in found.items()}

    def operands(self) -> dict[str, str]:
        """Function -> digest of what its formulas take."""
        found = defaultdict(list)
        for index, function in self._operations():
            found[function].append(self.own[index])
        return {function: _digest(sorted(some)) for function, some in found.items()}

    def results(self, results: Mapping[str, Ref]) -> str:
        """Digest of results."""
        signed = ((name, self.digests[x.node], str(x.negative)) for name, x in results.items())
        return _digest(itertools.chain(*sorted(signed)))

    def _operations(self) -> Iterator[tuple[int, str]]:
        for index in self.reached:
            if self.nodes[index].op not in (*LEAVES, "sin", "cos"):
                yield index, _function_of(self.calls[index])


def _letter(number: int) -> str:
    letter = chr(ord("a") + number % 26)
    return letter + (str(number // 26) if number >= 26 else "")


def _digest(parts: Any) -> str:
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=6).hexdigest()


def write(texts: Iterable[tuple[str, Graph, Mapping[str, Ref]]]) -> dict[str, str]:
    """Write what the functions of some texts do.

    Parameters
    ----------
    texts : iterable of tuple
        Name, Recording, and {name: Ref} of the results.

    Returns
    -------
    dict
        ``function n`` -> formula; ``function, operands`` and ``text, results`` -> digest.
    """
    formulas: dict[str, dict[str, None]] = defaultdict(dict)
    operands, results = defaultdict(list), {}
    for name, graph, refs in texts:
        text = _Functions(graph, refs)
        for function, some in text.formulas().items():
            formulas[function] |= dict.fromkeys(some)
        for function, digest in text.operands().items():
            operands[function].append(digest)
        results[f"{name}, results"] = text.results(refs)
    found = {}
    for function, some in formulas.items():
        found |= {f"{function} {number}": text for number, text in enumerate(some, start=1)}
        found[f"{function}, operands"] = _digest(operands[function])
    return found | results


# --- robots ---------------------------------------------------------------------------------------


def _robot(floating: bool, *links: tuple[str, int, bool]) -> Robot:
    """Nothing special about it; ``links`` are kind, parent, and whether the drive has inertia."""
    robot = random_robot(1, floating + len(links), floating=floating)
    base, rest = robot.links[:floating], robot.links[floating:]
    rest = [
        replace(link, kind=kind, parent=parent, armature=0.1 * armature)
        for link, (kind, parent, armature) in zip(rest, links, strict=True)
    ]
    return replace(robot, links=(*base, *rest))


#: Joints of both kinds on the ground and on each other, forks, and a long branch for segments.
ROBOTS = {
    "fixed base": _robot(
        False,
        *(("prismatic", FIXED_BASE, False), ("revolute", 0, True), ("prismatic", 1, False)),
        *(("revolute", 2, False), ("revolute", FIXED_BASE, True)),
    ),
    "floating base": _robot(
        True, ("revolute", 0, False), ("prismatic", 1, True), ("revolute", 0, True)
    ),
}


@cache
def _file(name: str, floating: bool = False) -> Robot:
    """A robot of a file, with all that resists."""
    robot = robot_file.load(FILES / name, floating, damping=True, armature=0.1)
    friction = {"friction": 0.3, "friction_scale": 0.05}
    own = {k: {} if link.kind == "free" else friction for k, link in enumerate(robot.links)}
    links = (replace(link, **own[k]) for k, link in enumerate(robot.links))
    return replace(robot, links=tuple(links))


def _closed(kind: str) -> Robot:
    """A leg with a loop of a kind, all of whose constraints are kept, with gains, and a slide."""
    robot = _file("closed_leg.urdf", floating=kind == WELD)
    *links, last = robot.links
    robot = replace(robot, links=(*links, replace(last, kind="prismatic")))
    held = {"kind": kind, "rows": tuple(range(LOOPS[kind])), "gains": (100.0, 20.0)}
    return replace(robot, loops=tuple(replace(loop, **held) for loop in robot.loops))


def _held_to_the_ground(kind: str) -> Robot:
    """A leg on a floating base, its rod held by a loop of a kind, with gains."""
    robot = _file("closed_leg.urdf", floating=True)
    held = {"kind": kind, "rows": tuple(range(LOOPS[kind])), "gains": (100.0, 20.0)}
    loops = [replace(x, links=(x.links[0], FIXED_BASE), **held) for x in robot.loops]
    return replace(robot, loops=tuple(loops))


def _held(robot: Robot) -> Robot:
    """With a given acceleration of the second joint, in the middle of the tree."""
    return replace(robot, fixed_acceleration=(robot.first + 1,))


def _tilted() -> Robot:
    """The floating base under a gravity that has a component along each axis."""
    return replace(ROBOTS["floating base"], ground=ground_under(np.array((1.0, 2.0, -3.0))))


#: Functions that a fixed base makes only shorter; what they are made of is in the others.
SAME_TEXT = ("Minv", "dFD", "diFD")


def _inputs(graph: Graph, names: Sequence[str]) -> dict[str, Ref]:
    return {name: graph.input(name) for name in names}


def _function(robot: Robot, name: str, method: str) -> Recorded:
    graph = Recording()
    external = (robot.first, robot.first + 1) if functions.ALL[name].forces else ()
    if functions.ALL[name].link == functions.NEEDS_LINK:
        robot = at_link(robot, robot.links[-1].name)
    values = _inputs(graph, functions.inputs(robot, name, external))
    return graph, functions.evaluate(name, robot, graph, values, method, external, True)


def _segments(robot: Robot) -> Recorded:
    """The first segment of dFD and one repeat of each group."""
    graph = Recording()
    values = _inputs(graph, functions.inputs(robot, "dID"))
    entries = functions.evaluate("dID", robot, graph, values)
    groups, graph = segments.groups(robot, entries), Recording()
    values = _inputs(graph, functions.inputs(robot, "dFD"))
    found = segments.first(robot, groups, graph, values, parameters_as_data=True)
    factors = [name for name in found if name.startswith(segments.FACTORS)]
    for group in groups:
        names = [*factors, *(group.taken(0, *place) for place in group.places())]
        names += [group.carried(*place) for place in group.places() if group.ahead]
        after = segments.repeated(robot, group, graph, _inputs(graph, names))
        found |= {f"{name} of {group.number}": x for name, x in after.items()}
    return graph, found


def _columns(robot: Robot) -> Recorded:
    """DFD but for its columns, and a column."""
    graph = Recording()
    values = _inputs(graph, functions.inputs(robot, "dFD"))
    found = solved_columns.first(robot, graph, values, parameters_as_data=True)
    one = solved_columns.solved(robot)[-1]
    common = [name for name in found if not name.startswith(("dtau", "dqdd"))]
    names = [*common, *(one.torque(row) for row in range(robot.nv))]
    after = solved_columns.column(robot, one, graph, _inputs(graph, names), True)
    return graph, found | {f"{name} solved": x for name, x in after.items()}


def _closed_loop(robot: Robot) -> Recorded:
    graph = Recording()
    names = [
        f"{name}{k}" for name in (*control.CARRIED, *control.SETTINGS) for k in range(robot.nv)
    ]
    return graph, control.closed_loop(robot, graph, _inputs(graph, [*names, control.STEP]))


def _branches() -> Recorded:
    """M x = b on a tree with a fork."""
    graph, ancestors = Recording(), [(), (0,), (1, 0), (2, 1, 0), (0,)]
    terms = Terms(graph)
    matrix = {
        (k, i): terms.given(graph.input(f"M{k}_{i}"))
        for k, above in enumerate(ancestors)
        for i in (k, *above)
    }
    b = [terms.given(graph.input(f"b{k}")) for k in range(len(ancestors))]
    parts = branches.blocks(branches.branches(ancestors), factorised(ancestors, matrix))
    x = terms.results(branches.joined(parts, branches.released(parts, b)))
    return graph, {f"x{k}": ref for k, ref in enumerate(x)}


# --- mechanisms -----------------------------------------------------------------------------------


def _mechanism(
    spatial: bool, *bodies: tuple[str, int], **keys: tuple[Loop | Spring, ...]
) -> Scenario:
    """Nothing special about it; ``bodies`` are joint and parent. Its loops need not close.

    Pins in the plane stand parallel, as those of the paper.
    """
    rng, pins = (
        np.random.default_rng(1),
        not spatial and {joint for joint, _ in bodies} == {REVOLUTE},
    )
    found = []
    for joint, parent in bodies:
        drawn = None
        while drawn is None or drawn.joint != joint:
            scenario = random_mechanism(rng, 2, spatial, (REVOLUTE, joint), (GROUND, GROUND))
            drawn = scenario.bodies[1]
        found.append(replace(drawn, parent=parent, **({"rotation": 0.0} if pins else {})))
    return replace(scenario, bodies=tuple(found), **keys)


def _driven(scenario: Scenario) -> Scenario:
    """With a table in time as the torque of the last joint."""
    *bodies, last = scenario.bodies
    torque = Table((1.0, 2.0, 4.0), (1.0, 3.0, 2.0))
    return replace(scenario, bodies=(*bodies, replace(last, torque=torque)))


def _moved(scenario: Scenario, motion: str | Curve = "0.3*t**7 + sin(2*t)") -> Scenario:
    """With a motion of the first joint and friction in the second."""
    first, second, *bodies = scenario.bodies
    first = replace(first, motion=motion)
    second = replace(second, friction=2.0, friction_scale=0.05)
    return replace(scenario, bodies=(first, second, *bodies))


def _geared(scenario: Scenario) -> Scenario:
    """With joints that mimic the second one."""
    first, second, third, *bodies = scenario.bodies
    first = replace(first, mimic=Mimic(1, 0.7, 0.2))
    third = replace(third, mimic=Mimic(1, -3.0, 0.1))
    return replace(scenario, bodies=(first, second, third, *bodies))


def _ends(body: int, to: int, size: int = 3) -> tuple:
    """Where a loop or spring holds its bodies."""
    point, at = (0.1, 0.2, 0.3), (0.4, -0.5, 0.6)
    return body, point[:size], to, at[:size]


TREE = ((FREE, GROUND), (REVOLUTE, 0), (PRISMATIC, 1), (SPHERICAL, 2), (FIXED, 3))
PLANE = ((FREE, GROUND), (REVOLUTE, 0), (PRISMATIC, 1), (FIXED, 2), (PRISMATIC, GROUND))
PINS = ((REVOLUTE, GROUND), (REVOLUTE, 0))
AXES = ((0.0, 0.6, 0.8), (0.6, 0.0, 0.8))

#: Stiffness, natural length, damping: each text of a spring.
PULLS = ((40.0,), (40.0, 0.5), (0.0, 0.0, 3.0), (40.0, 0.5, 3.0))

MECHANISMS = {
    "tree in space": _mechanism(True, *TREE, (PRISMATIC, GROUND)),
    "loops in space": _mechanism(
        True,
        *((REVOLUTE, GROUND), (SPHERICAL, 0)),
        loops=(
            Loop(*_ends(1, GROUND), REVOLUTE, *AXES),
            Loop(*_ends(1, 0), REVOLUTE, *AXES),
            Loop(*_ends(0, 1), REVOLUTE, *AXES, kept=(0, 2, 3)),
        ),
    ),
    "springs in space": _mechanism(
        True,
        *((FREE, GROUND), (PRISMATIC, 0), (PRISMATIC, GROUND)),
        springs=tuple(
            Spring(*_ends(*ends), *pull)
            for ends, pull in zip(((1, GROUND), (0, 2), (1, 0), (2, 1)), PULLS, strict=True)
        ),
    ),
    "tree in the plane": _driven(_mechanism(False, *PLANE)),
    "loops in the plane": _mechanism(
        False,
        *((REVOLUTE, GROUND), (PRISMATIC, 0), (FIXED, 1), (PRISMATIC, GROUND)),
        loops=(Loop(*_ends(2, GROUND, 2)), Loop(*_ends(3, 0, 2))),
    ),
    "chain of pins with springs": _mechanism(
        False,
        *PINS,
        springs=tuple(
            Spring(*_ends(1, to, 2), *pull) for to, pull in zip((0, GROUND) * 2, PULLS, strict=True)
        ),
    ),
    "moved and resisting in the plane": _moved(
        _mechanism(False, *((REVOLUTE, GROUND), (PRISMATIC, 0), (REVOLUTE, 1)))
    ),
    "moved and resisting in space": _moved(
        _mechanism(True, *((REVOLUTE, GROUND), (PRISMATIC, 0), (SPHERICAL, 1)))
    ),
    "moved along a curve": _moved(
        _mechanism(False, *((REVOLUTE, GROUND), (PRISMATIC, 0))),
        Curve((0.0, 1.0, 2.5, 4.0), (0.1, 0.3, -2.0, 1.5)),
    ),
    "geared in space": _geared(
        _mechanism(True, *((REVOLUTE, GROUND), (PRISMATIC, 0), (REVOLUTE, 1), (SPHERICAL, 2)))
    ),
    "closed chain of pins": _mechanism(False, *PINS, loops=(Loop(*_ends(1, GROUND, 2)),)),
}


def _state(graph: Graph, scenario: Scenario, *names: str) -> Iterator[list[Ref]]:
    sizes = zip(names, (scenario.nq, scenario.nv), strict=False)
    return (list(symbols(graph, name, (size,))) for name, size in sizes)


def _fields(found: NamedTuple) -> dict[str, Ref]:
    parts = found._asdict().items()
    return {f"{name}[{k}]": x for name, part in parts for k, x in enumerate(flatten(part))}


def _rates(scenario: Scenario) -> Recorded:
    """With loops re-based, too."""
    graph = Recording()
    mechanism = prepare(graph, scenario)
    q, p = _state(graph, scenario, "q", "p")
    t_cut = None
    if scenario.loops:
        held = scenario.constraints[len(scenario.bodies) :]
        t_cut = symbols(graph, "t_cut", (sum(map(sum, held)),))
    time = mechanism.time(graph.input("step's number"))
    return graph, _fields(serve(graph, rates(mechanism, q, p, t_cut, time)))


def _placed(scenario: Scenario) -> Recorded:
    graph = Recording()
    mechanism = prepare(graph, scenario)
    (q,) = _state(graph, scenario, "q")
    found = mechanism.placed(q, mechanism.time(graph.input("step's number")))
    return graph, {f"q[{k}]": x for k, x in enumerate(found)}


def _projected(scenario: Scenario) -> Recorded:
    graph = Recording()
    mechanism = prepare(graph, scenario, project=1)
    q, p = serve(graph, projected(mechanism, *_state(graph, scenario, "q", "p")))
    return graph, {f"{name}[{k}]": x for name, y in (("q", q), ("p", p)) for k, x in enumerate(y)}


def _accelerations(scenario: Scenario) -> Recorded:
    graph = Recording()
    q, q_dot = _state(graph, scenario, "q", "q_dot")
    mechanism = prepare(graph, scenario)
    time = mechanism.time(graph.input("step's number"))
    found = serve(graph, accelerations(mechanism, q, q_dot, time))
    return graph, _fields(found)


#: What belongs together -> name of a text -> what records it.
TEXTS: Mapping[str, Mapping[str, Callable[[], Recorded]]] = {
    "mechanisms: step.rates": {
        name: partial(_rates, scenario) for name, scenario in MECHANISMS.items()
    },
    "mechanisms: step.Mechanism.placed": {
        name: partial(_placed, MECHANISMS[name])
        for name in ("moved along a curve", "geared in space")
    },
    "mechanisms: projection.projected": {
        name: partial(_projected, scenario)
        for name, scenario in MECHANISMS.items()
        if scenario.loops
    },
    "robots: rigid_body": {
        **{
            f"{name}{method and ' by '}{method}, {base}": partial(_function, robot, name, method)
            for name, signature in functions.ALL.items()
            if name not in functions.HYBRID and not name.endswith("stepc")
            for method in signature.methods
            for base, robot in ROBOTS.items()
            if (base == "floating base" or name not in SAME_TEXT)
        },
        **{f"dFD in segments, {base}": partial(_segments, robot) for base, robot in ROBOTS.items()},
        **{f"dFD by columns, {base}": partial(_columns, robot) for base, robot in ROBOTS.items()},
        "closed loop": partial(_closed_loop, ROBOTS["fixed base"]),
        "branches": _branches,
    },
    "robots with joints of all kinds: rigid_body": {
        f"{name}, {file}": partial(_function, _file(f"{file}.urdf"), name, "")
        for file in ("gripper", "mobile_arm", "tethered")
        for name in ("ID", "FD", "dID", "J")
    },
    "robots with loops: rigid_body": {
        f"{name}, {kind}": partial(_function, _closed(kind), name, "")
        for kind in LOOPS
        for name in functions.CONSTRAINED
        if kind == POINTS or not name.endswith("stepc")
    },
    "robots held to the ground: rigid_body": {
        f"{name}, {kind}": partial(_function, _held_to_the_ground(kind), name, "")
        for name, kind in (("FDc", POINTS), ("dFDc", POINTS), ("FDc", WELD))
    },
    "robots with given accelerations: rigid_body": {
        f"{name}, {base}": partial(_function, _held(robot), name, "")
        for base, robot in (*ROBOTS.items(), ("gripper", _file("gripper.urdf")))
        for name in functions.HYBRID
    },
    "robots under any gravity: rigid_body": {
        "ID, floating base": partial(_function, _tilted(), "ID", ""),
    },
    "forces of joints: rivals.acceleration_dca": {
        **{
            name: partial(_accelerations, MECHANISMS[name])
            for name in (
                *("tree in space", "springs in space"),
                *("loops in the plane", "chain of pins with springs"),
            )
        },
        "moved along a curve": partial(_accelerations, MECHANISMS["moved along a curve"]),
        "moved and resisting": partial(_accelerations, MECHANISMS["moved and resisting in space"]),
        "inertia that is lent": partial(_accelerations, shaft_and_arm(1e-6)),
        "inertia that is lent, in the plane": partial(_accelerations, point_slider()),
    },
}


def formulas(group: str) -> dict[str, str]:
    """Write a group of :data:`TEXTS`; see :func:`write`."""
    return write((name, *record()) for name, record in TEXTS[group].items())
