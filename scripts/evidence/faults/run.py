"""`make faults`: what becomes of a session with a top when one bit of a register flips.

Bits are drawn uniformly over all flip-flops of the top, a fifth of them over its memories, cycles
uniformly over the session; a fifth as many more are drawn of the bus' handshakes alone. Each is
flipped once behind a clock edge, in a process forked from one simulation, and the session goes on.

Rows are kept in build/faults/<top>/ by the content of RTL and bench: a campaign that was cut short
goes on. Writes build/faults/summary.json, one row a top.
Exit status 1 if a flip hangs a bus, or stops a run that neither CTRL.RESET nor the pin recovers; 2,
after one line, for bad input or when a tool fails.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from pymodel.app.options import OptionParser, fill_in, whole
from pymodel.arith.errors import Error
from pymodel.hardware.bench import MAX_SEED
from pymodel.runs.alone import alone_in
from scripts.evidence.faults.campaign import FOLDER, Campaign, FaultsError, Row
from scripts.evidence.faults.units import UNITS
from scripts.kernel.campaign import bar, wide_console
from scripts.kernel.journal import Summary

COUNT, SEED = 2500, 1
MOST_COUNT, MOST_WORKERS = 10**6, 64
DEFAULTS = {"count": COUNT, "seed": SEED, "workers": os.cpu_count()}
SUMMARY = Summary(FOLDER / "summary.json", UNITS)
SHOWN = {
    "injections": "injections",
    "masked": "masked",
    "detected": "detected",
    "stopped": "stopped",
    "silent": "silent",
    "undetected_with_residual": "undetected",
    "hangs": "hangs",
}


def rerun(unit: str, at: str) -> str:
    """The command that does one injection again, with waves."""
    return f'make faults UNITS={unit} AT="{at}" WAVES=1'


def complaint(unit: str, bad: Row) -> str:
    """What is said of an injection that may not end as it did."""
    register, _, cycle = bad["at"].rpartition("@")
    return (
        f"{unit}: {bad['verdict']} after a flip of {register} in cycle {cycle}: {bad['why']}\n"
        f"  rerun  {rerun(unit, bad['at'])}"
    )


def inject(campaign: Campaign, options: argparse.Namespace, console: Console) -> Row:
    """All injections of a top; its row of the summary.

    Raises
    ------
    FaultsError
        If a simulation fails.
    """
    name = campaign.unit.name
    console.print(f"{name}: building", highlight=False)
    campaign.look()
    drawn = campaign.draw(options.count, options.seed)
    handshakes = [] if options.drawn else campaign.handshakes(options.count, options.seed)
    todo = [*drawn, *handshakes]
    done = len(set(todo) & campaign.known().keys())
    with bar(console, name, len(set(todo)), done) as shown:
        campaign.run(todo, shown.advance)
    return campaign.summary(drawn, handshakes, options.seed)


def again(options: argparse.Namespace, console: Console) -> int:
    """Do one injection again; its exit status."""
    if len(options.units) != 1:
        raise FaultsError(f"AT={options.at}: name one of UNITS")
    (name,) = options.units
    with alone_in(FOLDER / name):
        campaign = Campaign(UNITS[name], 1)
        campaign.look()
        row = campaign.again(campaign.place(options.at), options.waves)
    console.print_json(json.dumps(row))
    return int(row["bad"])


def checked(options: argparse.Namespace) -> None:
    """Refuse what cannot be, in one line: FaultsError."""
    for name in options.units:
        if name not in UNITS:
            raise FaultsError(f"no unit {name}; units: {', '.join(UNITS)}")
    if options.waves and not options.at:
        raise FaultsError("WAVES=1: only with AT")
    for name in DEFAULTS if options.at else ():
        if (value := getattr(options, name)) is not None:
            raise FaultsError(f"{name.upper()}={value}: not with AT, which is one injection")


def table(rows: Sequence[Row]) -> Table:
    """What is printed at the end."""
    shown = Table("unit", *SHOWN.values())
    for row in rows:
        shown.add_row(row["unit"], *(str(row[name]) for name in SHOWN))
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.faults.run", description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help=f"{', '.join(UNITS)} (default: all)")
    add = parser.add_argument
    add("--count", type=whole("COUNT", 1, MOST_COUNT), help=f"injections a top, {COUNT}")
    add("--seed", type=whole("SEED", 1, MAX_SEED), help=f"they are drawn from, {SEED}")
    add("--workers", type=whole("WORKERS", 1, MOST_WORKERS), help="at the same time")
    add("--drawn", action="store_true", help="without those of the handshakes")
    add("--at", help="only <register>[<bit>]@<cycle>, as messages show it")
    add("--waves", action="store_true", help="of that, into build/waves/faults")
    console = wide_console()
    try:
        options = parser.parse_args(arguments)
        checked(options)
        if options.at:
            return again(options, console)
        fill_in(options, DEFAULTS)
        SUMMARY.read()  # a damaged file is told before the work, not behind it
        rows = []
        for name in options.units or UNITS:
            with alone_in(FOLDER / name):
                rows.append(inject(Campaign(UNITS[name], options.workers), options, console))
            SUMMARY.replace(name, rows[-1])
    except Error as error:
        print(f"faults: {error}", file=sys.stderr)
        return 2
    console.print(table(rows))
    bad = [complaint(row["unit"], one) for row in rows for one in row["bad"]]
    print("\n".join(bad), end="\n" if bad else "")
    return int(bool(bad))
