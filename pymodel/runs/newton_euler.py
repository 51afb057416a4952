"""Equations of motion of any mechanism by Newton and Euler, in float64, for the reference.

The linear velocity of each handle 1 and the angular velocity of each body, in the ground frame, are
V = J qd. J and its time derivative J-dot follow the tree outward; a joint's own columns are fixed
in the body that it moves. With the bodies' inertias I (about their centres of mass) and momenta
h = I V,

    M = J^T I J,    f = J^T (forces on the bodies) + drives,    C qd = J^T (I J-dot qd + gyroscopic)

and M-dot = C + C^T, so that p = M qd has the rate p-dot = C^T qd + f with C^T qd = J-dot^T h. This
holds for velocities that are no coordinates' rates, too. Loops add -J_c-dot^T sigma
(:mod:`pymodel.runs.equations`), J_c being the constraints that the loops keep.

Planar mechanisms are spatial ones in the plane z = 0. No articulated quantity and no divide and
conquer: nothing in common with the HDCA whose results it judges, except the scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pymodel.mechanism import kinematics, rotations
from pymodel.mechanism.frames import own_frame, times
from pymodel.mechanism.rotations import cross, skew
from pymodel.mechanism.scenario import (
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Scenario,
    inertia_matrix,
)
from pymodel.runs.equations import (
    Equations,
    Saddle,
    friction_torque,
    solve_definite,
    spring_force,
    torque_in_time,
)

UP = np.array([0.0, 0.0, 1.0])


def _vector(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """A vector of the plane or of space as one of space."""
    return np.array((*values, 0.0)[:3])


@dataclass(frozen=True)
class _Joint:
    """A body's joint, and where it is, in space."""

    body: Body
    spatial: bool
    attach: np.ndarray
    turn: np.ndarray  # (3, 3) at q = 0
    axis: np.ndarray

    @classmethod
    def of(cls, body: Body, spatial: bool) -> _Joint:
        angles = body.rotation if isinstance(body.rotation, tuple) else (0.0, 0.0, body.rotation)
        attach = np.zeros(3) if body.joint == FREE else _vector(body.attach)
        axis = UP if body.axis is None else _vector(body.axis)
        return cls(body, spatial, attach, rotations.from_angles(angles), axis)

    def placed(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) against the parent, and displacement (3,) in the parent's frame."""
        kind, turn = self.body.joint, self.turn
        if kind == REVOLUTE:
            return turn @ rotations.about_axis(self.axis, q[0]), self.attach
        if kind == PRISMATIC:
            return turn, self.attach + turn @ self.axis * q[0]
        if kind in (SPHERICAL, FREE) and self.spatial:
            turn = turn @ rotations.from_quaternion(q[-4:])
            return turn, _vector(q[:3]) if kind == FREE else self.attach
        if kind == FREE:
            return turn @ rotations.about_axis(UP, q[2]), _vector(q[:2])
        return turn, self.attach

    def columns(self, turn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Linear and angular velocities (3, own) of unit velocities, ``turn`` being the body's."""
        kind = self.body.joint
        axis, none = (turn @ self.axis)[:, None], np.zeros((3, 3))
        if kind == REVOLUTE:
            return none[:, :1], axis
        if kind == PRISMATIC:
            return axis, none[:, :1]
        if kind == SPHERICAL:
            return none, turn
        if kind == FREE and self.spatial:
            return np.hstack((turn, none)), np.hstack((none, turn))
        if kind == FREE:
            return np.diag((1.0, 1.0, 0.0)), np.diag((0.0, 0.0, 1.0))
        return none[:, :0], none[:, :0]


class _Motion:
    """Where the bodies are and how they move, in one state; the ground is the last "body".

    Attributes
    ----------
    turn : numpy.ndarray, shape (n + 1, 3, 3)
        Rotations to the ground frame.
    place : numpy.ndarray, shape (n + 1, 3)
        Handles 1, m.
    linear, angular : numpy.ndarray, shape (n + 1, 3, nv)
        J.
    linear_rate, angular_rate : numpy.ndarray, shape (n + 1, 3, nv)
        J-dot.
    rate : numpy.ndarray, shape (n + 1, 3)
        Angular velocities, rad/s.
    """

    def __init__(
        self, scenario: Scenario, joints: list[_Joint], q: np.ndarray, qd: np.ndarray
    ) -> None:
        count = len(joints) + 1
        self.qd = qd
        self.turn, self.place = np.zeros((count, 3, 3)), np.zeros((count, 3))
        self.turn[GROUND] = np.eye(3)
        self.linear, self.angular, self.linear_rate, self.angular_rate = np.zeros(
            (4, count, 3, scenario.nv)
        )
        self.rate = np.zeros((count, 3))
        for k, joint in enumerate(joints):
            parent, own = joint.body.parent, scenario.v_slices[k]
            turn, arm = joint.placed(q[scenario.q_slices[k]])
            self.turn[k] = self.turn[parent] @ turn
            arm = self.turn[parent] @ arm
            self.place[k] = self.place[parent] + arm
            linear, angular = joint.columns(self.turn[k])

            self.angular[k] = self.angular[parent]
            self.angular[k][:, own] += angular
            self.rate[k] = self.angular[k] @ qd
            turning = skew(self.rate[k])
            self.angular_rate[k] = self.angular_rate[parent]
            self.angular_rate[k][:, own] += turning @ angular

            lever = skew(arm)
            self.linear[k] = self.linear[parent] - lever @ self.angular[parent]
            self.linear[k][:, own] += linear
            stretch = (self.linear[k] - self.linear[parent]) @ qd
            self.linear_rate[k] = self.linear_rate[parent] - lever @ self.angular_rate[parent]
            self.linear_rate[k] -= skew(stretch) @ self.angular[parent]
            if joint.spatial or joint.body.joint != FREE:  # which moves along the ground's axes
                self.linear_rate[k][:, own] += turning @ linear

    def point(
        self, body: int | slice, arm: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of a point: position (3,) in the ground frame, its Jacobian (3, nv) and that one's rate.

        ``arm`` is from handle 1 of the body, in its frame. Of many bodies, one point of each.
        """
        arm = times(self.turn[body], arm)
        lever = skew(arm)
        jacobian = self.linear[body] - lever @ self.angular[body]
        rate = self.linear_rate[body] - lever @ self.angular_rate[body]
        rate -= skew(cross(self.rate[body], arm)) @ self.angular[body]
        return self.place[body] + arm, jacobian, rate

    def along(
        self, body: int, directions: np.ndarray, jacobian: np.ndarray, rate: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows of a Jacobian along directions (rows, 3) of a body's frame, and their rates."""
        directions = directions @ self.turn[body].T
        moving = cross(self.rate[body], directions)
        return directions @ jacobian, moving @ jacobian + directions @ rate


class NewtonEuler(Equations):
    """The equations of motion of any mechanism; see :class:`Equations`.

    Parameters
    ----------
    scenario : Scenario
        Its step, end and integrator play no part.
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        bodies, spatial = scenario.bodies, scenario.spatial
        self.joints = [_Joint.of(body, spatial) for body in bodies]
        self.mass = np.array([body.mass for body in bodies])
        self.inertia = np.array(
            [
                inertia_matrix(body.moments) if spatial else np.diag((0.0, 0.0, body.inertia))
                for body in bodies
            ]
        )
        self.coms = np.array([_vector(body.com) for body in bodies])
        single = [k for k, size in enumerate(scenario.freedoms) if size.v == 1]
        self.torques = {k: torque_in_time(bodies[k].torque) for k in single}
        self.gravity = _vector(scenario.gravity)
        self.kept = kinematics.kept_rows(scenario)

    def _motion(self, q: np.ndarray, qd: np.ndarray) -> _Motion:
        return _Motion(self.scenario, self.joints, q, qd)

    def _centres(self, motion: _Motion) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian (n, 3, nv) of the centres of mass and its time derivative."""
        _, jacobian, rate = motion.point(slice(len(self.coms)), self.coms)
        return jacobian, rate

    def _inertia(self, motion: _Motion) -> np.ndarray:
        """Inertias about the centres of mass in the ground frame, (n, 3, 3)."""
        turn = motion.turn[:-1]
        return turn @ self.inertia @ turn.transpose(0, 2, 1)

    def _mass_matrix(self, motion: _Motion, centres: np.ndarray) -> np.ndarray:
        angular = motion.angular[:-1]
        moving = np.einsum("b,bik,bil->kl", self.mass, centres, centres)
        turning = np.einsum("bik,bil->kl", angular, self._inertia(motion) @ angular)
        return moving + turning

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Joint-space mass matrix M(q), (nv, nv)."""
        motion = self._motion(q, np.zeros(self.scenario.nv))
        return self._mass_matrix(motion, self._centres(motion)[0])

    def _forces(self, motion: _Motion, centres: np.ndarray, q: np.ndarray, t: float) -> np.ndarray:
        """Gravity, springs, dampers and drives by velocity, (nv,)."""
        scenario, qd = self.scenario, motion.qd
        found = np.einsum("b,bik,i->k", self.mass, centres, self.gravity)
        for k, torque in self.torques.items():
            body, at, own = scenario.bodies[k], scenario.q_slices[k], scenario.v_slices[k]
            found[own] += torque(t) - body.spring * (q[at] - body.rest) - body.damping * qd[own]
            found[own] -= friction_torque(body.friction, body.friction_scale, qd[own])
        for spring in scenario.springs:
            end, jacobian, _ = motion.point(spring.body, _vector(spring.point))
            other, from_jacobian, _ = motion.point(spring.to, _vector(spring.at))
            jacobian = jacobian - from_jacobian
            found += spring_force(spring, end - other, jacobian @ qd) @ jacobian
        return found

    def _free_forces(
        self,
        motion: _Motion,
        centres: np.ndarray,
        centres_rate: np.ndarray,
        q: np.ndarray,
        t: float,
    ) -> np.ndarray:
        """Forces less inertia forces, f - C qd, (nv,)."""
        qd, inertia = motion.qd, self._inertia(motion)
        forces = self.mass[:, None] * (centres_rate @ qd)
        spins = np.einsum("bij,bj->bi", inertia, motion.rate[:-1])
        moments = np.einsum("bij,bj->bi", inertia, motion.angular_rate[:-1] @ qd)
        moments += cross(motion.rate[:-1], spins)
        inertial = np.einsum("bik,bi->k", centres, forces)
        inertial += np.einsum("bik,bi->k", motion.angular[:-1], moments)
        return self._forces(motion, centres, q, t) - inertial

    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations qdd = M^-1 (f - C qd) of the tree at the time t (s), (nv,)."""
        motion = self._motion(q, qd)
        centres, centres_rate = self._centres(motion)
        right = self._free_forces(motion, centres, centres_rate, q, t)
        return solve_definite(self._mass_matrix(motion, centres), right)

    def _constraints(self, motion: _Motion) -> tuple[np.ndarray, np.ndarray]:
        """Jacobian of the constraints that are kept, and its time derivative, (kept, nv)."""
        scenario = self.scenario
        jacobian, rate = [], []
        for loop in scenario.loops:
            _, own, own_rate = motion.point(loop.body, _vector(loop.point))
            _, other, other_rate = motion.point(loop.to, _vector(loop.at))
            parting = own - other, own_rate - other_rate
            if loop.axes_turn:
                parting = motion.along(loop.to, own_frame(scenario, loop.to).T, *parting)
            jacobian.append(parting[0][: len(scenario.gravity)])
            rate.append(parting[1][: len(scenario.gravity)])
            if loop.axis:
                turning = motion.angular[loop.body] - motion.angular[loop.to]
                change = motion.angular_rate[loop.body] - motion.angular_rate[loop.to]
                directions = rotations.hinge_directions(loop.directions[1])
                turning, change = motion.along(loop.to, directions, turning, change)
                jacobian.append(turning)
                rate.append(change)
        return np.concatenate(jacobian)[self.kept], np.concatenate(rate)[self.kept]

    def _gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors of the constraints that are kept, (..., kept), and their Jacobian (..., nv)."""
        errors = kinematics.loop_errors(self.scenario, q)
        jacobian = kinematics.loop_jacobian(self.scenario, q)
        return errors[..., self.kept], jacobian[..., self.kept, :]

    def constrained_accelerations(
        self, q: np.ndarray, qd: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (nv,) and lambda (kept,); see :class:`Equations`."""
        motion = self._motion(q, qd)
        centres, centres_rate = self._centres(motion)
        jacobian, rate = self._constraints(motion)
        saddle = Saddle(self._mass_matrix(motion, centres), jacobian)
        return saddle.solve(self._free_forces(motion, centres, centres_rate, q, t), -rate @ qd)

    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return kinematics.joint_momenta(self.scenario, q, qd)

    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations: qd, and p-dot = C^T qd + f - J_c-dot^T sigma, (nv,)."""
        qd, sigma = self.velocities(q, p, t)
        motion = self._motion(q, qd)
        centres, centres_rate = self._centres(motion)
        linear = self.mass[:, None] * (centres @ qd)
        spins = np.einsum("bij,bj->bi", self._inertia(motion), motion.rate[:-1])
        pd = np.einsum("bik,bi->k", centres_rate, linear) + self._forces(motion, centres, q, t)
        pd += np.einsum("bik,bi->k", motion.angular_rate[:-1], spins)
        if self.constraints:
            pd -= self._constraints(motion)[1].T @ sigma
        return qd, pd
