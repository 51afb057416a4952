"""Calls of a robot's functions: tables of columns in, tables of columns out.

A call is a row. Columns have the names of
:mod:`pymodel.algorithms.rigid_body.functions`; all numbers are float64 outside, and rounded once
into the arithmetic of the call.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import (
    ALL,
    CONSTRAINED,
    SYMMETRIC,
    columns,
    force_columns,
    inputs,
    outputs,
    taken,
)
from pymodel.arith import scalars
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import S, SupportsArithmetic
from pymodel.compile import native, native_list
from pymodel.compile.chains import Chain
from pymodel.compile.kernel import Kernel
from pymodel.compile.native_chain import NativeChain
from pymodel.compile.robot_kernels import evaluable, recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism.decimals import decimal
from pymodel.mechanism.robot import CHAINS, HELICAL, REVOLUTE, Robot, kept_with_robot, one_line
from pymodel.mechanism.robot_loops import LoopGeometry, single_coordinates
from pymodel.runs.engine_calls import Call, prepare_fitting_call
from pymodel.runs.input_error import InputError, cannot_write
from pymodel.runs.recorder import ANGLE_LIMIT
from pymodel.runs.whole import whole_file

#: Column -> one number a row.
Table = dict[str, np.ndarray]

MODEL, NATIVE, TWIN = "model", "native", "twin"
TARGETS = (MODEL, NATIVE, TWIN)
OLD_NAMES = {"step": TWIN}  # of targets, as calls named them before

#: Difference to float64, relative to the largest entry of the row, above which a row is warned of.
SPOILED = 0.01
#: A row is zero whose largest entry is below this share of its error, which shows the size of terms
#: that cancel: beside float32 that is what float64's rounding leaves of them, some last bits.
ZERO = 2.0**-24
#: Time steps that are drawn are half of it to half more, s.
RANDOM_STEP = 0.01
#: How far the length of a quaternion may be from 1 without a word.
UNIT = 1e-6
#: How far a state may be from keeping the loops without a word; how many rows are looked at.
OPEN, ROWS_CLOSED = 1e-6, 256
#: Rows from which compiling a large function is worth its time, 0.12 ms an operation, as each takes
#: a third of a nanosecond an operation longer; and what a call counts at least.
COMPILED_ROWS, CALL_ROWS = 400_000, 16
CLOSING_TRIES = 100  #: starts from which a state that keeps the loops is looked for


class RowError(InputError):
    """A row of a table that makes no call; whoever has read the table knows its file."""


@dataclass(frozen=True)
class Answer:
    """What a batch of calls gave.

    Attributes
    ----------
    table : Table
        All output columns, zeros by structure included. The engine ends a call at a result that is
        not finite: NaN stands in such a row.
    flags : int
        Sticky float flags, bits 4..0 as in ``fflags``; 0 in float64.
    cycles : int or None
        Clock cycles of one call on the engine; None without one, and where all results are zero by
        structure.
    warnings : tuple of str
        A line each.
    by_numpy : bool
        Numpy computed what native code was to, and kept no flags: there is no C compiler.
    """

    table: Table
    flags: int = 0
    cycles: int | None = None
    warnings: tuple[str, ...] = ()
    by_numpy: bool = False

    @property
    def finite(self) -> bool:
        """Whether all results are finite."""
        return bool(np.isfinite(list(self.table.values())).all())


def input_columns(robot: Robot, function: str, external: Sequence[int] = ()) -> list[str]:
    """Name the columns that a call needs; matrices are full."""
    names = [name for kind in ALL[function].takes for name in taken(robot, function, kind)]
    return names + force_columns(external)


def call(
    robot: Robot,
    function: str,
    table: Mapping[str, np.ndarray],
    arithmetic: str = "float64",
    target: str = MODEL,
    machine: Machine | None = None,
    watch: Callable[[int, int], None] = lambda done, rows: None,
) -> Answer:
    """Evaluate a function of a robot once for each row of a table.

    Parameters
    ----------
    robot : Robot
    function : str
        A key of :data:`pymodel.algorithms.rigid_body.functions.ALL`.
    table : dict
        Column -> array of one number a row, SI units: all of :func:`input_columns`. External
        wrenches act on the links that have columns ``fext<link>_0`` to ``_5``.
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str
        ``model``: directly; ``twin``: on the cycle-accurate model of the step engine, which has no
        float64; ``native``: as native code, or by numpy where there is no C compiler.
    machine : Machine, optional
        Lanes of the engine; its memories are made as large as the program needs.
    watch : callable
        Told rows done and all rows, now and then.

    Returns
    -------
    Answer

    Raises
    ------
    InputError
        If the function, the arithmetic or the target is unknown, or the inputs make no call; a
        :class:`RowError` names the row.
    """
    if function not in ALL:
        raise InputError(f"function {function!r}: must be one of {', '.join(ALL)}")
    target = OLD_NAMES.get(target, target)
    ar = arithmetic_on(target, arithmetic)
    external = _pushed(robot, function, table)
    given, warnings = _checked(robot, function, table, external)
    rows = len(next(iter(given.values())))
    if target == NATIVE:
        return _natively(robot, function, external, ar, given, warnings)
    if target == TWIN:
        kernel: Kernel | Chain = recorded(robot, function, None, external)
    else:
        kernel = evaluable(robot, function, external)
    exact = _evaluated(kernel, scalars.Float64Arrays(), given)
    exact = {name: np.broadcast_to(x, rows) for name, x in exact.items()}
    exact = full_table(robot, function, exact, rows)
    if isinstance(ar, scalars.Float64) or not kernel.outputs:
        return Answer(exact, warnings=(*warnings, *_spoiled(exact)))
    batch = _counted(watch, bits_of(ar.fmt, given))
    if target == TWIN:
        engine = prepare(machine or Machine(), robot, function, ar.fmt, external)
        found, flags = _on_engine(engine, batch)
        cycles = engine.program.main
    else:
        found, flags, cycles = *_on_model(kernel, ar, batch), None
    angles = _angles(robot, ar.fmt, given)
    values = floats_of(ar.fmt, kernel.outputs, found)
    table = full_table(robot, function, values, rows)
    return Answer(table, flags, cycles, (*warnings, *_spoiled(table, exact, angles)))


def _natively(
    robot: Robot,
    function: str,
    external: tuple[int, ...],
    arithmetic: scalars.Float64 | scalars.BitExact,
    given: Mapping[str, np.ndarray],
    warnings: Sequence[str],
) -> Answer:
    """A batch as native code, and in float64 beside it."""
    rows = len(next(iter(given.values())))
    fmt = None if isinstance(arithmetic, scalars.Float64) else arithmetic.fmt
    by_numpy = False

    def table(values: Mapping[str, np.ndarray]) -> Table:
        return full_table(robot, function, values, rows)

    try:
        few = _rows_so_far(robot, function, external, arithmetic.name).add(rows) < COMPILED_ROWS
        exact = table(_built(robot, function, external, few).evaluate(given))
        if fmt is None:
            return Answer(exact, warnings=(*warnings, *_spoiled(exact)))
        code = _built(robot, function, external, few, arithmetic.name)
        values, flags = code.evaluate_with_flags(given)
    except native.NoCompilerError as error:
        lost = "" if fmt is None else ", without float flags"
        warnings, by_numpy = [*warnings, f"{error}; numpy computed this{lost}"], True
        kernel = evaluable(robot, function, external)
        found = _evaluated(kernel, scalars.Float64Arrays(), given)
        exact = table({name: np.broadcast_to(x, rows) for name, x in found.items()})
        if fmt is None:
            return Answer(exact, warnings=(*warnings, *_spoiled(exact)), by_numpy=True)
        arrays, flags = FormatArrays(fmt), 0
        numbers = {name: arrays.array(x) for name, x in given.items()}
        found = _evaluated(kernel, arrays, numbers)
        values = {name: np.broadcast_to(x.values, rows) for name, x in found.items()}
    angles = _angles(robot, fmt, given)
    found = table({name: np.asarray(x, float) for name, x in values.items()})
    return Answer(found, flags, None, (*warnings, *_spoiled(found, exact, angles)), by_numpy)


def _evaluated(
    what: Kernel | Chain, arithmetic: SupportsArithmetic[S], given: Mapping[str, S]
) -> dict[str, S]:
    """Evaluate once."""
    if isinstance(what, Kernel):
        return what.evaluate(arithmetic, given)
    (found,) = what.evaluate(arithmetic, given)
    return found


class _Rows:
    """How many rows native code has evaluated."""

    def __init__(self) -> None:
        self._rows = 0

    def add(self, rows: int) -> int:
        """Count a call; all that there were."""
        self._rows += max(rows, CALL_ROWS)
        return self._rows


@kept_with_robot
def _rows_so_far(robot: Robot, function: str, external: tuple[int, ...], arithmetic: str) -> _Rows:
    """Of a robot's function: the same whenever it is asked for."""
    return _Rows()


