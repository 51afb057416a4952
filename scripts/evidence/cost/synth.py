"""`make synth`: what the hardware costs, measured with Yosys and nextpnr.

Two flows. xc7: `synth_xilinx`, cells (not sites) and the logic delay that Yosys' `sta` finds, wires
not counted. ecp5: place and route on the LFE5U-85F of speed grade 6, the best clock of some seeds,
of one seed for large tops. A unit is measured inside a generated module (`wrapper`); on ecp5 that
module's registers are in the count. Tops are placed with registers moved into multipliers and
memories (`fold`). Co-processors are counted in parts (`boxes`).

Writes summary.json into build/synth: one row a measurement, as soon as it is there. A row is kept
as long as what the tools were given is the same (`source`). Exit status 2, after one line, when a
tool is missing or fails, or for bad input.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median

from rich.console import Console
from rich.table import Table

from pymodel.app.options import OptionParser, one_of, whole
from pymodel.arith.errors import Error
from scripts.evidence.cost.goals import GOALS
from scripts.evidence.cost.job import FAMILIES, SEEDS, Job, Key, Row, row_key
from scripts.evidence.cost.jobs import chosen_jobs
from scripts.evidence.cost.measure import SUMMARY, current, measure
from scripts.kernel.campaign import bar, in_threads, wide_console
from scripts.kernel.places import ROOT
from scripts.kernel.set_up import add_set_up, set_up
from scripts.kernel.tools import OUT

COLUMNS = ("stages", "family", "lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz")
LEGEND = f"""\
xc7: Yosys cells (LUT1-6, inverters not counted), delay of the logic alone.
ecp5: nextpnr on LFE5U-85F-6, registers of the wrapper included; tops with folded registers.
Co-processors: own logic, and each float unit counted as that unit alone.
Commands: in {OUT}/summary.json and in each log of {OUT}, for example"""


def verdicts(row: Row) -> str:
    """What the goals say about a row, with the markup of rich: `LUT ≤ 330 met`."""
    words = {True: "[green]met[/]", False: "[red]missed[/]"}
    mine = [goal for goal in GOALS if goal.is_for(row)]
    return ", ".join(f"{text} {words[met]}" for goal in mine for text, met in goal.judge(row))


def shorten(command: str) -> str:
    """A command without the list of RTL files."""
    return re.sub(r"rtl/\S+\.sv( rtl/\S+\.sv)+", "<its files of rtl/rtl.f>", command)


def middle_clock(row: Row) -> str:
    """The median clock of the seeds, if there were several."""
    clocks = row.get("fmax_mhz_of_seeds", ())
    return f"{median(clocks):g}" if len(clocks) > 1 else ""


def show(rows: Sequence[Row], console: Console) -> None:
    """Print rows as a table, and commands of one of each flow."""
    table = Table("unit", "config", "stages", "family", title="Cost of the hardware")
    for head in ("LUT", "DSP", "FF", "LUTRAM", "BRAM", "logic ns", "MHz", "median"):
        table.add_column(head, justify="right")
    table.add_column("goal, note")
    for row in rows:
        cells = ["" if row[name] is None else f"{row[name]}" for name in COLUMNS]
        cells.append(middle_clock(row))
        table.add_row(row["unit"], row["config"], *cells, row["note"] or verdicts(row))
    console.print(table)
    for line in LEGEND.splitlines():
        console.print(line)
    for row in {row["family"]: row for row in reversed(rows)}.values():
        for command in row["commands"][:2]:
            console.print(f"  {shorten(command)}", highlight=False, markup=False, soft_wrap=True)


def forecast(jobs: Sequence[Job], reused: int, before: Mapping[Key, Row], workers: int) -> str:
    """How many measurements there are, and how long they took last time, if they were made.

    Parameters
    ----------
    jobs : sequence of Job
        To be measured.
    reused : int
        Rows that are at hand.
    before : mapping
        Key of a job -> its last row.
    workers : int
        Measurements at the same time.
    """
    text = f"{len(jobs)} measurements to make, {reused} at hand"
    known = [before[job.key]["seconds"] for job in jobs if job.key in before]
    if known:
        minutes = sum(known) / workers / 60
        text += f"; {len(known)} of them took about {max(minutes, 1):.0f} min here before"
    return text


MOST_SEEDS, MOST_JOBS = 1000, 64


def measure_all(
    jobs: Sequence[Job],
    seeds: int,
    workers: int,
    console: Console,
    keep: Callable[[Job, Row], None],
) -> None:
    """Measure jobs, some at the same time, each row handed to `keep` as soon as it is there.

    Raises
    ------
    CostError
        At the first measurement that fails; those that run are finished.
    """
    with bar(console, "measurements", len(jobs)) as shown:

        def one(job: Job) -> None:
            shown.name(job.name)
            row = measure(job, seeds)
            keep(job, row)
            shown.advance()
            if not console.is_terminal:
                said = row["note"] or f"LUT {row['lut']}, MHz {row['fmax_mhz']}"
                console.print(f"  {job.name}: {said}, {row['seconds']} s", highlight=False)

        in_threads([partial(one, job) for job in jobs], workers)


def run(options: argparse.Namespace, console: Console) -> list[Row]:
    """The rows of the jobs that are asked for, measured where none is at hand.

    Raises
    ------
    CostError
        If a tool is missing or fails, or for bad input.
    """
    seeds, workers = options.seeds, options.jobs
    jobs = chosen_jobs(options.units, options.family or FAMILIES)
    old = SUMMARY.read()
    set_up(options.set_up)
    rows = {row_key(row): row for row in current(old.values(), seeds)}
    todo = [job for job in jobs if options.again or job.key not in rows]
    console.print(forecast(todo, len(jobs) - len(todo), old, workers), highlight=False)
    (ROOT / OUT).mkdir(parents=True, exist_ok=True)

    def keep(job: Job, row: Row) -> None:
        rows[job.key] = row
        SUMMARY.replace(job.key, row)

    measure_all(todo, seeds, workers, console, keep)
    return [rows[job.key] for job in jobs]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.cost.synth", description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help="module[:part of a config or name] (default: all)")
    add = parser.add_argument
    family, seeds = one_of("FAMILY", *FAMILIES), whole("SEEDS", 1, MOST_SEEDS)
    add("--family", type=family, action="append", help=f"only this flow: {', '.join(FAMILIES)}")
    add("--seeds", type=seeds, default=SEEDS, help=f"placements on ecp5 (default {SEEDS})")
    jobs = whole("--jobs", 1, MOST_JOBS)
    add("--jobs", type=jobs, default=os.cpu_count(), help="at the same time")
    add("--again", action="store_true", help="measure what is at hand, too")
    add_set_up(parser)
    console = wide_console()
    try:
        rows = run(parser.parse_args(arguments), console)
    except Error as error:
        print(f"synth: {error}", file=sys.stderr)
        return 2
    show(rows, console)
    return 0
