"""A robot's tree as a scenario, to be run by HDCA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.arith.numbers import numbers
from pymodel.mechanism.loops_file import SUFFIX
from pymodel.mechanism.moments import ROUNDING
from pymodel.mechanism.robot import BALL, FIXED_BASE, HELICAL, Link, Robot, one_line, shown
from pymodel.mechanism.rotations import to_angles
from pymodel.mechanism.scenario import FREE, GROUND, SPHERICAL, Body, Scenario, ScenarioError


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
        singular, or its joint has an armature or mimics another; if it has loops; for planar,
        cylindrical, universal, helical and floating joints in the tree, and damping of a ball
        joint. An inertia that no body has, as that of Atlas' torso, is taken as it is; a scenario
        file would be refused.
    """
    found = getattr(robot, "robot", robot)  # a RobotModel, of a package above this one, has one
    if not isinstance(found, Robot):
        raise InputError(f"robot: must be a Robot or a RobotModel, got {robot!r}")
    robot = found
    if robot.mimics:
        names = ", ".join(shown(robot.links[k].joint) for k in robot.mimics)
        reason = f"a scenario has no joint that mimics another ({names}): mimic=False frees them"
        raise ScenarioError(robot.source, "", reason)
    if robot.loops:
        names = ", ".join(loop.name for loop in robot.loops)
        reason = f"its loops ({names}) are not taken: remove {SUFFIX[1:]} or <equality>"
        raise ScenarioError(robot.source, "", reason)
    bodies = tuple(_bodies(robot))
    gravity = tuple(robot.gravity_vector.tolist())
    source = robot.source or "<robot>"
    scenario = Scenario(
        robot.name, gravity, step, end, bodies, integrator=integrator, source=source
    )
    if q is None and qd is None:
        return scenario
    start = scenario.q0 if q is None else _vector(source, "q", q, robot.nq)
    rates = scenario.qd0 if qd is None else _vector(source, "qd", qd, robot.nv)
    return scenario.with_state(start, rates)


def _vector(source: str, name: str, given: np.ndarray, size: int) -> np.ndarray:
    try:
        array = numbers(name, given)
    except ValueError as error:
        raise ScenarioError(source, "", str(error)) from None
    if array.shape != (size,):
        raise ScenarioError(source, name, f"shape {array.shape}, must be ({size},)")
    return array


def _bodies(robot: Robot) -> Iterator[Body]:
    """The bodies; a ball joint's parts are one joint."""
    carried = {FIXED_BASE: GROUND}  # link -> body
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
        yield _body(robot, link, carried[parent])
        carried[index] = len(carried) - 1


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
