"""Scenario files: a :class:`~pymodel.mechanism.scenario.Scenario` written in TOML.

:func:`load` reads a file or a dictionary of the same shape, and :func:`varied` changes numbers of a
scenario. All return a frozen ``Scenario`` or raise ``ScenarioError``, whose text is one line that
names file, key and reason. What cannot be run is refused here: nothing behind this module has to
check it again.
"""

from __future__ import annotations

import datetime
import difflib
import json
import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pymodel.mechanism import schema
from pymodel.mechanism.checks import check_loops, check_springs
from pymodel.mechanism.closure import with_closed_loops
from pymodel.mechanism.scenario import (
    ADAPTIVE,
    GROUND,
    GROUND_NAME,
    INTEGRATORS,
    Body,
    Loop,
    Scenario,
    ScenarioError,
    Spring,
    Vector,
)

MAX_STEPS = 2**32 - 2  # the step engine counts them, and one evaluation more, in 32 bits
OF_SPRINGS_ALONE = ("stiffness", "length")  # keys that bodies and loops do not have
# Relative deviation of the end of a run from whole steps that passes for rounding.
END_TOLERANCE = 1e-9
TOLERANCES = (1e-13, 0.1)  # of adaptive integrators, least and greatest


def load(source: str | os.PathLike[str] | Mapping[str, Any], steps: int | None = None) -> Scenario:
    """Read a scenario from its file, or from a dictionary that holds the same.

    Parameters
    ----------
    source : str, path-like or dict
    steps : int, optional
        Number of steps of the run, instead of its ``end``.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        As for :func:`read` and :func:`parse`.
    """
    if isinstance(source, str | os.PathLike):
        return parse(read(source), os.fspath(source), steps)
    return parse(source, steps=steps)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the dictionary that a scenario file holds, for :func:`parse`.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    dict

    Raises
    ------
    ScenarioError
        If the file cannot be read, or is not TOML.
    """
    source = _plain(os.fspath(path))
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise ScenarioError(source, "", f"cannot read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(source, "", f"not TOML: byte {error.start} is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise ScenarioError(source, "", f"not TOML: {_plain(str(error))}") from None


def parse(
    data: Mapping[str, Any], source: str = "<scenario>", steps: int | None = None
) -> Scenario:
    """Build a scenario from the dictionary that a scenario file holds.

    Parameters
    ----------
    data : dict
        Keys as in the file; numpy's numbers and arrays count as numbers and lists.
    source : str
        Stands for the file in messages.
    steps : int, optional
        Number of steps of the run, instead of its ``end``.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If the scenario cannot be run, or if ``steps`` is not a whole number of 1 to
        :data:`MAX_STEPS`.
    """
    source = _plain(source)
    if not isinstance(data, Mapping):
        raise ScenarioError(source, "", f"must be a table, got {_kind(data)}")
    top = _Table(source, "", _without_arrays(data), schema.SCENARIO)
    name = top.get("name")
    if not name.strip() or not name.isprintable():
        raise top.error("name", f"must be a line of printable text, got {name!r}")
    gravity = top.get("gravity")
    time = top.table("time", schema.TIME)
    step = time.get("step")
    end = time.get("end")
    if end < step:
        raise time.error("end", f"must be at least one step ({step!r} s), got {end!r}")
    if end / step > MAX_STEPS:
        raise time.error("step", f"too small for an end of {end!r} s, got {step!r}")
    nearest = round(end / step)
    if not math.isclose(nearest * step, end, rel_tol=END_TOLERANCE):
        below = math.floor(end / step) * step
        near = f"{below:.12g} or {below + step:.12g}"
        raise time.error("end", f"must be a multiple of the step ({step!r} s): {near}, got {end!r}")
    integrator = time.get("integrator")
    known = (*INTEGRATORS, *ADAPTIVE)
    if integrator not in known:
        reason = f"must be one of {', '.join(known)}, got {_quote(integrator)}"
        raise time.error("integrator", reason)
    tolerance = _tolerance(time, integrator)
    save = time.get("save")
    if not 1 <= save <= MAX_STEPS:
        raise time.error("save", f"must lie in 1..{MAX_STEPS}, got {save}")

    tables = top.tables("body", schema.BODY)
    if not tables:
        raise top.error("body", "no bodies: at least one [[body]] is required")
    numbers = _numbers(tables)
    for table in tables:
        table.numbers = numbers
    parents = [
        _parent_of(numbers, table.value("parent", default), default)
        for default, table in enumerate(tables, start=-1)
    ]
    bodies: list[Body] = []
    for index, table in enumerate(tables):
        bodies.append(_body(table, index, bodies, parents))
    count = len(bodies)
    loops = tuple(
        Loop(**_between(table, count, "loop")) for table in top.tables("loop", schema.LOOP, numbers)
    )
    springs = tuple(
        Spring(**_between(table, count, "spring"))
        for table in top.tables("spring", schema.SPRING, numbers)
    )
    scenario = Scenario(
        name=name,
        gravity=gravity,
        step=step,
        end=end,
        integrator=integrator,
        save=save,
        tolerance=tolerance,
        bodies=tuple(bodies),
        loops=loops,
        springs=springs,
        source=source,
    )
    scenario = with_closed_loops(scenario)
    check_loops(scenario)
    check_springs(scenario)
    if steps is None:
        return scenario
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
        raise ScenarioError(source, "steps", f"must be an integer, got {steps!r}")
    if not 1 <= steps <= MAX_STEPS:
        raise ScenarioError(source, "steps", f"must lie in 1..{MAX_STEPS}, got {steps}")
    return replace(scenario, end=int(steps) * scenario.step)


def _tolerance(time: _Table, integrator: str) -> float | None:
    if "tolerance" not in time.data:
        return None
    if integrator not in ADAPTIVE:
        known = ", ".join(ADAPTIVE)
        raise time.error("tolerance", f"only for an adaptive integrator ({known})")
    tolerance = time.get("tolerance")
    lowest, highest = TOLERANCES
    if not lowest <= tolerance <= highest:
        raise time.error("tolerance", f"must lie in {lowest:g}..{highest:g}, got {tolerance!r}")
    return tolerance


def varied(scenario: Scenario, **values: ArrayLike) -> Scenario:
    """Change numbers of a scenario, as if they stood in its file.

    Parameters
    ----------
    scenario : Scenario
    **values
        By the file's keys. Of bodies (``q``, ``qd``, ``mass``, ``torque``, ...) shape (n,), or
        (n, 2) of the vectors ``com``, ``tip`` and ``attach``; one value stands for all bodies. Of
        loops ``point`` and ``at``, (loops, 2). Of springs between points ``stiffness`` and
        ``length``, (springs,). Of the whole ``gravity``, (2,), ``step``, ``end``,
        ``integrator``, ``tolerance``, ``save`` and ``name``. Units are those of the file. Pins stay
        where ``attach`` says, also where a ``tip`` changes.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If there is no such key, an array has another shape, or the scenario cannot be run.
    """
    data = _tables(scenario)
    homes = {key.name: (key, data["body"]) for key in schema.BODY if key.name != "name"}
    homes |= {key.name: (key, data["loop"]) for key in schema.LOOP if key.kind == "vector"}
    homes |= {
        key.name: (key, data["spring"]) for key in schema.SPRING if key.name in OF_SPRINGS_ALONE
    }
    top = [key.name for key in schema.SCENARIO if not key.kind.startswith("table")]
    times = [key.name for key in schema.TIME]
    for name, value in values.items():
        if name in top:
            data[name] = value
        elif name in times:
            data["time"][name] = value
        elif name in homes:
            _spread(scenario.source, *homes[name], value)
        else:
            known = ", ".join((*top, *times, *homes))
            raise ScenarioError(scenario.source, name, f"unknown key (known: {known})")
    return parse(data, scenario.source)


def write_scenario(path: str | os.PathLike[str], scenario: Scenario) -> None:
    """Write a scenario's file; :func:`load` makes the same scenario of it, bit for bit.

    Parameters
    ----------
    path : str or path-like
    scenario : Scenario

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    data = _tables(scenario)
    parts = [
        (f"[[{name}]]", table) for name in ("body", "loop", "spring") for table in data.pop(name)
    ]
    parts = [("[time]", data.pop("time")), *parts]
    parts = [("", data), *parts]
    lines = []
    for heading, table in parts:
        lines += ["", heading] if heading else []
        lines += [f"{name} = {_toml(value)}" for name, value in table.items()]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: str | float | Vector) -> str:
    """A value as TOML: JSON writes it in the same way."""
    return json.dumps(value, ensure_ascii=False)


