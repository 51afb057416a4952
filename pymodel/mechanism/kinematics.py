"""Positions, velocities, energies and loop errors of a mechanism, in float64.

Observables of a state (q, qd), independent of the HDCA: they judge its results. Any tree of
bodies, with or without loops. The joint angles ``q`` (rad) and velocities ``qd`` (rad/s) have the
shape (..., n), usually (T, n) for T kept times of n bodies or (n,) for one posture; the leading
shape carries over to the results, which are float64. Joint angles are relative to the parent,
absolute angles to the ground. SI units, ground frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymodel.mechanism.scenario import Loop, Scenario, Spring, Vector
from pymodel.mechanism.topology import Topology


def _sum_over_ancestors(scenario: Scenario, values: np.ndarray) -> np.ndarray:
    """Add to each body's value those of all bodies it hangs on, shape (..., n)."""
    total = np.array(values, dtype=np.float64)
    for k, body in enumerate(scenario.bodies):
        if body.parent >= 0:
            total[..., k] += total[..., body.parent]
    return total


def _rotate(angle: np.ndarray, vector: Vector) -> np.ndarray:
    """Turn ``vector`` by ``angle`` (...), from a body's frame to the ground's; shape (..., 2)."""
    x, y = vector
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * x - s * y, s * x + c * y), axis=-1)


