"""What `make synth` prints."""

import re
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from scripts.evidence.cost.goals import GOALS
from scripts.evidence.cost.job import Job, Key
from scripts.evidence.cost.rows import Row
from scripts.kernel.tools import OUT

COLUMNS = ("stages", "family", "lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz")
LEGEND = f"""\
xc7: Yosys cells (LUT1-6, inverters not counted), delay of the logic alone.
ecp5: nextpnr on LFE5U-85F-6, registers of the wrapper included.
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


def show(rows: Sequence[Row], console: Console) -> None:
    """Print rows as a table, and commands of one of each flow."""
    table = Table("unit", "config", "stages", "family", title="Cost of the hardware")
    for head in ("LUT", "DSP", "FF", "LUTRAM", "BRAM", "logic ns", "MHz"):
        table.add_column(head, justify="right")
    table.add_column("goal, note")
    for row in rows:
        cells = ["" if row[name] is None else f"{row[name]}" for name in COLUMNS]
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
