"""Initial coordinates and velocities that a file gives as guesses, solved from the loops."""

import math

import numpy as np
import scipy

from pymodel.mechanism import kinematics
from pymodel.mechanism.checks import CLOSURE_TOLERANCE, fastest, size
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.redundancy import SPATIAL_RANK_TOLERANCE, LoopConstraints
from pymodel.mechanism.scenario import Scenario, ScenarioError

# Share of the mechanism's size that the pins of a closed loop may be apart. What closes to this is
# left as it is, so that a solved scenario that is written and read again keeps its bits.
TOLERANCE = 1e-12
# Of the solver, relative: as little as it takes without a warning.
SOLVER_TOLERANCE = 1e-15
REFINEMENTS = 2  # solutions of linear equations; the second is for the rounding of the first


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def with_closed_loops(scenario: Scenario) -> Scenario:
    """Solve the coordinates and velocities of the bodies that are marked as guesses.

    The coordinates by least squares of the gaps of the loops' pins and axes; then the least change
    of the velocities that lets the gaps rest.

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
    guessed = [k for k, body in enumerate(scenario.bodies) if body.guess]
    if not guessed:
        return scenario
    if not scenario.loops:
        reason = "there is no loop to solve it from"
        raise ScenarioError(scenario.source, f"body[{guessed[0]}].guess", reason)
    free = np.concatenate([np.r_[scenario.v_slices[k]] for k in guessed])
    if not math.isfinite(size(scenario) + kinematics.loop_position(scenario, scenario.q0)):
        reason = "lengths are too large: where its pins are overflows float64"
        raise ScenarioError(scenario.source, "loop", reason)
    q = _closed_in_space(scenario, free) if scenario.spatial else _closed(scenario, free)
    return scenario.with_state(q, _fitting_velocities(scenario, free, q))


def _closed(scenario: Scenario, free: np.ndarray) -> np.ndarray:
    """Coordinates (nq,) that close the loops in the plane, where velocities are their rates."""
    q = scenario.q0

    def posture(coordinates: np.ndarray) -> np.ndarray:
        found = q.copy()
        found[free] = coordinates
        return found

    tolerance, coordinates = TOLERANCE * size(scenario), q[free]
    if kinematics.loop_position(scenario, q) > tolerance:
        coordinates = scipy.optimize.least_squares(
            lambda x: kinematics.loop_gaps(scenario, posture(x)).ravel(),
            coordinates,
            lambda x: kinematics.loop_jacobian(scenario, posture(x))[:, free],
            **dict.fromkeys(("ftol", "xtol", "gtol"), SOLVER_TOLERANCE),
        ).x
    _refuse_open(scenario, posture(coordinates), TOLERANCE)
    return posture(coordinates)


def _closed_in_space(scenario: Scenario, free: np.ndarray) -> np.ndarray:
    """Coordinates (nq,) that close the loops, as well as typed decimals let constraints to spare.

    The solver's unknowns are a step from the start, along the velocities.
    """
    constraints, start = LoopConstraints(scenario), scenario.q0

    def posture(step: np.ndarray) -> np.ndarray:
        whole = np.zeros(scenario.nv)
        whole[free] = step
        return displaced(scenario, start, whole)

    def gaps(step: np.ndarray) -> np.ndarray:
        q = posture(step)
        pins, axes = kinematics.loop_gaps(scenario, q), kinematics.axis_gaps(scenario, q)
        return np.concatenate((pins.ravel() / constraints.size, axes.ravel()))

    q, step = start, np.zeros(len(free))
    correction = constraints.correction(q, free)
    if np.abs(gaps(step)).max() > CLOSURE_TOLERANCE or np.abs(correction).max() > TOLERANCE:
        tolerances = dict.fromkeys(("ftol", "xtol", "gtol"), SOLVER_TOLERANCE)
        solved = scipy.optimize.least_squares(
            gaps, step, x_scale=constraints.units[free], **tolerances
        )
        q = posture(solved.x)
        _refuse_open(scenario, q, CLOSURE_TOLERANCE)
        for _ in range(REFINEMENTS):
            q = displaced(scenario, q, constraints.correction(q, free))
    return q


def _refuse_open(scenario: Scenario, q: np.ndarray, tolerance: float) -> None:
    distance = float(kinematics.loop_position(scenario, q))
    tilt = float(kinematics.loop_tilt(scenario, q))
    if distance > tolerance * size(scenario):
        reason = f"pins stay {distance:.3g} m apart"
    elif tilt > tolerance:
        reason = f"axes stay {tilt:.3g} rad apart"
    else:
        return
    reason = f"the guesses of q close no posture: {reason}"
    raise ScenarioError(scenario.source, "loop", reason)


def _fitting_velocities(scenario: Scenario, free: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Velocities (nv,) that keep the loops closed, in the posture q."""
    qd = scenario.qd0
    if scenario.spatial:
        constraints = LoopConstraints(scenario)
        jacobian, units, extent = constraints.jacobian(q), constraints.units, constraints.size
        enough, least, cut = CLOSURE_TOLERANCE, TOLERANCE, SPATIAL_RANK_TOLERANCE
    else:
        jacobian, units = kinematics.loop_jacobian(scenario, q), np.ones(scenario.nv)
        enough, least, cut = TOLERANCE, 0.0, None

    def slip() -> tuple[float, float]:
        turn, speed = fastest(scenario, q, qd)
        if scenario.spatial:  # axes turn, too, where all pins are in one place and none moves
            speed = max(speed / extent, turn)
        return float(np.abs(jacobian @ (qd / units)).max()), speed

    def fit() -> tuple[float, float]:
        for _ in range(REFINEMENTS):
            worst, speed = slip()
            if worst > TOLERANCE * speed:
                change = np.linalg.lstsq(jacobian[:, free], jacobian @ (qd / units), rcond=cut)[0]
                if np.abs(change).max() > least * speed:  # the rest no velocities can mend
                    qd[free] -= units[free] * change
        return slip()

    _, guessed = slip()
    worst, speed = fit()
    if speed <= TOLERANCE * guessed:  # all that is left of the guesses is their rounding
        qd[free] = 0.0
        worst, speed = fit()
    if not worst <= enough * speed:
        pins = kinematics.loop_velocity(scenario, q, qd)
        axes = np.abs(kinematics.axis_gap_velocities(scenario, q, qd)).max(initial=0.0)
        reason = f"ends part at {pins:.3g} m/s" + (f", axes at {axes:.3g} rad/s" if axes else "")
        raise ScenarioError(
            scenario.source,
            "loop",
            f"no velocities of the guessed joints fit the others: {reason}",
        )
    return qd
