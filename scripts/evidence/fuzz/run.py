"""`make fuzz`: random accesses of the tops' registers, all compared with a model.

Reads and writes of any address with any strobes overlap, all five channels are held back at random,
resets come at any time, runs are begun, refused and cut short, numbers stand at their bounds. Each
answer is compared with the model's in the cycle of its access, a hang ends the run, and at the end
all that can be read is.
Writes build/fuzz/summary.json, one row a top, unless for waves.
Exit status 1 if a top differs or hangs, 2, after one line, for bad input or when a tool fails.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pymodel.app.options import OptionParser, whole
from pymodel.arith.errors import Error
from pymodel.hardware.bench import MAX_SEED
from pymodel.hardware.simulation import Task, simulate
from scripts.evidence.fuzz.units import UNITS
from scripts.kernel.campaign import bar, wide_console
from scripts.kernel.journal import Row, Summary
from scripts.kernel.measured_rtl import KEY, rtl_digest
from scripts.kernel.places import BUILD
from tb.fuzz.top import PROGRESS
from tb.fuzz.units import Unit

COUNT, SEED = 1_000_000, 1
MOST_COUNT = 10**9
LEAST_S = 0.1  # CPU time that makes a rate
BENCH, TEST, SIMULATOR = "fuzz", "fuzz", "verilator"
MODULE = f"tb.{BENCH}.test_{BENCH}"
FOLDER = BUILD / "fuzz"
SUMMARY = Summary(FOLDER / "summary.json", UNITS)
SHOWN = ("reads", "writes", "resets", "runs", "runs refused", "cycles", "cpu_s")


class FuzzError(Error):
    """Bad input, or a tool that fails: one line, exit status 2."""


class MismatchError(Exception):
    """A top is not its model: what differs, and the command that does it again."""


def fuzz(
    unit: Unit,
    count: int,
    seed: int,
    tell: Callable[[int], None] = lambda done: None,
    waves: bool = False,
    sources: tuple[Path, ...] = (),
) -> Row:
    """Fuzz a top; its row of the summary.

    Parameters
    ----------
    unit
    count
        Of accesses.
    seed
        That they are drawn from.
    tell
        Is told how many are done, now and then.
    waves
        Into build/waves/fuzz.
    sources
        Files of the top, if not its own.

    Raises
    ------
    MismatchError
        If it differs or hangs.
    FuzzError
        If it cannot be built or simulated.
    """
    place = f"-{seed}{os.environ.get('PYTEST_XDIST_WORKER', '')}{'-other' if sources else ''}"
    summary = FOLDER / f"{unit.name}{place}.json"
    summary.unlink(missing_ok=True)

    def watch(line: str) -> None:
        if line.startswith(PROGRESS):
            tell(int(line.removeprefix(PROGRESS)))

    about = {"unit": unit.name, KEY: rtl_digest(unit.name), "params": unit.params, "seed": seed}
    settings = {"count": count, "model": unit.model, "summary": str(summary)}
    command = f"make fuzz UNITS={unit.name} COUNT={count} SEED={seed}"
    told = (unit.name, SIMULATOR, seed, unit.params, settings, MODULE)
    task = Task(BENCH, *told, command=command, place=place)
    tests, problem, _ = simulate(unit.device(sources), task, TEST, waves, watch)
    if problem:
        raise FuzzError(f"{unit.name}: {problem}")
    if not summary.exists():
        raise MismatchError(tests[0]["message"] if tests else f"{unit.name}: no test ran")
    return about | json.loads(summary.read_text())


def table(rows: Sequence[Row]) -> Table:
    """What is printed at the end."""
    shown = Table("unit", *SHOWN, "accesses a CPU s")
    for row in rows:
        accesses, seconds = row["reads"] + row["writes"], row["cpu_s"]
        rate = f"{accesses / seconds:.0f}" if seconds >= LEAST_S else "-"
        shown.add_row(row["unit"], *(str(row.get(name, 0)) for name in SHOWN), rate)
    return shown


def run(options: argparse.Namespace, console: Console) -> tuple[list[Row], list[str]]:
    """Fuzz the tops that are asked for: their rows, and what is said of those that differ."""
    for name in options.units:
        if name not in UNITS:
            raise FuzzError(f"no unit {name}; units: {', '.join(UNITS)}")
    SUMMARY.read()  # a damaged file is told before the work, not behind it
    rows, wrong = [], []
    for name in options.units or UNITS:
        with bar(console, name, options.count) as shown:
            try:
                row = fuzz(UNITS[name], options.count, options.seed, shown.reach, options.waves)
            except MismatchError as error:
                wrong.append(str(error))
                row = None
            else:
                shown.reach(options.count)
                rows.append(row)
        if not options.waves:
            SUMMARY.replace(name, row)
    return rows, wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.fuzz.run", description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help=f"{', '.join(UNITS)} (default: all)")
    add = parser.add_argument
    counts, seeds = whole("COUNT", 1, MOST_COUNT), whole("SEED", 1, MAX_SEED)
    add("--count", type=counts, default=COUNT, help=f"accesses a top, {COUNT}")
    add("--seed", type=seeds, default=SEED, help=f"they are drawn from, {SEED}")
    add("--waves", action="store_true", help="dump waves into build/waves/fuzz")
    console = wide_console()
    try:
        rows, wrong = run(parser.parse_args(arguments), console)
    except Error as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    console.print(table(rows))
    print("\n".join(wrong), end="\n" if wrong else "")
    return int(bool(wrong))
