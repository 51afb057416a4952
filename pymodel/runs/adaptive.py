"""Whole runs of the model with scipy's integrators, which choose their steps by a tolerance.

The scenario's time grid says at which times there are results; those between the integrator's own
steps are its interpolation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy

from pymodel.algorithms.conditions import eta_condition, joint_condition
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import BASE, RECORDED_BASES, SingularError, joint_matrix, serve
from pymodel.algorithms.step import Mechanism, Rates, prepare, rates
from pymodel.arith.errors import RunError
from pymodel.arith.scalars import Float64, Float64Arrays
from pymodel.compile import native
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.compile.registry import record_function
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.scenario import TOLERANCE, Scenario
from pymodel.runs import columns
from pymodel.runs.recorder import UNSOLVABLE, NonFiniteError, Recorder
from pymodel.runs.trajectory import Trajectory

BLOCK = 4096  # results that are looked at at once
#: Evaluations after which an integrator gives up that has not come a step of the time grid further:
#: in a singular posture its steps get ever shorter.
PATIENCE = 20_000
#: Those that ask for a Jacobian, and the share of a coordinate by which it is moved for that.
OWN_JACOBIAN, STEP_OF_JACOBIAN = ("Radau", "BDF"), 2.0**-26


class ToleranceError(RunError):
    """An integrator gives up: it cannot keep its tolerance, or only with ever shorter steps."""


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what is not finite ends the run
def simulate(
    scenario: Scenario,
    progress: Callable[[int, int], None] | None = None,
    limit: float | None = None,
    rebase: int = 0,
    project: int = 0,
    **options: Any,
) -> Trajectory:
    """Run a scenario whose integrator is an adaptive one, scipy's, in float64.

    The tolerance is relative, and absolute: of angles in rad, and of a joint's momentum that which
    so many rad/s of this joint alone have at the start.

    Parameters
    ----------
    scenario, progress, limit
        As for :func:`pymodel.runs.simulate.simulate`.
    rebase
        Re-base momenta after so many steps of the time grid, where the integrator starts again.
    project
        Project the state after so many of them instead.
    options
        ``shape``, ``base`` of :func:`pymodel.algorithms.step.prepare`.

    Returns
    -------
    Trajectory
        Its ``evaluations`` are those of the rates that the integrator has asked for.

    Raises
    ------
    ToleranceError, SingularError, NonFiniteError
        If the run cannot go on; the exception's ``trajectory`` holds the results so far.
    """
    solver = _Solver(scenario, rebase, project, options)
    states, problem = solver.run(progress)
    recorder = Recorder(scenario, Float64(), limit)
    many: Mechanism[Any] = prepare(Float64Arrays(), scenario, **options)
    states = placed(many, states.T, scenario.times[: len(states)]).T
    error: Any = ToleranceError(f"{scenario.source}: {problem}") if problem else None
    try:
        _keep(recorder, solver.mechanism, many, states)
    except SingularError as found:
        error = recorder.stopped(found)
    except NonFiniteError as found:
        error = found
    trajectory = recorder.trajectory() if recorder.rows else None
    if trajectory is not None:
        trajectory.evaluations = solver.rates.evaluations
    if error is not None:
        error.trajectory = trajectory
        raise error
    assert trajectory is not None
    return trajectory


class RightHandSide:
    """The rates of change of a state (q, p) in float64, as scipy wants them.

    It is native code where there is a compiler, otherwise the model, with the same bits.

    Attributes
    ----------
    evaluations : int
        Calls so far.
    """

    def __init__(self, scenario: Scenario, mechanism: Mechanism[Any], **options: Any) -> None:
        self.mechanism = mechanism
        self.evaluations = 0
        self.native = None
        if options.get("base", BASE) in RECORDED_BASES or not scenario.loops:
            with suppress(native.NoCompilerError, TooManyOperationsError):
                self.native = native.build(
                    record_function("rates", scenario, **options), "float64", lanes=1
                )

    def __call__(self, t: float, state: np.ndarray) -> np.ndarray:
        """Time derivative of a state; NaN where there is none: the integrator steps back."""
        self.evaluations += 1
        if not np.isfinite(state).all():
            return np.full_like(state, np.nan)
        state = placed(self.mechanism, state, t)
        if self.native is not None:
            given = np.append(state, t) if self.mechanism.scenario.is_driven else state
            found = self.native.evaluate_rows(given)
            nv = self.mechanism.nv  # dq/dt stands behind both rates if it is not q-dot
            return (
                np.concatenate((found[2 * nv :], found[nv : 2 * nv]))
                if found[2 * nv :].size
                else found
            )
        try:
            now = self.rates(t, state)
        except SingularError:
            return np.full_like(state, np.nan)
        return np.array([*now.q_rate, *now.p_dot])

    def rates(self, t: float, state: np.ndarray, t_cut: Any = None) -> Rates:
        """The model's own rates; raises SingularError."""
        q, p = _parts(self.mechanism, placed(self.mechanism, state, t).tolist())
        now: Rates = serve(self.mechanism.arithmetic, rates(self.mechanism, q, p, t_cut, t))
        return now


