"""Moving links as a file's reader finds them, and a robot made of them, whatever the format.

A reader gives each moving link in the axes of its file, with what is fixed to it. Here placements
are snapped where that is asked for, frames turn until a joint's axis is z, and inertias that no
motion can be computed of are refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import NamedTuple

import numpy as np

from pymodel.arith.errors import Error, InputError
from pymodel.arith.numbers import numbers
from pymodel.mechanism.articulated import resistances
from pymodel.mechanism.moments import ROUNDING, are_of_no_body
from pymodel.mechanism.robot import (
    CHAINS,
    FIXED_BASE,
    FLOATING,
    FREE,
    HELICAL,
    PRISMATIC,
    REVOLUTE,
    UNIVERSAL,
    Link,
    Mimic,
    Part,
    Z,
    moved,
    one_line,
    shown,
)

ROOT_JOINT = "root_joint"  #: name of a floating base's joint

SNAP = 1e-5  #: what takes an angle of 1.5708 for a right one
SNAP_OFFSET = 1e-4  #: m; times what rotations are snapped by: entries of offsets that become 0
LARGEST_SNAP = 1e-2
DUST = 1e-15  #: what is smaller, of a placement of 1 and 1 m, comes from its sines and cosines
RESISTING = 1e-9  #: of :func:`resistances`, above which more than rounding resists a joint

#: What to do with a joint that cannot mimic another.
MIMICS_OUT = "take mimic joints as joints of their own, --no-mimic or mimic=False"

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


@dataclass
class Body:
    """A moving link in the axes of its file, with what is fixed to it; its origin is at its joint.

    Attributes
    ----------
    name, joint, kind, parent
        As of a :class:`Link`.
    rotation : ndarray, shape (3, 3)
        From its axes to its parent's, where the joint's coordinate is 0.
    offset : ndarray, shape (3,)
        Its origin from its parent's, in the parent's axes, m.
    frame : ndarray, shape (3, 3)
        From the frame whose z axis is the joint's axis to its axes.
    inertia : ndarray, shape (4, 4)
        Pseudo-inertia about its origin, in its axes.
    damping, friction, armature, pitch, part
        As of a :class:`Link`.
    wrenched : ndarray, shape (3,)
        Origin of the frame in which external wrenches are given, in its axes, m.
    """

    name: str
    joint: str
    kind: str
    parent: int
    rotation: np.ndarray
    offset: np.ndarray
    frame: np.ndarray
    inertia: np.ndarray
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    wrenched: np.ndarray = field(default_factory=partial(np.zeros, 3))
    pitch: float = 0.0
    part: Part | None = None

    @property
    def whole(self) -> str:
        """Name of its joint, or of that of which this is a part."""
        return self.part.joint if self.part else self.joint

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


def chain(
    kind: str,
    body: Body,
    first: int,
    frame: np.ndarray,
    taken: Container[str],
) -> list[Body]:
    """Links of a joint of several degrees of freedom, whose last one is the body.

    The links' names are ``<body>:<joint>``, those of their joints ``<joint>.x``, ``.y`` and ``.z``
    for what slides, ``.rx``, ``.ry`` and ``.rz`` for what turns.

    Parameters
    ----------
    kind : str
        Of :data:`CHAINS`.
    body : Body
        Its joint's name is that of the whole, its placement that of the joint's frame.
    first : int
        Index that the first link will have.
    frame : ndarray, shape (3, 3)
        From the joint's axes, in which it slides and turns, to the body's.
    taken : container of str
        Names of other joints.

    Raises
    ------
    ValueError
        If a name is taken; it says which.
    """
    found: list[Body] = []
    for index, (motion, axis) in enumerate(CHAINS[kind]):
        name = f"{body.joint}.{'' if motion == PRISMATIC else 'r'}{'xyz'[axis]}"
        if name in taken:
            raise ValueError(f"its {kind} motion has the joint {name}, and another has this name")
        part = Part(body.joint, kind, index)
        own = replace(
            body,
            name=body.name if part.last else f"{body.name}:{name}",
            joint=name,
            kind=motion,
            frame=frame[:, ((axis + 1) % 3, (axis + 2) % 3, axis)],
            inertia=body.inertia if part.last else np.zeros((4, 4)),
            part=part,
        )
        if index:
            own = replace(own, parent=first + index - 1, rotation=np.eye(3), offset=np.zeros(3))
        found.append(own)
    return found


def frame_turned_to(axis: np.ndarray) -> np.ndarray:
    """From a frame that the shortest turn takes from the body's to an axis as its z, to the body's.

    Parameters
    ----------
    axis : ndarray, shape (3,)
        Of any length but zero. Against z the frame turns about x.

    Returns
    -------
    ndarray, shape (3, 3)
    """
    x, y, z = frame_along(axis)[:, Z]
    if z < ROUNDING - 1.0:
        return np.diag((1.0, -1.0, -1.0))
    found = np.array(
        (
            (1.0 - x * x / (1.0 + z), -x * y / (1.0 + z), x),
            (-x * y / (1.0 + z), 1.0 - y * y / (1.0 + z), y),
            (-x, -y, z),
        )
    )
    return np.where(np.abs(found) < DUST, 0.0, found)


def frame_along(axis: np.ndarray) -> np.ndarray:
    """From a frame whose z axis is a joint's axis to the body's; a signed permutation if possible.

    Parameters
    ----------
    axis : ndarray, shape (3,)
        Of any length but zero.

    Returns
    -------
    ndarray, shape (3, 3)
    """
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


def required_gravity(gravity: Sequence[float]) -> np.ndarray:
    """Gravity's acceleration as an array (3,), m/s^2.

    Raises
    ------
    InputError
        If it is no three numbers of at most 1e30 in size.
    """
    try:
        found = numbers("gravity", gravity)
    except ValueError as error:
        raise InputError(str(error)) from None
    if found.shape != (3,) or not (np.abs(found) <= LARGEST).all():
        raise InputError(f"gravity: must be three numbers of at most {LARGEST:.0e}, got {gravity}")
    return found


def ground_under(gravity: np.ndarray) -> np.ndarray:
    """From the axes of gravity's acceleration (3,) to a ground in which it points down, (3, 3)."""
    return frame_along(-gravity).T + 0.0 if gravity.any() else np.eye(3)


