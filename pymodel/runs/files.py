"""The folder of a run: tables, summary, scenario and plots, written once and drawn again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import columns, lagrangian, pictures
from pymodel.runs.alone import alone_in
from pymodel.runs.comparison import with_signs_of
from pymodel.runs.finished import FinishedRun
from pymodel.runs.input_error import InputError
from pymodel.runs.joint_forces import joint_forces, read_forces, write_forces
from pymodel.runs.progress import progress
from pymodel.runs.summary import Summary, label, summarise, write_summary
from pymodel.runs.trajectory import Trajectory, TrajectoryError, read_csv, write_csv
from pymodel.runs.whole import replacing

RUN, REFERENCE, TWIN = "run.csv", "reference.csv", "float64.csv"
SUMMARY, SCENARIO = "summary.json", "scenario.toml"
NUMBER, ZERO, GIGA = 19, 4, 1e9  # bytes of a number in a table, of 0.0; of a gigabyte
DIGEST = "scenario_sha256"  # of the copy, by which it is told from a file of the user's own
FORCES, FORCE_PLOT, ANIMATION = "forces.csv", "forces.png", "animation.gif"
VIEW = "view.html"
ON_REQUEST = (FORCES, FORCE_PLOT, ANIMATION, VIEW)
HANDOVER = "cosim.json"  # what a simulator tells of it
TABLES = (RUN, REFERENCE, TWIN, SUMMARY, HANDOVER)
OF_A_RUN = (*TABLES, *pictures.FILES, *pictures.FILES_OF_SOME, *ON_REQUEST)


def write_run(
    run: FinishedRun,
    out_dir: str | os.PathLike[str],
    *,
    twin: Trajectory | None = None,
    with_reference: bool = True,
    forces: bool = False,
) -> Summary:
    """Write everything that a run leaves behind into a folder and return its summary.

    Files: run.csv, reference.csv and float64.csv (where known), summary.json, scenario.toml,
    joints.png, kinetic_energy.png, overview.png; conserved.png for a mechanism that conserves its
    energy or a momentum, loop.png for one with loops; forces.csv and forces.png on request, and
    where a joint has a motion. Those of an earlier run are replaced or removed.

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
    with run_folder(out_dir, run.scenario) as new:
        return _write_run(run, Path(out_dir), new, twin, with_reference, forces)


def require_room(out: Path, scenario: Scenario, tables: int, forces: bool = False) -> None:
    """Refuse a run whose tables would not fit where they go.

    Parameters
    ----------
    out
        The folder; it is there.
    scenario
        What is run.
    tables
        How many are written: of the run, its twin, its reference.
    forces
        Whether the forces of the joints are written, too.

    Raises
    ------
    InputError
        Naming how much it takes, and how much there is.
    """
    rows = scenario.steps // scenario.save + 1
    of_joints, of_loops = 3 + scenario.nq + 2 * scenario.nv, 2
    zeros = 0 if scenario.loops else of_loops
    sizes = [(of_joints + of_loops, zeros)] * tables  # numbers in a row, and how many are 0
    if forces:
        joints = len(scenario.bodies) + len(scenario.loops)
        sizes.append((1 + scenario.nv + joints * (6 if scenario.spatial else 3), 0))
    texts = [rows * (NUMBER * (count - zeros) + ZERO * zeros) for count, zeros in sizes]
    waiting = [rows * 8 * (count + 1) if rows >= columns.LONG else 0 for count, _ in sizes]
    free, (most, _) = shutil.disk_usage(out).free, resource.getrlimit(resource.RLIMIT_FSIZE)
    need, largest = sum(texts) + sum(waiting), max(texts, default=0)
    if need > free or most != resource.RLIM_INFINITY and largest > most:
        there = f"{free / GIGA:.3g} GB are free"
        if need <= free:
            there = f"one of {largest / GIGA:.3g} GB: a file has at most {most / GIGA:.3g} GB here"
        reason = f"the tables of {rows} rows take about {need / GIGA:.3g} GB, {there}"
        raise InputError(f"{out}: {reason}: keep fewer steps (time.save), or give another folder")


