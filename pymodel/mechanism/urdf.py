"""Robots from URDF files.

The XML is read by ``urdf_parser_py``, the parser of the ROS project: it names the element of a
mistake, makes up no numbers, loads in 0.1 s and needs lxml and PyYAML alone. ``yourdfpy`` takes a
missing mass for 0 and a missing moment of inertia for 1 kg m^2, and brings 25 packages for meshes
(270 MB, 0.7 s).

Conventions are Pinocchio's, so that results can be compared: the order of the joints (depth first,
by the names of the joints), links on fixed joints lumped into what carries them, a floating base
that is called ``root_joint``, mimic joints without coordinates of their own.
"""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
from urdf_parser_py.urdf import Inertia as UrdfInertia
from urdf_parser_py.urdf import Joint as UrdfJoint
from urdf_parser_py.urdf import Link as UrdfLink
from urdf_parser_py.urdf import Pose as UrdfPose
from urdf_parser_py.xml_reflection.core import (
    Element,
    ObjectType,
    ParseError,
    SimpleElementType,
    reflect,
)

from pymodel.arith.errors import require_path
from pymodel.mechanism.decimals import decimal
from pymodel.mechanism.moments import ROUNDING
from pymodel.mechanism.robot import (
    BALL,
    CYLINDRICAL,
    FIXED_BASE,
    FLOATING,
    FREE,
    GRAVITY,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    UNIVERSAL,
    FixedLink,
    Mimic,
    Robot,
    moved,
    one_line,
    shown,
)
from pymodel.mechanism.robot_bodies import (
    LARGEST,
    ROOT_JOINT,
    Body,
    Followed,
    RobotError,
    armatures,
    chain,
    checked,
    fault,
    frame_along,
    frame_turned_to,
    ground_under,
    links_of,
    mimic_note,
    mimics_of,
    require_snap,
    required_gravity,
    snapped_placements,
    unapplied,
)
from pymodel.mechanism.rotations import from_angles

FIXED = "fixed"
#: Types of joints that move; the first five are URDF's.
KINDS = {
    "revolute": REVOLUTE,
    "continuous": REVOLUTE,
    "prismatic": PRISMATIC,
    "planar": PLANAR,
    "floating": FLOATING,
    "ball": BALL,
    "spherical": BALL,
    "cylindrical": CYLINDRICAL,
    "universal": UNIVERSAL,
    "screw": HELICAL,
}
PITCH = "screw_thread_pitch"  # of a screw, m a turn
#: Namespaces of Drake's elements, declared or not, and which of these are read.
DRAKE, OF_DRAKE = ("http://drake.mit.edu", ":drake"), ("joint", PITCH)

#: Elements of links and joints that bear on dynamics; the rest (meshes, limits) is not parsed.
READ = ("inertial", "origin", "parent", "child", "axis", "dynamics", "mimic", PITCH)
#: Element -> its attributes that are numbers, and how many.
NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(UrdfInertia.KEYS, 1),
    "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"multiplier": 1, "offset": 1},
    PITCH: {"value": 1},
}
NEEDED = {
    "axis": "xyz",
    "mass": "value",
    "parent": "link",
    "child": "link",
    "mimic": "joint",
    PITCH: "value",
}
XACRO = "`pip install xacro` and `xacro <file> > robot.urdf`"
ACROSS = "a universal joint turns about x, then y of its <origin>: turn that, without <axis>"
UNBOUND_PREFIX = expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]


class Joint(UrdfJoint):
    """The library's joint, of any type; which are read is said later, by name."""

    def check_valid(self) -> None:
        """Accept all types."""


reflect(
    Joint,
    tag="joint",
    params=[
        *UrdfJoint.XML_REFL.attributes,
        *UrdfJoint.XML_REFL.element_map.values(),
        Element(PITCH, SimpleElementType("value", float), False),
    ],
)


