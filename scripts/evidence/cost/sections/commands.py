"""What was run."""

from collections.abc import Sequence

from scripts.evidence.cost.engine import ENGINE
from scripts.evidence.cost.job import FAMILIES
from scripts.evidence.cost.rows import Row
from scripts.evidence.cost.show import shorten


def commands(rows: Sequence[Row]) -> str:
    """One command of each kind, of rows that were measured."""
    lines = []
    for unit in ("fp_add", ENGINE):
        for family in FAMILIES:
            some = [row for row in rows if row["unit"] == unit and row["family"] == family]
            for command in some[0]["commands"][:2] if some else ():
                lines.append(f"{unit}, {family}:\n    {shorten(command)}")
    return "```\n" + "\n".join(lines) + "\n```"
