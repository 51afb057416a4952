"""`make mutate`: how many planted faults the benches and the proofs find.

Yosys plants faults of one bit into the netlist of a unit: an output or input of a cell stuck,
inverted, or inverted where another bit is set. All of them are in one netlist, behind one select.
It takes the unit's place under the unit's own bench, which runs once for each fault as the
regression runs it, and has found it if a check fails. SAT looks whether those that are not found
change anything; if so, each proof of `make formal` that has the faulty cell is run with the fault.

Verdicts are kept in build/mutate/<unit>/ as soon as they are there, by the content of RTL, bench,
proofs and fault: a campaign that was cut short goes on. Writes build/mutate/summary.json, one row
a unit, of the verdicts that there are.
Exit status 1 if a unit misses its goal, 2, after one line, when a tool fails or for bad input.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pymodel.app.options import OptionParser, whole
from pymodel.arith.errors import Error
from pymodel.hardware.bench import MAX_SEED
from pymodel.runs.alone import alone_in
from scripts.evidence.mutate.campaign import FOLDER, KILLED, SURVIVED, Campaign, Row
from scripts.evidence.mutate.errors import MutateError
from scripts.evidence.mutate.netlist import SELECT_W
from scripts.evidence.mutate.units import UNITS, Unit, chosen
from scripts.kernel.campaign import bar, wide_console
from scripts.kernel.journal import Summary
from scripts.kernel.set_up import add_set_up, set_up

COUNT, SEEDS = 120, (1,)
MOST = (1 << SELECT_W) - 1  # mutants of a unit
MOST_WORKERS = 64
SUMMARY = Summary(FOLDER / "summary.json", UNITS)


def table(rows: Sequence[Row]) -> Table:
    """What is printed at the end."""
    shown = Table("unit", "mutants", "killed", "equivalent", "survived", "score %", "goal %")
    for row in rows:
        met = "green" if row["score"] >= row["goal"] else "red"
        words = [row[name] for name in ("unit", "mutants", KILLED, "equivalent", SURVIVED)]
        words += [Text(f"{row['score']:.1f}", met), f"{row['goal']:.0f}"]
        shown.add_row(*(word if isinstance(word, Text) else str(word) for word in words))
    return shown


def judge(unit: Unit, options: argparse.Namespace, console: Console) -> list[Row]:
    """Judge a unit: its row, or none without a verdict."""
    campaign = Campaign(unit, options.count, options.seeds)
    rows = []
    with bar(console, unit.name, len(campaign.mutations), len(campaign.verdicts)) as shown:

        def tell(row: Row) -> None:
            shown.advance()
            if row["verdict"] != KILLED:
                console.print(f"  {row['verdict']}: {row['mutation']}", highlight=False)

        try:
            campaign.run(options.workers, tell)
        finally:
            if campaign.verdicts:
                rows.append(campaign.summary())
                SUMMARY.replace(unit.name, rows[-1])
    return rows


def run(options: argparse.Namespace, console: Console) -> list[Row]:
    """Judge the units that are asked for.

    Raises
    ------
    MutateError, CostError, FormalError
        For bad input, or when a tool fails.
    """
    rows, units, most = [], chosen(options.units), MOST // len(options.seeds)
    if options.count > most:
        raise MutateError(f"COUNT={options.count}: at most {most} with {len(options.seeds)} seeds")
    SUMMARY.read()  # a damaged file is told before the work, not behind it
    set_up(options.set_up)
    for unit in units:
        with alone_in(FOLDER / unit.name):
            rows += judge(unit, options, console)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.mutate.run", description=__doc__.splitlines()[0])
    parser.add_argument("units", nargs="*", help=f"{', '.join(UNITS)} (default: all)")
    add = parser.add_argument
    counts, seeds = whole("COUNT", 1, MOST), whole("SEED", 1, MAX_SEED)
    add("--count", type=counts, default=COUNT, help=f"mutants a unit and seed, {COUNT}")
    add("--seed", type=seeds, nargs="+", default=SEEDS, dest="seeds", help="one or more, 1")
    workers = whole("WORKERS", 1, MOST_WORKERS)
    add("--workers", type=workers, default=os.cpu_count(), help="at the same time")
    add_set_up(parser)
    console = wide_console()
    try:
        rows = run(parser.parse_args(arguments), console)
    except Error as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 2
    console.print(table(rows))
    return int(any(row["score"] < row["goal"] for row in rows))
