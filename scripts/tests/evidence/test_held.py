"""What `axil_held` holds three times is there three times, and votes, in the netlists of all flows.

A flow's netlist is synthesised, its flip-flops are counted, and in a simulation of its cells one
after the other is flipped.
"""

import inspect
import json
import re
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from pymodel.hardware.simulators import usable
from scripts.evidence.cost import yosys
from scripts.evidence.families import FAMILIES
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.kernel.tools import BIN, YOSYS

pytestmark = [
    pytest.mark.skipif(not (BIN / YOSYS).exists(), reason="no Yosys (make families installs it)"),
    pytest.mark.rtl_of("axil_held"),
]
TOP, W = "axil_held", 5  # as axil_slave has it
HELD = 3 * W + 1  # flip-flops: three copies, and whose turn it is
SLANG, HIERARCHY, VERILOG = (
    f"read_slang -j1 --top {TOP} -G W={W}",
    f"read_slang -j1 --best-effort-hierarchy --top {TOP} -G W={W}",
    "read_verilog -sv",
)
XC7 = "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf"  # of `make synth`
RETIMED = {  # flows that find registers which agree in every reachable state
    "ecp5": "synth_ecp5 -dff -abc9",
    "xilinx": "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -dff",
}
#: Reader, flow, family: all of `make families`, of `make synth`, and those that keep modules.
FLOWS = [
    *((SLANG, family.flow, name) for name, family in FAMILIES.items()),
    (SLANG, XC7, "xilinx"),
    *((reader, flow, name) for reader in (HIERARCHY, VERILOG) for name, flow in RETIMED.items()),
]
#: The flow that runs by day.
BY_DAY = ("read_slang-synth_ecp5",)
#: Flows whose cells are simulated; -noiopad, or none.
FLIPPED = [flow for flow in FLOWS if flow[2] in RETIMED and flow[1] != FAMILIES["xilinx"].flow]


def ids(flows):
    """Short names of flows."""
    found = []
    for reader, flow, _ in flows:
        words = [reader.split()[0], "hierarchy" * ("--best" in reader), flow.split()[0]]
        words += [word.strip("-") for word in flow.split() if word in ("-noiopad", "-dff")]
        found.append("-".join(word for word in words if word))
    return found


@contextmanager
def folder():
    """A folder in ROOT: Yosys sees no other path."""
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="held-", dir=ROOT / "build") as name:
        yield Path(name)


