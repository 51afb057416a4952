"""The picture of a robot under PD control: joints on their way, torques, and the errors."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pymodel.mechanism.robot import PRISMATIC
from pymodel.mechanism.units import ANGLE, FORCES, LENGTH
from pymodel.runs import legends, plots
from pymodel.runs.closed_loop import ClosedLoop
from pymodel.runs.robot_calls import Table

#: Unit of a joint's coordinate -> what coordinate and force are called.
NAMES = {ANGLE: ("joint angle", "torque"), LENGTH: ("joint displacement", "force")}
FAR = 20.0  # ratio of peaks from which they are drawn on a logarithmic scale


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
    robot, time = loop.robot, found["t"]
    links = [robot.links[k] for k in robot.leaders]
    colours: Any = mpl.colormaps["cividis"](np.linspace(0.0, 0.9, robot.nv))
    if robot.nv <= len(plots.JOINT_COLOURS):
        colours = plots.JOINT_COLOURS
    units = [LENGTH if link.kind == PRISMATIC else ANGLE for link in links]
    kinds = list(dict.fromkeys(units))
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(9, 2.6 * 3 * len(kinds)), layout="constrained")
        figure.suptitle(title, parse_math=False)
        panels = figure.subplots(3 * len(kinds), 1, sharex=True)
        named = []
        for row, unit in enumerate(kinds):
            motion, effort, error = panels[row :: len(kinds)]
            curves = []
            for k in (k for k, own in enumerate(units) if own == unit):
                style = {"color": colours[k], "label": plots.literal(links[k].joint)}
                curves += motion.plot(time, found[f"q{k}"], **style)
                motion.axhline(loop.target[k], color="black", lw=0.9, ls=(0, (1, 3)))
                effort.plot(time, found[f"tau{k}"], **style)
                distance = np.abs(found[f"q{k}"] - reference[f"q{k}"][: len(time)])
                error.semilogy(time, np.where(distance > 0, distance, np.nan), **style)
            coordinate, force = NAMES[unit]
            motion.set_title(f"{coordinate}, dotted: target")
            motion.set_ylabel(f"{coordinate} [{unit}]")
            effort.set_title(force + _scale(effort, FORCES[unit]))
            effort.set_ylabel(f"{force} [{FORCES[unit]}]")
            error.set_title(f"{coordinate}, difference to {label} in float64")
            error.set_ylabel(f"|difference| [{unit}]")
            named.append((motion, curves))
        panels[-1].set_xlabel("time [s]")
        panels[-1].set_xlim(time[0], time[-1])
        legends.place(figure, named)
        figure.savefig(path, dpi=plots.DPI)


def _scale(axes: Axes, unit: str) -> str:
    """Let small curves be seen beside large ones; what to say of it.

    Those of a robot's base and of its wrist may be orders of magnitude apart.
    """
    peaks = [np.abs(line.get_ydata()).max() for line in axes.lines]
    peaks = [peak for peak in peaks if peak > 0.0]
    if not peaks or max(peaks) <= FAR * min(peaks):
        return ""
    linear = 10.0 ** np.floor(np.log10(min(peaks)))
    axes.set_yscale("symlog", linthresh=linear)
    return f", logarithmic beyond ±{linear:g} {unit}"
