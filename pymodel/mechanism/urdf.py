"""Robots from URDF files.

The XML is read by ``urdf_parser_py``, the parser of the ROS project: it names the element of a
mistake, makes up no numbers, loads in 0.1 s and needs lxml and PyYAML alone. ``yourdfpy`` takes a
missing mass for 0 and a missing moment of inertia for 1 kg m^2, and brings 25 packages for meshes
(270 MB, 0.7 s).

Conventions are Pinocchio's, so that results can be compared: the order of the joints (depth first,
by the names of the joints), links on fixed joints lumped into what carries them, a floating base
that is called ``root_joint``, a mimic joint as a joint of its own.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
from urdf_parser_py.urdf import Inertia as UrdfInertia
from urdf_parser_py.urdf import Joint as UrdfJoint
from urdf_parser_py.urdf import Link as UrdfLink
from urdf_parser_py.urdf import Pose as UrdfPose
from urdf_parser_py.xml_reflection.core import ObjectType, ParseError

from pymodel.arith.errors import Error, InputError, require_path
from pymodel.mechanism.articulated import resistances
from pymodel.mechanism.decimals import decimal
from pymodel.mechanism.moments import ROUNDING, are_of_no_body
from pymodel.mechanism.robot import (
    FIXED_BASE,
    FREE,
    PRISMATIC,
    REVOLUTE,
    FixedLink,
    Link,
    Robot,
    moved,
    one_line,
    shown,
)
from pymodel.mechanism.rotations import from_angles

ROOT_JOINT = "root_joint"  #: name of a floating base's joint

FIXED = "fixed"
KINDS = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC}

SNAP = 1e-5  #: what takes an angle of 1.5708 for a right one
SNAP_OFFSET = 1e-4  #: m; times what rotations are snapped by: entries of offsets that become 0
LARGEST_SNAP = 1e-2
DUST = 1e-15  #: what is smaller, of a placement of 1 and 1 m, comes from its sines and cosines
RESISTING = 1e-9  #: of :func:`resistances`, above which more than rounding resists a joint

#: Elements of links and joints that bear on dynamics; the rest (meshes, limits) is not parsed.
READ = ("inertial", "origin", "parent", "child", "axis", "dynamics", "mimic")
#: Element -> its attributes that are numbers, and how many.
NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(UrdfInertia.KEYS, 1),
    "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"multiplier": 1, "offset": 1},
}
NEEDED = {"axis": "xyz", "mass": "value", "parent": "link", "child": "link", "mimic": "joint"}
UNBOUND_PREFIX = expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]
#: No number but an axis', which is scaled, is larger: SI units; products of ten are finite.
LARGEST = 1e30


class RobotError(Error, ValueError):
    """A robot that makes no sense; ``str()`` is the single line ``file: element: reason``.

    Parameters
    ----------
    source : str
        File.
    element : str
        Link or joint, as ``joint elbow``; empty if the whole file is meant.
    reason : str
    """

    def __init__(self, source: str, element: str, reason: str) -> None:
        self.source, self.element, self.reason = source, one_line(element), one_line(reason)
        super().__init__(source, element, reason)

    def __str__(self) -> str:
        """The line; its parts are the arguments, from which pickle makes the error again."""
        return ": ".join(filter(None, (self.source, self.element, self.reason)))


def load(
    path: str | os.PathLike[str],
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    snap: float = 0.0,
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
        Whether the root link is a floating base; otherwise it stands on the ground.
    damping
        Whether the file's joint damping acts. Pinocchio's inverse dynamics leave it out.
    armature
        Inertia of the drives, seen at the joints, kg m^2 or kg: one value for all joints, or by
        joint's name, 0 for those that are not named.
    snap
        How far from 0 entries of a placement's rotation may be that become 0, and those beside them
        +-1; at most 0.01. :data:`SNAP` takes 1.5708 for a right angle.

    Raises
    ------
    RobotError
        If the file cannot be read or is no URDF; if its links do not form a tree; if an element
        that is read stands twice in a link, joint or inertial; if a number is not finite, beyond
        1e30, or not in decimal digits; if no joint moves; if a joint's type is not known, or planar
        or floating; if its axis is zero; if damping or friction is negative.
        If a mass or a moment of inertia (ixx, iyy, izz) is negative. If neither armature nor the
        inertia of what a joint carries resists it in any configuration, as where a massless link is
        the last one; if a floating base has no inertia about some axis. Links that resist their own
        joints, with what is fixed to them, make the mass matrix positive definite at all
        configurations; others, as a massless link between two joints, may leave some where it is
        singular, which is a warning.
        Inertias that no body has are a warning, as they are common: a principal moment that is
        negative (Atlas' torso), or more than the sum of the others.
    InputError
        If the path is none; if armature is negative, no number, or of no joint; if snap is no
        number of 0 to 0.01.
    """
    require_path("path", path)
    if isinstance(snap, bool) or not (isinstance(snap, Real) and 0.0 <= snap <= LARGEST_SNAP):
        raise InputError(f"snap: must be a number of 0 to {LARGEST_SNAP:g}, got {snap!r}")
    source = os.fspath(path)
    file = _parsed(source)
    root, children = _tree(source, file)
    bodies, fixed = _lumped(source, file, root, children, floating)
    if not bodies:
        raise RobotError(source, "", "no joint moves")
    said = "is not declared: what has it is not read"
    notes = tuple(one_line(f"prefix {name} {said}") for name in file.undeclared)
    snapped = tuple(_snapped_placements(bodies, float(snap)))
    joints = {joint.name: joint for joint in file.joints}
    moving = [joints[body.joint] for body in bodies if body.kind != FREE]
    dampings = {joint.name: _damping(joint) for joint in moving} if damping else {}
    armatures = _armature(source, armature, [joint.name for joint in moving])
    links = []
    for body in bodies:
        parent = np.eye(3) if body.parent == FIXED_BASE else bodies[body.parent].frame
        link = Link(
            name=body.name,
            joint=body.joint,
            kind=body.kind,
            parent=body.parent,
            rotation=parent.T @ body.rotation @ body.frame + 0.0,  # -0 becomes 0
            offset=parent.T @ body.offset + 0.0,
            inertia=moved(body.inertia, body.frame.T, np.zeros(3)) + 0.0,
            damping=dampings.get(body.joint, 0.0),
            armature=armatures.get(body.joint, 0.0),
            frame_rotation=body.frame.T,
        )
        links.append(link)
    odd = (*_check_inertia(source, links), *_inertia_warnings(links))
    warnings = (*snapped, *_joint_warnings(moving, joints, damping), *odd)
    return Robot(
        file.name,
        tuple(links),
        source=source,
        fixed=fixed,
        snap=float(snap),
        notes=notes,
        warnings=tuple(map(one_line, warnings)),
    )


