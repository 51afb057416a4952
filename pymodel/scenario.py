"""Scenario files: the mechanism, its initial state and the time grid of a run, written in TOML.

`load` reads a file and `parse` a dictionary of the same shape; both return a frozen `Scenario` or
raise `ScenarioError`, whose text is one line naming the file, the key and the reason.  Everything
that makes no sense is refused here, so that nothing behind this module has to check it again.

Bodies are numbered from 0 in the order of the file and parents stand before their children.  A
body has handle 1 at the joint to its parent and handle 2 at `tip`; vectors are in metres, angles
in radians, everything else in SI units.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from pymodel import kinematics

GROUND = -1
INTEGRATORS = ("euler", "semi-implicit", "rk4")

# The numbers of a scenario are typed decimals: pi/4 written with six of them is off by 1.6e-7 rad,
# and a loop adds up a few such errors.  A gap beyond a millionth of the mechanism is a mistake.
CLOSURE_TOLERANCE = 1e-6
# Constraint rows count as dependent below this share of the largest singular value.  It is far
# above rounding (1e-16) and below a four-bar held 1e-8 rad from its flat posture.
RANK_TOLERANCE = 1e-9

Vector = tuple[float, float]


class ScenarioError(ValueError):
    """A scenario that makes no sense; `str()` is the single line `file: key: reason`."""

    def __init__(self, source: str, key: str, reason: str) -> None:
        self.source = source
        self.key = key
        self.reason = reason
        super().__init__(f"{source}: {key}: {reason}" if key else f"{source}: {reason}")


@dataclass(frozen=True)
class Body:
    """One rigid body and the pin that hangs it on its parent.

    mass kg, inertia kg m^2 about the centre of mass; com and tip from handle 1 in the body frame,
    attach in the parent's frame from its handle 1 (ground frame if parent is -1), m.  q rad and
    qd rad/s are relative to the parent.  Joint torque: torque - spring (q - rest) - damping qd.
    """

    mass: float
    inertia: float
    com: Vector
    tip: Vector
    parent: int = GROUND
    attach: Vector = (0.0, 0.0)
    q: float = 0.0
    qd: float = 0.0
    torque: float = 0.0
    spring: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Loop:
    """An extra pin: `point` of `body` (its frame) stays on `at` of `to` (its frame; -1 ground)."""

    body: int
    point: Vector
    to: int
    at: Vector


@dataclass(frozen=True)
class Scenario:
    """A mechanism with its initial state (in the bodies), gravity (m/s^2) and time grid (s)."""

    name: str
    gravity: Vector
    step: float
    end: float
    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    integrator: str = "euler"
    save: int = 1
    source: str = "<scenario>"

    @property
    def steps(self) -> int:
        """Number of integration steps of the run."""
        return round(self.end / self.step)

    @property
    def times(self) -> np.ndarray:
        """Kept times in s, the start included: every `save`-th step k at k * step."""
        return np.arange(0, self.steps + 1, self.save) * self.step

    @property
    def is_chain(self) -> bool:
        """True if every body hangs on the previous one (wherever on it), the first on ground."""
        return all(body.parent == k - 1 for k, body in enumerate(self.bodies))

    @property
    def q0(self) -> np.ndarray:
        """Initial joint angles, rad, shape (n,)."""
        return np.array([body.q for body in self.bodies])

    @property
    def qd0(self) -> np.ndarray:
        """Initial joint velocities, rad/s, shape (n,)."""
        return np.array([body.qd for body in self.bodies])


def load(path: str | os.PathLike[str], steps: int | None = None) -> Scenario:
    """Read the scenario file at `path`; `steps`, if given, replaces the end of the run.

    Raises ScenarioError if it cannot be read, is not TOML, or makes no sense.
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

    `source` stands for the file in messages.  Raises ScenarioError.
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
    _check_loops(scenario)
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


def _check_loops(scenario: Scenario) -> None:
    """Refuse loops that are open, whose pins drift apart, or that depend on each other."""
    if not scenario.loops:
        return
    q, qd = scenario.q0, scenario.qd0
    size = _size(scenario)
    gaps = kinematics.loop_gaps(scenario, q)
    speeds = kinematics.loop_gap_velocities(scenario, q, qd)
    turn = float(np.abs(kinematics.angular_velocities(scenario, qd)).max())
    for index, (gap, speed) in enumerate(zip(gaps, speeds, strict=True)):
        distance = math.hypot(*gap)
        if distance > CLOSURE_TOLERANCE * size:
            raise ScenarioError(
                scenario.source,
                f"loop[{index}]",
                f"does not close at the initial posture: the pins are {distance:.3g} m apart",
            )
        slip = math.hypot(*speed)
        if slip > CLOSURE_TOLERANCE * size * turn:
            raise ScenarioError(
                scenario.source,
                f"loop[{index}]",
                f"initial velocities do not fit: the pins part at {slip:.3g} m/s",
            )
    jacobian = kinematics.loop_jacobian(scenario, q)
    values = np.linalg.svd(jacobian, compute_uv=False)
    if len(scenario.bodies) < len(jacobian) or values[-1] <= RANK_TOLERANCE * values[0]:
        raise ScenarioError(
            scenario.source,
            "loop",
            "constraints depend on each other at the initial posture (redundant or singular)",
        )


def _size(scenario: Scenario) -> float:
    """Length in m that no pin of the mechanism can be away from the first one."""
    arms = [body.attach for body in scenario.bodies]
    arms += [arm for loop in scenario.loops for arm in (loop.point, loop.at)]
    return sum(math.hypot(*arm) for arm in arms)


def _parent_of(value: Any, default: int) -> int:
    """Parent index for following cycles; anything that is not an index is reported later."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _cycle(parents: list[int], start: int) -> list[int]:
    """The cycle of parents that `start` lies on, from `start` back to it; empty if none."""
    path = [start]
    while 0 <= parents[path[-1]] < len(parents) and len(path) <= len(parents):
        path.append(parents[path[-1]])
        if path[-1] == start:
            return path
    return []


def _plain(text: str) -> str:
    """Text as one printable line."""
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
    """One table of the file: refuses keys other than `known`, gives typed access to the rest."""

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