@kept_with_robot
def _built(
    robot: Robot,
    function: str,
    external: tuple[int, ...],
    few: bool,
    arithmetic: str = "float64",
) -> native.NativeKernel | NativeChain:
    """Native code of a robot's function, with float flags but in float64; for a few rows, or many.

    What is large is not compiled for a few rows: it is read as a list of operations.
    """
    what, flags = evaluable(robot, function, external), arithmetic != "float64"
    if isinstance(what, Chain):
        return NativeChain(what, arithmetic, flags=flags)
    if few and len(what.operations) > native.LARGE:
        return native_list.build(what, arithmetic, flags=flags)
    return native.build(what, arithmetic, flags=flags)


def machine_of(lanes: str | None) -> Machine:
    """An engine with these lanes, such as ``8+8``; the usual one by default.

    Raises
    ------
    InputError
        If they are written otherwise.
    """
    try:
        return Machine() if lanes is None else Machine.parse(lanes)
    except ValueError as error:
        raise InputError(str(error)) from None


@kept_with_robot
def prepare(
    machine: Machine,
    robot: Robot,
    function: str,
    fmt: Format = BINARY32,
    external: tuple[int, ...] = (),
    parameters_as_data: bool = False,
) -> Call:
    """Schedule a robot's function on an engine whose memories are as large as it needs.

    For the arguments see :func:`call` and :func:`pymodel.compile.robot_kernels.recorded`.

    Raises
    ------
    InputError
        If all results are zero by structure.
    """
    kernel = recorded(robot, function, None, external, parameters_as_data)
    if not kernel.outputs:
        raise InputError(f"{function} of {robot.name}: all results are zero, there is no program")
    return prepare_fitting_call(replace(machine, fmt=fmt), kernel)


