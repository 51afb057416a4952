"""The hierarchy of a waveform."""

import subprocess

import pytest

from pymodel.hardware.simulators import usable
from scripts.dev.waves.fst import signals
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.waveform import Waveform
from scripts.tests.dev.waves.made import HIERARCHY, write

NEEDS_ICARUS = pytest.mark.skipif(not usable("icarus"), reason="needs Icarus")
NEEDS_VERILATOR = pytest.mark.skipif(not usable("verilator"), reason="needs Verilator")
DESIGN = """
module top;
  parameter real R = 2.5;
  parameter int P = 3;
  logic clk = 0;
  logic [31:0] word = 0;
  logic [0:7] up;
  logic [4:4] one;
  logic [7:0] memory [0:1];
  logic [7:0] wide [1:0][1:0];
  real r = 0.5;
  always @(posedge clk) begin
    memory[word[0]] <= word[7:0];
    wide[0][1] <= word[7:0];
    up <= word[7:0];
    one <= word[0];
    r <= r + 1.25;
  end
  for (genvar i = 0; i < 2; i++) begin : gen_x
    logic [1:0] z;
    assign z = word[2*i+:2];
  end
  initial begin
    $dumpfile("top.fst");
    $dumpvars(0, top);
    for (int i = 0; i < 9; i++) begin
      #5 clk = !clk;
      word = word + 7;
    end
    $finish;
  end
endmodule
"""
#: Of both simulators.
NAMES = {
    "top.clk": ("top.clk", 1),
    "top.word": ("top.word[31:0]", 32),
    "top.up": ("top.up[0:7]", 8),
    "top.one": ("top.one[4:4]", 1),
    "top.r": ("top.r", 8),
    "top.gen_x[0].z": ("top.gen_x[0].z[1:0]", 2),
    "top.gen_x[1].z": ("top.gen_x[1].z[1:0]", 2),
}
#: Icarus dumps no unpacked arrays.
ARRAYS = {f"top.memory.memory[{i}]": (f"top.memory.memory[{i}][7:0]", 8) for i in range(2)} | {
    f"top.wide.[{i}].wide[{i}][{j}]": (f"top.wide.[{i}].wide[{i}][{j}][7:0]", 8)
    for i in range(2)
    for j in range(2)
}


def test_hierarchy(tmp_path):
    path = tmp_path / "a.fst"
    write(path, HIERARCHY)
    assert {s.path: (s.name, s.width) for s in signals(path).values()} == {
        "dut.clk_i": ("dut.clk_i", 1),
        "dut.x_i": ("dut.x_i[95:0]", 96),
        "dut.u_add.y_o": ("dut.u_add.y_o[31:0]", 32),
        "dut.u_add.memory[3]": ("dut.u_add.memory[3][7:0]", 8),
        "$rootio.clk_i": ("$rootio.clk_i", 1),
    }


@pytest.mark.parametrize(
    ("commands", "arrays"),
    [
        pytest.param(
            (
                ["iverilog", "-g2012", "-s", "top", "-o", "top", "top.sv"],
                ["vvp", "-n", "top", "-fst"],
            ),
            {},
            id="icarus",
            marks=NEEDS_ICARUS,
        ),
        pytest.param(
            (
                ["verilator", "--binary", "--timing", "--trace-fst", "-Wno-fatal", "top.sv"],
                ["obj_dir/Vtop"],
            ),
            ARRAYS,
            id="verilator",
            marks=NEEDS_VERILATOR,
        ),
    ],
)
@pytest.mark.nightly("icarus")
def test_what_simulators_write(tmp_path, commands, arrays):
    """Reals, ranges of one bit and upwards, unpacked arrays; parameters left out."""
    (tmp_path / "top.sv").write_text(DESIGN)
    for command in commands:
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = {s.path: (s.name, s.width) for s in signals(tmp_path / "top.fst").values()}
    assert found.items() >= (NAMES | arrays).items()
    assert not {"top.P", "top.R"} & found.keys()


def cut(data: bytes) -> bytes:
    """As a simulation that was killed leaves it."""
    return data[:-40]


@pytest.mark.parametrize("change", [lambda _: b"", lambda _: b"not a waveform", cut])
def test_incomplete_waveform_is_one_line(tmp_path, change):
    path = tmp_path / "a.fst"
    write(path, HIERARCHY)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(Problem, match="not a complete FST"):
        Waveform.read(path)