def load(
    path: str | os.PathLike[str],
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    text: bytes | None = None,
) -> Robot:
    """Read a robot.

    Placements are those of the file, unless ``snap`` is asked for: then entries of a joint's
    placement that almost are 0 or +-1, as an angle of 1.5708 leaves them, become that; the robot's
    warnings say where. A placement of other angles, as 1.57, is kept exactly.

    Parameters
    ----------
    path
        URDF file.
    floating
        Whether the root link is a floating base; otherwise it stands on the ground. If a floating
        joint of the file carries all that moves, what hangs on that is the floating base anyway.
    damping
        Whether the file's joint damping acts. Pinocchio's inverse dynamics leave it out.
    armature
        Inertia of the drives, seen at the joints, kg m^2 or kg: one value for all joints, or by
        joint's name, 0 for those that are not named. A joint of several degrees of freedom has it
        in each, or by their own names, as ``<joint>.x``; a floating one has none.
    snap
        How far from 0 entries of a placement's rotation may be that become 0, and those beside them
        +-1; at most 0.01. :data:`SNAP` takes 1.5708 for a right angle.
    gravity
        Its acceleration in the axes of the root link, shape (3,), m/s^2; of a floating base in
        those of the ground. None: (0, 0, -9.81).
    mimic
        Whether mimic joints follow what they mimic; otherwise they are joints of their own.
    text
        What to read in place of the file's, as another format's reader writes it.

    Raises
    ------
    RobotError
        If the file cannot be read or is no URDF; if its links do not form a tree; if an element
        that is read stands twice in a link, joint or inertial; if a number is not finite, beyond
        1e30, or not in decimal digits; if no joint moves; if a joint's type is not known; if its
        axis is zero, or is that of a universal joint; if a screw has no pitch; if damping or
        friction is negative, or a floating joint's damping is to act.
        If a mass or a moment of inertia (ixx, iyy, izz) is negative. If neither armature nor the
        inertia of what a joint carries resists it in any configuration, as where a massless link is
        the last one; if a floating base has no inertia about some axis. Links that resist their own
        joints, with what is fixed to them, make the mass matrix positive definite at all
        configurations; others, as a massless link between two joints, may leave some where it is
        singular, which is a warning.
        Inertias that no body has are a warning, as they are common: a principal moment that is
        negative (Atlas' torso), or more than the sum of the others.
        For mimic joints as by :func:`pymodel.mechanism.robot_bodies.mimics_of`.
    InputError
        If the path is none; if armature is negative, no number, or of no joint; if snap is no
        number of 0 to 0.01; if gravity is no three numbers.
    """
    require_path("path", path)
    require_snap(snap)
    falling = required_gravity((0.0, 0.0, -GRAVITY) if gravity is None else gravity)
    ground = ground_under(falling)
    source = os.fspath(path)
    file = _parsed(source, text)
    root, children = _tree(source, file)
    base = _floating_base(file, root, children)
    bodies, fixed = _lumped(source, file, root, children, floating, base, ground)
    if not bodies:
        raise RobotError(source, "", "no joint moves")
    said = "is not declared: what has it is not read"
    notes = [f"prefix {name} {said}" for name in file.undeclared]
    planar = [x for x in file.joints if x.type == "planar" and _axis(source, x)[:2].any()]
    if planar:
        which = ", ".join(joint.name for joint in planar)
        notes.append(f"planar joints move across their axis, which Pinocchio takes for z: {which}")
    snapped = tuple(snapped_placements(bodies, float(snap)))
    joints = {joint.name: joint for joint in file.joints}
    names = dict.fromkeys(body.whole for body in bodies if body.kind != FREE)
    moving = [joints[name] for name in names]
    given = armatures(source, armature, bodies)
    for body in bodies:
        own = base if body.kind == FREE else joints[body.whole]
        if damping and own is not None:
            body.damping = _applied_damping(source, own)
        if own is not None:
            body.friction = _friction(own)
        body.armature = given.get(body.joint, 0.0)
    links = links_of(bodies)
    mimics = _mimics(source, bodies, joints) if mimic else {}
    notes += [mimic_note(bodies, mimics)] if mimics else []
    odd = checked(source, links, mimics)
    alone = {joint.name: joint.mimic.joint for joint in moving if joint.mimic and not mimic}
    warnings = (*snapped, *_joint_warnings(moving, alone, joints, damping), *odd)
    return Robot(
        file.name,
        tuple(links),
        gravity=math.hypot(*falling),
        source=source,
        fixed=fixed,
        snap=float(snap),
        notes=tuple(map(one_line, notes)),
        warnings=tuple(map(one_line, warnings)),
        ground=ground,
        mimics=mimics,
    )


