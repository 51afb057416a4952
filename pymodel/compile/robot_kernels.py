"""Kernels of a robot's rigid-body functions, and the formulation with the fewest operations."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body import control, segments, solved_columns
from pymodel.algorithms.rigid_body.functions import (
    ARTICULATED,
    INVERSE_FACTORS,
    columns,
    evaluate,
    inputs,
    methods,
)
from pymodel.compile import recording_limit
from pymodel.compile.chains import Chain, Part, Stage
from pymodel.compile.count import LATENCY
from pymodel.compile.graph import OPERATIONS, Graph
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.recording_limit import TooManyOperationsError, limited
from pymodel.compile.streams import numbered
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import REVOLUTE, Robot, kept_with_robot, one_line

#: Links whose operations those of many are estimated from: they are of degree 3 at most.
FIRST = (8, 16, 24, 32)
BY_COLUMNS = "articulated bodies, column by column"  #: how :func:`in_columns` evaluates
#: Products of forward dynamics by articulated bodies, a degree of freedom, at most: robots of all
#: kinds have no more than 400 (pymodel/tests/compile/test_robot_kernels.py).
PRODUCTS_OF_A_JOINT = 500
SHORT = 8  #: links of a chain of which all methods are recorded


class Count(NamedTuple):
    """Operations of a function.

    Attributes
    ----------
    mul, add, rec, sincos : int
    path : int
        Longest path of dependencies, cycles at :data:`pymodel.compile.count.LATENCY`.
    method : str
        How the function is evaluated, where there is a choice.
    """

    mul: int
    add: int
    rec: int
    sincos: int
    path: int
    method: str


@kept_with_robot
def recorded(
    robot: Robot,
    function: str,
    method: str | None = None,
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> Kernel:
    """Record a function of a robot.

    Parameters
    ----------
    robot : Robot
        As :func:`pymodel.algorithms.rigid_body.functions.suited` gives it, or any for the seven.
    function : str
        A key of :data:`pymodel.algorithms.rigid_body.functions.ALL`.
    method : str, optional
        Default: :func:`cheapest`.
    external : tuple of int
        Links on which external wrenches act: six more inputs each.
    parameters_as_data : bool
        The robot's numbers are parameters of the kernel, each with its name, so that a robot of the
        same structure needs no other program.

    Returns
    -------
    Kernel
        Its outputs are the columns that are not zero by structure; of a symmetric matrix the lower
        triangle.

    Raises
    ------
    pymodel.compile.recording_limit.TooManyOperationsError
        If it has too many operations, by an estimate for robots of many links.
    """
    if method is None:
        method = cheapest(robot, function, external)
        return recorded(robot, function, method, external, parameters_as_data)

    def text(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return evaluate(function, robot, arithmetic, values, method, external, parameters_as_data)

    expected = estimated(robot, function, method, external, parameters_as_data)
    graph = limited(Graph(), _named(robot, function), expected)
    return record(text, inputs(robot, function, external), graph=graph)


def _named(robot: Robot, function: str) -> str:
    return f"{function} of {one_line(robot.name)}"


@kept_with_robot
def estimated(
    robot: Robot,
    function: str,
    method: str,
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> int:
    """Operations of a function of a robot of many links; 0 if it has few, which are just recorded.

    By those of the robot's first links: exact for a chain of equal joints.
    """
    if len(robot.links) <= recording_limit.FEW:
        return 0
    counts = _first_counts(robot, function, method, external, parameters_as_data)
    return _extrapolated(robot, counts, "nodes")


def _extrapolated(robot: Robot, counts: Sequence[Counter[str]], what: str) -> int:
    sizes = _cuts(robot)[: len(counts)]
    return recording_limit.extrapolated(sizes, [x[what] for x in counts], len(robot.links))


def _cuts(robot: Robot) -> list[int]:
    """As :data:`FIRST`, but no joint of several degrees of freedom is cut."""
    parts = [link.part.index if link.part else 0 for link in robot.links]
    return [size - parts[size] for size in FIRST]


@kept_with_robot
def _first_counts(
    robot: Robot,
    function: str,
    method: str,
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> list[Counter[str]]:
    """Operations, and ``nodes``, of a robot's first links, as many as :data:`FIRST` says.

    Where these have many themselves, of no more than show that all have too many.
    """
    found: list[Counter[str]] = []
    for size in _cuts(robot):
        first = replace(
            robot,
            links=robot.links[:size],
            mimics={k: x for k, x in robot.mimics.items() if max(k, x.of) < size},
            loops=tuple(loop for loop in robot.loops if max(loop.links) < size),
            fixed_acceleration=tuple(k for k in robot.fixed_acceleration if k < size),
        )
        if robot.frame and robot.frame.carrier >= size:
            first = replace(first, frame=replace(robot.frame, carrier=size - 1))
        own = tuple(link for link in external if link < size)
        kernel = recorded(first, function, method, own, parameters_as_data)
        found.append(operations(kernel) | Counter(nodes=len(kernel.graph.nodes)))
        most = recording_limit.MOST
        is_large = len(found) > 1 and found[-1]["nodes"] > most // 10
        if is_large and _extrapolated(robot, found, "nodes") > most:
            break
    return found


@kept_with_robot
def chained(robot: Robot, external: Sequence[int] = (), parameters_as_data: bool = False) -> Chain:
    """Record dFD in segments, for an array: see :mod:`pymodel.algorithms.rigid_body.segments`.

    Parameters
    ----------
    robot, external, parameters_as_data
        As for :func:`recorded`.

    Returns
    -------
    Chain
        Its outputs are columns of the derivatives in the order in which they are found. An entry
        that is zero by structure is among them where those of other columns of its group are not.
    """
    groups = segments.groups(robot, recorded(robot, "dID", external=external).outputs)

    def first(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return segments.first(robot, groups, arithmetic, values, external, parameters_as_data)

    kernel = _with_signs(record(first, inputs(robot, "dFD", external)))
    factors = [name for name in kernel.outputs if name.lstrip("-").startswith(segments.FACTORS)]
    scratch = numbered(
        (
            group.taken(repeat, *place)
            for group in groups
            for repeat in range(len(group.columns))
            for place in group.places()
        ),
        scratch=True,
    )
    stream = numbered(
        [name for name in kernel.outputs if name.startswith("dqdd")]
        + [
            columns[m].acceleration(row)
            for group in groups
            for columns in group.columns
            for m, row in group.results()
        ]
    )
    found = {name: (scratch | stream)[name] for name in kernel.outputs if name in scratch | stream}
    stages = {"": Stage(kernel, numbered(kernel.inputs), found)}
    parts = [Part("")]
    for group in groups:
        taken = [group.taken(0, *place) for place in group.places()]
        given = [group.columns[0][m].acceleration(row) for m, row in group.results()]
        column = record(
            partial(segments.repeated, robot, group),
            inputs=[*factors, *taken],
            carried=[group.carried(*place) for place in group.places() if group.ahead],
        )
        name = f"columns {group.number}"
        loads, stores = ({x: s[x] for x in some} for some, s in ((taken, scratch), (given, stream)))
        stages[name] = Stage(column, loads, stores)
        parts.append(Part(name, len(group.columns), len(taken), len(given)))
    parts[-1] = parts[-1]._replace(emit=True)
    return Chain(stages, tuple(parts), tuple(kernel.inputs), tuple(stream))


@kept_with_robot
def evaluable(
    robot: Robot,
    function: str,
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> Kernel | Chain:
    """What :func:`recorded` gives, or of dFD of too many operations :func:`in_columns`.

    Raises
    ------
    pymodel.compile.recording_limit.TooManyOperationsError
        As those, of joints that follow others and of loops, too.
    """
    try:
        return recorded(robot, function, None, external, parameters_as_data)
    except TooManyOperationsError:
        if not _has_columns(robot, function):
            raise
    return in_columns(robot, external, parameters_as_data)


def _has_columns(robot: Robot, function: str) -> bool:
    return function == "dFD" and not robot.mimics and not robot.loops


@kept_with_robot
def in_columns(
    robot: Robot, external: Sequence[int] = (), parameters_as_data: bool = False
) -> Chain:
    """Record dFD column by column, see :mod:`pymodel.algorithms.rigid_body.solved_columns`.

    Parameters
    ----------
    robot, external, parameters_as_data
        As for :func:`recorded`; the robot without joints that follow others, and without loops.

    Returns
    -------
    Chain
        Of two stages, the second one once for each column.

    Raises
    ------
    ValueError
        If joints follow others, or there are loops.
    pymodel.compile.recording_limit.TooManyOperationsError
        If even the first one has too many operations, by an estimate: that of dID.
    """
    if not _has_columns(robot, "dFD"):
        raise ValueError(f"{one_line(robot.name)}: dFD of mimic joints or loops has no columns")
    each = solved_columns.solved(robot)

    def all_else(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return solved_columns.first(robot, arithmetic, values, external, parameters_as_data)

    expected = estimated(robot, "dID", "", external, parameters_as_data)
    graph = limited(Graph(), _named(robot, "dFD"), expected)
    first = record(all_else, inputs(robot, "dFD", external), graph=graph)
    rows = range(robot.nv)
    torques = [one.torque(row) for one in each for row in rows]
    known = [name for name in first.outputs if name.startswith("dqdd")]
    solved = [one.acceleration(row) for one in each for row in rows]
    scratch, stream = numbered(torques, scratch=True), numbered([*known, *solved])
    places = scratch | stream
    common = [name for name in first.outputs if name not in places]
    text = partial(solved_columns.column, robot, each[0], parameters_as_data=parameters_as_data)
    column = record(text, [*common, *torques[: robot.nv]])
    needed = set(column.needed)
    read = {name: ref for name, ref in column.inputs.items() if ref.node in needed}
    kept = {name: ref for name, ref in first.outputs.items() if name in read or name in places}
    loads = {name: scratch[name] for name in torques[: robot.nv] if name in read}
    stores = {name: stream[name] for name in solved[: robot.nv]}
    begin = {name: places[name] for name in kept if name in places}
    stages = {
        "": Stage(replace(first, outputs=kept), numbered(first.inputs), begin),
        "column": Stage(replace(column, inputs=read), loads, stores),
    }
    parts = (Part(""), Part("column", len(each), robot.nv, robot.nv, emit=True))
    return Chain(stages, parts, tuple(first.inputs), tuple(stream))


def _with_signs(kernel: Kernel) -> Kernel:
    """Factors that are negatives as their positives, with "-" in front of the name."""
    outputs = {}
    for name, ref in kernel.outputs.items():
        turned = ref.negative and name.startswith(segments.FACTORS)
        outputs["-" + name if turned else name] = -ref if turned else ref
    return replace(kernel, outputs=outputs)


def closed_loop(robot: Robot, settings: Mapping[str, float]) -> Kernel:
    """Record a time step of a robot under PD control with gravity compensation.

    Parameters
    ----------
    robot : Robot
        With a fixed base, reduced or not.
    settings : dict
        Name -> value of ``target0``, ``kp0``, ``kd0``, ... and ``step``; see
        :func:`pymodel.algorithms.rigid_body.control.closed_loop`.

    Returns
    -------
    Kernel
        It carries ``q0``, ``qd0``, ...; its outputs are the torques ``tau0``, ... The settings,
        gravity and the robot's numbers are its parameters.
    """
    carried = [name for kind in control.CARRIED for name in columns(robot, kind)]
    return record(partial(control.closed_loop, robot), carried=carried, parameters=settings)


@kept_with_robot
def cheapest(robot: Robot, function: str, external: Sequence[int] = ()) -> str:
    """Find the method with the fewest multiplications, and of these with the fewest additions.

    Of a robot of many links by an estimate, so that only the method that is found is recorded; and
    nothing of a rival that is known to lose.
    """
    known = _possible(robot, function)
    expected = {method: estimated(robot, function, method, external) for method in known}
    possible = [method for method in known if expected[method] <= recording_limit.MOST]
    if len(possible) < 2:
        return min(possible or known, key=lambda method: expected[method])

    def cost(method: str) -> tuple[int, int]:
        if not expected[method]:
            found = operations(recorded(robot, function, method, external))
            return found["mul"], found["add"]
        counts = _first_counts(robot, function, method, external)
        return _extrapolated(robot, counts, "mul"), _extrapolated(robot, counts, "add")

    return min(possible, key=cost)


def _possible(robot: Robot, function: str) -> tuple[str, ...]:
    """Methods that may have the fewest operations.

    A column of a robot without branches is solved by as many products with the factors as with
    their inverses, which take up to n (n - 1) (n - 2) / 6 more to find. Slides and short chains,
    where much is zero, are recorded both ways. Forward dynamics of long branches goes by
    articulated bodies where M's factors alone take more products than those could.
    """
    known = methods(robot, function)
    if function == "FD" and ARTICULATED in known and not robot.loops:
        above = [len(robot.ancestors(k)) for k in range(robot.nv)]
        if sum(k * (k + 3) // 2 for k in above) > PRODUCTS_OF_A_JOINT * robot.nv:
            return (ARTICULATED,)
    hinges = all(link.kind == REVOLUTE and link.part is None for link in robot.links)
    chain = all(link.parent == k - 1 for k, link in enumerate(robot.links))
    others = robot.floating or robot.loops or robot.mimics
    if len(robot.links) <= SHORT or not hinges or not chain or others:
        return known
    return tuple(x for x in known if x != INVERSE_FACTORS)


def operations(kernel: Kernel) -> Counter[str]:
    """Count the operations of an evaluation; not those on numbers and parameters alone."""
    found = Counter(kernel.graph.nodes[index].op for index in kernel.operations)
    return Counter({op: found[op] for op in OPERATIONS})


@kept_with_robot
def told_of(robot: Robot) -> tuple[str, ...]:
    """A robot's warnings, and what the snapping of its transforms saves, if it was asked for."""
    if not robot.snap or not robot.source:
        return robot.warnings
    gravity = robot.gravity_vector.tolist()
    mimic = bool(robot.mimics)
    plain = robot_file.load(robot.source, robot.floating, gravity=gravity, mimic=mimic)
    try:
        totals = [sum(operations(recorded(reduced(x), "ID")).values()) for x in (plain, robot)]
    except TooManyOperationsError:  # too large to be recorded
        return robot.warnings
    less, more = totals[1], totals[0]
    saved = f"snap {robot.snap:g}: inverse dynamics take {less} operations, without it {more}"
    return (*robot.warnings, saved)


def count(robot: Robot, function: str, parameters_as_data: bool = False) -> Count:
    """Count operations and find the longest path, of columns as if all ran at once."""
    what = evaluable(robot, function, parameters_as_data=parameters_as_data)
    found, path = Counter[str](), 0
    for kernel, times in _run(what):
        of_one = operations(kernel)
        found.update({op: times * number for op, number in of_one.items()})
        path += kernel.graph.critical_path(list(kernel.outputs.values()), LATENCY)[0]
    method = BY_COLUMNS if isinstance(what, Chain) else cheapest(robot, function)
    return Count(found["mul"], found["add"], found["rec"], found["sincos"], path, method)


def _run(what: Kernel | Chain) -> list[tuple[Kernel, int]]:
    """Kernels, and how often each runs."""
    if isinstance(what, Kernel):
        return [(what, 1)]
    return [(what.stages[part.stage].kernel, part.repeat) for part in what.parts]


def executed(what: Kernel | Chain) -> int:
    """Operations of an evaluation, those of all repeats, the sine and cosine of an angle one."""
    return sum(len(kernel.operations) * times for kernel, times in _run(what))
