"""Subcommands about many runs: what `python -m pymodel sweep` and `make sweep` do, and its map."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pymodel.app.start import INTERRUPTED, ended_by
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress

if TYPE_CHECKING:
    from pymodel.runs.backends import Backend
    from pymodel.runs.ensemble import Ensemble
    from pymodel.runs.sweep_files import Columns

DONE, SOME_FAILED = 0, 1  # exit status
MAP_COMMAND = "python -m pymodel sweep-map"  # as it is typed
PATIENCE = 10.0  # s that workers may take to start without a word


def sweep_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`sweep`."""
    add = parser.add_argument
    add("scenario", help="scenario file (TOML)")
    text = "a key of the file, as body[0].mass, and its values: <first>:<last>:<count>, "
    text += "<value>,<value>.., random(<low>,<high>) or normal(<mean>,<deviation>); "
    text += "once for each key"
    add("--vary", action="append", required=True, metavar="KEY=VALUES", help=text)
    text = "draw so many random values, at each point of the grid if there is one"
    add("--count", type=int, metavar="N", help=text)
    add("--seed", type=int, metavar="N", help="of the random values (default: 1)")
    text = "table to write, .parquet or .csv; the same command goes on after an interruption"
    add("--out", required=True, metavar="TABLE", help=text)
    text = "where each runs: model (default), native (compiled C), or engine (simulated RTL, only "
    add("--target", default="model", help=text + "by `make sweep`)")
    text = "float32 (default), float64, or <EXP_W>/<MAN_W> such as 5/10"
    add("--arith", default="float32", metavar="FORMAT", help=text)
    add("--steps", type=int, help="run this many steps instead of until the end")
    add("--base", help="how the base of a closed chain is solved")
    text = "re-base the momenta of a mechanism with loops every K steps (default: never)"
    add("--rebase", type=int, default=0, metavar="K", help=text)
    text = "processes (default: one a core; 0: all in this process)"
    add("--workers", type=int, metavar="N", help=text)
    text = "Dask scheduler whose workers are used instead, as tls://host:8786"
    add("--scheduler", metavar="ADDRESS", help=text)


def sweep(arguments: argparse.Namespace, backends: Mapping[str, Backend] | None = None) -> int:
    """Run variations of a scenario, on a grid or at random, on all cores or a cluster."""
    from pymodel.runs import sweep as sweeps
    from pymodel.runs.sweep_files import Parts

    target = (backends or {}).get(arguments.target, arguments.target)
    if target == "engine":
        raise InputError("--target engine: simulates the RTL, by `make sweep TARGET=engine`")
    asked = sweeps.prepare(
        arguments.scenario,
        _varied(arguments.vary),
        count=arguments.count,
        seed=arguments.seed,
        steps=arguments.steps,
        arithmetic=arguments.arith,
        target=target,
        base=arguments.base,
        rebase=arguments.rebase,
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
        words = ["--x", keys[0], "--y", keys[1], "--value", "q0"]
        words += ["--out", str(Path(out).with_suffix(".png"))]
        print(f"to draw it: {MAP_COMMAND} {shlex.join([out, *words])}")


def sweep_map_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of :func:`sweep_map`."""
    add = parser.add_argument
    add("table", help="table of a sweep, .parquet or .csv")
    add("--x", required=True, metavar="KEY", help="varied key to the right")
    add("--y", required=True, metavar="KEY", help="varied key upwards")
    text = "column that the colours show, as q0 or energy_change"
    add("--value", required=True, metavar="COLUMN", help=text)
    add("--out", required=True, metavar="PNG", help="picture to write")
    add("--title", default="", help="stands above it (default: what is shown)")


def sweep_map(arguments: argparse.Namespace) -> int:
    """Draw a column of a sweep's table as colours over two of the varied keys."""
    from pymodel.runs.sweep_files import read_table, scenario_of
    from pymodel.runs.sweep_plot import plot_map

    keys = (arguments.x, arguments.y)
    table, scenario = read_table(arguments.table), scenario_of(arguments.table)
    plot_map(table, keys, arguments.value, arguments.out, arguments.title, scenario)
    print(arguments.out)
    return DONE
