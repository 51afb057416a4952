"""How the bodies of a mechanism stand and move, in the plane and in space alike, in float64.

What the rest of the kinematics (:mod:`pymodel.mechanism.kinematics`) is made of. Bodies' vectors
have d = 2 components in the plane and 3 in space; angular velocities and moments have 1 and 3. An
orientation is an angle (...) in the plane and a rotation matrix (..., 3, 3) in space. SI units.
"""

from __future__ import annotations

import numpy as np

from pymodel.mechanism import rotations
from pymodel.mechanism.scenario import (
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Scenario,
    Vector,
)


def _own_turns(scenario: Scenario, values: np.ndarray, slices: list[slice]) -> np.ndarray:
    """Of coordinates or velocities those that turn a body in the plane, or 0, shape (..., n)."""
    values = np.asarray(values, dtype=np.float64)
    if scenario.pins_only:
        return values
    turns = np.zeros((*values.shape[:-1], len(scenario.bodies)))
    for k, (body, own) in enumerate(zip(scenario.bodies, slices, strict=True)):
        if body.joint in (REVOLUTE, FREE):
            turns[..., k] = values[..., own.stop - 1]  # of a free body the last one
    return turns


def _sum_over_ancestors(scenario: Scenario, values: np.ndarray) -> np.ndarray:
    """Add to each body's value those of all bodies it hangs on, shape (..., n)."""
    total = np.array(values, dtype=np.float64)
    for k, body in enumerate(scenario.bodies):
        if body.parent >= 0:
            total[..., k] += total[..., body.parent]
    return total


def own_frame(scenario: Scenario, k: int) -> np.ndarray:
    """Frame of the algorithm in that of the scenario, (3, 3), for a body in space; -1: ground.

    Its z axis is that of a revolute or prismatic joint.
    """
    if k == GROUND or scenario.bodies[k].axis is None:
        return np.eye(3)
    axis = scenario.bodies[k].direction
    return np.column_stack((*rotations.hinge_directions(axis), axis))


def rotate(orientation: np.ndarray, vector: Vector | np.ndarray) -> np.ndarray:
    """Turn ``vector``, from a body's frame to the ground's; shape (..., d).

    The orientation is an angle (...) in the plane and a rotation matrix (..., 3, 3) in space.
    """
    if len(vector) == 3:
        return orientation @ np.array(vector)
    x, y = vector
    c, s = np.cos(orientation), np.sin(orientation)
    return planar(c * x - s * y, s * x + c * y)


def along_axes(
    scenario: Scenario, k: int, orientation: np.ndarray, vector: np.ndarray
) -> np.ndarray:
    """Components of a vector (..., d) of the ground's frame along body k's own axes."""
    if scenario.spatial:
        axes = orientation @ own_frame(scenario, k)
        return times(np.swapaxes(axes, -1, -2), vector)
    c, s, x, y = np.cos(orientation), np.sin(orientation), vector[..., 0], vector[..., 1]
    return planar(c * x + s * y, c * y - s * x)


def planar(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Vectors (..., 2) of their components; a tenth of the time of ``numpy.stack`` for one."""
    found = np.empty((*np.shape(x), 2))
    found[..., 0], found[..., 1] = x, y
    return found


def times(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Products of matrices (..., 3, 3) and vectors (..., 3)."""
    return (matrix @ vector[..., None])[..., 0]


def cross(rate: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Velocity of the arm ``vector`` (..., d) turning at ``rate`` (..., 1), in space (..., 3)."""
    if vector.shape[-1] == 3:
        return rotations.cross(rate, vector)
    rate = rate[..., 0]
    return planar(-vector[..., 1] * rate, vector[..., 0] * rate)


def moment(arm: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Moment of ``vector`` (..., d) at ``arm`` (..., d), shape (..., 1), in space (..., 3)."""
    if vector.shape[-1] == 3:
        return rotations.cross(arm, vector)
    return (arm[..., 0] * vector[..., 1] - arm[..., 1] * vector[..., 0])[..., None]


def orientations(scenario: Scenario, q: np.ndarray) -> list[np.ndarray]:
    """How each body stands in the ground frame: see :func:`rotate`."""
    if not scenario.spatial:
        angles = planar_angles(scenario, q)
        return [angles[..., k] for k in range(len(scenario.bodies))]
    q = np.asarray(q, dtype=np.float64)
    found: list[np.ndarray] = []
    for body, own in zip(scenario.bodies, scenario.q_slices, strict=True):
        turn = rotations.from_angles(body.turn)
        if body.joint == REVOLUTE:
            turn = turn @ rotations.about_axis(body.direction, q[..., own.start])
        elif body.joint in (SPHERICAL, FREE):
            turn = turn @ rotations.from_quaternion(q[..., own][..., -4:])
        else:
            turn = np.broadcast_to(turn, (*q.shape[:-1], 3, 3))
        found.append(turn if body.parent == GROUND else found[body.parent] @ turn)
    return found


def arm_to(scenario: Scenario, q: np.ndarray, orientations: list[np.ndarray], k: int) -> np.ndarray:
    """Vector from handle 1 of the parent, or the ground's origin, to that of body k, (..., d)."""
    body, own = scenario.bodies[k], q[..., scenario.q_slices[k]]
    if body.joint == FREE:
        return own[..., : len(scenario.gravity)]
    parent = body.parent
    arm = body.attach if parent == GROUND else rotate(orientations[parent], body.attach)
    if body.joint == PRISMATIC:
        arm = arm + rotate(orientations[k], body.direction) * own
    return np.asarray(arm)


def planar_angles(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Angle of each body to the ground in the plane, rad, (..., n)."""
    own = _own_turns(scenario, q, scenario.q_slices)
    if not scenario.pins_only:
        own += [body.rotation for body in scenario.bodies]
    return _sum_over_ancestors(scenario, own)


def turning(scenario: Scenario, orientations: list[np.ndarray], qd: np.ndarray) -> np.ndarray:
    """Angular velocity of each body, shape (..., n, 1), in space (..., n, 3)."""
    if not scenario.spatial:
        own = _own_turns(scenario, qd, scenario.v_slices)
        return _sum_over_ancestors(scenario, own)[..., None]
    qd = np.asarray(qd, dtype=np.float64)
    found: list[np.ndarray] = []
    for k, turn in enumerate(orientations):
        body, own = scenario.bodies[k], qd[..., scenario.v_slices[k]]
        if body.joint == REVOLUTE:
            rate = rotate(turn, body.direction) * own
        elif body.joint in (SPHERICAL, FREE):
            rate = times(turn, own[..., -3:])
        else:
            rate = np.zeros((*qd.shape[:-1], 3))
        found.append(rate if body.parent == GROUND else found[body.parent] + rate)
    return np.stack(found, axis=-2)
