"""What a run's arithmetic loses: how much the algorithm magnifies the rounding of its operations.

It takes part in no result. The velocities of kept states are evaluated with a random error in every
operation (:mod:`pymodel.arith.perturbed`), several times; docs/theory.md has how good that is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.algorithms.requests import BASE, RECORDED_BASES, serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith import scalars
from pymodel.arith.perturbed import ERROR, PerturbedArrays
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.units import LENGTH, motions
from pymodel.runs.trajectory import Trajectory

#: States of a run that are looked at, and evaluations of all of them together.
STATES, EVALUATIONS = 64, 256
#: Evaluations of each state, at least.
OF_A_STATE = 4
#: Coordinates in rad or m from which a run is judged by what a step moves them, and below which
#: by its loss: a joint at rest has dust.
FAR = 1e6
#: Kinetic energy below which a mechanism is at rest, as a share of its potential energy and of its
#: weight times its longest arm: where loops hold it, all that moves then is rounding.
REST = 1e-12


def estimated_error(run: Trajectory, arithmetic: str) -> float | None:
    """What its velocities are off in an arithmetic, as a share of the largest; None if unknown."""
    return None if run.loss is None else run.loss * scalars.parse(arithmetic).unit_roundoff


def with_loss(
    scenario: Scenario,
    run: Trajectory,
    twin: Trajectory | None = None,
    *,
    shape: Any = "balanced",
    base: str = BASE,
    **others: Any,
) -> Trajectory:
    """A run with its ``loss`` and ``loss_time``.

    Parameters
    ----------
    scenario : Scenario
    run : Trajectory
    twin : Trajectory, optional
        The same in float64, at least as long, whose states are then taken.
    shape, base
        Of :func:`pymodel.algorithms.step.prepare`.
    others
        The run's other options, which change no single evaluation.

    Returns
    -------
    Trajectory
        Its loss is None if nothing moves in the states, or all are far away.
    """
    states = run if twin is None else twin
    rows = np.unique(np.linspace(0, len(run) - 1, STATES).astype(int))
    rows = rows[(np.abs(states.q[rows]) < FAR).all(axis=1)]
    loss = loss_time = None
    if len(rows) and not _rests(scenario, states.kinetic[rows], states.potential[rows]):
        t = states.t[rows]
        found = losses(scenario, states.q[rows], states.p[rows], t, shape=shape, base=base)
        if found is not None:
            worst = int(found.argmax())
            loss, loss_time = float(found[worst]), float(t[worst])
    return replace(run, loss=loss, loss_time=loss_time)


def _rests(scenario: Scenario, kinetic: np.ndarray, potential: np.ndarray) -> bool:
    """Whether all that moves is rounding, by energies in J."""
    mass = sum(body.mass for body in scenario.bodies)
    weight = mass * float(np.linalg.norm(scenario.gravity))
    largest = np.abs(potential).max() + weight * _longest_arm(scenario)
    return bool(kinetic.max() <= REST * largest)


@np.errstate(all="ignore")  # what is lost altogether may be infinite, or not a number
def losses(
    scenario: Scenario,
    q: np.ndarray,
    p: np.ndarray,
    t: np.ndarray,
    *,
    shape: Any = "balanced",
    base: str = BASE,
) -> np.ndarray | None:
    """Error of the velocities of states, for an error of one in every operation.

    As a share of the largest velocity in any of the states; angular velocities count with the
    longest arm of a body, as speeds. Times the unit roundoff of a format it is the share that the
    velocities are off in that format.

    Parameters
    ----------
    scenario : Scenario
    q, p : ndarray, shape (T, nq), (T, nv)
    t : ndarray, shape (T,)
        s.
    shape, base
        Of :func:`pymodel.algorithms.step.prepare`; a base that chooses pivots is replaced.

    Returns
    -------
    ndarray, shape (T,), or None
        Infinite where an evaluation is not finite, or a matrix is all error; None if nothing moves.
    """
    each = max(EVALUATIONS // len(t), OF_A_STATE)
    arithmetic: Any = PerturbedArrays(len(t), each)
    base = base if base in RECORDED_BASES else BASE
    mechanism: Any = prepare(arithmetic, scenario, shape=shape, base=base)
    places = [arithmetic.given(x) for x in q.T]
    momenta = [arithmetic.rounded(arithmetic.given(x).values) for x in p.T]
    now = serve(arithmetic, rates(mechanism, places, momenta, time=arithmetic.given(t)))
    speeds = np.array([arithmetic.of_states(x) for x in now.q_dot])  # nv, each, T
    speeds *= _weights(scenario)[:, None, None]
    mean = speeds.mean(axis=1)
    largest = np.abs(mean[np.isfinite(mean)]).max(initial=0.0)
    errors: np.ndarray = np.abs(speeds - mean[:, None]).max(axis=(0, 1))
    if largest == 0.0 and not errors.any():
        return None
    lost = errors / (ERROR * largest)
    return np.where(np.isnan(lost) | arithmetic.spoiled, np.inf, lost)


def _weights(scenario: Scenario) -> np.ndarray:
    """Of velocities, nv: 1 of a motion, the longest arm of any body in m of a turn."""
    length = _longest_arm(scenario)
    return np.array([1.0 if kind == LENGTH else length for kind in motions(scenario)])


def _longest_arm(scenario: Scenario) -> float:
    """Of any body, m; 1 if it is 0."""
    arms = [at for body in scenario.bodies for at in (body.com, body.tip, body.attach)]
    return max(float(np.linalg.norm(arm)) for arm in arms) or 1.0
