"""Write docs/faults.md from what `make faults fuzz` left in build/.

Numbers are never typed by hand. Exit status 2, after one line, when something has to run first.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.evidence.faults.campaign import HANDSHAKE_SHARE, MEMORY_SHARE, SMALL
from scripts.evidence.faults.plot import plot
from scripts.evidence.faults.run import COUNT, SUMMARY
from scripts.evidence.fuzz.run import COUNT as ACCESSES
from scripts.evidence.fuzz.run import SUMMARY as FUZZED
from scripts.kernel.documents import read_all, table, write_document
from scripts.kernel.measured_rtl import unit_cell
from scripts.kernel.pages import render
from scripts.kernel.places import DOCS, IMAGES
from tb.faults.registers import KINDS
from tb.faults.verdicts import THRESHOLD

DOC = DOCS / "faults.md"
PAGE = Path(__file__).with_name("faults.md.jinja")
COMMAND, MEASURE, FUZZ = "make faults-results", "make faults", "make fuzz"
COLUMNS = {
    "injections": "injections",
    "masked": "masked",
    "detected": "detected",
    "stopped": "stopped",
    "silent": "silently wrong",
    "found_by_residual": "found by residual",
    "undetected_with_residual": "undetected",
    "hangs": "bus hangs",
}
Row = Mapping[str, Any]


def outcomes(rows: Sequence[Row]) -> str:
    """One line a top, and their sum."""
    cells = [(unit_cell(row, row["unit"]), *(row[name] for name in COLUMNS)) for row in rows]
    cells.append(("all", *(sum(row[name] for row in rows) for name in COLUMNS)))
    return table(("top", *COLUMNS.values()), cells)


def by_kind(rows: Sequence[Row]) -> str:
    """One line a top and kind of register."""
    return table(
        ("top", "registers", "bits", *COLUMNS.values()),
        [
            (f"`{row['unit']}`", kind, row["bits"][kind], *(counts[name] for name in COLUMNS))
            for row in rows
            for kind in KINDS
            if (counts := row["kinds"][kind])["injections"]
        ],
    )


def handshakes(rows: Sequence[Row]) -> str:
    """The injections into those alone."""
    return table(
        ("top", *COLUMNS.values()),
        [(f"`{row['unit']}`", *(row["handshakes"][name] for name in COLUMNS)) for row in rows],
    )


def residuals(rows: Sequence[Row]) -> str:
    """What each top's host checks."""
    return table(
        ("top", "cycles of a session", "residual", "without a flip", "threshold"),
        [
            (
                f"`{row['unit']}`",
                row["cycles"],
                row["checks"],
                f"{row['residual']:.1e}",
                f"{THRESHOLD * row['residual']:.1e}",
            )
            for row in rows
        ],
        numbers=False,
    )


def fuzzed(rows: Sequence[Row]) -> str:
    """One line a top."""
    names = ("reads", "writes", "read errors", "write errors", "resets")
    runs = ("runs", "runs refused", "runs ended")
    return table(
        ("top", *names, *runs, "cycles", "CPU s"),
        [
            (
                unit_cell(row, row["unit"]),
                *(row.get(name, 0) for name in (*names, *runs)),
                row["cycles"],
                row["cpu_s"],
            )
            for row in rows
        ],
    )


def bad(rows: Sequence[Row]) -> str:
    """The injections that may not be."""
    lines = [
        f"- `{row['unit']}`: {one['verdict']} after `{one['at']}`: {one['why']}"
        for row in rows
        for one in row["bad"]
    ]
    return "\n".join(lines) or "None."


def document(rows: Sequence[Row], fuzz: Sequence[Row]) -> str:
    """The text."""
    detected = sum(row["detected"] for row in rows)
    alarms = sum(row["alarms"] for row in rows)
    stopped, by_pin = (sum(row[name] for row in rows) for name in ("stopped", "by_pin"))
    return render(
        PAGE,
        command=COMMAND,
        measure=MEASURE,
        fuzz=FUZZ,
        memory_share=f"{MEMORY_SHARE:.0%}",
        outcomes=outcomes(rows),
        detected=detected,
        alarms=alarms,
        by_reset=stopped - by_pin,
        stopped=stopped,
        by_pin=by_pin,
        residuals=residuals(rows),
        threshold=THRESHOLD,
        by_kind=by_kind(rows),
        handshake_share=f"{HANDSHAKE_SHARE:.0%}",
        small=SMALL,
        handshakes=handshakes(rows),
        bad=bad(rows),
        fuzzed=fuzzed(fuzz),
    )


def from_results() -> str:
    """The text, and its picture, of what the commands have left."""
    rows = read_all(SUMMARY, MEASURE, COUNT, "injections", lambda row: row["injections"])
    fuzz = read_all(FUZZED, FUZZ, ACCESSES, "accesses", lambda row: row["reads"] + row["writes"])
    plot(rows, IMAGES / "faults.png")
    return document(rows, fuzz)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    return write_document(DOC, from_results, arguments)
