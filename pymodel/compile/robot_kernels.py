"""Kernels of a robot's rigid-body functions, and the formulation with the fewest operations."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body import control
from pymodel.algorithms.rigid_body.functions import FUNCTIONS, columns, evaluate, inputs
from pymodel.compile.graph import OPERATIONS
from pymodel.compile.kernel import Kernel, record
from pymodel.mechanism.robot import Robot

#: Latencies (cycles) that longest paths are quoted with: those of the engine's default stages.
LATENCY = {"add": 4, "mul": 3, "rec": 7, "sincos": 14}


class Count(NamedTuple):
    """Operations of a function.

    Attributes
    ----------
    mul, add, rec, sincos : int
    path : int
        Longest path of dependencies, cycles at :data:`LATENCY`.
    method : str
        How the function is evaluated, where there is a choice.
    """

    mul: int
    add: int
    rec: int
    sincos: int
    path: int
    method: str


@cache
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
    """
    if method is None:
        method = cheapest(robot, function, external)

    def text(arithmetic: Any, values: Mapping[str, Any]) -> dict[str, Any]:
        return evaluate(function, robot, arithmetic, values, method, external, parameters_as_data)

    return record(text, inputs(robot, function, external))


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


@cache
def cheapest(robot: Robot, function: str, external: Sequence[int] = ()) -> str:
    """Find the method with the fewest multiplications, and of these with the fewest additions."""
    methods = FUNCTIONS[function].methods
    if len(methods) == 1:
        return methods[0]

    def cost(method: str) -> tuple[int, int]:
        found = operations(recorded(robot, function, method, external))
        return found["mul"], found["add"]

    return min(methods, key=cost)


def operations(kernel: Kernel) -> Counter:
    """Count the operations of an evaluation; not those on numbers and parameters alone."""
    found = Counter(kernel.graph.nodes[index].op for index in kernel.operations)
    return Counter({op: found[op] for op in OPERATIONS})


def count(robot: Robot, function: str, parameters_as_data: bool = False) -> Count:
    """Count a function's operations and find its longest path."""
    method = cheapest(robot, function)
    kernel = recorded(robot, function, method, parameters_as_data=parameters_as_data)
    path, _ = kernel.graph.critical_path(list(kernel.outputs.values()), LATENCY)
    found = operations(kernel)
    return Count(*(found[op] for op in ("mul", "add", "rec", "sincos")), path, method)
