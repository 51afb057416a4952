"""A scenario: the mechanism, its initial state, and the time grid of a run.

Bodies are numbered from 0 in the order of the file and parents stand before their children. A
body has handle 1 at the joint to its parent and handle 2 at ``tip``; vectors are in metres, angles
in radians, everything else in SI units.

A mechanism is planar or spatial: its gravity has two or three components, and so have all vectors.
The frame of a body stands at its handle 1. At q = 0 it is turned by ``rotation`` against its
parent's; a joint's ``axis`` has the same components in both, and what the joint does comes after
``rotation``:

* ``revolute``: q turns the body about the axis (in the plane about z);
* ``prismatic``: q moves handle 1 away from ``attach``, along the axis;
* ``fixed``: no coordinates;
* ``spherical`` (in space): q is a quaternion x, y, z, w; velocities are the angular velocity
  against the parent, in the body's frame;
* ``free``: the body floats. In the plane q is x, y and the angle, with their rates as velocities.
  In space q is x, y, z and the quaternion x, y, z, w, and velocities are those of handle 1, then
  the angular velocity, both in the body's frame, as in Pinocchio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pymodel.arith.errors import Error
from pymodel.mechanism.formula import derivative, parse

GROUND = -1
ENDS = ("natural", "clamped")  #: of curves: acceleration 0 at both ends, or velocity 0
INTEGRATORS = ("euler", "semi-implicit", "rk4", "implicit-midpoint")
#: Those of scipy, which choose their steps by a tolerance.
ADAPTIVE = ("RK45", "RK23", "DOP853", "LSODA", "Radau", "BDF")
TOLERANCE = 1e-9  #: of theirs, where a scenario says none
#: What bodies lend each other inertia for: :mod:`pymodel.mechanism.lending`.
LEND = ("conditioned", "centred")
#: Steps of the time grid that one of these may be long where a torque is a formula in time.
FORMULA_STEPS = 10
#: A spring may be so many times longer or shorter than its natural length: within that the
#: algorithm's length of it is right to 2.5e-14 (:mod:`pymodel.algorithms.springs`).
STRETCH = 16.0

GROUND_NAME = "ground"

REVOLUTE, PRISMATIC, FIXED, SPHERICAL, FREE = JOINTS = (
    "revolute",
    "prismatic",
    "fixed",
    "spherical",
    "free",
)
#: Joints that may close a loop: a pin in the plane, a hinge or a ball in space.
LOOP_JOINTS = (REVOLUTE, SPHERICAL)

Vector = tuple[float, ...]  #: 2 in the plane, 3 in space


class Freedoms(NamedTuple):
    """How many numbers describe a joint.

    Attributes
    ----------
    q, v : int
        Coordinates, and velocities or momenta.
    """

    q: int
    v: int


FREEDOMS = {  #: (joint, spatial) -> Freedoms
    (REVOLUTE, False): Freedoms(1, 1),
    (PRISMATIC, False): Freedoms(1, 1),
    (FIXED, False): Freedoms(0, 0),
    (FREE, False): Freedoms(3, 3),
    (REVOLUTE, True): Freedoms(1, 1),
    (PRISMATIC, True): Freedoms(1, 1),
    (FIXED, True): Freedoms(0, 0),
    (SPHERICAL, True): Freedoms(4, 3),
    (FREE, True): Freedoms(7, 6),
}


class Constraints(NamedTuple):
    """What a joint holds.

    Attributes
    ----------
    translations, rotations : int
        Constraints of either kind; translations come first.
    """

    translations: int
    rotations: int


class ScenarioError(Error, ValueError):
    """A scenario that cannot be run; ``str()`` is the single line ``file: key: reason``.

    Parameters
    ----------
    source : str
        File, or what stands for it.
    key : str
        Path of the key, as ``body[1].mass``; empty if the whole file is meant.
    reason : str
    """

    def __init__(self, source: str, key: str, reason: str) -> None:
        self.source = source
        self.key = key
        self.reason = reason
        super().__init__(source, key, reason)

    def __str__(self) -> str:
        """The line; its parts are the arguments, from which pickle makes the error again."""
        return ": ".join(filter(None, (self.source, self.key, self.reason)))


@dataclass(frozen=True)
class Table:
    """A torque in time by its values: lines between them, constant before and after.

    Parameters
    ----------
    times : tuple of float
        s, ascending from 0 or later, at least two.
    values : tuple of float
        N m, at these times.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """A motion in time through values: a cubic spline, whose acceleration is continuous.

    Parameters
    ----------
    times : tuple of float
        s, ascending from 0, at least two.
    values : tuple of float
        Rad or m, at these times.
    ends : str
        One of :data:`ENDS`: no acceleration at the ends, or no velocity.
    """

    times: tuple[float, ...]
    values: tuple[float, ...]
    ends: str = "natural"