def placed(mechanism: Mechanism[Any], state: np.ndarray, t: Any) -> np.ndarray:
    """A state, or states as columns, with the coordinates that motions and gears give."""
    if not (mechanism.motions or mechanism.gears):
        return state
    state = np.array(state)
    for row, x in enumerate(mechanism.placed(list(state[: mechanism.nq]), t)):
        state[row] = x
    return state


def _parts(mechanism: Mechanism[Any], state: Any) -> tuple[Any, Any]:
    """q and p of a state."""
    return state[: mechanism.nq], state[mechanism.nq :]


class _Solver:
    """From the scenario's start to its results."""

    def __init__(
        self, scenario: Scenario, rebase: int, project: int, options: dict[str, Any]
    ) -> None:
        self.scenario = scenario
        self.mechanism = prepare(Float64(), scenario, rebase=rebase, project=project, **options)
        self.every = (project or rebase) if scenario.loops else 0
        self.rates = RightHandSide(scenario, self.mechanism, **options)
        self.times = scenario.times
        q, p = self.mechanism.initial_state(scenario)
        self.start = np.array([*q, *p])
        self.tolerance = scenario.tolerance or TOLERANCE
        unit = [joint_momenta(scenario, scenario.q0, qd) for qd in np.eye(len(p))]
        self.units = np.array([*np.ones(len(q)), *np.diag(unit)])
        self.absolute = self.tolerance * self.units

    def run(self, progress: Callable[[int, int], None] | None) -> tuple[np.ndarray, str | None]:
        """The states at the times of results, (T, s), as far as they go, and why no further."""
        states = columns.empty(len(self.times), len(self.start))
        states[0] = state = self.start
        method, grid, save = self.scenario.integrator, self.scenario.step, self.scenario.save
        options = {"rtol": self.tolerance, "atol": self.absolute}
        options["max_step"] = self.scenario.longest_step
        if method in OWN_JACOBIAN:
            options["jac"] = self._jacobian
        done, t, passed, before = 1, 0.0, 0, 0
        for end, number in self._stops():
            solver = getattr(scipy.integrate, method)(self.rates, t, state, end, **options)
            while solver.status == "running":
                problem = _stepped(solver)
                if not problem and self.rates.evaluations - before > PATIENCE:
                    problem = f"{PATIENCE} evaluations without a step of the time grid"
                if problem:
                    where = f"t = {solver.t:.6g} s: {method} gives up"
                    return states[:done], f"{where}: {problem}"
                reached = int(np.searchsorted(self.times, solver.t, side="right"))
                if reached > done:
                    states[done:reached] = solver.dense_output()(self.times[done:reached]).T
                    done = reached
                if solver.t > passed * grid:
                    passed, before = int(solver.t / grid) + 1, self.rates.evaluations
                    if progress:
                        progress(min(passed, self.scenario.steps), self.scenario.steps)
            t, state = end, solver.y
            if number and self.every and number % self.every == 0:
                try:
                    state = self._renewed(t, state)
                except SingularError as error:
                    return states[:done], f"t = {t:.6g} s: {error}"
                if number % save == 0:
                    states[number // save] = state
        return states, None

    def _jacobian(self, t: float, state: np.ndarray) -> np.ndarray:
        """Derivatives of the rates by the state, (s, s), from differences.

        scipy's own ones take ten times larger a difference each time for a coordinate on which
        nothing depends, as the angle of a shaft that turns freely, until it is infinite (1.17.1).
        """
        steps = STEP_OF_JACOBIAN * np.maximum(np.abs(state), self.units)
        here = self.rates(t, state)
        moved = zip(state + np.diag(steps), steps, strict=True)
        return np.array([(self.rates(t, near) - here) / step for near, step in moved]).T

    def _stops(self) -> list[tuple[float, int]]:
        """Times at which the integrator starts again, and the end; the steps until then.

        At corners of tables, between which it would pass over a short pulse, these are 0: nothing
        is re-based or projected there.
        """
        steps, every, grid = self.scenario.steps, self.every, self.scenario.step
        numbers = range(every, steps, every) if every else ()
        stops = {time: 0 for time in self.scenario.corners if time < steps * grid}
        stops |= {number * grid: number for number in (*numbers, steps)}
        return sorted(stops.items())

    def _renewed(self, t: float, state: np.ndarray) -> np.ndarray:
        if self.mechanism.project:
            own = _parts(self.mechanism, placed(self.mechanism, state, t).tolist())
            both = serve(self.mechanism.arithmetic, projected(self.mechanism, *own, t))
            return np.concatenate(both)
        now = self.rates.rates(t, state)
        q, _ = _parts(self.mechanism, state)
        return np.array([*q, *self.rates.rates(t, state, now.t_cut).p])


def _stepped(solver: scipy.integrate.OdeSolver) -> str | None:
    """Do a step; says why if there is none."""
    try:
        message: str | None = solver.step()
    except (ValueError, np.linalg.LinAlgError):  # a Jacobian that is not finite
        message = "Rates are not finite."
    if message is None and not np.isfinite(solver.y).all():
        message = "A result is not finite."
    return message and message[0].lower() + message[1:].rstrip(".")


# --- what is looked at at the results -------------------------------------------------------------


def _keep(
    recorder: Recorder, mechanism: Mechanism[Any], many: Mechanism[Any], states: np.ndarray
) -> None:
    """Keep the results: blocks of them at once, and those with anything wrong one by one.

    Raises
    ------
    SingularError, NonFiniteError
        As a step of the model.
    """
    save = recorder.scenario.save
    for first in range(0, len(states), BLOCK):
        block = states[first : first + BLOCK]
        numbers = save * np.arange(first, first + len(block))
        if _kept_at_once(recorder, many, numbers, block):
            continue
        for number, state in zip(numbers.tolist(), block.tolist(), strict=True):
            recorder.step = number
            q, p = _parts(mechanism, state)
            recorder.begin(q, p)
            t = number * recorder.scenario.step
            text = rates(mechanism, q, p, time=t)
            now = serve(mechanism.arithmetic, text, recorder.watch)
            recorder.keep(q, now.q_dot, now.p, now.eta)


def _kept_at_once(
    recorder: Recorder, mechanism: Mechanism[Any], numbers: np.ndarray, states: np.ndarray
) -> bool:
    """Keep a block of results if nothing is wrong with any of them."""
    conditions: list[Any] = []  # of the joint matrices

    def watch(request: Any, reply: Any) -> None:
        parts = joint_matrix(request, reply)
        if parts is not None:
            rows = [[sum(x) for x in zip(*row, strict=True)] for row in zip(*parts, strict=True)]
            whole_rows: Any = [[whole(x) for x in row] for row in rows]
            conditions.append(joint_condition(recorder.scenario, whole_rows, recorder.definite))

    def whole(x: Any) -> np.ndarray:
        return np.broadcast_to(x, len(states))

    q, p = _parts(mechanism, states.T)
    try:
        t = numbers * recorder.scenario.step
        now = serve(mechanism.arithmetic, rates(mechanism, [*q], [*p], time=t), watch)
    except SingularError:
        return False
    joint = np.max(conditions, axis=0) if conditions else None
    eta: Any = None
    if now.eta is not None:
        entries = np.array([[*map(whole, row)] for row in now.eta])
        eta = eta_condition(recorder.scenario, np.moveaxis(entries, -1, 0))
    right = np.isfinite([*q, *p, *map(whole, now.q_dot)]).all()
    right &= joint is None or (joint < recorder.limit).all()
    right &= eta is None or (eta * recorder.arithmetic.unit_roundoff < UNSOLVABLE).all()
    if right:
        recorder.note_conditions(eta, joint, numbers)
        recorder.keep_all(numbers, q.T, np.transpose([*map(whole, now.q_dot)]), p.T)
    return bool(right)
