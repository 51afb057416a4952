"""The kept steps of a run, and the table that they are written to.

`run.csv` has one row a kept step, the start included, and the columns `t`, `q0..`, `qd0..`,
`p0..`, `kinetic`, `potential`, `loop_position`, `loop_velocity`.  Numbers are printed with `repr`
of the Python float, the shortest text that reads back to the same bits. There are as many columns
of `qd` and `p` as velocities, and of `q` as coordinates: one more for each quaternion.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from pymodel.arith.errors import Error
from pymodel.arith.numbers import numbers
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.columns import blocks, empty, release
from pymodel.runs.input_error import InputError, require, require_path, require_whole
from pymodel.runs.whole import whole_file

JOINT_COLUMNS = ("q", "qd", "p")
WRITTEN = 1 << 12  # rows that are written together
SCALAR_COLUMNS = ("kinetic", "potential", "loop_position", "loop_velocity")


class TrajectoryError(Error, ValueError):
    """A file that is not a table of a run, or values that cannot be written as one."""


@dataclass
class Trajectory:
    """The kept steps of a run of nq coordinates and nv velocities at T times, float64 arrays.

    t s (T,), q rad or m, and quaternions (T, nq), qd rad/s or m/s (T, nv), p joint momenta in
    N m s or N s (T, nv; augmented momenta in closed loops), kinetic and potential energy J (T,),
    loop_position m and loop_velocity m/s (T,; 0 without loops).  Not in the table: `flags`, the
    sticky float flags of the run, and for closed chains `condition`, the largest condition number
    of eta, at `condition_time` s; `joint_condition` and `joint_condition_time` are those of the
    joint matrices (33), if watched; `loss` is how much the algorithm magnifies the rounding of its
    operations, at `loss_time` s where that is worst (:mod:`pymodel.runs.loss`), None where nothing
    moves or nobody asked, and infinite where no digit is left; `spring_lengths` are [number, length
    in m, time in s] of each spring with a natural length, when it was farthest from that, if
    watched; `evaluations` of the rates that an adaptive integrator asked for; `warnings`, a line
    each, what to beware of in the run, as :func:`pymodel.simulate` finds it
    (:func:`pymodel.runs.judgement.warnings_of`).

    Two are equal if all of that but the loss and the warnings is the same, arrays bit for bit: a
    NaN is equal to itself, 0 and -0 differ. :func:`pymodel.runs.comparison.compare` looks at the
    table alone.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    p: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    loop_position: np.ndarray
    loop_velocity: np.ndarray
    flags: int = 0
    condition: float | None = None
    condition_time: float | None = None
    joint_condition: float | None = None
    joint_condition_time: float | None = None
    loss: float | None = field(default=None, compare=False)
    loss_time: float | None = field(default=None, compare=False)
    spring_lengths: list[list[float]] | None = None
    evaluations: int | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        """Turn everything into float64 arrays; a TrajectoryError if that or a shape is wrong."""
        for name in ("t", *JOINT_COLUMNS, *SCALAR_COLUMNS):
            try:
                setattr(self, name, numbers(name, getattr(self, name)))
            except ValueError as error:
                raise TrajectoryError(str(error)) from None
        if self.t.ndim != 1 or self.q.ndim != 2 or self.qd.ndim != 2:
            given = f"t {self.t.shape}, q {self.q.shape} and qd {self.qd.shape}"
            raise TrajectoryError(f"{given} must be (T,), (T, nq) and (T, nv)")
        rows = len(self.t)
        shapes: dict[str, tuple[int, ...]] = {"q": (rows, self.nq)}
        shapes |= {"qd": (rows, self.nv), "p": (rows, self.nv)}
        shapes |= dict.fromkeys(SCALAR_COLUMNS, (rows,))
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise TrajectoryError(f"{name} has shape {getattr(self, name).shape}, not {shape}")

    def __eq__(self, other: object) -> bool:
        """Whether all is the same, bit for bit."""
        return same_fields(self, other) if isinstance(other, Trajectory) else NotImplemented

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} to {self.t[-1]:g} s" if len(self) else ""
        return f"<Trajectory: {self.size_text}, {len(self)} rows{span}>"

    def __len__(self) -> int:
        """Number of kept times."""
        return len(self.t)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return int(self.q.shape[1])

    @property
    def nv(self) -> int:
        """Number of velocities and momenta."""
        return int(self.qd.shape[1])

    @property
    def size_text(self) -> str:
        """Say how many coordinates it has, and how many velocities where they are not as many."""
        return size_text(self.nq, self.nv)

    def first(self, count: int) -> Trajectory:
        """Its first rows, with the flags and the conditions of the whole run.

        Raises
        ------
        InputError
            If the count is no whole number of 0 or more.
        """
        count = require_whole("count", count, 0)
        if len(self) <= count:
            return self
        names = ("t", *JOINT_COLUMNS, *SCALAR_COLUMNS)
        return replace(self, **{name: getattr(self, name)[:count] for name in names})

    def finite_part(self) -> Trajectory:
        """The rows before the first one with a number that is not finite.

        A run that explodes ends with finite angles whose energies are beyond float64.
        """
        for here in blocks(len(self)):
            columns = self.columns().values()
            finite = np.all([np.isfinite(column[here]) for column in columns], axis=0)
            if not finite.all():
                return self.first(here.start + int(finite.argmin()))
        return self

    def parts(self) -> Iterator[Trajectory]:
        """Its rows in parts, so that what is computed of each needs little memory."""
        names = ("t", *JOINT_COLUMNS, *SCALAR_COLUMNS)
        for here in blocks(len(self)):
            yield replace(self, **{name: getattr(self, name)[here] for name in names})

    def taken(self, rows: np.ndarray) -> Trajectory:
        """Some rows of it, as far as it has them."""
        rows, found = rows[rows < len(self)], {}
        for name in ("t", *JOINT_COLUMNS, *SCALAR_COLUMNS):
            found[name] = getattr(self, name)[rows]
            release()
        return replace(self, **found)

    def columns(self) -> dict[str, np.ndarray]:
        """The columns of the table by name, in their order, each of shape (T,)."""
        table = {"t": self.t}
        for name in JOINT_COLUMNS:
            table |= {f"{name}{k}": column for k, column in enumerate(getattr(self, name).T)}
        return table | {name: getattr(self, name) for name in SCALAR_COLUMNS}