@contextlib.contextmanager
def run_folder(
    out_dir: str | os.PathLike[str], scenario: Scenario, tables: int = 0, forces: bool = False
) -> Iterator[Path]:
    """A folder to write the files of a run into, which replace those of an earlier one at its end.

    :func:`write_run`, :func:`animate_run` and :func:`view_run` inside it write there, too. See
    :func:`pymodel.runs.whole.replacing`. It is given how many ``tables`` there will be if that is
    known before they are computed, and whether there will be ``forces``.

    Raises
    ------
    InputError
        If another process works there, a file of the user's own would be replaced, or the tables
        do not fit.
    """
    out = Path(out_dir)
    copied = (SCENARIO,) if _is_copy(out) else ()
    with replacing(out, (*OF_A_RUN, *copied), last=SUMMARY) as new:
        if not _is_free(out, scenario):
            reason = "is of no earlier run there, and would be replaced: move it away, or give"
            raise InputError(f"{out / SCENARIO}: {reason} another folder")
        require_room(out, scenario, tables, forces)
        with columns.on_disk(new):
            yield new


def _is_free(out: Path, scenario: Scenario) -> bool:
    """Whether a copy of the scenario can be put into a folder, or is not needed there."""
    kept, source = out / SCENARIO, Path(scenario.source)
    if not os.path.lexists(kept) or not source.is_file():
        return True
    if kept.exists() and kept.samefile(source):
        return True
    return _is_copy(out) or not kept.is_symlink() and kept.read_bytes() == source.read_bytes()


def _is_copy(out: Path) -> bool:
    """Whether the scenario in a folder is what an earlier run has put there."""
    kept = out / SCENARIO
    if kept.is_symlink() or not kept.is_file():
        return False
    try:
        return bool(read_summary(out).get(DIGEST, _digest(kept)) == _digest(kept))
    except TrajectoryError:
        return False


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _write_run(
    run: FinishedRun,
    out: Path,
    new: Path,
    twin: Trajectory | None,
    with_reference: bool,
    forces: bool,
) -> Summary:
    from pymodel.runs import force_plot, plots  # slow to import, and most commands draw nothing

    source, digest = Path(run.scenario.source), None
    if source.is_file() and source.resolve() != (out / SCENARIO).resolve():
        shutil.copyfile(source, new / SCENARIO)
        digest = _digest(new / SCENARIO)

    write_csv(new / RUN, run.kept)
    if twin is not None:
        twin = twin.first(len(run.kept))
        write_csv(new / TWIN, twin)
    exact: Trajectory | None = None
    missing: str | None = "not asked for"
    if with_reference:
        exact, missing = _reference(run)
        if exact is not None:
            write_csv(new / REFERENCE, exact)
    found = None
    if forces or run.scenario.moved:
        found = joint_forces(run.scenario, run.kept)
        write_forces(new / FORCES, found)
        force_plot.plot_forces(found, run.scenario, path=new / FORCE_PLOT)
    summary = summarise(run, exact, missing, twin, found) | {DIGEST: digest}
    plots.plot_run(
        run.kept,
        exact,
        new,
        run.scenario.name,
        label=label(summary),
        twin=twin,
        scenario=run.scenario,
    )
    write_summary(new / SUMMARY, summary)
    return summary


def _reference(run: FinishedRun) -> tuple[Trajectory | None, str | None]:
    """The reference as far as it goes, and why no further."""
    exact: Trajectory | None
    missing: str | None
    try:
        with progress(f"{run.scenario.name}: reference", unit="rows") as update:
            exact = lagrangian.simulate(run.scenario, run.kept.t, update)
        missing = None
    except lagrangian.NoReferenceError as error:
        exact, missing = error.trajectory, str(error)
    return exact and with_signs_of(run.kept, exact, run.scenario), missing