def bits_of(fmt: Format, table: Mapping[str, np.ndarray]) -> list[dict[str, int]]:
    """Round a table: for each row name -> bits."""
    rows = zip(*table.values(), strict=True)
    return [dict(zip(table, (fmt.from_float(float(x)) for x in row), strict=True)) for row in rows]


def floats_of(
    fmt: Format, names: Iterable[str], rows: Sequence[Mapping[str, int] | None]
) -> dict[str, np.ndarray]:
    """Read bits, for each row by name, as columns; a row that is None becomes NaN."""
    return {
        name: np.array([fmt.to_float(row[name]) if row else np.nan for row in rows])
        for name in names
    }


def arithmetic_on(target: str, name: str) -> scalars.Float64 | scalars.BitExact:
    """The arithmetic of a name, for a target.

    Raises
    ------
    InputError
        If either is unknown, or the target does not have this arithmetic.
    """
    if target not in TARGETS:
        raise InputError(f"target {target!r}: must be one of {', '.join(TARGETS)}")
    try:
        found = scalars.parse(name)
    except ValueError as error:
        raise InputError(str(error)) from None
    if target == TWIN and isinstance(found, scalars.Float64):
        raise InputError("target twin: the engine has no float64; take float32 or such as 5/10")
    wide = isinstance(found, scalars.BitExact) and not found.fmt.has_sincos
    if target == TWIN and wide:
        raise InputError(f"target twin: the engine has no sine for the format {name}")
    if target == NATIVE and wide:
        raise InputError(f"target native: no format wider than 8/23, such as {name}")
    return found


def _counted(
    watch: Callable[[int, int], None], batch: Sequence[Mapping[str, int]]
) -> Iterator[Mapping[str, int]]:
    """The rows of a batch, one after the other, while somebody watches."""
    for done, row in enumerate(batch):
        watch(done, len(batch))
        yield row


