"""What the tops take."""

from collections.abc import Sequence
from typing import NamedTuple

from scripts.evidence.cost.devices import ZYNQ_7020
from scripts.evidence.cost.rows import Row, in_binary32, is_unit
from scripts.evidence.cost.sections.cells import NONE, cell, title
from scripts.kernel.documents import table

HEAD = (
    "top",
    "LUT",
    "LUTRAM",
    "DSP48E1",
    "FF",
    "BRAM36",
    f"fits a Zynq 7020 ({ZYNQ_7020['lut']} LUT, {ZYNQ_7020['dsp']} DSP)",
    "ecp5 LUT",
    "18 × 18",
    "BRAM",
    "MHz",
)


class Top(NamedTuple):
    """Rows of a top in binary32; one of them may be empty."""

    unit: str
    config: str
    cells: Row  # on xc7
    placed: Row  # on ecp5

    @property
    def title(self) -> str:
        """As lists and tables call it."""
        return title(self.unit, self.config)

    @property
    def any_row(self) -> Row:
        """For what both rows say."""
        return self.cells or self.placed


def tops(rows: Sequence[Row]) -> list[Top]:
    """All that were measured."""
    found = {}
    for row in rows:
        if not is_unit(row) and in_binary32(row):
            found.setdefault((row["unit"], row["config"]), {})[row["family"]] = row
    return [Top(*key, flows.get("xc7", {}), flows.get("ecp5", {})) for key, flows in found.items()]


def counted(rows: Sequence[Row]) -> str:
    """The float units of each co-processor, as a list."""
    lines = []
    for top in tops(rows):
        units = top.any_row.get("units", {})
        if units:
            number = ", ".join(f"{n} `{unit}`" for unit, n in units.items() if n)
            lines.append(f"- {top.title}: {number}")
    return "\n".join(lines)


def areas(rows: Sequence[Row]) -> str:
    """A table of cells, and of clocks where there are."""
    lines = []
    for top in tops(rows):
        lines.append(
            (
                top.title,
                *(cell(top.cells.get(name)) for name in ("lut", "lutram", "dsp", "ff", "bram")),
                _fits(top.cells),
                *(cell(top.placed.get(name)) for name in ("lut", "dsp", "bram")),
                top.placed.get("note") or cell(top.placed.get("fmax_mhz")),
            )
        )
    return table(HEAD, lines)


def _fits(row: Row) -> str:
    """Whether a row of xc7 fits the device; what it has too little of stands behind the colon."""
    if not row:
        return NONE
    return f"no: {row['note'].split(': ', 1)[1]}" if row["note"] else "yes"