@dataclass
class _File:
    """What a file holds."""

    name: str
    links: list[UrdfLink]
    joints: list[UrdfJoint]
    undeclared: list[str]  # prefixes


def parsed_xml(source: str) -> ElementTree.Element:
    """The root element of a file, without the default namespace that the file may have.

    Raises
    ------
    RobotError
        If the file cannot be read or is no URDF.
    """
    try:
        data = Path(source).read_bytes()
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
        raise RobotError(source, "", "has macros: make a URDF of it, `xacro <file> > robot.urdf`")
    for element in tree.iter():
        element.tag = element.tag.removeprefix(f"{space}}}")
    return tree


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


def _parsed(source: str) -> _File:
    """The file as the library's objects."""
    tree = parsed_xml(source)
    names = [name for part in tree.iter() for name in (part.tag, *part.keys())]
    undeclared = {name[2:].partition("}")[0] for name in names if name.startswith("{:")}
    links = [_element(source, UrdfLink, element) for element in tree.findall("link")]
    joints = [_element(source, UrdfJoint, element) for element in tree.findall("joint")]
    return _File(shown(tree.attrib["name"]), links, joints, sorted(undeclared))


def _element(source: str, kind: type, element: ElementTree.Element) -> UrdfLink | UrdfJoint:
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


def _tree(source: str, file: _File) -> tuple[str, dict[str, list[UrdfJoint]]]:
    """Root link, and the joints on each link by name."""
    for what, elements in (("link", file.links), ("joint", file.joints)):
        for name, count in Counter(element.name for element in elements).items():
            if count > 1:
                raise RobotError(source, f"{what} {name}", f"{count} {what}s have this name")
    links = [link.name for link in file.links]
    children: dict[str, list[UrdfJoint]] = {name: [] for name in links}
    above: dict[str, UrdfJoint] = {}
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


def _check_joints(source: str, joints: list[UrdfJoint]) -> None:
    """Refuse types that are no single degree of freedom, and what drives."""
    for kind in ("planar", "floating"):
        found = [joint.name for joint in joints if joint.type == kind]
        if found:
            where = f"joint {', '.join(found)}"
            raise RobotError(source, where, f"a {kind} joint inside the tree")
    for joint in joints:
        if joint.type not in (FIXED, *KINDS):
            raise RobotError(source, f"joint {joint.name}", f"unknown type {joint.type}")
        for what, value in (("damping", _damping(joint)), ("friction", _friction(joint))):
            if fault := _fault(what, value):
                raise RobotError(source, f"joint {joint.name}", fault)


