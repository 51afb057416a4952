"""``make coverage``: merges what the benches' simulations have met, and says what is missing.

Writes into build/coverage: summary.json (rows: unit, bins, hit, excluded), functional.xml (as
cocotb-coverage exports it) and index.html, a page with every hole and every exclusion. Exit
status 1 if a bin was not met that can be; 2, after one line, if there is nothing to merge.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from pymodel.hardware.places import COVERED
from scripts.evidence.coverage.functional import (
    CoverageError,
    Row,
    by_unit,
    fill,
    holes,
    read_met,
    rows,
)
from scripts.evidence.coverage.page import write_page
from scripts.evidence.coverage.units import all_points
from scripts.kernel.places import BUILD, ROOT

OUT = BUILD / "coverage"
SUMMARY, XML, PAGE = OUT / "summary.json", OUT / "functional.xml", OUT / "index.html"
SHOWN = 20  # holes on the terminal


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


class Merged(NamedTuple):
    """What was written.

    Attributes
    ----------
    rows : list of Row
    missing : list of str
        Bins that were not met, in words.
    """

    rows: list[Row]
    missing: list[str]

    @property
    def line(self) -> str:
        """`coverage: 4120 of 4121 bins met, 700 unreachable`."""
        bins, hit, excluded = (sum(column) for column in list(zip(*self.rows, strict=True))[2:])
        return f"coverage: {hit} of {bins} bins met, {excluded} unreachable"


def merge() -> Merged:
    """Merge what simulations left and write the files.

    Raises
    ------
    CoverageError
        If there is nothing to merge, or something that cannot be.
    """
    met = read_met(COVERED)
    if not met:
        raise CoverageError(f"{COVERED.relative_to(ROOT)} is empty: run `make test` first")
    points = all_points()
    database = fill(points, met)
    found = rows(points)
    OUT.mkdir(parents=True, exist_ok=True)
    database.export_to_xml(filename=str(XML))
    SUMMARY.write_text(json.dumps(by_unit(found), indent=1) + "\n")
    write_page(PAGE, points, found, met)
    missing = [
        f"{point.unit}, {point.name}: {point.text(bin_)}"
        for point in points
        for bin_ in holes(point, met)
    ]
    return Merged(found, missing)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args(arguments)
    try:
        merged = merge()
    except CoverageError as error:
        print(error, file=sys.stderr)
        return 2
    print_table(merged.rows)
    for text in merged.missing[:SHOWN]:
        print(f"not met: {text}")
    if len(merged.missing) > SHOWN:
        print(f"not met: {len(merged.missing) - SHOWN} more, see the page")
    print(merged.line)
    for path in (SUMMARY, XML, PAGE):
        print(path.relative_to(ROOT))
    return 1 if merged.missing else 0
