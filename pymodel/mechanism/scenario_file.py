"""Scenario files: a :class:`~pymodel.mechanism.scenario.Scenario` written in TOML.

:func:`load` reads a file or a dictionary of the same shape. It returns a frozen ``Scenario`` or
raises ``ScenarioError``, whose text is one line that names file, key and reason. What cannot be run
is refused here: nothing behind this module has to check it again.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.arith.errors import IS_TEXT, is_text
from pymodel.mechanism import schema
from pymodel.mechanism.checks import check_loops, check_mimics, check_springs
from pymodel.mechanism.closure import with_closed_loops
from pymodel.mechanism.file_table import UNIT_ROUNDING, FileTable, kind_of, printable, quote, short
from pymodel.mechanism.lending import lent
from pymodel.mechanism.limits import MAX_STEPS as MAX_STEPS
from pymodel.mechanism.motions import check_curves, motion_in_time
from pymodel.mechanism.redundancy import check_motions, with_kept_rows
from pymodel.mechanism.scenario import (
    ADAPTIVE,
    FIXED,
    FREE,
    FREEDOMS,
    GROUND,
    GROUND_NAME,
    INTEGRATORS,
    JOINTS,
    LEND,
    LOOP_JOINTS,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    Body,
    Curve,
    Loop,
    Scenario,
    ScenarioError,
    Spring,
    Vector,
)

# Relative deviation of the end of a run from whole steps that passes for rounding.
END_TOLERANCE = 1e-9
MAX_DEPTH = 50  # of tables and arrays inside each other; a scenario has 4
LOOP_ENDS = ("body", "point", "to", "at")  # keys that say what a loop joins
MOTION_TOLERANCE = 1e-6  # by which typed decimals may be off the start of a motion
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
    if is_text(path):
        raise ScenarioError("<scenario>", "", f"must be the path of a file, got {IS_TEXT}")
    source = printable(os.fspath(path))
    try:
        found = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))  # some editors mark it
    except OSError as error:
        raise ScenarioError(source, "", f"cannot read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(source, "", f"not TOML: byte {error.start} is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise ScenarioError(source, "", f"not TOML: {printable(str(error))}") from None
    require_shallow(found, source)
    return found


def require_shallow(data: Any, source: str) -> None:
    """Refuse tables in tables without end, which no scenario has, by a ScenarioError."""
    inside, depth = [("", data)], 0
    while inside:
        if depth > MAX_DEPTH:
            reason = f"tables inside each other, more than {MAX_DEPTH} of them"
            raise ScenarioError(source, inside[0][0], reason)
        depth += 1
        found: list[tuple[str, Any]] = []
        for name, value in inside:
            if isinstance(value, Mapping):
                found += [(name or short(printable(str(key))), x) for key, x in value.items()]
            elif isinstance(value, list | tuple):
                found += [(name, x) for x in value if isinstance(x, Mapping | list | tuple)]
        inside = found


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
    source = printable(str(source))
    if not isinstance(data, Mapping):
        raise ScenarioError(source, "", f"must be a table, got {kind_of(data)}")
    require_shallow(data, source)
    top = FileTable(source, "", without_arrays(data), schema.SCENARIO)
    name = top.get("name")
    if not name.strip() or not name.isprintable():
        raise top.error("name", f"must be a line of printable text, got {short(repr(name))}")
    gravity = top.gravity()
    lend = _choice(top, "lend", LEND)
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
    integrator = _choice(time, "integrator", (*INTEGRATORS, *ADAPTIVE))
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
    _follow(tables, bodies)
    loops = tuple(_loop(table, count) for table in top.tables("loop", schema.LOOP, numbers))
    springs = tuple(_spring(table, count) for table in top.tables("spring", schema.SPRING, numbers))
    scenario = Scenario(
        name=name,
        gravity=gravity,
        step=step,
        end=end,
        integrator=integrator,
        save=save,
        tolerance=tolerance,
        lend=lend,
        bodies=tuple(bodies),
        loops=loops,
        springs=springs,
        source=source,
    )
    check_mimics(scenario)
    check_curves(scenario if steps is None else replace(scenario, end=scenario.step))
    scenario = with_closed_loops(scenario)
    check_loops(scenario)
    scenario = with_kept_rows(scenario)
    check_motions(scenario)
    check_springs(scenario)
    lent(scenario)
    if steps is None:
        return scenario
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
        raise ScenarioError(source, "steps", f"must be an integer, got {steps!r}")
    if not 1 <= steps <= MAX_STEPS:
        raise ScenarioError(source, "steps", f"must lie in 1..{MAX_STEPS}, got {steps}")
    return replace(scenario, end=int(steps) * scenario.step)


def _choice(table: FileTable, name: str, known: Sequence[str]) -> str:
    found: str = table.get(name)
    if found not in known:
        raise table.error(name, f"must be one of {', '.join(known)}, got {quote(found)}")
    return found


def _tolerance(time: FileTable, integrator: str) -> float | None:
    if "tolerance" not in time.data:
        return None
    if integrator not in ADAPTIVE:
        known = ", ".join(ADAPTIVE)
        raise time.error("tolerance", f"only for an adaptive integrator ({known})")
    tolerance: float = time.get("tolerance")
    lowest, highest = TOLERANCES
    if not lowest <= tolerance <= highest:
        raise time.error("tolerance", f"must lie in {lowest:g}..{highest:g}, got {tolerance!r}")
    return tolerance


def without_arrays(value: Any) -> Any:
    """A copy with Python's numbers and lists in place of numpy's, and of tuples."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {name: without_arrays(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_arrays(item) for item in value]
    return value


