"""All float units, both flows side by side."""

from collections.abc import Sequence

from scripts.evidence.cost.job import AREA, SPEED
from scripts.evidence.cost.rows import Row, in_binary32, is_unit, mode_and_variant
from scripts.evidence.cost.sections.cells import cell
from scripts.evidence.cost.units import FLAGS
from scripts.kernel.documents import table

HEAD = (
    "unit",
    "stages",
    "LUT, least area",
    "INV",
    "DSP",
    "FF",
    "LUT, speed",
    "logic ns",
    "ecp5 LUT",
    "DSP",
    "FF",
    "MHz",
)


def units(rows: Sequence[Row]) -> str:
    """A table of those in binary32."""
    found = {}
    for row in rows:
        mode, variant = mode_and_variant(row)
        if is_unit(row) and in_binary32(row) and FLAGS not in variant:
            key = row["unit"], ", ".join(variant), row["stages"]
            found.setdefault(key, {})[mode if row["family"] == "xc7" else "ecp5"] = row
    lines = []
    for (unit, variant, stages), flows in found.items():
        area, speed, placed = (flows.get(flow, {}) for flow in (AREA, SPEED, "ecp5"))
        lines.append(
            (
                f"`{unit}`, {variant}" if variant else f"`{unit}`",
                cell(stages),
                *(cell(area.get(name)) for name in ("lut", "inv", "dsp", "ff")),
                cell(speed.get("lut")),
                cell(speed.get("logic_ns"), "{:.1f}"),
                *(cell(placed.get(name)) for name in ("lut", "dsp", "ff", "fmax_mhz")),
            )
        )
    return table(HEAD, lines)