def of_states(
    scenario: Scenario, t: np.ndarray, q: np.ndarray, qd: np.ndarray, p: np.ndarray
) -> Trajectory:
    """The trajectory of states: energies and errors of loops follow from them, in float64."""
    kinetic, potential, position, velocity = (empty(len(t)) for _ in SCALAR_COLUMNS)
    for here in blocks(len(t)):
        found = kinematics.energies(scenario, q[here], qd[here])
        kinetic[here], potential[here] = found
        position[here] = kinematics.loop_position(scenario, q[here])
        velocity[here] = kinematics.loop_velocity(scenario, q[here], qd[here])
    return Trajectory(t, q, qd, p, kinetic, potential, position, velocity)


def same_fields(one: Any, other: Any) -> bool:
    """Whether two of one dataclass have the same fields; arrays of the same shape and bits."""

    def key(value: Any) -> Any:
        return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value

    names = [field.name for field in fields(one) if field.compare]
    return all(key(getattr(one, name)) == key(getattr(other, name)) for name in names)


def size_text(nq: int, nv: int) -> str:
    """How many coordinates, and velocities where they are not as many, in words."""
    coordinates = "1 coordinate" if nq == 1 else f"{nq} coordinates"
    return coordinates if nq == nv else f"{coordinates} and {nv} velocities"


def check_alike(run: Trajectory, other: Trajectory) -> None:
    """Refuse what are not trajectories of one mechanism, by an InputError."""
    require(run, Trajectory, "simulate")
    require(other, Trajectory, "simulate")
    if (run.nq, run.nv) != (other.nq, other.nv):
        raise InputError(f"runs of {run.size_text} and {other.size_text} cannot be compared")


def check_mechanism(trajectory: Trajectory, scenario: Scenario) -> None:
    """Refuse a trajectory that is not of a scenario's mechanism, by an InputError."""
    require(trajectory, Trajectory, "simulate")
    require(scenario, Scenario, "load")
    if (scenario.nq, scenario.nv) != (trajectory.nq, trajectory.nv):
        sizes = size_text(scenario.nq, scenario.nv), trajectory.size_text
        raise InputError(f"{scenario.source}: {sizes[0]}, the trajectory has {sizes[1]}")


def joint_column_names(nq: int, nv: int) -> dict[str, list[str]]:
    """Columns of q, qd and p of so many coordinates and velocities, by these names."""
    sizes = zip(JOINT_COLUMNS, (nq, nv, nv), strict=True)
    return {name: [f"{name}{k}" for k in range(size)] for name, size in sizes}


def column_names(nq: int, nv: int) -> list[str]:
    """The header of a table of so many coordinates and velocities."""
    joint = joint_column_names(nq, nv).values()
    return ["t", *(name for names in joint for name in names), *SCALAR_COLUMNS]


