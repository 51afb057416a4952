"""``make coverage``: merges what the benches' simulations have met, and says what is missing.

Writes into build/coverage: summary.json (rows: unit, bins, hit, excluded), functional.xml (as
cocotb-coverage exports it) and index.html, a page with every hole and every exclusion. Exit
status 1 if a bin was not met that can be; 2, after one line, if there is nothing to merge.
"""

import argparse
import json
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from scripts.coverage.functional import CoverageError, Row, by_unit, fill, holes, read_met, rows
from scripts.coverage.page import write_page
from scripts.places import BUILD, ROOT
from tb.common.coverage.units import all_points
from tb.common.places import COVERED

OUT = BUILD / "coverage"
SUMMARY, XML, PAGE = OUT / "summary.json", OUT / "functional.xml", OUT / "index.html"
SHOWN = 10  # holes of a point


def print_table(some: Sequence[Row]) -> None:
    """Points, and how far they were met."""
    table = Table(title="functional coverage")
    for name in ("unit", "point"):
        table.add_column(name)
    for name in ("bins", "hit", "unreachable"):
        table.add_column(name, justify="right")
    for row in some:
        style = None if row.hit == row.bins else "red"
        table.add_row(*map(str, row), style=style)
    Console().print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    met = read_met(COVERED)
    if not met:
        print(f"{COVERED.relative_to(ROOT)} is empty: run `make test` first", file=sys.stderr)
        return 2
    points = all_points()
    try:
        database = fill(points, met)
    except CoverageError as error:
        print(error, file=sys.stderr)
        return 2
    found = rows(points)
    OUT.mkdir(parents=True, exist_ok=True)
    database.export_to_xml(filename=str(XML))
    SUMMARY.write_text(json.dumps(by_unit(found), indent=1) + "\n")
    write_page(PAGE, points, found, met)
    print_table(found)
    missing = 0
    for point in points:
        left = holes(point, met)
        missing += len(left)
        for bin_ in left[:SHOWN]:
            print(f"not met: {point.unit}, {point.name}: {point.text(bin_)}")
        if len(left) > SHOWN:
            print(f"         and {len(left) - SHOWN} more of this point")
    for path in (SUMMARY, XML, PAGE):
        print(path.relative_to(ROOT))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