def drop_idle(table: dict[str, Any], name: str, given: Container[str]) -> None:
    """Drop from a changed table the number that has no effect any more, now that another is 0.

    Parameters
    ----------
    table : dict
        Of a scenario file.
    name : str
        The key that was changed, see :data:`pymodel.mechanism.schema.IDLE`.
    given : container of str
        Keys that were changed with it; these stay, and :func:`parse` refuses them.
    """
    idle, value = schema.IDLE[name], table.get(name)
    if idle not in given and isinstance(value, Real) and not value:
        table.pop(idle, None)


def _default_parent(index: int, table: FileTable) -> int:
    return GROUND if table.data.get("joint") == FREE else index - 1


def _body(table: FileTable, index: int, earlier: list[Body], parents: list[int]) -> Body:
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
    one = ("torque", "spring", "rest", "damping", "friction", "friction_scale", "motion", "mimic")
    without = {FIXED: ("q", "qd", "guess", *one), SPHERICAL: one, FREE: ("attach", *one)}
    table.refuse(without.get(joint, ()), f"a {joint} joint has none")
    table.refuse_idle("spring", "there is no spring in this joint")
    table.refuse_idle("friction", "there is no friction in this joint")
    if table.get("friction") and "friction_scale" not in table.data:
        reason = "required key is missing: the velocity (rad/s, m/s) about which friction reverses"
        raise table.error("friction_scale", reason)
    motion = table.get("motion")
    q = _coordinates(table, joint, size.q)
    qd = table.numbers_of("qd", size.v, 0.0 if size.v <= 1 else (0.0,) * size.v)
    if motion is not None:
        for key in ("torque", "guess"):
            if table.get(key):
                raise table.error(key, "its joint has a motion, and the torque that this takes")
        q, qd = _start(table, motion)
    mimic = table.get("mimic")
    for key in ("guess", "motion") if mimic else ():
        if table.get(key):
            raise table.error(key, "its joint mimics another one")
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
        q=q,
        qd=qd,
        motion=motion,
        mimic=mimic,
        **plain,
    )


def _follow(tables: list[FileTable], bodies: list[Body]) -> None:
    """Let joints that mimic others start as these do; what the file says of that must agree."""
    for k, (table, body) in enumerate(zip(tables, bodies, strict=True)):
        if body.mimic is None:
            continue
        of, multiplier = body.mimic.body, body.mimic.multiplier
        if not 0 <= of < len(bodies):
            reason = f"no body {of}: bodies are 0 to {len(bodies) - 1}"
            raise table.error("mimic", reason)
        leader: Any = bodies[of]
        if leader.joint not in (REVOLUTE, PRISMATIC) or leader.mimic or of == k:
            reason = f"body {of} must have a revolute or prismatic joint that mimics none"
            raise table.error("mimic", reason)
        starts = multiplier * leader.q + body.mimic.offset, multiplier * leader.qd
        for key, start in zip(("q", "qd"), starts, strict=True):
            given: Any = table.numbers_of(key, 1, start)
            if abs(given - start) > MOTION_TOLERANCE * max(abs(start), 1.0):
                reason = f"must be as its joint mimics, {start!r}, or be left out, got {given!r}"
                raise table.error(key, reason)
        bodies[k] = replace(body, q=starts[0], qd=starts[1])