def write_csv(path: str | os.PathLike[str], trajectory: Trajectory) -> None:
    """Write the table of a run; what `read_csv` makes of it is the same bit for bit.

    Parameters
    ----------
    path : str or path-like
    trajectory : Trajectory
        Its flags and conditions are not written.

    Raises
    ------
    InputError
        If it is no trajectory, or the path is none.
    OSError
        If the file cannot be written.
    """
    require(trajectory, Trajectory, "simulate")
    write_columns(path, trajectory.columns())


def write_columns(path: str | os.PathLike[str], columns: Mapping[str, np.ndarray]) -> None:
    """Write a table of float64 columns (T,) by their names; an OSError if that fails."""
    require_path("path", path)
    with whole_file(path) as beside, open(beside, "w", encoding="ascii", newline="") as file:
        file.write(",".join(columns) + "\n")
        for some in blocks(max(map(len, columns.values()), default=0), WRITTEN):
            # tolist() gives Python floats, whose repr is the bare number.
            rows = zip(*(column[some].tolist() for column in columns.values()), strict=True)
            file.writelines(",".join(map(repr, row)) + "\n" for row in rows)


def read_csv(path: str | os.PathLike[str]) -> Trajectory:
    """Read the table of a run.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Trajectory
        Without flags and conditions, which are not in the table.

    Raises
    ------
    TrajectoryError
        If it is not one: one line with file, line and reason.
    InputError
        If the path is none.
    """
    nq = nv = 0

    def names(header: list[str]) -> list[str]:
        nonlocal nq, nv
        nq, nv = (numbered(header, rf"{name}\d+") for name in ("q", "qd"))
        return column_names(nq, nv)

    _, table = _read_table(path, names, "a run (t, q0.., qd0.., p0.., ..)")
    t, q, qd, p, scalars = np.split(table, np.cumsum((1, nq, nv, nv)), axis=1)
    return Trajectory(t[:, 0], q, qd, p, *scalars.T)


def numbered(header: list[str], pattern: str) -> int:
    """How many names of a header are of a pattern."""
    return sum(re.fullmatch(pattern, name) is not None for name in header)


def read_columns(
    path: str | os.PathLike[str], names: Callable[[list[str]], list[str]], what: str
) -> dict[str, np.ndarray]:
    """Read a table of float64 columns.

    Parameters
    ----------
    path : str or path-like
    names : callable
        The header -> what it must be.
    what : str
        Whose header that is, in words.

    Returns
    -------
    dict
        Name -> values, shape (T,).

    Raises
    ------
    TrajectoryError
        If it is not one: one line with file, line and reason.
    InputError
        If the path is none.
    """
    header, table = _read_table(path, names, what)
    return dict(zip(header, table.T, strict=True))


def _read_table(
    path: str | os.PathLike[str], names: Callable[[list[str]], list[str]], what: str
) -> tuple[list[str], np.ndarray]:
    """The header of a table and its values (T, columns), as :func:`read_columns` has them."""
    require_path("path", path)
    number = 1
    try:
        with open(path, encoding="ascii", errors="surrogateescape", newline="") as file:
            rows = max(sum(1 for _ in file) - 1, 0)
            file.seek(0)
            lines = csv.reader(_whole_lines(file, path))
            header = next(lines, [])
            if header != names(header):
                raise TrajectoryError(f"{path}: line 1: not the header of {what}")
            table = empty(rows, len(header))
            for here in blocks(rows, WRITTEN):
                for number, row in enumerate(islice(lines, here.stop - here.start), here.start + 2):
                    if len(row) != len(header):
                        said = f"{len(row)} values for {len(header)} columns"
                        raise TrajectoryError(f"{path}: line {number}: {said}")
                    table[number - 2] = [float(item) for item in row]
            if number <= rows:
                raise TrajectoryError(f"{path}: line {number}: a value has a line break")
    except OSError as error:
        raise TrajectoryError(f"{path}: cannot read: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, TrajectoryError):
            raise
        raise TrajectoryError(f"{path}: line {number}: {error}") from None
    return header, table


def _whole_lines(file: Iterable[str], path: str | os.PathLike[str]) -> Iterator[str]:
    """The lines of a table; a TrajectoryError for one that was cut, or is not ASCII."""
    for number, line in enumerate(file, start=1):
        if not line.isascii():
            raise TrajectoryError(f"{path}: line {number}: not ASCII text")
        if not line.endswith("\n"):
            raise TrajectoryError(f"{path}: line {number}: has no end: the file was cut")
        yield line