def _on_engine(engine: Call, batch: Iterator[Mapping[str, int]]) -> tuple[list[Any], int]:
    """Evaluate a batch on the engine's twin; a row that is not finite is None."""
    found: list[Any] = []
    flags, stopped = 0, True
    while stopped:
        results, twin = engine.on_twin(batch)
        stopped, flags = twin.stopped, flags | twin.flags
        found += [*results, None] if stopped else results
    return found, flags


def _on_model(
    kernel: Kernel | Chain, arithmetic: scalars.BitExact, batch: Iterator[Mapping[str, int]]
) -> tuple[list[Any], int]:
    found = []
    for row in batch:
        given = {name: arithmetic.scalar(bits) for name, bits in row.items()}
        results = _evaluated(kernel, arithmetic, given)
        found.append({name: x.bits for name, x in results.items()})
    return found, arithmetic.flags


# --- inputs ---------------------------------------------------------------------------------------


def _pushed(robot: Robot, function: str, table: Mapping[str, np.ndarray]) -> tuple[int, ...]:
    """Links on which a table has external wrenches; a function that has no use for them none."""
    found = [re.fullmatch(r"fext([0-9]{1,4})_[0-5]", name) for name in table]
    links = {int(match[1]) for match in found if match} if ALL[function].forces else set()
    for link in sorted(links & set(range(len(robot.links)))):
        part = robot.links[link].part
        if part is not None and not robot.links[link].has_body:
            body = link - part.index + len(CHAINS[part.kind]) - 1
            reason = f"on the {part.kind} joint {one_line(part.joint)} itself; its body is {body}"
            raise InputError(f"{function} of {robot.name}: fext{link}_0: a wrench {reason}")
    return tuple(sorted(links & set(range(len(robot.links)))))


def _checked(
    robot: Robot, function: str, table: Mapping[str, np.ndarray], external: Sequence[int]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """The kernel's inputs, and what is to be said of them."""
    names = input_columns(robot, function, external)
    missing = [name for name in names if name not in table]
    if missing:
        raise InputError(f"{function} of {robot.name}: missing columns {_some(missing)}")
    unknown = [name for name in table if name not in names]
    if unknown:
        raise InputError(f"{function} of {robot.name}: unknown columns {_some(unknown)}")
    given = {name: np.asarray(table[name], float).reshape(-1) for name in names}
    if len({len(x) for x in given.values()}) != 1:
        raise InputError(f"{function} of {robot.name}: columns differ in length")
    if not len(given[names[0]]):
        raise InputError(f"{function} of {robot.name}: no row")
    wrong = np.argwhere(~np.isfinite(list(given.values())))
    if len(wrong):
        column, row = wrong[0]
        name = names[column]
        value = float(given[name][row])
        raise RowError(f"row {row + 1}: {name} is {value!r}, must be finite")
    warnings = _unit_quaternions(robot, given)
    warnings += _open_loops(robot, given) if function in CONSTRAINED else []
    _symmetric(robot, function, given)
    return {name: given[name] for name in inputs(robot, function, external)}, warnings


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown}, ... ({len(names)} in all)"


def _unit_quaternions(robot: Robot, given: dict[str, np.ndarray]) -> list[str]:
    """Normalise quaternions: an error of a floating base's would be one of gravity."""
    warnings = []
    for place in robot.quaternions if "q0" in given else ():
        names = [f"q{k}" for k in place]
        entries = np.array([given[name] for name in names])
        if not entries.any(axis=0).all():
            row = int(np.argmin(entries.any(axis=0)))
            raise RowError(f"row {row + 1}: the quaternion {names[0]}..{names[-1]} is zero")
        _, exponent = np.frexp(np.abs(entries).max(axis=0))
        entries = np.ldexp(entries, -exponent)  # their squares are no longer 0 or infinite
        length = np.sqrt((entries**2).sum(axis=0))
        given.update(zip(names, entries / length, strict=True))
        with np.errstate(over="ignore"):
            length = np.ldexp(length, exponent)
        off = np.abs(length - 1)
        if off.max() > UNIT:
            which = "" if place == robot.quaternions[0] else f" {names[0]}..{names[-1]}"
            warnings.append(
                f"{_rows(off > UNIT)}: quaternions{which} differ from length 1 by up to "
                f"{off.max():.3g}; normalised"
            )
    return warnings


