"""Independent reference: Lagrange's equations in joint coordinates, solved to about 1e-12.

M(q) qdd + h(q, qd) = f(q, qd) with the joint-space mass matrix M built from body Jacobians, the
exact derivatives of these by the joint angles, and an adaptive Runge-Kutta pair of order 8
(DOP853). No articulated quantity, no divide and conquer and no fixed step: nothing in common with
the HDCA whose results it judges, except the scenario.

Vectors of the plane are complex numbers x + i y here, so Om is i. The way from the ground to a
point goes along arms: from handle 1 of each body on the way to the next joint, at last to the
point. An arm a is fixed in a body, so a planar revolute joint k that turns the body turns it by as
much:

    a       = a_0 exp(i sum over these k of q_k)
    d a/dt  = i (sum over these k of qd_k) a

The derivative of a point by q_k is i times the sum of its arms that joint k turns, and the time
derivative of that is i times the sum of their rates. Everything below follows from this, which
holds for a vector between two points as well.

Closed loops are cut (:mod:`pymodel.runs.equations`); J is the derivative of the loops' gaps (point
on ``body`` minus point on ``to``) by the joint angles, and
p-dot = dT/dq - dV/dq + tau - J-dot^T sigma. Mechanisms in space, and such with other joints than
pins, have their own equations (:mod:`pymodel.runs.newton_euler`), which are solved here in the same
way.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable

import numpy as np
import scipy

from pymodel.arith.errors import Error
from pymodel.mechanism import kinematics
from pymodel.mechanism.coordinates import coordinate_rates, with_unit_quaternions
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import columns
from pymodel.runs.equations import (
    Equations,
    Saddle,
    friction_torque,
    solve_definite,
    spring_force,
    torque_in_time,
)
from pymodel.runs.geared import Geared
from pymodel.runs.hybrid import Hybrid
from pymodel.runs.input_error import InputError
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.runs.trajectory import Trajectory, of_states

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
# least so many; and what torques in time need. A second of a shipped scenario takes 850 to 6700;
# only motions whose frequencies are far above those that the run's steps resolve come to the bound.
EVALUATIONS_PER_RESULT = 10
MIN_EVALUATIONS = 50_000
EVALUATIONS_PER_STEP = 16  # of the solver, steps that it does again among them
STEPS_PER_STOP = 20  # that are short, until it has found its step again
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
        bodies, pairs = scenario.bodies, scenario.pairs
        n = len(bodies)
        self.mass = np.repeat([body.mass for body in bodies], 2)
        self.weight = self.mass * np.tile(scenario.gravity, n)
        self.torques = [torque_in_time(body.torque) for body in bodies]
        self.spring = np.array([body.spring for body in bodies])
        self.rest = np.array([body.rest for body in bodies])
        self.damping = np.array([body.damping for body in bodies])
        self.rubbing = {k: body for k, body in enumerate(bodies) if body.rubs}
        # turns[i, k]: joint k turns body i. Parents come first; the ground is the last "body".
        turns = np.zeros((n + 1, n))
        for k, body in enumerate(bodies):
            turns[k] = turns[body.parent]
            turns[k, k] = 1.0
        # Bodies turn by the sum of their joints' angles, so this part of M is constant.
        inertia = np.array([body.inertia for body in bodies])
        self.rotary = turns[:n].T @ (inertia[:, None] * turns[:n])

        arms = [(body.parent, body.attach) for body in bodies]
        arms += [(k, body.com) for k, body in enumerate(bodies)]
        arms += [(pair.body, pair.point) for pair in pairs]
        arms += [(pair.to, pair.at) for pair in pairs]
        carriers, vectors = zip(*arms, strict=True)
        self.arms = np.array(vectors) @ (1.0, 1.0j)  # as they stand at q = 0
        self.turns = turns[list(carriers)]
        # points[p, a]: arm a is on the way to point p.
        ways = np.eye(len(arms), dtype=complex)
        ways[:, :n] += self.turns
        centres, points, others = np.split(ways[n:], (n, n + len(pairs)))
        self.points = np.concatenate((centres, points - others))
        # Where components of points stand, x and y in turns.
        ends = 2 * n, 2 * (n + len(scenario.loops))
        self.centres, self.loops, self.springs = slice(ends[0]), slice(*ends), slice(ends[1], None)

    def _arms(self, q: np.ndarray) -> np.ndarray:
        """The arms (..., arms) in the ground frame, m, for q (..., n)."""
        found: np.ndarray = self.arms * np.exp(1j * (self.turns @ q[..., None])[..., 0])
        return found

    def _arm_rates(self, arms: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Time derivatives of the arms, m/s, (arms,)."""
        found: np.ndarray = 1j * (self.turns @ qd) * arms
        return found

    def _points(self, arms: np.ndarray) -> np.ndarray:
        """Centres of mass, gaps of loops and vectors along springs, m, (..., 2 points)."""
        found: np.ndarray = (self.points @ arms[..., None])[..., 0].view(np.float64)
        return found

    def _by_angles(self, arms: np.ndarray) -> np.ndarray:
        """Derivative of :meth:`_points` by the joint angles, m, (..., n, 2 points).

        Of the arms' rates its time derivative.
        """
        turned = 1j * self.turns.T * arms[..., None, :]
        found: np.ndarray = (turned @ self.points.T).view(np.float64)
        return found

    def _mass_matrix(self, derivative: np.ndarray) -> np.ndarray:
        centres = derivative[:, self.centres]
        found: np.ndarray = (centres * self.mass) @ centres.T + self.rotary
        return found

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Joint-space mass matrix M(q), kg m^2, (n, n), symmetric positive definite."""
        return self._mass_matrix(self._by_angles(self._arms(q)))

    def torque(self, t: float) -> np.ndarray:
        """Torques of the joints at a time in s, N m, (n,): constants, formulas and tables."""
        return np.array([torque(t) for torque in self.torques])

    def _forces(
        self, arms: np.ndarray, derivative: np.ndarray, q: np.ndarray, qd: np.ndarray, t: float
    ) -> np.ndarray:
        gravity = derivative[:, self.centres] @ self.weight
        drives = self.spring * (q - self.rest)
        joints: np.ndarray = gravity + self.torque(t) - drives - self.damping * qd
        for k, body in self.rubbing.items():
            joints[k] -= friction_torque(body.friction, body.friction_scale, qd[k])
        if not self.scenario.springs:
            return joints
        # J^T f of the springs' ends.
        along = derivative[:, self.springs]
        vectors = self._points(arms)[self.springs].reshape(-1, 2)
        rates = (qd @ along).reshape(-1, 2)
        each = zip(self.scenario.springs, vectors, rates, strict=True)
        joints += along @ np.concatenate([spring_force(*one) for one in each])
        return joints

    def forces(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Gravity, springs, dampers and joint torques by joint at the time t (s), N m, (n,)."""
        arms = self._arms(q)
        return self._forces(arms, self._by_angles(arms), q, qd, t)

    def _motion(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arms, the derivative of the points by the joint angles, and its rate."""
        arms = self._arms(q)
        return arms, self._by_angles(arms), self._by_angles(self._arm_rates(arms, qd))

    def _free_forces(
        self,
        motion: tuple[np.ndarray, np.ndarray, np.ndarray],
        q: np.ndarray,
        qd: np.ndarray,
        t: float,
    ) -> np.ndarray:
        """Forces less inertia forces, f - h, N m, (n,)."""
        arms, derivative, rate = motion
        # Momenta of the centres of mass would change by this much at qdd = 0.
        change = self.mass * (qd @ rate[:, self.centres])
        found: np.ndarray = (
            self._forces(arms, derivative, q, qd, t) - derivative[:, self.centres] @ change
        )
        return found

    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations qdd = M^-1 (f - h) of the tree at the time t (s), rad/s^2, (n,)."""
        motion = self._motion(q, qd)
        _, derivative, _ = motion
        return solve_definite(self._mass_matrix(derivative), self._free_forces(motion, q, qd, t))

    def _gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        arms = self._arms(q)
        jacobian = self._by_angles(arms)[..., self.loops].swapaxes(-1, -2)
        return self._points(arms)[..., self.loops], jacobian

    def constrained_accelerations(
        self, q: np.ndarray, qd: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (n,) and forces of the cut pins (2 loops,), N; see :class:`Equations`."""
        motion = self._motion(q, qd)
        _, derivative, rate = motion
        saddle = Saddle(self._mass_matrix(derivative), derivative[:, self.loops].T)
        return saddle.solve(self._free_forces(motion, q, qd, t), -qd @ rate[:, self.loops])

    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        centres = self._by_angles(self._arms(q))[..., self.centres]
        # M qd without forming M: that of the centres' momenta, and the constant part for rotation.
        momenta = (qd[..., None, :] @ centres) * self.mass
        found: np.ndarray = (centres @ momenta.swapaxes(-1, -2))[..., 0] + qd @ self.rotary
        return found

    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations: qd, and pd_k = 1/2 qd^T dM/dq_k qd - dV/dq_k + tau_k.

        With loops pd has the term -J-dot^T sigma as well; see :class:`Equations`.
        """
        qd, sigma = self.velocities(q, p, t)
        arms, derivative, rate = self._motion(q, qd)
        # 1/2 qd^T dM/dq_k qd = sum_i m_i v_i . dv_i/dq_k, and dv_i/dq_k = d/dt dr_i/dq_k.
        momenta = self.mass * (qd @ derivative[:, self.centres])
        pd = rate[:, self.centres] @ momenta + self._forces(arms, derivative, q, qd, t)
        return qd, pd - rate[:, self.loops] @ sigma


def equations_of(scenario: Scenario) -> Equations:
    """Lagrange's equations of planar pins, Newton's and Euler's of others, hybrid of motions."""
    if scenario.mimics:
        return Geared(scenario)
    if scenario.moved:
        return Hybrid(scenario)
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
        N s; in space three of translations, then N m s, two of a hinge's rotations, along the axes
        of :func:`pymodel.mechanism.kinematics.loop_rows`. Those of constraints that the loops do
        not keep or have are 0.

    Raises
    ------
    NoReferenceError
        If the loop constraints depend on each other.
    """
    q, p = np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)
    if scenario.moved:
        raise NoReferenceError(f"{scenario.source}: impulses of loops with motions are not known")
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


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # refused by their results
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
        If the times do not ascend from 0 or later, or are not finite.
    NoReferenceError
        If the solver gives up or has worked for too long (:data:`MIN_EVALUATIONS`), if the motion
        leaves the range of float64, if loop constraints depend on each other, or if loops pass a
        singular posture. Its ``trajectory`` is the part until then.
    """
    t = np.asarray(t, dtype=np.float64)
    usable = t.ndim == 1 and len(t) and np.isfinite(t).all()
    if not (usable and np.all(np.diff(t, prepend=0.0) >= 0.0)):
        raise InputError("t: must be times in s, shape (T,), that ascend from 0 or later")
    equations = equations_of(scenario)
    solve = _solve_loops if equations.constraints else _solve_tree
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

    def finished(states: np.ndarray) -> tuple[np.ndarray, ...]:
        q, qd = with_unit_quaternions(scenario, states[:, :nq]), states[:, nq:]
        return q, qd, equations.momenta(q, qd)

    start = np.concatenate((scenario.q0, scenario.qd0))
    states, problem = _Solver(scenario, rates, t, progress).run(start)
    return _trajectory(equations, t, states, finished), problem


def _trajectory(
    equations: Equations,
    t: np.ndarray,
    states: np.ndarray,
    finished: Callable[[np.ndarray], tuple[np.ndarray, ...]],
) -> Trajectory:
    """The trajectory of the solver's states; ``finished`` gives q, qd and p of some of them."""
    rows, scenario = len(states), equations.scenario
    found = [columns.empty(rows, size) for size in (scenario.nq, scenario.nv, scenario.nv)]
    for here in columns.blocks(rows):
        own = equations.placed(t[here], states[here])
        for column, values in zip(found, finished(own), strict=True):
            column[here] = values
    return of_states(scenario, t[:rows], *found)


def _solve_loops(
    equations: Equations, t: np.ndarray, progress: Progress | None
) -> tuple[Trajectory, str | None]:
    """Solve a mechanism with loops: the state is (q, qd, sigma).

    The right-hand side keeps the second derivative of the gaps 0, so that they drift by the
    solver's own errors only. Every result is taken onto the loops, and the solver starts again
    there from a step after which the drift is more than rounding.
    """
    scenario = equations.scenario
    nq, parts = scenario.nq, (scenario.nq, scenario.nq + scenario.nv)
    _refuse_singular(equations, scenario.q0)
    q, _ = equations.onto_loops(scenario.q0, scenario.qd0)
    qd, sigma = equations.velocities(q, equations.momenta(q, scenario.qd0))

    def rates(t: float, state: np.ndarray) -> np.ndarray:
        q, qd = state[:nq], state[slice(*parts)]
        accelerations, forces = equations.constrained_accelerations(q, qd, t)
        return np.concatenate((coordinate_rates(scenario, q, qd), accelerations, forces))

    def singular_time(motion: scipy.integrate.DenseOutput) -> float | None:
        return _singular_time(equations, motion)

    def mended(state: np.ndarray) -> np.ndarray | None:
        q, qd, sigma = np.split(state, parts)
        gap, _ = equations.gaps(q)
        if max(abs(gap).max(), abs(equations.gap_rates(q, qd)).max()) <= DRIFT:
            return None
        return np.concatenate((*equations.onto_loops(q, qd), sigma))

    def finished(states: np.ndarray) -> tuple[np.ndarray, ...]:
        q, qd, sigma = np.split(states, parts, axis=1)
        q, qd = equations.onto_loops(q, qd)
        _, jacobian = equations.gaps(q)
        pull = np.einsum("tck,tc->tk", jacobian, sigma)
        return q, qd, equations.momenta(q, qd) - pull

    solver = _Solver(scenario, rates, t, progress, singular_time, mended)
    states, problem = solver.run(np.concatenate((q, qd, sigma)))
    return _trajectory(equations, t, states, finished), problem


class _TooMuchWorkError(Exception):
    """The solver has used up its evaluations."""


class _Solver:
    """DOP853 from a state at t = 0 s to all times of results, with bounded work.

    Parameters
    ----------
    scenario : Scenario
        At the corners of its tables the solver starts again.
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
        scenario: Scenario,
        rates: Callable[[float, np.ndarray], np.ndarray],
        t: np.ndarray,
        progress: Progress | None = None,
        singular_time: Callable[[scipy.integrate.DenseOutput], float | None] = lambda _: None,
        mended: Callable[[np.ndarray], np.ndarray | None] = lambda _: None,
    ) -> None:
        self.scenario = scenario
        self.rates = rates
        self.t = t
        self.progress = progress
        self.singular_time = singular_time
        self.mended = mended
        self.stops = [*(corner for corner in scenario.corners if corner < t[-1]), t[-1]]
        self.longest_step = scenario.longest_step
        self.evaluations = max(MIN_EVALUATIONS, EVALUATIONS_PER_RESULT * len(t))
        steps = t[-1] / self.longest_step + STEPS_PER_STOP * len(scenario.corners)
        self.evaluations += int(EVALUATIONS_PER_STEP * steps)
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
        """A solver from the time that is reached to the next stop."""
        end = self.stops[bisect.bisect_right(self.stops, self.time)]
        options = dict.fromkeys(("rtol", "atol"), TOLERANCE) | {"max_step": self.longest_step}
        if step is not None:
            options["first_step"] = min(step, end - self.time)
        return scipy.integrate.DOP853(self._counted_rates, self.time, state, end, **options)

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
        states = columns.empty(len(self.t), len(start))
        states[: self.done] = start
        if not self.t.any():
            return states, None
        try:
            problem = self._fill(states, start)
        except np.linalg.LinAlgError:
            problem = f"the equations of motion are singular after t = {self.time:.4g} s"
        except _TooMuchWorkError:
            problem = (
                f"reference solver: given up at t = {self.time:.4g} of {self.t[-1]:.4g} s, "
                f"after {self.evaluations} evaluations"
            )
        return (states if problem is None else states[: self.done]), problem

    def _fill(self, states: np.ndarray, start: np.ndarray) -> str | None:
        """Write the states step by step; returns why they end early."""
        solver = self._from(start)
        while self.time < self.t[-1]:
            message = solver.step()
            if solver.status == "failed":
                return f"reference solver: {message}"
            motion = solver.dense_output()
            end = self.singular_time(motion)
            self.time = solver.t
            last = int(np.searchsorted(self.t, self.time if end is None else end, side="right"))
            if last > self.done:
                for here in columns.blocks(last - self.done):
                    own = slice(self.done + here.start, self.done + here.stop)
                    states[own] = motion(self.t[own]).T
                self.done = last
            if end is not None:
                return f"loop: {self.scenario.singular} at t = {end:.4g} s"
            mended = self.mended(solver.y) if self.time < self.t[-1] else None
            if mended is not None:
                solver = self._from(mended, solver.step_size)
            elif solver.status == "finished" and self.time < self.t[-1]:
                solver = self._from(solver.y)
        return None


def _singular_time(equations: Equations, motion: scipy.integrate.DenseOutput) -> float | None:
    """Find the first time (s) in one step of the solver when the posture is singular, if any.

    A motion that passes a singular posture of a linkage (a bar mechanism that goes flat) between
    two steps is seen by det [J; N^T], N being the directions free at the start of the step: it
    passes zero.
    """
    nq = equations.scenario.nq
    before, after = float(motion.t_old), float(motion.t)
    _, jacobian = equations.gaps(motion(before)[:nq])
    free = np.linalg.svd(jacobian)[2][len(jacobian) :]

    def side(jacobian: np.ndarray) -> float:
        return float(np.linalg.slogdet(np.concatenate((jacobian, free)))[0])

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
