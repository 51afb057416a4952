"""What a mechanism or a robot looks like in space, and where its parts are in each frame.

Links are capsules between joints, in the frames of their bodies; how these move is what the
kinematics of the model say, in float64. :mod:`pymodel.runs.view` makes a page of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from pymodel.mechanism import kinematics
from pymodel.mechanism.robot import (
    FIXED_BASE,
    FREE,
    HELICAL,
    PRISMATIC,
    REVOLUTE,
    Link,
    Robot,
    one_line,
)
from pymodel.mechanism.rotations import about_axis
from pymodel.mechanism.scenario import GROUND, Scenario, inertia_matrix
from pymodel.mechanism.scenario import PRISMATIC as SLIDING
from pymodel.mechanism.scenario import REVOLUTE as TURNING
from pymodel.runs import skeleton
from pymodel.runs.robot_model import RobotModel
from pymodel.runs.trajectory import Trajectory

MOST_FRAMES = 1000
#: Numbers that say where things are, of all frames: a file of some 5 MB.
MOST_NUMBERS = 300_000
NUMBERS_OF_A_PLACE = 7
#: Okabe and Ito's colours, as in plots.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#999999")
DARK, METAL = "#333333", "#777777"
AXES = ("#D62728", "#2CA02C", "#1F77B4")  # x, y, z
BOX, CYLINDER, BALL = "box", "cylinder", "ball"
#: As shares of the size of what is shown: radius of a link, of a thin one, of a spring.
THICK, THIN, COIL = 0.025, 0.01, 0.03
LEAST = 1e-6  # share of the size below which a length is none
FAR = 8.0  # sizes that the picture spans at most
FRONT = (0.75, -1.0, 0.45)  # from where it is looked at, z up
TURNS, CORNERS = 8, 16  # of a spring, and of each of its turns


class Solid(NamedTuple):
    """A shape in the frame of its body.

    Attributes
    ----------
    kind : str
        :data:`BOX`, :data:`CYLINDER` (along y) or :data:`BALL`.
    size : tuple of float
        Lengths of the edges; radius and height; radius; m.
    place : numpy.ndarray, shape (4, 4)
    colour : str
        ``#rrggbb``
    opacity : float
    """

    kind: str
    size: tuple[float, ...]
    place: np.ndarray
    colour: str
    opacity: float = 1.0


class Line(NamedTuple):
    """A line through points, shape (N, 3), m, in the frame of its body."""

    points: np.ndarray
    colour: str


@dataclass(frozen=True, eq=False)
class Thing:
    """What moves as one.

    Attributes
    ----------
    name : str
    parts : tuple
        Of :class:`Solid` and :class:`Line`.
    position : numpy.ndarray, shape (T, 3)
        Of its frame, m.
    quaternion : numpy.ndarray, shape (T, 4)
        x, y, z, w: from its frame to the ground's.
    length : numpy.ndarray, shape (T,), or None
        By what it is stretched along z.
    """

    name: str
    parts: tuple[Solid | Line, ...]
    position: np.ndarray
    quaternion: np.ndarray
    length: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Scene:
    """What is shown.

    Attributes
    ----------
    title : str
    facts : tuple of str
        A line each.
    times : numpy.ndarray, shape (T,)
        s, from 0.
    things : tuple of Thing
    upright : numpy.ndarray, shape (3, 3)
        From the axes of the file's ground to those in which z points up.
    front : numpy.ndarray, shape (3,)
        From where it is looked at, in the latter.
    stepwise : bool
        Frames are postures of their own, with nothing between them.
    """

    title: str
    facts: tuple[str, ...]
    times: np.ndarray
    things: tuple[Thing, ...]
    upright: np.ndarray = field(default_factory=lambda: np.eye(3))
    front: np.ndarray = field(default_factory=lambda: np.array(FRONT))
    stepwise: bool = False

    @property
    def span(self) -> tuple[np.ndarray, float]:
        """Lowest and highest corners of what is shown, shape (2, 3), m, z up; and the size."""
        placed = [_corners(thing) @ self.upright.T for thing in self.things if thing.parts]
        first = float(np.ptp(np.concatenate([x[0] for x in placed]), axis=0).max()) or 1.0
        all_of_them = np.concatenate([x.reshape(-1, 3) for x in placed])
        low, high = all_of_them.min(axis=0), all_of_them.max(axis=0)
        whole = float((high - low).max()) or 1.0
        return np.stack((low, high)), min(whole, FAR * first)


def _corners(thing: Thing) -> np.ndarray:
    """Places in the ground's frame that a thing reaches, (T, N, 3)."""
    own = [
        part.points if isinstance(part, Line) else part.place[:3, 3][None] for part in thing.parts
    ]
    points = np.concatenate([np.zeros((1, 3)), *own])[None] * np.ones((len(thing.position), 1, 1))
    if thing.length is not None:
        points[..., 2] *= thing.length[:, None]
    turn = Rotation.from_quat(thing.quaternion).as_matrix()
    found: np.ndarray = np.einsum("tij,tnj->tni", turn, points) + thing.position[:, None]
    return found


