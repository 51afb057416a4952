"""Which lanes and stages? Time a step of the double pendulum against area, on the step engine.

Reads build/synth/summary.json; writes pareto.json and pareto.png into build/synth and prints the
best of each number of lanes. Exit status 2, after one line, for bad input.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from pymodel.arith.errors import Error
from scripts.evidence.cost import points as of_engines
from scripts.evidence.cost.measured import check
from scripts.evidence.cost.pareto_plot import plot
from scripts.evidence.cost.points import SCENARIO, Point
from scripts.evidence.cost.summary import current_rows
from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT

JSON, PICTURE = OUT / "pareto.json", OUT / "pareto.png"
WIDTH = 150  # columns where there is no terminal


def show(points: Sequence[Point], console: Console) -> None:
    """Print the best of each number of lanes."""
    table = Table(title=f"step engine, {SCENARIO.replace('_', ' ')}: fastest by lanes")
    table.add_column("stages: add, mul, rec, sin cos")
    for head in ("cycles", "MHz", "µs a step", "LUT", "DSP"):
        table.add_column(head, justify="right")
    table.add_column("clock")
    for of_lanes in of_engines.told(points).values():
        for point in of_lanes:
            table.add_row(
                of_engines.name(point),
                str(point["cycles"]),
                f"{point['fmax_mhz']:.1f}",
                f"{point['us']:.2f}",
                str(point["lut"]),
                str(point["dsp"]),
                "placed" if point["measured"] else "slowest unit's",
            )
        table.add_section()
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        rows = current_rows()
        check(rows)
    except Error as error:
        print(f"pareto: {error}", file=sys.stderr)
        return 2
    points = of_engines.combine(rows)
    (ROOT / JSON).write_text(json.dumps(points, indent=1) + "\n")
    plot(points, ROOT / PICTURE)
    show(points, Console(width=None if sys.stdout.isatty() else WIDTH))
    for path in (JSON, PICTURE):
        print(path)
    return 0
