"""Kernels of a robot's rigid-body functions, and the formulation with the fewest operations."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.rigid_body import control, segments
from pymodel.algorithms.rigid_body.functions import FUNCTIONS, columns, evaluate, inputs
from pymodel.arith.errors import InputError
from pymodel.compile.chains import Chain, Part, Stage
from pymodel.compile.count import LATENCY
from pymodel.compile.graph import OPERATIONS, Graph
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.streams import numbered
from pymodel.mechanism.robot import Robot, kept_with_robot, one_line

#: Operations that are recorded at most, and what they take.
MOST, EACH = 2_000_000, "1 GB of memory"
#: Links up to which a function is recorded without an estimate, and those that it is made from.
FEW, FIRST = 64, (8, 16, 24, 32)

_told: ContextVar[Callable[[int, int], None] | None] = ContextVar("told", default=None)


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
        Reduced or not; see :func:`pymodel.mechanism.reduction.reduced`.
    function : str
        A key of :data:`pymodel.algorithms.rigid_body.functions.FUNCTIONS`.
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
    InputError
        If it has more than :data:`MOST` operations, by an estimate for robots of many links.
    """
    if method is None:
        method = cheapest(robot, function, external)
        return recorded(robot, function, method, external, parameters_as_data)
    expected = estimated(robot, function, method, external, parameters_as_data)
    _require_few(robot, function, expected)

    def text(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return evaluate(function, robot, arithmetic, values, method, external, parameters_as_data)

    graph, told = Graph(), _told.get()
    if told is not None and expected:
        graph.watch = lambda nodes: told(nodes, max(nodes, expected))
    return record(text, inputs(robot, function, external), graph=graph)


def require_recordable(robot: Robot, function: str) -> None:
    """Refuse a function of too many operations by every method, as :func:`recorded` does."""
    methods = FUNCTIONS[function].methods
    _require_few(robot, function, min(estimated(robot, function, method) for method in methods))


def _require_few(robot: Robot, function: str, expected: int) -> None:
    if expected > MOST:
        reason = f"about {expected:.2g} operations, at most {MOST:.2g} are recorded ({EACH})"
        raise InputError(f"{function} of {one_line(robot.name)}: {reason}")


@contextlib.contextmanager
def watched(told: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how far the recording for a robot of many links is: operations so far, and expected."""
    before = _told.set(told)
    try:
        yield
    finally:
        _told.reset(before)


@kept_with_robot
def estimated(
    robot: Robot,
    function: str,
    method: str,
    external: Sequence[int] = (),
    parameters_as_data: bool = False,
) -> int:
    """Operations of a function of a robot of many links; 0 if it has few, which are just recorded.

    Their number is a polynomial of the number of links, of degree 3 at most, that goes through
    those of the robot's first :data:`FIRST` links: exact for a chain of equal joints.
    """
    links = len(robot.links)
    if links <= FEW:
        return 0
    counts = []
    for size in FIRST:
        first = replace(robot, links=robot.links[:size])
        own = tuple(link for link in external if link < size)
        kernel = recorded(first, function, method, own, parameters_as_data)
        counts.append(len(kernel.graph.nodes))
    found = np.polyval(np.polyfit(FIRST, counts, 3), links)
    return max(round(float(found)), counts[-1] * links // FIRST[-1])


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
    """Find the method with the fewest multiplications, and of these with the fewest additions."""
    methods = FUNCTIONS[function].methods
    expected = {method: estimated(robot, function, method, external) for method in methods}
    possible = [method for method in methods if expected[method] <= MOST]
    if len(possible) < 2:
        return min(possible or methods, key=lambda method: expected[method])

    def cost(method: str) -> tuple[int, int]:
        found = operations(recorded(robot, function, method, external))
        return found["mul"], found["add"]

    return min(possible, key=cost)


def operations(kernel: Kernel) -> Counter[str]:
    """Count the operations of an evaluation; not those on numbers and parameters alone."""
    found = Counter(kernel.graph.nodes[index].op for index in kernel.operations)
    return Counter({op: found[op] for op in OPERATIONS})


def count(robot: Robot, function: str, parameters_as_data: bool = False) -> Count:
    """Count a function's operations and find its longest path."""
    method = cheapest(robot, function)
    kernel = recorded(robot, function, method, parameters_as_data=parameters_as_data)
    path, _ = kernel.graph.critical_path(list(kernel.outputs.values()), LATENCY)
    found = operations(kernel)
    return Count(found["mul"], found["add"], found["rec"], found["sincos"], path, method)
