"""A robot's tree as a scenario, to be run by HDCA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.arith.numbers import numbers
from pymodel.mechanism.checks import check_loops, check_mimics, size
from pymodel.mechanism.loop import HINGE, POINTS, WELD
from pymodel.mechanism.loop import Loop as RobotLoop
from pymodel.mechanism.moments import ROUNDING
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.robot import BALL, FIXED_BASE, HELICAL, Link, Robot, one_line
from pymodel.mechanism.robot_loops import LoopGeometry
from pymodel.mechanism.rotations import to_angles
from pymodel.mechanism.scenario import (
    FREE,
    GROUND,
    REVOLUTE,
    SPHERICAL,
    Body,
    Loop,
    Mimic,
    Scenario,
    ScenarioError,
    Vector,
)


def scenario_of_robot(
    robot: Any,
    step: float = 1e-3,
    end: float = 1.0,
    q: np.ndarray | None = None,
    qd: np.ndarray | None = None,
    integrator: str = "rk4",
) -> Scenario:
    """Make a scenario of a robot that moves freely under gravity.

    Parameters
    ----------
    robot : Robot or RobotModel
        As it is read from its URDF, not reduced: every link that moves has a mass.
    step, end : float
        s.
    q, qd : numpy.ndarray, shapes (nq,) and (nv,), optional
        Initial state in the robot's order, which is the scenario's; default: zero and at rest.
        Loops must be closed in it; where q is left out they are, as near to zero as they allow.
    integrator : str

    Returns
    -------
    Scenario

    Raises
    ------
    InputError
        If the robot is none.
    ScenarioError
        If q or qd are no numbers, or have another shape; if a link has no mass, or its inertia is
        singular, or its joint has an armature; if its loops are open in this state; if it has loops
        and mimic joints; for planar, cylindrical, universal, helical and floating joints in the
        tree, and damping of a ball joint. An inertia that no body has, as that of Atlas' torso, is
        taken as it is; a scenario file would be refused.
    """
    found = getattr(robot, "robot", robot)  # a RobotModel, of a package above this one, has one
    if not isinstance(found, Robot):
        raise InputError(f"robot: must be a Robot or a RobotModel, got {robot!r}")
    robot = found
    carried: dict[int, int] = {FIXED_BASE: GROUND}  # link -> body
    bodies = _following(robot, _bodies(robot, carried), carried)
    gravity = tuple(robot.gravity_vector.tolist())
    source = robot.source or "<robot>"
    scenario = Scenario(
        robot.name, gravity, step, end, tuple(bodies), integrator=integrator, source=source
    )
    if q is not None or robot.loops:
        q = _closed(robot, source) if q is None else _vector(source, "q", q, robot.nq)
    if q is not None or qd is not None or robot.mimics:
        rates = np.zeros(robot.nv) if qd is None else _vector(source, "qd", qd, robot.nv)
        start = _zero(robot) if q is None else q
        scenario = scenario.with_state(robot.coordinates_of_tree(start), robot.coupling @ rates)
    check_mimics(scenario)
    if not robot.loops:
        return scenario
    scenario = replace(scenario, loops=_loops(robot, carried, size(scenario) or 1.0))
    check_loops(scenario)
    return with_kept_rows(scenario)


def _closed(robot: Robot, source: str) -> np.ndarray:
    """The posture nearest to zero that closes the loops, shape (nq,)."""
    found = LoopGeometry(robot, whole=True).closed(_zero(robot))
    if found is None:
        raise ScenarioError(source, "q", "its loops do not close near zero: give a q that does")
    return found


def _zero(robot: Robot) -> np.ndarray:
    """Coordinates of zero, shape (nq,); quaternions are 1."""
    zero = np.zeros(robot.nq)
    for quaternion in robot.quaternions:
        zero[quaternion[-1]] = 1.0
    return zero


def _following(robot: Robot, bodies: list[Body], carried: Mapping[int, int]) -> list[Body]:
    """Bodies whose joints follow others as the robot's do; one that stands at its offset is held.

    A follower of a joint with several coordinates is none of a robot.
    """
    found = list(bodies)
    for link, mimic in robot.mimics.items():
        k = carried[link]
        if mimic.of == FIXED_BASE:
            found[k] = replace(found[k], motion=mimic.offset)
        else:
            gear = Mimic(carried[mimic.of], mimic.multiplier, mimic.offset)
            found[k] = replace(found[k], mimic=gear)
    return found


def _loops(robot: Robot, carried: Mapping[int, int], length: float) -> tuple[Loop, ...]:
    """Loops between the bodies.

    A weld is a hinge and a ball beside its axis, a length away: of its eight constraints those that
    follow from others are left out, as of any loop.
    """
    found = []
    for loop in robot.loops:
        frames = [_on_body(robot, loop, side) for side in range(2)]
        body, to = (carried[link] for link in loop.links)
        (turn, point), (to_turn, at) = frames
        if loop.kind in (HINGE, WELD):
            axis, to_axis = (_numbers(each[:, 2]) for each in (turn, to_turn))
            hinge = Loop(body, _numbers(point), to, _numbers(at), REVOLUTE, axis, to_axis)
            found.append(hinge)
        if loop.kind in (POINTS, WELD):
            aside = length * (loop.kind == WELD)
            point, at = point + aside * turn[:, 0], at + aside * to_turn[:, 0]
            found.append(Loop(body, _numbers(point), to, _numbers(at), SPHERICAL))
    return tuple(found)


def _on_body(robot: Robot, loop: RobotLoop, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origin of a loop's frame in the frame of a body, or of the file's ground."""
    link, rotation, offset = loop.links[side], loop.rotations[side], loop.offsets[side]
    if link == FIXED_BASE:
        return robot.ground.T @ rotation, robot.ground.T @ offset
    own = robot.links[link]
    return own.frame_rotation @ rotation, own.frame_offset + own.frame_rotation @ offset


