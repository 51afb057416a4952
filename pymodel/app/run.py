"""The subcommands `run` and `plot`: a scenario on any target, and its pictures again."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pymodel.app.checks import algorithm
from pymodel.app.engines import engine
from pymodel.app.options import BOARD, MODEL, NATIVE, TWIN, Asked
from pymodel.arith import scalars
from pymodel.arith.errors import RunError
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs, show
from pymodel.runs.files import animate_run, replot, run_folder, view_run
from pymodel.runs.finished import FinishedRun
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress
from pymodel.runs.session import finish, run_model
from pymodel.runs.summary import Summary
from pymodel.runs.view import require_viewer

DONE = 0  # exit status


def run(asked: Asked) -> int:
    """Run a scenario, compare it with the reference, write tables and plots; the exit status."""
    return run_and_tell(asked)[1]


def run_and_tell(asked: Asked) -> tuple[Summary | None, int]:
    """Run a scenario and leave its files.

    Returns
    -------
    summary : dict or None
        None if not even the first step was kept.
    status : int
        The exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    if asked.show:
        show.require_display()
    if asked.view:
        require_viewer()
    scenario = load(asked.scenario, asked.steps)
    if asked.animate and len(scenario.times) < 2:
        raise InputError("--animate: only for a run that keeps more than its start (save, steps)")
    options = algorithm(asked, scenario)
    # Animation and view, which come last, belong to the files, too.
    moving = asked.animate or asked.view
    with run_folder(asked.out, scenario) if moving else contextlib.nullcontext():
        summary, status = _run(scenario, asked, options)
        if asked.animate and summary and summary["rows"] > 1:
            print(f"motion in {animate_run(asked.out, scenario)}")
        if asked.view and summary:
            print(f"for a browser: {view_run(asked.out, scenario)}")
    if asked.show and summary:
        show.show(sorted(x for x in Path(asked.out).iterdir() if x.suffix in (".png", ".gif")))
    return summary, status


def _run(
    scenario: Scenario, asked: Asked, options: Mapping[str, Any]
) -> tuple[Summary | None, int]:
    if asked.target in (MODEL, NATIVE):
        return run_model(
            scenario,
            asked.arithmetic,
            asked.out,
            target=asked.target,
            with_reference=asked.reference,
            forces=asked.forces,
            **options,
        )
    if asked.target == TWIN:
        return _run_twin(scenario, asked, options)
    if asked.target == BOARD:
        from pymodel.app.board_run import run_board

        return run_board(asked)
    from pymodel.app.hardware_run import run_hardware  # cocotb takes a second

    return run_hardware(asked)


def _run_twin(
    scenario: Scenario, asked: Asked, options: Mapping[str, Any]
) -> tuple[Summary | None, int]:
    """Run on the cycle-accurate model of the engine."""
    scenario.require_fixed_steps()
    machine = engine(asked.arithmetic, asked.lanes)
    stopped = None
    # before the run, which may take a while
    with run_folder(asked.out, scenario, 2 + asked.reference, asked.forces):
        with progress(f"{scenario.name}: {TWIN}", "running", patience=1.0):
            try:
                trajectory = engine_runs.simulate(machine, scenario, **options)
            except RunError as error:
                trajectory, stopped = error.trajectory, str(error)
        name = scalars.parse(asked.arithmetic).name
        finished = FinishedRun(scenario, trajectory, stopped, TWIN, name, dict(options))
        return finish(finished, asked.out, with_reference=asked.reference, forces=asked.forces)


def plot(asked: Asked) -> int:
    """Draw the plots of an earlier run again."""
    if asked.show:
        show.require_display()
    drawn = replot(asked.dir)
    print(*drawn, sep="\n")
    if asked.show:
        show.show(drawn)
    return DONE
