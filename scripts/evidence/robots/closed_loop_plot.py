"""The picture of a robot under PD control: joints on their way, torques, and the errors."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from pymodel.mechanism.robot import PRISMATIC
from pymodel.runs import plots
from pymodel.runs.closed_loop import ClosedLoop
from pymodel.runs.robot_calls import Table


def plot(
    loop: ClosedLoop, found: Table, reference: Table, label: str, title: str, path: Path
) -> None:
    """Draw it.

    Parameters
    ----------
    loop : ClosedLoop
    found, reference : dict
        As :meth:`ClosedLoop.table`; the reference may be longer.
    label : str
        Name of the reference.
    title : str
    path : Path
        PNG file.
    """
    joints, time = range(loop.robot.nv), found["t"]
    colours = mpl.colormaps["cividis"](np.linspace(0.0, 0.9, loop.robot.nv))
    if loop.robot.nv <= len(plots.JOINT_COLOURS):
        colours = plots.JOINT_COLOURS
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(9, 8), layout="constrained")
        figure.suptitle(title, parse_math=False)
        angles, torques, errors = figure.subplots(3, 1, sharex=True)
        for k in joints:
            colour = colours[k]
            angles.plot(time, found[f"q{k}"], color=colour, label=loop.robot.links[k].joint)
            angles.axhline(loop.target[k], color="black", lw=0.9, ls=(0, (1, 3)))
            torques.plot(time, found[f"tau{k}"] / np.abs(found[f"tau{k}"]).max(), color=colour)
            error = np.abs(found[f"q{k}"] - reference[f"q{k}"][: len(time)])
            errors.semilogy(time, np.where(error > 0, error, np.nan), color=colour)
        sliding = any(link.kind == PRISMATIC for link in loop.robot.links)
        unit = "[rad, prismatic joints m]" if sliding else "[rad]"
        angles.set_title(f"joint coordinates, dotted: target {unit}")
        torques.set_title("torques, each divided by its largest magnitude")
        errors.set_title(f"joint coordinates, difference to {label} in float64 {unit}")
        errors.set_xlabel("time [s]")
        figure.legend(*angles.get_legend_handles_labels(), loc="outside right center", fontsize=8)
        angles.set_xlim(time[0], time[-1])
        figure.savefig(path, dpi=plots.DPI)
