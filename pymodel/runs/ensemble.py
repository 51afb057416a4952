"""Variations of a scenario: which keys of its file take which values, on a grid or at random.

A key is written as in messages about the file: ``body[0].mass``, ``gravity[1]``, ``time.step``. Its
values are numbers, evenly spaced or listed, of which the keys' product makes a grid; or they are
drawn. A draw depends on the seed, the key and the number of the variation alone: who computes it,
and when, changes nothing, and a larger count only adds variations.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymodel.arith.meant import meant
from pymodel.arith.numbers import MASKED, masked
from pymodel.mechanism import schema
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import drop_idle, parse, without_arrays
from pymodel.runs.input_error import InputError, require_whole

MAX_VARIATIONS = 10_000_000
DEFAULT_SEED = 1
NOTATION = "<first>:<last>:<count>, <value>,<value>.., random(<low>,<high>)"
NOTATION += " or normal(<mean>,<deviation>)"

#: Tables of which a scenario has many.
TABLES = {"body": schema.BODY, "loop": schema.LOOP, "spring": schema.SPRING}

Value = float | int | str
Place = tuple[str | int, ...]  #: way to a value in the dictionary of a scenario file


@dataclass(frozen=True)
class Grid:
    """Values that are taken one after the other."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Uniform:
    """Numbers drawn from low to high, each as likely as any other.

    Raises
    ------
    InputError
        Unless low is below high, and both are finite numbers.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        finite = _is_finite(self.low) and _is_finite(self.high)
        if not (finite and 0.0 < self.high - self.low < math.inf):
            given = f"{self.low!r} and {self.high!r}"
            raise InputError(f"low must be below high, both finite, got {given}")

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw so many, shape (count,)."""
        return rng.uniform(self.low, self.high, count)


@dataclass(frozen=True)
class Normal:
    """Numbers drawn from a normal distribution of this mean and standard deviation.

    Raises
    ------
    InputError
        Unless the deviation is above 0, and both are finite numbers.
    """

    mean: float
    deviation: float

    def __post_init__(self) -> None:
        finite = _is_finite(self.mean) and _is_finite(self.deviation)
        if not (finite and 0.0 < self.deviation):
            given = f"{self.mean!r} and {self.deviation!r}"
            raise InputError(f"deviation must be positive, both finite, got {given}")

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Draw so many, shape (count,)."""
        return rng.normal(self.mean, self.deviation, count)


Axis = Grid | Uniform | Normal
REAL = ("number", "positive", "nonnegative", "torque")  # kinds of keys that may be drawn
#: Kinds of keys that may be one number or many -> the kind of the one.
NUMBERS = {
    "inertia": "nonnegative",
    "rotation": "number",
    "coordinates": "number",
    "velocities": "number",
}
Vary = Mapping[str, str | Axis | Sequence[Value] | np.ndarray]


@dataclass(frozen=True)
class Ensemble:
    """Variations of a scenario; :func:`ensemble` makes it from what a user says.

    Attributes
    ----------
    data : dict
        What the scenario file holds.
    source : str
        Stands for the file in messages.
    scenario : Scenario
        The scenario as it stands.
    varied : dict
        Key -> its values.
    count : int
        Draws at each point of the grid; 1 where nothing is random.
    seed : int
        Of the draws.
    steps : int or None
        Number of steps of every run, instead of its ``end``.
    """

    data: dict[str, Any]
    source: str
    scenario: Scenario
    varied: dict[str, Axis]
    count: int
    seed: int
    steps: int | None

    def __len__(self) -> int:
        """Number of variations."""
        return self.size

    @property
    def size(self) -> int:
        """Number of variations, which may be beyond what ``len`` can say."""
        return self.count * math.prod(len(grid.values) for grid in self.grids.values())

    @property
    def grids(self) -> dict[str, Grid]:
        """The keys that make the grid, with their values."""
        return {key: axis for key, axis in self.varied.items() if isinstance(axis, Grid)}

    def columns(self) -> dict[str, np.ndarray]:
        """Key -> its value in each variation, shape (len(self),).

        The last key of a grid changes fastest, and the draws go through the grid again and again.
        """
        grids = self.grids
        values = [np.array(grid.values) for grid in grids.values()]
        mesh = (np.tile(x.ravel(), self.count) for x in np.meshgrid(*values, indexing="ij"))
        found = dict(zip(grids, mesh, strict=True))
        for key, axis in self.varied.items():
            if not isinstance(axis, Grid):
                rng = np.random.default_rng([self.seed, *key.encode()])
                found[key] = axis.draw(rng, len(self))
        return {key: found[key] for key in self.varied}

    @property
    def description(self) -> dict[str, Any]:
        """What the variations are, in JSON's types."""
        return {
            "scenario": self.data,
            "vary": {key: _described(axis) for key, axis in self.varied.items()},
            "count": self.count,
            "seed": self.seed,
            "steps": self.steps,
        }


