"""Whether the loop stays closed: 100 s of the four-bar in float32, as it is, re-based, projected.

`make longrun` writes build/longrun/: loop errors of all runs over time (CSV), their worst values
up to 1, 10 and 100 s (errors.json), and a plot. Some seconds as native code; half an hour without a
C compiler.
"""

import argparse
import dataclasses
import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs
from scripts.kernel.places import BUILD, scenario_file

OUT = BUILD / "longrun"
END_S = 100.0
SAVE = 10
RUNS = {
    "without re-basing": {"rebase": 0},
    "re-based every step": {"rebase": 1},
    "projected every 10 steps": {"project": 10},
}
HORIZONS_S = (1.0, 10.0, END_S)
LINE_INTERVAL_S = 30.0
ERRORS = ("loop_position", "loop_velocity")
COLOURS = dict(zip(RUNS, ("#d55e00", "#0072b2", "#009e73"), strict=True))
DPI = 130


def table_of(name: str) -> Path:
    """The CSV file of a run: time, loop errors."""
    ((option, every),) = RUNS[name].items()
    return OUT / f"{option}_{every}.csv"


def run(name: str) -> dict[str, Any]:
    """One run; its loop errors are saved, and their worst values returned."""
    scenario = load(scenario_file("four_bar"))
    scenario = dataclasses.replace(scenario, end=END_S, save=SAVE)
    result = native_runs.fastest(scenario, "float32", _Progress(name), **RUNS[name])
    errors = {key: getattr(result, key) for key in ERRORS}
    columns = np.column_stack([result.t, *errors.values()])
    header = ",".join(("t", *ERRORS))
    np.savetxt(table_of(name), columns, delimiter=",", comments="", header=header)
    worst = {
        key: [float(error[result.t <= horizon].max()) for horizon in HORIZONS_S]
        for key, error in errors.items()
    }
    return {"name": name, **RUNS[name], "horizons_s": HORIZONS_S, **worst}


class _Progress:
    """Tells the steps of a run on stderr, now and then."""

    def __init__(self, name: str) -> None:
        self.name, self.last = name, time.monotonic()

    def __call__(self, step: int, steps: int) -> None:
        if time.monotonic() - self.last > LINE_INTERVAL_S:
            self.last = time.monotonic()
            print(f"{self.name}: {step} of {steps} steps", file=sys.stderr, flush=True)


def plot() -> None:
    """Loop errors over time, and the worst so far."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    position, velocity = figure.subplots(2, 1, sharex=True)
    for name, colour in COLOURS.items():
        t, *errors = np.loadtxt(table_of(name), delimiter=",", skiprows=1).T
        for axes, error in zip((position, velocity), errors, strict=True):
            running = np.maximum.accumulate(error)
            axes.semilogy(t[1:], error[1:], color=colour, alpha=0.2, linewidth=0.3)
            axes.semilogy(t[1:], running[1:], color=colour, label=f"{name}: worst so far")
    position.set_ylabel("loop position error [m]")
    velocity.set_ylabel("loop velocity error [m/s]")
    velocity.set_xlabel("time [s]")
    position.set_title("four-bar, float32, explicit Euler, step 1e-4 s")
    for axes in (position, velocity):
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right")
    figure.savefig(OUT / "loop_errors.png", dpi=DPI)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool(len(RUNS)) as pool:
        rows = pool.map(run, RUNS, chunksize=1)
    (OUT / "errors.json").write_text(json.dumps(rows, indent=1) + "\n")
    plot()
    for row in rows:
        for key in ERRORS:
            values = ", ".join(f"{x:.2e}" for x in row[key])
            print(f"{row['name']}: worst {key} up to 1, 10, 100 s: {values}")
    return 0
