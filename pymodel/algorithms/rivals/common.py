"""What the rivals share: the torques of the joints, and what they refuse."""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.step import Mechanism
from pymodel.arith.scalars import S
from pymodel.mechanism.scenario import Scenario, ScenarioError


def refuse_springs(scenario: Scenario) -> None:
    """Refuse springs between points, and friction.

    Raises
    ------
    ScenarioError
        If there are any.
    """
    if scenario.springs:
        raise ScenarioError(scenario.source, "spring", "recursive algorithms take no springs")
    scenario.require_free_joints("a recursive algorithm")
    for k, body in enumerate(scenario.bodies):
        if body.rubs:
            reason = "recursive algorithms take no friction: HDCA and the DCA do"
            raise ScenarioError(scenario.source, f"body[{k}].friction", reason)


def joint_torques(
    mechanism: Mechanism[Any], q: Sequence[S], q_dot: Sequence[S], time: S | None = None
) -> list[list[S]]:
    """Torque, or force, of each joint on its body, N m or N; the parent gets the opposite.

    Empty for joints that have none: those with another number of coordinates than one.
    """
    found: list[list[S]] = []
    for k, body in enumerate(mechanism.bodies):
        if body.spring is None:
            found.append([])
            continue
        (x,), (rate,) = mechanism.coordinates(k, q), mechanism.velocities(k, q_dot)
        found.append([mechanism.joint_torque(k, x, rate, time)])
    return found