def _described(axis: Axis) -> list[Value] | dict[str, Any]:
    if isinstance(axis, Grid):
        return list(axis.values)
    return {"drawn": type(axis).__name__.lower()} | vars(axis)


def ensemble(
    data: dict[str, Any],
    source: str,
    vary: Vary,
    count: int | None = None,
    seed: int | None = None,
    steps: int | None = None,
) -> Ensemble:
    """Check what is to be varied.

    Parameters
    ----------
    data : dict
        What the scenario file holds.
    source : str
        Stands for the file in messages.
    vary : dict
        Key -> its values: a text as on the command line (:data:`NOTATION`), a sequence, or an
        :class:`Uniform` or :class:`Normal`.
    count : int, optional
        Draws, at each point of the grid if there is one. Needed if something is random.
    seed : int, optional
        Of the draws; :data:`DEFAULT_SEED` unless given.
    steps : int, optional
        As for :func:`pymodel.mechanism.scenario_file.parse`.

    Raises
    ------
    ScenarioError
        If the scenario as it stands cannot be run.
    InputError
        If a key or its values make no sense, or the count or seed does not.
    """
    scenario = parse(data, source, steps)
    if not vary or not isinstance(vary, Mapping):
        raise InputError("--vary: say what to vary, as body[0].mass=0.5:2.0:11")
    known = kinds(data, scenario)
    for key in vary:
        if key not in known:
            why = _why_unknown(_numbered(str(key), scenario), data, known)
            raise InputError(f"--vary {key}: {why}")
    varied = {key: _axis(key, values, known[key]) for key, values in vary.items()}
    drawn = [key for key, axis in varied.items() if not isinstance(axis, Grid)]
    for option, given in (("count", count), ("seed", seed)):
        if given is not None and not drawn:
            raise InputError(f"--{option}: only with random values, here all are on a grid")
    if drawn and count is None:
        raise InputError(f"--count: say how many to draw, {drawn[0]} is random")
    count = 1 if count is None else require_whole("--count", count, 1, MAX_VARIATIONS)
    steps = None if steps is None else int(steps)
    seed = DEFAULT_SEED if seed is None else require_whole("--seed", seed, 0)
    found = Ensemble(without_arrays(data), source, scenario, varied, count, seed, steps)
    if found.size > MAX_VARIATIONS:
        raise InputError(f"--vary: {found.size} variations, of at most {MAX_VARIATIONS}")
    return found


def variation(
    data: dict[str, Any], source: str, values: Mapping[str, Value], steps: int | None = None
) -> Scenario:
    """The scenario with some values in place of its own.

    Parameters
    ----------
    data, source, steps
        As for :func:`ensemble`.
    values : dict
        Key -> value. A joint that loses its spring loses its ``rest``, too, if none is given, one
        without friction its ``friction_scale``, and a spring without stiffness its ``length``.

    Raises
    ------
    ScenarioError
        If it cannot be run.
    """
    data = without_arrays(data)
    for key, value in values.items():
        *way, last = place_of(key)
        table: Any = data
        for name in way:
            table = table[name]
        table[last] = value
        if last in schema.IDLE:
            prefix = key.removesuffix(last)
            drop_idle(table, last, [other.removeprefix(prefix) for other in values])
    return parse(data, source, steps)


def place_of(key: str) -> Place:
    """Split a key: ``body[0].com[1]`` is ("body", 0, "com", 1)."""
    words = re.findall(r"[^\[\].]+", key)
    return tuple(int(word) if word.isdecimal() else word for word in words)


def kinds(data: dict[str, Any], scenario: Scenario) -> dict[str, str]:
    """Every key of a scenario that has a value, with its kind as in :mod:`schema`.

    A kind of many numbers is ``number`` for each of them.

    Parameters
    ----------
    data : dict
        What the scenario file holds.
    scenario : Scenario
        What it says.
    """
    found: dict[str, str] = {}
    for prefix, table, keys in _tables(data):
        for key in keys:
            value = table.get(key.name, key.default)
            if not _varies(key):
                continue
            if isinstance(value, list | tuple | np.ndarray):
                found |= {f"{prefix}{key.name}[{k}]": "number" for k in range(len(value))}
            elif not isinstance(value, schema.Default):
                found[prefix + key.name] = NUMBERS.get(key.kind, key.kind)
    for k, size in enumerate(scenario.freedoms):
        if size.q == 1:  # given or not
            found |= {f"body[{k}].{name}": "number" for name in ("q", "qd")}
    return found


def _varies(key: schema.Key) -> bool:
    """Whether a key has a value that can be varied; another joint is another mechanism."""
    return key.kind not in ("table", "tables", "boolean") and key.name != "joint"