def _tables(scenario: Scenario) -> dict[str, Any]:
    """The dictionary of a scenario's file, all keys given."""
    fields = asdict(scenario)
    return {
        "name": scenario.name,
        "gravity": scenario.gravity,
        "time": {k.name: fields[k.name] for k in schema.TIME if fields[k.name] is not None},
        "body": fields["bodies"],
        "loop": fields["loops"],
        "spring": fields["springs"],
    }


def _spread(source: str, key: schema.Key, tables: list[dict[str, Any]], value: ArrayLike) -> None:
    """Give each table its own value of a key."""
    own = (2,) if key.kind == "vector" else ()
    shape = (len(tables), *own)
    try:
        rows = np.broadcast_to(np.asarray(value, dtype=object), shape)
    except ValueError:
        reason = f"must have the shape {shape} or {own}, got {np.shape(value)}"
        raise ScenarioError(source, key.name, reason) from None
    for table, row in zip(tables, rows.tolist(), strict=True):
        table[key.name] = row


def _without_arrays(value: Any) -> Any:
    """The same with Python's numbers and lists in place of numpy's."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: _without_arrays(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(item) for item in value]
    return value


def _body(table: _Table, index: int, earlier: list[Body], parents: list[int]) -> Body:
    parent = table.get("parent", index - 1)
    if parent < GROUND or parent >= len(parents):
        last = len(parents) - 1
        raise table.error("parent", f"no body {parent}: bodies are 0 to {last}, ground is -1")
    if parent >= index:
        cycle = _cycle(parents, index)
        if cycle:
            raise table.error("parent", f"cycle of parents: {' -> '.join(map(str, cycle))}")
        raise table.error("parent", f"must be an earlier body or -1 for ground, got {parent}")
    attach = table.get("attach", (0.0, 0.0) if parent == GROUND else earlier[parent].tip)
    plain = {
        key.name: table.get(key.name)
        for key in schema.BODY
        if key.default is not schema.Default.COMPUTED
    }
    return Body(parent=parent, attach=attach, **plain)


def _between(table: _Table, count: int, what: str) -> dict[str, Any]:
    """The values of a table that joins points of two bodies, or of a body and the ground."""
    values = {key: table.get(key) for key in table.keys}
    body, to = values["body"], values["to"]
    for key, lowest in (("body", 0), ("to", GROUND)):
        if not lowest <= values[key] < count:
            ground = ", ground is -1" if lowest == GROUND else ""
            reason = f"no body {values[key]}: bodies are 0 to {count - 1}{ground}"
            raise table.error(key, reason)
    if body == to:
        raise table.error("to", f"a {what} cannot join body {body} to itself")
    return values


def _numbers(tables: list[_Table]) -> dict[str, int]:
    """Name -> number of the ground and of all bodies that have a name."""
    numbers = {GROUND_NAME: GROUND}
    for index, table in enumerate(tables):
        name = table.get("name")
        if not name:
            continue
        if not name.strip() or not name.isprintable():
            raise table.error("name", f"must be a line of printable text, got {name!r}")
        if name in numbers:
            owner = "the ground" if numbers[name] == GROUND else f"body {numbers[name]}"
            raise table.error("name", f"{_quote(name)} is the name of {owner}")
        numbers[name] = index
    return numbers


def _parent_of(numbers: Mapping[str, int], value: Any, default: int) -> int:
    """Parent index for following cycles; anything that is not an index is reported later."""
    if isinstance(value, str):
        return numbers.get(value, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _cycle(parents: list[int], start: int) -> list[int]:
    """Follow parents from ``start`` back to it; an empty list if it lies on no cycle."""
    path = [start]
    while 0 <= parents[path[-1]] < len(parents) and len(path) <= len(parents):
        path.append(parents[path[-1]])
        if path[-1] == start:
            return path
    return []


def _plain(text: str) -> str:
    """Make text one printable line."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def _quote(text: str) -> str:
    return f'"{_plain(text)}"'


