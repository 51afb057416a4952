"""What loops and springs must fulfil at the initial state of a mechanism."""

import math

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import STRETCH, Scenario, ScenarioError

# The numbers of a scenario are typed decimals: pi/4 written with six of them is off by 1.6e-7 rad,
# and a loop adds up a few such errors. A gap beyond a millionth of the mechanism is a mistake.
CLOSURE_TOLERANCE = 1e-6
# Constraint rows count as dependent below this share of the largest singular value. It is far
# above rounding (1e-16) and below a four-bar held 1e-8 rad from its flat posture.
RANK_TOLERANCE = 1e-9


@np.errstate(over="ignore", invalid="ignore")  # what is not finite is refused
def check_loops(scenario: Scenario) -> None:
    """Refuse loops that are open, whose pins drift apart, or that depend on each other.

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
    turn = float(np.abs(kinematics.angular_velocities(scenario, q, qd)).max())
    for index, (gap, speed) in enumerate(zip(gaps, speeds, strict=True)):
        distance, slip = math.hypot(*gap), math.hypot(*speed)
        if not math.isfinite(distance + slip + extent):
            reason = "lengths or velocities are too large: where its pins are overflows float64"
            raise ScenarioError(scenario.source, f"loop[{index}]", reason)
        if distance > CLOSURE_TOLERANCE * extent:
            raise ScenarioError(
                scenario.source,
                f"loop[{index}]",
                f"does not close at the initial posture: the pins are {distance:.3g} m apart",
            )
        if slip > CLOSURE_TOLERANCE * extent * turn:
            raise ScenarioError(
                scenario.source,
                f"loop[{index}]",
                f"initial velocities do not fit: the pins part at {slip:.3g} m/s",
            )
    jacobian = kinematics.loop_jacobian(scenario, q)
    values = np.linalg.svd(jacobian, compute_uv=False)
    if len(scenario.bodies) < len(jacobian) or values[-1] <= RANK_TOLERANCE * values[0]:
        raise ScenarioError(
            scenario.source,
            "loop",
            "constraints depend on each other at the initial posture (redundant or singular)",
        )


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
    arms += [arm for loop in scenario.loops for arm in (loop.point, loop.at)]
    return sum(math.hypot(*arm) for arm in arms)
