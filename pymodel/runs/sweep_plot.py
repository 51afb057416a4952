"""A picture of a sweep's table: one column as colours over two of the varied keys."""

from __future__ import annotations

import os
import re
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.units import coordinate_units, key_unit, momentum_units, velocity_units
from pymodel.runs import plots
from pymodel.runs.ensemble import place_of
from pymodel.runs.input_error import InputError
from pymodel.runs.sweep_files import Columns
from pymodel.runs.trajectory import joint_column_names

NO_VALUE: dict[str, Any] = {
    "facecolor": "white",
    "edgecolor": "#999999",
    "hatch": "////",
    "linewidth": 0.0,
}
UNEVEN = 4.0  # ratio of the gaps of a key's values from which cells are drawn of one size
UNITS = {"t": "s", "energy_change": "J", "loop_position": "m", "loop_velocity": "m/s"}
#: Column -> what it is called above a map.
SHOWN = {
    "t": "time of the last step",
    "energy_change": "largest change of energy",
    "loop_position": "largest loop closure error",
    "loop_velocity": "largest loop velocity error",
}
OF_PINS = {
    r"q[0-9]+|body\[[0-9]+\]\.q": "rad",
    r"qd[0-9]+|body\[[0-9]+\]\.qd": "rad/s",
    r"p[0-9]+": "N m s",
}


def unit_of(column: str, scenario: Scenario | None = None) -> str:
    """Unit of a column, empty without one; where no scenario says otherwise joints are pins."""
    if column in UNITS:
        return UNITS[column]
    if scenario is None:
        return next((unit for name, unit in OF_PINS.items() if re.fullmatch(name, column)), "")
    names = joint_column_names(scenario.nq, scenario.nv).values()
    units = coordinate_units(scenario), velocity_units(scenario), momentum_units(scenario)
    found = dict(
        zip((x for own in names for x in own), (x for own in units for x in own), strict=True)
    )
    return found[column] if column in found else key_unit(scenario, place_of(column))


def _label(column: str, scenario: Scenario | None) -> str:
    unit = unit_of(column, scenario)
    return f"{column} [{unit}]" if unit else column


def _title(value: str, scenario: Scenario | None) -> str:
    """What a map shows, and of which scenario."""
    at_the_end = re.fullmatch(r"(q|qd|p)[0-9]+", value)
    shown = f"{value} at the end" if at_the_end else SHOWN.get(value, value)
    return f"{scenario.name}: {shown}" if scenario else shown


def plot_map(
    table: Columns,
    keys: tuple[str, str],
    value: str,
    path: str | os.PathLike[str],
    title: str = "",
    scenario: Scenario | None = None,
) -> None:
    """Draw a column over a grid of two keys; variations without a value are hatched.

    Parameters
    ----------
    table : dict
        As :func:`pymodel.runs.sweep_files.read_table` gives it.
    keys : tuple of str
        The columns to the right and up.
    value : str
        The column that is shown as colours. Angles that span more than half a turn are turned into
        -pi to pi.
    path : str or path-like
        The picture; the ending says in which format.
    title : str, optional
        By default what is shown, and of which scenario.
    scenario : Scenario, optional
        What was varied. Without it joints count as pins.

    Raises
    ------
    InputError
        If there is no such column, it holds words, the keys make no grid, or the picture's format
        is unknown.
    OSError
        If the file cannot be written.
    """
    for name in (*keys, value, "status"):
        if name not in table:
            raise InputError(f"{name}: no column; there are {', '.join(table)}")
    for name in (*keys, value):
        if table[name].dtype.kind not in "if":
            raise InputError(f"{name}: holds words, not numbers")
    (x, columns), (y, rows) = (np.unique(table[key], return_inverse=True) for key in keys)
    points = {*zip(columns.tolist(), rows.tolist(), strict=True)}
    if min(len(x), len(y)) < 2 or not len(points) == len(columns) == len(x) * len(y):
        raise InputError(f"{keys[0]}, {keys[1]}: not a grid with one variation at each point")
    colours = np.full((len(y), len(x)), np.nan)
    colours[rows, columns] = np.where(table["status"] == "failed", np.nan, table[value])
    label = _label(value, scenario)
    style: dict[str, Any] = {"cmap": "cividis"}
    shown = colours[np.isfinite(colours)]
    if unit_of(value, scenario) == "rad" and shown.size and np.ptp(shown) > np.pi:
        label += ", turned into ±π" if np.abs(shown).max() > np.pi else ""
        colours = np.angle(np.exp(1j * colours))
        style = {"cmap": "twilight", "vmin": -np.pi, "vmax": np.pi}
    with mpl.rc_context(plots.STYLE | {"axes.grid": False}):
        figure = Figure(figsize=(6.6, 5.4), layout="constrained")
        axes = figure.subplots()
        axes.patch.set(**NO_VALUE)
        places = _places(axes.xaxis, x), _places(axes.yaxis, y)
        mesh = axes.pcolormesh(*places, colours, shading="nearest", rasterized=True, **style)
        figure.colorbar(mesh, label=plots.literal(label))
        axes.set_xlabel(plots.literal(_label(keys[0], scenario)))
        axes.set_ylabel(plots.literal(_label(keys[1], scenario)))
        axes.set_title(plots.named(title or _title(value, scenario)))
        if not np.isfinite(colours).all():
            key = Patch(label="no value", **NO_VALUE)
            figure.legend(handles=[key], loc="outside lower right")
        plots.save(figure, path)


def _places(axis: Axis, values: np.ndarray) -> np.ndarray:
    """Where the cells of a key's values stand: there, or in equal steps if the gaps are uneven."""
    gaps = np.diff(values)
    if gaps.max() <= UNEVEN * gaps.min():
        return values
    names = {float(place): f"{value:g}" for place, value in enumerate(values)}
    axis.set_major_locator(MaxNLocator(integer=True))
    axis.set_major_formatter(lambda place, _: names.get(place, ""))
    return np.arange(len(values))