def _fault(what: str, value: float) -> str | None:
    """What is wrong with a number of a joint that is to resist it."""
    if isinstance(value, Real) and 0 <= value <= LARGEST:
        return None
    return f"its {what} must be a number of 0 to {LARGEST:.0e}, got {value}"


@dataclass
class _Body:
    """A moving link in URDF's frames, with what is fixed to it."""

    name: str
    joint: str
    kind: str
    parent: int
    rotation: np.ndarray
    offset: np.ndarray
    frame: np.ndarray  # from the frame whose z is the joint's axis to URDF's
    inertia: np.ndarray

    def snap(self, near: float) -> int:
        """Snap the placement; returns how many entries changed by more than rounding."""
        rotation = _snapped(self.rotation, max(near, DUST))
        small = max(near * SNAP_OFFSET, DUST * max(1.0, float(np.abs(self.offset).max())))
        offset = np.where(np.abs(self.offset) < small, 0.0, self.offset)
        changes = np.abs(np.column_stack((rotation - self.rotation, offset - self.offset)))
        self.rotation, self.offset = rotation, offset
        return int(np.sum(changes > ROUNDING))


def _snapped(rotation: np.ndarray, most: float) -> np.ndarray:
    """The rotation whose entries near 0 and +-1 are exactly that; itself if there is none near.

    Snapped entries alone make no rotation where an angle of 1.5708 follows others of any value.
    So the nearest rotation is taken and snapped again, until both agree. Near +-1 is what is so
    with entries near 0 beside it: an angle e leaves 1 - e^2 / 2 next to e.
    """
    found = rotation
    for _ in range(100):  # where they will agree, the distance halves
        whole = np.round(found)
        near = np.where(whole == 0, most, max(most**2 / 2, DUST))
        found = np.where(np.abs(found - whole) < near, whole, found)
        u, _, v = np.linalg.svd(found)
        agreed = np.abs(u @ v - found).max() < 1e-15
        if agreed and np.abs(found - rotation).max() < most:
            return found + 0.0  # -0 becomes 0
        found = u @ v
    return rotation + 0.0


def _lumped(
    source: str, file: _File, root: str, children: dict[str, list[UrdfJoint]], floating: bool
) -> tuple[list[_Body], dict[str, FixedLink]]:
    """Links that move, depth first, each with what is fixed to it; and the fixed ones by name."""
    links = {link.name: link for link in file.links}
    bodies: list[_Body] = []
    fixed: dict[str, FixedLink] = {}
    identity = np.eye(3), np.zeros(3)
    carrier = FIXED_BASE
    inertia = _inertia(source, links[root], not floating)
    if floating:
        bodies.append(_Body(root, ROOT_JOINT, FREE, FIXED_BASE, *identity, np.eye(3), inertia))
        carrier = 0
    else:
        fixed[root] = FixedLink(carrier, *identity)

    # Joints still to come, the next one last; each with the body that carries its parent link, and
    # that link's placement in it.
    pending = [(joint, carrier, *identity) for joint in reversed(children[root])]
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
            kind, frame = KINDS[joint.type], _frame(source, joint)
            bodies.append(
                _Body(joint.child, joint.name, kind, carrier, rotation, offset, frame, inertia)
            )
            carrier, (rotation, offset) = len(bodies) - 1, identity
        pending += [(each, carrier, rotation, offset) for each in reversed(children[joint.child])]
    return bodies, fixed


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


def _frame(source: str, joint: UrdfJoint) -> np.ndarray:
    """From a frame whose z axis is the joint's axis to URDF's; a signed permutation if possible."""
    axis = np.array(joint.axis or (1, 0, 0), float)
    if not axis.any():
        raise RobotError(source, f"joint {joint.name}", "its axis is zero")
    _, exponent = np.frexp(np.abs(axis).max())
    axis = np.ldexp(axis, -exponent)  # its squares are neither 0 nor infinite
    axis /= np.linalg.norm(axis)
    axis = np.where(np.abs(axis) < ROUNDING, 0.0, axis)
    main = int(np.argmax(np.abs(axis)))
    others = (main + 1) % 3, (main + 2) % 3
    across = np.eye(3)[min(others, key=lambda k: abs(axis[k]))]
    across = across - (across @ axis) * axis
    across /= np.linalg.norm(across)
    return np.column_stack((across, np.cross(axis, across), axis))


