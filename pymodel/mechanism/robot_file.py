"""Robots from files of any format that is read: the root element says which one it is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.parsers import expat

from pymodel.arith.errors import require_path
from pymodel.mechanism import mjcf, urdf
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_bodies import RobotError

URDF, MJCF = "robot", "mujoco"  # root elements
#: Root element -> why such a file is not read, and what to do.
OTHERS = {
    "sdf": "SDF is not read: make an MJCF of it, by sdf2mjcf of PyPI's sdformat-mjcf",
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
) -> Robot:
    """Read a robot from a URDF or an MJCF.

    Parameters
    ----------
    path
        File of any name; that of an MJCF ends with .xml.
    floating, damping, armature, snap, gravity, mimic
        As of :func:`pymodel.mechanism.urdf.load` and :func:`pymodel.mechanism.mjcf.load`.

    Raises
    ------
    RobotError, InputError
        As by these; if the file is of another format.
    """
    require_path("path", path)
    source = os.fspath(path)
    kind = root_element(source)
    if kind in OTHERS:
        raise RobotError(source, "", OTHERS[kind])
    if kind not in (URDF, MJCF):
        reason = f"the root element is <{kind}>, must be <{URDF}> (URDF) or <{MJCF}> (MJCF)"
        raise RobotError(source, "", f"no robot file: {reason}")
    read = urdf.load if kind == URDF else mjcf.load
    return read(source, floating, damping, armature, snap, gravity, mimic)


def file_order(robot: Robot) -> list[str]:
    """Names of a robot's joints in the order of its file, that of MuJoCo.

    Depth first, the joints of a link as the file lists them; a floating base's stands first. An
    MJCF's joints are in this order anyway.
    """
    if root_element(robot.source) == URDF:
        return urdf.file_order(robot)
    return [link.joint for link in robot.links]


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
