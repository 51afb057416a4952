"""`make families`: the step engine through Yosys' synthesis for each family of FPGAs.

A small engine, twice: with READ_STAGES 0, whose banks are read in the same cycle, and with 1, whose
banks are block RAM. A line each, with the cells that came out. Exit status 1 when a family fails, 2
for bad input or without Yosys.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymodel.app.options import OptionParser, one_of
from pymodel.arith.errors import Error
from scripts.kernel.errors import CostError
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.kernel.set_up import add_set_up, set_up
from scripts.kernel.tools import YOSYS, run

TOP = "step_engine"
OUT = Path("build/families")  # relative to ROOT: Yosys sees no other path
ENGINE = {
    "NUM_ADD": 1,
    "NUM_MUL": 1,
    "EXP_W": 4,
    "MAN_W": 3,
    "DEPTH": 16,
    "PROGRAM_DEPTH": 64,
    "TRACE_DEPTH": 32,
    "TRACE_REGISTERS": 16,
    "PROGRAMS": 2,
}
READ_STAGES = (0, 1)
LIMIT_S = 3600


@dataclass(frozen=True)
class Family:
    """A family of FPGAs.

    Attributes
    ----------
    flow : str
        The command of Yosys.
    lut, ff, ram : str
        Its cells, as regular expressions of their whole names.
    dsp_w : int or None
        FP_MUL_DSP_W for its multipliers; None: as without it.
    """

    flow: str
    lut: str
    ff: str
    ram: str
    dsp_w: int | None = 18


FAMILIES = {
    "xilinx": Family("synth_xilinx -family xc7", r"LUT\d", r"FD\w+", r"RAM\w+", None),
    "ecp5": Family("synth_ecp5", "LUT4", "TRELLIS_FF", "TRELLIS_DPR16X4|DP16KD|PDPW16KD"),
    "nexus": Family("synth_nexus", "LUT4", r"FD1\w+", r"DPR16X4|\w*(DP|SP)\w*K\w*"),
    "gowin": Family("synth_gowin", r"LUT\d", r"DFF\w*", r"RAM16\w+|\w*(SDP|SP|DP)X?9?B?"),
    "gatemate": Family("synth_gatemate", r"CC_L(UT|2T)\d", "CC_DFF", r"CC_BRAM\w+"),
    "ice40": Family("synth_ice40", "SB_LUT4", r"SB_DFF\w*", r"SB_RAM40\w+"),
    "efinix": Family("synth_efinix", "EFX_LUT4", "EFX_FF", r"EFX_\w*RAM\w+"),
    "polarfire": Family("synth_microchip -family polarfire", r"CFG\d", "SLE", r"RAM\w+"),
}


def script(name: str, read_stages: int) -> str:
    """What Yosys is told."""
    family = FAMILIES[name]
    values = ENGINE | {"READ_STAGES": read_stages}
    options = "".join(f" -G {parameter}={value}" for parameter, value in values.items())
    define = f" -D FP_MUL_DSP_W={family.dsp_w}" if family.dsp_w else ""
    read = f"read_slang -j1{define} --top {TOP}{options} {' '.join(needed_files(TOP))}"
    stat = f"tee -q -o {OUT / f'{name}-{read_stages}'}.json stat -json -top {TOP}"
    return f"{read}; {family.flow} -top {TOP}; {stat}"


def cells_of(stat: Mapping) -> dict[str, int]:
    """Cells by their types, of all modules below the top."""
    return stat["design"]["num_cells_by_type"]


def summary(family: Family, cells: Mapping[str, int]) -> str:
    """LUTs, registers and each kind of memory.

    Raises
    ------
    CostError
        If there is no memory: the program always is one.
    """

    def some(pattern: str) -> dict[str, int]:
        return {cell: cells[cell] for cell in sorted(cells) if re.fullmatch(pattern, cell)}

    luts, registers = sum(some(family.lut).values()), sum(some(family.ff).values())
    memories = ", ".join(f"{count} {cell}" for cell, count in some(family.ram).items())
    if not memories or not luts or not registers:
        raise CostError(f"no memory, LUT or register among {', '.join(sorted(cells))}")
    return f"{luts} LUT, {registers} FF, {memories}"


def tried(name: str, read_stages: int) -> tuple[bool, str]:
    """Whether a family takes the engine, and the cells or why not."""
    base = OUT / f"{name}-{read_stages}"
    try:
        run(YOSYS, ["-q", "-p", script(name, read_stages)], base.with_suffix(".log"), LIMIT_S)
        cells = cells_of(json.loads((ROOT / base.with_suffix(".json")).read_text()))
        return True, summary(FAMILIES[name], cells)
    except CostError as error:
        return False, str(error)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.families", description=__doc__.splitlines()[0])
    known = one_of("FAMILY", *FAMILIES)
    text = f"only this one: {', '.join(FAMILIES)}"
    parser.add_argument("--family", type=known, action="append", help=text)
    add_set_up(parser)
    try:
        options: argparse.Namespace = parser.parse_args(arguments)
    except Error as error:
        print(f"families: {error}", file=sys.stderr)
        return 2
    set_up(options.set_up)
    (ROOT / OUT).mkdir(parents=True, exist_ok=True)
    failed = []
    for name in options.family or FAMILIES:
        for stages in READ_STAGES:
            start = time.monotonic()
            good, said = tried(name, stages)
            word = "ok  " if good else "FAIL"
            seconds = time.monotonic() - start
            print(f"{word} {name:9} READ_STAGES {stages}: {said} ({seconds:.0f} s)", flush=True)
            if not good:
                failed.append(f"{name} READ_STAGES {stages}")
    if failed:
        print(f"families: {len(failed)} failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0
