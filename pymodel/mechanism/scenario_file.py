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
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pymodel.mechanism import formula, schema
from pymodel.mechanism.checks import check_loops, check_springs
from pymodel.mechanism.closure import with_closed_loops
from pymodel.mechanism.redundancy import with_kept_rows
from pymodel.mechanism.scenario import (
    ADAPTIVE,
    FIXED,
    FREE,
    FREEDOMS,
    GROUND,
    GROUND_NAME,
    INTEGRATORS,
    JOINTS,
    LOOP_JOINTS,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Loop,
    Scenario,
    ScenarioError,
    Spring,
    Table,
    Vector,
    inertia_matrix,
)

MAX_STEPS = 2**32 - 2  # the step engine counts them, and one evaluation more, in 32 bits
OF_SPRINGS_ALONE = ("stiffness", "length")  # keys that bodies and loops do not have
MAX_TABLE = 1000  # times of a torque that is a table
LONGEST_SHOWN = 100  # characters of a file's text in a message
# Relative deviation of the end of a run from whole steps that passes for rounding.
END_TOLERANCE = 1e-9
# A quaternion or an axis whose length is that near to 1 is left as it is, so that what was written
# is read again bit for bit.
UNIT_ROUNDING = 1e-15
FIXED_KEYS = ("name", "joint", "axis", "rotation")  # that :func:`varied` leaves alone
LOOP_ENDS = ("body", "point", "to", "at")  # keys that say what a loop joins
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
    top = _Table(source, "", without_arrays(data), schema.SCENARIO)
    name = top.get("name")
    if not name.strip() or not name.isprintable():
        raise top.error("name", f"must be a line of printable text, got {_short(repr(name))}")
    gravity = top.gravity()
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
    parents = []
    for index, table in enumerate(tables):
        default = _default_parent(index, table)
        parents.append(_parent_of(numbers, table.value("parent", default), default))
    bodies: list[Body] = []
    for index, table in enumerate(tables):
        bodies.append(_body(table, index, bodies, parents))
    count = len(bodies)
    loops = tuple(_loop(table, count) for table in top.tables("loop", schema.LOOP, numbers))
    springs = tuple(
        Spring(**_between(table, count, "spring", table.keys))
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
    scenario = with_kept_rows(scenario)
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
        By the file's keys. Of bodies (``mass``, ``torque``, ...) shape (n,), or (n, d) of the
        vectors ``com``, ``tip`` and ``attach``, d being 2 in the plane and 3 in space; one value
        stands for all bodies. A ``torque`` may be a formula or a table in time, as in a file. Of
        joints ``q``, (nq,), and ``qd``, (nv,). Of loops ``point`` and ``at``, (loops, d). Of
        springs between points ``stiffness`` and ``length``, (springs,). Of the whole ``gravity``,
        (d,), ``step``, ``end``, ``integrator``, ``tolerance``, ``save`` and ``name``. Units are
        those of the file. Pins stay where ``attach`` says, also where a ``tip`` changes.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If there is no such key, nothing in the mechanism has it, an array has another shape, or the
        scenario cannot be run; also if it is no scenario.
    """
    data = _tables(scenario)
    plain = [key for key in schema.BODY if key.name not in FIXED_KEYS]
    homes = {key.name: (key, data["body"]) for key in plain}
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
            _spread(scenario, *homes[name], value)
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
    ScenarioError
        If it is no scenario.
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


def _toml(value: str | float | Vector | dict[str, Any]) -> str:
    """A value as TOML: JSON writes it in the same way, but for tables."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_toml(x)}' for name, x in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _tables(scenario: Scenario) -> dict[str, Any]:
    """The dictionary of a scenario's file, all keys given."""
    if not isinstance(scenario, Scenario):
        reason = f"must be a Scenario, as pymodel.load makes one, got {type(scenario).__name__}"
        raise ScenarioError("<scenario>", "", reason)
    fields = asdict(scenario)
    for loop in fields["loops"]:
        del loop["kept"]  # it follows from the rest
    for name in ("bodies", "loops"):
        fields[name] = [_given(table) for table in fields[name]]
    return {
        "name": scenario.name,
        "gravity": scenario.gravity,
        "time": {k.name: fields[k.name] for k in schema.TIME if fields[k.name] is not None},
        "body": fields["bodies"],
        "loop": fields["loops"],
        "spring": fields["springs"],
    }


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """The keys of a body or a loop that a file may give: a joint has not all of them."""
    joint = fields["joint"]
    absent = {name for name, value in fields.items() if value is None}
    if joint == FIXED:
        absent |= {"q", "qd", "guess"}
    if joint == FREE:
        absent.add("attach")
    if joint in (FIXED, SPHERICAL, FREE):
        absent |= {"torque", "spring", "rest", "damping"}
    return {name: value for name, value in fields.items() if name not in absent}


def _spread(
    scenario: Scenario, key: schema.Key, tables: list[dict[str, Any]], value: ArrayLike
) -> None:
    """Give each table its own value of a key."""
    dimension, count = len(scenario.gravity), len(tables)
    if key.kind == "coordinates":
        sizes, own = [size.q for size in scenario.freedoms], ()
    elif key.kind == "velocities":
        sizes, own = [size.v for size in scenario.freedoms], ()
    else:
        sizes, own = [1] * count, (dimension,) if key.kind == "vector" else ()
        if key.kind == "inertia" and scenario.spatial:
            own = (6,)
    shape = (sum(sizes), *own)
    if not sum(sizes) and np.asarray(value, dtype=object).size:
        raise ScenarioError(scenario.source, key.name, "nothing in this mechanism has it")
    try:
        rows = np.broadcast_to(np.asarray(value, dtype=object), shape).tolist()
    except ValueError:
        reason = f"must have the shape {shape} or {own}, got {np.shape(value)}"
        raise ScenarioError(scenario.source, key.name, reason) from None
    for table, size in zip(tables, sizes, strict=True):
        mine, rows = rows[:size], rows[size:]
        if size:
            table[key.name] = mine[0] if size == 1 else mine


def without_arrays(value: Any) -> Any:
    """A copy with Python's numbers and lists in place of numpy's, and of tuples."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: without_arrays(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_arrays(item) for item in value]
    return value


def _default_parent(index: int, table: _Table) -> int:
    return GROUND if table.data.get("joint") == FREE else index - 1


def _body(table: _Table, index: int, earlier: list[Body], parents: list[int]) -> Body:
    parent = table.get("parent", _default_parent(index, table))
    if parent < GROUND or parent >= len(parents):
        last = len(parents) - 1
        raise table.error("parent", f"no body {parent}: bodies are 0 to {last}, ground is -1")
    if parent >= index:
        cycle = _cycle(parents, index)
        if cycle:
            raise table.error("parent", f"cycle of parents: {' -> '.join(map(str, cycle))}")
        raise table.error("parent", f"must be an earlier body or -1 for ground, got {parent}")
    origin = (0.0,) * table.dimension
    attach = table.get("attach", origin if parent == GROUND else earlier[parent].tip)
    joint = _joint(table, JOINTS)
    if joint == FREE and parent != GROUND:
        raise table.error("parent", "a free body hangs on nothing: its parent must be the ground")
    size = FREEDOMS[joint, table.spatial]
    one = ("torque", "spring", "rest", "damping")
    without = {FIXED: ("q", "qd", "guess", *one), SPHERICAL: one, FREE: ("attach", *one)}
    table.refuse(without.get(joint, ()), f"a {joint} joint has none")
    plain = {
        key.name: table.get(key.name)
        for key in schema.BODY
        if key.default is not schema.Default.COMPUTED and key.name != "joint"
    }
    return Body(
        parent=parent,
        attach=attach,
        joint=joint,
        axis=_axis(table, "axis", joint == PRISMATIC or (joint == REVOLUTE and table.spatial)),
        rotation=table.get("rotation", (0.0,) * 3 if table.spatial else 0.0),
        q=_coordinates(table, joint, size.q),
        qd=table.numbers_of("qd", size.v, 0.0 if size.v <= 1 else (0.0,) * size.v),
        **plain,
    )


def _joint(table: _Table, known: tuple[str, ...]) -> str:
    joint = table.get("joint")
    known = [name for name in known if table.spatial or name != SPHERICAL]
    if joint not in known:
        raise table.error("joint", f"must be one of {', '.join(known)}, got {_quote(joint)}")
    return joint


def _axis(table: _Table, key: str, needed: bool) -> Vector | None:
    if needed:
        if key not in table.data:
            raise table.error(key, "required key is missing")
        return table.get(key)
    table.refuse((key,), "this joint has none")
    return None


def _coordinates(table: _Table, joint: str, count: int) -> float | tuple[float, ...]:
    """Initial coordinates; a quaternion's length is made 1."""
    if count <= 1:
        return table.numbers_of("q", count, 0.0)
    turns = table.spatial and joint in (SPHERICAL, FREE)
    values = table.numbers_of("q", count, (*(0.0,) * (count - 1), 1.0 if turns else 0.0))
    if not turns:
        return values
    quaternion = values[-4:]
    length = math.hypot(*quaternion)
    if not 0.0 < length < math.inf:
        raise table.error("q", "its quaternion must not be zero")
    if abs(length - 1.0) > UNIT_ROUNDING:
        quaternion = tuple(x / length for x in quaternion)
    return (*values[:-4], *quaternion)


def _loop(table: _Table, count: int) -> Loop:
    """A loop, with its axes if it is a hinge in space."""
    values = _between(table, count, "loop", [key for key in table.keys if key in LOOP_ENDS])
    joint = _joint(table, LOOP_JOINTS)
    hinge = joint == REVOLUTE and table.spatial
    axes = {key: _axis(table, key, hinge) for key in ("axis", "to_axis")}
    return Loop(**values, joint=joint, **axes)


def _between(table: _Table, count: int, what: str, keys: Iterable[str]) -> dict[str, Any]:
    """The values of a table that joins points of two bodies, or of a body and the ground."""
    values = {key: table.get(key) for key in keys}
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
            reason = f"must be a line of printable text, got {_short(repr(name))}"
            raise table.error("name", reason)
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
    """Text of a file in a message, its beginning if it is long."""
    return f'"{_short(_plain(text))}"'


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


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
        dimension: int = 2,
    ) -> None:
        self.source = source
        self.numbers = numbers or {}  # of bodies, by their names
        self.dimension = dimension  # 2 in the plane, 3 in space
        self.path = path
        self.data = data
        self.keys = {key.name: key for key in keys}
        for key in map(str, data):
            if key not in self.keys:
                close = difflib.get_close_matches(key, self.keys, n=1)
                hint = f", did you mean {_quote(close[0])}?" if close else ""
                raise self.error(key, f"unknown key{hint} (known: {', '.join(self.keys)})")

    def error(self, key: str, reason: str) -> ScenarioError:
        shown = _short(key) if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quote(key)
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
            "unit": self._unit,
            "inertia": self._inertia,
            "rotation": self._rotation,
            "numbers": self._array,
            "torque": self._torque,
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
            _Table(self.source, f"{self.path}{key}[{index}].", item, keys, numbers, self.dimension)
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
            known = _short(", ".join(map(_quote, self.numbers)))
            raise self.error(key, f"no body is called {_quote(value)} (names: {known})")
        return self.numbers[value]

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, got {_kind(value)}")
        return value

    def _torque(self, key: str, value: Any) -> float | str | Table:
        if isinstance(value, str):
            return self._formula(key, value.strip())
        if isinstance(value, dict):
            return self._table_in_time(key, value)
        return self._finite(key, value, "must be a number, a formula or a table in time")

    def _formula(self, key: str, text: str) -> float | str:
        """A formula that depends on time, or the number that another one is."""
        try:
            tree = formula.parse(text)
        except formula.FormulaError as error:
            raise self.error(key, str(error)) from None
        if isinstance(tree, float):
            return tree
        if not math.isfinite(formula.value(tree, 0.0)):
            raise self.error(key, "the formula is not finite at t = 0")
        return text

    def _table_in_time(self, key: str, value: dict[str, Any]) -> Table:
        """A table in time."""
        table = _Table(self.source, f"{self.path}{key}.", value, schema.TORQUE)
        times, values = table.get("times"), table.get("values")
        if not 2 <= len(times) <= MAX_TABLE:
            raise table.error("times", f"must be 2 to {MAX_TABLE} times, got {len(times)}")
        if times[0] < 0.0 or any(b <= a for a, b in pairwise(times)):
            raise table.error("times", "must ascend from 0 or later")
        if len(values) != len(times):
            reason = f"must be one for each time, {len(times)}, got {len(values)}"
            raise table.error("values", reason)
        slopes = ((y - x) / (b - a) for (a, x), (b, y) in pairwise(zip(times, values, strict=True)))
        if not all(map(math.isfinite, (1.0 / times[-1], *slopes))):
            raise table.error("times", "are too close together")
        return Table(times, values)

    def _array(self, key: str, value: Any) -> tuple[float, ...]:
        what = "must be an array of numbers"
        if not isinstance(value, list | tuple):
            raise self.error(key, f"{what}, got {_kind(value)}")
        return tuple(self._finite(key, x, what) for x in value)

    def _vector(self, key: str, value: Any) -> Vector:
        return self._list(key, value, "a vector of", self.dimension)

    def _list(self, key: str, value: Any, what: str, *lengths: int) -> tuple[float, ...]:
        what = f"must be {what} {' or '.join(map(str, lengths))} numbers"
        if not isinstance(value, list | tuple):
            raise self.error(key, f"{what}, got {_kind(value)}")
        if len(value) not in lengths:
            raise self.error(key, f"{what}, got {len(value)}")
        return tuple(self._finite(key, item, what) for item in value)

    def _unit(self, key: str, value: Any) -> Vector:
        vector = self._vector(key, value)
        length = math.hypot(*vector)
        if not 0.0 < length < math.inf:
            raise self.error(key, "must have a direction")
        if abs(length - 1.0) <= UNIT_ROUNDING:
            return vector
        return tuple(x / length for x in vector)

    def _inertia(self, key: str, value: Any) -> float | tuple[float, ...]:
        if not self.spatial:
            if isinstance(value, list):  # of a mechanism that is meant to be spatial
                raise self.error(key, "must be a number: a gravity of two numbers is planar")
            return self._positive(key, value)
        moments = self._list(key, value, "a list of", 3, 6)
        if len(moments) == 3:
            xx, yy, zz = moments
            moments = (xx, 0.0, 0.0, yy, 0.0, zz)
        if not np.linalg.eigvalsh(inertia_matrix(moments))[0] > 0.0:
            raise self.error(key, "must be positive definite")
        return moments

    def _rotation(self, key: str, value: Any) -> float | tuple[float, ...]:
        if self.spatial:
            return self._list(key, value, "roll, pitch and yaw:", 3)
        return self._number(key, value)

    @property
    def spatial(self) -> bool:
        """Whether the mechanism is."""
        return self.dimension == 3

    def gravity(self) -> Vector:
        """The gravity; from then on vectors have as many components."""
        value = self.value("gravity")
        gravity = self._list("gravity", value, "a vector of", 2, 3)
        self.dimension = len(gravity)
        return gravity

    def numbers_of(self, key: str, count: int, default: Any) -> float | tuple[float, ...]:
        """As many numbers as a joint has coordinates or velocities."""
        value = self.value(key, default)
        if count <= 1:
            return self._number(key, value)
        return self._list(key, value, "a list of", count)

    def refuse(self, keys: Iterable[str], reason: str) -> None:
        """Refuse keys that would have no effect."""
        for key in keys:
            if key in self.data:
                raise self.error(key, reason)
