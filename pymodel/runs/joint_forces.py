"""Forces of the joints along a run, in float64.

HDCA gives impulses. Forces follow from the states that it passes through, by the accelerations of
Featherstone's divide-and-conquer algorithm (:mod:`pymodel.algorithms.rivals.acceleration_dca`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals.acceleration_dca import accelerations
from pymodel.algorithms.space import Twist
from pymodel.algorithms.step import Mechanism
from pymodel.arith.scalars import Float64Arrays
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.trajectory import Trajectory


@dataclass(frozen=True)
class JointForces:
    """What the joints exert on their bodies, ground frame; the other bodies feel the opposite.

    With d = 2 and 1 moment in the plane, 3 and 3 in space.

    Attributes
    ----------
    t : numpy.ndarray, shape (T,)
        s.
    force : numpy.ndarray, shape (T, n + loops, d)
        N, of the joint that hangs each body on its parent, then of those that close the loops.
        Drives are a part of it.
    moment : numpy.ndarray, shape (T, n + loops, 1 or 3)
        N m, about handle 1 of the body, or about the loop's point.
    acceleration : numpy.ndarray, shape (T, nv)
        Of the joints, rad/s^2 and m/s^2.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    acceleration: np.ndarray


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def joint_forces(scenario: Scenario, trajectory: Trajectory) -> JointForces:
    """Forces of all joints at the kept times of a run.

    In a loop with redundant constraints only those count that the dynamics use: the others, which
    cannot be told from a rigid model, are zero.

    Parameters
    ----------
    scenario : Scenario
    trajectory : Trajectory
        A run of it, on any target.

    Returns
    -------
    JointForces
    """
    arithmetic, count = Float64Arrays(), len(trajectory)
    mechanism = Mechanism(arithmetic, scenario)
    q, qd = (list(np.ascontiguousarray(x.T)) for x in (trajectory.q, trajectory.qd))
    found = serve(arithmetic, accelerations(mechanism, q, qd, trajectory.t))
    twists = [*found.forces, *found.closing]
    space = mechanism.space
    parts = []
    for part, size in (("linear", space.dimension), ("angular", space.angles)):
        values = np.zeros((count, len(twists), size))
        for k, twist in enumerate(twists):
            values[:, k] = _columns(getattr(twist, part), count, size)
        parts.append(values)
    acceleration = np.stack([np.broadcast_to(x, count) for x in found.q_ddot], axis=-1)
    return JointForces(trajectory.t, *parts, acceleration)


def _columns(vector: Twist | None, count: int, size: int) -> np.ndarray:
    if vector is None:
        return np.zeros((count, size))
    return np.stack([np.broadcast_to(x, count) for x in vector], axis=-1)
