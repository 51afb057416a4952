"""Robots that stand: feet pinned to the ground, a posture to stand in, and what holds them there.

A pinned foot is a point contact: a loop to the ground of kind ``ball``. It pulls as well as pushes,
and never slides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pymodel.arith.errors import InputError
from pymodel.control.states import States
from pymodel.mechanism.loop import POINTS, Loop
from pymodel.mechanism.loops_file import placed
from pymodel.mechanism.robot import FIXED_BASE, REVOLUTE, Robot
from pymodel.mechanism.robot_loops import LoopGeometry, path, with_loops
from pymodel.runs.robot_model import RobotModel

KNEE = 0.75  #: rad, of the hip; the knee turns twice as much back


def bent_legs(robot: Robot, feet: Sequence[str]) -> np.ndarray:
    """Coordinates (nq,) with each foot's last two hinges bent, so that it stays below the hip.

    Legs in front of the base's origin are bent one way, the others the other way.

    Raises
    ------
    InputError
        If there is no such link.
    """
    q = States(robot).neutral[: robot.nq]
    model = RobotModel(robot)
    for name in feet:
        carrier, *_ = _on_link(robot, name)
        ahead = model.placement(q, name)[0][0] >= 0.0
        hinges = [k for k in path(robot, carrier) if robot.links[k].kind == REVOLUTE]
        for k, turn in zip(hinges, (-2.0 * KNEE, KNEE), strict=False):
            q[robot.coordinates[k]] = turn if ahead else -turn
    return q


def pinned(robot: Robot, feet: Sequence[str], q: np.ndarray, rate: float = 0.0) -> Robot:
    """The robot with the origins of some links held to the ground where they are in a posture.

    Parameters
    ----------
    robot : Robot
    feet : sequence of str
        Links, fixed ones among them.
    q : ndarray, shape (nq,)
    rate : float
        With which a foot that has drifted away comes back, 1/s: Baumgarte's stabilisation,
        critically damped.

    Raises
    ------
    InputError
        If there is no such link, or it stands twice; for others see
        :func:`pymodel.mechanism.robot_loops.with_loops`.
    """
    model, loops = RobotModel(robot), list(robot.loops)
    for name in feet:
        carrier, turn, offset = _on_link(robot, name)
        if feet.count(name) > 1:
            raise InputError(f"feet: {name} stands twice")
        at = robot.ground @ model.placement(q, name)[0]
        ends = (carrier, FIXED_BASE), (turn, np.eye(3)), (offset, at)
        loops.append(Loop(name, POINTS, *ends, gains=(rate * rate, 2.0 * rate)))
    found, _ = with_loops(robot, loops, q)
    return found


def _on_link(robot: Robot, name: str) -> tuple[int, np.ndarray, np.ndarray]:
    try:
        found = placed(robot, name, np.eye(3), np.zeros(3))
    except LookupError:
        names = ", ".join([link.name for link in robot.links] + [*robot.fixed])
        raise InputError(f"feet: no link {name!r}; there are {names}") from None
    if found[0] == FIXED_BASE:
        raise InputError(f"feet: link {name} stands on the ground, and does not move")
    return found


def holding_torques(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Torques of the driven degrees of freedom, (nu,), that hold a robot still, or nearly.

    What has no torque is held by the loops' forces, the smallest ones that do.
    """
    still, driven = np.zeros(robot.nv), States(robot).driven
    hold = RobotModel(robot).inverse_dynamics(q, still, still)
    if robot.loops:
        jacobian, others = LoopGeometry(robot).jacobian(q), np.ones(robot.nv, bool)
        others[driven] = False
        force, *_ = np.linalg.lstsq(jacobian[:, others].T, hold[others], rcond=None)
        hold = hold - jacobian.T @ force
    return np.asarray(hold[driven])


def contact_forces(robot: Robot, xs: np.ndarray, us: np.ndarray, step: float) -> np.ndarray:
    """Forces of loops on their first links in a motion, (T, loops, 3), N, in the file's ground.

    Parameters
    ----------
    robot : Robot
    xs, us : ndarray, shapes (T + 1, nx) and (T, nu)
    step : float
        Between knots, s: accelerations are the rates' differences.
    """
    q, qd = xs[:-1, : robot.nq], xs[:, robot.nq :]
    tau, geometry = States(robot).torques(us), LoopGeometry(robot, whole=True)
    left = RobotModel(robot).inverse_dynamics(q, qd[:-1], np.diff(qd, axis=0) / step) - tau
    return np.array([geometry.forces(*row) for row in zip(q, left, strict=True)]) @ robot.ground


def drift(robot: Robot, xs: np.ndarray) -> float:
    """How far a loop's constraint is off at most in some states (T, nx), m and rad."""
    geometry = LoopGeometry(robot, whole=True)
    return max(float(np.abs(geometry.errors(x[: robot.nq])).max(initial=0.0)) for x in xs)
