"""A run as the command lines do it: the model with a progress display, and every run's end.

:func:`finish` is the one way from a finished run to its files; the model and simulated hardware
both take it, so that their results can be laid side by side.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.algorithms.requests import BASE
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.compile.native import NoCompilerError
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import native_runs
from pymodel.runs.files import run_folder, write_run
from pymodel.runs.finished import FinishedRun
from pymodel.runs.input_error import InputError
from pymodel.runs.judgement import ENERGY_NOT_FINITE, warnings_of
from pymodel.runs.loss import with_loss
from pymodel.runs.options import algorithm_options
from pymodel.runs.progress import progress
from pymodel.runs.recorder import joint_limit
from pymodel.runs.summary import Summary, print_summary
from pymodel.runs.trajectory import Trajectory

MODEL, NATIVE = "model", "native"

DONE, BROKE_OFF = 0, 1  # exit status of a run


def run_model(
    scenario: Scenario,
    arithmetic: str,
    out: str | os.PathLike[str],
    *,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int = 0,
    target: str = MODEL,
    with_reference: bool = True,
    forces: bool = False,
) -> tuple[Summary | None, int]:
    """Run a scenario on the model and finish the run; returns what :func:`finish` does.

    Parameters
    ----------
    scenario
        The scenario.
    arithmetic
        As for :func:`pymodel.arith.scalars.parse`.
    out
        The folder.
    shape, base, rebase, project
        As for :func:`pymodel.runs.simulate.simulate`.
    target
        ``model``, which native code computes where that pays, or ``native``: that in any case.
    with_reference
        Whether to compare with the reference.
    forces
        Whether to write the forces of the joints.

    Raises
    ------
    InputError
        If the arithmetic is unknown or has no native code, an option is out of its range, or the
        folder is another process's, or has a file of the user's own.
    ScenarioError
        If the integrator is adaptive, but not the target the model in float64.
    OSError
        If the folder cannot be made: before the run, which may take a while.
    """
    if target == NATIVE or _name(arithmetic) != "float64":
        scenario.require_fixed_steps()
    options = algorithm_options(shape, base, rebase, project, dashes="--")
    tables = 1 + (_name(arithmetic) != "float64") + with_reference
    with run_folder(out, scenario, tables, forces):
        run = simulated(scenario, arithmetic, target=target, **options)
        return finish(run, out, with_reference=with_reference, forces=forces)


def simulated(
    scenario: Scenario,
    arithmetic: str,
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int = 0,
    target: str = MODEL,
) -> FinishedRun:
    """Run a scenario on the model, with its progress on the terminal, and leave no files.

    Parameters
    ----------
    scenario, arithmetic, shape, base, rebase, project, target
        As for :func:`run_model`.

    Raises
    ------
    InputError
        If the arithmetic is unknown or has no native code.
    """
    name = _name(arithmetic)
    options = {"shape": shape, "base": base, "rebase": rebase, "project": project}
    title = f"{scenario.name}: {name}"
    if target == NATIVE:
        if not native_runs.possible(scenario, scalars.parse(name), base):
            raise InputError(
                "target native: float64 or at most 8/23 only, and a base other than ldup"
            )
        try:
            found = _simulate(scenario, name, title, options, native_runs.simulate)
            return FinishedRun(scenario, *found, NATIVE, name, options)
        except NoCompilerError as error:
            print(f"{error}; running on the model instead", file=sys.stderr)
    found = _simulate(scenario, name, title, options)
    return FinishedRun(scenario, *found, MODEL, name, options)


def _name(arithmetic: str) -> str:
    try:
        return scalars.parse(arithmetic).name
    except ValueError as error:
        raise InputError(str(error)) from None


def _simulate(
    scenario: Scenario,
    arithmetic: str,
    title: str,
    options: Mapping[str, Any],
    run: Callable[..., Trajectory] = native_runs.fastest,
) -> tuple[Trajectory | None, str | None]:
    """The model's trajectory as far as it is finite, and why the run broke off."""
    stopped = None
    try:
        with progress(title) as update:
            trajectory = run(scenario, arithmetic, progress=update, **options)
    except RunError as error:
        stopped, trajectory = str(error), error.trajectory
    if trajectory is not None and len(finite := trajectory.finite_part()) < len(trajectory):
        stopped = stopped or f"{scenario.source}: {ENERGY_NOT_FINITE}"
        trajectory = finite
    return trajectory, stopped


@np.errstate(over="ignore", invalid="ignore")  # its numbers may be beyond float64
def finish(
    run: FinishedRun,
    out: str | os.PathLike[str],
    *,
    with_reference: bool = True,
    forces: bool = False,
) -> tuple[Summary | None, int]:
    """Finish any run: its float64 twin, its files, its summary on the terminal.

    Parameters
    ----------
    run
        The run; where it broke off, what there is so far is saved.
    out
        Folder for the files.
    with_reference
        Whether to compare with the reference.
    forces
        Whether to write the forces of the joints.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        :data:`DONE` or :data:`BROKE_OFF`.
    """
    if run.stopped:
        print(f"{run.stopped}; the run ends there", file=sys.stderr)
    trajectory, scenario = run.trajectory, run.scenario
    if not trajectory:
        return None, BROKE_OFF
    status = BROKE_OFF if run.stopped else DONE
    twin = None
    if run.arithmetic != "float64":
        title = f"{scenario.name}: float64 twin"
        twin, _ = _simulate(scenario, "float64", title, run.options)
        if twin is not None and trajectory.joint_condition is None:  # hardware does not watch it
            worst = {
                name: getattr(twin, name) for name in ("joint_condition", "joint_condition_time")
            }
            trajectory = replace(trajectory, **worst)
        if twin is None or len(twin) < len(trajectory):
            print("the float64 twin ends before the run and is left out", file=sys.stderr)
            twin = None
    trajectory = with_loss(scenario, trajectory, twin, **run.options)
    run = replace(run, trajectory=trajectory)
    judged_by = None if run.stopped else twin
    for warning in warnings_of(scenario, trajectory, run.arithmetic, judged_by):
        print(warning, file=sys.stderr)
    condition, roundoff = trajectory.joint_condition, scalars.parse(run.arithmetic).unit_roundoff
    if condition is not None and not condition < joint_limit(roundoff):
        status = BROKE_OFF
    summary = write_run(run, out, twin=twin, with_reference=with_reference, forces=forces)
    print_summary(summary, out)
    return summary, status