def _symmetric(robot: Robot, function: str, given: Mapping[str, np.ndarray]) -> None:
    """Refuse a matrix that is not symmetric: only its lower triangle is read."""
    for kind in set(ALL[function].takes) & set(SYMMETRIC):
        matrix = np.array([given[name] for name in columns(robot, kind)])
        matrix = matrix.reshape(robot.nv, robot.nv, -1)
        with np.errstate(over="ignore"):
            close = np.isclose(matrix, matrix.transpose(1, 0, 2), rtol=1e-6, atol=1e-9)
        for i, j, row in np.argwhere(~close):
            names = f"{kind}{j}_{i} and {kind}{i}_{j}"
            raise RowError(f"row {row + 1}: {names} differ, must be symmetric")


# --- outputs --------------------------------------------------------------------------------------


def full_table(robot: Robot, function: str, values: Mapping[str, np.ndarray], rows: int) -> Table:
    """Complete a kernel's outputs: mirrored where symmetric, zero where structure says so."""
    zero = np.zeros(rows)
    (kind, *_) = ALL[function].gives
    if kind in SYMMETRIC:
        n = range(robot.nv)
        pairs = {f"{kind}{i}_{j}": f"{kind}{max(i, j)}_{min(i, j)}" for i in n for j in n}
        return {name: values.get(lower, zero) for name, lower in pairs.items()}
    return {name: values.get(name, zero) for name in outputs(robot, function)}


def _angles(robot: Robot, fmt: Format, given: Mapping[str, np.ndarray]) -> Table:
    """Columns of the inputs that the hardware takes sine and cosine of."""
    turning = [
        f"q{own.start}"
        for own, link in zip(robot.coordinates, robot.links, strict=True)
        if own and link.kind in (REVOLUTE, HELICAL) and not link.by_quaternion
    ]
    return {name: given[name] for name in turning if name in given} if fmt.has_sincos else {}


def _spoiled(
    values: Table, exact: Table | None = None, angles: Mapping[str, np.ndarray] | None = None
) -> list[str]:
    """Warn of rows that are not finite, and of those that rounding has spoiled."""
    found = np.array(list(values.values()))
    finite = np.isfinite(found).all(axis=0)
    warnings = []
    without = {name: ~finite & (abs(x) >= ANGLE_LIMIT) for name, x in (angles or {}).items()}
    beyond = np.any([*without.values(), np.zeros_like(finite)], axis=0)
    if beyond.any():
        names = _some([name for name, rows in without.items() if rows.any()])
        ends = f"beyond 2^17 = {ANGLE_LIMIT:.0f} rad, where sine and cosine end"
        warnings.append(f"{_rows(beyond)}: a result is not a number, as {names} is {ends}")
    if not (finite | beyond).all():
        warnings.append(f"{_rows(~(finite | beyond))}: a result is infinite or not a number")
    if exact is not None:
        reference = np.array(list(exact.values()))
        largest = np.abs(reference).max(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            error = np.abs(found - reference).max(axis=0)
            spoiled = finite & (error > SPOILED * largest) & (error * ZERO < largest)
        if spoiled.any():
            share = (error[spoiled] / largest[spoiled]).max()
            warnings.append(
                f"{_rows(spoiled)}: rounding changes results by up to {share:.1%} of a row's "
                "largest; take a wider format"
            )
    return warnings


def _rows(chosen: np.ndarray) -> str:
    """Name rows, the first one 1."""
    numbers = [str(row + 1) for row in np.flatnonzero(chosen)]
    return f"row{'s' if len(numbers) > 1 else ''} {_some(numbers)}"


# --- files ----------------------------------------------------------------------------------------


def read_table(path: str | Path) -> Table:
    """Read a CSV file: a line of names, then one row a call.

    Raises
    ------
    InputError
        If the file cannot be read or makes no table; the message names file and line.
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.reader(file))
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: no table: {error}") from None
    rows = [(number, line) for number, line in enumerate(lines, 1) if line]
    if not rows:
        raise InputError(f"{path}: empty")
    names = [name.strip() for name in rows[0][1]]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"{path}: columns twice: {_some(sorted(twice))}")
    values = []
    for number, line in rows[1:]:
        if len(line) != len(names):
            raise InputError(f"{path}: line {number}: {len(line)} values under {len(names)} names")
        values.append([_number(path, number, *pair) for pair in zip(names, line, strict=True)])
    table = np.array(values, float).reshape(len(values), len(names))
    return {name: table[:, k] for k, name in enumerate(names)}


def _number(path: str | Path, line: int, name: str, text: str) -> float:
    try:
        return decimal(text)
    except ValueError:
        raise InputError(f"{path}: line {line}: {name} is {text!r}, must be a number") from None


def write_table(path: str | Path, table: Table) -> None:
    """Write a CSV file; numbers read back exactly."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as beside, beside.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(
                [repr(float(x)) for x in row] for row in zip(*table.values(), strict=True)
            )
    except OSError as error:
        raise cannot_write(path, error) from None


