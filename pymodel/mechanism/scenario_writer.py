"""Scenarios as the tables of their files: written, and with other numbers in their place."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pymodel.arith.errors import require_path
from pymodel.arith.numbers import MASKED, masked
from pymodel.mechanism import schema
from pymodel.mechanism.scenario import FIXED, FREE, SPHERICAL, Scenario, ScenarioError, Vector
from pymodel.mechanism.scenario_file import drop_idle, parse

OF_SPRINGS_ALONE = ("stiffness", "length")  # keys that bodies and loops do not have
FIXED_KEYS = ("name", "joint", "axis", "rotation", "mimic")  # that :func:`varied` leaves alone


def varied(scenario: Scenario, **values: ArrayLike) -> Scenario:
    """Change numbers of a scenario, as if they stood in its file.

    Parameters
    ----------
    scenario : Scenario
    **values
        By the file's keys. Of bodies (``mass``, ``torque``, ...) shape (n,), or (n, d) of the
        vectors ``com``, ``tip`` and ``attach``, d being 2 in the plane and 3 in space. In space
        ``inertia`` is (n, 3) or (n, 6). A ``torque`` may be a formula or a table in time, as in a
        file. Of joints ``q``, (nq,), and ``qd``, (nv,). Of loops ``point`` and ``at``, (loops, d).
        Of springs between points ``stiffness`` and ``length``, (springs,). What a single one of
        them has stands for all; of ``q`` and ``qd`` only if no joint has several. No other shape is
        broadcast. Of the whole ``gravity``, (d,), ``step``, ``end``, ``integrator``, ``tolerance``,
        ``save``, ``lend`` and ``name``. Units are those of the file. Pins stay where ``attach``
        says, also where a ``tip`` changes; a joint that loses its ``spring`` loses its ``rest``,
        too, if none is given, and a spring without ``stiffness`` its ``length``.

    Returns
    -------
    Scenario

    Raises
    ------
    ScenarioError
        If there is no such key, nothing in the mechanism has it, an array has another shape or
        masked entries, or the scenario cannot be run; also if it is no scenario.
    """
    data = tables(scenario)
    plain = [key for key in schema.BODY if key.name not in FIXED_KEYS]
    homes = {key.name: (key, data["body"]) for key in plain}
    homes |= {key.name: (key, data["loop"]) for key in schema.LOOP if key.kind == "vector"}
    homes |= {
        key.name: (key, data["spring"]) for key in schema.SPRING if key.name in OF_SPRINGS_ALONE
    }
    top = [key.name for key in schema.SCENARIO if not key.kind.startswith("table")]
    times = [key.name for key in schema.TIME]
    for name, value in values.items():
        if masked(value):
            raise ScenarioError(scenario.source, name, MASKED)
        if name in top:
            if name == "gravity":  # of another length it would be another mechanism's
                given = _array(scenario, name, value)
                _check_shape(scenario, name, given, [np.shape(scenario.gravity)])
            data[name] = value
        elif name in times:
            data["time"][name] = value
        elif name in homes:
            _spread(scenario, *homes[name], value)
        else:
            known = ", ".join((*top, *times, *homes))
            raise ScenarioError(scenario.source, name, f"unknown key (known: {known})")
    for name in values.keys() & schema.IDLE.keys():
        for table in homes[name][1]:
            drop_idle(table, name, values)
    if "motion" in values:  # it says where its joint starts
        for table in data["body"]:
            for name in {"q", "qd"} - values.keys() if table.get("motion") is not None else ():
                table.pop(name, None)
    return parse(data, scenario.source)


def write_scenario(path: str | os.PathLike[str], scenario: Scenario) -> None:
    """Write a scenario's file.

    :func:`pymodel.mechanism.scenario_file.load` makes the same scenario of it, bit for bit.

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
    InputError
        If the path is none.
    """
    data = tables(scenario)
    require_path("path", path)
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


def tables(scenario: Scenario) -> dict[str, Any]:
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
        "lend": scenario.lend,
        "time": {k.name: fields[k.name] for k in schema.TIME if fields[k.name] is not None},
        "body": fields["bodies"],
        "loop": fields["loops"],
        "spring": fields["springs"],
    }


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """The keys of a body or a loop that a file may give: a joint has not all of them."""
    joint = fields["joint"]
    absent = {name for name, value in fields.items() if value is None}
    if joint == FIXED or fields.get("mimic"):  # which starts as what it follows
        absent |= {"q", "qd", "guess"}
    if joint == FREE:
        absent.add("attach")
    if joint in (FIXED, SPHERICAL, FREE):
        absent |= {"torque", "spring", "rest", "damping", "friction", "friction_scale"}
        absent |= {"motion", "mimic"}
    return {name: value for name, value in fields.items() if name not in absent}


def _spread(
    scenario: Scenario, key: schema.Key, tables: list[dict[str, Any]], value: ArrayLike
) -> None:
    """Give each table its own value of a key."""
    dimension, count = len(scenario.gravity), len(tables)
    own: tuple[int, ...]
    if key.kind == "coordinates":
        sizes, own = [size.q for size in scenario.freedoms], ()
    elif key.kind == "velocities":
        sizes, own = [size.v for size in scenario.freedoms], ()
    else:
        sizes, own = [1] * count, (dimension,) if key.kind == "vector" else ()
    given = _array(scenario, key.name, value)
    if key.kind == "inertia" and scenario.spatial:
        own = (3,) if given.shape[-1:] == (3,) else (6,)
    shape = (sum(sizes), *own)
    if not sum(sizes) and given.size:
        raise ScenarioError(scenario.source, key.name, "nothing in this mechanism has it")
    shapes = [shape, own] if max(sizes, default=1) <= 1 else [shape]
    _check_shape(scenario, key.name, given, shapes)
    rows = np.broadcast_to(given, shape).tolist()
    for table, size in zip(tables, sizes, strict=True):
        mine, rows = rows[:size], rows[size:]
        if size:
            table[key.name] = mine[0] if size == 1 else mine


def _array(scenario: Scenario, name: str, value: ArrayLike) -> np.ndarray:
    """A key's value as an array of whatever it is given as; formulas and tables are scalars."""
    try:
        return np.asarray(value, dtype=object)
    except ValueError:  # arrays in it of different shapes
        raise ScenarioError(scenario.source, name, "must be an array with a shape") from None


def _check_shape(
    scenario: Scenario, name: str, given: np.ndarray, shapes: Sequence[tuple[int, ...]]
) -> None:
    """Refuse all other shapes, also those that numpy would broadcast."""
    if given.shape not in shapes:
        reason = f"must have the shape {' or '.join(map(str, shapes))}, got {given.shape}"
        raise ScenarioError(scenario.source, name, reason)
