"""`make regress`: benches x configurations x simulators x seeds, in parallel, here or on a cluster.

A unit of work is a configuration of a bench, fixed or drawn from the seed, a simulator and a seed.
Verdicts are kept in build/regress/<bench>/journal.jsonl as soon as they are there, by the content
of RTL, bench, model and data: a regression that was cut short goes on with the same command. Of
each test that failed the shortest stimulus is searched that still fails, and its waveform kept.

Writes build/regress/junit.xml, coverage.json and the waveforms. Exit status 1 if a unit failed or
a bench was never begun, 2, after one line, for bad input, 130 for Ctrl-C.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.options import OptionParser, one_of, whole
from pymodel.app.start import INTERRUPTED, ended_by, status_of
from pymodel.hardware import times
from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED, Bench
from pymodel.hardware.simulators import SIMULATORS, usable
from pymodel.runs.alone import alone_in
from pymodel.runs.input_error import InputError
from pymodel.runs.progress import progress
from pymodel.runs.whole import whole_file
from pymodel.runs.workers import Run, address, workers
from scripts.dev.regress.junit import write_junit
from scripts.dev.regress.minimal import minimised
from scripts.dev.regress.regression import Regression
from scripts.dev.waves.choose import shown
from scripts.kernel.journal import Row
from scripts.kernel.simulations import (
    FOLDER,
    chosen_benches,
    first_seeds,
    new_seeds,
    run_unit,
    units_of,
)

JUNIT, COVERED = FOLDER / "junit.xml", FOLDER / "coverage.json"
MOST_SEEDS, MOST_HOURS, MOST_WORKERS = 10**6, 1000, 1024
HOUR_S = 3600
WIDTH = 150  # columns where there is no terminal
ALL = "all"


def run_all(regression: Regression, run: Run, total: int | None, until: float | None) -> None:
    """Run what has no verdict, then search the shortest runs of what failed."""
    console = Console(file=sys.stderr, width=None if sys.stderr.isatty() else WIDTH)
    start, unit_ = time.time(), "runs" if until is None else "s"
    with progress("regress", console=console, unit=unit_) as update:

        def tell() -> None:
            done = len(regression.rows) if until is None else int(time.time() - start)
            update(done, total if until is None else max(done, int(until - start)))

        for unit, found in run(run_unit, regression.todo()):
            row = regression.add(unit, found)
            if row["result"] != "pass":
                console.print(Text(f"failed: {unit.name}: {said(row)}"), soft_wrap=True)
            tell()
    write(regression)  # the search may take long
    known = regression.minimal()
    left = [failure for failure in regression.failures if failure.key not in known]
    if left:
        with progress("shortest failing runs", console=console, unit="tests") as update:
            for number, (failure, found) in enumerate(run(minimised, left), 1):
                regression.keep(failure, found)
                update(number, len(left))


def write(regression: Regression) -> list[dict[str, Any]]:
    """Write what is known now; the rows of coverage."""
    write_junit(JUNIT, regression.found, regression.minimal())
    covered = regression.coverage()
    with whole_file(COVERED) as beside:
        beside.write_text(json.dumps(covered, indent=1) + "\n")
    return covered


def said(row: Row) -> str:
    """What a unit failed with, in a line."""
    tests = [test for test in row["tests"] if test["result"] == "fail"]
    if tests:
        return f"{tests[0]['name']}: {tests[0].get('why') or tests[0]['message'].splitlines()[0]}"
    return row["message"].splitlines()[0]


def owed(benches: Iterable[Bench], simulators: Collection[str]) -> list[str]:
    """Those of some benches that have a configuration for some simulators, by name."""
    return [b.name for b in benches if any({*c.sims} & {*simulators} for c in b.configs.values())]


def report(regression: Regression, benches: Sequence[str], console: Console) -> int:
    """Print and write what was found; the exit status, 1 too if one of these never began."""
    covered = write(regression)
    minimal, found = regression.minimal(), regression.found
    _print_benches(found, console)
    failed = regression.failed
    if failed:
        _print_failed(regression, minimal, console)
    bins, hit = (sum(row[name] for row in covered) for name in ("bins", "hit"))
    covers = f"coverage: {hit} of {bins} bins of {', '.join(row['unit'] for row in covered)}"
    begun = {unit.bench for unit in regression.asked}
    never = [name for name in benches if name not in begun]
    for line in (
        *([covers] if covered else []),
        *([f"never begun, HOURS was too short: {', '.join(never)}"] if never else []),
        *(str(shown(path)) for path in (JUNIT, COVERED)),
        f"{len(found)} runs, {regression.known} of them from the journal, {len(failed)} failed",
    ):
        console.print(line, highlight=False, soft_wrap=True)
    return int(bool(failed or never))


def _print_benches(found: Sequence[Row], console: Console) -> None:
    table = Table("bench", title="regression")
    for name in ("runs", "seeds", "checked values", "simulation s", "failed"):
        table.add_column(name, justify="right")
    for bench in dict.fromkeys(row["bench"] for row in found):
        own = [row for row in found if row["bench"] == bench]
        bad = sum(row["result"] != "pass" for row in own)
        table.add_row(
            bench,
            str(len(own)),
            str(len({row["seed"] for row in own})),
            str(sum(row["transactions"] for row in own)),
            f"{sum(row['wall_s'] for row in own):.0f}",
            Text(str(bad), "red" if bad else "green"),
        )
    console.print(table)


def _print_failed(regression: Regression, minimal: dict[str, Row], console: Console) -> None:
    """One block for each test that failed, so that commands can be copied."""
    for failure in regression.failures:
        row, found = regression.rows[failure.unit.key], minimal.get(failure.key)
        tests = {test["name"]: test for test in row["tests"]}
        seeds = sorted(regression.seeds_that_fail(failure))
        lines = [f"{failure.unit.bench}, {failure.test}: fails with seeds {_some(seeds)}"]
        if found:
            lines += [f"  {found['why'] or said(row)}"]
            lines += [
                f"  shortest: {found['how']}, {times.text(found['ns'])} ({found['runs']} runs)"
            ]
            lines += [f"  rerun:    {found['rerun']}"]
            if found["waves"]:
                lines += [
                    f"  waves:    make waves BENCH={failure.unit.bench} FILE={found['waves']}"
                ]
        else:
            message = tests[failure.test]["message"].splitlines()[0]
            lines += [f"  {message}", f"  rerun:    {row['rerun']} TEST={failure.test}"]
        console.print(Text("\n".join(lines)), soft_wrap=True)
    for unit in regression.failed:
        row = regression.rows[unit.key]
        if not any(test["result"] == "fail" for test in row["tests"]):
            console.print(Text(f"{unit.name}: {said(row)}\n  rerun:    {row['rerun']}"))


def _some(seeds: Sequence[int], most: int = 8) -> str:
    text = ", ".join(map(str, seeds[:most]))
    return text if len(seeds) <= most else f"{text} and {len(seeds) - most} more"


def _hours(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]+)?", text) or not 0 < float(text) <= MOST_HOURS:
        allowed = f"a number of hours, up to {MOST_HOURS}"
        raise argparse.ArgumentTypeError(f"HOURS={text}: must be {allowed}")
    return float(text)


def _parser() -> OptionParser:
    parser = OptionParser(prog="scripts.dev.regress.command", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("benches", nargs="*", help="only these (default: all)")
    add("--seeds", type=whole("SEEDS", 1, MOST_SEEDS), help="how many seeds (default: 1)")
    text = "the first seed (default: 1); with --hours what new seeds are drawn from (the date)"
    add("--seed", type=whole("SEED", 0, MAX_SEED), help=text)
    add("--hours", type=_hours, help="new seeds until so many hours are over")
    add("--sim", default=ALL, type=one_of("SIM", *SIMULATORS, ALL), help="only this simulator")
    text = "at the same time (default: one a core; 0: all in this process)"
    add("--workers", type=whole("WORKERS", 0, MOST_WORKERS), help=text)
    add(
        "--scheduler",
        type=_scheduler,
        metavar="ADDRESS",
        help="Dask scheduler whose workers run it instead",
    )
    return parser


def _simulators(sim: str, console: Console) -> list[str]:
    """Those that are asked for and there.

    Raises
    ------
    InputError
        If there is none.
    """
    wanted = SIMULATORS if sim == ALL else (sim,)
    there = [name for name in wanted if usable(name)]
    if not there:
        raise InputError(f"SIM={sim}: not installed; `make doctor` says how to get it")
    for name in set(wanted) - set(there):
        console.print(f"without {name}, which is not installed")
    return there


def _scheduler(text: str) -> str:
    """A type of argparse: a scheduler's address."""
    try:
        return address(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(_as_make_says(error)) from None


def _as_make_says(error: InputError) -> str:
    return f"{error}".replace("--scheduler ", "SCHEDULER=")


def run(options: argparse.Namespace) -> int:
    """Run it to its exit status.

    Raises
    ------
    InputError
        For bad input, when another regression runs, or when a cluster is lost.
    """
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    if options.scheduler and options.workers is not None:
        raise InputError(f"WORKERS={options.workers}: with SCHEDULER= its workers are used")
    benches = chosen_benches(options.benches)
    simulators = _simulators(options.sim, console)
    if options.hours is None:
        seed = DEFAULT_SEED if options.seed is None else options.seed
        seeds, until = first_seeds(seed, options.seeds or 1), None
        if seeds[-1] > MAX_SEED:
            raise InputError(f"SEEDS={options.seeds}: seeds go up to {MAX_SEED}")
        text = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seed}"
    else:
        seed = int(time.strftime("%Y%m%d")) if options.seed is None else options.seed
        if options.seeds is not None:
            raise InputError("SEEDS: say how many, or how many HOURS")
        seeds, until = new_seeds(seed), time.time() + options.hours * HOUR_S
        text = f"new seeds drawn from {seed}, until {time.strftime('%H:%M', time.localtime(until))}"
    many = f"{len(benches)} bench{'es' if len(benches) > 1 else ''}"
    console.print(f"regress: {many}, {text}", highlight=False)
    total = None
    if until is None:
        total = sum(1 for _ in units_of(benches, simulators, seeds))
        if not total:
            raise InputError(f"SIM={options.sim}: no configuration of these benches runs there")
    regression = Regression(units_of(benches, simulators, seeds), until)
    with alone_in(FOLDER):
        for old in (JUNIT, COVERED):
            old.unlink(missing_ok=True)
        try:
            with workers(options.workers, options.scheduler) as (_, run_):
                run_all(regression, run_, total, until)
        except InputError as error:  # by make's name
            raise InputError(_as_make_says(error)) from None
        except KeyboardInterrupt as error:
            write(regression)
            kept = f"{len(regression.rows)} verdicts are kept, the same command goes on"
            print(f"{ended_by(error)}; {kept}", file=sys.stderr)
            return INTERRUPTED
        return report(regression, owed(benches, simulators) if until else [], console)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return status_of(lambda: run(_parser().parse_args(arguments)))
