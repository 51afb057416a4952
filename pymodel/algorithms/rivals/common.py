"""What the rivals share: gravity, and the torques of the joints."""

from collections.abc import Sequence

from pymodel.algorithms.step import Mechanism
from pymodel.arith.scalars import S, SupportsArithmetic, Vector
from pymodel.mechanism.scenario import Scenario


def gravity(arithmetic: SupportsArithmetic[S], scenario: Scenario) -> Vector[S]:
    """Acceleration of gravity, m/s^2, ground frame."""
    pairs = zip("xy", scenario.gravity, strict=True)
    return tuple(arithmetic.parameter(f"gravity.{axis}", x) for axis, x in pairs)


def joint_torques(mechanism: Mechanism, q: Sequence[S], q_dot: Sequence[S]) -> list[S]:
    """Torque of each joint on its body, N m; the parent gets the opposite."""
    return [
        (body.torque - body.spring * (q[k] - body.rest)) - body.damping * q_dot[k]
        for k, body in enumerate(mechanism.bodies)
    ]
