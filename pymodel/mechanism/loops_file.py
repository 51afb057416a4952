"""Loops of a robot from a TOML beside its file: ``leg.loops.toml`` beside ``leg.urdf``.

::

    actuated = ["hip", "crank"]       # joints that are driven; IDc finds their torques

    [[loop]]
    name = "rod"                      # default: loop 0, ...
    kind = "hinge"                    # ball, hinge or weld
    link = "rod"                      # one of two links of the robot's file
    point = [0.2, 0.0, 0.0]           # m, in its frame; default 0
    axis = [0.0, 1.0, 0.0]            # of a hinge, in its frame
    rpy = [0.0, 0.0, 0.0]             # of a weld: from the loop's frame to the link's; default 0
    to = "shank"                      # the other link; left out: the ground
    at = [0.0, 0.0, -0.1]             # as point, in the other link's frame
    to_axis = [0.0, 1.0, 0.0]         # as axis; default: the same numbers
    to_rpy = [0.0, 0.0, 0.0]          # as rpy
    stiffness = 0.0                   # 1/s^2, Baumgarte's gain of positions; default 0
    damping = 0.0                     # 1/s, that of velocities; default 0
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.mechanism.loop import HINGE, LOOPS, WELD, Loop
from pymodel.mechanism.robot import FIXED_BASE, Robot
from pymodel.mechanism.robot_bodies import LARGEST, RobotError, frame_along
from pymodel.mechanism.rotations import from_angles

SUFFIX = ".loops.toml"
KEYS = ("loop", "actuated")
OF_LOOP = ("name", "kind", "link", "point", "to", "at", "stiffness", "damping")
OF_KIND = {HINGE: ("axis", "to_axis"), WELD: ("rpy", "to_rpy")}


def beside(source: str) -> Path:
    """Where the loops of a robot's file are, if there are any."""
    return Path(source).with_suffix(SUFFIX)


def load(path: Path, robot: Robot) -> tuple[list[Loop], tuple[int, ...] | None]:
    """Read loops, and which links' joints are actuated.

    Raises
    ------
    RobotError
        If the file cannot be read, or a key or value in it makes no sense: one line says which.
    """
    source = str(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise RobotError(source, "", f"cannot read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RobotError(source, "", f"not TOML: {error}") from None
    _known(source, "", table, KEYS)
    loops = table.get("loop", [])
    if not isinstance(loops, list) or not all(isinstance(x, dict) for x in loops) or not loops:
        raise RobotError(source, "loop", "must be tables: [[loop]]")
    found = [_loop(source, f"loop[{k}]", f"loop {k}", x, robot) for k, x in enumerate(loops)]
    names = [loop.name for loop in found]
    for name in names:
        if names.count(name) > 1:
            raise RobotError(source, "loop", f"{names.count(name)} loops have the name {name}")
    return found, _actuated(source, table, robot)


def _known(source: str, element: str, table: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in table:
        if key not in keys:
            reason = f"unknown key {key!r}, must be one of {', '.join(keys)}"
            raise RobotError(source, element, reason)


def _actuated(source: str, table: Mapping[str, Any], robot: Robot) -> tuple[int, ...] | None:
    names = table.get("actuated")
    if names is None:
        return None
    joints = {link.joint: k for k, link in enumerate(robot.links) if k >= robot.first}
    if not isinstance(names, list) or not all(isinstance(x, str) for x in names):
        raise RobotError(source, "actuated", "must be a list of names of joints")
    for name in names:
        if name not in joints:
            raise RobotError(source, "actuated", f"there is no moving joint {name}")
        if names.count(name) > 1:
            raise RobotError(source, "actuated", f"{name} stands twice")
    return tuple(joints[name] for name in names)


def _loop(source: str, element: str, name: str, table: dict[str, Any], robot: Robot) -> Loop:
    kind = table.get("kind")
    if kind not in LOOPS:
        raise RobotError(source, f"{element}.kind", f"must be one of {', '.join(LOOPS)}")
    _known(source, element, table, OF_LOOP + OF_KIND.get(kind, ()))
    name = table.get("name", name)
    if not isinstance(name, str) or not name or not name.isprintable():
        raise RobotError(source, f"{element}.name", "must be a name")
    ends = []
    for link, point, axis, rpy in (
        ("link", "point", "axis", "rpy"),
        ("to", "at", "to_axis", "to_rpy"),
    ):
        offset = _numbers(source, element, table, point, 3, [0.0] * 3)
        rotation = np.eye(3)
        if kind == HINGE:
            default = table.get("axis") if axis == "to_axis" else None
            direction = _numbers(source, element, table, axis, 3, default)
            if not direction.any():
                raise RobotError(source, f"{element}.{axis}", "must not be zero")
            rotation = frame_along(direction)
        elif kind == WELD:
            rotation = from_angles(tuple(_numbers(source, element, table, rpy, 3, [0.0] * 3)))
        if link == "to" and link not in table:
            ends.append((FIXED_BASE, robot.ground @ rotation, robot.ground @ offset))
        else:
            at = table.get(link)
            ends.append(_placed(source, f"{element}.{link}", at, robot, rotation, offset))
    gains = tuple(float(_numbers(source, element, table, gain, 1, 0.0)[0]) for gain in OF_LOOP[-2:])
    for gain, value in zip(OF_LOOP[-2:], gains, strict=True):
        if value < 0:
            raise RobotError(source, f"{element}.{gain}", f"must not be negative, got {value}")
    links, rotations, offsets = zip(*ends, strict=True)
    return Loop(name, kind, links, rotations, offsets, gains=(gains[0], gains[1]))


def _numbers(
    source: str, element: str, table: Mapping[str, Any], key: str, count: int, default: Any
) -> np.ndarray:
    value = table.get(key, default)
    values = value if isinstance(value, list) else [value]
    fine = len(values) == count and isinstance(value, list) == (count > 1)
    if not fine or not all(
        isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= LARGEST for x in values
    ):
        what = "a number" if count == 1 else f"{count} numbers"
        raise RobotError(source, f"{element}.{key}", f"must be {what} of at most {LARGEST:.0e}")
    return np.array(values, float)


def _placed(
    source: str, element: str, name: Any, robot: Robot, rotation: np.ndarray, offset: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    try:
        return placed(robot, name, rotation, offset)
    except LookupError:
        names = [link.name for link in robot.links] + [*robot.fixed]
        reason = f"there is no link {name!r}; there are {', '.join(names)}"
        raise RobotError(source, element, reason) from None


def placed(
    robot: Robot, name: str, rotation: np.ndarray, offset: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """A frame on a link by the link's name: what carries it, and where it is on that.

    Raises
    ------
    LookupError
        If there is no such link.
    """
    for k, link in enumerate(robot.links):
        if link.name == name:
            return k, rotation, offset
    if not isinstance(name, str):
        raise LookupError(name)
    at = robot.fixed[name]
    turn, shift = at.rotation, at.offset
    if at.carrier == FIXED_BASE and name == next(iter(robot.fixed)):  # the ground of the file
        turn = robot.ground
    return at.carrier, turn @ rotation, shift + turn @ offset
