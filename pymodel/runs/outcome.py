"""What a variation of a scenario comes to: a row of a sweep's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.runs.judgement import ENERGY_NOT_FINITE, warnings_of
from pymodel.runs.trajectory import JOINT_COLUMNS, Trajectory, joint_column_names

STATUSES = DONE, STOPPED, FAILED = "done", "stopped", "failed"
NAN = float("nan")


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what was worst in it.

    Attributes
    ----------
    status
        :data:`DONE`; :data:`STOPPED`: it broke off, what is here is of the steps until then; or
        :data:`FAILED`: it did not run, and nothing else is here.
    reason
        Why it stopped or failed, in one line; of one that is done what to beware of, if anything.
    steps, t
        Number and time (s) of the last kept step.
    q, qd, p
        Joint coordinates (rad, m and quaternions), velocities (rad/s, m/s) and momenta (N m s, N s)
        in that step.
    energy_change
        Largest change of kinetic and potential energy since the start, J.
    loop_position, loop_velocity
        Largest gap of the loops (m), and its rate (m/s).
    flags
        Sticky float flags.
    cycles
        Clock cycles of the hardware; 0 without.
    """

    status: str
    reason: str = ""
    steps: int = 0
    t: float = NAN
    q: Sequence[float] = ()
    qd: Sequence[float] = ()
    p: Sequence[float] = ()
    energy_change: float = NAN
    loop_position: float = NAN
    loop_velocity: float = NAN
    flags: int = 0
    cycles: int = 0

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # energies may be beyond float64
    def of(
        cls,
        scenario: Scenario,
        trajectory: Trajectory | None,
        stopped: str | None = None,
        cycles: int = 0,
        *,
        arithmetic: str,
    ) -> Outcome:
        """The outcome of a run; ``trajectory`` is None if it has kept no step.

        The warnings of one that is done are those that need no other run
        (:func:`pymodel.runs.judgement.warnings_of`): nothing is said of its float64 twin.
        """
        finite = None if trajectory is None else trajectory.finite_part()
        if finite is not None and trajectory is not None and len(finite) < len(trajectory):
            stopped = stopped or f"{scenario.source}: {ENERGY_NOT_FINITE}"
        status, reason = (STOPPED, stopped) if stopped else (DONE, "")
        if not finite:
            return cls(status, reason, cycles=cycles)
        if status == DONE:
            reason = "; ".join(warnings_of(scenario, finite, arithmetic))
        energy = finite.kinetic + finite.potential
        return cls(
            status,
            reason,
            steps=(len(finite) - 1) * scenario.save,
            t=float(finite.t[-1]),
            **{name: getattr(finite, name)[-1].tolist() for name in JOINT_COLUMNS},
            energy_change=float(np.abs(energy - energy[0]).max()),
            loop_position=float(finite.loop_position.max()),
            loop_velocity=float(finite.loop_velocity.max()),
            flags=finite.flags,
            cycles=cycles,
        )

    @classmethod
    def failure(cls, error: BaseException | str) -> Outcome:
        """The outcome of what did not run: the error, in one line."""
        said = f"{error}".splitlines()
        return cls(FAILED, said[0] if said else type(error).__name__)

    def cells(self, nq: int, nv: int) -> dict[str, Any]:
        """Name of a column -> value, for a mechanism of so many coordinates and velocities."""
        found = vars(self).copy()
        cells = {name: found.pop(name) for name in ("status", "reason", "steps", "t")}
        for name, columns in joint_column_names(nq, nv).items():
            values = found.pop(name) or [NAN] * len(columns)
            cells |= zip(columns, values, strict=True)
        return cells | found
