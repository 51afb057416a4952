"""States of mechanisms that peers are compared in."""

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.runs.lagrangian import Lagrangian

SEED = 1
NEAR, SLOW = 0.3, 2.0  # rad of the initial state, rad/s
PROJECTIONS = 5


def moving(scenario: Scenario, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw states near a scenario's initial one that fit its loops.

    Returns
    -------
    q, qd : numpy.ndarray, shape (count, n)
        rad and rad/s.
    """
    rng, equations = np.random.default_rng(SEED), Lagrangian(scenario)
    q, qd = rng.uniform(-1, 1, (2, count, len(scenario.bodies)))
    q, qd = scenario.q0 + NEAR * q, SLOW * qd
    if scenario.loops:
        for _ in range(PROJECTIONS):
            q, qd = equations.onto_loops(q, qd)
    return q, qd


def accelerations(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Accelerations of the Lagrangian reference, rad/s^2, shaped as q and qd, (count, n)."""
    equations = Lagrangian(scenario)
    if not scenario.loops:
        return np.array([equations.accelerations(*state) for state in zip(q, qd, strict=True)])
    return np.array(
        [equations.constrained_accelerations(*state)[0] for state in zip(q, qd, strict=True)]
    )
