"""Two trajectories side by side: where their bits differ, and by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pymodel.mechanism.scenario import Scenario
from pymodel.runs import columns, lagrangian
from pymodel.runs.input_error import InputError, require, require_numbers
from pymodel.runs.trajectory import Trajectory, check_alike, check_mechanism


@dataclass(frozen=True)
class Column:
    """How one column of two trajectories differs.

    Attributes
    ----------
    largest : float
        Largest absolute difference, in the column's unit; 0 also where only signs of zeros differ.
    time : float or None
        First time at which the bits differ, s; None if they never do.
    rows : int
        How many rows differ in their bits.
    """

    largest: float
    time: float | None
    rows: int

    @property
    def identical(self) -> bool:
        """Whether all bits are the same."""
        return not self.rows


@dataclass(frozen=True)
class Comparison:
    """How two trajectories differ, row by row as far as the shorter one goes.

    ``str()`` is a table. Rows of different times show in column ``t``.

    Attributes
    ----------
    rows : tuple of int
        Rows of both.
    columns : dict
        Name as in ``run.csv`` (``t``, ``q0``, ..., ``kinetic``, ...) -> :class:`Column`.
    """

    rows: tuple[int, int]
    columns: dict[str, Column]

    @property
    def identical(self) -> bool:
        """Whether both are the same in every bit."""
        same_length = self.rows[0] == self.rows[1]
        return same_length and all(column.identical for column in self.columns.values())

    def largest(self, name: str) -> float:
        """Largest difference of a quantity: a column, or all joints' ``q``, ``qd`` or ``p``."""
        names = [found for found in self.columns if name in (found, found.rstrip("0123456789"))]
        if not names:
            raise InputError(f"quantity {name!r}: no column of a run")
        return max(self.columns[found].largest for found in names)

    def __str__(self) -> str:
        if self.identical:
            return f"bit-identical: {self.rows[0]} rows"
        lines = [f"different: {self.rows[0]} and {self.rows[1]} rows"]
        for name, column in self.columns.items():
            if not column.identical:
                first = f"{column.rows} rows, from t = {column.time:.6g} s"
                lines.append(f"  {name:14} {column.largest:10.3g}  {first}")
        return "\n".join(lines)


def reference(scenario: Scenario, t: ArrayLike | None = None) -> Trajectory:
    """Solve the motion of a scenario by Lagrange's equations, without steps of its own.

    Parameters
    ----------
    scenario : Scenario
    t : array, shape (T,), optional
        Times of the results, s, ascending from 0 or later; by default those that a run keeps.

    Returns
    -------
    Trajectory
        As of :func:`pymodel.runs.lagrangian.simulate`.

    Raises
    ------
    InputError
        If the times are no finite numbers, or do not ascend.
    NoReferenceError
        If it cannot be solved until the last time; its ``trajectory`` is the part until then.
    """
    require(scenario, Scenario, "load")
    times = scenario.times if t is None else require_numbers("t", t)
    return lagrangian.simulate(scenario, times)


def with_signs_of(run: Trajectory, other: Trajectory, scenario: Scenario) -> Trajectory:
    """Give quaternions the signs of another run's, row by row as far as both go.

    Parameters
    ----------
    run, other : Trajectory
        Of the scenario's mechanism, at the same times.
    scenario : Scenario

    Returns
    -------
    Trajectory
        ``other`` with negated quaternions where that is nearer to ``run``.
    """
    if not scenario.quaternions:
        return other
    q = columns.empty(*other.q.shape)
    for here in columns.blocks(len(other)):
        own, theirs = other.q[here].copy(), run.q[here]
        for part in scenario.quaternions:
            away = np.vecdot(own[: len(theirs), part], theirs[:, part]) < 0.0
            own[: len(theirs), part][away] *= -1.0
        q[here] = own
    return replace(other, q=q)


def compare(run: Trajectory, other: Trajectory | Scenario) -> Comparison:
    """Compare a trajectory with another one, or with the reference, bit by bit.

    Parameters
    ----------
    run : Trajectory
    other : Trajectory or Scenario
        A scenario stands for its reference: its motion by Lagrange's equations at the run's times.
        A quaternion and its negative are one rotation: it gets the signs of the run's.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If they have different numbers of coordinates or velocities.
    NoReferenceError
        As for :func:`reference`.
    """
    if isinstance(other, Scenario):
        check_mechanism(run, other)
        other = with_signs_of(run, reference(other, run.t), other)
    check_alike(run, other)
    rows = min(len(run), len(other))
    columns = zip(run.columns().items(), other.columns().values(), strict=True)
    times = run.t[:rows]
    return Comparison(
        (len(run), len(other)),
        {name: _column(left[:rows], right[:rows], times) for (name, left), right in columns},
    )


def _column(left: np.ndarray, right: np.ndarray, times: np.ndarray) -> Column:
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    differ = np.flatnonzero(left.view(np.uint64) != right.view(np.uint64))
    if not len(differ):
        return Column(0.0, None, 0)
    with np.errstate(over="ignore", invalid="ignore"):  # inf - inf
        largest = float(np.abs(left - right).max())
    return Column(largest, float(times[differ[0]]), len(differ))
