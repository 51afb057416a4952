"""The kept steps of a run, wherever it runs, and what stops it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pymodel.algorithms.requests import SingularError
from pymodel.algorithms.step import Rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.trajectory import Trajectory


class NonFiniteError(ArithmeticError):
    """A step gave a result that is not a number, or infinite."""


#: Above this condition number of eta a mechanism is near a singular posture: in binary32 three
#: digits of the impulses are left.
CONDITION_WARNING = 1e4

#: Condition number of eta times unit roundoff above which the base counts as unsolvable: not even
#: two digits of the impulses are left.
UNSOLVABLE = 1e-2


class Recorder:
    """Collects the kept steps of a run and turns them into a trajectory.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : Float64 or BitExact
        What the recorded scalars belong to.
    """

    def __init__(self, scenario: Scenario, arithmetic: Float64 | BitExact) -> None:
        self.scenario = scenario
        self.arithmetic = arithmetic
        self.step = 0  # the one being computed
        self.rows = []
        self.condition = None  # largest condition number of eta (43) so far
        self.condition_step = None

    def where(self, reason: Any) -> str:
        """A reason to stop, with the file and the step."""
        return f"{self.scenario.source}: step {self.step}: {reason}"

    def check(self, *vectors: Sequence) -> list[list[float]]:
        """The vectors as floats.

        Raises
        ------
        NonFiniteError
            If any value is not finite.
        """
        floats = [[self.arithmetic.to_float(x) for x in vector] for vector in vectors]
        if not all(math.isfinite(x) for values in floats for x in values):
            raise NonFiniteError(self.where("result is not finite"))
        return floats

    def keep(self, q: Sequence, rates: Rates) -> None:
        """Record the state before the present step, if it is one of those to keep.

        Raises
        ------
        NonFiniteError
            If a value of any step is not finite; nothing of this step is recorded.
        SingularError
            If eta is too near to singular for this arithmetic, see :data:`UNSOLVABLE`.
        """
        row = self.check(q, rates.q_dot, rates.p)
        if rates.eta is not None:
            self._check_condition(self.check(*rates.eta))
        if self.step % self.scenario.save == 0:
            self.rows.append((self.step, *row))

    def _check_condition(self, eta: Sequence[Sequence[float]]) -> None:
        condition = float(np.linalg.cond(eta))
        if self.condition is None or not condition <= self.condition:
            self.condition, self.condition_step = condition, self.step
        if not condition * self.arithmetic.unit_roundoff < UNSOLVABLE:
            raise SingularError(
                f"singular posture: eta (43) has condition {condition:.1e}, "
                f"too much for {self.arithmetic.name}"
            )

    def trajectory(self) -> Trajectory:
        """The :class:`Trajectory` of all rows kept so far; energies and loop errors in float64."""
        steps, q, qd, p = (np.array(column, dtype=float) for column in zip(*self.rows, strict=True))
        trajectory = Trajectory(
            t=steps * self.scenario.step,
            q=q,
            qd=qd,
            p=p,
            kinetic=kinematics.kinetic_energy(self.scenario, q, qd),
            potential=kinematics.potential_energy(self.scenario, q),
            loop_position=kinematics.loop_position(self.scenario, q),
            loop_velocity=kinematics.loop_velocity(self.scenario, q, qd),
        )
        trajectory.flags = self.arithmetic.flags
        if self.condition is not None:
            trajectory.condition = self.condition
            trajectory.condition_time = self.condition_step * self.scenario.step
        return trajectory

    def partial(self, error: Exception) -> Exception:
        """The error, with what there is so far as its ``trajectory`` (None if nothing)."""
        error.trajectory = self.trajectory() if self.rows else None
        return error
