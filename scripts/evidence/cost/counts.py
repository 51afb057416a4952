"""What the tools' output says: counts of cells, delays, clocks."""

import re
from collections.abc import Mapping
from typing import Any

from scripts.kernel.errors import CostError

#: The paper's, in cells of xc7.
ZYNQ_7020 = {"lut": 53_200, "dsp": 220, "bram": 140, "ff": 106_400}
LFE5U_85F = {"lut": 83_640, "dsp": 156, "bram": 208, "ff": 83_640}


def too_much(counts: Mapping[str, float], device: Mapping[str, int]) -> str:
    """What a device has too little of, as text: `216 of 156 DSP`; empty if all fits."""
    over = (name for name, limit in device.items() if counts[name] > limit)
    return ", ".join(f"{counts[name]:g} of {device[name]} {name.upper()}" for name in over)


def ecp5_note(counts: Mapping[str, float]) -> str | None:
    """What an LFE5U-85F has too little of; None if all fits."""
    over = too_much(counts, LFE5U_85F)
    return f"does not fit: {over}" if over else None


def zynq_note(counts: Mapping[str, float]) -> str | None:
    """Shares of a Zynq 7020, where a LUT of a memory is one of its LUTs."""
    over = too_much({**counts, "lut": counts["lut"] + counts["lutram"]}, ZYNQ_7020)
    return f"does not fit a Zynq 7020: {over}" if over else None


Counts = dict[str, float]

#: LUTs that a cell of distributed memory or a shift register takes, by its name on xc7.
MEMORY_LUTS = {
    "SRL16E": 1,
    "SRLC32E": 1,
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1D": 4,
    "RAM32M": 4,
    "RAM64M": 4,
}
#: LUTs that a cell takes on ecp5.
ECP5_LUTS = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 4}
PS_PER_NS = 1000


def cells_of(stat: dict[str, Any]) -> dict[str, int]:
    """Cell -> how many, in the whole design, from the JSON of Yosys' `stat`."""
    return stat["design"]["num_cells_by_type"]


def xc7_counts(stat: dict[str, Any]) -> Counts:
    """LUT, DSP, FF and memory of a netlist of xc7, from the JSON of Yosys' `stat`."""
    counts = {"lut": 0, "dsp": 0, "ff": 0, "lutram": 0, "bram": 0.0, "inv": 0}
    for cell, n in cells_of(stat).items():
        if re.fullmatch(r"LUT[1-6]", cell):
            counts["lut"] += n
        elif cell.startswith("DSP48"):
            counts["dsp"] += n
        elif re.fullmatch(r"(FD|LD)[CPRS]E(_\d)?", cell):
            counts["ff"] += n
        elif cell in MEMORY_LUTS:
            counts["lutram"] += n * MEMORY_LUTS[cell]
        elif cell.startswith("RAMB36"):  # in blocks of 36 Kbit
            counts["bram"] += n
        elif cell.startswith("RAMB18"):
            counts["bram"] += n / 2
        elif cell == "INV":
            counts["inv"] += n
    return counts


def ecp5_counts(stat: dict[str, Any]) -> Counts:
    """Counts before place and route on ecp5, where a LUT of a memory is one of the LUTs."""
    cells = cells_of(stat)
    memory = "TRELLIS_DPR16X4"
    return {
        "lut": sum(n * cells.get(cell, 0) for cell, n in ECP5_LUTS.items()),
        "dsp": cells.get("MULT18X18D", 0),
        "ff": cells.get("TRELLIS_FF", 0),
        "lutram": ECP5_LUTS[memory] * cells.get(memory, 0),
        "bram": float(cells.get("DP16KD", 0)),
    }


def logic_delay(text: str) -> float:
    """The longest path in ns that Yosys' `sta` prints.

    Raises
    ------
    CostError
        If it printed none.
    """
    match = re.search(r"^Latest arrival time in '\S+' is (\d+):", text, re.M)
    if not match:
        raise CostError("Yosys' sta printed no arrival time")
    return int(match[1]) / PS_PER_NS


def placed(report: dict[str, Any]) -> Counts:
    """Counts and the slowest clock in MHz, from the report of nextpnr-ecp5.

    Raises
    ------
    CostError
        If the report has no clock.
    """
    used = {name: row["used"] for name, row in report["utilization"].items()}
    if not report["fmax"]:
        raise CostError("nextpnr found no path between registers")
    return {
        "lut": used.get("TRELLIS_COMB", 0),
        "dsp": used.get("MULT18X18D", 0),
        "ff": used.get("TRELLIS_FF", 0),
        "lutram": used.get("TRELLIS_RAMW", 0) * ECP5_LUTS["TRELLIS_DPR16X4"],
        "bram": float(used.get("DP16KD", 0)),
        "fmax_mhz": round(min(clock["achieved"] for clock in report["fmax"].values()), 1),
    }