def _snapped_placements(bodies: list[_Body], near: float) -> Iterator[str]:
    """Snap the placements; say what changed."""
    counts = {body.joint: body.snap(near) for body in bodies}
    if near and any(counts.values()):
        names = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        yield f"{sum(counts.values())} entries of joint transforms rounded to 0, 1 or -1: {names}"


def _joint_warnings(joints: list[UrdfJoint], names: Container[str], damping: bool) -> Iterator[str]:
    """What of the moving joints a user may not expect; `names` are those of all joints."""
    mimics = {joint.name: joint.mimic.joint for joint in joints if joint.mimic}
    if mimics:
        pairs = ", ".join(f"{name} ({other})" for name, other in mimics.items())
        yield f"mimic joints are joints of their own: {pairs}"
    missing = [f"{name} ({other})" for name, other in mimics.items() if other not in names]
    if missing:
        yield f"what a mimic joint mimics is not there: {', '.join(missing)}"
    damped = [joint.name for joint in joints if _damping(joint)]
    if damped and not damping:
        yield f"damping is not applied: {', '.join(damped)}"
    if damping and not damped:
        yield "there is no joint damping to apply"
    rubbing = [joint.name for joint in joints if _friction(joint)]
    if rubbing:
        yield f"dry friction is not applied: {', '.join(rubbing)}"


def _damping(joint: UrdfJoint) -> float:
    return (joint.dynamics and joint.dynamics.damping) or 0.0


def _friction(joint: UrdfJoint) -> float:
    return (joint.dynamics and joint.dynamics.friction) or 0.0


def _armature(
    source: str, armature: float | Mapping[str, float], joints: list[str]
) -> dict[str, float]:
    """The armature of each joint that has one."""
    drives = dict(armature if isinstance(armature, Mapping) else dict.fromkeys(joints, armature))
    for name, value in drives.items():
        if name not in joints:
            raise InputError(f"{source}: armature: there is no moving joint {one_line(name)}")
        if fault := _fault("armature", value):
            raise InputError(f"{source}: joint {one_line(name)}: {fault}")
    return drives


def _check_inertia(source: str, links: list[Link]) -> Iterator[str]:
    """Refuse what leaves a joint without inertia; warn where its own link has none."""
    shares, carried = resistances(links), []
    for link, share in zip(links, shares, strict=True):
        element, spread = f"link {link.name}", np.trace(link.inertia[:3, :3])
        if link.kind == FREE:
            if not (link.mass > 0 and abs(_moments(link)[0]) > ROUNDING * spread):
                raise RobotError(source, element, "a floating base without inertia")
            continue
        about_axis = link.inertia[0, 0] + link.inertia[1, 1] - ROUNDING * spread
        resisting = link.mass if link.kind == PRISMATIC else about_axis
        if resisting > 0 or link.armature > 0:
            continue
        if not share > RESISTING:
            reason = f"no inertia, with all that it carries, that resists joint {link.joint}"
            raise RobotError(source, element, f"{reason}; armature would")
        carried.append(f"{link.name} ({link.joint})")
    if carried:
        what = "resisted by what hangs on the link only, so M may become singular"
        yield f"{what}: {', '.join(carried)}"


def _moments(link: Link) -> np.ndarray:
    """Principal moments of inertia about the centre of mass, ascending, kg m^2."""
    about_centre = link.inertia[:3, :3].copy()
    if link.mass:
        about_centre -= np.outer(link.first_moment, link.first_moment) / link.mass
    return np.linalg.eigvalsh(np.trace(about_centre) * np.eye(3) - about_centre)


def _inertia_warnings(links: list[Link]) -> Iterator[str]:
    """Inertias that no body has."""
    negative, uneven = [], []
    for link in links:
        lowest, middle, highest = moments = _moments(link)
        rounding = ROUNDING * np.trace(link.inertia[:3, :3])
        if lowest < -rounding:
            negative.append(f"{link.name} ({lowest:.3g} kg m^2)")
        elif are_of_no_body(moments, rounding):
            uneven.append(f"{link.name} ({highest:.3g} > {lowest:.3g} + {middle:.3g} kg m^2)")
    if negative:
        yield f"a principal moment of inertia is negative: {', '.join(negative)}"
    if uneven:
        yield f"a principal moment of inertia is beyond the sum of the others: {', '.join(uneven)}"
