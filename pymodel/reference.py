"""Independent reference: Lagrange's equations in joint coordinates, solved to about 1e-12.

M(q) qdd + h(q, qd) = f(q, qd) with the joint-space mass matrix M built from body Jacobians, its
exact derivative by the joint angles, and an adaptive Runge-Kutta pair of order 8 (DOP853).  No
articulated quantity, no divide and conquer and no fixed step: nothing in common with the HDCA
whose results it judges, except the scenario.

A planar revolute joint k moves the centre of mass of every body i that hangs on it as a lever
r_Ci - r_k turned by 90 degrees:

    d r_Ci / d q_k        = Om (r_Ci - r_k)
    d2 r_Ci / d q_k d q_l = -(r_Ci - r_max(k, l))      (the outer of the two joints)

and is 0 if i does not hang on k (and l).  Everything below follows from these two lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

from pymodel import kinematics
from pymodel.scenario import Scenario
from pymodel.trajectory import Trajectory

# Requested local error of the solver, relative and absolute.  Between its own steps the solver
# interpolates with order 7, which costs a digit: this keeps q within 1e-12 rad over a second of
# the compound pendulum (1e-12 here would give 8e-12).
TOLERANCE = 1e-13
# States times joints whose levers are held at once, which bounds the memory of long runs.
MOMENTA_CHUNK = 10_000


class NoReferenceError(ValueError):
    """The reference cannot solve this scenario; one line says why."""


@dataclass(frozen=True)
class _Posture:
    """What the equations need of a posture q (n,).

    first  (n, n, 2)     first[i, k] = d r_Ci / d q_k, m
    second (n, n, n, 2)  second[i, k, l] = d2 r_Ci / d q_k d q_l, m
    """

    first: np.ndarray
    second: np.ndarray


class Lagrangian:
    """The equations of motion of an open mechanism (chain or tree) in joint coordinates.

    Raises NoReferenceError for a scenario with loops; a solver for these takes M, h and f from here
    and adds the loop constraints (`pymodel.kinematics.loop_jacobian`).
    """

    def __init__(self, scenario: Scenario) -> None:
        if scenario.loops:
            raise NoReferenceError(
                f"{scenario.source}: loop: the reference solver takes open mechanisms only"
            )
        bodies = scenario.bodies
        n = len(bodies)
        self.scenario = scenario
        self.mass = np.array([body.mass for body in bodies])
        self.inertia = np.array([body.inertia for body in bodies])
        self.weight = self.mass[:, None] * np.array(scenario.gravity)
        self.torque = np.array([body.torque for body in bodies])
        self.spring = np.array([body.spring for body in bodies])
        self.rest = np.array([body.rest for body in bodies])
        self.damping = np.array([body.damping for body in bodies])
        # moves[i, k]: body i hangs on joint k.  Parents come first, so one pass is enough, and of
        # two joints that move the same body the outer one has the larger index.
        self.moves = np.eye(n, dtype=bool)
        for k, body in enumerate(bodies):
            if body.parent >= 0:
                self.moves[k] |= self.moves[body.parent]
        self.outer = np.maximum.outer(np.arange(n), np.arange(n))
        # Bodies turn by the sum of their joints' angles, so this part of M is constant.
        turns = self.moves.astype(float)
        self.rotary = turns.T @ (self.inertia[:, None] * turns)

    def _levers(self, q: np.ndarray) -> np.ndarray:
        """r_Ci - r_k at [..., i, k, :] for q (..., n), 0 if body i does not hang on joint k."""
        com = kinematics.centres_of_mass(self.scenario, q)
        pin = kinematics.handle_positions(self.scenario, q)
        return (com[..., :, None, :] - pin[..., None, :, :]) * self.moves[..., None]

    def _posture(self, q: np.ndarray) -> _Posture:
        lever = self._levers(q)
        first = np.stack((-lever[..., 1], lever[..., 0]), axis=-1)
        both = self.moves[:, :, None] & self.moves[:, None, :]
        return _Posture(first=first, second=-lever[:, self.outer] * both[..., None])

    def _mass_matrix(self, posture: _Posture) -> np.ndarray:
        scaled = posture.first * self.mass[:, None, None]
        return np.einsum("ikx,ilx->kl", scaled, posture.first, optimize=True) + self.rotary

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M(q) in kg m^2, (n, n), symmetric positive definite."""
        return self._mass_matrix(self._posture(q))

    def mass_matrix_derivative(self, q: np.ndarray) -> np.ndarray:
        """dM/dq in kg m^2, (n, n, n): the last index is the joint angle."""
        posture = self._posture(q)
        scaled = posture.first * self.mass[:, None, None]
        half = np.einsum("ikj,il->klj", posture.second[..., 0], scaled[..., 0])
        half += np.einsum("ikj,il->klj", posture.second[..., 1], scaled[..., 1])
        return half + half.transpose(1, 0, 2)

    def _forces(self, posture: _Posture, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        gravity = np.einsum("ix,ikx->k", self.weight, posture.first)
        return gravity + self.torque - self.spring * (q - self.rest) - self.damping * qd

    def forces(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Gravity, springs, damping and joint torques by joint, N m, (n,)."""
        return self._forces(self._posture(q), q, qd)

    def accelerations(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """qdd = M^-1 (f - h) in rad/s^2, (n,)."""
        posture = self._posture(q)
        # Acceleration of the centres of mass at qdd = 0, and the inertia forces it causes.
        centripetal = np.einsum("iklx,k,l->ix", posture.second, qd, qd, optimize=True)
        inertial = np.einsum("i,ix,ikx->k", self.mass, centripetal, posture.first, optimize=True)
        right = self._forces(posture, q, qd) - inertial
        return cho_solve(cho_factor(self._mass_matrix(posture)), right)

    def momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """p = dT/dqd = M qd in N m s for q and qd (..., n), the same shape."""
        q, qd = np.asarray(q, dtype=np.float64), np.asarray(qd, dtype=np.float64)
        if q.ndim > 1 and len(q) > 1 and q.size > MOMENTA_CHUNK:
            return np.concatenate(
                [
                    self.momenta(*part)
                    for part in zip(np.array_split(q, 2), np.array_split(qd, 2), strict=True)
                ]
            )
        lever = self._levers(q)
        # M qd without forming M: first^T (m first qd), and the constant part for the rotation.
        moment = np.einsum("...ikx,...k->...ix", lever, qd) * self.mass[:, None]
        return np.einsum("...ikx,...ix->...k", lever, moment) + qd @ self.rotary

    def canonical_rates(self, q: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations: qd = M^-1 p and pd_k = 1/2 qd^T dM/dq_k qd - dV/dq_k + tau_k.

        q rad and p N m s, (n,); returns qd rad/s and pd N m, (n,).
        """
        posture = self._posture(q)
        qd = cho_solve(cho_factor(self._mass_matrix(posture)), p)
        # 1/2 qd^T dM/dq_k qd = sum_i m_i v_i . dv_i/dq_k with v_i = first_i qd.
        velocity = np.einsum("ikx,k->ix", posture.first, qd)
        change = np.einsum("iklx,l->ikx", posture.second, qd)
        inertial = np.einsum("i,ix,ikx->k", self.mass, velocity, change, optimize=True)
        return qd, inertial + self._forces(posture, q, qd)


def momenta(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Joint momenta p = M(q) qd of an open mechanism in N m s; q and qd are (..., n)."""
    return Lagrangian(scenario).momenta(q, qd)


def canonical_rates(
    scenario: Scenario, q: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """qd (rad/s) and pd (N m) of one state (q, p) of an open mechanism, each (n,)."""
    q, p = np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)
    return Lagrangian(scenario).canonical_rates(q, p)


def simulate(scenario: Scenario, t: np.ndarray) -> Trajectory:
    """The motion from the scenario's initial state, evaluated at the times `t` (s, ascending).

    The scenario's step, end and integrator play no part.  Raises NoReferenceError for mechanisms
    with loops, and if the solver gives up.
    """
    equations = Lagrangian(scenario)
    n = len(scenario.bodies)
    t = np.asarray(t, dtype=np.float64)

    def rates(_: float, state: np.ndarray) -> np.ndarray:
        q, qd = state[:n], state[n:]
        return np.concatenate((qd, equations.accelerations(q, qd)))

    start = np.concatenate((scenario.q0, scenario.qd0))
    state = np.repeat(start[:, None], len(t), axis=1)
    if t.any():
        solution = solve_ivp(
            rates, (0.0, t[-1]), start, method="DOP853", t_eval=t, rtol=TOLERANCE, atol=TOLERANCE
        )
        if not solution.success:
            raise NoReferenceError(f"{scenario.source}: reference solver: {solution.message}")
        state = solution.y
    q, qd = state[:n].T, state[n:].T
    return Trajectory(
        t=t,
        q=q,
        qd=qd,
        p=equations.momenta(q, qd),
        kinetic=kinematics.kinetic_energy(scenario, q, qd),
        potential=kinematics.potential_energy(scenario, q),
        loop_position=kinematics.loop_position(scenario, q),
        loop_velocity=kinematics.loop_velocity(scenario, q, qd),
    )
