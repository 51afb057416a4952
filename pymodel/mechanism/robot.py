"""Robots: trees of rigid links in space, with joints of one degree of freedom.

A link's frame stands at its joint, the joint's axis is its z axis. A joint of several degrees of
freedom is a chain of links without inertia, one a degree of freedom, whose last one has the body
(:class:`Part`). What
:mod:`pymodel.mechanism.urdf` reads has this form; :mod:`pymodel.mechanism.reduction` rewrites it so
that its dynamics cost fewer operations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.mechanism.loop import Loop

FIXED_BASE = -1  #: parent of a link whose joint stands on the ground

REVOLUTE = "revolute"
PRISMATIC = "prismatic"
HELICAL = "helical"  #: turns about its axis and slides along it, by its pitch
FREE = "free"  #: the six degrees of freedom of a floating base

#: Joints that are chains: what each link's joint does, and along which axis of the joint's frame.
PLANAR, CYLINDRICAL, UNIVERSAL = "planar", "cylindrical", "universal"
BALL, FLOATING = "ball", "floating"
X, Y, Z = range(3)
SLIDES = (PRISMATIC, X), (PRISMATIC, Y), (PRISMATIC, Z)
TURNS = (REVOLUTE, X), (REVOLUTE, Y), (REVOLUTE, Z)
CHAINS = {
    PLANAR: (*SLIDES[:2], TURNS[Z]),
    CYLINDRICAL: (TURNS[Z], SLIDES[Z]),
    UNIVERSAL: TURNS[:2],
    BALL: TURNS,
    FLOATING: (*SLIDES, *TURNS),
}
#: What their coordinates and velocities are.
COORDINATES = {
    PLANAR: "x, y (m) and angle (rad) in the joint's axes, of which z is the axis; their rates",
    CYLINDRICAL: "angle (rad) about and way (m) along the axis; their rates",
    UNIVERSAL: "angles (rad) about the joint's x, then about the y that it turns; their rates",
    BALL: "quaternion x, y, z, w; angular velocity (rad/s) in the body's axes",
    FLOATING: "position (m), quaternion x, y, z, w; velocity (m/s), angular velocity (rad/s) "
    "in the body's axes",
}
#: Those whose posture is a quaternion, and whose axes turn with the body -> their coordinates.
BY_QUATERNION = {BALL: 4, FLOATING: 7}

GRAVITY = 9.81  #: m/s^2, downwards along the ground's z axis; Pinocchio's value


@dataclass(frozen=True)
class Part:
    """Which part of a joint of several degrees of freedom the joint of a link is.

    A ball's and a floating joint's parts are no hinges and slides one after the other: their axes
    are those of the body, whose velocity against what carries it is the sum of theirs. The first
    one's link has the posture, which is a quaternion (x, y, z, w) of length 1; with a floating
    joint the position of the body's origin stands in front of it, in the axes of the joint's frame.

    Attributes
    ----------
    joint, kind : str
        Name of the whole joint, and which of :data:`CHAINS` it is.
    index : int
        From 0; the parts' links stand one behind the other.
    """

    joint: str
    kind: str
    index: int

    @property
    def by_quaternion(self) -> bool:
        """Whether the whole joint's posture is a quaternion."""
        return self.kind in BY_QUATERNION

    @property
    def axis(self) -> int:
        """Axis of the joint's frame along which the part slides or about which it turns."""
        return CHAINS[self.kind][self.index][1]

    @property
    def last(self) -> bool:
        """Whether the part's link has the body."""
        return self.index == len(CHAINS[self.kind]) - 1


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid link and the joint that carries it.

    Attributes
    ----------
    name : str
        Of the link.
    joint : str
        Name of its joint.
    kind : str
        :data:`REVOLUTE` (continuous joints, too), :data:`PRISMATIC`, :data:`HELICAL`, or
        :data:`FREE`.
    parent : int
        Index of the link that it hangs on, or :data:`FIXED_BASE`.
    rotation : ndarray, shape (3, 3)
        From this link's frame to its parent's, at q = -zero; the last column is the joint's axis.
        Of a floating base to the ground of the file.
    offset : ndarray, shape (3,)
        Origin of this link's frame in its parent's, at q = 0, m.
    inertia : ndarray, shape (4, 4)
        Pseudo-inertia matrix about the frame's origin: sum of m r r^T (kg m^2), the first moment
        m r (kg m) in the last row and column, and the mass (kg) in the corner.
    damping : float
        Viscous friction of the joint, N m s/rad or N s/m.
    friction, friction_scale : float
        Coulomb friction of the joint, N m or N, and the velocity about which it reverses, rad/s or
        m/s; 0: none (:mod:`pymodel.algorithms.friction`).
    armature : float
        Inertia of the joint's drive, seen at the joint, kg m^2 or kg.
    zero : float
        What is added to the coordinate of a revolute joint, rad.
    frame_rotation : ndarray, shape (3, 3)
        From the frame in which external wrenches on the link are given (URDF's, that of its joint)
        to this link's.
    frame_offset : ndarray, shape (3,)
        That frame's origin in this link's frame, m.
    pitch : float
        How far a helical joint slides along its axis as it turns about it, m/rad.
    part : Part, optional
        Of a joint of several degrees of freedom.
    """

    name: str
    joint: str
    kind: str
    parent: int
    rotation: np.ndarray
    offset: np.ndarray
    inertia: np.ndarray
    damping: float = 0.0
    armature: float = 0.0
    zero: float = 0.0
    frame_rotation: np.ndarray = field(default_factory=partial(np.eye, 3))
    frame_offset: np.ndarray = field(default_factory=partial(np.zeros, 3))
    pitch: float = 0.0
    part: Part | None = None
    friction: float = 0.0
    friction_scale: float = 0.0

    @property
    def by_quaternion(self) -> bool:
        """Whether its joint is a part of one whose posture is a quaternion."""
        return self.part is not None and self.part.by_quaternion

    @property
    def has_body(self) -> bool:
        """Whether it is more than a part of a ball or floating joint that others stand behind."""
        return self.part is None or self.part.last or not self.part.by_quaternion

    @property
    def mass(self) -> float:
        """Mass, kg."""
        return float(self.inertia[3, 3])

    @property
    def first_moment(self) -> np.ndarray:
        """Mass times centre of mass, shape (3,), kg m."""
        return self.inertia[:3, 3]


@dataclass(frozen=True, eq=False)
class FixedLink:
    """Where a link is that no moving joint carries.

    Attributes
    ----------
    carrier : int
        Index of the moving link that it is fixed to, or :data:`FIXED_BASE`.
    rotation : ndarray, shape (3, 3)
        From its frame to that in which external wrenches on the carrier are given.
    offset : ndarray, shape (3,)
        Its frame's origin in that frame, m.
    """

    carrier: int
    rotation: np.ndarray
    offset: np.ndarray

    @np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
    def wrench_on_carrier(self, wrench: np.ndarray) -> np.ndarray:
        """Force and moment (..., 6) on it, in its frame, as those on the carrier, in its frame."""
        force = wrench[..., :3] @ self.rotation.T
        moment = wrench[..., 3:] @ self.rotation.T + np.cross(self.offset, force)
        return np.concatenate((force, moment), axis=-1)


@dataclass(frozen=True)
class Mimic:
    """What a joint of one degree of freedom follows: q = multiplier q_of + offset.

    Attributes
    ----------
    of : int
        Index of the link whose joint it follows, which follows none; :data:`FIXED_BASE`: it stands
        at its offset.
    multiplier : float
        Rad or m, for each of the other joint's.
    offset : float
        Rad or m.
    """

    of: int
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Robot:
    """A tree of links; parents stand before their children.

    Attributes
    ----------
    name : str
    links : tuple of Link
        Those that move. With a floating base the first one is the base, of kind :data:`FREE`.
    gravity : float
        m/s^2, downwards along the z axis of the ground that links hang on.
    source : str
        File that it came from.
    snap : float
        How far entries of joint transforms may have been from 0 that became that; 0: none did.
    notes : tuple of str
        How it was read, a line each: prefixes that the file does not declare.
    warnings : tuple of str
        What of it a user may not expect, a line each: entries of joint transforms that were rounded
        to 0, 1 or -1 as asked, mimic joints that were to be joints of their own, damping and
        friction that are not applied, joints that their own link does not resist, inertias that no
        body has.
    fixed : mapping of str to FixedLink
        The other links of the file, by name.
    ground : ndarray, shape (3, 3)
        From the ground of the file, in which a floating base is placed, to that which links hang on
        and in which gravity points down.
    mimics : mapping of int to Mimic
        Links whose joints follow others: they have no coordinates, torques or degrees of freedom of
        their own.
    frame : FixedLink or None
        The link that functions of one link tell of, see :func:`at_link`.
    loops : tuple of Loop
        What functions of constrained dynamics keep.
    actuated : tuple of int or None
        Links whose joints are driven; None: the file does not say.
    fixed_acceleration : tuple of int
        Links whose joints' accelerations are given in hybrid dynamics.
    """

    name: str
    links: tuple[Link, ...]
    gravity: float = GRAVITY
    source: str = ""
    snap: float = 0.0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    fixed: Mapping[str, FixedLink] = field(default_factory=dict)
    ground: np.ndarray = field(default_factory=partial(np.eye, 3))
    mimics: Mapping[int, Mimic] = field(default_factory=dict)
    frame: FixedLink | None = None
    loops: tuple[Loop, ...] = ()
    actuated: tuple[int, ...] | None = None
    fixed_acceleration: tuple[int, ...] = ()

    @property
    def tree(self) -> Robot:
        """The robot whose joints all move freely; itself if none follows another."""
        return self._tree if self.mimics else self

    @cached_property
    def _tree(self) -> Robot:
        return replace(self, mimics={})

    @property
    def gravity_vector(self) -> np.ndarray:
        """Gravity's acceleration in the axes of the file's ground, shape (3,), m/s^2."""
        return -self.gravity * self.ground[2] + 0.0  # -0 becomes 0

    @property
    def floating(self) -> bool:
        """Whether the base floats."""
        return bool(self.links) and self.links[0].kind == FREE

    @property
    def first(self) -> int:
        """Index of the first link with a joint of one degree of freedom."""
        return int(self.floating)

    @property
    def nv(self) -> int:
        """Degrees of freedom: length of velocities, accelerations and torques."""
        return len(self.links) + 5 * self.floating - len(self.mimics)

    @property
    def nq(self) -> int:
        """Length of a configuration: one more than :attr:`nv` for each quaternion."""
        return self.nv + len(self.quaternions)

    @cached_property
    def coordinates(self) -> tuple[range, ...]:
        """Which entries of a configuration each link's joint has.

        The first part of a ball or floating joint has all of the whole, the others have none; nor
        has a joint that follows another.
        """
        found, start = [], 0
        for index, link in enumerate(self.links):
            count = BY_QUATERNION[FLOATING] if link.kind == FREE else 1
            if link.part and link.part.by_quaternion:
                count = 0 if link.part.index else BY_QUATERNION[link.part.kind]
            count = 0 if index in self.mimics else count
            found.append(range(start, start + count))
            start += count
        return tuple(found)

    @property
    def quaternions(self) -> tuple[range, ...]:
        """Which entries of a configuration are quaternions (x, y, z, w)."""
        return tuple(own[-4:] for own in self.coordinates if len(own) > 1)

    def told(self) -> list[str]:
        """What the coordinates of joints of several degrees of freedom are, a line a joint."""
        found = []
        for index, (link, own) in enumerate(zip(self.links, self.coordinates, strict=True)):
            if link.kind != FREE and not (link.part and link.part.index == 0):
                continue
            kind = link.part.kind if link.part else FLOATING
            name = link.part.joint if link.part else link.joint
            count = len(CHAINS[kind])
            last = own.start + BY_QUATERNION.get(kind, count) - 1
            dof = 0 if link.kind == FREE else self.dof(index)
            which = f"q{own.start}..q{last}, qd{dof}..qd{dof + count - 1}"
            found.append(f"{one_line(name)}, {kind}: {which}: {COORDINATES[kind]}")
        return found

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """Links that are those of the file: not parts of joints of several degrees of freedom."""
        return tuple(k for k, link in enumerate(self.links) if link.has_body)

    @cached_property
    def leaders(self) -> tuple[int, ...]:
        """Links whose joints follow no other, in order."""
        return tuple(k for k in range(len(self.links)) if k not in self.mimics)

    @cached_property
    def dofs(self) -> dict[int, int]:
        """Link -> its degree of freedom."""
        found = {link: k + 5 * self.floating for k, link in enumerate(self.leaders)}
        followed = {k: found[x.of] for k, x in self.mimics.items() if x.of != FIXED_BASE}
        return found | followed

    def dof(self, link: int) -> int:
        """Degree of freedom of a link's joint, or of the one it follows.

        The base's are 0..5 (linear first).
        """
        return self.dofs[link]

    @cached_property
    def held(self) -> tuple[int, ...]:
        """Degrees of freedom whose accelerations are given in hybrid dynamics, ascending."""
        base = range(6) if self.floating and 0 in self.fixed_acceleration else ()
        own = (self.dof(link) for link in self.fixed_acceleration if link >= self.first)
        return tuple(sorted({*base, *own}))

    @cached_property
    def coupling(self) -> np.ndarray:
        """G: rates of all joints from those of the degrees of freedom, shape (tree.nv, nv)."""
        found = np.zeros((self.tree.nv, self.nv))
        found[: 6 * self.floating, : 6 * self.floating] = np.eye(6 * self.floating)
        for link, row in enumerate(found[5 * self.floating :]):
            if link >= self.first and link in self.dofs:
                ratio = self.mimics[link].multiplier if link in self.mimics else 1.0
                row[self.dof(link)] = ratio
        return found

    def coordinates_of_tree(self, q: np.ndarray) -> np.ndarray:
        """Coordinates of all joints, shape (tree.nq,), from those of the leaders, shape (nq,)."""
        found = np.zeros(self.tree.nq)
        for link, place in enumerate(self.tree.coordinates):
            mimic = self.mimics.get(link)
            if mimic is None:
                found[place] = q[self.coordinates[link]]
                continue
            led = 0.0 if mimic.of == FIXED_BASE else q[self.coordinates[mimic.of].start]
            found[place] = mimic.multiplier * led + mimic.offset
        return found

    @cached_property
    def dof_parents(self) -> tuple[int, ...]:
        """For each degree of freedom the next one towards the base, or -1.

        The six of a floating base hang one on the other. Where joints follow others, it is the next
        one of those that eliminating it from the mass matrix changes.
        """
        if self.mimics:
            return self._elimination()
        base = list(range(-1, 5)) if self.floating else []
        joints = (link.parent for link in self.links[self.first :])
        return tuple(
            base
            + [
                -1 if p == FIXED_BASE else 5 if self.links[p].kind == FREE else self.dof(p)
                for p in joints
            ]
        )

    def _elimination(self) -> tuple[int, ...]:
        """The elimination tree of G^T M G, from the last degree of freedom to the first."""
        pairs: list[tuple[int, int]] = []
        moved = [np.flatnonzero(row).tolist() for row in self.coupling]
        for dof, own in enumerate(moved):
            for other in (moved[k] for k in self.tree.ancestors(dof)):
                pairs += [(own[0], other[0])] if own and other else []
        return elimination_tree(self.nv, pairs)

    def ancestors(self, dof: int) -> list[int]:
        """List the degrees of freedom that one hangs on, nearest first, without itself."""
        found, dof = [], self.dof_parents[dof]
        while dof >= 0:
            found.append(dof)
            dof = self.dof_parents[dof]
        return found

    def __str__(self) -> str:
        base = "floating" if self.floating else "fixed"
        return f"{self.name}: {self.nv} degrees of freedom, {base} base"


def carried(robot: Robot, name: object, what: str) -> FixedLink:
    """Where a link is that moves, by itself or with what carries it.

    Parameters
    ----------
    robot : Robot
    name : object
        Of a link of its file.
    what : str
        Argument or option that names the link.

    Raises
    ------
    InputError
        If there is no such link, or if it stands on the ground.
    """
    links = [robot.links[k].name for k in robot.bodies]
    if name in links:
        return FixedLink(robot.bodies[links.index(str(name))], np.eye(3), np.zeros(3))
    found = robot.fixed.get(name) if isinstance(name, str) else None
    if found is None:
        links += [link for link, at in robot.fixed.items() if at.carrier != FIXED_BASE]
        raise InputError(f"{what}: no link {name!r}; those that move are {', '.join(links)}")
    if found.carrier == FIXED_BASE:
        raise InputError(f"{what}: link {name!r} stands on the ground, and does not move")
    return found


def at_link(robot: Robot, name: str, what: str = "link") -> Robot:
    """The robot, functions of which tell of one link; for the arguments see :func:`carried`."""
    return replace(robot, frame=carried(robot, name, what))


def elimination_tree(size: int, entries: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Which row of a symmetric matrix the elimination of each changes next, or -1.

    It goes from the last row to the first; what a row changes is on its way to a root.

    Parameters
    ----------
    size : int
    entries : iterable
        (row, column) of what is not zero by structure, in any triangle.
    """
    coupled: list[set[int]] = [set() for _ in range(size)]
    for pair in entries:
        if len(set(pair)) > 1:
            coupled[max(pair)].add(min(pair))
    parents = [-1] * size
    for row in reversed(range(size)):
        if coupled[row]:
            parents[row] = max(coupled[row])
            coupled[parents[row]] |= coupled[row] - {parents[row]}
    return tuple(parents)


P = ParamSpec("P")
T = TypeVar("T")


def kept_with_robot(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function keep what it gives for a ``robot``, one of its arguments, while that lives.

    What it gives must not refer to the robot, which would live for ever. The other arguments can be
    hashed; one that is left is the same as its default.
    """
    signature = inspect.signature(function)
    kept: WeakKeyDictionary[Robot, dict[Hashable, T]] = WeakKeyDictionary()

    @wraps(function)
    def keeping(*args: P.args, **kwargs: P.kwargs) -> T:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        own = kept.setdefault(given.arguments.pop("robot"), {})
        key = tuple(given.arguments.values())
        if key not in own:
            own[key] = function(*args, **kwargs)
        return own[key]

    return keeping


def moved(inertia: np.ndarray, rotation: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Pseudo-inertia in another frame.

    Parameters
    ----------
    inertia : ndarray, shape (4, 4)
    rotation : ndarray, shape (3, 3)
        From the frame of ``inertia`` to the other.
    offset : ndarray, shape (3,)
        Origin of the frame of ``inertia`` in the other, m.
    """
    placement = np.eye(4)
    placement[:3, :3], placement[:3, 3] = rotation, offset
    return placement @ inertia @ placement.T


def inertial_parameters(robot: Robot) -> np.ndarray:
    """Ten numbers of each link that moves, in Pinocchio's order, shape (10 links,).

    Mass (kg), first moment (x, y, z; kg m), inertia matrix (xx, xy, yy, xz, yz, zz; kg m^2), in the
    frame in which external wrenches on the link are given, about its origin.
    """
    found = []
    for link in (robot.links[k] for k in robot.bodies):
        back = link.frame_rotation.T
        there = moved(link.inertia, back, -back @ link.frame_offset)
        second = there[:3, :3]
        moments = np.trace(second) * np.eye(3) - second
        lower = [moments[i, j] for i in range(3) for j in range(i + 1)]
        found += [there[3, 3], *there[:3, 3], *lower]
    return np.array(found)


def one_line(text: object) -> str:
    """A text of names, which may have line breaks in a URDF, and what no terminal shows."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else line.encode("unicode_escape").decode("ascii")


def shown(name: str) -> str:
    """A name as it is printed: as it stands, unless that would break the line."""
    return name if name.isprintable() else one_line(name)
