"""Scenario files: a :class:`~pymodel.mechanism.scenario.Scenario` written in TOML.

:func:`load` reads a file and :func:`parse` a dictionary of the same shape. Both return a frozen
``Scenario`` or raise ``ScenarioError``, whose text is one line that names file, key and reason.
Everything that makes no sense is refused here: nothing behind this module has to check it again.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pymodel.mechanism.checks import check_loops
from pymodel.mechanism.scenario import (
    GROUND,
    INTEGRATORS,
    Body,
    Loop,
    Scenario,
    ScenarioError,
    Vector,
)


def load(path: str | os.PathLike[str], steps: int | None = None) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or path-like
    steps : int, optional
        Number of steps of the run, instead of its ``end``.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If the file cannot be read, is not TOML, or makes no sense, or if ``steps`` is below 1.
    """
    source = _plain(os.fspath(path))
    try:
        data = tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise ScenarioError(source, "", f"cannot read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(source, "", f"not TOML: byte {error.start} is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise ScenarioError(source, "", f"not TOML: {_plain(str(error))}") from None
    scenario = parse(data, source)
    if steps is None:
        return scenario
    if steps < 1:
        raise ScenarioError(source, "steps", f"must be at least 1, got {steps}")
    return replace(scenario, end=steps * scenario.step)


def parse(data: dict[str, Any], source: str = "<scenario>") -> Scenario:
    """Build a scenario from the dictionary that a scenario file holds.

    Parameters
    ----------
    data : dict
    source : str
        Stands for the file in messages.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If the scenario makes no sense.
    """
    top = _Table(source, "", data, ("name", "gravity", "time", "body", "loop"))
    name = top.string("name")
    if not name.strip() or not name.isprintable():
        raise top.error("name", f"must be a line of printable text, got {name!r}")
    gravity = top.vector("gravity")
    time = top.table("time", ("step", "end", "integrator", "save"))
    step = time.positive("step")
    end = time.positive("end")
    if end < step:
        raise time.error("end", f"must be at least one step ({step!r} s), got {end!r}")
    if not math.isfinite(end / step):
        raise time.error("step", f"too small for an end of {end!r} s, got {step!r}")
    integrator = time.string("integrator", INTEGRATORS[0])
    if integrator not in INTEGRATORS:
        known = ", ".join(INTEGRATORS)
        raise time.error("integrator", f"must be one of {known}, got {_quote(integrator)}")
    save = time.integer("save", 1)
    if save < 1:
        raise time.error("save", f"must be 1 or more, got {save}")

    tables = top.tables("body", tuple(field.name for field in fields(Body)))
    if not tables:
        raise top.error("body", "no bodies: at least one [[body]] is required")
    parents = [
        _parent_of(table.value("parent", default), default)
        for default, table in enumerate(tables, start=-1)
    ]
    bodies: list[Body] = []
    for index, table in enumerate(tables):
        bodies.append(_body(table, index, bodies, parents))
    loop_keys = tuple(field.name for field in fields(Loop))
    loops = tuple(_loop(table, len(bodies)) for table in top.tables("loop", loop_keys))
    scenario = Scenario(
        name=name,
        gravity=gravity,
        step=step,
        end=end,
        integrator=integrator,
        save=save,
        bodies=tuple(bodies),
        loops=loops,
        source=source,
    )
    check_loops(scenario)
    return scenario


def _body(table: _Table, index: int, earlier: list[Body], parents: list[int]) -> Body:
    parent = table.integer("parent", index - 1)
    if parent < GROUND or parent >= len(parents):
        last = len(parents) - 1
        raise table.error("parent", f"no body {parent}: bodies are 0 to {last}, ground is -1")
    if parent >= index:
        cycle = _cycle(parents, index)
        if cycle:
            raise table.error("parent", f"cycle of parents: {' -> '.join(map(str, cycle))}")
        raise table.error("parent", f"must be an earlier body or -1 for ground, got {parent}")
    body = Body(
        mass=table.positive("mass"),
        inertia=table.positive("inertia"),
        com=table.vector("com"),
        tip=table.vector("tip"),
        parent=parent,
        attach=table.vector("attach", (0.0, 0.0) if parent == GROUND else earlier[parent].tip),
        **{
            key: table.number(key, 0.0)
            for key in ("q", "qd", "torque", "spring", "rest", "damping")
        },
    )
    return body


def _loop(table: _Table, count: int) -> Loop:
    body = table.integer("body")
    to = table.integer("to")
    for key, index, lowest in (("body", body, 0), ("to", to, GROUND)):
        if not lowest <= index < count:
            ground = ", ground is -1" if lowest == GROUND else ""
            raise table.error(key, f"no body {index}: bodies are 0 to {count - 1}{ground}")
    if body == to:
        raise table.error("to", f"a loop cannot join body {body} to itself")
    loop = Loop(body=body, point=table.vector("point"), to=to, at=table.vector("at"))
    return loop


def _parent_of(value: Any, default: int) -> int:
    """Parent index for following cycles; anything that is not an index is reported later."""
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


_KINDS = ((bool, "a boolean"), (int, "an integer"), (float, "a float"), (str, "a string"))
_MISSING = object()


def _kind(value: Any) -> str:
    """The TOML name of a value's type."""
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return name
    if isinstance(value, dict):
        return "a table"
    return "an array" if isinstance(value, list | tuple) else "a date or time"


class _Table:
    """One table of the file: refuses keys other than ``known``, gives typed access to the rest."""

    def __init__(
        self, source: str, path: str, data: dict[str, Any], known: tuple[str, ...]
    ) -> None:
        self.source = source
        self.path = path
        self.data = data
        for key in data:
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                hint = f", did you mean {_quote(close[0])}?" if close else ""
                raise self.error(key, f"unknown key{hint}")

    def error(self, key: str, reason: str) -> ScenarioError:
        shown = key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quote(key)
        return ScenarioError(self.source, f"{self.path}{shown}", reason)

    def value(self, key: str, default: Any = _MISSING) -> Any:
        if key in self.data:
            return self.data[key]
        if default is _MISSING:
            raise self.error(key, "required key is missing")
        return default

    def _number(self, key: str, value: Any, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"{what}, got {_kind(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.error(key, f"must be finite, got {number!r}")
        return number

    def number(self, key: str, default: Any = _MISSING) -> float:
        return self._number(key, self.value(key, default), "must be a number")

    def positive(self, key: str) -> float:
        number = self.number(key)
        if number <= 0.0:
            raise self.error(key, f"must be positive, got {number!r}")
        return number

    def integer(self, key: str, default: Any = _MISSING) -> int:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(key, f"must be an integer, got {_kind(value)}")
        return value

    def string(self, key: str, default: Any = _MISSING) -> str:
        value = self.value(key, default)
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, got {_kind(value)}")
        return value

    def vector(self, key: str, default: Any = _MISSING) -> Vector:
        value = self.value(key, default)
        what = "must be a vector of 2 numbers"
        if not isinstance(value, list | tuple):
            raise self.error(key, f"{what}, got {_kind(value)}")
        if len(value) != 2:
            raise self.error(key, f"{what}, got {len(value)}")
        x, y = (self._number(key, item, what) for item in value)
        return x, y

    def table(self, key: str, known: tuple[str, ...]) -> _Table:
        value = self.value(key)
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table [{key}], got {_kind(value)}")
        return _Table(self.source, f"{self.path}{key}.", value, known)

    def tables(self, key: str, known: tuple[str, ...]) -> list[_Table]:
        value = self.value(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, f"must be an array of tables [[{key}]], got {_kind(value)}")
        return [
            _Table(self.source, f"{self.path}{key}[{index}].", item, known)
            for index, item in enumerate(value)
        ]