def frames(t: np.ndarray, things: int) -> np.ndarray:
    """Choose the rows of a motion that are shown: all, or so many that are even in time.

    Parameters
    ----------
    t : numpy.ndarray, shape (T,)
        s, ascending.
    things : int
        How many move.
    """
    most = min(MOST_FRAMES, max(MOST_NUMBERS // (NUMBERS_OF_A_PLACE * max(things, 1)), 2))
    if len(t) <= most:
        return np.arange(len(t))
    times = np.linspace(t[0], t[-1], most)
    after = np.searchsorted(t, times).clip(1, len(t) - 1)
    nearer = times - t[after - 1] < t[after] - times
    return np.unique(after - nearer)


def upright(gravity: np.ndarray) -> np.ndarray:
    """The right-angled turn that lets z point up, shape (3, 3).

    Parameters
    ----------
    gravity : numpy.ndarray, shape (d,)
        m/s^2; what it is along the most points down. Without it y of the plane and z of space are
        up.
    """
    whole = np.zeros(3)
    whole[: len(gravity)] = gravity
    axis = int(np.abs(whole).argmax()) if whole.any() else len(gravity) - 1
    up = np.zeros(3)
    up[axis] = 1.0 if whole[axis] <= 0.0 else -1.0
    across = np.cross(up, (0.0, 0.0, 1.0))
    if across.any():
        return np.round(about_axis(across, np.array(np.pi / 2))) + 0.0
    return np.diag((1.0, up[2], up[2]))


# --- shapes ---------------------------------------------------------------------------------------


def _towards(way: np.ndarray, axis: int) -> np.ndarray:
    """A rotation (3, 3) that turns an axis into the direction of a vector (3,)."""
    found = Rotation.align_vectors(way[None], np.eye(3)[axis][None])[0]
    return np.asarray(found.as_matrix())


def _at(place: np.ndarray, rotation: np.ndarray | None = None) -> np.ndarray:
    found = np.eye(4)
    found[:3, 3] = place
    if rotation is not None:
        found[:3, :3] = rotation
    return found


def capsule(start: np.ndarray, end: np.ndarray, radius: float, colour: str) -> list[Solid]:
    """Solids of a capsule between two points (3,), m."""
    way = end - start
    ends = [Solid(BALL, (radius,), _at(x), colour) for x in (start, end)]
    length = float(np.linalg.norm(way))
    if length <= LEAST * radius:
        return ends[:1]
    middle = _at((start + end) / 2, _towards(way, 1))
    return [*ends, Solid(CYLINDER, (radius, length), middle, colour)]


def triad(rotation: np.ndarray, position: np.ndarray, length: float) -> list[Solid]:
    """Solids of a frame's axes, red, green and blue, and a ball about its origin."""
    radius = 0.05 * length
    found = [Solid(BALL, (0.35 * length,), _at(position), COLOURS[4], 0.35)]
    for axis, colour in zip(rotation.T, AXES, strict=True):
        found += capsule(position, position + length * axis, radius, colour)
    return found


def still(name: str, parts: Iterable[Solid | Line]) -> Thing:
    """What stands on the ground; its parts are in the ground's frame."""
    return Thing(name, tuple(parts), np.zeros((1, 3)), np.array(((0.0, 0.0, 0.0, 1.0),)))


def _thing(name: str, parts: Sequence[Solid | Line], place: np.ndarray, turn: np.ndarray) -> Thing:
    """What moves, by positions (T, 3) and rotations (T, 3, 3)."""
    return Thing(name, tuple(parts), place, Rotation.from_matrix(turn).as_quat())


def _coil() -> np.ndarray:
    """A coil of radius 1 from 0 to 1 along z, (N, 3)."""
    way = np.linspace(0.0, 1.0, TURNS * CORNERS + 1)
    angle = 2 * np.pi * TURNS * way
    points = np.stack((np.cos(angle), np.sin(angle), 0.1 + 0.8 * way), axis=-1)
    return np.concatenate((((0.0, 0.0, 0.0),), points, ((0.0, 0.0, 1.0),)))


# --- mechanisms -----------------------------------------------------------------------------------


def _in_space(points: np.ndarray) -> np.ndarray:
    """Points (..., 2) or (..., 3) as those of space."""
    if points.shape[-1] == 3:
        return points
    return np.concatenate((points, np.zeros((*points.shape[:-1], 1))), axis=-1)


def of_mechanism(trajectory: Trajectory, scenario: Scenario) -> Scene:
    """The scene of a run.

    Parameters
    ----------
    trajectory : Trajectory
        Of this mechanism, all finite, with at least one row.
    scenario : Scenario
    """
    rows = frames(trajectory.t, len(scenario.bodies) + len(scenario.springs))
    q = trajectory.q[rows]
    places = _in_space(kinematics.handle_positions(scenario, q))
    turns = kinematics.body_rotations(scenario, q)
    ends = [_in_space(np.array(x)) for x in skeleton.ends(scenario)]
    corners = [places[0, k] + x @ turns[0, k].T for k, x in enumerate(ends)]
    grounded = _in_space(
        np.array(skeleton.ground_pins(scenario)).reshape(-1, len(scenario.gravity))
    )
    size = float(np.ptp(np.concatenate((places[0], grounded, *corners)), axis=0).max()) or 1.0
    things = [still("ground", _of_ground(scenario, trajectory, grounded, size))]
    for k, body in enumerate(scenario.bodies):
        parts = _of_body(scenario, k, ends[k], size)
        things.append(_thing(f"{k} {one_line(body.name)}", parts, places[:, k], turns[:, k]))
        if body.joint == SLIDING:
            things.append(_guide(scenario, k, q, size))
    things += [_spring(scenario, k, q, size) for k in range(len(scenario.springs))]
    up = upright(np.array(scenario.gravity))
    front = up[:, 2] + (0.0, 0.0, 0.2)  # a plane is looked at along its normal
    if scenario.spatial:
        front = np.array(FRONT)
    facts = (
        _times(trajectory.t, rows),
        f"gravity {_vector(scenario.gravity)} m/s^2 in the axes shown (x red, y green, z blue)",
    )
    times = trajectory.t[rows] - trajectory.t[0]
    return Scene(scenario.name, facts, times, tuple(things), up, front)


def _times(t: np.ndarray, rows: np.ndarray) -> str:
    shown = f"{len(rows)}" if len(rows) == len(t) else f"{len(rows)} of {len(t)}"
    return f"{t[-1] - t[0]:.6g} s, {shown} frames"


def _vector(numbers: Iterable[float]) -> str:
    return f"({', '.join(f'{x:.4g}' for x in numbers)})"


def _of_ground(
    scenario: Scenario, trajectory: Trajectory, pins: np.ndarray, size: float
) -> list[Solid | Line]:
    """What stands still: places where the mechanism is held, and the paths of its tips."""
    edge = 4 * THICK * size
    found: list[Solid | Line] = [Solid(BOX, (edge,) * 3, _at(x), DARK, 0.5) for x in pins]
    rows = frames(trajectory.t, len(scenario.bodies))
    for body, path in skeleton.traced_tips(scenario, trajectory):
        found.append(Line(_in_space(path[rows]), _colour(body)))
    return found


def _colour(body: int) -> str:
    return COLOURS[(1 + body) % len(COLOURS)]


def _of_body(scenario: Scenario, k: int, ends: np.ndarray, size: float) -> list[Solid | Line]:
    """A body in its frame: bars, its joint, in space a box of its moments of inertia."""
    body, radius = scenario.bodies[k], THICK * size
    found: list[Solid | Line] = []
    for end in ends:
        found += capsule(np.zeros(3), end, radius, _colour(k))
    joint = {TURNING: REVOLUTE, SLIDING: PRISMATIC}.get(body.joint, "")
    axis = (0.0, 0.0, 1.0) if body.axis is None else body.axis
    if joint:
        found.append(_joint(joint, np.zeros(3), _in_space(np.array(axis)), radius))
    for loop in scenario.loops:
        if loop.body == k and loop.joint == TURNING:
            along = (0.0, 0.0, 1.0) if loop.axis is None else loop.axis
            place = _in_space(np.array(loop.point))
            found.append(_joint(REVOLUTE, place, np.array(along), radius))
    if scenario.spatial and body.mass > 0.0:
        found.append(
            _inertia_box(body.mass, np.array(body.com), inertia_matrix(body.moments), size)
        )
    return found


def _joint(kind: str, place: np.ndarray, axis: np.ndarray, radius: float) -> Solid:
    """What a joint is drawn as, along its axis: a short cylinder, or a block."""
    along = _at(place, _towards(axis, 1))
    if kind == PRISMATIC:
        return Solid(BOX, (2.8 * radius, 5 * radius, 2.8 * radius), along, DARK)
    return Solid(CYLINDER, (1.3 * radius, 2.8 * radius), along, DARK)


def _inertia_box(mass: float, com: np.ndarray, inertia: np.ndarray, size: float) -> Solid:
    """The uniform box of a mass (kg) that has its moments of inertia (3, 3) about its centre."""
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes = -axes
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    edges = np.sqrt(np.maximum(squares, (THIN * size) ** 2))
    return Solid(BOX, tuple(edges.tolist()), _at(com, axes), METAL, 0.3)


def _guide(scenario: Scenario, k: int, q: np.ndarray, size: float) -> Thing:
    """What a prismatic joint slides on."""
    body = scenario.bodies[k]
    way = q[:, scenario.q_slices[k]]
    if body.parent != GROUND:
        way = np.append(way, 0.0)
    direction, past = _in_space(np.array(body.direction)), 5 * THICK * size
    ends = (way.min() - past) * direction, (way.max() + past) * direction
    place = kinematics.point_position(scenario, q, body.parent, body.attach)
    turn = kinematics.body_rotations(scenario, q)[:, k]
    parts = capsule(*ends, THIN * size, METAL)
    return _thing(f"guide of {k} {one_line(body.name)}", parts, _in_space(place), turn)


def _spring(scenario: Scenario, k: int, q: np.ndarray, size: float) -> Thing:
    """A spring between two points: a coil that is stretched along its axis."""
    spring = scenario.springs[k]
    start = _in_space(kinematics.point_position(scenario, q, spring.to, spring.at))
    way = _in_space(kinematics.point_position(scenario, q, spring.body, spring.point)) - start
    length = np.linalg.norm(way, axis=-1)
    coil = _coil() * (COIL * size, COIL * size, 1.0)
    return Thing(f"spring {k}", (Line(coil, DARK),), start, _turns_of_z(way), length)


def _turns_of_z(way: np.ndarray) -> np.ndarray:
    """Quaternions (T, 4) that turn z into the directions of vectors (T, 3)."""
    unit = way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), np.finfo(float).tiny)
    x, y, z = unit.T
    found = np.stack((-y, x, 0.0 * x, 1.0 + z), axis=-1)
    found[z < 2.0 * LEAST - 1.0] = (1.0, 0.0, 0.0, 0.0)
    return np.asarray(found / np.linalg.norm(found, axis=-1, keepdims=True))


