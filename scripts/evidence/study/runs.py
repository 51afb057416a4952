"""One run of the study: a case, an algorithm, an integrator, a tolerance."""

from __future__ import annotations

import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import ode, solve_ivp

from pymodel.compile import native
from pymodel.compile.rivals import ALGORITHMS, recorded
from pymodel.mechanism import kinematics
from scripts.evidence.study.cases import CASES, CONTESTANTS, END

REPEATS = 5  # of a measurement of time; the shortest counts
MEASURED = 10_000  # evaluations of it
CHUNK = 20_000  # states that are looked at at once
MAX_STEPS = 1_000_000  # of VODE


class Job(NamedTuple):
    """What is run; names of :data:`scripts.evidence.study.cases`."""

    case: str
    contestant: str
    method: str
    tolerance: float


class Series(NamedTuple):
    """What is looked at, at the integrator's own steps; arrays (T,)."""

    t: np.ndarray  # s
    energy: np.ndarray  # J, less that at the start
    position: np.ndarray  # m, by which the worst loop is open
    velocity: np.ndarray  # m/s, at which its pins part
    x: np.ndarray  # m, of K from the plane of symmetry
    y: np.ndarray  # m, of K
    y_dot: np.ndarray  # m/s


class RightHandSide:
    """A right-hand side as native code in float64.

    Parameters
    ----------
    case, algorithm : str

    Attributes
    ----------
    start : numpy.ndarray, shape (2 n,)
        Initial angles; and momenta or rates, zero at rest.
    """

    def __init__(self, case: str, algorithm: str) -> None:
        self.scenario = CASES[case].scenario
        self.size = len(self.scenario.bodies)
        self.state = ALGORITHMS[algorithm].state
        self.kernel = native.build(recorded(algorithm, self.scenario), "float64", lanes=1)
        self.start = np.concatenate((self.scenario.q0, np.zeros(self.size)))

    def rates(self, t: float, y: np.ndarray) -> np.ndarray:
        """Time derivative of a state (2 n,), or of many (2 n, N)."""
        rows = self.kernel.evaluate_rows(y)
        return rows if self.state == "p" else np.concatenate((y[self.size :], rows))

    def velocities(self, y: np.ndarray) -> np.ndarray:
        """Joint velocities (n, N) of states (2 n, N)."""
        return self.rates(0.0, y)[: self.size]

    def seconds(self) -> float:
        """Time of one evaluation of the native code, without what calls it."""
        y = np.repeat(self.start[:, None], MEASURED, axis=1)
        inputs = dict(zip(self.kernel.kernel.inputs, y, strict=True))
        best = min(_seconds(lambda: self.kernel.evaluate(inputs)) for _ in range(REPEATS))
        return best / MEASURED


def _seconds(function: Any) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


@cache
def right_hand_side(case: str, algorithm: str) -> RightHandSide:
    """The right-hand side, built once a process."""
    return RightHandSide(case, algorithm)


def observed(case: str, algorithm: str, t: np.ndarray, y: np.ndarray) -> Series:
    """What states (2 n, T) show."""
    text = right_hand_side(case, algorithm)
    _, scenario, point, middle = CASES[case]
    parts = np.array_split(y, max(1, y.shape[1] // CHUNK), axis=1)
    columns = []
    for part in parts:
        q, qd = part[: text.size].T, text.velocities(part).T
        place = kinematics.point_position(scenario, q, point, scenario.bodies[point].tip)
        speed = kinematics.point_velocity(scenario, q, qd, point, scenario.bodies[point].tip)
        columns.append(
            (
                kinematics.kinetic_energy(scenario, q, qd)
                + kinematics.potential_energy(scenario, q),
                kinematics.loop_position(scenario, q),
                kinematics.loop_velocity(scenario, q, qd),
                place[:, 0] - middle,
                place[:, 1],
                speed[:, 1],
            )
        )
    energy, *others = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Series(t, energy - energy[0], *others)


def _integrated(job: Job, text: RightHandSide) -> tuple[np.ndarray, np.ndarray, int]:
    """Times (T,) and states (2 n, T) of the integrator's steps, and its evaluations.

    Where it gives up, as its step got too small, they end early.
    """
    rebase = CONTESTANTS[job.contestant].rebase
    times, states, evaluations, y = [], [], 0, text.start
    for part in range(round(END / rebase)):
        if part:
            q = y[: text.size]
            p = kinematics.joint_momenta(text.scenario, q, text.velocities(y[:, None])[:, 0])
            y = np.concatenate((q, p))
        span = part * rebase, (part + 1) * rebase
        solve = _adams if job.method == "VODE Adams" else _scipy
        t, found, count = solve(text, span, y, job)
        y = found[:, -1]
        times.append(t)
        states.append(found)
        evaluations += count
        if t[-1] < span[1]:
            break
    return np.concatenate(times), np.concatenate(states, axis=1), evaluations


def _scipy(
    text: RightHandSide, span: tuple[float, float], y: np.ndarray, job: Job
) -> tuple[np.ndarray, np.ndarray, int]:
    found = solve_ivp(
        text.rates, span, y, method=job.method, rtol=job.tolerance, atol=job.tolerance
    )
    return found.t, found.y, int(found.nfev)


def _adams(
    text: RightHandSide, span: tuple[float, float], y: np.ndarray, job: Job
) -> tuple[np.ndarray, np.ndarray, int]:
    evaluations = 0

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        return text.rates(t, y)

    solver = ode(rates).set_integrator(
        "vode", method="adams", rtol=job.tolerance, atol=job.tolerance, nsteps=MAX_STEPS
    )
    solver.set_initial_value(y, span[0])
    times, states = [span[0]], [y]
    while solver.t < span[1]:
        before = solver.t
        solver.integrate(span[1], step=True)
        if solver.t > span[1]:  # its last step goes beyond: interpolate
            solver.set_initial_value(states[-1], before)
            solver.integrate(span[1])
        if not solver.successful():
            break
        times.append(solver.t)
        states.append(solver.y.copy())
    return np.array(times), np.array(states).T, evaluations


def solved(job: Job) -> tuple[Series, dict[str, Any]]:
    """Run a job.

    Returns
    -------
    series : Series
    row : dict
        The job, its end (s; early if the integrator gave up), worst errors, evaluations, steps,
        time (s, of the process) and the largest momentum or rate.
    """
    algorithm = CONTESTANTS[job.contestant].algorithm
    text = right_hand_side(job.case, algorithm)
    start = time.process_time()
    t, y, evaluations = _integrated(job, text)
    seconds = time.process_time() - start
    series = observed(job.case, algorithm, t, y)
    worst = {
        name: float(np.abs(getattr(series, name)).max())
        for name in ("energy", "position", "velocity", "x")
    }
    counts = {
        "end": float(t[-1]),
        "evaluations": evaluations,
        "steps": len(t) - 1,
        "seconds": seconds,
    }
    return series, job._asdict() | worst | counts | {"largest": float(abs(y[text.size :]).max())}
