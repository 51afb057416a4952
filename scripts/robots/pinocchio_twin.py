"""A robot in Pinocchio, with the placements as they were read, and its closed loop there."""

import numpy as np
import pinocchio

from pymodel.mechanism.robot import FREE, PRISMATIC, REVOLUTE, Link, Robot
from pymodel.runs.closed_loop import ClosedLoop
from pymodel.runs.robot_calls import Table

JOINTS = {
    REVOLUTE: pinocchio.JointModelRZ,
    PRISMATIC: pinocchio.JointModelPZ,
    FREE: pinocchio.JointModelFreeFlyer,
}


def pinocchio_model(robot: Robot) -> pinocchio.Model:
    """Build a robot, not reduced; a configuration has one number for each joint."""
    model = pinocchio.Model()
    model.gravity.linear = np.array([0.0, 0.0, -robot.gravity])
    for link in robot.links:
        placement = pinocchio.SE3(link.rotation, link.offset)
        joint = model.addJoint(link.parent + 1, JOINTS[link.kind](), placement, link.joint)
        model.appendBodyToJoint(joint, _inertia(link), pinocchio.SE3.Identity())
    model.armature = np.array(
        [0.0] * 6 * robot.floating + [link.armature for link in robot.links[robot.first :]]
    )
    return model


def _inertia(link: Link) -> pinocchio.Inertia:
    """Mass, centre of mass, and moments of inertia about it."""
    centre = link.first_moment / link.mass
    second = link.inertia[:3, :3] - link.mass * np.outer(centre, centre)
    return pinocchio.Inertia(link.mass, centre, np.trace(second) * np.eye(3) - second)


def closed_loop(loop: ClosedLoop) -> Table:
    """Simulate a closed loop with Pinocchio's functions: the same controller and integrator."""
    model = pinocchio_model(loop.robot)
    data, rows = model.createData(), []
    damping = np.array([link.damping for link in loop.robot.links])
    q, qd = np.array(loop.start), np.zeros(model.nv)
    for _ in range(loop.steps + 1):
        weight = pinocchio.computeGeneralizedGravity(model, data, q)
        tau = weight + loop.kp * (loop.target - q) - loop.kd * qd
        rows.append([*q, *qd, *tau])
        qd = qd + loop.step * pinocchio.aba(model, data, q, qd, tau - damping * qd)
        q = q + loop.step * qd
    return loop.table(rows)
