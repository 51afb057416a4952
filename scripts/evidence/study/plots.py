"""Pictures like figures 4 to 11 of paper 001."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pymodel.mechanism import kinematics
from pymodel.runs.plots import BLUE, DPI, GREEN, STYLE, VERMILION
from scripts.evidence.study.cases import CASES, CONTESTANTS, END, METHODS, SHOWN, Case
from scripts.evidence.study.runs import Series

COLOURS = dict(zip(CONTESTANTS, (BLUE, GREEN, VERMILION), strict=True))
CASE_MARKS = dict(zip(CASES, ("o", "s", "^"), strict=True))
CASE_COLOURS = dict(zip(CASES, (BLUE, VERMILION, GREEN), strict=True))
SMALLEST = 1e-17  # on logarithmic axes
SHOWN_TITLE = f"RK45, δ = {SHOWN:g}"

Shown = Mapping[tuple[str, str], Series]


def draw(rows: Sequence[Mapping[str, Any]], series: Shown, folder: Path) -> list[Path]:
    """Draw all pictures into a folder; returns their files."""
    found = []
    with mpl.rc_context(STYLE):
        for name, figure in {
            "study_cases": _cases(),
            "study_energy": _energy(series),
            "study_motion": _motion(series),
            "study_constraints": _constraints(series),
            "study_efficiency": _efficiency(rows),
        }.items():
            found.append(folder / f"{name}.png")
            figure.savefig(found[-1], dpi=DPI)
    return found


def _cases() -> Figure:
    """Figure 4: the mechanisms at the start."""
    figure = Figure(figsize=(10, 3), layout="constrained")
    for axes, case in zip(figure.subplots(1, len(CASES)), CASES.values(), strict=True):
        _mechanism(axes, case)
    return figure


def _mechanism(axes: Axes, case: Case) -> None:
    scenario = case.scenario
    pins = kinematics.handle_positions(scenario, scenario.q0)
    tips = kinematics.tip_positions(scenario, scenario.q0)
    for pin, tip in zip(pins, tips, strict=True):
        axes.plot(*zip(pin, tip, strict=True), "o-", color=BLUE, markerfacecolor="white")
    ground = [pins[0], tips[[loop.body for loop in scenario.loops if loop.to < 0][0]]]
    axes.plot(*zip(*ground, strict=True), "k^", markersize=9)
    lowest = tips[case.point]
    axes.plot(*lowest, "o", color="black")
    axes.annotate("K", lowest, xytext=(9, 0), textcoords="offset points", va="center")
    axes.set(aspect="equal", title=case.title, xlabel="x [m]", ylabel="y [m]")
    axes.margins(0.12)


def _over_time(series: Shown, rows: Mapping[str, str]) -> Figure:
    """Absolute values of errors over time: a row for each, a column for each case."""
    figure = Figure(figsize=(11, 1.2 + 2.4 * len(rows)), layout="constrained")
    grid = figure.subplots(len(rows), len(CASES), sharex=True, sharey="row", squeeze=False)
    for line, (error, label) in zip(grid, rows.items(), strict=True):
        for axes, case in zip(line, CASES, strict=True):
            for name, (title, *_) in CONTESTANTS.items():
                values = series[case, name]
                magnitude = np.maximum(abs(getattr(values, error)), SMALLEST)
                axes.semilogy(values.t, magnitude, color=COLOURS[name], linewidth=0.9, label=title)
        line[0].set_ylabel(label)
    for axes, case in zip(grid[0], CASES.values(), strict=True):
        axes.set_title(case.title)
    for axes in grid[-1]:
        axes.set_xlabel("time [s]")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _energy(series: Shown) -> Figure:
    """Figure 5."""
    return _over_time(series, {"energy": f"total energy error [J]\n{SHOWN_TITLE}"})


def _constraints(series: Shown) -> Figure:
    """Figures 8 and 9."""
    return _over_time(
        series,
        {
            "velocity": f"loop velocity error [m/s]\n{SHOWN_TITLE}",
            "position": f"loop position error [m]\n{SHOWN_TITLE}",
        },
    )


def _motion(series: Shown) -> Figure:
    """Figures 6 and 7."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    rows = figure.subplots(2, 1, sharex=True)
    for axes, quantity, label in zip(
        rows, ("y", "y_dot"), ("height of K [m]", "its rate [m/s]"), strict=True
    ):
        for name, dash in (("hdca", "-"), ("dca", ":")):
            values = series["1", name]
            axes.plot(
                values.t,
                getattr(values, quantity),
                dash,
                color=COLOURS[name],
                linewidth=1.2 if dash == "-" else 2.2,
                label=CONTESTANTS[name].title,
            )
        axes.set_ylabel(label)
    rows[0].set_title(f"case {CASES['1'].title}, {SHOWN_TITLE}")
    rows[1].set_xlabel("time [s]")
    figure.legend(*rows[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


def _efficiency(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Figures 10 and 11: ratios DCA/HDCA by tolerance; above 1 HDCA is better."""
    figure = Figure(figsize=(12, 5.5), layout="constrained")
    grid = figure.subplots(2, len(METHODS), sharex=True, sharey="row")
    for line, (key, label) in zip(
        grid, {"seconds": "time", "evaluations": "evaluations"}.items(), strict=True
    ):
        for axes, method in zip(line, METHODS, strict=True):
            axes.axhline(1.0, color="black", linewidth=0.8)
            for case in CASES:
                for name, dash in (("hdca", "-"), ("rebased", ":")):
                    tolerances, ratios = _ratios(rows, case, method, name, key)
                    title = CASES[case].title + (", re-based" if name == "rebased" else "")
                    axes.semilogx(
                        tolerances,
                        ratios,
                        dash + CASE_MARKS[case],
                        color=CASE_COLOURS[case],
                        markersize=4,
                        label=title,
                    )
        line[0].set_ylabel(f"{label}: DCA / HDCA")
    for axes, (method, role) in zip(grid[0], METHODS.items(), strict=True):
        axes.set_title(f"{method} (as {role})")
    for axes in grid[1]:
        axes.set_xlabel("tolerance δ")
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def _ratios(
    rows: Sequence[Mapping[str, Any]], case: str, method: str, name: str, key: str
) -> tuple[list[float], list[float]]:
    def numbers(contestant: str) -> dict[float, float]:
        wanted = case, method, contestant
        return {
            row["tolerance"]: row[key]
            for row in rows
            if (row["case"], row["method"], row["contestant"]) == wanted and row["end"] == END
        }

    own, other = numbers(name), numbers("dca")
    tolerances = [tolerance for tolerance in own if tolerance in other]
    return tolerances, [other[tolerance] / own[tolerance] for tolerance in tolerances]
