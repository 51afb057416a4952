"""Coulomb friction of joints, smooth about standstill: algorithm text, generic over its scalars.

The torque against the motion is F_c tanh(v / v_s), nearly. The units of the hardware have no
exponential function; tanh(4 a) = 4 t (1 + t^2) / (1 + 6 t^2 + t^4) with t = tanh a needs none. Done
:data:`STAGES` times from t = v / (N v_s) on, with N = :data:`SHARPNESS`, it gives the law

    F_c ((1 + y)^N - (1 - y)^N) / ((1 + y)^N + (1 - y)^N),    y = v / (N v_s),

which is F_c tanh(N artanh y): within 3.2e-6 F_c of F_c tanh(v / v_s) as far as |v| = N v_s. Beyond
that it stays above 0.997 F_c up to |v| = 20 000 v_s, and then falls off, as F_c tanh(N^2 v_s / v).
It never exceeds F_c, and always opposes the motion.
"""

from typing import Any, Generic

from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.mechanism.scenario import Scenario

STAGES = 4
SHARPNESS = 4**STAGES  #: N of the law


class Friction(Generic[S]):
    """The friction of one joint; its numbers are each rounded once from float64.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
    name : str
        Of the joint's body: the parameters are named by it.
    size : float
        F_c, N m.
    scale : float
        v_s, rad/s.
    """

    def __init__(
        self, arithmetic: SupportsArithmetic[S], name: str, size: float, scale: float
    ) -> None:
        self.arithmetic = arithmetic
        self.size = arithmetic.parameter(f"{name}.friction", size)
        self.rate = arithmetic.parameter(f"{name}.friction_rate", 1.0 / (SHARPNESS * scale))
        self.one, self.four, self.six = (arithmetic.const(x) for x in (1.0, 4.0, 6.0))

    def torque(self, v: S) -> S:
        """The torque (N m) against a velocity (rad/s)."""
        t: Any = v * self.rate
        for _ in range(STAGES):
            square = t * t
            inverse = self._inverse(square)
            # In this order nothing is infinite times zero, however fast the joint.
            t = (self.four * t) * ((self.one + square) * inverse)
        return self.size * t

    def _inverse(self, square: Any) -> Any:
        """1 / (1 + 6 t^2 + t^4)."""
        return self.arithmetic.recip(self.one + square * (self.six + square))

    def slope(self, v: S) -> S:
        """The derivative of :meth:`torque` by the velocity, N m s/rad.

        That of a stage is 4 (1 - t^2)^3 / (1 + 6 t^2 + t^4)^2.
        """
        t: Any = v * self.rate
        found: Any = self.size * self.rate
        for _ in range(STAGES):
            square = t * t
            inverse = self._inverse(square)
            part = (self.one - square) * inverse
            found = found * ((self.four * part) * (part * (self.one - square)))
            t = (self.four * t) * ((self.one + square) * inverse)
        return found


def prepare(arithmetic: SupportsArithmetic[S], scenario: Scenario) -> dict[int, Friction[S]]:
    """The friction of a scenario's joints by their bodies."""
    return {
        k: Friction(arithmetic, f"body[{k}]", body.friction, body.friction_scale)
        for k, body in enumerate(scenario.bodies)
        if body.rubs
    }
