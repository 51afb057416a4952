"""Robots of SDF files, as Drake reads them.

Drake's parser (Gazebo's sdformat) resolves frames, poses and axes; what it finds is written as a
URDF, in the types of joints of which :mod:`pymodel.mechanism.urdf` has them, and read by that. A
link's frame is that of the file: where it is not at the joint, the joint carries a frame of its own
that the link is fixed to.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pymodel.arith.errors import require_path
from pymodel.mechanism import urdf
from pymodel.mechanism.robot import Robot, one_line
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.mechanism.rotations import to_angles

SUFFIX = ".sdf"  #: which Drake knows the format by
EXTRA = "pip install 'pymodel[sdf]'"
WORLD = "world"  #: Drake's ground
#: Drake's types of joints -> URDF's, with those that :mod:`pymodel.mechanism.urdf` adds.
TYPES = {
    "revolute": "continuous",
    "prismatic": "prismatic",
    "weld": "fixed",
    "screw": "screw",
    "universal": "universal",
    "ball_rpy": "ball",
    "planar": "planar",
    "quaternion_floating": "floating",
    "rpy_floating": "floating",
}
#: What of a file does not act, by its element, where it is not 0.
UNREAD = ("friction", "spring_stiffness", "mimic", "gearbox_ratio")
PREFIX = "Drake: "


def load(
    path: str | os.PathLike[str],
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
) -> Robot:
    """Read a robot.

    Parameters
    ----------
    path
        SDF file of one model. What is not fixed to the world floats, as the file says.
    floating, damping, armature, snap, gravity, mimic
        As of :func:`pymodel.mechanism.urdf.load`.

    Raises
    ------
    RobotError
        If Drake is not installed, or cannot read the file; for several models, and types of joints
        that are not known; as by :func:`pymodel.mechanism.urdf.load`.
    InputError
        As by this.
    """
    require_path("path", path)
    source = os.fspath(path)
    text, told = converted(source)
    robot = urdf.load(source, floating, damping, armature, snap, gravity, mimic, text)
    warnings = (*map(one_line, told), *robot.warnings)
    return replace(robot, warnings=warnings)


def file_order(robot: Robot) -> list[str]:
    """As of :func:`pymodel.mechanism.urdf.file_order`, of the file as Drake lists it."""
    return urdf.file_order(robot, converted(robot.source)[0])


def converted(source: str) -> tuple[bytes, list[str]]:
    """A URDF of the file's model, and what Drake warns of."""
    try:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    except ModuleNotFoundError:
        raise RobotError(source, "", f"to read SDF needs Drake: {EXTRA}") from None
    if not source.lower().endswith(SUFFIX):
        raise RobotError(source, "", f"SDF: its name must end with {SUFFIX}, for Drake")
    with _warned() as told:
        try:
            plant = MultibodyPlant(0.0)
            models = Parser(plant).AddModels(source)
            plant.Finalize()
        except RuntimeError as error:
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            raise RobotError(source, "", f"{PREFIX}{', '.join(lines)}") from None
    if len(models) != 1:
        raise RobotError(source, "", f"{len(models)} models: must be one, without nested ones")
    tree = ElementTree.Element("robot", name=plant.GetModelInstanceName(models[0]))
    ElementTree.SubElement(tree, "link", name=WORLD)
    bodies = [plant.get_body(k) for k in plant.GetBodyIndices(models[0])]
    if any(body.name() == WORLD for body in bodies):
        raise RobotError(source, f"link {WORLD}", "is the ground's name")
    context, joints = plant.CreateDefaultContext(), {}
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        joints[joint.child_body().name()] = joint
    for body in bodies:
        _write(source, tree, plant, context, body, joints[body.name()])
    return ElementTree.tostring(tree), [*told, *_unread(source)]


