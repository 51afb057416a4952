"""`make formats`: every float format of up to 32 bits, in every float unit, under Icarus.

Each format of each unit is one short run of its bench, as many at a time as there are cores; the
vectors and the unit's other parameters are random ones from the seed. Prints a table of those that
failed, with the commands that run them again. Exit status 1 if any failed, 2 for bad input.
"""

import contextlib
import io
import multiprocessing
import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.options import OptionParser, whole
from pymodel.hardware.bench import DEFAULT_SEED, MAX_SEED, Bench
from pymodel.hardware.simulators import require_usable
from pymodel.runs.input_error import InputError
from scripts.kernel.campaign import bar, wide_console
from tb.fp_add.bench import BENCH as FP_ADD
from tb.fp_mul.bench import BENCH as FP_MUL
from tb.fp_recip.bench import BENCH as FP_RECIP
from tb.fp_sincos.bench import BENCH as FP_SINCOS

MAX_WIDTH = 32
ASSERTION = "AssertionError: "
UNITS = {bench.name: bench for bench in (FP_ADD, FP_MUL, FP_RECIP, FP_SINCOS)}

Format = tuple[int, int]


class Job(NamedTuple):
    """One format of one unit, by the names of its bench and configuration."""

    unit: str
    config: str
    seed: int


def formats_of(bench: Bench) -> list[Format]:
    """The formats (exp_w, man_w) of up to 32 bits that a unit takes."""
    ranges = bench.random.ranges
    return [
        (exp_w, man_w)
        for exp_w in ranges["EXP_W"]
        for man_w in ranges["MAN_W"]
        if 1 + exp_w + man_w <= MAX_WIDTH
    ]


def parse_format(text: str) -> Format:
    """(exp_w, man_w) from ``<EXP_W>/<MAN_W>``.

    Raises
    ------
    InputError
        If it is written otherwise.
    """
    found = re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})", text)
    if not found:
        raise InputError(f"format {text!r}: must be <EXP_W>/<MAN_W>, such as 5/10")
    return int(found[1]), int(found[2])


def chosen_jobs(units: Sequence[str], formats: Sequence[Format], seed: int) -> list[Job]:
    """Those that are asked for; no units or formats are all of them.

    Raises
    ------
    InputError
        If there is no such unit, or a format is none of any unit.
    """
    for unit in units:
        if unit not in UNITS:
            raise InputError(f"no float unit {unit!r}: must be one of {', '.join(UNITS)}")
    jobs, found = [], set()
    for unit in units or UNITS:
        bench = UNITS[unit]
        wanted = [one for one in formats_of(bench) if not formats or one in formats]
        found |= set(wanted)
        rng = np.random.default_rng([seed, *unit.encode()])  # for parameters besides the format
        for exp_w, man_w in wanted:
            config = bench.random.draw_one(rng, EXP_W=exp_w, MAN_W=man_w)
            jobs.append(Job(unit, config.name, seed))
    missing = [f"{exp_w}/{man_w}" for exp_w, man_w in formats if (exp_w, man_w) not in found]
    if missing:
        raise InputError(
            f"{', '.join(missing)}: no format of up to {MAX_WIDTH} bits of these units"
        )
    return jobs


def run_job(job: Job) -> dict[str, Any]:
    """The result row of a job: see :meth:`pymodel.hardware.bench.Bench.run`."""
    with contextlib.redirect_stderr(io.StringIO()):  # cocotb-test names what failed there
        return UNITS[job.unit].run("icarus", job.config, seed=job.seed)


def run_all(jobs: Sequence[Job], workers: int, console: Console) -> list[dict[str, Any]]:
    """Run jobs, some at the same time; returns the rows of those that failed, in their order."""
    with multiprocessing.Pool(workers, initializer=_die_of_interrupts) as pool:
        rows = _shown(pool.imap_unordered(run_job, jobs), len(jobs), console)
        pool.close()
        pool.join()
    failed = [row for row in rows if row["result"] != "pass"]
    order = {(job.unit, job.config): place for place, job in enumerate(jobs)}
    return sorted(failed, key=lambda row: order[row["bench"], row["config"]])


def _die_of_interrupts() -> None:
    """One Ctrl-C ends every worker, without a traceback of each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _shown(rows: Iterable[dict[str, Any]], total: int, console: Console) -> list[dict[str, Any]]:
    """The rows, their number shown while they come, failed ones by name."""
    done = []
    with bar(console, "formats", total) as shown:
        for row in rows:
            done.append(row)
            shown.advance()
            if row["result"] != "pass":
                console.print(Text(f"failed: {row['bench']} {row['config']}"))
    return done


def print_failed(failed: Sequence[dict[str, Any]], console: Console) -> None:
    """What failed, the first line of why, and how to run it again."""
    table = Table(title="formats that failed")
    table.add_column("unit")
    table.add_column("format")
    table.add_column("message")
    for row in failed:
        params = row["params"]
        message = Text(_first_problem(row))
        table.add_row(row["bench"], f"{params['EXP_W']}/{params['MAN_W']}", message)
    console.print(table)
    console.print("run one again:")
    for row in failed:
        console.print(Text(f"  {row['rerun']}"), soft_wrap=True)


def _first_problem(row: dict[str, Any]) -> str:
    """The line of a failed run's message that says what differs, or its first line."""
    lines = row["message"].splitlines()
    said = [line.removeprefix(ASSERTION) for line in lines if line.startswith(ASSERTION)]
    return said[0] if said else lines[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.formats", description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help=f"of {', '.join(UNITS)} (default: all)")
    parser.add_argument("--formats", default="", help="only these, such as '4/16 5/26'")
    seeds = whole("SEED", 0, MAX_SEED)
    parser.add_argument("--seed", type=seeds, default=DEFAULT_SEED, help="of the vectors")
    console = wide_console()
    try:
        options = parser.parse_args(arguments)
        require_usable("icarus")
        formats = [parse_format(text) for text in options.formats.split()]
        jobs = chosen_jobs(options.units, formats, options.seed)
    except InputError as error:
        print(f"formats: {error}", file=sys.stderr)
        return 2
    failed = run_all(jobs, os.cpu_count() or 1, console)
    if failed:
        print_failed(failed, console)
    console.print(f"{len(jobs)} formats, {len(failed)} failed", highlight=False)
    return 1 if failed else 0
