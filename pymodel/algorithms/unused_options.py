"""Which options would change nothing: of the algorithm for a scenario, of a robot's functions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymodel.algorithms.requests import BASE
from pymodel.algorithms.rigid_body.functions import ALL, HYBRID
from pymodel.algorithms.step import Chain
from pymodel.arith.errors import InputError
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario import Scenario


def unused_options(
    scenario: Scenario,
    base: str | None,
    rebase: int,
    forces: bool = False,
    shape: str | Sequence[Any] = "balanced",
    project: int = 0,
) -> dict[str, str]:
    """The options that are given and that the scenario has no use for.

    Parameters
    ----------
    scenario
        The scenario.
    base
        How the base of a closed chain is to be solved; None where nobody says.
    rebase
        Re-base the momenta every so many steps; 0 never.
    forces
        Write the forces of the joints.
    shape
        Of the assembly tree; ``balanced`` where nobody says.
    project
        Project the coordinates every so many steps; 0 never.

    Returns
    -------
    dict
        Name of an option -> what it is for.
    """
    unused = {}
    if base is not None and not (scenario.loops and Chain.runs(scenario)):
        unused["base"] = "only for a chain of bodies that is closed to the ground"
    for name, every in (("rebase", rebase), ("project", project)):
        if every and not scenario.loops:
            unused[name] = "only for a mechanism with loops"
    if forces and not any(map(sum, scenario.constraints)):
        unused["forces"] = "only for a mechanism with joints that hold something"
    least, number = (3, "three") if Chain.runs(scenario) else (2, "two")
    if shape != "balanced" and len(scenario.bodies) < least:
        unused["shape"] = f"only for a mechanism like this of {number} or more bodies"
    return unused


def refuse_unused(
    *scenarios: Scenario,
    base: str = BASE,
    rebase: int = 0,
    shape: str | Sequence[Any] = "balanced",
    project: int = 0,
) -> None:
    """Refuse options that differ from the defaults and that none of the scenarios has a use for.

    Raises
    ------
    InputError
        If there is one.
    """
    given = None if base == BASE else base
    first, *others = (
        unused_options(one, given, rebase, shape=shape, project=project) for one in scenarios
    )
    for option, use in first.items():
        if all(option in unused for unused in others):
            raise InputError(f"{option}: {use}")


def refuse_unused_of_robot(
    robot: Robot,
    functions: Iterable[str],
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    gravity: Sequence[float] | None = None,
    dashes: str = "",
    friction: float = 0.0,
    link: str | None = None,
    fixed_acceleration: Sequence[str] = (),
) -> None:
    """Refuse options that a robot's functions have no use for.

    Parameters
    ----------
    robot, functions, damping, armature, gravity, friction, link, fixed_acceleration
        As for :func:`unused_robot_options`.
    dashes
        What the names begin with in messages: ``--`` on a command line.

    Raises
    ------
    InputError
        If there is one.
    """
    given = damping, armature, gravity, friction, link, fixed_acceleration
    unused = unused_robot_options(robot, functions, *given)
    for option, why in unused.items():
        raise InputError(f"{dashes}{option}: {why}")


def unused_robot_options(
    robot: Robot,
    functions: Iterable[str],
    damping: bool,
    armature: float | Mapping[str, float],
    gravity: Sequence[float] | None = None,
    friction: float = 0.0,
    link: str | None = None,
    fixed_acceleration: Sequence[str] = (),
) -> dict[str, str]:
    """The options that are given and that a robot's functions have no use for.

    Parameters
    ----------
    robot
        As it was read with these options.
    functions
        Keys of :data:`pymodel.algorithms.rigid_body.functions.ALL`; others are left out.
        None where nobody says which are to come.
    damping
        Apply the joint damping of the file.
    armature
        Inertia of each joint's drive, of all or by the joint's name; 0 for none.
    gravity
        Its acceleration, shape (3,); None where nobody says.
    friction
        Scale of velocity with which the dry friction of the file acts; 0: it does not.
    link
        That functions of one link are to tell of; None where nobody says.
    fixed_acceleration
        Joints whose accelerations are given in hybrid dynamics.

    Returns
    -------
    dict
        Name of an option -> why it has no effect.
    """
    signatures = [ALL[name] for name in functions if name in ALL]
    names = " and ".join(signature.name for signature in signatures)
    unused = {}
    if damping and not any(link.damping for link in robot.links):
        unused["damping"] = f"no joint of {robot.source} has damping"
    elif damping and signatures and not any(signature.damping for signature in signatures):
        unused["damping"] = f"changes nothing in {names}"
    if friction and not any(link.friction for link in robot.links):
        unused["friction"] = f"no joint of {robot.source} has dry friction"
    elif friction and signatures and not any(signature.damping for signature in signatures):
        unused["friction"] = f"changes nothing in {names}"
    if armature and signatures and not any(signature.armature for signature in signatures):
        unused["armature"] = f"changes nothing in {names}"
    if gravity is not None and signatures and not any(x.gravity for x in signatures):
        unused["gravity"] = f"changes nothing in {names}"
    if link is not None and not any(x.link for x in signatures):
        unused["link"] = f"changes nothing in {names}"
    if fixed_acceleration and not any(x.name in HYBRID for x in signatures):
        unused["fixed-acceleration"] = f"changes nothing in {names}"
    return unused