def _mimics(source: str, bodies: Sequence[Body], joints: Mapping[str, Joint]) -> dict[int, Mimic]:
    """Which bodies' joints mimic which others."""
    given = {}
    for body in bodies:
        mimic = joints[body.whole].mimic if body.whole in joints else None
        if mimic:
            ratio = 1.0 if mimic.multiplier is None else mimic.multiplier
            given[body.joint] = Followed(mimic.joint, ratio, mimic.offset or 0.0)
    fixed = [name for name, joint in joints.items() if joint.type == FIXED]
    return mimics_of(source, bodies, given, fixed)


def file_order(robot: Robot, text: bytes | None = None) -> list[str]:
    """Names of the joints that move, depth first, those on a link as the file lists them.

    ``text`` as of :func:`load`.
    """
    file = _parsed(robot.source, text)
    root, children = _tree(robot.source, file)
    places = {joint.name: place for place, joint in enumerate(file.joints)}
    parts: dict[str, list[str]] = {}
    for link in robot.links:
        parts.setdefault(link.part.joint if link.part else link.joint, []).append(link.joint)
    found = parts.get(ROOT_JOINT, []) if ROOT_JOINT not in places else []
    for on_link in children.values():
        on_link.sort(key=lambda joint: -places[joint.name])  # the next one last
    pending = [*children[root]]
    while pending:
        joint = pending.pop()
        found += [] if joint.type == FIXED else parts[joint.name]
        pending += children[joint.child]
    return found


@dataclass
class _File:
    """What a file holds."""

    name: str
    links: list[UrdfLink]
    joints: list[Joint]
    undeclared: list[str]  # prefixes