def require_snap(snap: float) -> None:
    """Refuse what nothing can be snapped by.

    Raises
    ------
    InputError
        If it is no number of 0 to :data:`LARGEST_SNAP`.
    """
    if isinstance(snap, bool) or not (isinstance(snap, Real) and 0.0 <= snap <= LARGEST_SNAP):
        raise InputError(f"snap: must be a number of 0 to {LARGEST_SNAP:g}, got {snap!r}")


def snapped_placements(bodies: Sequence[Body], near: float) -> Iterator[str]:
    """Snap the placements; say what changed."""
    counts = {body.joint: body.snap(near) for body in bodies}
    if near and any(counts.values()):
        names = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        yield f"{sum(counts.values())} entries of joint transforms rounded to 0, 1 or -1: {names}"


def fault(what: str, value: float) -> str | None:
    """What is wrong with a number of a joint that is to resist it."""
    if isinstance(value, Real) and 0 <= value <= LARGEST:
        return None
    return f"its {what} must be a number of 0 to {LARGEST:.0e}, got {value}"


def armatures(
    source: str, armature: float | Mapping[str, float], bodies: Sequence[Body]
) -> dict[str, float]:
    """The armature of each joint that is given one, by its own name or that of the whole.

    Raises
    ------
    InputError
        If it is of no joint or of a floating one, or no number of 0 to 1e30.
    """
    driven = [body for body in bodies if not _floats(body)]
    if isinstance(armature, Mapping):
        drives = dict(armature)
    else:
        drives = dict.fromkeys((body.joint for body in driven), armature)
    found: dict[str, float] = {}
    for name, value in drives.items():
        named = [body.joint for body in driven if name in (body.joint, body.whole)]
        if not named:
            raise InputError(f"{source}: armature: there is no moving joint {one_line(name)}")
        if wrong := fault("armature", value):
            raise InputError(f"{source}: joint {one_line(name)}: {wrong}")
        found |= dict.fromkeys(named, value)
    return found