def animate_run(out_dir: str | os.PathLike[str], scenario: Scenario) -> Path:
    """Animate the run that :func:`write_run` left in a folder.

    Raises
    ------
    TrajectoryError
        If it is not whole.
    OSError
        If the file cannot be written.
    """
    from pymodel.runs import animation

    with run_folder(out_dir, scenario) as new:
        here = new if (new / SUMMARY).exists() else Path(out_dir)
        animation.animate(read_run(here), scenario, here / ANIMATION)
    return Path(out_dir) / ANIMATION


def view_run(out_dir: str | os.PathLike[str], scenario: Scenario) -> Path:
    """Write the page that shows the run that :func:`write_run` left in a folder.

    Raises
    ------
    TrajectoryError
        If it is not whole.
    InputError
        If the viewer is not installed.
    OSError
        If the file cannot be written.
    """
    from pymodel.runs import scene, view

    with run_folder(out_dir, scenario) as new:
        here = new if (new / SUMMARY).exists() else Path(out_dir)
        view.write(scene.of_mechanism(read_run(here), scenario), here / VIEW)
    return Path(out_dir) / VIEW


def read_summary(folder: Path) -> Summary:
    """Read the summary of a run, which a run writes last.

    Raises
    ------
    TrajectoryError
        If there is none, or it is damaged.
    """
    path = folder / SUMMARY
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        reason = f"the run in {folder} is not whole: it has no {SUMMARY}"
        raise TrajectoryError(f"{reason}, which is written last") from None
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("rows"), int):
        raise TrajectoryError(f"{path}: not the summary of a run")
    return found


def read_run(folder: Path) -> Trajectory:
    """Read the table of a run that is whole.

    Raises
    ------
    TrajectoryError
        If the folder has none, or one with other rows than its summary says.
    """
    run = read_csv(folder / RUN)
    summary = read_summary(folder)
    if len(run) != summary["rows"]:
        reason = f"{len(run)} rows, {SUMMARY} says {summary['rows']}: the run is not whole"
        raise TrajectoryError(f"{folder / RUN}: {reason}")
    return run


def read_table(path: str | os.PathLike[str]) -> Trajectory:
    """Read any table of a run; one that is of a folder of a run must be whole.

    Raises
    ------
    TrajectoryError
        If it is no table, or not whole.
    """
    path = Path(path)
    if path.name == RUN and path.is_file():
        return read_run(path.parent)
    return read_csv(path)


def replot(out_dir: str | os.PathLike[str]) -> list[Path]:
    """Plot again what :func:`write_run` left in a folder: run.csv and summary.json are required.

    Returns
    -------
    list of Path
        The PNG files.

    Raises
    ------
    TrajectoryError, ScenarioError
        If a file is broken, not of this run, or the run not whole.
    InputError
        If another process works there.
    """
    out = Path(out_dir)
    run, summary = read_run(out), read_summary(out)
    with alone_in(out):
        return _replot(out, run, summary)


def _replot(out: Path, run: Trajectory, summary: Summary) -> list[Path]:
    from pymodel.runs import force_plot, plots

    exact, twin = (
        read_csv(out / name) if (out / name).exists() else None for name in (REFERENCE, TWIN)
    )
    if not len(run):
        raise TrajectoryError(f"{out / RUN}: has no rows, there is nothing to draw")
    for name, other in ((REFERENCE, exact), (TWIN, twin)):
        # the reference may end before the run
        times = run.t if other is None or name == TWIN else run.t[: len(other)]
        if other is not None and not np.array_equal(other.t, times):
            raise TrajectoryError(f"{out / name}: not at the times of {RUN}")
    if exact is not None and summary.get("reference_end_s", exact.t[-1]) != exact.t[-1]:
        end = f"{summary['reference_end_s']} s, as {SUMMARY} says"
        raise TrajectoryError(f"{out / REFERENCE}: does not end at {end}: the run is not whole")
    try:
        title, name = summary["scenario"], label(summary)
    except (KeyError, TypeError):
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
