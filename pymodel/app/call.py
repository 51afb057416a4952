"""The subcommands `call` and `joints`, and what `count` says of a robot."""

import codecs
import contextlib
import sys
from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.rigid_body.functions import ALL, suited
from pymodel.algorithms.unused_options import refuse_unused_of_robot
from pymodel.app.options import TWIN, Asked
from pymodel.arith.fp import flag_text
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.compile.robot_kernels import count, told_of
from pymodel.mechanism import readers, robot_file
from pymodel.mechanism.robot import Robot, at_link, shown
from pymodel.mechanism.robot_bodies import followed
from pymodel.runs import robot_calls
from pymodel.runs.input_error import InputError, require_other_file
from pymodel.runs.progress import PATIENCE, progress

DONE, NOT_FINITE = 0, 1  # exit status
FILE = "file"  # an order of joints
BEGINNING = 1000  # bytes of a file, in which its first letter stands

HEADINGS = ("function", "method", "x", "+", "1/x", "sincos", "longest path [cycles]")


def is_robot(path: str) -> bool:
    """Whether a file is a robot's, not a scenario's: it is XML, or its name says so."""
    if path.lower().endswith((".urdf", ".xacro")):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(BEGINNING).removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"<"
    except (OSError, ValueError):  # ValueError: a path that no file can have
        return False


def joints(arguments: Asked) -> int:
    """List the joints of a robot in the order that is asked for; on stderr what was read.

    Or what of its file other readers take in another way.
    """
    if arguments.check:
        print(*(readers.lines(arguments.urdf) or [readers.NONE]), sep="\n")
        return DONE
    robot = robot_file.load(arguments.urdf, arguments.floating, mimic=arguments.mimic)
    names = [link.joint for link in robot.links]
    places = {name: place for place, name in enumerate(names)}
    if arguments.order == FILE:
        names = robot_file.file_order(robot)
    tell(robot, *robot.told())
    for name in names:
        mimic = robot.mimics.get(places[name])
        follows = f" = {followed(robot.links, mimic)}" if mimic else ""
        print(f"{shown(name)}{follows}")
    return DONE


def call(arguments: Asked) -> int:
    """Evaluate a function of a robot, once for each row of a table."""
    target, function = arguments.target, arguments.function
    machine = None if target != TWIN else robot_calls.machine_of(arguments.lanes)
    options = arguments.damping, arguments.armature
    gravity = arguments.gravity
    more = arguments.snap, gravity, arguments.mimic, arguments.friction
    robot = robot_file.load(arguments.urdf, arguments.floating, *options, *more)
    fixed = arguments.fixed_acceleration
    robot = robot_file.with_fixed_acceleration(robot, fixed, "--fixed-acceleration")
    own = arguments.friction, arguments.link, fixed
    refuse_unused_of_robot(robot, [function], *options, gravity, "--", *own)
    if arguments.link is not None:
        robot = at_link(robot, arguments.link, "--link")
    small = suited(robot, function)
    table = robot_calls.read_table(arguments.inputs)
    require_other_file(arguments.out, arguments.urdf, arguments.inputs)
    with _progress(f"{function} of {robot.name}", "calls") as update:
        try:
            answer = robot_calls.call(
                small, function, table, arguments.arithmetic, target, machine, update
            )
        except robot_calls.RowError as error:
            raise InputError(f"{arguments.inputs}: {error}") from None
    robot_calls.write_table(arguments.out, answer.table)
    tell(robot, *answer.warnings)
    rows = len(next(iter(answer.table.values())))
    told = [f"{rows} calls of {function}", arguments.arithmetic]
    told += [f"flags {flag_text(answer.flags)}"] if answer.flags else []
    told += [f"{answer.cycles} cycles each"] if answer.cycles else []
    print(f"{arguments.out}: {', '.join(told)}")
    return DONE if answer.finite else NOT_FINITE


def operations(
    path: str,
    floating: bool,
    as_data: bool,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    link: str | None = None,
) -> tuple[str, list[tuple[str, ...]]]:
    """Count the operations of all functions that a robot has.

    Parameters
    ----------
    path : str
        Robot file.
    floating : bool
        Whether the base floats.
    as_data : bool
        The robot's numbers are data instead of constants.
    snap, gravity, mimic
        As of :func:`pymodel.mechanism.robot_file.load`.
    link : str, optional
        Whose placement and Jacobian are counted; without one the Jacobian is not.

    Returns
    -------
    title : str
    rows : list of tuple of str
        Under :data:`HEADINGS`. What has too many operations has no row, but a line on stderr.

    Raises
    ------
    InputError
        As of reading the file; if all functions have too many operations.
    """
    robot = robot_file.load(path, floating, snap=snap, gravity=gravity, mimic=mimic)
    if link is not None:
        robot = at_link(robot, link, "--link")
    robots, rows = {}, []
    for function in ALL:
        with contextlib.suppress(InputError):  # one that this robot has not, as without loops
            robots[function] = suited(robot, function)
    functions = list(robots)
    refused = []
    with _progress(robot.name, "functions") as update:
        for done, function in enumerate(functions):
            update(done, len(functions))
            try:
                found = count(robots[function], function, parameters_as_data=as_data)
            except TooManyOperationsError as error:
                refused.append(str(error))
                continue
            numbers = (found.mul, found.add, found.rec, found.sincos, found.path)
            rows.append((function, found.method, *map(str, numbers)))
    if not rows:
        raise InputError("; ".join(refused))
    tell(robot, *(f"not counted: {reason}" for reason in refused))
    return f"{robot}{', parameters as data' if as_data else ''}", rows


def _progress(description: str, unit: str) -> contextlib.AbstractContextManager[Any]:
    return progress(description, "recording", unit=unit, patience=PATIENCE)


def tell(robot: Robot, *warnings: str) -> None:
    """Say on stderr what was read, and what to beware of."""
    print(robot, *robot.notes, *told_of(robot), *warnings, sep="\n", file=sys.stderr)