def _cross(rate: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Velocity of the arm ``vector`` (..., 2) turning at ``rate`` (...): Om vector rate."""
    return np.stack((-vector[..., 1] * rate, vector[..., 0] * rate), axis=-1)


def absolute_angles(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Angle of each body to the ground, rad, (..., n)."""
    return _sum_over_ancestors(scenario, q)


def angular_velocities(scenario: Scenario, qd: np.ndarray) -> np.ndarray:
    """Angular velocity of each body in the ground frame, rad/s, (..., n)."""
    return _sum_over_ancestors(scenario, qd)


def handle_positions(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of handle 1 of each body, m, (..., n, 2)."""
    angle = absolute_angles(scenario, q)
    position = np.empty((*angle.shape, 2))
    for k, body in enumerate(scenario.bodies):
        if body.parent < 0:
            position[..., k, :] = body.attach
        else:
            parent = body.parent
            arm = _rotate(angle[..., parent], body.attach)
            position[..., k, :] = position[..., parent, :] + arm
    return position


def handle_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocity of handle 1 of each body, m/s, (..., n, 2)."""
    angle = absolute_angles(scenario, q)
    rate = angular_velocities(scenario, qd)
    velocity = np.zeros((*angle.shape, 2))
    for k, body in enumerate(scenario.bodies):
        if body.parent >= 0:
            parent = body.parent
            arm = _rotate(angle[..., parent], body.attach)
            velocity[..., k, :] = velocity[..., parent, :] + _cross(rate[..., parent], arm)
    return velocity


def _points_from(
    scenario: Scenario, q: np.ndarray, handles: np.ndarray, points: list[Vector]
) -> np.ndarray:
    angle = absolute_angles(scenario, q)
    arms = [_rotate(angle[..., k], point) for k, point in enumerate(points)]
    return handles + np.stack(arms, axis=-2)


def centres_of_mass(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of the centre of mass of each body, m, (..., n, 2)."""
    coms = [body.com for body in scenario.bodies]
    return _points_from(scenario, q, handle_positions(scenario, q), coms)


def tip_positions(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Position of handle 2 of each body, m, (..., n, 2)."""
    tips = [body.tip for body in scenario.bodies]
    return _points_from(scenario, q, handle_positions(scenario, q), tips)


def centre_of_mass_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Velocity of the centre of mass of each body, m/s, (..., n, 2)."""
    angle = absolute_angles(scenario, q)
    rate = angular_velocities(scenario, qd)
    arms = [_rotate(angle[..., k], body.com) for k, body in enumerate(scenario.bodies)]
    return handle_velocities(scenario, q, qd) + _cross(rate, np.stack(arms, axis=-2))


def point_position(scenario: Scenario, q: np.ndarray, body: int, point: Vector) -> np.ndarray:
    """Position of a point of a body, m, (..., 2).

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (..., n)
        Joint angles, rad.
    body : int
        Index of the body; negative for the ground.
    point : tuple of float
        m, from handle 1 in the body's frame, or in the ground frame.

    Returns
    -------
    numpy.ndarray, shape (..., 2)
    """
    q = np.asarray(q, dtype=np.float64)
    if body < 0:
        return np.broadcast_to(np.array(point), (*q.shape[:-1], 2)).copy()
    angle = absolute_angles(scenario, q)[..., body]
    return handle_positions(scenario, q)[..., body, :] + _rotate(angle, point)


def point_velocity(
    scenario: Scenario, q: np.ndarray, qd: np.ndarray, body: int, point: Vector
) -> np.ndarray:
    """Velocity of a point of a body, m/s, (..., 2); arguments as in :func:`point_position`."""
    q = np.asarray(q, dtype=np.float64)
    if body < 0:
        return np.zeros((*q.shape[:-1], 2))
    arm = _rotate(absolute_angles(scenario, q)[..., body], point)
    rate = angular_velocities(scenario, qd)[..., body]
    return handle_velocities(scenario, q, qd)[..., body, :] + _cross(rate, arm)


def kinetic_energy(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Kinetic energy of the whole mechanism, J, (...); infinite beyond the range of float64."""
    velocity = centre_of_mass_velocities(scenario, q, qd)
    rate = angular_velocities(scenario, qd)
    mass = np.array([body.mass for body in scenario.bodies])
    inertia = np.array([body.inertia for body in scenario.bodies])
    with np.errstate(over="ignore"):  # a run that explodes gets here before it is stopped
        return 0.5 * ((velocity**2).sum(axis=-1) @ mass + rate**2 @ inertia)


def potential_energy(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Energy in gravity (0 at the ground origin) and in all springs, J, (...).

    Joint torques and damping have no potential: they do work.
    """
    q = np.asarray(q, dtype=np.float64)
    weight = np.array([body.mass for body in scenario.bodies])[:, None] * scenario.gravity
    height = -(centres_of_mass(scenario, q) * weight).sum(axis=(-1, -2))
    spring = np.array([body.spring for body in scenario.bodies])
    rest = np.array([body.rest for body in scenario.bodies])
    energy = height + 0.5 * (q - rest) ** 2 @ spring
    if not scenario.springs:
        return energy
    stiffness = np.array([spring.stiffness for spring in scenario.springs])
    natural = np.array([spring.length for spring in scenario.springs])
    return energy + 0.5 * (spring_lengths(scenario, q) - natural) ** 2 @ stiffness


def spring_lengths(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Distance between the ends of each spring, m, (..., springs)."""
    return np.linalg.norm(_differences(scenario, q, scenario.springs), axis=-1)


def loop_gaps(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Vector from the pin on ``to`` to the pin on ``body`` of each loop, m, (..., loops, 2)."""
    return _differences(scenario, q, scenario.loops)


def _differences(scenario: Scenario, q: np.ndarray, pairs: Sequence[Loop | Spring]) -> np.ndarray:
    """Vector from the point on ``to`` to the point on ``body`` of each pair, (..., pairs, 2)."""
    q = np.asarray(q, dtype=np.float64)
    found = [
        point_position(scenario, q, pair.body, pair.point)
        - point_position(scenario, q, pair.to, pair.at)
        for pair in pairs
    ]
    return np.stack(found, axis=-2) if found else np.zeros((*q.shape[:-1], 0, 2))


def loop_gap_velocities(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Time derivative of :func:`loop_gaps`, m/s, (..., loops, 2)."""
    q = np.asarray(q, dtype=np.float64)
    rates = [
        point_velocity(scenario, q, qd, loop.body, loop.point)
        - point_velocity(scenario, q, qd, loop.to, loop.at)
        for loop in scenario.loops
    ]
    return np.stack(rates, axis=-2) if rates else np.zeros((*q.shape[:-1], 0, 2))


def loop_position(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Distance by which the loops are open, the worst of all loops, m, (...); 0 without loops."""
    return np.linalg.norm(loop_gaps(scenario, q), axis=-1).max(axis=-1, initial=0.0)


def loop_velocity(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Speed at which the pins of the worst loop part, m/s, (...); 0 without loops."""
    rates = loop_gap_velocities(scenario, q, qd)
    return np.linalg.norm(rates, axis=-1).max(axis=-1, initial=0.0)


def loop_angle_error(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Error of the sum of the inner angles of the first loop, rad, (...).

    The inner angles of a closed polygon add up; here the last one is measured at the pin that the
    loop should end in, so the error is the angle, seen from handle 1 of the last body, between
    that body's own pin and the pin that it should be on.

    Raises
    ------
    IndexError
        If there is no loop.
    """
    q = np.asarray(q, dtype=np.float64)
    loop = scenario.loops[0]
    handle = handle_positions(scenario, q)[..., loop.body, :]
    own = point_position(scenario, q, loop.body, loop.point) - handle
    wanted = point_position(scenario, q, loop.to, loop.at) - handle
    cross = own[..., 0] * wanted[..., 1] - own[..., 1] * wanted[..., 0]
    return np.arctan2(cross, (own * wanted).sum(axis=-1))


def loop_jacobian(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Derivative of the loop gaps by the joint angles.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (n,)
        One posture, rad.

    Returns
    -------
    numpy.ndarray, shape (2 loops, n)
        m.
    """
    n = len(scenario.bodies)
    # The gap velocity is linear in qd: one unit velocity a joint gives the columns exactly.
    columns = loop_gap_velocities(scenario, np.broadcast_to(q, (n, n)), np.eye(n))
    return columns.reshape(n, -1).T


def joint_momenta(scenario: Scenario, q: np.ndarray, q_dot: np.ndarray) -> np.ndarray:
    """Joint momenta p_k = H^T sum of S M V over the outboard bodies, (6)-(7) of paper 000.

    p_k is the angular momentum about handle 1 of body k, of that body and all that it carries.

    Parameters
    ----------
    scenario : Scenario
    q, q_dot : numpy.ndarray, shape (n,)
        Joint angles (rad) and velocities (rad/s) of one posture.

    Returns
    -------
    numpy.ndarray, shape (n,)
        N m s.
    """
    mass = np.array([body.mass for body in scenario.bodies])
    inertia = np.array([body.inertia for body in scenario.bodies])
    linear = mass[:, None] * centre_of_mass_velocities(scenario, q, q_dot)
    spin = inertia * angular_velocities(scenario, q_dot)
    handle = handle_positions(scenario, q)
    arm = centres_of_mass(scenario, q) - handle[:, None]
    orbital = arm[..., 0] * linear[:, 1] - arm[..., 1] * linear[:, 0]  # (joint k, body j)
    carries = np.zeros(orbital.shape, dtype=bool)
    for k, carried in enumerate(Topology(scenario).carried):
        carries[k, carried] = True
    return np.where(carries, orbital + spin, 0.0).sum(axis=1)