def _numbers(vector: np.ndarray) -> Vector:
    return tuple((vector + 0.0).tolist())


def _vector(source: str, name: str, given: np.ndarray, size: int) -> np.ndarray:
    try:
        array = numbers(name, given)
    except ValueError as error:
        raise ScenarioError(source, "", str(error)) from None
    if array.shape != (size,):
        raise ScenarioError(source, name, f"shape {array.shape}, must be ({size},)")
    return array


def _bodies(robot: Robot, carried: dict[int, int]) -> list[Body]:
    """The bodies; a ball joint's parts are one joint. Fills in which link is which body."""
    found: list[Body] = []
    for index, link in enumerate(robot.links):
        part, parent = link.part, link.parent
        if link.kind == HELICAL or (part is not None and part.kind != BALL):
            kind = part.kind if part else link.kind
            name = one_line(part.joint if part else link.joint)
            reason = f"a scenario has no {kind} joint"
            raise ScenarioError(robot.source, f"joint {name}", reason)
        if part is not None:
            if not part.last:
                continue
            parts = robot.links[index - part.index : index + 1]
            turn = np.linalg.multi_dot([each.rotation for each in parts])
            parent, armature = parts[0].parent, max(each.armature for each in parts)
            link = replace(link, rotation=turn, offset=parts[0].offset, armature=armature)
            if any(each.damping or (each.friction and each.friction_scale) for each in parts):
                reason = "a scenario's ball joint has no damping, and no friction"
                raise ScenarioError(robot.source, f"joint {one_line(part.joint)}", reason)
        carried[index] = len(found)
        found.append(_body(robot, link, carried[parent]))
    return found


def _body(robot: Robot, link: Link, parent: int) -> Body:
    mass = link.mass
    name = link.name if link.name.isprintable() else one_line(link.name)
    key = f"link {name}"
    if not mass > 0.0:
        raise ScenarioError(robot.source, key, "a body needs a mass")
    if link.armature:
        raise ScenarioError(robot.source, key, "a scenario has no armature")
    com = link.first_moment / mass
    second = link.inertia[:3, :3] - mass * np.outer(com, com)
    inertia = np.trace(second) * np.eye(3) - second
    # One that no body has is kept, as of Atlas' feet: load_robot warns of it.
    moments = np.linalg.eigvalsh(inertia)
    if not np.abs(moments).min() > ROUNDING * np.trace(link.inertia[:3, :3]):
        raise ScenarioError(robot.source, key, "its inertia must not be singular")
    free, ball = link.kind == FREE, link.part is not None
    turn, offset = link.rotation, link.offset
    if free and not (np.array_equal(turn, np.eye(3)) and not offset.any()):
        reason = "a floating base of a scenario stands in the ground's axes: take out <origin>"
        raise ScenarioError(robot.source, f"joint {one_line(link.joint)}", reason)
    if parent == GROUND:
        turn, offset = robot.ground.T @ turn + 0.0, robot.ground.T @ offset + 0.0
    return Body(
        mass=mass,
        inertia=tuple(inertia[np.triu_indices(3)].tolist()),
        com=tuple(com.tolist()),
        tip=(0.0, 0.0, 0.0),
        parent=parent,
        attach=(0.0, 0.0, 0.0) if free else tuple(offset.tolist()),
        joint=SPHERICAL if ball else link.kind,
        axis=None if free or ball else (0.0, 0.0, 1.0),
        rotation=(0.0, 0.0, 0.0) if free else tuple(to_angles(turn).tolist()),
        q=(*(0.0,) * (6 if free else 3), 1.0) if free or ball else 0.0,
        qd=(0.0,) * (6 if free else 3) if free or ball else 0.0,
        damping=0.0 if free else link.damping,
        friction=0.0 if free or ball or not link.friction_scale else link.friction,
        friction_scale=0.0 if free or ball or not link.friction else link.friction_scale,
        name=name,
    )