def _start(table: FileTable, motion: float | str | Curve) -> tuple[float, float]:
    """Where a motion starts, and how fast; what the file says of that must agree."""
    at = motion_in_time(motion)
    found = [at(0.0, order) for order in range(2)]
    for key, start in zip(("q", "qd"), found, strict=True):
        given: Any = table.numbers_of(key, 1, start)
        if abs(given - start) > MOTION_TOLERANCE * max(abs(start), 1.0):
            reason = f"must be as its motion starts, {start!r}, or be left out, got {given!r}"
            raise table.error(key, reason)
    return found[0], found[1]


def _joint(table: FileTable, known: tuple[str, ...]) -> str:
    joint: str = table.get("joint")
    names = [name for name in known if table.spatial or name != SPHERICAL]
    if joint not in names:
        raise table.error("joint", f"must be one of {', '.join(names)}, got {quote(joint)}")
    return joint


def _axis(table: FileTable, key: str, needed: bool) -> Vector | None:
    if needed:
        if key not in table.data:
            raise table.error(key, "required key is missing")
        axis: Vector = table.get(key)
        return axis
    table.refuse((key,), "this joint has none")
    return None


def _coordinates(table: FileTable, joint: str, count: int) -> float | tuple[float, ...]:
    """Initial coordinates; a quaternion's length is made 1."""
    if count <= 1:
        return table.numbers_of("q", count, 0.0)
    turns = table.spatial and joint in (SPHERICAL, FREE)
    values = table.numbers_of("q", count, (*(0.0,) * (count - 1), 1.0 if turns else 0.0))
    if not turns:
        return values
    assert isinstance(values, tuple)
    quaternion = values[-4:]
    length = math.hypot(*quaternion)
    if not 0.0 < length < math.inf:
        raise table.error("q", "its quaternion must not be zero")
    if abs(length - 1.0) > UNIT_ROUNDING:
        quaternion = tuple(x / length for x in quaternion)
    return (*values[:-4], *quaternion)


def _loop(table: FileTable, count: int) -> Loop:
    """A loop, with its axes if it is a hinge in space."""
    values = _between(table, count, "loop", [key for key in table.keys if key in LOOP_ENDS])
    joint = _joint(table, LOOP_JOINTS)
    hinge = joint == REVOLUTE and table.spatial
    axis, to_axis = (_axis(table, key, hinge) for key in ("axis", "to_axis"))
    return Loop(**values, joint=joint, axis=axis, to_axis=to_axis)


def _spring(table: FileTable, count: int) -> Spring:
    """A spring, a damper, or both."""
    values = _between(table, count, "spring", table.keys)
    if not {"stiffness", "damping"} & table.data.keys():
        raise table.error("stiffness", "required key is missing, unless there is damping")
    table.refuse_idle("stiffness", "there is no stiffness in this spring")
    return Spring(**values)


def _between(table: FileTable, count: int, what: str, keys: Iterable[str]) -> dict[str, Any]:
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


def _numbers(tables: list[FileTable]) -> dict[str, int]:
    """Name -> number of the ground and of all bodies that have a name."""
    numbers = {GROUND_NAME: GROUND}
    for index, table in enumerate(tables):
        name = table.get("name")
        if not name:
            continue
        if not name.strip() or not name.isprintable():
            reason = f"must be a line of printable text, got {short(repr(name))}"
            raise table.error("name", reason)
        if name in numbers:
            owner = "the ground" if numbers[name] == GROUND else f"body {numbers[name]}"
            raise table.error("name", f"{quote(name)} is the name of {owner}")
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
