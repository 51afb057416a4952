"""A picture of the forces of the joints along a run."""

from __future__ import annotations

import os
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pymodel.mechanism.scenario import Scenario
from pymodel.runs import legends
from pymodel.runs.input_error import InputError, require
from pymodel.runs.joint_forces import UNITS, JointForces, joint_names, motor_unit
from pymodel.runs.plots import (
    DASHES,
    JOINT_COLOURS,
    NAME_COLUMNS,
    STYLE,
    drawn_rows,
    literal,
    named,
    save,
)

FEW = len(JOINT_COLOURS)  # joints with a colour each
TALL, LEGEND_WIDTH = 24, 2.2  # lines in a column of the legend; its width, inches


@np.errstate(over="ignore", invalid="ignore")  # numbers near the end of float64 may be drawn
def plot_forces(
    forces: JointForces, scenario: Scenario, path: str | os.PathLike[str] | None = None
) -> Figure:
    """Draw the magnitudes of all joints' forces over time, and of their moments if there are any.

    Parameters
    ----------
    forces : JointForces
    scenario : Scenario
        Their mechanism.
    path : str or path-like, optional
        Save the figure there, too; the ending says in which format.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    InputError
        If the forces are those of another mechanism, or the file's format is unknown.
    OSError
        If the file cannot be written.
    """
    require(forces, JointForces, "joint_forces")
    require(scenario, Scenario, "load")
    names = joint_names(scenario)
    counts = len(scenario.bodies), len(scenario.loops)
    if (forces.force.shape[1], forces.loop_force.shape[1]) != counts:
        raise InputError(f"{scenario.source}: not the mechanism of these forces")
    if (rows := drawn_rows(len(forces.t))) is not None:
        forces = forces.taken(rows)
    with mpl.rc_context(STYLE):
        sizes = {x: np.linalg.norm(forces.of_joints(x), axis=-1) for x in UNITS}
        wanted = [x for x in UNITS if sizes[x].any()] or [*UNITS][:1]
        count = len(wanted) + bool(forces.moved)
        figure = Figure(figsize=(9, 0.6 + 2.7 * count), layout="constrained")
        figure.suptitle(f"{named(scenario.name)}: magnitudes of joint forces and moments")
        panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        drawn = {}  # joint -> a curve of it
        for k, column in zip(forces.moved, forces.motor.T, strict=True):
            style = {"color": JOINT_COLOURS[k % FEW], "ls": _dash(k, counts[0])}
            (drawn[k],) = panels[-1].plot(
                forces.t, column, label=literal(names[k], NAME_COLUMNS), **style
            )
        if forces.moved:
            units = " or ".join(sorted({motor_unit(scenario, k) for k in forces.moved}))
            panels[-1].set_ylabel(f"motor [{units}]")
        for axes, quantity in zip(panels, wanted, strict=False):  # the last one is for motors
            for k, (name, column) in enumerate(zip(names, sizes[quantity].T, strict=True)):
                if np.any(column):
                    style = {"color": JOINT_COLOURS[k % FEW], "ls": _dash(k, counts[0])}
                    label = literal(name, NAME_COLUMNS)
                    (drawn[k],) = axes.plot(forces.t, column, label=label, **style)
            axes.set_ylabel(f"|{quantity}| [{UNITS[quantity]}]")
        if len(wanted) < len(UNITS):
            panels[0].set_title("no joint exerts a moment")
        panels[-1].set_xlabel("time [s]")
        if len(forces.t) > 1:
            panels[-1].set_xlim(forces.t[0], forces.t[-1])
        if 0 < len(drawn) <= FEW:
            legends.place(figure, [(panels[0], [curve for _, curve in sorted(drawn.items())])])
        elif drawn:  # one legend for both panels: that of one may be higher than the panel
            lines = sum(1 + curve.get_label().count("\n") for curve in drawn.values())
            columns = -(-lines // TALL)
            figure.set_figwidth(9 + LEGEND_WIDTH * (columns - 1))
            figure.legend(
                handles=[curve for _, curve in sorted(drawn.items())],
                loc="outside right upper",
                ncols=columns,
                fontsize="small",
            )
        if path is not None:
            save(figure, path)
    return figure


def _dash(k: int, joints: int) -> Any:
    """Dash of a joint, or of a loop, which come after the joints: another each time round."""
    rounds = k // FEW if k < joints else -(-joints // FEW) + (k - joints) // FEW
    return DASHES[rounds % len(DASHES)]
