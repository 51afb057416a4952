"""Independent reference: Lagrange's equations in joint coordinates, solved to about 1e-12.

M(q) qdd + h(q, qd) = f(q, qd) with the joint-space mass matrix M built from body Jacobians, the
exact derivatives of these by the joint angles, and an adaptive Runge-Kutta pair of order 8
(DOP853). No articulated quantity, no divide and conquer and no fixed step: nothing in common with
the HDCA whose results it judges, except the scenario.

A planar revolute joint k moves the centre of mass of every body i that hangs on it as a lever
r_Ci - r_k turned by 90 degrees:

    d r_Ci / d q_k        = Om (r_Ci - r_k)
    d2 r_Ci / d q_k d q_l = -(r_Ci - r_max(k, l))      (the outer of the two joints)

and is 0 if i does not hang on k (and l). Everything below follows from these two lines, which
hold for any other point of body i as well.

Closed loops are cut (:mod:`pymodel.runs.equations`); J is the derivative of the loops' gaps (point
on ``body`` minus point on ``to``) by the joint angles, and
p-dot = dT/dq - dV/dq + tau - J-dot^T sigma. Mechanisms in space, and such with other joints than
pins, have their own equations (:mod:`pymodel.runs.newton_euler`), which are solved here in the same
way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from pymodel.arith.errors import Error
from pymodel.mechanism import kinematics
from pymodel.mechanism.coordinates import coordinate_rates, with_unit_quaternions
from pymodel.mechanism.frames import planar
from pymodel.mechanism.scenario import Loop, Scenario, Spring
from pymodel.runs.equations import (
    Equations,
    Saddle,
    solve_definite,
    spring_force,
    torque_in_time,
)
from pymodel.runs.input_error import InputError
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.runs.trajectory import Trajectory

Progress = Callable[[int, int], None]  #: (results done, results)

# Requested local error of the solver, relative and absolute. Between its own steps the solver
# interpolates with order 7, which costs a digit: this keeps q within 1e-12 rad over a second of
# the compound pendulum (1e-12 here would give 8e-12).
TOLERANCE = 1e-13
# Gap in m, or speed of a gap in m/s, from which the solver restarts on the loops.
DRIFT = 1e-13
# Condition number of J M^-1 J^T from which a posture counts as singular: a rhombus gets there
# 0.05 degrees from flat.
SINGULAR_CONDITION = 1e6
# Evaluations of the accelerations after which the solver gives up: so many for each result, and at
# least so many. A second of a shipped scenario takes 850 to 6700; only motions whose frequencies
# are far above those that the run's steps resolve come to the bound.
EVALUATIONS_PER_RESULT = 10
MIN_EVALUATIONS = 50_000
# Orders of contraction: those that numpy finds, which takes it as long as to contract.
PAIR = ["einsum_path", (0, 1)]
FROM_FIRST = ["einsum_path", (0, 1), (0, 1)]
FROM_LAST = ["einsum_path", (1, 2), (0, 1)]
# Halvings of a step of the solver to find the time of a singular posture in it.
BISECTIONS = 40


class NoReferenceError(Error, ValueError):
    """The reference cannot solve this scenario; one line says why.

    Parameters
    ----------
    message : str
    trajectory : Trajectory, optional
        The part of the motion that could be solved.
    """

    def __init__(self, message: str, trajectory: Trajectory | None = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


@dataclass(frozen=True)
class _Posture:
    """What the equations need of a posture q (n,).

    Attributes
    ----------
    first : numpy.ndarray, shape (n, n, 2)
        first[i, k] = d r_Ci / d q_k, m.
    second : numpy.ndarray, shape (n, n, n, 2)
        second[i, k, l] = d2 r_Ci / d q_k d q_l, m.
    """

    first: np.ndarray
    second: np.ndarray


class Lagrangian(Equations):
    """The equations of motion of a planar mechanism of n pins: see :class:`Equations`.

    q in rad, qd in rad/s, p in N m s. For the tree there are :meth:`forces`, too.

    Parameters
    ----------
    scenario : Scenario
        Its step, end and integrator play no part.
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        bodies = scenario.bodies
        n = len(bodies)
        self.mass = np.array([body.mass for body in bodies])
        self.inertia = np.array([body.inertia for body in bodies])
        self.weight = self.mass[:, None] * np.array(scenario.gravity)
        self.torques = [torque_in_time(body.torque) for body in bodies]
        self.spring = np.array([body.spring for body in bodies])
        self.rest = np.array([body.rest for body in bodies])
        self.damping = np.array([body.damping for body in bodies])
        # moves[i, k]: body i hangs on joint k. Parents come first, so one pass is enough, and of
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
        first = planar(-lever[..., 1], lever[..., 0])
        both = self.moves[:, :, None] & self.moves[:, None, :]
        return _Posture(first=first, second=-lever[:, self.outer] * both[..., None])

    def _mass_matrix(self, posture: _Posture) -> np.ndarray:
        scaled = posture.first * self.mass[:, None, None]
        return np.einsum("ikx,ilx->kl", scaled, posture.first, optimize=PAIR) + self.rotary

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Joint-space mass matrix M(q), kg m^2, (n, n), symmetric positive definite."""
        return self._mass_matrix(self._posture(q))

    def torque(self, t: float) -> np.ndarray:
        """Torques of the joints at a time in s, N m, (n,): constants, formulas and tables."""
        return np.array([torque(t) for torque in self.torques])

    def _forces(self, posture: _Posture, q: np.ndarray, qd: np.ndarray, t: float) -> np.ndarray:
        gravity = np.einsum("ix,ikx->k", self.weight, posture.first)
        joints = gravity + self.torque(t) - self.spring * (q - self.rest) - self.damping * qd
        return joints + self._spring_forces(q, qd) if self.scenario.springs else joints

    def _spring_forces(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Forces of the springs between points by joint, N m, (n,): J^T f of their ends."""
        springs = self.scenario.springs
        between, jacobian = self._differences(q, springs)
        vectors = between.reshape(-1, 2)
        rates = (jacobian @ qd).reshape(-1, 2)
        forces = [spring_force(*each) for each in zip(springs, vectors, rates, strict=True)]
        return jacobian.T @ np.concatenate(forces)

    def forces(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Gravity, springs, dampers and joint torques by joint at the time t (s), N m, (n,)."""
        return self._forces(self._posture(q), q, qd, t)

    def _free_forces(
        self, posture: _Posture, q: np.ndarray, qd: np.ndarray, t: float
    ) -> np.ndarray:
        """Forces less inertia forces, f - h, N m, (n,)."""
        # Acceleration of the centres of mass at qdd = 0, and the inertia forces it causes.
        centripetal = np.einsum("iklx,k,l->ix", posture.second, qd, qd, optimize=FROM_FIRST)
        inertial = np.einsum(
            "i,ix,ikx->k", self.mass, centripetal, posture.first, optimize=FROM_LAST
        )
        return self._forces(posture, q, qd, t) - inertial

    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations qdd = M^-1 (f - h) of the tree at the time t (s), rad/s^2, (n,)."""
        posture = self._posture(q)
        right = self._free_forces(posture, q, qd, t)
        return solve_definite(self._mass_matrix(posture), right)

    def _gap_levers(
        self, pins: np.ndarray, ends: list[tuple], pairs: Sequence[Loop | Spring]
    ) -> np.ndarray:
        """Om times the levers of the pairs' points on the joints, (..., 2 pairs, n).

        ``pins`` (..., n, 2) of the joints and ``ends`` [(of body, of to)] (..., 2) are all
        positions or all velocities: the result is J = d gap / dq or its time derivative.
        """
        n = pins.shape[-2]
        turned = np.zeros((*pins.shape[:-2], len(ends), 2, n))
        for index, (pair, points) in enumerate(zip(pairs, ends, strict=True)):
            for sign, body, end in zip((1.0, -1.0), (pair.body, pair.to), points, strict=True):
                if body >= 0:
                    lever = sign * (end[..., None, :] - pins) * self.moves[body][:, None]
                    turned[..., index, 0, :] -= lever[..., 1]
                    turned[..., index, 1, :] += lever[..., 0]
        return turned.reshape(*pins.shape[:-2], 2 * len(ends), n)

    def gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps of the loops and their derivative by the joint angles.

        Parameters
        ----------
        q : numpy.ndarray, shape (..., n)

        Returns
        -------
        gap : numpy.ndarray, shape (..., 2 loops)
            m.
        jacobian : numpy.ndarray, shape (..., 2 loops, n)
            J, m.
        """
        return self._differences(q, self.scenario.loops)

    def _differences(
        self, q: np.ndarray, pairs: Sequence[Loop | Spring]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (..., 2 pairs) from the points on ``to`` to those on ``body``; derivative by q.

        The derivative has the shape (..., 2 pairs, n).
        """
        mechanism = self.scenario
        ends = [
            (
                kinematics.point_position(mechanism, q, pair.body, pair.point),
                kinematics.point_position(mechanism, q, pair.to, pair.at),
            )
            for pair in pairs
        ]
        pins = kinematics.handle_positions(mechanism, q)
        value = np.stack([body - to for body, to in ends], axis=-2)
        return value.reshape(*pins.shape[:-2], -1), self._gap_levers(pins, ends, pairs)

    def jacobian_rate(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Time derivative of J along (q, qd), m/s, (..., 2 loops, n)."""
        mechanism = self.scenario
        ends = [
            (
                kinematics.point_velocity(mechanism, q, qd, loop.body, loop.point),
                kinematics.point_velocity(mechanism, q, qd, loop.to, loop.at),
            )
            for loop in mechanism.loops
        ]
        velocities = kinematics.handle_velocities(mechanism, q, qd)
        return self._gap_levers(velocities, ends, mechanism.loops)

    def constrained_accelerations(
        self, q: np.ndarray, qd: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (n,) and forces of the cut pins (2 loops,), N; see :class:`Equations`."""
        posture = self._posture(q)
        saddle = Saddle(self._mass_matrix(posture), self.gaps(q)[1])
        return saddle.solve(self._free_forces(posture, q, qd, t), -self.jacobian_rate(q, qd) @ qd)

    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        lever = self._levers(q)
        # M qd without forming M: first^T (m first qd), and the constant part for the rotation.
        moment = np.einsum("...ikx,...k->...ix", lever, qd) * self.mass[:, None]
        return np.einsum("...ikx,...ix->...k", lever, moment) + qd @ self.rotary

    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations: qd, and pd_k = 1/2 qd^T dM/dq_k qd - dV/dq_k + tau_k.

        With loops pd has the term -J-dot^T sigma as well; see :class:`Equations`.
        """
        posture = self._posture(q)
        qd, sigma = self.velocities(q, p)
        # 1/2 qd^T dM/dq_k qd = sum_i m_i v_i . dv_i/dq_k with v_i = first_i qd.
        velocity = np.einsum("ikx,k->ix", posture.first, qd)
        change = np.einsum("iklx,l->ikx", posture.second, qd)
        inertial = np.einsum("i,ix,ikx->k", self.mass, velocity, change, optimize=FROM_LAST)
        pd = inertial + self._forces(posture, q, qd, t)
        if self.scenario.loops:
            pd = pd - self.jacobian_rate(q, qd).T @ sigma
        return qd, pd


def equations_of(scenario: Scenario) -> Equations:
    """Lagrange's equations of a planar mechanism of pins, Newton's and Euler's of any other."""
    return Lagrangian(scenario) if scenario.pins_only else NewtonEuler(scenario)


def momenta(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Joint momenta M(q) qd of the tree, N m s and N s, (..., nv), for q (..., nq), qd (..., nv).

    With loops these are not the p of a run, which are augmented: see :func:`impulses`.
    """
    return equations_of(scenario).momenta(q, qd)


def canonical_rates(
    scenario: Scenario, q: np.ndarray, p: np.ndarray, t: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Hamilton's equations of one state.

    Parameters
    ----------
    scenario : Scenario
    q, p : numpy.ndarray, shapes (nq,) and (nv,)
        Coordinates, and momenta; with loops the augmented ones.
    t : float
        Time, s.

    Returns
    -------
    qd, pd : numpy.ndarray, shape (nv,)

    Raises
    ------
    NoReferenceError
        If the loop constraints depend on each other.
    """
    q, p = np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)
    equations = equations_of(scenario)
    _refuse_singular(equations, q)
    return equations.canonical_rates(q, p, t)


def impulses(scenario: Scenario, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Impulses sigma of the cut joints on their ``body``.

    Parameters
    ----------
    scenario : Scenario
    q, p : numpy.ndarray, shapes (..., nq) and (..., nv)
        Coordinates, and augmented momenta p = momenta(q, qd) - J^T sigma.

    Returns
    -------
    numpy.ndarray, shape (..., loops, 2), in space (..., loops, 5)
        N s; in space three of translations, then N m s, two of a hinge's rotations. Those of
        constraints that the loops do not keep or have are 0.

    Raises
    ------
    NoReferenceError
        If the loop constraints depend on each other.
    """
    q, p = np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)
    equations = equations_of(scenario)
    postures, values = q.reshape(-1, scenario.nq), p.reshape(-1, scenario.nv)
    count = 5 if scenario.spatial else 2
    starts = [rows.start for rows in kinematics.loop_rows(scenario)]
    kept = kinematics.kept_rows(scenario)
    loops = np.searchsorted(starts, kept, side="right") - 1
    found = np.zeros((len(postures), len(scenario.loops), count))
    for row, posture, value in zip(found, postures, values, strict=True):
        _refuse_singular(equations, posture)
        row[loops, kept - np.array(starts)[loops]] = equations.velocities(posture, value)[1]
    return found.reshape(*q.shape[:-1], *found.shape[1:])


def _refuse_singular(equations: Equations, q: np.ndarray) -> None:
    if equations.constraints and not equations.condition(q) < SINGULAR_CONDITION:
        raise NoReferenceError(
            f"{equations.scenario.source}: loop: constraints depend on each other at this posture "
            "(redundant or singular)"
        )


def simulate(scenario: Scenario, t: np.ndarray, progress: Progress | None = None) -> Trajectory:
    """Solve the motion from the scenario's initial state.

    The scenario's step, end and integrator play no part. With loops, an initial state that fits
    them only to its typed decimals is first moved onto them: the angles by the least change, the
    velocities to those that the momenta M qd of the file have (:func:`canonical_rates`).

    Parameters
    ----------
    scenario : Scenario
    t : numpy.ndarray, shape (T,)
        Times of the results, s, ascending from 0 or later.
    progress : callable(done, results), optional
        Called at every evaluation.

    Returns
    -------
    Trajectory
        With loops its p are the augmented momenta.

    Raises
    ------
    InputError
        If the times do not ascend from 0 or later.
    NoReferenceError
        If the solver gives up or has worked for too long (:data:`MIN_EVALUATIONS`), if the motion
        leaves the range of float64, if loop constraints depend on each other, or if loops pass a
        singular posture. Its ``trajectory`` is the part until then.
    """
    t = np.asarray(t, dtype=np.float64)
    if t.ndim != 1 or not len(t) or not np.all(np.diff(t, prepend=0.0) >= 0.0):
        raise InputError("t: must be times in s, shape (T,), that ascend from 0 or later")
    equations = equations_of(scenario)
    solve = _solve_loops if equations.constraints else _solve_tree
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # refused by their results
        trajectory, problem = solve(equations, t, progress)
        finite = trajectory.finite_part()
    if len(finite) < len(trajectory):
        problem = "reference solver: an energy is not finite"
    if problem is not None:
        raise NoReferenceError(f"{scenario.source}: {problem}", finite if len(finite) else None)
    return trajectory


def _solve_tree(
    equations: Equations, t: np.ndarray, progress: Progress | None
) -> tuple[Trajectory, str | None]:
    """Solve a mechanism without loops: the state is (q, qd)."""
    scenario = equations.scenario
    nq = scenario.nq

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        q, qd = state[:nq], state[nq:]
        return np.concatenate(
            (coordinate_rates(scenario, q, qd), equations.accelerations(q, qd, t))
        )

    start = np.concatenate((scenario.q0, scenario.qd0))
    states, problem = _Solver(rates, t, progress).run(start)
    q, qd = with_unit_quaternions(scenario, states[:, :nq]), states[:, nq:]
    return _trajectory(scenario, t[: len(q)], q, qd, equations.momenta(q, qd)), problem


def _trajectory(
    scenario: Scenario, t: np.ndarray, q: np.ndarray, qd: np.ndarray, p: np.ndarray
) -> Trajectory:
    return Trajectory(
        t=t,
        q=q,
        qd=qd,
        p=p,
        kinetic=kinematics.kinetic_energy(scenario, q, qd),
        potential=kinematics.potential_energy(scenario, q),
        loop_position=kinematics.loop_position(scenario, q),
        loop_velocity=kinematics.loop_velocity(scenario, q, qd),
    )


def _solve_loops(
    equations: Equations, t: np.ndarray, progress: Progress | None
) -> tuple[Trajectory, str | None]:
    """Solve a mechanism with loops: the state is (q, qd, sigma).

    The right-hand side keeps the second derivative of the gaps 0, so that they drift by the
    solver's own errors only. Every result is taken onto the loops, and the solver starts again
    there from a step after which the drift is more than rounding.
    """
    scenario = equations.scenario
    parts = np.cumsum((scenario.nq, scenario.nv))
    _refuse_singular(equations, scenario.q0)
    q, _ = equations.onto_loops(scenario.q0, scenario.qd0)
    qd, sigma = equations.velocities(q, equations.momenta(q, scenario.qd0))

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        q, qd, _ = np.split(state, parts)
        accelerations, forces = equations.constrained_accelerations(q, qd, t)
        return np.concatenate((coordinate_rates(scenario, q, qd), accelerations, forces))

    def singular_time(motion: scipy.integrate.DenseOutput) -> float | None:
        return _singular_time(equations, motion)

    def mended(state: np.ndarray) -> np.ndarray | None:
        q, qd, sigma = np.split(state, parts)
        gap, jacobian = equations.gaps(q)
        if max(abs(gap).max(), abs(jacobian @ qd).max()) <= DRIFT:
            return None
        return np.concatenate((*equations.onto_loops(q, qd), sigma))

    solver = _Solver(rates, t, progress, singular_time, mended)
    states, problem = solver.run(np.concatenate((q, qd, sigma)))
    q, qd, sigma = np.split(states, parts, axis=1)
    q, qd = equations.onto_loops(q, qd)
    _, jacobian = equations.gaps(q)
    pull = np.einsum("tck,tc->tk", jacobian, sigma)
    p = equations.momenta(q, qd) - pull
    return _trajectory(scenario, t[: len(q)], q, qd, p), problem


class _TooMuchWorkError(Exception):
    """The solver has used up its evaluations."""


class _Solver:
    """DOP853 from a state at t = 0 s to all times of results, with bounded work.

    Parameters
    ----------
    rates : callable
        Time (s) and state -> the state's time derivative; raises LinAlgError in singular postures.
    t : numpy.ndarray, shape (T,)
        Times of the results, s.
    progress : callable(done, results), optional
    singular_time : callable, optional
        Dense output of a step -> time of a singular posture in it, s, or None.
    mended : callable, optional
        State at the end of a step -> the state to start again from, or None to go on.
    """

    def __init__(
        self,
        rates: Callable[[float, np.ndarray], np.ndarray],
        t: np.ndarray,
        progress: Progress | None = None,
        singular_time: Callable[[scipy.integrate.DenseOutput], float | None] = lambda _: None,
        mended: Callable[[np.ndarray], np.ndarray | None] = lambda _: None,
    ) -> None:
        self.rates = rates
        self.t = t
        self.progress = progress
        self.singular_time = singular_time
        self.mended = mended
        self.evaluations = max(MIN_EVALUATIONS, EVALUATIONS_PER_RESULT * len(t))
        self.left = self.evaluations
        self.done = int(np.searchsorted(t, 0.0, side="right"))  # results
        self.time = 0.0  # s, as far as it is solved

    def _counted_rates(self, t: float, state: np.ndarray) -> np.ndarray:
        if not self.left:
            raise _TooMuchWorkError
        self.left -= 1
        if self.progress:
            self.progress(self.done, len(self.t))
        # A trial step that is too long may overflow: the solver takes a shorter one.
        return self.rates(t, state) if np.isfinite(state).all() else np.full_like(state, np.nan)

    def _from(self, state: np.ndarray, step: float | None = None) -> scipy.integrate.DOP853:
        tolerances = dict.fromkeys(("rtol", "atol"), TOLERANCE)
        return scipy.integrate.DOP853(
            self._counted_rates, self.time, state, self.t[-1], first_step=step, **tolerances
        )

    def run(self, start: np.ndarray) -> tuple[np.ndarray, str | None]:
        """The states at the times as far as they could be solved, and why no further.

        Parameters
        ----------
        start : numpy.ndarray, shape (s,)
            The state at t = 0 s.

        Returns
        -------
        states : numpy.ndarray, shape (up to T, s)
        problem : str or None
        """
        states = np.repeat(start[None], len(self.t), axis=0)
        if not self.t.any():
            return states, None
        try:
            problem = self._fill(states)
        except np.linalg.LinAlgError:
            problem = f"the equations of motion are singular after t = {self.time:.4g} s"
        except _TooMuchWorkError:
            problem = (
                f"reference solver: given up at t = {self.time:.4g} of {self.t[-1]:.4g} s, "
                f"after {self.evaluations} evaluations"
            )
        return (states if problem is None else states[: self.done]), problem

    def _fill(self, states: np.ndarray) -> str | None:
        """Write the states step by step; returns why they end early."""
        solver = self._from(states[0])
        while solver.status == "running":
            message = solver.step()
            if solver.status == "failed":
                return f"reference solver: {message}"
            motion = solver.dense_output()
            end = self.singular_time(motion)
            self.time = solver.t
            last = int(np.searchsorted(self.t, self.time if end is None else end, side="right"))
            if last > self.done:
                states[self.done : last] = motion(self.t[self.done : last]).T
                self.done = last
            if end is not None:
                return f"loop: singular posture at t = {end:.4g} s"
            if solver.status == "running" and (state := self.mended(solver.y)) is not None:
                solver = self._from(state, min(solver.step_size, self.t[-1] - self.time))
        return None


def _singular_time(equations: Equations, motion: scipy.integrate.DenseOutput) -> float | None:
    """Find the first time (s) in one step of the solver when the posture is singular, if any.

    A motion that passes a singular posture of a linkage (a bar mechanism that goes flat) between
    two steps is seen by det [J; N^T], N being the directions free at the start of the step: it
    passes zero.
    """
    nq = equations.scenario.nq
    before, after = motion.t_old, motion.t
    _, jacobian = equations.gaps(motion(before)[:nq])
    free = np.linalg.svd(jacobian)[2][len(jacobian) :]

    def side(jacobian: np.ndarray) -> float:
        return np.linalg.slogdet(np.concatenate((jacobian, free)))[0]

    start = side(jacobian)

    def bad(time: float) -> bool:
        q = motion(time)[:nq]
        if not equations.condition(q) < SINGULAR_CONDITION:
            return True
        return side(equations.gaps(q)[1]) != start

    if not bad(after):
        return None
    for _ in range(BISECTIONS):
        middle = 0.5 * (before + after)
        if bad(middle):
            after = middle
        else:
            before = middle
    return after