def _floats(body: Body) -> bool:
    """Whether its joint is floating, or a part of one that is."""
    return FREE == body.kind or (body.part is not None and body.part.kind == FLOATING)


def links_of(bodies: Sequence[Body]) -> list[Link]:
    """The links, in frames whose z axes are the joints'."""
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
            damping=body.damping,
            friction=body.friction,
            armature=body.armature,
            frame_rotation=body.frame.T,
            frame_offset=body.frame.T @ body.wrenched + 0.0,
            pitch=body.pitch,
            part=body.part,
        )
        links.append(link)
    return links


UNAPPLIED_FRICTION = "dry friction is not applied"


def unapplied(damped: Sequence[str], rubbing: Sequence[str], damping: bool) -> Iterator[str]:
    """What of the resistance of joints does not act, by the names of the joints that have it."""
    if damped and not damping:
        yield f"damping is not applied: {', '.join(damped)}"
    if damping and not damped:
        yield "there is no joint damping to apply"
    if rubbing:
        yield f"{UNAPPLIED_FRICTION}: {', '.join(rubbing)}"


class Followed(NamedTuple):
    """What a file says of a joint that follows another.

    Attributes
    ----------
    joint : str or None
        The other's name; None: it stands at the offset.
    multiplier, offset : float
    """

    joint: str | None
    multiplier: float
    offset: float


def mimics_of(
    source: str, bodies: Sequence[Body], followed: Mapping[str, Followed], fixed: Container[str]
) -> dict[int, Mimic]:
    """Which bodies' joints follow which others, chains of them resolved.

    Parameters
    ----------
    source : str
    bodies : sequence of Body
    followed : mapping
        Name of a joint -> what it follows.
    fixed : container of str
        Names of the joints that do not move.

    Raises
    ------
    RobotError
        If a joint follows itself, by way of others or not, or one that is not there, does not move
        or has several coordinates; if it has several coordinates itself; if its multiplier or
        offset, those of the others included, is beyond 1e30.
    """
    places = {body.whole: k for k, body in enumerate(bodies)}
    places |= {body.joint: k for k, body in enumerate(bodies)}
    found = {}
    for name in followed:
        at, multiplier, offset = name, 1.0, 0.0
        passed = [name]
        while at in followed:
            _require_single(source, bodies[places[at]], "mimics another")
            other, ratio, shift = followed[at]
            offset, multiplier = offset + multiplier * shift, multiplier * ratio
            if other is None:
                at = ""
                break
            if other in passed:
                way = f", by way of {', '.join(passed[1:])}" if passed[1:] else ""
                raise RobotError(source, f"joint {name}", f"it mimics itself{way}: {MIMICS_OUT}")
            if other not in places:
                what = "does not move" if other in fixed else "is not there"
                reason = f"it mimics joint {other}, which {what}: {MIMICS_OUT}"
                raise RobotError(source, f"joint {at}", reason)
            _require_single(source, bodies[places[other]], f"is mimicked by joint {at}")
            passed.append(other)
            at = other
        if not max(abs(multiplier), abs(offset)) <= LARGEST:
            reason = f"what it mimics, through all others: beyond {LARGEST:.0e}"
            raise RobotError(source, f"joint {name}", reason)
        found[places[name]] = Mimic(places[at] if at else FIXED_BASE, multiplier, offset)
    return dict(sorted(found.items()))


def _require_single(source: str, body: Body, does: str) -> None:
    """Refuse a joint that mimics or is mimicked, if it has several coordinates."""
    if body.part is not None or body.kind not in (REVOLUTE, PRISMATIC, HELICAL):
        reason = f"it has several coordinates, and {does}: {MIMICS_OUT}"
        raise RobotError(source, f"joint {body.whole}", reason)