_KINDS = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a float"),
    (str, "a string"),
    (dict, "a table"),
    ((list, tuple), "an array"),
    ((datetime.date, datetime.time), "a date or time"),
)


def _kind(value: Any) -> str:
    """The TOML name of a value's type; the Python name of another one."""
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return name
    return type(value).__name__


class _Table:
    """One table of the file, read by the keys of its schema; it has no others."""

    def __init__(
        self,
        source: str,
        path: str,
        data: dict[str, Any],
        keys: tuple[schema.Key, ...],
        numbers: Mapping[str, int] | None = None,
    ) -> None:
        self.source = source
        self.numbers = numbers or {}  # of bodies, by their names
        self.path = path
        self.data = data
        self.keys = {key.name: key for key in keys}
        for key in map(str, data):
            if key not in self.keys:
                close = difflib.get_close_matches(key, self.keys, n=1)
                hint = f", did you mean {_quote(close[0])}?" if close else ""
                raise self.error(key, f"unknown key{hint} (known: {', '.join(self.keys)})")

    def error(self, key: str, reason: str) -> ScenarioError:
        shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quote(key)
        return ScenarioError(self.source, f"{self.path}{shown}", reason)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, of the kind that the schema says; ``default`` if it is computed."""
        read = {
            "string": self._string,
            "number": self._number,
            "positive": self._positive,
            "nonnegative": self._nonnegative,
            "integer": self._integer,
            "boolean": self._boolean,
            "body": self._body,
            "vector": self._vector,
        }[self.keys[key].kind]
        return read(key, self.value(key, default))

    def value(self, key: str, default: Any = None) -> Any:
        """The value of a key as it stands in the file, or its default."""
        if key in self.data:
            return self.data[key]
        known = self.keys[key].default
        if known is schema.Default.REQUIRED:
            raise self.error(key, "required key is missing")
        return default if known is schema.Default.COMPUTED else known

    def table(self, key: str, keys: tuple[schema.Key, ...]) -> _Table:
        value = self.value(key)
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table [{key}], got {_kind(value)}")
        return _Table(self.source, f"{self.path}{key}.", value, keys)

    def tables(
        self,
        key: str,
        keys: tuple[schema.Key, ...],
        numbers: Mapping[str, int] | None = None,
    ) -> list[_Table]:
        value = self.value(key)
        whole = isinstance(value, list | tuple) and all(isinstance(item, dict) for item in value)
        if not whole:
            raise self.error(key, f"must be an array of tables [[{key}]], got {_kind(value)}")
        return [
            _Table(self.source, f"{self.path}{key}[{index}].", item, keys, numbers)
            for index, item in enumerate(value)
        ]

    def _finite(self, key: str, value: Any, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"{what}, got {_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf if value > 0 else -math.inf
        if not math.isfinite(number):
            raise self.error(key, f"must be finite, got {number!r}")
        return number

    def _number(self, key: str, value: Any) -> float:
        return self._finite(key, value, "must be a number")

    def _positive(self, key: str, value: Any) -> float:
        number = self._number(key, value)
        if number <= 0.0:
            raise self.error(key, f"must be positive, got {number!r}")
        return number

    def _nonnegative(self, key: str, value: Any) -> float:
        number = self._number(key, value)
        if number < 0.0:
            raise self.error(key, f"must not be negative, got {number!r}")
        return number

    def _integer(self, key: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(key, f"must be an integer, got {_kind(value)}")
        return value

    def _boolean(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, got {_kind(value)}")
        return value

    def _body(self, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise self.error(key, f"must be the name or the number of a body, got {_kind(value)}")
        if value not in self.numbers:
            known = ", ".join(map(_quote, self.numbers))
            raise self.error(key, f"no body is called {_quote(value)} (names: {known})")
        return self.numbers[value]

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, got {_kind(value)}")
        return value

    def _vector(self, key: str, value: Any) -> Vector:
        what = "must be a vector of 2 numbers"
        if not isinstance(value, list | tuple):
            raise self.error(key, f"{what}, got {_kind(value)}")
        if len(value) != 2:
            raise self.error(key, f"{what}, got {len(value)}")
        x, y = (self._finite(key, item, what) for item in value)
        return x, y
