"""Our models of ECP5 cells do what the RTL does that Yosys maps to them, and refuse all else."""

import json
import subprocess
from pathlib import Path

import pytest

from pymodel.hardware.simulators import usable
from scripts.evidence import ecp5_cells
from scripts.kernel import tools
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT
from scripts.kernel.tools import BIN, YOSYS

pytestmark = [
    pytest.mark.skipif(not (BIN / YOSYS).exists(), reason="no Yosys (make bitstream installs it)"),
    pytest.mark.skipif(not usable("icarus"), reason="no Icarus"),
    pytest.mark.rtl_of(),
]
HERE = ROOT / "scripts" / "tests" / "evidence"
MAPPED, BENCH = HERE / "cells_mapped.sv", HERE / "cells_bench.sv"
#: All widths of memories, and signed and unsigned factors, must be among the cells.
WIDTHS = {1, 2, 4, 9, 18, 36}


def simulated(folder, top, *files):
    """What Icarus says of a simulation: status, output."""
    line = ["iverilog", "-g2012", "-s", top, "-o", folder / "sim", *files]
    subprocess.run(list(map(str, line)), check=True, capture_output=True)
    done = subprocess.run(["vvp", "-n", folder / "sim"], capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    """A folder with the netlist of MAPPED: its cells, and files to simulate."""
    place = Path("build/gates") / f"test-{tmp_path_factory.mktemp('gates').parent.name}"
    (ROOT / place).mkdir(parents=True, exist_ok=True)
    source = MAPPED.relative_to(ROOT)
    script = f"read_slang -j1 --top cells_mapped {source}; synth_ecp5 -top cells_mapped; "
    script += f"rename cells_mapped cells_mapped_gates; write_json {place}/mapped.json; "
    script += f"write_verilog -noattr {place}/mapped.v"
    tools.run(YOSYS, ["-q", "-p", script], place / "mapped.log")
    library = ROOT / place / "library.v"
    library.write_text(ecp5_cells.library())
    design = json.loads((ROOT / place / "mapped.json").read_text())["modules"]
    return design["cells_mapped_gates"]["cells"], [library, ROOT / place / "mapped.v"]


def models(folder, **changes):
    """Our models, with texts of some replaced."""
    found = []
    for path in sorted(ecp5_cells.CELLS.glob("*.sv")):
        text = path.read_text()
        if path.stem in changes:
            old, new = changes[path.stem]
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        found.append(folder / path.name)
        found[-1].write_text(text)
    return found


@pytest.mark.nightly
def test_models_do_what_the_rtl_does(mapped, tmp_path):
    cells, files = mapped
    ecp5_cells.check_cells(cells)
    memories = [cell["parameters"] for cell in cells.values() if cell["type"] == "DP16KD"]
    assert {int(memory["DATA_WIDTH_B"], 2) for memory in memories} == WIDTHS
    signs = {
        tuple(cell["connections"]["SIGNEDA"])
        for cell in cells.values()
        if cell["type"] == "MULT18X18D"
    }
    assert signs == {("0",), ("1",)}
    status, said = simulated(tmp_path, "cells_bench", *files, *models(tmp_path), MAPPED, BENCH)
    assert status == 0, said
    assert "1000 cycles are the same" in said


@pytest.mark.nightly
def test_a_wrong_model_is_found(mapped, tmp_path):
    changes = {"DP16KD": ("{address[2:1], 1'b0}", "{address[1], 2'b00}")}
    files = [*mapped[1], *models(tmp_path, **changes), MAPPED, BENCH]
    status, said = simulated(tmp_path, "cells_bench", *files)
    assert status == 1
    assert "instead of" in said


USED = """
module used;
  logic clk;
  {cell} #({values}) u_cell ({pins});
  initial begin
    clk = 1'b0;
    #1 clk = 1'b1;
    #1 $display("it goes on");
    $finish;
  end
endmodule
"""
MEMORY = ".CLKA(clk), .CLKB(clk), .CEA(1'b1), .CEB(1'b1), .WEA(1'b0), .OCEA(1'b1), .OCEB(1'b1)"
QUIET = ".RSTB(1'b0), .CSA0(1'b0), .CSA1(1'b0), .CSA2(1'b0), .CSB0(1'b0), .CSB1(1'b0), .CSB2(1'b0)"
FINE = f"{MEMORY}, {QUIET}, .WEB(1'b0), .RSTA(1'b0)"


@pytest.mark.parametrize(
    ("cell", "values", "pins", "wrong"),
    [
        ("DP16KD", "", FINE, ""),
        ("DP16KD", '.WRITEMODE_A("WRITETHROUGH")', FINE, "WRITEMODE_A WRITETHROUGH"),
        ("DP16KD", ".DATA_WIDTH_A(3)", FINE, "DATA_WIDTH_A 3"),
        ("DP16KD", '.REGMODE_B("LATCH")', FINE, "REGMODE_B LATCH"),
        ("DP16KD", '.CLKAMUX("INV")', FINE, "CLKAMUX INV"),
        ("DP16KD", '.CSDECODE_A("0b100")', FINE, "CSDECODE_A 0b100"),
        ("DP16KD", "", f"{MEMORY}, {QUIET}, .WEB(1'b1), .RSTA(1'b0)", "WEB"),
        ("DP16KD", "", f"{MEMORY}, {QUIET}, .WEB(1'b0), .RSTA(1'b1)", "RSTA"),
        ("MULT18X18D", "", ".SOURCEA(1'b0), .SOURCEB(1'b0)", ""),
        ("MULT18X18D", "", ".SOURCEA(1'b1), .SOURCEB(1'b0)", "SOURCEA"),
        ("MULT18X18D", '.REG_INPUTC_CLK("CLK0")', "", "REG_INPUTC_CLK"),
        ("MULT18X18D", '.CLK0_DIV("DISABLED")', "", "CLKn_DIV DISABLED"),
        ("MULT18X18D", '.RESETMODE("ASYNC")', "", "RESETMODE"),
        ("MULT18X18D", '.REG_OUTPUT_CLK("CLK4")', "", "CLK4"),
        ("EHXPLLL", '.FEEDBK_PATH("INT_OP")', "", "FEEDBK_PATH"),
        ("EHXPLLL", '.CLKOP_ENABLE("DISABLED")', "", "CLKOP_ENABLE"),
    ],
)
def test_what_is_not_modelled_stops_the_simulation(cell, values, pins, wrong, tmp_path):
    top = tmp_path / "used.sv"
    top.write_text(USED.format(cell=cell, values=values, pins=pins))
    status, said = simulated(tmp_path, "used", *models(tmp_path), top)
    assert status == (1 if wrong else 0), said
    assert (wrong or "it goes on") in said


def cell(kind, parameters=None, **pins):
    """A cell as Yosys' JSON has it, with one net at each pin."""
    connections = {pin: [net] for pin, net in pins.items()}
    return {"type": kind, "parameters": parameters or {}, "connections": connections}


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (cell("ALU54B"), "no model of ALU54B"),
        (cell("DP16KD", CLKA=2, CLKB=3), "different clocks"),
        (cell("MULT18X18D", {"REG_OUTPUT_CLK": "CLK0"}, CLK0=2, RST0="0"), "open pins among CLK0"),
    ],
)
def test_what_the_models_cannot_see_is_refused(one, said):
    with pytest.raises(CostError, match=said):
        ecp5_cells.check_cells({"u_cell": one})
    ecp5_cells.check_cells({"u_cell": cell("DP16KD", CLKA=2, CLKB=2)})
    pins = {"CLK0": 2, "CE0": "1", "RST0": "0"}
    ecp5_cells.check_cells({"u_cell": cell("MULT18X18D", {"REG_OUTPUT_CLK": "CLK0"}, **pins)})
