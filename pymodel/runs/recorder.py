"""The kept steps of a run, wherever it runs, and what stops it."""

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from pymodel.algorithms.conditions import eta_condition, joint_condition
from pymodel.algorithms.requests import (
    NOT_FINITE,
    NonFiniteMatrixError,
    SingularError,
    joint_matrix,
)
from pymodel.algorithms.springs import length_error
from pymodel.arith.errors import RunError
from pymodel.arith.scalars import BitExact, Float64
from pymodel.arith.sincos import MAX_EXPONENT
from pymodel.mechanism import formula, kinematics
from pymodel.mechanism.lending import lent
from pymodel.mechanism.scenario import FREE, GROUND, REVOLUTE, Scenario
from pymodel.runs import columns
from pymodel.runs.input_error import InputError
from pymodel.runs.trajectory import Trajectory, of_states


class NonFiniteError(RunError):
    """A step gave a result that is not a number, or infinite.

    Also where an angle has no sine in the hardware, see :data:`ANGLE_LIMIT`.
    """


#: Above this condition number of eta a mechanism is near a singular posture: in binary32 three
#: digits of the impulses are left.
CONDITION_WARNING = 1e4

#: Condition number of eta, or of a joint matrix (33), times unit roundoff above which it counts as
#: unsolvable: not even two digits of the impulses are left.
UNSOLVABLE = 1e-2

#: Condition number of a joint matrix (33), squared, times unit roundoff above which a run warns:
#: not even two digits of the velocities are left (docs/theory.md: where digits are lost).
JOINT_WARNING = 1e-2

#: Condition number of a joint matrix (33) that is never an alarm: that of ordinary bodies is below
#: 40. A format so coarse that this is too much is seen by the rounding of its runs.
ORDINARY_JOINT = 100.0

#: Angles in rad from which the sine and cosine of the hardware give NaN.
ANGLE_LIMIT = 2.0 ** (MAX_EXPONENT + 1)

#: Steps whose springs are looked at together: one by one would take longer than some steps.
STEPS_AT_ONCE = 4096


def joint_limit(unit_roundoff: float) -> float:
    """Condition number of a joint matrix (33) from which a format cannot bear it."""
    return max(UNSOLVABLE / unit_roundoff, ORDINARY_JOINT)


