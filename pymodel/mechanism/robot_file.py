"""Robots from files of any format that is read: the root element says which one it is."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any
from xml.parsers import expat

from pymodel.arith.errors import InputError, require_path
from pymodel.mechanism import loops_file, mjcf, sdf, urdf
from pymodel.mechanism.robot import FLOATING, FREE, Robot, at_link, one_line, shown
from pymodel.mechanism.robot_bodies import UNAPPLIED_FRICTION, RobotError, fault
from pymodel.mechanism.robot_loops import TOLD, with_loops

URDF, MJCF, SDF = "robot", "mujoco", "sdf"  # root elements
#: Root element -> why such a file is not read, and what to do.
OTHERS = {
    "mujocoinclude": "a part of an MJCF: give the file that includes it",
}


def load(
    path: str | os.PathLike[str],
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    friction: float = 0.0,
) -> Robot:
    """Read a robot from a URDF, an MJCF or an SDF, and loops from a TOML beside it.

    Parameters
    ----------
    path
        File of any name; that of an MJCF ends with .xml, that of an SDF with .sdf.
    floating, damping, armature, snap, gravity, mimic
        As of :func:`pymodel.mechanism.urdf.load` and :func:`pymodel.mechanism.mjcf.load`.

    friction
        Apply the dry friction of the file, as Coulomb's with this scale of velocity (rad/s, m/s),
        see :mod:`pymodel.algorithms.friction`; 0: it is left out.

    Raises
    ------
    RobotError, InputError
        As by these; if the file is of another format, or the friction of a floating joint is to
        act. For loops as by :func:`pymodel.mechanism.loops_file.load` and
        :func:`pymodel.mechanism.robot_loops.with_loops`.
    """
    require_path("path", path)
    source = os.fspath(path)
    kind = format_of(source)
    read = {URDF: urdf.load, MJCF: mjcf.load, SDF: sdf.load}[kind]
    found = read(source, floating, damping, armature, snap, gravity, mimic)
    return _rubbing(_looped(found), require_scale(friction))


#: Options of :func:`load_as`.
ASKED = (
    *("floating", "damping", "snap", "gravity", "mimic", "friction"),
    *("fixed_acceleration", "link"),
)


def load_as(path: str | os.PathLike[str], asked: Mapping[str, Any]) -> Robot:
    """Read a robot with options by their names; others than these are passed over.

    ``floating``, ``damping``, ``snap``, ``gravity``, ``mimic`` and ``friction`` as of :func:`load`,
    ``fixed_acceleration`` as of :func:`with_fixed_acceleration`, ``link`` as of
    :func:`pymodel.mechanism.robot.at_link`.
    """
    own = {name: asked[name] for name in ASKED[:-2] if name in asked}
    robot = load(path, **own)
    robot = with_fixed_acceleration(robot, asked.get("fixed_acceleration", ()))
    link = asked.get("link")
    return at_link(robot, link) if link else robot


def _looped(robot: Robot) -> Robot:
    """A robot with the loops of the TOML beside its file, if there is one."""
    path = loops_file.beside(robot.source)
    if not path.is_file():
        return robot
    loops, actuated = loops_file.load(path, robot)
    robot, told = with_loops(robot, [*robot.loops, *loops])
    notes = [x for x in robot.notes if not x.startswith(TOLD)]
    notes += map(one_line, told)
    return replace(robot, notes=tuple(notes), actuated=actuated or robot.actuated)


def with_fixed_acceleration(robot: Robot, names: Sequence[str], option: str = "") -> Robot:
    """A robot some of whose joints have given accelerations in hybrid dynamics.

    Parameters
    ----------
    names : sequence of str
        Of joints; that of a joint of several degrees of freedom stands for all of these.
    option : str
        What the names are of in messages.

    Raises
    ------
    InputError
        If there is no such moving joint, it mimics another, or stands twice.
    """
    option = option or "fixed_acceleration"
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{option}: must be names of joints, got {names!r}")
    found: list[int] = []
    for name in names:
        links = enumerate(robot.links)
        own = [k for k, x in links if name in (x.joint, x.part.joint if x.part else x.joint)]
        if not own:
            known = ", ".join(shown(robot.links[k].joint) for k in robot.leaders)
            raise InputError(f"{option}: there is no moving joint {name!r}; there are {known}")
        if set(own) & robot.mimics.keys():
            raise InputError(f"{option}: {name} mimics another joint: name that one")
        if set(own) & set(found):
            raise InputError(f"{option}: {name} stands twice")
        found += own
    return replace(robot, fixed_acceleration=tuple(sorted(found)))


def require_scale(friction: Any) -> float:
    """Refuse a scale of friction that is no number from 0 on, by an InputError."""
    is_number = isinstance(friction, Real) and not isinstance(friction, bool)
    if not (is_number and 0.0 <= friction < math.inf):
        raise InputError(f"friction: must be a velocity from 0 on, got {friction!r}")
    return float(friction)


def _rubbing(robot: Robot, scale: float) -> Robot:
    """A robot with its file's friction at work with a scale of velocity, if that is not 0."""
    if not scale:
        return robot
    for link in robot.links:
        if wrong := fault("friction", link.friction):
            raise RobotError(robot.source, f"joint {link.joint}", wrong)
        whole, joint = (link.part.kind, link.part.joint) if link.part else (link.kind, link.joint)
        if link.friction and whole in (FREE, FLOATING):
            reason = "friction of a floating joint is not applied: take it out"
            raise RobotError(robot.source, f"joint {joint}", reason)
    links = tuple(replace(link, friction_scale=scale) for link in robot.links)
    warnings = tuple(x for x in robot.warnings if not x.startswith(UNAPPLIED_FRICTION))
    return replace(robot, links=links, warnings=warnings)


def file_order(robot: Robot) -> list[str]:
    """Names of a robot's joints in the order of its file, that of MuJoCo.

    Depth first, the joints of a link as the file lists them; a floating base's stands first. An
    MJCF's joints are in this order anyway.
    """
    kind = root_element(robot.source)
    if kind != MJCF:
        return (urdf if kind == URDF else sdf).file_order(robot)
    return [link.joint for link in robot.links]


def format_of(source: str) -> str:
    """:data:`URDF`, :data:`MJCF` or :data:`SDF`.

    Raises
    ------
    RobotError
        If the file cannot be read, or is of another format.
    """
    kind = root_element(source)
    if kind in OTHERS:
        raise RobotError(source, "", OTHERS[kind])
    if kind not in (URDF, MJCF, SDF):
        known = f"<{URDF}> (URDF), <{MJCF}> (MJCF) or <{SDF}> (SDF)"
        reason = f"the root element is <{kind}>, must be {known}"
        raise RobotError(source, "", f"no robot file: {reason}")
    return kind


def root_element(source: str) -> str:
    """The name of a file's root element, without prefix.

    Raises
    ------
    RobotError
        If the file cannot be read, or is no XML up to there.
    """
    try:
        data = Path(source).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        reason = getattr(error, "strerror", None) or error
        raise RobotError(source, "", f"cannot read: {reason}") from None
    found: list[str] = []
    events = expat.ParserCreate()
    events.StartElementHandler = lambda tag, attributes: found.append(tag)
    try:
        events.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        if not found:
            raise RobotError(source, "", f"not XML: {error}") from None
    return found[0].rpartition(":")[2]
