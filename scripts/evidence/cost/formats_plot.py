"""The picture of `formats`: errors of both demos, and what the engine costs, over the formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pymodel.runs import plots
from scripts.evidence.cost.engine import SWEEP_LANES
from scripts.evidence.cost.formats_result import COSTS, FLOAT64, Run, arithmetics, label
from scripts.kernel.places import DEMOS

#: What the engine costs: text, colour.
COST_STYLE = {
    "lut": ("LUT, no LUTRAM", plots.BLUE),
    "dsp": ("DSP48E1", plots.VERMILION),
    "ff": ("FF", plots.PURPLE),
    "fmax_mhz": ("MHz", plots.GREEN),
}
DEMO_COLOURS = dict(zip(DEMOS, (plots.BLUE, plots.VERMILION), strict=True))
#: The formats along the axis.
NAMES = arithmetics()[:-1]


def plot(runs: Sequence[Run], engine: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draw it.

    Parameters
    ----------
    runs : sequence of dict
    engine : mapping
        As `formats_result.costs` gives it.
    path : Path
        PNG file.
    """
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(15, 5), layout="constrained")
        grid = figure.add_gridspec(len(COSTS), 3)
        energy, motion = (figure.add_subplot(grid[:, column]) for column in range(2))
        costs = [figure.add_subplot(grid[row, 2]) for row in range(len(COSTS))]
        for demo, colour in DEMO_COLOURS.items():
            _draw_demo(energy, motion, _by_format(runs, demo), DEMOS[demo], colour)
        closed = _by_format(runs, "four_bar")
        gap = {"color": plots.GREEN, "linestyle": "-.", "marker": "D"}
        _curve(motion, closed, "loop_position_max_m", label="four-bar: loop gap [m]", **gap)
        energy.set_title("kinetic energy, worst difference to the reference [J]")
        motion.set_title("worst angle error, and gap of the closed loop")
        for axes in (energy, motion):
            axes.set_yscale("log")
            axes.margins(y=0.12)
            axes.legend(fontsize=8)
        _draw_costs(costs, engine)
        for axes in (energy, motion, *costs):
            labels = [] if axes in costs[:-1] else map(label, NAMES)
            axes.set_xticks(range(len(NAMES)), labels)
            axes.set_xlim(-0.5, len(NAMES) - 0.5)
        figure.savefig(path, dpi=plots.DPI)


def _by_format(runs: Sequence[Run], demo: str) -> dict[str, Run]:
    return {run["arith"]: run for run in runs if run["demo"] == demo}


def _draw_demo(
    energy: Axes, motion: Axes, found: Mapping[str, Run], text: str, colour: str
) -> None:
    """The curves of a demo, its limits in float64, and where it cannot start."""
    line = {"color": colour, "linestyle": "-", "marker": "o"}
    dotted = {"color": colour, "linestyle": ":", "marker": "v"}
    _curve(energy, found, "kinetic_difference_max_J", label=f"{text}: run", **line)
    _curve(energy, found, "kinetic_rounding_max_J", label=f"{text}: rounding", **dotted)
    _limit(energy, found, "kinetic_difference_max_J", colour, f"{text}: float64")
    _curve(motion, found, "angle_max_rad", label=f"{text}: angle [rad]", **line)
    _limit(motion, found, "angle_max_rad", colour, f"{text}: angle, float64")
    never = [i for i, name in enumerate(NAMES) if name in found and found[name]["end_s"] is None]
    for axes in (energy, motion):
        for i in never:
            axes.annotate(
                f"{text}\ncannot start",
                (i, 1),
                fontsize=8,
                color=colour,
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                xytext=(0, -4),
                textcoords="offset points",
            )


def _curve(axes: Axes, found: Mapping[str, Run], key: str, **style: str) -> None:
    """A quantity over the formats; runs that stopped early are crossed out."""
    points = [(i, found[name]) for i, name in enumerate(NAMES) if name in found]
    points = [(i, run) for i, run in points if run[key]]
    axes.plot([i for i, _ in points], [run[key] for _, run in points], **style)
    for i, run in points:
        if run["stopped"]:
            axes.plot(i, run[key], "x", color="black", markersize=12)
            axes.annotate(
                f"stops at {run['end_s']:.2g} s",
                (i, run[key]),
                fontsize=8,
                xytext=(8, 4),
                textcoords="offset points",
            )


def _limit(axes: Axes, found: Mapping[str, Run], key: str, colour: str, text: str) -> None:
    if FLOAT64 in found and found[FLOAT64][key]:
        axes.axhline(found[FLOAT64][key], color=colour, linestyle="--", linewidth=1, label=text)


def _draw_costs(all_axes: Sequence[Axes], engine: Mapping[str, Mapping[str, float]]) -> None:
    """A bar chart of each cost, one above the other."""
    all_axes[0].set_title(f"step engine, {SWEEP_LANES} + {SWEEP_LANES} lanes")
    for axes, (key, (text, colour)) in zip(all_axes, COST_STYLE.items(), strict=True):
        axes.set_ylabel(text)
        found = {i: engine.get(name, {}).get(key) for i, name in enumerate(NAMES)}
        found = {i: value for i, value in found.items() if value is not None}
        axes.bar_label(axes.bar(found.keys(), found.values(), 0.6, color=colour), fontsize=8)
        axes.set_axisbelow(True)
        axes.margins(y=0.3)
        if not found:
            axes.text(0.5, 0.5, "not measured: make synth", transform=axes.transAxes, ha="center")