class Recorder:
    """Collects the kept steps of a run and turns them into a trajectory.

    Parameters
    ----------
    scenario : Scenario
    arithmetic : Float64 or BitExact
        What the recorded scalars belong to.
    limit : float, optional
        Condition number of a joint matrix (33) from which the run ends, above 1; by default what
        the arithmetic can bear, see :func:`joint_limit`.

    Raises
    ------
    InputError
        If the limit is not above 1.
    """

    def __init__(
        self,
        scenario: Scenario,
        arithmetic: Float64 | BitExact,
        limit: float | None = None,
    ) -> None:
        self.scenario = scenario
        self.arithmetic = arithmetic
        self.definite = lent(scenario).definite  # the inertias that it computes with
        self.step = 0  # the one being computed
        # Of the kept steps: numbers, q, qd, p; rows of them that are there; those after them.
        self._columns: tuple[np.ndarray, ...] = ()
        self._stored = 0
        self._last: list[tuple[Any, ...]] = []
        self.condition: float | None = None  # largest condition number of eta (43) so far
        self.condition_step = 0  # of that one
        self.limited = limit is not None  # by the caller, and not by the arithmetic
        if limit is None:
            limit = joint_limit(arithmetic.unit_roundoff)
        elif not isinstance(limit, numbers.Real) or not limit > 1.0:  # which no matrix is below
            raise InputError(f"limit: must be a number above 1, got {limit!r}")
        try:
            self.limit = float(limit)
        except OverflowError:
            self.limit = math.inf
        # Largest condition number of a joint matrix (33) so far.
        self.joint_condition: float | None = None
        self.joint_condition_step = 0  # of that one
        springs = enumerate(scenario.springs)
        self.natural = {k: x.length for k, x in springs if x.length and x.stiffness}
        # Of these the error, length and step that were worst so far.
        self.spring_lengths: dict[int, tuple[Any, ...]] = {}
        # Steps whose springs are still to be looked at: numbers, q.
        self.unseen: list[tuple[Any, np.ndarray]] = []
        self.steps_unseen = 0
        self.q = scenario.q0.tolist()  # before the present step

    def where(self, reason: Any) -> str:
        """A reason to stop, with the file, the step, and the angle that is too large, if any."""
        if angle := self._angle_too_large():
            # Of NaN for sine and cosine the joint matrices look singular, which they are not.
            reason = angle if isinstance(reason, SingularError) else f"{reason}: {angle}"
        return f"{self.scenario.source}: step {self.step}: {reason}"

    def stopped(self, error: SingularError) -> RunError:
        """The error of a run that a matrix ends; one that is not finite is not singular."""
        finite = not (isinstance(error, NonFiniteMatrixError) or self._angle_too_large())
        return (SingularError if finite else NonFiniteError)(self.where(error))

    def _angle_too_large(self) -> str | None:
        """What to say if the hardware has no sine of an angle.

        That of a body, in space of a joint, or one of a torque's or motion's formula in this step.
        """
        arithmetic, scenario = self.arithmetic, self.scenario
        if not (isinstance(arithmetic, BitExact) and arithmetic.fmt.has_sincos):
            return None
        turning = (REVOLUTE,) if scenario.spatial else (REVOLUTE, FREE)
        what = "the sum of the joint angles up to it"
        what = "its joint's angle" if scenario.spatial else f"its angle, {what},"
        ends = f"rad; sine and cosine end at 2^17 = {ANGLE_LIMIT:.0f} rad"
        times = [number * scenario.step for number in (self.step, self.step + 1)]
        angles: list[float] = []
        for k, body in enumerate(scenario.bodies):
            inner = 0.0 if scenario.spatial or body.parent == GROUND else angles[body.parent]
            own = self.q[scenario.q_slices[k]][-1] if body.joint in turning else 0.0
            angles.append(arithmetic.to_float(arithmetic.const(inner + own)))
            name = f" ({body.name})" if body.name else ""
            if abs(angles[k]) >= ANGLE_LIMIT:
                return f"body[{k}]{name}: {what} is {angles[k]:.9g} {ends}"
            for key in ("torque", "motion"):
                text = getattr(body, key)
                tree = formula.parse(text) if isinstance(text, str) else 0.0
                largest = max((abs(x) for t in times for x in formula.angles(tree, t)), default=0.0)
                if largest >= ANGLE_LIMIT:
                    return f"body[{k}]{name}.{key}: an angle of its formula is {largest:.9g} {ends}"
        return None

    def begin(self, q: Sequence[Any], p: Sequence[Any]) -> None:
        """Take the state before the present step.

        Raises
        ------
        NonFiniteError
            If any value is not finite.
        """
        self.q, _ = self.check(q, p)

    def watch(self, request: Any, reply: Any) -> None:
        """Watch the condition of the joint matrices (33), as :func:`requests.serve` shows them.

        Raises
        ------
        SingularError
            If one is too near to singular, see ``limit``.
        """
        parts = joint_matrix(request, reply)
        if parts is None:
            return
        to_float: Any = self.arithmetic.to_float
        floats = [[[to_float(x) for x in row] for row in part] for part in parts]
        condition = float(joint_condition(self.scenario, np.sum(floats, axis=0), self.definite))
        if self.joint_condition is None or condition > self.joint_condition:
            self.joint_condition, self.joint_condition_step = condition, self.step
        if condition >= self.limit:
            name = self.arithmetic.name
            most = f"the limit is {self.limit:g}" if self.limited else f"too much for {name}"
            raise SingularError(f"joint matrix (33) has condition {condition:.1e}, {most}")

    def check(self, *vectors: Sequence[Any]) -> list[list[float]]:
        """The vectors as floats.

        Raises
        ------
        NonFiniteError
            If any value is not finite.
        """
        floats = [[self.arithmetic.to_float(x) for x in vector] for vector in vectors]
        if not all(math.isfinite(x) for values in floats for x in values):
            raise NonFiniteError(self.where(NOT_FINITE))
        return floats

    def keep(
        self, q: Sequence[Any], qd: Sequence[Any], p: Sequence[Any], eta: Sequence[Any] | None
    ) -> None:
        """Record the state before the present step, if it is one of those to keep.

        Parameters
        ----------
        q, qd, p, eta
            As in :class:`pymodel.algorithms.step.Rates`; nq, nv and nv scalars.

        Raises
        ------
        NonFiniteError
            If a value of any step is not finite; nothing of this step is recorded.
        SingularError
            If eta is too near to singular for this arithmetic, see :data:`UNSOLVABLE`.
        """
        row = self.check(q, qd, p)
        if eta is not None:
            self._check_condition(self.check(*eta))
        self._watch_springs([self.step], row[:1])
        if self.step % self.scenario.save == 0:
            self._last.append((self.step, *row))
            if len(self._last) >= STEPS_AT_ONCE:
                self._store()

    def extend(self, q: np.ndarray, qd: np.ndarray, p: np.ndarray) -> None:
        """Record steps that are known to be finite, from the present one on: (T, nq), (T, nv)."""
        save = self.scenario.save
        numbers = np.arange(self.step, self.step + len(q))
        kept = slice(-self.step % save, None, save)
        self._watch_springs(numbers, q)
        if len(numbers[kept]):
            self._add(*(column[kept] for column in (numbers, q, qd, p)))
        self.step += len(q)

    def keep_all(self, numbers: np.ndarray, q: np.ndarray, qd: np.ndarray, p: np.ndarray) -> None:
        """Record steps to keep that are known to be finite: their numbers (T,), and (T, n) each."""
        self._watch_springs(numbers, q)
        self._add(numbers, q, qd, p)

    @property
    def rows(self) -> int:
        """Number of rows that are kept so far."""
        return self._stored + len(self._last)

    def _store(self) -> None:
        """Put the last rows where the others are."""
        if self._last:
            last, self._last = self._last, []
            self._add(*(np.array(part, dtype=float) for part in zip(*last, strict=True)))

    def _add(self, numbers: np.ndarray, q: np.ndarray, qd: np.ndarray, p: np.ndarray) -> None:
        """Add rows behind the others."""
        self._store()
        rows = self._stored + len(numbers)
        if not self._columns or rows > len(self._columns[0]):
            sizes = (), (self.scenario.nq,), (self.scenario.nv,), (self.scenario.nv,)
            room = max(rows, self.scenario.steps // self.scenario.save + 1)
            larger = tuple(columns.empty(room, *size) for size in sizes)
            for new, old in zip(larger, self._columns, strict=False):
                new[: self._stored] = old[: self._stored]
            self._columns = larger
        for column, new in zip(self._columns, (numbers, q, qd, p), strict=True):
            column[self._stored : rows] = new
        self._stored = rows
        columns.release()

    def _watch_springs(
        self, numbers: Sequence[int] | np.ndarray, q: Sequence[Any] | np.ndarray
    ) -> None:
        """Watch springs with a natural length in steps: their numbers (T,), and (T, nq)."""
        if not self.natural:
            return
        self.unseen.append((numbers, np.array(q)))
        self.steps_unseen += len(numbers)
        if self.steps_unseen >= STEPS_AT_ONCE:
            self._look_at_springs()

    @np.errstate(over="ignore", invalid="ignore")  # lengths may be beyond float64
    def _look_at_springs(self) -> None:
        """Take note of the lengths whose error is largest."""
        if not self.steps_unseen:
            return
        numbers, q = (np.concatenate(parts) for parts in zip(*self.unseen, strict=True))
        self.unseen, self.steps_unseen = [], 0
        lengths = kinematics.spring_lengths(self.scenario, q)
        for index, natural in self.natural.items():
            length = lengths[:, index]
            error = np.nan_to_num(length_error(length / natural), nan=0.0, posinf=math.inf)
            worst = int(error.argmax())
            if index not in self.spring_lengths or error[worst] > self.spring_lengths[index][0]:
                found = error[worst], length[worst], numbers[worst]
                self.spring_lengths[index] = tuple(x.item() for x in found)

    def note_conditions(
        self,
        eta: np.ndarray | None,
        joint: np.ndarray | None,
        numbers: np.ndarray | None = None,
    ) -> None:
        """Take note of the condition numbers of steps.

        Parameters
        ----------
        eta, joint : ndarray, shape (T,), or None
            The largest one of a step; None where there are no such matrices.
        numbers : ndarray of int, shape (T,), optional
            Of the steps; by default from the present one on.
        """

        def number(worst: int) -> int:
            return self.step + worst if numbers is None else int(numbers[worst])

        if eta is not None and len(eta):
            worst = int(eta.argmax())
            if self.condition is None or not eta[worst] <= self.condition:
                self.condition, self.condition_step = float(eta[worst]), number(worst)
        if joint is not None and len(joint):
            worst = int(joint.argmax())
            if self.joint_condition is None or joint[worst] > self.joint_condition:
                self.joint_condition = float(joint[worst])
                self.joint_condition_step = number(worst)

    def _check_condition(self, eta: Sequence[Sequence[float]]) -> None:
        condition = float(eta_condition(self.scenario, np.asarray(eta)))
        if self.condition is None or not condition <= self.condition:
            self.condition, self.condition_step = condition, self.step
        if not condition * self.arithmetic.unit_roundoff < UNSOLVABLE:
            raise SingularError(
                f"{self.scenario.singular}: eta (43) has condition {condition:.1e}, "
                f"too much for {self.arithmetic.name}"
            )

    def trajectory(self) -> Trajectory:
        """The :class:`Trajectory` of all rows kept so far; energies and loop errors in float64."""
        self._look_at_springs()
        self._store()
        steps, q, qd, p = (column[: self._stored] for column in self._columns)
        t = columns.empty(self._stored)
        for here in columns.blocks(self._stored):
            t[here] = steps[here] * self.scenario.step
        trajectory = of_states(self.scenario, t, q, qd, p)
        trajectory.flags = self.arithmetic.flags
        if self.condition is not None:
            trajectory.condition = self.condition
            trajectory.condition_time = self.condition_step * self.scenario.step
        if self.joint_condition is not None:
            trajectory.joint_condition = self.joint_condition
            trajectory.joint_condition_time = self.joint_condition_step * self.scenario.step
        worst = self.spring_lengths.items()
        trajectory.spring_lengths = [
            [k, length, number * self.scenario.step] for k, (_, length, number) in worst
        ]
        return trajectory

    def partial(self, error: RunError) -> RunError:
        """The error, with what there is so far as its ``trajectory`` (None if nothing)."""
        error.trajectory = self.trajectory() if self.rows else None
        return error
