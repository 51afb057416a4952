"""The subcommands `sweep` and `sweep-map`: many runs, and a map of them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pymodel.app import words
from pymodel.app.engines import engine
from pymodel.app.options import ENGINE, TWIN, Asked
from pymodel.app.start import INTERRUPTED, ended_by
from pymodel.runs import show
from pymodel.runs.backends import twin_backend
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress

if TYPE_CHECKING:
    from pymodel.runs.backends import Backend
    from pymodel.runs.ensemble import Ensemble
    from pymodel.runs.sweep_files import Columns

DONE, SOME_FAILED = 0, 1  # exit status
PATIENCE = 10.0  # s that workers may take to start without a word


def sweep(arguments: Asked) -> int:
    """Run variations of a scenario, on a grid or at random, on all cores or a cluster."""
    from pymodel.runs import sweep as sweeps
    from pymodel.runs.sweep_files import Parts

    target = _backend(arguments)
    asked = sweeps.prepare(
        arguments.scenario,
        _varied(arguments.vary),
        count=arguments.count,
        seed=arguments.seed,
        steps=arguments.steps,
        arithmetic=arguments.arithmetic,
        target=target,
        base=arguments.base,
        rebase=arguments.rebase,
        project=arguments.project,
    )
    title, total = asked.ensemble.data["name"], len(asked.ensemble)
    done, earlier = 0, total  # all, unless it is told that some are missing
    try:
        with (
            Parts.alone(arguments.out, asked.description) as parts,
            progress(title, "starting workers", unit="variations", patience=PATIENCE) as update,
        ):

            def count(now: int, all_: int) -> None:
                nonlocal done, earlier
                done, earlier = now, min(earlier, now)
                update(now, all_)

            table = sweeps.run(asked, parts, arguments.workers, arguments.scheduler, count)
    except KeyboardInterrupt as error:
        kept = f"{done} of {total} variations are kept, the same command goes on"
        print(f"{ended_by(error)}; {kept}", file=sys.stderr)
        return INTERRUPTED
    status = _tell(table, earlier, arguments.out)
    _tell_of_map(asked.ensemble, arguments.out)
    return status


def _backend(asked: Asked) -> str | Backend:
    """Where the variations run."""
    if asked.target == TWIN:
        engine(asked.arithmetic, asked.lanes)  # refuses what it can never run
        return twin_backend(asked.lanes)
    if asked.target != ENGINE:
        return asked.target
    from pymodel.app import sweep_engine  # cocotb takes a second
    from pymodel.app.hardware_run import usable_simulator

    engine(asked.arithmetic, asked.lanes)
    simulator = usable_simulator(asked.simulator)
    return sweep_engine.backend(asked.arithmetic, asked.lanes, simulator)


def _varied(texts: list[str]) -> dict[str, str]:
    """Key -> values of the options."""
    found = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals:
            raise InputError(f"--vary {text}: must be KEY=VALUES, as body[0].mass=0.5:2.0:11")
        if key in found:
            raise InputError(f"--vary {key}: is given twice")
        found[key] = values
    return found


def _tell(table: Columns, earlier: int, out: str) -> int:
    """Print how the variations ended, and how many of them had before."""
    status = table["status"]
    failed = np.flatnonzero(status == "failed")
    for row in failed[:1]:
        more = f" ({len(failed) - 1} more failed: column reason)" if len(failed) > 1 else ""
        print(f"variation {row} failed: {table['reason'][row]}{more}", file=sys.stderr)
    warned = np.flatnonzero((status == "done") & (table["reason"] != ""))
    for row in warned[:1]:
        said = f"{len(warned)} done with a warning (column reason), variation {row} is the first"
        print(f"{said}: {table['reason'][row]}", file=sys.stderr)
    counts = ", ".join(f"{(status == x).sum()} {x}" for x in ("done", "stopped", "failed"))
    there = f"; {earlier} of them were there already" if earlier else ""
    print(f"{len(status)} variations: {counts}{there}; {out}")
    return SOME_FAILED if len(failed) else DONE


def _tell_of_map(ensemble: Ensemble, out: str) -> None:
    """Say how the variations can be drawn, if they are a grid of two keys with numbers."""
    keys = list(ensemble.grids)
    numbers = all(
        len(set(grid.values)) > 1 and not any(isinstance(x, str) for x in grid.values)
        for grid in ensemble.grids.values()
    )
    if len(keys) == len(ensemble.varied) == 2 and numbers:
        options = ["--x", keys[0], "--y", keys[1], "--value", "q0"]
        options += ["--out", str(Path(out).with_suffix(".png"))]
        print(f"to draw it: {words.program()} sweep-map {shlex.join([out, *options])}")


def sweep_map(arguments: Asked) -> int:
    """Draw a column of a sweep's table as colours over two of the varied keys."""
    from pymodel.runs.sweep_files import read_table, scenario_of
    from pymodel.runs.sweep_plot import plot_map

    if arguments.show:
        show.require_display()
    keys = (arguments.x, arguments.y)
    table, scenario = read_table(arguments.table), scenario_of(arguments.table)
    plot_map(table, keys, arguments.value, arguments.out, arguments.title or "", scenario)
    print(arguments.out)
    if arguments.show:
        show.show([arguments.out])
    return DONE