def _tables(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], tuple[schema.Key, ...]]]:
    yield "", data, schema.SCENARIO
    yield "time.", data["time"], schema.TIME
    for name, keys in TABLES.items():
        for index, table in enumerate(data.get(name, ())):
            yield f"{name}[{index}].", table, keys


def _why_unknown(key: str, data: dict[str, Any], known: Mapping[str, str]) -> str:
    """Why a key has no value, with what may be meant: another key of the same table."""
    none = "the scenario has no value of this name"
    head, dot, name = key.rpartition(".")
    prefix, (name, _, _) = head + dot, name.partition("[")
    items = [other for other in known if other.startswith(f"{prefix}{name}[")]
    if items:
        return f"{none}, but {' and '.join(items)}"
    tables = {place: (table, keys) for place, table, keys in _tables(data)}
    if prefix in tables:
        table, keys = tables[prefix]
        if name in {each.name for each in keys if _varies(each)} - table.keys():
            return f"the file leaves {name} out: write it there to vary it"
        own = [other.removeprefix(prefix) for other in known if other.startswith(prefix)]
    elif prefix.partition("[")[0] in TABLES:
        return f"the scenario has no {head}"
    else:
        prefix, name, own = "", key, list(known)
    close = meant(name, own)
    hint = f", did you mean {prefix}{close}?" if close else ""
    return f"{none}{hint}"


def _numbered(key: str, scenario: Scenario) -> str:
    """The key that is meant where a body stands with its name: keys have its number."""
    found = re.fullmatch(r"body\[(.*?)\](.*)", key)
    names = [body.name for body in scenario.bodies]
    if found and found[1] in names:
        return f"body[{names.index(found[1])}]{found[2]}"
    return key


def _axis(key: str, values: Any, kind: str) -> Axis:
    axis = _parsed(key, values, kind) if isinstance(values, str) else values
    if masked(axis):
        raise InputError(f"--vary {key}: {MASKED}")
    if not isinstance(axis, Axis):
        values = np.asarray(axis, dtype=object)
        if values.ndim > 1:
            raise InputError(f"--vary {key}: must be one sequence of values, got {values.shape}")
        values = values.ravel().tolist()
        axis = Grid(tuple(x.item() if isinstance(x, np.ndarray) else x for x in values))
    if isinstance(axis, Grid):
        if not axis.values:
            raise InputError(f"--vary {key}: has no values")
        return Grid(tuple(_checked(key, value, kind) for value in axis.values))
    if kind not in REAL:
        raise InputError(f"--vary {key}: takes no random values")
    return type(axis)(*map(float, vars(axis).values()))


def _is_finite(value: Any) -> bool:
    """Whether something is a number that a float can hold."""
    try:
        return isinstance(value, numbers.Real) and math.isfinite(value)
    except OverflowError:
        return False


def _parsed(key: str, text: str, kind: str) -> Axis | list[Value]:
    """Values as the command line writes them."""
    try:
        if drawn := re.fullmatch(r"\s*(random|normal)\(([^,]*),([^,]*)\)\s*", text):
            law = Uniform if drawn[1] == "random" else Normal
            first, second = float(drawn[2]), float(drawn[3])
            try:
                return law(first, second)
            except InputError as error:
                raise InputError(f"--vary {key}: {error}") from None
        if ":" in text:
            start, stop, size = text.split(":")
            if not 2 <= int(size) <= MAX_VARIATIONS:
                at_most = f"2 to {MAX_VARIATIONS} values"
                raise InputError(f"--vary {key}: a range has {at_most}, got {size}")
            for end in (start, stop):
                if not math.isfinite(float(end)):
                    raise InputError(f"--vary {key}: must be finite numbers, got {end}")
            if not math.isfinite(float(stop) - float(start)):
                reason = f"from {start} to {stop} is further than a float64 holds"
                raise InputError(f"--vary {key}: {reason}")
            values: list[Value] = np.linspace(float(start), float(stop), int(size)).tolist()
            return values
        words = [word.strip() for word in text.split(",")]
        if kind == "torque":
            return [_number_or_formula(word) for word in words]
        return [*words] if kind == "string" else [float(word) for word in words]
    except InputError:
        raise
    except ValueError:
        raise InputError(f"--vary {key}: must be {NOTATION}, got {text!r}") from None


def _number_or_formula(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _checked(key: str, value: Any, kind: str) -> Value:
    """A value of the grid in the type that the scenario file has."""
    if kind == "string":
        if isinstance(value, str):
            return value
        raise InputError(f"--vary {key}: must be words, got {value!r}")
    if kind == "torque" and isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool) or not _is_finite(value):
        raise InputError(f"--vary {key}: must be finite numbers, got {value!r}")
    if kind in ("integer", "body"):
        if value != int(value):
            raise InputError(f"--vary {key}: must be whole numbers, got {value!r}")
        return int(value)
    return float(value)
