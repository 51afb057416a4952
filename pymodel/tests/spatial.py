"""Inverse dynamics in 6x6 matrices and float64, as a textbook has it, to compare with."""

import numpy as np

from pymodel.mechanism.robot import FIXED_BASE, FREE, REVOLUTE, Link, Robot


def cross(v: np.ndarray) -> np.ndarray:
    """Matrix of v x, shape (3, 3)."""
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def motion_cross(v: np.ndarray) -> np.ndarray:
    """Matrix of the spatial v x on motions, shape (6, 6)."""
    return np.block([[cross(v[:3]), np.zeros((3, 3))], [cross(v[3:]), cross(v[:3])]])


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Rotation of a unit quaternion (x, y, z, w), from the body to the ground."""
    *v, w = quaternion
    return np.eye(3) + 2 * (w * cross(v) + cross(v) @ cross(v))


def to_link(rotation: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Motion transform from the parent's frame to that of a link so placed, shape (6, 6)."""
    turn = rotation.T
    return np.block([[turn, np.zeros((3, 3))], [-turn @ cross(offset), turn]])


def joint(link: Link, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Transform from parent to link, and the joint's motion subspace, shape (6, dof)."""
    if link.kind == FREE:  # linear first
        return to_link(rotation_of(q[3:]), q[:3]), np.eye(6)[:, [3, 4, 5, 0, 1, 2]]
    if link.kind == REVOLUTE:
        c, s = np.cos(q[0] + link.zero), np.sin(q[0] + link.zero)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        return to_link(link.rotation @ turn, link.offset), np.eye(6)[:, 2:3]
    return to_link(link.rotation, link.offset + link.rotation[:, 2] * q[0]), np.eye(6)[:, 5:6]


def spatial_inertia(link: Link) -> np.ndarray:
    """Shape (6, 6), about the origin of the link's frame."""
    second, h = link.inertia[:3, :3], cross(link.first_moment)
    moments = np.trace(second) * np.eye(3) - second
    return np.block([[moments, h], [h.T, link.mass * np.eye(3)]])


def wrench_on(link: Link, wrench: np.ndarray) -> np.ndarray:
    """A wrench (force, moment) in URDF's frame as (moment, force) in the link's."""
    force, moment = link.frame_rotation @ wrench[:3], link.frame_rotation @ wrench[3:]
    return np.concatenate((moment + np.cross(link.frame_offset, force), force))


def inverse_dynamics(
    robot: Robot, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, wrenches: np.ndarray
) -> np.ndarray:
    """Joint torques, shape (nv,); Featherstone, Rigid Body Dynamics Algorithms (2008), table 5.1.

    External wrenches have shape (links, 6): force and moment in URDF's frame of each link.
    """
    up = -robot.gravity_vector if robot.floating else np.array([0, 0, robot.gravity])
    ground = np.zeros(6), np.array([0, 0, 0, *up])
    down, subspaces, motions, forces = [], [], [], []
    for index, link in enumerate(robot.links):
        first = robot.dof(index) if link.kind != FREE else 0
        dofs = slice(first, first + (6 if link.kind == FREE else 1))
        configuration = q[:7] if link.kind == FREE else q[dofs.start + robot.floating :][:1]
        transform, subspace = joint(link, configuration)
        v, a = ground if link.parent == FIXED_BASE else motions[link.parent]
        rate = subspace @ qd[dofs]
        v = transform @ v + rate
        a = transform @ a + subspace @ qdd[dofs] + motion_cross(v) @ rate
        inertia = spatial_inertia(link)
        momentum = inertia @ v
        down.append(transform)
        subspaces.append((subspace, dofs))
        motions.append((v, a))
        forces.append(inertia @ a - motion_cross(v).T @ momentum - wrench_on(link, wrenches[index]))
    tau = np.zeros(robot.nv)
    for index, link in reversed(list(enumerate(robot.links))):
        subspace, dofs = subspaces[index]
        tau[dofs] = subspace.T @ forces[index]
        tau[dofs] += link.damping * qd[dofs] + link.armature * qdd[dofs]
        if link.parent != FIXED_BASE:
            forces[link.parent] += down[index].T @ forces[index]
    return tau
