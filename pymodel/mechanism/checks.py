"""What loops and springs must fulfil at the initial state of a mechanism."""

import math

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.coordinates import slides
from pymodel.mechanism.scenario import PRISMATIC, STRETCH, Scenario, ScenarioError

# The numbers of a scenario are typed decimals: pi/4 written with six of them is off by 1.6e-7 rad,
# and a loop adds up a few such errors. A gap beyond a millionth of the mechanism is a mistake.
CLOSURE_TOLERANCE = 1e-6


def check_mimics(scenario: Scenario) -> None:
    """Refuse joints that mimic others beside loops and motions.

    Raises
    ------
    ScenarioError
    """
    for k in scenario.mimics:
        beside = "loops" if scenario.loops else "motions of joints" if scenario.moved else ""
        if beside:
            reason = f"not beside {beside}: a spring, or loops of bodies, hold two joints together"
            raise ScenarioError(scenario.source, f"body[{k}].mimic", reason)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def check_loops(scenario: Scenario) -> None:
    """Refuse loops that are open, or whose pins or axes drift apart.

    Parameters
    ----------
    scenario : Scenario
        With loops or without.

    Raises
    ------
    ScenarioError
        Naming the loop and by how much it fails.
    """
    if not scenario.loops:
        return
    q, qd = scenario.q0, scenario.qd0
    extent = size(scenario)
    gaps = kinematics.loop_gaps(scenario, q)
    speeds = kinematics.loop_gap_velocities(scenario, q, qd)
    turn, speed = fastest(scenario, q, qd)
    for index, (gap, rate) in enumerate(zip(gaps, speeds, strict=True)):
        distance, slip = math.hypot(*gap), math.hypot(*rate)
        if not math.isfinite(distance + slip + extent):
            reason = "lengths or velocities are too large: where its pins are overflows float64"
        elif distance > CLOSURE_TOLERANCE * extent:
            reason = f"does not close at the initial posture: its ends are {distance:.3g} m apart"
        elif slip > CLOSURE_TOLERANCE * speed:
            reason = f"initial velocities do not fit: its ends part at {slip:.3g} m/s"
        else:
            continue
        raise ScenarioError(scenario.source, f"loop[{index}]", reason)
    hinges = [index for index, loop in enumerate(scenario.loops) if loop.axis]
    tilts = kinematics.axis_gaps(scenario, q)
    rates = kinematics.axis_gap_velocities(scenario, q, qd)
    turn = max(turn, speed / extent if extent else 0.0)  # what slides turns by rounding
    for index, tilt, rate in zip(hinges, tilts, rates, strict=True):
        if math.hypot(*tilt) > CLOSURE_TOLERANCE:
            angle = 2.0 * math.asin(min(0.5 * math.hypot(*tilt), 1.0))
            reason = f"does not close at the initial posture: its axes are {angle:.3g} rad apart"
        elif math.hypot(*rate) > CLOSURE_TOLERANCE * turn:
            reason = (
                f"initial velocities do not fit: its axes part at {math.hypot(*rate):.3g} rad/s"
            )
        else:
            continue
        raise ScenarioError(scenario.source, f"loop[{index}]", reason)


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def check_springs(scenario: Scenario) -> None:
    """Refuse springs far from their natural length, and dampers without a direction.

    Parameters
    ----------
    scenario : Scenario

    Raises
    ------
    ScenarioError
        Naming the spring and its length.
    """
    lengths = kinematics.spring_lengths(scenario, scenario.q0).tolist()
    for index, (spring, length) in enumerate(zip(scenario.springs, lengths, strict=True)):
        natural = spring.length
        if not math.isfinite(length):
            key, reason = "", "where its ends are overflows float64"
        elif natural and not natural / STRETCH <= length <= natural * STRETCH:
            key = ".length"
            reason = (
                f"the ends are {length:.3g} m apart at the start, must be "
                f"{natural / STRETCH:.3g} to {natural * STRETCH:.3g} m ({STRETCH:g} times shorter "
                "or longer)"
            )
        elif spring.damping and not length:
            key, reason = ".damping", "has no direction: the ends are in one place at the start"
        else:
            continue
        raise ScenarioError(scenario.source, f"spring[{index}]{key}", reason)


def size(scenario: Scenario) -> float:
    """Sum the arms: a length in m that no pin of the mechanism can be away from the first one."""
    arms = [body.attach for body in scenario.bodies]
    arms += [tuple(np.atleast_1d(body.q)) for body in scenario.bodies if body.joint == PRISMATIC]
    arms += [arm for loop in scenario.loops for arm in (loop.point, loop.at)]
    return sum(math.hypot(*arm) for arm in arms)


def fastest(scenario: Scenario, q: np.ndarray, qd: np.ndarray) -> tuple[float, float]:
    """The largest angular velocity, rad/s, and a speed that none of its pins can exceed, m/s."""
    turn = float(np.abs(kinematics.angular_velocities(scenario, q, qd)).max())
    sliding = float(np.abs(qd[slides(scenario)]).max(initial=0.0))
    return turn, size(scenario) * turn + sliding
