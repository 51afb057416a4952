"""A picture of the forces of the joints along a run."""

from __future__ import annotations

import os

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pymodel.mechanism.scenario import Scenario
from pymodel.runs.input_error import InputError, require
from pymodel.runs.joint_forces import UNITS, JointForces, joint_names
from pymodel.runs.plots import JOINT_COLOURS, STYLE, save

FEW = len(JOINT_COLOURS)  # joints with a colour each


def plot_forces(
    forces: JointForces, scenario: Scenario, path: str | os.PathLike[str] | None = None
) -> Figure:
    """Draw the magnitudes of all joints' forces and moments over time.

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
    many = len(names) > FEW
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9, 6), layout="constrained")
        figure.suptitle(f"{scenario.name}: what the joints exert", parse_math=False)
        panels = figure.subplots(2, 1, sharex=True)
        for axes, (quantity, unit) in zip(panels, UNITS.items(), strict=True):
            sizes = np.linalg.norm(forces.of_joints(quantity), axis=-1)
            for k, (name, column) in enumerate(zip(names, sizes.T, strict=True)):
                colour = mpl.colormaps["cividis"](k / len(names)) if many else JOINT_COLOURS[k]
                if np.any(column):
                    dash = "-" if k < counts[0] else (0, (4, 2))
                    axes.plot(forces.t, column, color=colour, ls=dash, label=name)
            axes.set_ylabel(f"{quantity} [{unit}]")
            if axes.lines:
                axes.legend(
                    loc="upper left",
                    bbox_to_anchor=(1.01, 1.0),
                    borderaxespad=0.0,
                    fontsize="xx-small" if many else None,
                )
            else:
                axes.set_title(f"no joint has a {quantity}")
                axes.set_yticks([])
        panels[-1].set_xlabel("time [s]")
        if len(forces.t) > 1:
            panels[-1].set_xlim(forces.t[0], forces.t[-1])
        if path is not None:
            save(figure, path)
    return figure