def parsed_xml(source: str, text: bytes | None = None) -> ElementTree.Element:
    """The root element of a file, without the default namespace that the file may have.

    ``text`` as of :func:`load`.

    Raises
    ------
    RobotError
        If the file cannot be read or is no URDF.
    """
    try:
        data = Path(source).read_bytes() if text is None else text
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        reason = getattr(error, "strerror", None) or error
        raise RobotError(source, "", f"cannot read: {reason}") from None
    try:
        tree = _tree_of(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the last two: its encoding
        raise RobotError(source, "", f"not XML: {error}") from None
    space, _, root = tree.tag.rpartition("}")
    if root != "robot":
        raise RobotError(source, "", f"not URDF: the root element is <{root}>, not <robot>")
    if not tree.get("name"):
        raise RobotError(source, "", "<robot> has no name")
    if any("xacro}" in element.tag for element in tree.iter()):
        raise RobotError(source, "", f"has macros: make a URDF of it, {XACRO}")
    for element in tree.iter():
        element.tag = element.tag.removeprefix(f"{space}}}")
        if element.tag in [f"{{{name}}}{tag}" for name in DRAKE for tag in OF_DRAKE]:
            element.tag = element.tag.rpartition("}")[2]
    return tree


def efforts(source: str) -> dict[str, float]:
    """Joint -> effort of its ``<limit>``, N m or N, where the file gives one above 0.

    Raises
    ------
    RobotError
        If the file cannot be read or is no URDF, an effort is no number, or there is none.
    """
    found = {}
    for joint in parsed_xml(source).findall("joint"):
        limit = joint.find("limit")
        text = limit.get("effort") if limit is not None else None
        try:
            value = float(text or 0.0)
        except ValueError:
            element = f"joint {joint.get('name')}"
            raise RobotError(source, element, f"effort {text!r}: no number") from None
        if 0.0 < value < math.inf:
            found[str(joint.get("name"))] = value
    if not found:
        raise RobotError(source, "", "no joint has a limit with an effort")
    return found


def _tree_of(data: bytes) -> ElementTree.Element:
    """The root element; a prefix p that nobody declares stands for a namespace ``:p``.

    Files that are published have such prefixes, as Drake's, and readers of URDF do not mind.
    """
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        if error.code != UNBOUND_PREFIX:
            raise
    events = expat.ParserCreate()
    builder = ElementTree.TreeBuilder()
    declared = {"xml": "xml"}

    def name(text: str) -> str:
        prefix, colon, local = text.partition(":")
        return f"{{{declared.get(prefix, f':{prefix}')}}}{local}" if colon else text

    def start(tag: str, attributes: dict[str, str]) -> None:
        for key, value in attributes.items():
            if key.startswith("xmlns:"):
                declared[key.removeprefix("xmlns:")] = value
        builder.start(name(tag), {name(key): value for key, value in attributes.items()})

    events.StartElementHandler = start
    events.EndElementHandler = lambda tag: builder.end(name(tag))
    events.CharacterDataHandler = builder.data
    try:
        events.Parse(data, True)
    except expat.ExpatError as error:
        raise ElementTree.ParseError(str(error)) from None
    return builder.close()


def _parsed(source: str, text: bytes | None = None) -> _File:
    """The file as the library's objects."""
    tree = parsed_xml(source, text)
    prefixes = undeclared(tree)
    links = [_element(source, UrdfLink, element) for element in tree.findall("link")]
    joints = [_element(source, Joint, element) for element in tree.findall("joint")]
    return _File(shown(tree.attrib["name"]), links, joints, prefixes)


def undeclared(tree: ElementTree.Element) -> list[str]:
    """Prefixes that a file does not declare, by its root element as :func:`parsed_xml` gives it."""
    names = [name for part in tree.iter() for name in (part.tag, *part.keys())]
    return sorted({name[2:].partition("}")[0] for name in names if name.startswith("{:")})


def _element(source: str, kind: type, element: ElementTree.Element) -> UrdfLink | Joint:
    """A link or joint as the library's object."""
    for child in list(element):
        if child.tag not in READ:
            element.remove(child)
    try:
        for part in (element, *element, *element.findall("inertial/*")):
            _check_attributes(part)
        _prune(element, kind)
        return kind().parse(ElementTree.tostring(element))
    except (ParseError, AssertionError, AttributeError, TypeError, ValueError) as error:
        name = f"{element.tag} {element.get('name', '')}".strip()
        reason = str(error.e if isinstance(error, ParseError) else error)
        raise RobotError(source, name, reason) from None


def _prune(element: ElementTree.Element, kind: Any) -> None:
    """Remove what the library does not know: it would print that.

    Raises
    ------
    ValueError
        If an element stands twice: the library would take the first.
    """
    known = kind.XML_REFL
    for name in element.keys() - known.attribute_map.keys():
        del element.attrib[name]
    seen = set()
    for child in list(element):
        if child.tag not in known.element_map:
            element.remove(child)
            continue
        if child.tag in seen:
            raise ValueError(f"<{element.tag}> has several <{child.tag}>")
        seen.add(child.tag)
        inner = known.element_map[child.tag].value_type
        if isinstance(inner, ObjectType):
            _prune(child, inner.type)


def _check_attributes(element: ElementTree.Element) -> None:
    """Refuse attributes that are missing or not known, and numbers that are none, of a part.

    Raises
    ------
    ValueError
        If there is one.
    """
    if element.tag == "origin" and "quat_xyzw" in element.attrib:  # of URDF 1.1
        raise ValueError("<origin> quat_xyzw is not known, must be rpy")
    needed = NEEDED.get(element.tag)
    if needed and needed not in element.attrib:
        raise ValueError(f"<{element.tag}> has no {needed}")
    most = sys.float_info.max if element.tag == "axis" else LARGEST
    for name, count in NUMBERS.get(element.tag, {}).items():
        text = element.get(name)
        if text is None:
            continue
        try:
            values = [decimal(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != count or not all(abs(x) <= most for x in values):
            what = "a number" if count == 1 else f"{count} numbers"
            raise ValueError(
                f"<{element.tag}> {name} is {text!r}, must be {what}, at most {most:.2g} in size"
            )


def _tree(source: str, file: _File) -> tuple[str, dict[str, list[Joint]]]:
    """Root link, and the joints on each link by name."""
    for what, elements in (("link", file.links), ("joint", file.joints)):
        for name, count in Counter(element.name for element in elements).items():
            if count > 1:
                raise RobotError(source, f"{what} {name}", f"{count} {what}s have this name")
    links = [link.name for link in file.links]
    children: dict[str, list[Joint]] = {name: [] for name in links}
    above: dict[str, Joint] = {}
    for joint in sorted(file.joints, key=lambda joint: joint.name):
        for link in (joint.parent, joint.child):
            if link not in children:
                raise RobotError(source, f"joint {joint.name}", f"there is no link {link}")
        other = above.setdefault(joint.child, joint)
        if other is not joint:
            reason = f"closed chain: hangs on joint {other.name} and on joint {joint.name}"
            raise RobotError(source, f"link {joint.child}", reason)
        children[joint.parent].append(joint)
    roots = [name for name in links if name not in above]
    if len(roots) > 1:
        raise RobotError(source, "", f"several links hang on no joint: {', '.join(roots)}")
    reached = list(roots)
    for link in reached:
        reached += [joint.child for joint in children[link]]
    loose = [name for name in links if name not in reached]
    if loose:
        raise RobotError(source, f"link {loose[0]}", "closed chain: it hangs on itself")
    if not roots:
        raise RobotError(source, "", "no links")
    _check_joints(source, file.joints)
    return roots[0], children


def _check_joints(source: str, joints: list[Joint]) -> None:
    """Refuse types that are not known, and what drives."""
    for joint in joints:
        if joint.type not in (FIXED, *KINDS):
            reason = f"unknown type {joint.type}, must be {', '.join(KINDS)} or {FIXED}"
            raise RobotError(source, f"joint {joint.name}", reason)
        for what, value in (("damping", _damping(joint)), ("friction", _friction(joint))):
            if wrong := fault(what, value):
                raise RobotError(source, f"joint {joint.name}", wrong)


def _floating_base(file: _File, root: str, children: dict[str, list[Joint]]) -> Joint | None:
    """The floating joint that carries all that moves on the ground: that of a floating base."""
    on_ground, found = [root], []
    for link in on_ground:
        found += [joint for joint in children[link] if joint.type != FIXED]
        on_ground += [joint.child for joint in children[link] if joint.type == FIXED]
    alone = len(found) == 1 and KINDS[found[0].type] == FLOATING
    return found[0] if alone else None


def _lumped(
    source: str,
    file: _File,
    root: str,
    children: dict[str, list[Joint]],
    floating: bool,
    base: Joint | None,
    ground: np.ndarray,
) -> tuple[list[Body], dict[str, FixedLink]]:
    """Links that move, depth first, each with what is fixed to it; and the fixed ones by name."""
    links = {link.name: link for link in file.links}
    bodies: list[Body] = []
    fixed: dict[str, FixedLink] = {}
    identity = np.eye(3), np.zeros(3)
    carrier = FIXED_BASE
    inertia = _inertia(source, links[root], base is not None or not floating)
    if floating and base is None:
        bodies.append(Body(root, ROOT_JOINT, FREE, FIXED_BASE, *identity, np.eye(3), inertia))
        carrier = 0
    else:
        fixed[root] = FixedLink(carrier, *identity)

    # Joints still to come, the next one last; each with the body that carries its parent link, and
    # that link's placement in it.
    turn = ground if carrier == FIXED_BASE and base is None else np.eye(3)
    pending = [(joint, carrier, turn, np.zeros(3)) for joint in reversed(children[root])]
    while pending:
        joint, carrier, rotation, offset = pending.pop()
        turn, shift = _placement(joint.origin)
        rotation, offset = rotation @ turn, offset + rotation @ shift
        inertia = _inertia(source, links[joint.child], joint.type == FIXED)
        if joint.type == FIXED:
            fixed[joint.child] = FixedLink(carrier, rotation, offset)
            if carrier != FIXED_BASE:
                bodies[carrier].inertia += moved(inertia, rotation, offset)
        else:
            if joint.name in (body.joint for body in bodies):
                raise RobotError(source, f"joint {joint.name}", "the floating base has this name")
            kind = FREE if joint is base else KINDS[joint.type]
            placed = Body(
                joint.child, joint.name, kind, carrier, rotation, offset, np.eye(3), inertia
            )
            bodies += _jointed(source, file, joint, placed, len(bodies))
            carrier, (rotation, offset) = len(bodies) - 1, identity
        pending += [(each, carrier, rotation, offset) for each in reversed(children[joint.child])]
    return bodies, fixed


def _jointed(source: str, file: _File, joint: Joint, body: Body, index: int) -> list[Body]:
    """The body in the axes of its joint; a chain of bodies if that has several freedoms."""
    if (joint.screw_thread_pitch is None) == (body.kind == HELICAL):
        reason = f"<{PITCH}>, m a turn, must stand in joints of the type screw, and in no others"
        raise RobotError(source, f"joint {joint.name}", reason)
    if body.kind == FREE:
        return [body]
    if body.kind in (REVOLUTE, PRISMATIC, HELICAL):
        body.frame = frame_along(_axis(source, joint))
        body.pitch = (joint.screw_thread_pitch or 0.0) / math.tau
        return [body]
    frame = np.eye(3)
    if body.kind in (PLANAR, CYLINDRICAL):
        frame = frame_turned_to(_axis(source, joint))
    elif body.kind == UNIVERSAL and joint.axis is not None:
        raise RobotError(source, f"joint {joint.name}", ACROSS)
    try:
        return chain(body.kind, body, index, frame, {other.name for other in file.joints})
    except ValueError as error:
        raise RobotError(source, f"joint {joint.name}", str(error)) from None


def _placement(pose: UrdfPose | None) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and offset of an origin: turns about the fixed axes x, y, z, in this order."""
    if pose is None:
        return np.eye(3), np.zeros(3)
    return from_angles(pose.rpy or (0, 0, 0)), np.array(pose.xyz or (0, 0, 0), float)


def _inertia(source: str, link: UrdfLink, held: bool) -> np.ndarray:
    """Pseudo-inertia about the origin of URDF's link frame, shape (4, 4); zero if it has none.

    A mass without moments of inertia is a point mass if the link is ``held``: by the ground, or by
    a link that is to have inertia. All others would have to turn by themselves.
    """
    inertial, element = link.inertial, f"link {link.name}"
    if inertial is None:
        return np.zeros((4, 4))
    if inertial.inertia is None and not held:
        raise RobotError(source, element, "a mass without moments of inertia")
    given = inertial.inertia
    mass, moments = inertial.mass, np.array(given.to_matrix() if given else np.zeros((3, 3)))
    least = moments.diagonal().min()
    for what, value, rounding in (("mass", mass, 0.0), ("moment of inertia", least, ROUNDING)):
        if value < -rounding:
            raise RobotError(source, element, f"its {what} is negative: {value}")
    inertia = np.zeros((4, 4))
    inertia[:3, :3] = np.trace(moments) / 2 * np.eye(3) - moments
    inertia[3, 3] = mass
    return moved(inertia, *_placement(inertial.origin))


def _axis(source: str, joint: Joint) -> np.ndarray:
    axis = np.array(joint.axis or (1, 0, 0), float)
    if not axis.any():
        raise RobotError(source, f"joint {joint.name}", "its axis is zero")
    return axis


def _joint_warnings(
    joints: list[Joint], mimics: Mapping[str, str], names: Container[str], damping: bool
) -> Iterator[str]:
    """What of the moving joints a user may not expect.

    `mimics`: those that mimic others in the file and not here; `names`: of all joints.
    """
    if mimics:
        pairs = ", ".join(f"{name} ({other})" for name, other in mimics.items())
        yield f"mimic joints are joints of their own: {pairs}"
    missing = [f"{name} ({other})" for name, other in mimics.items() if other not in names]
    if missing:
        yield f"what a mimic joint mimics is not there: {', '.join(missing)}"
    damped = [joint.name for joint in joints if _damping(joint)]
    yield from unapplied(damped, [joint.name for joint in joints if _friction(joint)], damping)


def _applied_damping(source: str, joint: Joint) -> float:
    """A joint's damping, which acts on each of its degrees of freedom."""
    if KINDS[joint.type] == FLOATING and _damping(joint):
        reason = "damping of a floating joint is not applied: take it out"
        raise RobotError(source, f"joint {joint.name}", reason)
    return _damping(joint)


def _damping(joint: Joint) -> float:
    return (joint.dynamics and joint.dynamics.damping) or 0.0


def _friction(joint: Joint) -> float:
    return (joint.dynamics and joint.dynamics.friction) or 0.0
