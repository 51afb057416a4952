"""The folder of a run: tables, summary, scenario and plots, written once and drawn again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import lagrangian, pictures
from pymodel.runs.comparison import with_signs_of
from pymodel.runs.finished import FinishedRun
from pymodel.runs.input_error import InputError
from pymodel.runs.joint_forces import joint_forces, read_forces, write_forces
from pymodel.runs.progress import progress
from pymodel.runs.summary import Summary, label, summarise, write_summary
from pymodel.runs.trajectory import Trajectory, TrajectoryError, read_csv, write_csv

RUN, REFERENCE, TWIN = "run.csv", "lagrangian.csv", "float64.csv"
SUMMARY, SCENARIO = "summary.json", "scenario.toml"
FORCES, FORCE_PLOT, ANIMATION = "forces.csv", "forces.png", "animation.gif"
ON_REQUEST = (FORCES, FORCE_PLOT, ANIMATION)
OF_A_RUN = (RUN, REFERENCE, TWIN, SUMMARY, *pictures.FILES, *pictures.FILES_OF_SOME, *ON_REQUEST)


def write_run(
    run: FinishedRun,
    out_dir: str | os.PathLike[str],
    *,
    twin: Trajectory | None = None,
    with_reference: bool = True,
    forces: bool = False,
) -> Summary:
    """Write everything that a run leaves behind into a folder and return its summary.

    Files: run.csv, lagrangian.csv and float64.csv (where known), summary.json, scenario.toml,
    joints.png, kinetic_energy.png, overview.png; conserved.png for a mechanism that conserves its
    energy or a momentum, loop.png for one with loops; forces.csv and forces.png on request. Those
    of an earlier run are replaced or removed.

    Parameters
    ----------
    run
        The run; its trajectory has at least one step.
    out_dir
        The folder.
    twin
        The same algorithm in float64, see :func:`pymodel.runs.summary.summarise`. If the run
        stopped early, only that part of the twin counts.
    with_reference
        Whether to compute the reference at the run's times. Mechanisms that it cannot solve get a
        summary without it, and the reason; where it ends before the run, at a singular posture or
        because it has worked for too long, the run is compared until there.
    forces
        Whether to write the forces of the joints.

    Raises
    ------
    OSError
        If a file cannot be written.
    TrajectoryError
        If a number is not finite.
    """
    out = Path(out_dir)
    out.mkdir(parents=True, exist_ok=True)
    with replaced(out):
        return _write_run(run, out, twin, with_reference, forces)


@contextlib.contextmanager
def replaced(out: Path, names: Iterable[str] = OF_A_RUN) -> Iterator[None]:
    """Replace files, those of a run: remove the earlier ones now.

    Where Ctrl-C or an InputError ends the run, none of its files is left.
    """
    _remove(out, names)
    try:
        yield
    except (KeyboardInterrupt, InputError):
        _remove(out, names)
        raise


def _remove(out: Path, names: Iterable[str]) -> None:
    for name in names:
        (out / name).unlink(missing_ok=True)


def _write_run(
    run: FinishedRun, out: Path, twin: Trajectory | None, with_reference: bool, forces: bool
) -> Summary:
    from pymodel.runs import force_plot, plots  # slow to import, and most commands draw nothing

    source = Path(run.scenario.source)
    if source.is_file() and source.resolve() != (out / SCENARIO).resolve():
        shutil.copyfile(source, out / SCENARIO)

    write_csv(out / RUN, run.trajectory)
    if twin is not None:
        twin = twin.first(len(run.trajectory))
        write_csv(out / TWIN, twin)
    exact, missing = None, "not asked for"
    if with_reference:
        exact, missing = _reference(run)
        if exact is not None:
            write_csv(out / REFERENCE, exact)
    found = None
    if forces:
        found = joint_forces(run.scenario, run.trajectory)
        write_forces(out / FORCES, found)
        force_plot.plot_forces(found, run.scenario, path=out / FORCE_PLOT)
    summary = summarise(run, exact, missing, twin, found)
    write_summary(out / SUMMARY, summary)
    plots.plot_run(
        run.trajectory,
        exact,
        out,
        run.scenario.name,
        label=label(summary),
        twin=twin,
        scenario=run.scenario,
    )
    return summary


def _reference(run: FinishedRun) -> tuple[Trajectory | None, str | None]:
    """The reference as far as it goes, and why no further."""
    try:
        with progress(f"{run.scenario.name}: reference", unit="rows") as update:
            exact, missing = lagrangian.simulate(run.scenario, run.trajectory.t, update), None
    except lagrangian.NoReferenceError as error:
        exact, missing = error.trajectory, str(error)
    return exact and with_signs_of(run.trajectory, exact, run.scenario), missing


def animate_run(out_dir: str | os.PathLike[str], scenario: Scenario) -> Path:
    """Animate the run that :func:`write_run` left in a folder; Ctrl-C removes all its files.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    from pymodel.runs import animation

    out = Path(out_dir)
    try:
        return animation.animate(read_csv(out / RUN), scenario, out / ANIMATION)
    except KeyboardInterrupt:
        _remove(out, OF_A_RUN)
        raise


def replot(out_dir: str | os.PathLike[str]) -> list[Path]:
    """Plot again what :func:`write_run` left in a folder; only run.csv is required.

    Returns
    -------
    list of Path
        The PNG files.

    Raises
    ------
    TrajectoryError, ScenarioError
        If a file is broken, or not of this run.
    """
    from pymodel.runs import force_plot, plots

    out = Path(out_dir)
    run, *others = (
        read_csv(out / name) if name == RUN or (out / name).exists() else None
        for name in (RUN, REFERENCE, TWIN)
    )
    if not len(run):
        raise TrajectoryError(f"{out / RUN}: has no rows, there is nothing to draw")
    for name, other in zip((REFERENCE, TWIN), others, strict=True):
        # the reference may end before the run
        times = run.t if other is None or name == TWIN else run.t[: len(other)]
        if other is not None and not np.array_equal(other.t, times):
            raise TrajectoryError(f"{out / name}: not at the times of {RUN}")
    exact, twin = others
    try:
        summary = json.loads((out / SUMMARY).read_text(encoding="utf-8"))
        title, name = summary["scenario"], label(summary)
    except (OSError, ValueError, KeyError, TypeError):
        title, name = out.resolve().name, "run"
    scenario = load(out / SCENARIO) if (out / SCENARIO).exists() else None
    if scenario is not None and (scenario.nq, scenario.nv) != (run.nq, run.nv):
        raise TrajectoryError(f"{out / SCENARIO}: not the mechanism of {RUN}")
    drawn = plots.plot_run(run, exact, out, title, label=name, twin=twin, scenario=scenario)
    if scenario is None or not (out / FORCES).exists():
        return drawn
    found = read_forces(out / FORCES)
    if not np.array_equal(found.t, run.t):
        raise TrajectoryError(f"{out / FORCES}: not at the times of {RUN}")
    try:
        force_plot.plot_forces(found, scenario, path=out / FORCE_PLOT)
    except InputError:
        raise TrajectoryError(f"{out / FORCES}: not the mechanism of {SCENARIO}") from None
    return [*drawn, out / FORCE_PLOT]
