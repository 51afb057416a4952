"""100 s of the four-bar in float32, with and without re-basing: does the loop stay closed?

``make longrun`` writes build/longrun/: loop errors of both runs over time (CSV), their worst values
up to 1, 10 and 100 s (errors.json), and a plot. Two processes, about half an hour.
"""

import dataclasses
import json
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

from pymodel.mechanism.scenario_file import load
from pymodel.runs.simulate import simulate

ROOT = Path(__file__).resolve().parents[1]

OUT = ROOT / "build" / "longrun"
END_S = 100.0
SAVE = 10
REBASE = {"without re-basing": 0, "re-based every step": 1}
HORIZONS_S = (1.0, 10.0, END_S)
LINE_INTERVAL_S = 30.0


def run(name):
    """One run; its loop errors are saved, and their worst values returned."""
    scenario = load(ROOT / "scenarios" / "four_bar.toml")
    scenario = dataclasses.replace(scenario, end=END_S, save=SAVE)
    last = time.monotonic()

    def progress(step, steps):
        nonlocal last
        if time.monotonic() - last > LINE_INTERVAL_S:
            last = time.monotonic()
            print(f"{name}: {step} of {steps} steps", file=sys.stderr, flush=True)

    result = simulate(scenario, "float32", progress, rebase=REBASE[name])
    errors = {"loop_position": result.loop_position, "loop_velocity": result.loop_velocity}
    columns = np.column_stack([result.t, *errors.values()])
    np.savetxt(
        OUT / f"rebase_{REBASE[name]}.csv",
        columns,
        delimiter=",",
        comments="",
        header="t,loop_position,loop_velocity",
    )
    worst = {
        key: [float(error[result.t <= horizon].max()) for horizon in HORIZONS_S]
        for key, error in errors.items()
    }
    return {"name": name, "rebase": REBASE[name], "horizons_s": HORIZONS_S, **worst}


def plot():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
    for name, k in REBASE.items():
        t, *errors = np.loadtxt(OUT / f"rebase_{k}.csv", delimiter=",", skiprows=1).T
        colour = "#d55e00" if k == 0 else "#0072b2"
        for axis, error in zip(axes, errors, strict=True):
            running = np.maximum.accumulate(error)
            axis.semilogy(t[1:], error[1:], color=colour, alpha=0.2, linewidth=0.3)
            axis.semilogy(t[1:], running[1:], color=colour, label=f"{name}: worst so far")
    axes[0].set_ylabel("loop position error [m]")
    axes[1].set_ylabel("loop velocity error [m/s]")
    axes[1].set_xlabel("time [s]")
    axes[0].set_title("four-bar, float32, explicit Euler, step 1e-4 s")
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    figure.savefig(OUT / "loop_errors.png", dpi=130)


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with multiprocessing.Pool(len(REBASE)) as pool:
        rows = pool.map(run, REBASE, chunksize=1)
    (OUT / "errors.json").write_text(json.dumps(rows, indent=1) + "\n")
    plot()
    for row in rows:
        for key in ("loop_position", "loop_velocity"):
            values = ", ".join(f"{x:.2e}" for x in row[key])
            print(f"{row['name']}: worst {key} up to 1, 10, 100 s: {values}")


if __name__ == "__main__":
    main()
