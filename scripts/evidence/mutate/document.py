"""Write docs/mutation.md from what `make mutate` left in build/mutate.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Sequence
from pathlib import Path

from scripts.evidence.mutate.campaign import EQUIVALENT, KILLED, SURVIVED, Row
from scripts.evidence.mutate.equivalence import EQUIVALENT as PROVED
from scripts.evidence.mutate.exhaustion import SAME
from scripts.evidence.mutate.run import SUMMARY
from scripts.evidence.mutate.units import UNITS
from scripts.kernel.documents import read_all, table, write_document
from scripts.kernel.measured_rtl import unit_cell
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS

DOC = DOCS / "mutation.md"
PAGE = Path(__file__).with_name("mutation.md.jinja")
COMMAND, MEASURE = "make mutation", "make mutate"
FEWEST = 100  # mutants of a unit: a score of fewer says little


def scores(rows: Sequence[Row]) -> str:
    """One line a unit."""
    cells = []
    for row in rows:
        met = "yes" if row["score"] >= row["goal"] else "NO"
        counts = [row[name] for name in ("mutants", KILLED, EQUIVALENT, SURVIVED)]
        unit = unit_cell(row, UNITS[row["unit"]].module)
        cells.append((unit, *counts, f"{row['score']:.1f}", f"{row['goal']:.0f} {met}"))
    head = ("unit", "mutants", "killed", "equivalent", "survived", "score, %", "goal, %")
    return table(head, cells)


def runs(rows: Sequence[Row]) -> str:
    """How each unit was run."""
    return table(
        ("unit", "bench", "configuration", "seeds", "parameters of the netlist"),
        [
            (
                f"`{row['unit']}`",
                f"`{row['bench']}`",
                row["config"],
                ", ".join(map(str, row["seeds"])),
                "; ".join(row["parameters"]),
            )
            for row in rows
        ],
        numbers=False,
    )


def left(rows: Sequence[Row], verdict: str) -> str:
    """The mutations of one verdict, a line each."""
    lines = []
    for row in rows:
        for one in row["left"]:
            if one["verdict"] == verdict:
                variant = f" ({one['variant']})" if one["variant"] else ""
                lines.append(f"- `{row['unit']}`{variant}: `{one['mutation']}`{_why(one)}")
    return "\n".join(lines) or "None."


def _by_proof(rows: Sequence[Row]) -> str:
    """How many mutants of each unit a proof kills."""
    found = {row["unit"]: sum(x["verdict"] == KILLED for x in row["left"]) for row in rows}
    return ", ".join(f"{n} of `{unit}`" for unit, n in found.items() if n) or "none here"


def _why(one: Row) -> str:
    """What SAT says of a survivor, or why SAT is not enough, or what kills it."""
    if one["verdict"] == SURVIVED:
        return f" (SAT: {one['proof']})"
    if one["verdict"] == KILLED:
        return f": {one['proof']}"
    if one["proof"] == SAME:
        return f" ({SAME})"
    return "" if one["proof"] == PROVED else f": {one['proof']} (argued, not proved)"


def document(rows: Sequence[Row]) -> str:
    """The text."""
    return render(
        PAGE,
        command=COMMAND,
        measure=MEASURE,
        scores=scores(rows),
        by_proof=_by_proof(rows),
        runs=runs(rows),
        survived=left(rows, SURVIVED),
        killed=left(rows, KILLED),
        equivalent=left(rows, EQUIVALENT),
    )


def measured() -> list[Row]:
    """The rows of all units.

    Raises
    ------
    MissingError
        If one was not measured, or with few mutants.
    """
    return read_all(SUMMARY, MEASURE, FEWEST, "mutants", lambda row: row["mutants"])


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, lambda: document(measured()), arguments)
