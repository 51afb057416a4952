"""What happens after a run, wherever it ran: reference, differences, files, plots and a table.

`finish_run` is called by the model's command line and by the hardware co-simulation alike, so
that their results can be laid side by side.
"""

from __future__ import annotations

import contextlib
import json
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pymodel.arith.fp import FLAG_NAMES
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import lagrangian, plots
from pymodel.runs.trajectory import Trajectory, TrajectoryError, read_csv, write_csv, write_summary

RUN, REFERENCE, TWIN = "run.csv", "lagrangian.csv", "float64.csv"
SUMMARY, SCENARIO = "summary.json", "scenario.toml"

UNITS = {"q": "rad", "qd": "rad/s", "p": "N m s", "kinetic": "J", "potential": "J"}
MILLI = 1e3
BAR_INTERVAL = 0.1  # s between updates of the progress bar
LINE_INTERVAL = 5.0  # s between progress lines where there is no terminal


def flag_names(flags: int) -> list[str]:
    """Names of the sticky float flags that are set, as in the RISC-V `fflags`."""
    return [name for bit, name in FLAG_NAMES.items() if flags & bit]


def differences(run: Trajectory, exact: Trajectory) -> dict[str, dict[str, Any]]:
    """Worst absolute difference of each quantity, its unit, and the time (s) where it occurs.

    Both at the same times, as far as `exact` goes; over all joints for q, qd and p.
    """
    result = {}
    run = _first_rows(run, len(exact))
    for name, unit in UNITS.items():
        distance = np.abs(getattr(run, name) - getattr(exact, name))
        over_time = distance.reshape(len(run), -1).max(axis=1)
        worst = int(over_time.argmax())
        result[name] = {"max": over_time[worst], "unit": unit, "time_s": run.t[worst]}
    return result


def finish_run(
    scenario: Scenario,
    trajectory: Trajectory,
    out_dir: str | Path,
    *,
    target: str,
    arith: str,
    extra: Mapping[str, Any] | None = None,
    float64_twin: Trajectory | None = None,
    with_reference: bool = True,
) -> dict[str, Any]:
    """Write everything a run leaves behind into `out_dir` and return the summary.

    Parameters
    ----------
    target
        Where it ran, for example `model` or `coprocessor`.
    arith
        The arithmetic it ran in, for example `float32`.
    extra
        More entries for the summary (cycles, seeds, ...); its `versions` join those of Python.
    float64_twin
        The same algorithm in float64, which separates rounding from truncation.  A run in
        float64 is its own twin.  If the run stopped early, only that part of the twin counts.
    with_reference
        Whether to compute the reference at the run's times.  Mechanisms that it cannot solve
        get a summary without it, and the reason; where it ends before the run, at a singular
        posture, the run is compared until there.

    Files: run.csv, lagrangian.csv and float64.csv (where known), summary.json, scenario.toml,
    joints.png, kinetic_energy.png, overview.png; those of an earlier run are replaced or removed.

    Raises OSError, or pymodel.runs.trajectory.TrajectoryError for numbers that are not finite.
    """
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    source = Path(scenario.source)
    for name in (RUN, REFERENCE, TWIN, SUMMARY, *plots.FILES, plots.LOOP_FILE):
        (out / name).unlink(missing_ok=True)
    if source.is_file() and source.resolve() != (out / SCENARIO).resolve():
        shutil.copyfile(source, out / SCENARIO)

    write_csv(out / RUN, trajectory)
    twin = _first_rows(float64_twin, len(trajectory)) if float64_twin is not None else None
    if twin is not None:
        write_csv(out / TWIN, twin)
    exact, reason = None, "not asked for"
    if with_reference:
        try:
            exact, reason = lagrangian.simulate(scenario, trajectory.t), None
        except lagrangian.NoReferenceError as error:
            exact, reason = error.trajectory, str(error)
        if exact is not None:
            write_csv(out / REFERENCE, exact)

    summary = _summary(scenario, trajectory, target, arith)
    own_twin = trajectory if twin is None and arith == "float64" else twin
    summary |= {
        "reference": f"DOP853, tolerance {lagrangian.TOLERANCE:g}" if exact is not None else None,
        "reference_end_s": None if exact is None else exact.t[-1],
        "reference_missing": reason,
        "differences_to_reference": None if exact is None else differences(trajectory, exact),
        "kinetic_difference_max_J": _worst_kinetic(trajectory, exact),
        "kinetic_difference_float64_max_J": _worst_kinetic(own_twin, exact),
        "kinetic_rounding_max_J": _worst_kinetic(trajectory, own_twin),
    }
    extra = dict(extra or {})
    summary["versions"] |= extra.pop("versions", {})
    clash = summary.keys() & extra.keys()
    if clash:
        raise ValueError(f"extra: {', '.join(sorted(clash))}: already in the summary")
    summary |= extra
    write_summary(out / SUMMARY, summary)
    plots.plot_run(
        trajectory, exact, out, scenario.name, label=_label(summary), twin=twin, scenario=scenario
    )
    return summary


def _label(summary: Mapping[str, Any]) -> str:
    target, arith = summary["target"], summary["arith"]
    return arith if target == "model" else f"{target} {arith}"


def finite_part(run: Trajectory) -> Trajectory:
    """The rows of a run before the first one with a number that is not finite.

    A run that explodes ends with finite angles whose energies are beyond float64.
    """
    finite = np.all([np.isfinite(column) for column in run.columns().values()], axis=0)
    return run if finite.all() else _first_rows(run, int(finite.argmin()))