def run_yosys(script):
    """What Yosys says, if it takes a script."""
    command = [BIN / YOSYS, "-q", "-p", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr or done.stdout


@cache
def netlist(reader, flow):
    """The flat netlist of a flow, in JSON of Yosys."""
    chosen = f"; chparam -set W {W} {TOP}" if reader == VERILOG else ""
    with folder() as place:
        out = place / "netlist.json"
        script = f"{reader} {' '.join(needed_files(TOP))}{chosen}; {flow} -top {TOP}; "
        script += f"setattr -mod -unset keep_hierarchy *; flatten; write_json {name_of(out)}"
        run_yosys(script)
        return out.read_text()


def name_of(path):
    """As Yosys knows it."""
    return path.relative_to(ROOT)


def registers_of(design, family):
    """The cells of a netlist that are flip-flops, by name."""
    cells = design["modules"][TOP]["cells"]
    pattern = FAMILIES[family].ff
    return {name: cell for name, cell in cells.items() if re.fullmatch(pattern, cell["type"])}


@pytest.mark.nightly(*BY_DAY)
@pytest.mark.parametrize(("reader", "flow", "family"), FLOWS, ids=ids(FLOWS))
def test_all_copies_are_in_the_netlist(reader, flow, family):
    assert len(registers_of(json.loads(netlist(reader, flow)), family)) == HELD


def test_the_flow_of_xc7_is_that_of_make_synth():
    text = inspect.getsource(yosys.synthesis_script)
    assert XC7 in text and f'"{FAMILIES["ecp5"].flow} -top' in text and "-dff" not in text


@pytest.mark.parametrize("family", RETIMED)
@pytest.mark.nightly("ecp5")
def test_a_flow_that_dissolves_modules_and_compares_states_merges_them(family):
    """As docs/faults.md says: with `read_slang` alone, `-dff` leaves one copy."""
    design = json.loads(netlist(SLANG, RETIMED[family]))
    assert len(registers_of(design, family)) == W


BENCH = """
module bench;
  reg clk = 0, rst_n = 0;
  reg [W-1:0] data = 0, want = 0;
  reg [HELD-1:0] flip = 0;
  wire [W-1:0] held;
  integer i, j, k, single = 0, pairs = 0, wrong;

  axil_held dut (.clk_i(clk), .rst_ni(rst_n), .data_i(data), .data_o(held), .flip(flip));

  task cycle(input [HELD-1:0] flips);
    begin
      #1 clk = 1;
      want = data;
      #1 flip = flips;
      #1 wrong = wrong + (held !== want);
      clk = 0;
      data = $random;
      #1;
    end
  endtask

  initial begin
    wrong = 0;
    repeat (4) cycle(0);
    rst_n = 1;
    wrong = 0;
    repeat (4) cycle(0);
    for (i = 0; i < HELD; i = i + 1) repeat (32) begin
      cycle(1 << i);
      if (i % 2) cycle(0);
    end
    single = wrong;
    for (i = 0; i < HELD; i = i + 1) for (j = 0; j < i; j = j + 1) begin
      wrong = 0;
      repeat (8) cycle(1 << i | 1 << j);
      pairs = pairs + (wrong != 0);
    end
    $display("single %0d pairs %0d", single, pairs);
  end
endmodule
"""


@pytest.mark.skipif(not usable("icarus"), reason="no Icarus")
@pytest.mark.nightly(*BY_DAY)
@pytest.mark.parametrize(("reader", "flow", "family"), FLIPPED, ids=ids(FLIPPED))
def test_no_flip_of_one_register_shows(reader, flow, family):
    """Two that hold the same bit show: 3 pairs a bit, and with whose turn it is 2 more."""
    design = json.loads(netlist(reader, flow))
    module, registers = design["modules"][TOP], registers_of(design, family)
    assert len(registers) == HELD
    with_flips(module, registers.values())
    with folder() as place:
        flat, text, bench = (place / name for name in ("flat.json", "flat.v", "bench.v"))
        flat.write_text(json.dumps({"modules": {TOP: module}}))
        cells = f"read_verilog -D NO_INCLUDES +/{family}/cells_sim.v"
        script = f"read_json {name_of(flat)}; {cells}; hierarchy -top {TOP}; proc; flatten; "
        run_yosys(f"{script}opt_clean; write_verilog -noattr {name_of(text)}")
        bench.write_text(BENCH.replace("HELD", str(HELD)).replace("W-1", str(W - 1)))
        program = place / "bench"
        subprocess.run(["iverilog", "-g2012", "-o", program, text, bench], check=True, timeout=60)
        said = subprocess.run(["vvp", program], capture_output=True, text=True, timeout=60).stdout
    assert said.split() == ["single", "0", "pairs", str(3 * W + 2 * W)]


def with_flips(module, registers):
    """Give a module an input ``flip`` that inverts what stands in its registers, each by a bit."""
    free = 1 + max(bit for net in module["netnames"].values() for bit in net["bits"] if bit != "x")
    flips = list(range(free, free + HELD))
    module["ports"]["flip"] = {"direction": "input", "bits": flips}
    for number, cell in enumerate(registers):
        (bit,), stored = cell["connections"]["Q"], free + HELD + number
        cell["connections"]["Q"] = [stored]
        module["cells"][f"flip_{number}"] = {
            "hide_name": 0,
            "type": "$_XOR_",
            "parameters": {},
            "attributes": {},
            "port_directions": {"A": "input", "B": "input", "Y": "output"},
            "connections": {"A": [stored], "B": [flips[number]], "Y": [bit]},
        }