def mimic_note(bodies: Sequence[Body] | Sequence[Link], mimics: Mapping[int, Mimic]) -> str:
    """Who mimics whom, in a line."""
    told = [f"{shown(bodies[k].joint)} = {followed(bodies, x)}" for k, x in mimics.items()]
    return f"mimic joints, without coordinates of their own: {', '.join(told)}"


def followed(bodies: Sequence[Body] | Sequence[Link], mimic: Mimic) -> str:
    """What a joint follows, as ``-0.5 drive + 0.1``."""
    ratio, shift = mimic.multiplier, mimic.offset
    if mimic.of == FIXED_BASE:
        return f"{shift:.12g}"
    leader = shown(bodies[mimic.of].joint)
    by = {1.0: "", -1.0: "-"}.get(ratio, f"{ratio:.12g} ")
    return f"{by}{leader}" + (f" {'+' if shift > 0 else '-'} {abs(shift):.12g}" if shift else "")


def checked(
    source: str, links: Sequence[Link], mimics: Mapping[int, Mimic] | None = None
) -> tuple[str, ...]:
    """Warnings of the links' inertias, a line each.

    Raises
    ------
    RobotError
        If one leaves its joint, and those that follow it, without inertia.
    """
    return (*_check_inertia(source, links, mimics or {}), *_inertia_warnings(links))


def _check_inertia(
    source: str, links: Sequence[Link], mimics: Mapping[int, Mimic]
) -> Iterator[str]:
    """Refuse what leaves a joint without inertia; warn where its own link has none."""
    shares, carried = resistances(links), []
    resisted = {
        mimics[k].of if k in mimics else k
        for k, share in enumerate(shares)
        if share > RESISTING and (k not in mimics or mimics[k].multiplier)
    }
    for k, (link, share) in enumerate(zip(links, shares, strict=True)):
        name, spread = _body_of(links, k).name, np.trace(link.inertia[:3, :3])
        element = f"link {name}"
        if link.kind == FREE:
            if not (link.mass > 0 and abs(_moments(link)[0]) > ROUNDING * spread):
                raise RobotError(source, element, "a floating base without inertia")
            continue
        about_axis = link.inertia[0, 0] + link.inertia[1, 1] - ROUNDING * spread
        resisting = link.mass if link.kind == PRISMATIC else about_axis
        if resisting > 0 or link.armature > 0:
            continue
        if k in mimics:
            continue  # it moves by what it mimics
        if not share > RESISTING and k not in resisted:
            reason = f"no inertia, with all that it carries, that resists joint {link.joint}"
            raise RobotError(source, element, f"{reason}; armature would")
        if not _resists_chain(links, k):
            carried.append(f"{name} ({link.joint})")
    if carried:
        what = "resisted by what hangs on the link only, so M may become singular"
        yield f"{what}: {', '.join(carried)}"


def _body_of(links: Sequence[Link], index: int) -> Link:
    """The link that has the body which a link's joint moves."""
    part = links[index].part
    return links[index - part.index + len(CHAINS[part.kind]) - 1] if part else links[index]


def _resists_chain(links: Sequence[Link], index: int) -> bool:
    """Whether the body of a joint of several degrees of freedom resists all of them, anywhere."""
    part = links[index].part
    if part is None:
        return False
    first = index - part.index
    whole = links[first : first + len(CHAINS[part.kind])]
    body = _body_of(links, index)
    if part.kind == UNIVERSAL:  # what resists depends on the angle: all moments must
        return bool(_moments(body)[0] > ROUNDING * np.trace(body.inertia[:3, :3]))
    alone = [replace(link, parent=k - 1, armature=0.0) for k, link in enumerate(whole)]
    return bool((resistances(alone) > RESISTING).all())


def _moments(link: Link) -> np.ndarray:
    """Principal moments of inertia about the centre of mass, ascending, kg m^2."""
    about_centre = link.inertia[:3, :3].copy()
    if link.mass:
        about_centre -= np.outer(link.first_moment, link.first_moment) / link.mass
    return np.linalg.eigvalsh(np.trace(about_centre) * np.eye(3) - about_centre)


def _inertia_warnings(links: Sequence[Link]) -> Iterator[str]:
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