def _first_rows(run: Trajectory, count: int) -> Trajectory:
    if len(run) == count:
        return run
    names = ("t", "q", "qd", "p", "kinetic", "potential", "loop_position", "loop_velocity")
    return Trajectory(**{name: getattr(run, name)[:count] for name in names}, flags=run.flags)


def _worst_kinetic(run: Trajectory | None, other: Trajectory | None) -> float | None:
    if run is None or other is None:
        return None
    return float(np.abs(run.kinetic[: len(other)] - other.kinetic).max())


def _summary(scenario: Scenario, run: Trajectory, target: str, arith: str) -> dict[str, Any]:
    energy = run.kinetic + run.potential
    return {
        "scenario": scenario.name,
        "source": scenario.source,
        "target": target,
        "arith": arith,
        "integrator": scenario.integrator,
        "step_s": scenario.step,
        "steps": scenario.steps,
        "rows": len(run),
        "end_s": run.t[-1],
        "flags": flag_names(run.flags),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
        },
        "energy_change_max_J": float(np.abs(energy - energy[0]).max()),
        "loop_position_max_m": run.loop_position.max(),
        "loop_velocity_max_m_s": run.loop_velocity.max(),
    }


def replot(out_dir: str | Path) -> list[Path]:
    """Plot again what `finish_run` left in `out_dir`; returns the paths of the PNG files.

    Only run.csv is required.  Raises TrajectoryError or ScenarioError for broken files.
    """
    out = Path(out_dir)
    run, *others = (
        read_csv(out / name) if name == RUN or (out / name).exists() else None
        for name in (RUN, REFERENCE, TWIN)
    )
    for name, other in zip((REFERENCE, TWIN), others, strict=True):
        # the reference may end before the run
        times = run.t if other is None or name == TWIN else run.t[: len(other)]
        if other is not None and not np.array_equal(other.t, times):
            raise TrajectoryError(f"{out / name}: not at the times of {RUN}")
    exact, twin = others
    try:
        summary = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
        title, label = summary["scenario"], _label(summary)
    except (OSError, ValueError, KeyError, TypeError):
        title, label = out.resolve().name, "run"
    scenario = load(out / SCENARIO) if (out / SCENARIO).exists() else None
    if scenario is not None and len(scenario.bodies) != run.joints:
        raise TrajectoryError(f"{out / SCENARIO}: not the mechanism of {RUN}")
    return plots.plot_run(run, exact, out, title, label=label, twin=twin, scenario=scenario)


def print_summary(
    summary: Mapping[str, Any], out_dir: str | Path, console: Console | None = None
) -> None:
    """Print the summary of a run as a short table."""
    console = console or Console()
    table = Table(title=f"{summary['scenario']}: {summary['arith']} on {summary['target']}")
    table.add_column("quantity")
    table.add_column("value", justify="right")
    table.add_column("unit")
    steps = f"{summary['steps']} of {summary['step_s']:g} s, {summary['integrator']}"
    table.add_row("steps", steps, "")
    if summary.get("stopped"):
        table.add_row("stopped at", f"{summary['end_s']:.6g}", "s")
    for key in ("cycles", "seed"):
        if key in summary:
            table.add_row(key, str(summary[key]), "")
    table.add_row("float flags", " ".join(summary["flags"]) or "none", "")
    for key, text in (
        ("kinetic_difference_max_J", "kinetic energy: run - reference"),
        ("kinetic_difference_float64_max_J", "of this float64 - reference"),
        ("kinetic_rounding_max_J", "and run - float64 (rounding)"),
    ):
        if summary[key] is not None:
            table.add_row(text, f"{MILLI * summary[key]:.4g}", "mJ")
    for name, worst in (summary["differences_to_reference"] or {}).items():
        if name in ("q", "qd", "p"):
            table.add_row(f"worst {name} - reference", f"{worst['max']:.3g}", worst["unit"])
    if summary["reference"] is None:
        table.add_row("reference", "none", "")
    elif summary["reference_missing"]:
        table.add_row("reference ends at", f"{summary['reference_end_s']:.6g}", "s")
    table.add_row("worst change of energy", f"{MILLI * summary['energy_change_max_J']:.4g}", "mJ")
    if summary["loop_position_max_m"] or summary["loop_velocity_max_m_s"]:
        table.add_row("worst loop gap", f"{summary['loop_position_max_m']:.3g}", "m")
        table.add_row("worst loop velocity", f"{summary['loop_velocity_max_m_s']:.3g}", "m/s")
    console.print(table)
    console.print(f"files in {out_dir}", highlight=False, soft_wrap=True)


@contextlib.contextmanager
def progress(description: str, console: Console | None = None) -> Iterator[Callable[..., None]]:
    """A progress callback `update(done, total)` for the time of a run, shown on stderr.

    A bar on a terminal; elsewhere a plain line every few seconds, none for short runs.
    """
    console = console or Console(file=sys.stderr)
    last = time.monotonic()
    if not console.is_terminal:

        def line(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LINE_INTERVAL:
                last = now
                text = f"{description}: {done} of {total} steps"
                console.print(text, highlight=False, soft_wrap=True)

        yield line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} steps"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=None)

        def bar(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= BAR_INTERVAL or done == total:
                last = now
                bars.update(task, completed=done, total=total)

        yield bar
