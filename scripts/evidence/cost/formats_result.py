"""What `formats` finds: its rows, and the engine's costs next to them."""

from collections.abc import Sequence
from typing import Any

from scripts.evidence.cost.engine import ENGINE, SWEEP_LANES, is_barrel
from scripts.evidence.cost.float_formats import FORMATS, arithmetic, format_name, width
from scripts.evidence.cost.rows import Row
from scripts.kernel.places import BUILD

OUT = BUILD / "formats"
RESULT = OUT / "formats.json"
PICTURE = OUT / "formats.png"
FLOAT64 = "float64"
#: What an engine costs, and the flow that says it.
COSTS = {"lut": "xc7", "dsp": "xc7", "ff": "xc7", "fmax_mhz": "ecp5"}

#: One run: demo, arith, what `formats.KEPT` names, angle_max_rad.
Run = dict[str, Any]


def arithmetics() -> list[str]:
    """All formats as the model's command line takes them, fewest mantissa bits first."""
    return [*map(arithmetic, sorted(FORMATS, key=lambda fmt: fmt[1])), FLOAT64]


def label(name: str) -> str:
    """Lines that name an arithmetic: `5/10`, `16 bits`, `half`."""
    if name == FLOAT64:
        return FLOAT64
    fmt = next(fmt for fmt in FORMATS if arithmetic(fmt) == name)
    lines = [name, f"{width(fmt)} bits", format_name(fmt)]
    return "\n".join(dict.fromkeys(lines))


def costs(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Arithmetic -> what the step engine costs in it, as far as it was measured."""
    found = {}
    for row in rows:
        mine = row["unit"] == ENGINE and f"{SWEEP_LANES}+" in row["config"]
        if mine and not is_barrel(row["parameters"]):
            of_format = found.setdefault(arithmetic(row["format"]), {})
            for name, family in COSTS.items():
                if row["family"] == family and row[name] is not None:
                    of_format[name] = row[name]
    return found