# --- random states --------------------------------------------------------------------------------


def random_states(robot: Robot, function: str, rows: int, seed: int) -> Table:
    """Draw inputs: joints, rates, accelerations and torques in -1..1, unit quaternions, steps.

    ``minv`` is the inverse of the mass matrix there, in float64. For constrained dynamics the
    states near these that keep the loops, and accelerations that random torques cause.

    Raises
    ------
    InputError
        If no state is found that keeps the loops.
    """
    rng = np.random.default_rng(seed)
    table = {
        name: rng.uniform(-1.0, 1.0, rows)
        for name in input_columns(robot, function)
        if not name.startswith("minv")
    }
    for place in robot.quaternions:
        quaternion = rng.normal(size=(4, rows))
        quaternion /= np.linalg.norm(quaternion, axis=0)
        table |= {f"q{k}": x for k, x in zip(place, quaternion, strict=True)}
    if function in CONSTRAINED:
        table |= _closed_states(robot, function, table, rng)
    if "h" in table:
        table["h"] = RANDOM_STEP * (1.0 + 0.5 * table["h"])
    if "minv" in ALL[function].takes:
        state = {name: table[name] for name in input_columns(robot, "Minv")}
        table |= call(robot, "Minv", state).table
    return table


def _closed_states(robot: Robot, function: str, table: Table, rng: np.random.Generator) -> Table:
    """States that keep the loops, near those of a table or others."""
    geometry = LoopGeometry(robot)
    q, qd = (np.array([table[name] for name in columns(robot, kind)]).T for kind in ("q", "qd"))
    for row in range(len(q)):
        for _ in range(CLOSING_TRIES):
            closed = geometry.closed(q[row])
            if closed is not None:
                break
            for place in single_coordinates(robot):
                q[row, place] = rng.uniform(-1.0, 1.0)
        else:
            raise InputError(f"{robot.name}: no posture found in which its loops close")
        q[row], qd[row] = closed, geometry.kept(closed, qd[row])
    found = dict(zip(columns(robot, "q"), q.T, strict=True))
    found |= dict(zip(columns(robot, "qd"), qd.T, strict=True))
    if "qdd" in ALL[function].takes:
        torques = {name: rng.uniform(-1.0, 1.0, len(q)) for name in columns(robot, "tau")}
        found |= call(robot, "FDc", found | torques).table
    return found


def _open_loops(robot: Robot, given: Mapping[str, np.ndarray]) -> list[str]:
    """Warn of the first rows whose states do not keep the loops."""
    geometry = LoopGeometry(robot)
    q, qd = (
        np.array([given[name] for name in columns(robot, kind)]).T[:ROWS_CLOSED]
        for kind in ("q", "qd")
    )
    off = np.zeros((2, len(q)))
    for row, (posture, rates) in enumerate(zip(q, qd, strict=True)):
        off[0, row] = np.abs(geometry.errors(posture)).max(initial=0.0)
        off[1, row] = np.abs(geometry.jacobian(posture) @ rates).max(initial=0.0)
    wrong = off.max(axis=0) > OPEN
    if not wrong.any():
        return []
    largest = off[:, wrong].max(axis=1)
    return [
        f"{_rows(wrong)}: the state does not keep the loops: off by up to {largest[0]:.3g} (m, "
        f"rad) and {largest[1]:.3g} (m/s, rad/s)"
    ]