# --- robots ---------------------------------------------------------------------------------------


def of_robot(
    robot: Robot,
    q: np.ndarray,
    t: np.ndarray | None = None,
    facts: Sequence[str] = (),
    things: Sequence[Thing] = (),
) -> Scene:
    """The scene of a robot's motion, or of postures.

    Parameters
    ----------
    robot : Robot
    q : numpy.ndarray, shape (T, nq)
        Finite.
    t : numpy.ndarray, shape (T,), optional
        s, ascending. None: each posture is shown for a second.
    facts : sequence of str
        What is said of it.
    things : sequence of Thing
        What is shown, too.
    """
    stepwise = t is None
    if t is None:
        t, q = np.arange(len(q) + 1.0), np.concatenate((q, q[-1:]))
    rows = frames(t, len(robot.bodies))
    places, turns = RobotModel(robot).placement(q[rows])
    points = _points(robot)
    bars = [points[k] for k in (FIXED_BASE, *robot.bodies)]
    first = zip([np.zeros(3), *places[0]], [robot.ground.T, *turns[0]], bars, strict=True)
    reached = [place + np.array([end for end, _ in own]) @ turn.T for place, turn, own in first]
    size = float(np.ptp(np.concatenate(reached), axis=0).max()) or 1.0
    if robot.floating:  # nothing leads from the ground's origin to where loops hold the robot
        ground = [Solid(BALL, (1.5 * share * size,), _at(x), METAL) for x, share in bars[0][1:]]
    else:
        ground = capsules(points[FIXED_BASE], size, METAL)
    parts = [
        Solid(x.kind, x.size, _at(np.zeros(3), robot.ground.T) @ x.place, x.colour) for x in ground
    ]
    found = [still("ground", parts if len(bars[0]) > 1 else ())]
    for n, k in enumerate(robot.bodies):
        link, colour = robot.links[k], COLOURS[n % len(COLOURS)]
        own = [*capsules(points[k], size, colour), *_joint_of(robot, k, size)]
        found.append(_thing(f"{n} {one_line(link.name)}", own, places[:, n], turns[:, n]))
    down = f"gravity {_vector(robot.gravity_vector)} m/s^2"
    shown = f"{len(t) - 1} postures, a second each" if stepwise else _times(t, rows)
    told = (shown, f"{down} in the axes shown (x red, y green, z blue)", *facts)
    up = upright(robot.gravity_vector)
    whole = (*found, *things)
    return Scene(one_line(robot.name), told, t[rows] - t[0], whole, up, stepwise=stepwise)


