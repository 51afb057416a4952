"""One table of a scenario file: its values, each of the kind that the schema says.

What is wrong with one raises a ``ScenarioError``, whose text is one line that names file, key and
reason.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from pymodel.arith.meant import meant
from pymodel.mechanism import formula, schema
from pymodel.mechanism.moments import least
from pymodel.mechanism.motions import finite
from pymodel.mechanism.scenario import (
    ENDS,
    Curve,
    Mimic,
    ScenarioError,
    Table,
    Vector,
    inertia_matrix,
)

MAX_TABLE = 1000  # times of a torque that is a table
LONGEST_SHOWN = 100  # characters of a file's text in a message
# A quaternion or an axis whose length is that near to 1 is left as it is, so that what was written
# is read again bit for bit.
UNIT_ROUNDING = 1e-15


def printable(text: str) -> str:
    """Make text one printable line."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")


def quote(text: str) -> str:
    """Text of a file in a message, its beginning if it is long."""
    return f'"{short(printable(text))}"'


def short(text: str) -> str:
    """The text, or its beginning and dots."""
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


def kind_of(value: Any) -> str:
    """The TOML name of a value's type; the Python name of another one."""
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return name
    return type(value).__name__


class FileTable:
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
                close = meant(key, self.keys)
                hint = f", did you mean {quote(close)}?" if close else ""
                raise self.error(key, f"unknown key{hint} (known: {', '.join(self.keys)})")

    def error(self, key: str, reason: str) -> ScenarioError:
        """What is raised for a key of this table."""
        shown = short(key) if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quote(key)
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
            "motion": self._motion,
            "mimic": self._mimic,
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

    def table(self, key: str, keys: tuple[schema.Key, ...]) -> FileTable:
        """The table that stands in this one."""
        value = self.value(key)
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table [{key}], got {kind_of(value)}")
        return FileTable(self.source, f"{self.path}{key}.", value, keys)

    def tables(
        self,
        key: str,
        keys: tuple[schema.Key, ...],
        numbers: Mapping[str, int] | None = None,
    ) -> list[FileTable]:
        """The tables of an array that stands in this one."""
        value = self.value(key)
        whole = isinstance(value, list | tuple) and all(isinstance(item, dict) for item in value)
        if not whole:
            raise self.error(key, f"must be an array of tables [[{key}]], got {kind_of(value)}")
        return [
            FileTable(
                self.source, f"{self.path}{key}[{index}].", item, keys, numbers, self.dimension
            )
            for index, item in enumerate(value)
        ]

    def _finite(self, key: str, value: Any, what: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(key, f"{what}, got {kind_of(value)}")
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
            raise self.error(key, f"must be an integer, got {kind_of(value)}")
        return value

    def _boolean(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false, got {kind_of(value)}")
        return value

    def _body(self, key: str, value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if not isinstance(value, str):
            raise self.error(key, f"must be the name or the number of a body, got {kind_of(value)}")
        if value not in self.numbers:
            known = short(", ".join(map(quote, self.numbers)))
            raise self.error(key, f"no body is called {quote(value)} (names: {known})")
        return self.numbers[value]

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self.error(key, f"must be a string, got {kind_of(value)}")
        return value

    def _torque(self, key: str, value: Any) -> float | str | Table:
        if isinstance(value, str):
            return self._formula(key, value.strip())
        if isinstance(value, dict):
            return self._table_in_time(key, value)
        return self._finite(key, value, "must be a number, a formula or a table in time")

    def _motion(self, key: str, value: Any) -> float | str | Curve | None:
        if value is None:
            return None
        if isinstance(value, dict):
            return self._curve(key, value)
        if not isinstance(value, str):
            return self._finite(key, value, "must be a number, a formula or a curve in time")
        motion = self._formula(key, value.strip())
        try:
            velocity = formula.derivative(formula.parse(value))
            rates = [velocity, formula.derivative(velocity)]
        except formula.FormulaError as error:
            raise self.error(key, f"its derivatives: {error}") from None
        if not all(math.isfinite(formula.value(rate, 0.0)) for rate in rates):
            raise self.error(key, "the formula starts with no finite velocity and acceleration")
        return motion

    def _curve(self, key: str, value: dict[str, Any]) -> Curve:
        """A motion through values."""
        table = FileTable(self.source, f"{self.path}{key}.", value, schema.MOTION)
        given = [name for name in ("times", "values") if name in value]
        if table.get("csv"):
            table.refuse(given, "the csv has them")
            times, values = table.columns_of(table.get("csv"))
        else:
            for name in {"times", "values"} - set(given):
                raise table.error(name, "required key is missing, without a csv")
            times, values = table.get("times"), table.get("values")
        if not 2 <= len(times) <= MAX_TABLE:
            raise table.error("times", f"must be 2 to {MAX_TABLE} times, got {len(times)}")
        if times[0] != 0.0 or any(b <= a for a, b in pairwise(times)):
            raise table.error("times", "must ascend from 0")
        if len(values) != len(times):
            reason = f"must be one for each time, {len(times)}, got {len(values)}"
            raise table.error("values", reason)
        if (ends := table.get("ends")) not in ENDS:
            raise table.error("ends", f"must be one of {', '.join(ENDS)}, got {quote(ends)}")
        curve = Curve(times, values, ends)
        if not finite(curve):
            raise table.error("times", "are too close together")
        return curve

    def columns_of(self, name: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Times and values of a table of t and q beside the scenario's file."""
        path = Path(self.source).parent / name
        try:
            rows = [*csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines(), strict=True)]
        except (OSError, ValueError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise self.error("csv", f"cannot read {quote(name)}: {printable(reason)}") from None
        found = []
        for column in ("t", "q"):
            if not rows or column not in rows[0]:
                raise self.error("csv", f"{quote(name)} has no column {column}")
            numbers = []
            for line, row in enumerate(rows, start=2):
                try:
                    numbers.append(float(row[column]))
                except (TypeError, ValueError):
                    numbers.append(math.nan)
                if not math.isfinite(numbers[-1]):
                    reason = f"{quote(name)}, line {line}: no finite number {column}"
                    raise self.error("csv", reason)
            found.append(tuple(numbers))
        return found[0], found[1]

    def _mimic(self, key: str, value: Any) -> Mimic | None:
        if value is None:
            return None
        if not isinstance(value, dict):
            reason = "must be a table, as { body = 0, multiplier = -1.0 }"
            raise self.error(key, f"{reason}, got {kind_of(value)}")
        table = FileTable(self.source, f"{self.path}{key}.", value, schema.MIMIC, self.numbers)
        return Mimic(*(table.get(own.name) for own in schema.MIMIC))

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
        table = FileTable(self.source, f"{self.path}{key}.", value, schema.TORQUE)
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
            raise self.error(key, f"{what}, got {kind_of(value)}")
        return tuple(self._finite(key, x, what) for x in value)

    def _vector(self, key: str, value: Any) -> Vector:
        return self._list(key, value, "a vector of", self.dimension)

    def _list(self, key: str, value: Any, what: str, *lengths: int) -> tuple[float, ...]:
        what = f"must be {what} {' or '.join(map(str, lengths))} numbers"
        if not isinstance(value, list | tuple):
            raise self.error(key, f"{what}, got {kind_of(value)}")
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
            return self._nonnegative(key, value)
        moments = self._list(key, value, "a list of", 3, 6)
        if len(moments) == 3:
            xx, yy, zz = moments
            moments = (xx, 0.0, 0.0, yy, 0.0, zz)
        if least(inertia_matrix(moments)) < 0.0:
            raise self.error(key, "must be positive semidefinite: no moment may be negative")
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

    def refuse_idle(self, needed: str, reason: str) -> None:
        """Refuse a number that has no effect as another one is 0, see :data:`schema.IDLE`.

        A 0 beside a 0 that is written down is legal: files that give all keys have it.
        """
        key = schema.IDLE[needed]
        if not self.get(needed) and (needed not in self.data or self.get(key)):
            self.refuse((key,), reason)
