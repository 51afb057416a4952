"""Loops of robots: links that are held together besides their joints, and where that is so.

A loop's constraints are differences of two points, and of two frames, in the axes of the first
link: ``ball`` holds two points together, ``hinge`` an axis at them, too, ``weld`` all axes. Those
that follow from others wherever the robot goes are left out, as of three parallel hinges and a ball
the one along the hinges: among postures that close the loops rows of the Jacobian are chosen
one by one, each the farthest from those before it in the worst posture, until none adds to the rank
in any.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pymodel.mechanism.loop import HINGE, Loop
from pymodel.mechanism.robot import FIXED_BASE, PRISMATIC, REVOLUTE, Robot
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.mechanism.rotations import from_quaternion, turned

KINDS = (REVOLUTE, PRISMATIC)  #: of the joints that a loop goes through

TOLD = "loops:"  #: beginning of what is said of them
CLOSED = 1e-12  #: errors below this are rounding, m and rad
DEPENDENT = 1e-7  #: of a row's length, below which it adds nothing to the rank
POSTURES = 8  #: that are looked at
TRIES = 60
NEWTON_STEPS = 30
SEED = 57


@dataclass(frozen=True)
class Placement:
    """Where frames are: from them to the ground of the links; see :func:`placements`."""

    rotation: np.ndarray
    origin: np.ndarray


def placements(robot: Robot, q: np.ndarray, needed: Container[int]) -> dict[int, Placement]:
    """Where links of a tree are, in the ground that they hang on.

    With a floating base in its frame, unless loops hold it to the ground.

    Parameters
    ----------
    robot : Robot
        No joint follows another.
    q : ndarray, shape (nq,)
        Rad and m. Only those of joints that loops may go through are looked at.
    needed : container of int
        Links, with those that they hang on.
    """
    base = Placement(np.eye(3), np.zeros(3))
    found: dict[int, Placement] = {}
    for k, link in enumerate(robot.links):
        if k not in needed:
            continue
        parent = found.get(link.parent, base)
        if k < robot.first:
            found[k] = _base_placement(robot, q) if any(grounded(robot)) else base
            continue
        single = link.kind in KINDS and not link.by_quaternion
        x = q[robot.coordinates[k].start] if single else 0.0
        offset, turn = link.offset, link.rotation
        if link.kind == PRISMATIC:
            offset = offset + x * link.rotation[:, 2]
        else:
            s, c = math.sin(x + link.zero), math.cos(x + link.zero)
            turn = turn @ np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
        origin = parent.origin + parent.rotation @ offset
        found[k] = Placement(parent.rotation @ turn, origin)
    return found


def grounded(robot: Robot) -> list[bool]:
    """Which loops hold a robot with a floating base to the ground."""
    return [robot.floating and FIXED_BASE in loop.links for loop in robot.loops]


def _base_placement(robot: Robot, q: np.ndarray) -> Placement:
    """Of a floating base, in the ground that links hang on."""
    base = robot.links[0]
    turn = base.rotation @ from_quaternion(q[3:7])
    return Placement(robot.ground @ turn, robot.ground @ (base.offset + base.rotation @ q[:3]))


class LoopGeometry:
    """Errors and Jacobian of a robot's loops, in numpy.

    Parameters
    ----------
    robot : Robot
    whole : bool
        All constraints of each loop, not only those that are kept.
    """

    def __init__(self, robot: Robot, whole: bool = False) -> None:
        self.robot, self.tree = robot, robot.tree
        self.rows = [range(loop.size) if whole else loop.rows for loop in robot.loops]
        ends = [end for loop in robot.loops for end in loop.links]
        self.needed = {k for end in ends for k in (end, *path(robot, end))} | {0}

    def _placed(self, q: np.ndarray) -> dict[int, Placement]:
        return placements(self.tree, self.robot.coordinates_of_tree(q), self.needed)

    def errors(self, q: np.ndarray) -> np.ndarray:
        """How far the constraints are from being kept, shape (rows,), m and rad."""
        found, parts = self._placed(q), []
        for loop, rows in zip(self.robot.loops, self.rows, strict=True):
            ends = [self._end(found, loop, side) for side in range(2)]
            axes = self._axes(found, loop)
            error = np.zeros(6)
            error[:3] = axes[0].T @ (ends[0].origin - ends[1].origin)
            of_a, of_b = (end.rotation.T for end in ends)
            turned = np.cross(of_b, of_a)
            twist = turned[2] if loop.kind == HINGE else turned.sum(axis=0) / 2
            error[3:] = axes[1].T @ twist
            parts.append(error[list(rows)])
        return np.concatenate(parts)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Shape (rows, nv); columns of a floating base are zero but for loops to the ground."""
        found, tree = self._placed(q), self.tree
        parts = []
        held = grounded(self.robot)
        for loop, rows, based in zip(self.robot.loops, self.rows, held, strict=True):
            axes = self._axes(found, loop)
            own = np.zeros((6, tree.nv))
            if based:
                base, point = found[0], self._end(found, loop, 0).origin
                own[:3, :3] = axes[0].T @ base.rotation
                for k, axis in enumerate(base.rotation.T, 3):
                    own[:3, k] = axes[0].T @ _cross(axis, point - base.origin)
                    own[3:, k] = axes[1].T @ axis
            for side, sign in ((0, 1.0), (1, -1.0)):
                point = self._end(found, loop, side).origin
                for k in path(tree, loop.links[side]):
                    axis = found[k].rotation[:, 2]
                    if tree.links[k].kind == PRISMATIC:
                        own[:3, tree.dof(k)] += sign * axes[0].T @ axis
                    else:
                        arm = point - found[k].origin
                        own[:3, tree.dof(k)] += sign * axes[0].T @ _cross(axis, arm)
                        own[3:, tree.dof(k)] += sign * axes[1].T @ axis
            parts.append(own[list(rows)])
        whole: np.ndarray = np.concatenate(parts) @ self.robot.coupling
        return whole

    def closed(self, q: np.ndarray) -> np.ndarray | None:
        """The posture near q at which the loops close, by Newton's method; None if it finds none.

        Steps are the shortest ones, so that a joint in no loop stays where it is.
        """
        own, based = single_coordinates(self.robot), any(grounded(self.robot))
        q, error = q.copy(), self.errors(q)
        for _ in range(NEWTON_STEPS):
            if np.abs(error).max(initial=0.0) < CLOSED:
                return q
            step, *_ = np.linalg.lstsq(self.jacobian(q), error, rcond=1e-10)
            longest = np.abs(step).max()
            step = step * min(1.0, 0.5 / longest) if longest else step
            for place, dof in own.items():
                q[place] -= step[dof]
            if based:
                q[:3] -= from_quaternion(q[3:7]) @ step[:3]
                q[3:7] = turned(q[3:7], -step[3:6])
            error = self.errors(q)
        return q if np.abs(error).max(initial=0.0) < CLOSED else None

    def kept(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The velocity nearest to qd that keeps the loops at q, shape (nv,)."""
        jacobian = self.jacobian(q)
        if not len(jacobian):
            return qd
        step, *_ = np.linalg.lstsq(jacobian, jacobian @ qd, rcond=1e-10)
        return qd - step

    def forces(self, q: np.ndarray, torques: np.ndarray) -> np.ndarray:
        """Forces at the loops' points, (loops, 3), of the smallest that do what torques (nv,) do.

        With all constraints; N, on the first link, in the axes of the ground that links hang on.
        """
        found = self._placed(q)
        along, *_ = np.linalg.lstsq(self.jacobian(q).T, torques, rcond=None)
        ends = np.cumsum([loop.size for loop in self.robot.loops])
        parts = [x[:3] for x in np.split(along, ends[:-1])]
        axes = [self._axes(found, loop)[0] for loop in self.robot.loops]
        return np.array([a @ x for a, x in zip(axes, parts, strict=True)])

    def _end(self, found: Mapping[int, Placement], loop: Loop, side: int) -> Placement:
        """The frame of a loop on one of its links."""
        rotation, offset, k = loop.rotations[side], loop.offsets[side], loop.links[side]
        if k == FIXED_BASE:
            return Placement(rotation, offset)
        link, at = self.tree.links[k], found[k]
        offset = link.frame_offset + link.frame_rotation @ offset
        rotation = link.frame_rotation @ rotation
        return Placement(at.rotation @ rotation, at.origin + at.rotation @ offset)

    def _axes(self, found: Mapping[int, Placement], loop: Loop) -> tuple[np.ndarray, np.ndarray]:
        """Axes in which positions and turns are compared: the first link's, or the hinge's."""
        own = found[loop.links[0]].rotation
        return own, self._end(found, loop, 0).rotation if loop.kind == HINGE else own


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """As numpy's of two vectors, ten times as fast."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


def single_coordinates(robot: Robot) -> dict[int, int]:
    """Place in q -> degree of freedom, of the joints that loops may go through."""
    return {
        robot.coordinates[k].start: robot.dof(k)
        for k in robot.leaders
        if robot.links[k].kind in KINDS and not robot.links[k].by_quaternion
    }


def path(robot: Robot, link: int) -> Iterator[int]:
    """Links with joints from a link to the ground or the floating base."""
    while link != FIXED_BASE and link >= robot.first:
        yield link
        link = robot.links[link].parent


def with_loops(
    robot: Robot, loops: Sequence[Loop], posture: np.ndarray | None = None
) -> tuple[Robot, list[str]]:
    """The robot with loops, and what is said of them.

    Parameters
    ----------
    robot : Robot
    loops : sequence of Loop
    posture : ndarray, shape (nq,), optional
        One near which the loops close: constraints are chosen there, and not in several postures.

    Raises
    ------
    RobotError
        If the two ends of a loop are on one link; if a joint between them, but for a floating base,
        has several coordinates; if no posture closes the loops, as far as 60 starts tell; if they
        leave no motion.
    """
    robot = replace(robot, loops=tuple(_ordered(robot, loop) for loop in loops))
    whole = LoopGeometry(robot, whole=True)
    rng = np.random.default_rng(SEED)
    postures: list[np.ndarray] = []
    for number in range(TRIES if posture is None else 1):
        q = rng.uniform(-1.0, 1.0, robot.nq) * bool(number)
        for own in robot.quaternions:
            q[own] = q[own] / np.linalg.norm(q[own]) if number else (0.0, 0.0, 0.0, 1.0)
        found = whole.closed(q if posture is None else posture)
        if found is not None:
            postures.append(found)
        if len(postures) == POSTURES:
            break
    names = ", ".join(loop.name for loop in loops)
    if not postures:
        reason = "of 60 starts" if posture is None else "near the one that is given"
        raise RobotError(robot.source, f"loop {names}", f"no posture closes it, {reason}")
    kept = _independent([whole.jacobian(q) for q in postures])
    first, found_loops, left_out = 0, [], []
    for loop in robot.loops:
        rows = tuple(row for row in range(loop.size) if first + row in kept)
        found_loops.append(replace(loop, rows=rows))
        if len(rows) < loop.size:
            left_out.append(f"{loop.name} {loop.size - len(rows)} of {loop.size}")
        first += loop.size
    count = sum(len(loop.rows) for loop in found_loops)
    if count >= robot.nv:
        raise RobotError(robot.source, f"loop {names}", "no joint can move, so it holds")
    told = [f"{TOLD} FDc, dFDc, IDc, stepc and dstepc keep, and all others leave open: {names}"]
    if left_out:
        told.append(
            f"{TOLD} constraints that follow from others are left out: {'; '.join(left_out)}"
        )
    return replace(robot, loops=tuple(found_loops)), told


def _ordered(robot: Robot, loop: Loop) -> Loop:
    """The loop with a link that moves as its first."""
    a, b = loop.links
    element = f"loop {loop.name}"
    if a == b:
        where = "the ground" if a == FIXED_BASE else f"link {robot.links[a].name}"
        raise RobotError(robot.source, element, f"both its ends are on {where}")
    for k in sorted(set(path(robot, a)) ^ set(path(robot, b))):
        if robot.links[k].kind not in KINDS or robot.links[k].by_quaternion:
            reason = f"it goes through joint {robot.links[k].joint}"
            reason += ": write revolute and prismatic joints, as many as it has coordinates"
            raise RobotError(robot.source, element, reason)
    if a != FIXED_BASE and (b == FIXED_BASE or a > b):
        return loop
    rotations, offsets = loop.rotations[::-1], loop.offsets[::-1]
    return replace(loop, links=(b, a), rotations=rotations, offsets=offsets)


def _independent(jacobians: Sequence[np.ndarray]) -> set[int]:
    """Rows that span all wherever the robot goes, the best ones first."""
    left = np.array(jacobians)  # postures, rows, columns
    scale = max(1.0, float(np.abs(left).max(initial=0.0)))
    kept: set[int] = set()
    while len(kept) < left.shape[1]:
        lengths = np.linalg.norm(left, axis=2)
        lengths[:, sorted(kept)] = 0.0
        if lengths.max(initial=0.0) < DEPENDENT * scale:
            break
        worst = np.median(lengths, axis=0)
        best = int(np.flatnonzero(worst > 0.99 * worst.max())[0])
        kept.add(best)
        unit = left[:, best] / np.maximum(lengths[:, best], 1e-300)[:, None]
        left = left - np.einsum("pr,pc->prc", np.einsum("prc,pc->pr", left, unit), unit)
    return kept