def capsules(ends: Sequence[tuple[np.ndarray, float]], size: float, colour: str) -> list[Solid]:
    """Solids from a frame's origin to points in it, each with the share of the size of its radius.

    Points that are there already are left out.
    """
    found: list[Solid] = []
    known: list[np.ndarray] = []
    for end, share in ends:
        if all(np.abs(end - other).max() > LEAST * size for other in known):
            found += capsule(np.zeros(3), end, share * size, colour)
            known.append(end)
    return found


def _points(robot: Robot) -> dict[int, list[tuple[np.ndarray, float]]]:
    """Where the capsules of each body go to, in its frame, and how thick they are.

    To the joints of others, where loops hold it, to frames that are fixed on it; from a link that
    has none of these to twice its centre of mass, where a uniform rod would end.
    """
    found = {k: [(np.zeros(3), THICK)] for k in (FIXED_BASE, *robot.bodies)}
    for link in robot.links:
        parent, offset = link.parent, link.offset
        if not link.has_body or link.kind == FREE:
            continue
        while parent != FIXED_BASE and parent not in found:  # parts of one joint
            parent, offset = robot.links[parent].parent, robot.links[parent].offset
        found[parent].append((_in_own_frame(robot, parent, offset), THICK))
    for loop in robot.loops:
        for k, offset in zip(loop.links, loop.offsets, strict=True):
            found[k].append((offset, THICK))
    for fixed in robot.fixed.values():
        if fixed.carrier != FIXED_BASE:
            found[fixed.carrier].append((fixed.offset, THIN))
    for k in robot.bodies:
        link = robot.links[k]
        if link.mass > 0.0 and not any(np.linalg.norm(x) > 0.0 for x, _ in found[k]):
            centre = _in_own_frame(robot, k, link.first_moment / link.mass)
            found[k].append((2.0 * centre, THICK))
    return found