@dataclass(frozen=True)
class Mimic:
    """What a joint follows: q = multiplier q_of + offset.

    Parameters
    ----------
    body : int
        Of the joint that it follows, which follows none.
    multiplier : float
        Rad or m, for each of the other joint's.
    offset : float
        Rad or m.
    """

    body: int
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Body:
    """One rigid body and the joint that hangs it on its parent.

    The drive of a joint with one coordinate is torque - spring (q - rest) - damping qd - friction
    tanh(qd / friction_scale), a torque or a force; :mod:`pymodel.algorithms.friction` has the exact
    law.

    Parameters
    ----------
    mass : float
        kg.
    inertia : float or tuple of float
        kg m^2, about the centre of mass; in space xx, xy, xz, yy, yz, zz in the body frame.
    com, tip : tuple of float
        Centre of mass and handle 2, m, from handle 1 in the body frame.
    parent : int
        Index of the parent, ``GROUND`` for the ground.
    attach : tuple of float
        Place of the joint, m, in the parent's frame from its handle 1, or in the ground frame.
    joint : str
        One of ``JOINTS``.
    axis : tuple of float or None
        Unit vector; None where the joint has none.
    rotation : float or tuple of float
        How the body's frame stands in its parent's at q = 0: an angle, or roll, pitch and yaw (rad,
        about the parent's x, then y, then z axis).
    q, qd : float or tuple of float
        Initial coordinates and velocities; numbers for joints with one of each.
    guess : bool
        Whether a file gives ``q`` and ``qd`` as guesses; here they are what closes the loops.
    torque : float, str or Table
        N m, or N of a prismatic joint: a constant, a formula in time
        (:mod:`pymodel.mechanism.formula`), or a table in time. What follows likewise, constant.
    spring : float
        N m/rad.
    rest : float
        Angle of the relaxed spring, rad.
    damping : float
        N m s/rad.
    friction : float
        Coulomb friction, N m.
    friction_scale : float
        Velocity about which it reverses, rad/s; 0: there is none.
    motion : float, str, Curve or None
        What q is, rad, a number, a formula in time, or a curve through values: the joint is moved
        so, by whatever torque that takes. None: it moves freely.
    mimic : Mimic or None
        What it follows: both have one degree of freedom.
    name : str
        Empty without one.
    """

    mass: float
    inertia: float | tuple[float, ...]
    com: Vector
    tip: Vector
    parent: int = GROUND
    attach: Vector = (0.0, 0.0)
    joint: str = REVOLUTE
    axis: Vector | None = None
    rotation: float | tuple[float, ...] = 0.0
    q: float | tuple[float, ...] = 0.0
    qd: float | tuple[float, ...] = 0.0
    guess: bool = False
    torque: float | str | Table = 0.0
    spring: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    friction_scale: float = 0.0
    motion: float | str | Curve | None = None
    mimic: Mimic | None = None
    name: str = ""

    @property
    def rubs(self) -> bool:
        """Whether the joint has Coulomb friction."""
        return bool(self.friction and self.friction_scale)

    @property
    def direction(self) -> Vector:
        """The axis of a joint that has one."""
        assert self.axis is not None
        return self.axis

    @property
    def turn(self) -> tuple[float, ...]:
        """The rotation of a body in space: roll, pitch and yaw."""
        assert not isinstance(self.rotation, float)
        return self.rotation

    @property
    def moments(self) -> tuple[float, ...]:
        """The inertia of a body in space."""
        assert not isinstance(self.inertia, float)
        return self.inertia


