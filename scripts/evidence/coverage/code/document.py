"""Write docs/code_coverage.md from what `make code-coverage` left in build/coverage.

Numbers are never typed by hand. Exit status 2, after one line, when it has to run first.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.evidence.coverage.code.command import COLUMNS, ROWS, WAIVED, by_folder, cells
from scripts.evidence.coverage.code.waivers import GROUPS
from scripts.kernel.documents import read, table, write_document
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "code_coverage.md"
PAGE = Path(__file__).with_name("code_coverage.md.jinja")
COMMAND = "make code-coverage"


def document(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The text."""
    total = Counter()
    for row in rows:
        total.update({name: n for name, n in row.items() if name != "file"})
    folders = [*map(cells, by_folder(rows)), cells({"file": "all", **total})]
    places, waivers = Counter(), Counter()
    for waiver in about["waivers"]:
        waivers[waiver["group"]] += 1
        places[waiver["group"]] += waiver["places"]
    groups = [(name, what, waivers[name], places[name]) for name, what in GROUPS.items()]
    head = ("group", "what it says", "waivers", "places")
    reasons = [
        (_names(waiver["files"]), waiver["group"], waiver["places"], waiver["reason"])
        for waiver in about["waivers"]
    ]
    runs = [(f"`{name}`", f"{cpu_s:.0f}") for name, cpu_s in about["runs"].items()]
    return render(
        PAGE,
        command=COMMAND,
        folders=table(("folder", *COLUMNS.values(), "waived"), folders),
        groups=table(head, groups, numbers=False),
        reasons=table(("file", "group", "places", "reason"), reasons, numbers=False),
        cpu_s=f"{sum(about['runs'].values()):.0f}",
        runs=table(("bench and configuration", "CPU s"), runs),
    )


def _names(files: Iterable[str]) -> str:
    return ", ".join(f"`{file}`" for file in files)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(
        DOC, lambda: document(read(ROWS, COMMAND), read(WAIVED, COMMAND)), arguments
    )