def _in_own_frame(robot: Robot, k: int, place: np.ndarray) -> np.ndarray:
    """A place in a link's frame in that in which external wrenches on it are given."""
    if k == FIXED_BASE:
        return place
    link = robot.links[k]
    return np.asarray(link.frame_rotation.T @ (place - link.frame_offset))


def _joint_of(robot: Robot, k: int, size: float) -> list[Solid]:
    """What the joint of a link is drawn as, in the link's frame; a floating base as a box."""
    link = robot.links[k]
    if link.kind == FREE and link.mass > 0.0:
        return [_trunk(link, size)]
    if link.kind not in (REVOLUTE, HELICAL, PRISMATIC) or link.by_quaternion:
        return []
    axis = link.frame_rotation.T[:, 2]
    return [_joint(link.kind, _in_own_frame(robot, k, np.zeros(3)), axis, THICK * size)]


def _trunk(link: Link, size: float) -> Solid:
    """The box of a floating base's moments of inertia, in the frame of external wrenches."""
    com = link.first_moment / link.mass
    second = (
        link.frame_rotation.T
        @ (link.inertia[:3, :3] - link.mass * np.outer(com, com))
        @ link.frame_rotation
    )
    inertia = np.trace(second) * np.eye(3) - second
    place = link.frame_rotation.T @ (com - link.frame_offset)
    return _inertia_box(link.mass, place, inertia, size)