@dataclass(frozen=True)
class Loop:
    """An extra joint, which closes a loop: a point of one body stays on a point of another.

    Parameters
    ----------
    body : int
    point : tuple of float
        m, from handle 1 of ``body`` in its frame.
    to : int
        The other body, ``GROUND`` for the ground.
    at : tuple of float
        m, from handle 1 of ``to`` in its frame, or in the ground frame.
    joint : str
        One of ``LOOP_JOINTS``; a pin in the plane is ``REVOLUTE``.
    axis, to_axis : tuple of float or None
        Axis of a spatial revolute joint: unit vectors in the frames of ``body`` and ``to``, which
        stay parallel.
    kept : tuple of int or None
        Which of its constraints the dynamics use, where others follow from them
        (:mod:`pymodel.mechanism.redundancy`): 0 to 2 translations, 3 and 4 rotations. None: all.
    """

    body: int
    point: Vector
    to: int
    at: Vector
    joint: str = REVOLUTE
    axis: Vector | None = None
    to_axis: Vector | None = None
    kept: tuple[int, ...] | None = None

    @property
    def directions(self) -> tuple[Vector, Vector]:
        """The axes of a spatial revolute joint, on ``body`` and on ``to``."""
        assert self.axis is not None and self.to_axis is not None
        return self.axis, self.to_axis

    @property
    def axes_turn(self) -> bool:
        """Whether its translations are along axes of ``to``, not of the ground.

        The rows that are kept then stay independent where the mechanism turns as a whole. The axes
        are those of :func:`pymodel.mechanism.frames.own_frame`.
        """
        return self.kept is not None and self.to != GROUND


