"""Initial angles and velocities that a file gives as guesses, solved from the loops."""

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

from pymodel.mechanism import kinematics
from pymodel.mechanism.checks import size
from pymodel.mechanism.scenario import Scenario, ScenarioError

# Share of the mechanism's size that the pins of a closed loop may be apart. What closes to this is
# left as it is, so that a solved scenario that is written and read again keeps its bits.
TOLERANCE = 1e-12
# Of the solver, relative: as little as it takes without a warning.
SOLVER_TOLERANCE = 1e-15
REFINEMENTS = 2  # solutions for the velocities; the second is for the rounding of the first


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def with_closed_loops(scenario: Scenario) -> Scenario:
    """Solve the angles and velocities of the bodies that are marked as guesses.

    The angles by least squares of the gaps of the loops; then the least change of the velocities
    that lets the gaps rest.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If the loops do not close or the velocities do not fit, or there are no loops.
    """
    free = [k for k, body in enumerate(scenario.bodies) if body.guess]
    if not free:
        return scenario
    if not scenario.loops:
        reason = "there is no loop to solve it from"
        raise ScenarioError(scenario.source, f"body[{free[0]}].guess", reason)
    q = _closing_angles(scenario, free)
    qd = _fitting_velocities(scenario, free, q)
    state = zip(scenario.bodies, q.tolist(), qd.tolist(), strict=True)
    return replace(scenario, bodies=tuple(replace(body, q=x, qd=rate) for body, x, rate in state))


def _closing_angles(scenario: Scenario, free: list[int]) -> np.ndarray:
    """Angles (n,) that close the loops."""
    q = scenario.q0

    def posture(angles: np.ndarray) -> np.ndarray:
        found = q.copy()
        found[free] = angles
        return found

    def worst(angles: np.ndarray) -> float:
        return float(kinematics.loop_position(scenario, posture(angles)))

    tolerance, angles = TOLERANCE * size(scenario), q[free]
    if not math.isfinite(tolerance + worst(angles)):
        reason = "lengths are too large: where its pins are overflows float64"
        raise ScenarioError(scenario.source, "loop", reason)
    if worst(angles) > tolerance:
        angles = least_squares(
            lambda x: kinematics.loop_gaps(scenario, posture(x)).ravel(),
            angles,
            lambda x: kinematics.loop_jacobian(scenario, posture(x))[:, free],
            **dict.fromkeys(("ftol", "xtol", "gtol"), SOLVER_TOLERANCE),
        ).x
    if worst(angles) > tolerance:
        raise ScenarioError(
            scenario.source,
            "loop",
            f"the guesses of q close no posture: pins stay {worst(angles):.3g} m apart",
        )
    return posture(angles)


def _fitting_velocities(scenario: Scenario, free: list[int], q: np.ndarray) -> np.ndarray:
    """Velocities (n,) that keep the loops closed, in the posture q."""
    qd = scenario.qd0
    jacobian = kinematics.loop_jacobian(scenario, q)

    def slip() -> tuple[float, float]:
        turn = float(np.abs(kinematics.angular_velocities(scenario, scenario.q0, qd)).max())
        return float(np.abs(jacobian @ qd).max()), TOLERANCE * size(scenario) * turn

    for _ in range(REFINEMENTS):
        worst, tolerance = slip()
        if worst > tolerance:
            qd[free] -= np.linalg.lstsq(jacobian[:, free], jacobian @ qd)[0]
    worst, tolerance = slip()
    if not worst <= tolerance:
        raise ScenarioError(
            scenario.source,
            "loop",
            f"no velocities of the guessed joints fit the others: pins part at {worst:.3g} m/s",
        )
    return qd