def _write(
    source: str, tree: ElementTree.Element, plant: Any, context: Any, body: Any, joint: Any
) -> None:
    """A link and the joint that carries it."""
    kind = TYPES.get(joint.type_name())
    if kind is None:
        reason = f"type {joint.type_name()} of Drake is not known"
        raise RobotError(source, f"joint {joint.name()}", reason)
    link = ElementTree.SubElement(tree, "link", name=body.name())
    inertia = body.default_spatial_inertia()
    if inertia.get_mass():
        com = inertia.get_com()
        own = inertia.Shift(com).CalcRotationalInertia().CopyToFullMatrix3()
        part = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(part, "origin", xyz=_text(com))
        ElementTree.SubElement(part, "mass", value=_text([inertia.get_mass()]))
        names = {f"i{a}{b}": _text([own[i, j]]) for i, j, a, b in _UPPER}
        ElementTree.SubElement(part, "inertia", names)
    place = joint.frame_on_child().GetFixedPoseInBodyFrame().inverse()
    child = body.name()
    if not place.IsExactlyIdentity():
        child = f"{body.name()}@{joint.name()}"
        ElementTree.SubElement(tree, "link", name=child)
        fixed = ElementTree.SubElement(tree, "joint", name=f"{child} fixed", type="fixed")
        _ends(fixed, child, body.name(), place)
    found = ElementTree.SubElement(tree, "joint", name=joint.name(), type=kind)
    at = joint.frame_on_parent().GetFixedPoseInBodyFrame()
    _ends(found, joint.parent_body().name(), child, at)
    if kind == "screw":
        ElementTree.SubElement(found, "screw_thread_pitch", value=_text([joint.screw_pitch()]))
    axis = _axis(plant, context, joint, kind)
    if axis is not None:
        ElementTree.SubElement(found, "axis", xyz=_text(axis))
    damping = np.max(joint.default_damping_vector(), initial=0.0)
    if damping and kind != "floating":
        ElementTree.SubElement(found, "dynamics", damping=_text([damping]))


_UPPER = [(i, j, "xyz"[i], "xyz"[j]) for i in range(3) for j in range(i, 3)]


def _axis(plant: Any, context: Any, joint: Any, kind: str) -> np.ndarray | None:
    """The axis of a joint in its frame."""
    if kind == "continuous":
        found: np.ndarray = joint.revolute_axis()
        return found
    if kind == "prismatic":
        found = joint.translation_axis()
        return found
    if kind == "planar":
        return np.array([0.0, 0.0, 1.0])
    if kind != "screw":
        return None
    q = plant.GetPositions(context)
    q[joint.position_start()] = 1.0
    plant.SetPositions(context, q)  # Drake does not say the axis otherwise
    ends = joint.frame_on_parent(), joint.frame_on_child()
    turn = plant.CalcRelativeTransform(context, *ends).rotation()
    found = turn.ToAngleAxis().axis()
    return found


def _ends(joint: ElementTree.Element, parent: str, child: str, place: Any) -> None:
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    angles = to_angles(place.rotation().matrix())
    ElementTree.SubElement(joint, "origin", xyz=_text(place.translation()), rpy=_text(angles))


def _text(numbers: Sequence[float] | np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def _unread(source: str) -> Iterator[str]:
    """What of the joints does not act."""
    found: dict[str, list[str]] = {}
    for joint in ElementTree.parse(source).iter("joint"):
        for name in UNREAD:
            for element in joint.iter(name):
                if name == "mimic" or (element.text or "0").strip(" 0.+e-"):
                    found.setdefault(name, []).append(joint.get("name", "?"))
    for name, joints in found.items():
        yield f"not read: {name} of {', '.join(joints)}"


@contextmanager
def _warned() -> Iterator[list[str]]:
    """What Drake warns of meanwhile, which it would print."""
    found: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(f"{PREFIX}{record.getMessage()}")

    log, kept = logging.getLogger("drake"), Kept(logging.WARNING)
    passed, log.propagate = log.propagate, False
    log.addHandler(kept)
    try:
        yield found
    finally:
        log.removeHandler(kept)
        log.propagate = passed
