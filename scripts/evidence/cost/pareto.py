"""Which lanes and stages? Time a step of the double pendulum against area, on the step engine.

Reads build/synth/summary.json; writes pareto.json and pareto.png into build/synth and prints the
best of each number of lanes. Exit status 2, after one line, for bad input.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from pymodel.arith.errors import Error
from pymodel.runs import plots
from scripts.evidence.cost import points as of_engines
from scripts.evidence.cost.goals import ENGINE_DSP, ENGINE_LUT, ENGINE_US
from scripts.evidence.cost.jobs import ENGINE_LANES
from scripts.evidence.cost.measure import current_rows
from scripts.evidence.cost.points import SCENARIO, Point, check, front
from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT

PAPER_US = 19.0  # a step's register writes alone
PAPER_DSP = 150  # of its 75 multipliers
TICKS_US = (0.5, 1, 2, 3, 5, 10, 20)
COLOURS = dict(zip(ENGINE_LANES, ("#D55E00", "#E69F00", "#009E73", "#0072B2"), strict=True))
#: Labels of placed engines, in points from them: those of neighbours are apart.
LABEL_AT = dict(zip(ENGINE_LANES, ((-12, 12), (0, -20), (5, 13), (14, -20)), strict=True))


def plot(points: Sequence[Point], path: Path) -> None:
    """Draw estimates small, placed engines large."""
    with mpl.rc_context(plots.STYLE):
        figure = Figure(figsize=(13, 5.5), layout="constrained")
        lut, dsp = figure.subplots(1, 2, sharey=True)
        for axes, cost in ((lut, "lut"), (dsp, "dsp")):
            _draw_estimates(axes, [p for p in points if not p["measured"]], cost)
            _draw_placed(axes, [p for p in points if p["measured"]], cost)
            axes.axhline(PAPER_US, color="grey", linestyle="--")
            axes.set_yscale("log")
            axes.set_yticks(TICKS_US, map("{:g}".format, TICKS_US))
            axes.yaxis.set_minor_formatter("")
        dsp.plot(PAPER_DSP, PAPER_US, "*", color="grey", markersize=16)
        _draw_goal(lut, ENGINE_LUT)
        _draw_goal(dsp, ENGINE_DSP)
        shown = [point["us"] for point in points]
        lut.set_ylim(min([*shown, ENGINE_US]) / 1.3, max([*shown, PAPER_US]) * 1.4)
        lut.set_xlabel("LUT (xc7 cells, those of memories included)")
        dsp.set_xlabel("DSP48E1")
        lut.set_ylabel("time of a step [µs]")
        _name_the_paper(lut, dsp)
        lut.set_title("double pendulum on the step engine: every combination of stages")
        for lanes, colour in COLOURS.items():
            lut.plot([], [], "o", color=colour, label=f"{lanes}+{lanes} lanes")
        lut.legend(fontsize=8, loc="upper right", bbox_to_anchor=(1, 0.86))
        dsp.set_title("small: clock of the slowest unit; large: engine placed and routed")
        figure.savefig(path, dpi=plots.DPI)


def _draw_estimates(axes: Axes, points: Sequence[Point], cost: str) -> None:
    for lanes, colour in COLOURS.items():
        some = [point for point in points if point["lanes"] == lanes]
        axes.plot(
            [point[cost] for point in some],
            [point["us"] for point in some],
            ".",
            color=colour,
            alpha=0.35,
            markersize=5,
            markeredgewidth=0,
        )
    edge = front(points, cost)[::-1]
    axes.step(
        [point[cost] for point in edge],
        [point["us"] for point in edge],
        "-",
        where="post",
        color="black",
        linewidth=1,
        label="best estimates",
    )


def _draw_placed(axes: Axes, points: Sequence[Point], cost: str) -> None:
    for point in points:
        lanes, at = point["lanes"], (point[cost], point["us"])
        axes.plot(*at, "o", color=COLOURS[lanes], markersize=11, markeredgecolor="black")
        axes.annotate(
            f"{lanes}+{lanes}",
            at,
            xytext=LABEL_AT[lanes],
            textcoords="offset points",
            ha="center",
            weight="bold",
        )


def _draw_goal(axes: Axes, limit: float) -> None:
    label = f"goal of 2+2 lanes: {ENGINE_US} µs, {ENGINE_LUT} LUT, {ENGINE_DSP} DSP"
    times = (ENGINE_US, ENGINE_US, 0.1)
    axes.plot((0, limit, limit), times, ":", color=plots.PURPLE, label=label)
    axes.set_xlim(left=0)


def _name_the_paper(lut: Axes, dsp: Axes) -> None:
    lut.annotate(
        "paper: register writes alone",
        (0.02, PAPER_US),
        fontsize=9,
        color="grey",
        xycoords=("axes fraction", "data"),
        xytext=(0, 5),
        textcoords="offset points",
    )
    dsp.annotate(
        "paper: multipliers",
        (PAPER_DSP, PAPER_US),
        fontsize=9,
        color="grey",
        xytext=(-8, -16),
        textcoords="offset points",
        ha="right",
    )


JSON, PICTURE = OUT / "pareto.json", OUT / "pareto.png"
WIDTH = 150  # columns where there is no terminal


def show(points: Sequence[Point], console: Console) -> None:
    """Print the best of each number of lanes."""
    table = Table(title=f"step engine, {SCENARIO.replace('_', ' ')}: fastest by lanes")
    table.add_column("stages: add, mul, rec, sin cos")
    for head in ("cycles", "MHz", "µs a step", "LUT", "DSP"):
        table.add_column(head, justify="right")
    table.add_column("clock")
    for of_lanes in of_engines.told(points).values():
        for point in of_lanes:
            table.add_row(
                of_engines.name(point),
                str(point["cycles"]),
                f"{point['fmax_mhz']:.1f}",
                f"{point['us']:.2f}",
                str(point["lut"]),
                str(point["dsp"]),
                "placed" if point["measured"] else "slowest unit's",
            )
        table.add_section()
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        rows = current_rows()
        check(rows)
    except Error as error:
        print(f"pareto: {error}", file=sys.stderr)
        return 2
    points = of_engines.combine(rows)
    (ROOT / JSON).write_text(json.dumps(points, indent=1) + "\n")
    plot(points, ROOT / PICTURE)
    show(points, Console(width=None if sys.stdout.isatty() else WIDTH))
    for path in (JSON, PICTURE):
        print(path)
    return 0