@dataclass(frozen=True)
class Spring:
    """A spring and a damper, in parallel, between points of two bodies or of a body and the ground.

    It pulls its ends together with stiffness (L - length) + damping dL/dt, L being their distance.

    Parameters
    ----------
    body, point, to, at
        Its two ends, as for :class:`Loop`.
    stiffness : float
        N/m.
    length : float
        Natural length, m, not negative.
    damping : float
        N s/m.
    """

    body: int
    point: Vector
    to: int
    at: Vector
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """A mechanism with its initial state (in the bodies), gravity and time grid.

    Parameters
    ----------
    name : str
    gravity : tuple of float
        m/s^2, ground frame; 2 numbers in the plane, 3 in space.
    step, end : float
        Length of a step and of the run, s.
    bodies : tuple of Body
        Parents before their children.
    loops : tuple of Loop
    springs : tuple of Spring
    integrator : str
        One of ``INTEGRATORS`` or ``ADAPTIVE``.
    save : int
        Every ``save``-th step is kept.
    tolerance : float, optional
        Of an adaptive integrator; ``TOLERANCE`` unless given.
    lend : str
        One of ``LEND``.
    source : str
        File, or what stands for it in messages.
    """

    name: str
    gravity: Vector
    step: float
    end: float
    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    springs: tuple[Spring, ...] = ()
    integrator: str = "euler"
    save: int = 1
    tolerance: float | None = None
    lend: str = LEND[0]
    source: str = "<scenario>"

    @property
    def adaptive(self) -> bool:
        """Whether the integrator chooses its steps."""
        return self.integrator in ADAPTIVE

    @property
    def singular(self) -> str:
        """What a posture is called where the constraints that are kept depend on each other."""
        if all(loop.kept is None for loop in self.loops):
            return "singular posture"
        return "singular posture, or the constraints kept of redundant loops no longer suffice"

    def require_fixed_steps(self) -> None:
        """Refuse an adaptive integrator where each step is the same program, by a ScenarioError."""
        if self.adaptive:
            needed = "only for the model in float64 (TARGET=model, no --target; and ARITH=float64)"
            reason = f"{self.integrator} chooses its steps: {needed}"
            raise ScenarioError(self.source, "time.integrator", reason)

    @property
    def steps(self) -> int:
        """Number of integration steps of the run."""
        return round(self.end / self.step)

    @property
    def times(self) -> np.ndarray:
        """Kept times in s, the start included: every ``save``-th step k at k * step."""
        return np.arange(0, self.steps + 1, self.save) * self.step

    @property
    def is_driven(self) -> bool:
        """Whether a torque depends on time, or a joint has a motion."""
        torques = any(isinstance(body.torque, str | Table) for body in self.bodies)
        return torques or bool(self.moved)

    @cached_property
    def moved(self) -> tuple[int, ...]:
        """Bodies whose joints have a motion."""
        return tuple(k for k, body in enumerate(self.bodies) if body.motion is not None)

    @cached_property
    def mimics(self) -> dict[int, Mimic]:
        """Bodies whose joints follow others, and what these are."""
        bodies = enumerate(self.bodies)
        return {k: body.mimic for k, body in bodies if body.mimic is not None}

    def require_no_mimics(self, what: str) -> None:
        """Refuse mimic joints for what takes none, by a ScenarioError."""
        for k in self.mimics:
            reason = f"{what} takes no joint that mimics another: runs of HDCA do"
            raise ScenarioError(self.source, f"body[{k}].mimic", reason)

    def require_free_joints(self, what: str) -> None:
        """Refuse motions of joints, and mimic joints, for what takes none, by a ScenarioError."""
        self.require_no_mimics(what)
        for k in self.moved:
            reason = f"{what} takes no motion of a joint: TARGET=model, native or step does"
            raise ScenarioError(self.source, f"body[{k}].motion", reason)

    @property
    def corners(self) -> list[float]:
        """Times in s after 0, ascending, at which a table of a torque, or a curve, has a corner.

        To a millionth of a step, so that none lies just beside a time of the grid, or another one.
        """
        drives = [x for body in self.bodies for x in (body.torque, body.motion)]
        tables = [x for x in drives if isinstance(x, Table | Curve)]
        times = np.array([t for table in tables for t in table.times])
        times = np.unique(np.rint(times / self.step * 1e6) / 1e6) * self.step
        found: list[float] = times[times > 0.0].tolist()
        return found

    @property
    def longest_step(self) -> float:
        """Longest step in s of an integrator that chooses its steps; infinite without formulas.

        Where a formula in time is zero for long, longer ones would pass over what comes then.
        """
        has_formula = any(isinstance(body.torque, str) for body in self.bodies)
        for motion in (self.bodies[k].motion for k in self.moved):
            velocity = derivative(parse(motion)) if isinstance(motion, str) else 0.0
            has_formula |= not isinstance(derivative(velocity), float)
        return FORMULA_STEPS * self.step if has_formula else np.inf

    @property
    def pairs(self) -> tuple[Loop | Spring, ...]:
        """What joins two bodies, or a body and the ground, beside the tree: loops, then springs."""
        return (*self.loops, *self.springs)

    @property
    def is_chain(self) -> bool:
        """Whether each body hangs on the one before (anywhere on it), the first on the ground."""
        return all(body.parent == k - 1 for k, body in enumerate(self.bodies))

    @property
    def spatial(self) -> bool:
        """Whether it moves in space."""
        return len(self.gravity) == 3

    @cached_property
    def pins_only(self) -> bool:
        """Whether it is planar, all its joints are whole free pins, frames parallel at q = 0."""
        whole = all(loop.kept is None for loop in self.loops)
        pins = all(body.joint == REVOLUTE and not body.rotation for body in self.bodies)
        return not self.spatial and whole and pins and not (self.moved or self.mimics)

    @cached_property
    def freedoms(self) -> list[Freedoms]:
        """Numbers of coordinates and velocities of each body's joint."""
        return [FREEDOMS[body.joint, self.spatial] for body in self.bodies]

    @property
    def nq(self) -> int:
        """Number of coordinates q."""
        return sum(size.q for size in self.freedoms)

    @property
    def nv(self) -> int:
        """Number of velocities qd and momenta p."""
        return sum(size.v for size in self.freedoms)

    @cached_property
    def q_slices(self) -> list[slice]:
        """Where the coordinates of each body's joint stand in q."""
        return _slices([size.q for size in self.freedoms])

    @cached_property
    def v_slices(self) -> list[slice]:
        """Where the velocities, or momenta, of each body's joint stand in qd, or p."""
        return _slices([size.v for size in self.freedoms])

    @property
    def quaternions(self) -> list[slice]:
        """Where the unit quaternions of spherical and free joints in space stand in q."""
        joints = zip(self.q_slices, self.freedoms, strict=True)
        return [slice(own.stop - 4, own.stop) for own, size in joints if size.q > size.v]

    @cached_property
    def constraints(self) -> list[Constraints]:
        """What each joint holds: those of the bodies, then those that close loops."""
        whole = Constraints(3, 3) if self.spatial else Constraints(2, 1)

        def of(joint: str) -> Constraints:
            moves = {PRISMATIC: 1, FREE: whole.translations}.get(joint, 0)
            turns = FREEDOMS[joint, self.spatial].v - moves
            return Constraints(whole.translations - moves, whole.rotations - turns)

        found = [of(body.joint if body.motion is None else FIXED) for body in self.bodies]
        for loop in self.loops:
            held = of(loop.joint)
            if loop.kept is not None:
                translations = sum(index < held.translations for index in loop.kept)
                held = Constraints(translations, len(loop.kept) - translations)
            found.append(held)
        return found

    def joint_name(self, k: int) -> str:
        """What the joint of body k is called in plots: by number, and by its body's name if any."""
        name = self.bodies[k].name
        return f"joint {k} ({name})" if name else f"joint {k}"

    @property
    def joint_names(self) -> list[str]:
        """What the joints are called in plots: by number, and by their bodies' names if any.

        One name for each velocity; a joint with many is named by their axes, too, in space those of
        the body.
        """
        names = []
        for k, (body, size) in enumerate(zip(self.bodies, self.freedoms, strict=True)):
            own = self.joint_name(k)
            axes = (
                *(f"along own {axis}" for axis in "xyz"),
                *(f"about own {axis}" for axis in "xyz"),
            )
            if not self.spatial:
                axes = ("x", "y", "angle")
            elif body.joint == SPHERICAL:
                axes = axes[3:]
            names += [own] if size.v == 1 else [f"{own} {axis}" for axis in axes[: size.v]]
        return names

    @property
    def coordinate_names(self) -> list[str]:
        """As :attr:`joint_names`, one name for each coordinate."""
        names = []
        for k, (size, own) in enumerate(zip(self.freedoms, self.v_slices, strict=True)):
            rates = self.joint_names[own]
            if size.q > size.v:  # three turns, of which the coordinates are a quaternion
                axes = *"xyz"[: size.v - 3], *(f"quaternion {part}" for part in "xyzw")
                rates = [f"{self.joint_name(k)} {axis}" for axis in axes]
            names += rates
        return names

    @property
    def q0(self) -> np.ndarray:
        """Initial joint coordinates, rad, m and quaternions, shape (nq,)."""
        return _flat([body.q for body in self.bodies], self.freedoms, 0)

    @property
    def qd0(self) -> np.ndarray:
        """Initial joint velocities, rad/s and m/s, shape (nv,)."""
        return _flat([body.qd for body in self.bodies], self.freedoms, 1)

    def with_state(self, q: np.ndarray, qd: np.ndarray) -> Scenario:
        """Return the scenario with another initial state, shapes (nq,) and (nv,)."""
        bodies = []
        for k, body in enumerate(self.bodies):
            own, rate = q[self.q_slices[k]].tolist(), qd[self.v_slices[k]].tolist()
            if len(own) == 1:
                bodies.append(replace(body, q=own[0], qd=rate[0]))
            elif own:
                bodies.append(replace(body, q=tuple(own), qd=tuple(rate)))
            else:
                bodies.append(body)
        return replace(self, bodies=tuple(bodies))


def inertia_matrix(moments: Sequence[float]) -> np.ndarray:
    """Matrix (3, 3) of the moments xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _slices(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def _flat(values: list[float | tuple[float, ...]], sizes: list[Freedoms], kind: int) -> np.ndarray:
    parts = [np.atleast_1d(value)[: size[kind]] for value, size in zip(values, sizes, strict=True)]
    return np.concatenate(parts).astype(float)
