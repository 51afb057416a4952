"""Pipelines whose registers are elsewhere: what is shown of them, and what is not."""

from collections import defaultdict

import pytest

from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.pipelines import NoPipelineError, Pipeline, pipeline
from scripts.equivalence.proof import EQUAL, prove
from scripts.equivalence.proofs import proofs_of

pytestmark = pytest.mark.rtl_of()

CUT = """
module cut #(parameter int W = 4, parameter bit ENABLE = 1) (
  input logic clk_i, input logic enable_i, input logic [W-1:0] data_i,
  output logic [W-1:0] data_o
);
  if (ENABLE) begin : gen_register
    logic [W-1:0] data_q;
    always_ff @(posedge clk_i) data_q <= enable_i ? data_i : data_q;
    assign data_o = data_q;
  end else begin : gen_wire
    assign data_o = data_i;
  end
endmodule
"""
#: Three sections, a sum, a table and a product, with a cut behind each; the flag is early.
LINE = """
module line #(parameter int W = 4) (
  input  logic clk_i,
  input  logic [W-1:0] a_i,
  input  logic [W-1:0] b_i,
  output logic [W-1:0] y_o,
  output logic zero_o
);
  localparam logic [2:0] CUTS = 3'b101;
  function automatic logic [3:0] look(input logic [W-1:0] x);
    case (x[3:0])
      4'd0: look = 4'd7;
      4'd1: look = 4'd2;
      4'd2: look = 4'd13;
      4'd3: look = 4'd8;
      4'd4: look = 4'd1;
      4'd5: look = 4'd9;
      4'd6: look = 4'd4;
      4'd7: look = 4'd3;
      4'd8: look = 4'd0;
      4'd9: look = 4'd15;
      4'd10: look = 4'd12;
      4'd11: look = 4'd5;
      4'd12: look = 4'd14;
      4'd13: look = 4'd6;
      4'd14: look = 4'd11;
      default: look = 4'd10;
    endcase
  endfunction
  logic [W-1:0] sum_d, sum_q, y_d;
  logic [3:0] looked_d, looked_q;
  assign sum_d = a_i + b_i;
  cut #(.W(W), .ENABLE(CUTS[0])) u_sum (
    .clk_i, .enable_i(1'b1), .data_i(sum_d), .data_o(sum_q)
  );
  assign looked_d = look(sum_q);
  cut #(.W(4), .ENABLE(CUTS[1])) u_looked (
    .clk_i, .enable_i(1'b1), .data_i(looked_d), .data_o(looked_q)
  );
  assign y_d = looked_q * looked_q;
  cut #(.W(W), .ENABLE(CUTS[2])) u_y (
    .clk_i, .enable_i(1'b1), .data_i(y_d), .data_o(y_o)
  );
  always_ff @(posedge clk_i) zero_o <= a_i == b_i;
endmodule
"""
#: It knows the line by its ports.
ABOVE = """
module above (
  input logic clk_i, input logic rst_ni, input logic [3:0] a_i, output logic [4:0] y_o
);
  logic [3:0] held_q;
  logic [4:0] y;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= 4'd0;
    else held_q <= held_q + y[3:0];
  end
  line #(.W(4)) u_line (.clk_i, .a_i, .b_i(held_q), .y_o(y[3:0]), .zero_o(y[4]));
  assign y_o = y;
endmodule
"""
TEXTS = {"cut": CUT, "line": LINE, "above": ABOVE}


def changed(texts, changes):
    """Each change is in one text."""
    texts = dict(texts)
    for old, new in changes:
        (file,) = (file for file, text in texts.items() if old in text)
        texts[file] = texts[file].replace(old, new)
    return texts


def answer(folder, changes, watched=(), before=TEXTS):
    """What comes of the proofs of what is above the line, by module."""
    texts, versions = {"before": before, "now": changed(before, changes)}, []
    for name, version in texts.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        both = {file: version[file] == before[file] for file in version}
        versions.append(
            [folder / ("before" if both[file] else name) / f"{file}.sv" for file in both]
        )
        for file, text in version.items():
            (folder / name / f"{file}.sv").write_text(text)
    proofs = proofs_of("above", {}, *versions, watched)
    answers = defaultdict(set)
    for proof, found in prove(proofs).items():
        answers[proof.module].add(found)
    assert answers.keys() == {proof.module for proof in proofs}
    return answers


SAME = {
    "another cut": [("3'b101", "3'b011")],
    "the first cuts": [("3'b101", "3'b110")],
    "another cut, and text that is printed": [
        ("3'b101", "3'b011"),
        ("assign looked_d", 'always_comb if (&sum_q) $display("%h", sum_q);\n  assign looked_d'),
    ],
    "what is computed in front of a cut": [
        ("data_i(sum_d)", "data_i(~sum_d)"),
        ("look(sum_q)", "look(~sum_q)"),
    ],
    "a cut that is written out": [
        (
            "  cut #(.W(W), .ENABLE(CUTS[2])) u_y (\n"
            "    .clk_i, .enable_i(1'b1), .data_i(y_d), .data_o(y_o)\n  );\n",
            "  always_ff @(posedge clk_i) y_o <= y_d;\n",
        )
    ],
    "a register that is wider": [
        ("zero_o <= a_i == b_i", "{a_q, b_q} <= {a_i, b_i}"),
        (
            "  logic [W-1:0] sum_d",
            "  logic [W-1:0] a_q, b_q;\n  assign zero_o = a_q == b_q;\n  logic [W-1:0] sum_d",
        ),
    ],
    "a constant on the way": [
        ("4'd9: look = 4'd15", "4'd9: look = 4'(5 * 3)"),
        ("3'b101", "3'b011"),
    ],
}


@pytest.mark.parametrize("name", SAME)
def test_registers_may_be_elsewhere(folder, name):
    assert answer(folder, SAME[name]) == {"line": {EQUAL}}


OTHER = {
    "one cut less": [("3'b101", "3'b001")],
    "one cut more": [("3'b101", "3'b111")],
    "another sum": [("3'b101", "3'b011"), ("a_i + b_i", "a_i - b_i")],
    "another table": [("3'b101", "3'b011"), ("4'd9: look = 4'd15", "4'd9: look = 4'd14")],
    "an output that is later": [
        ("3'b101", "3'b011"),
        ("zero_o <= a_i == b_i", "zero_o <= zero_d"),
        (
            "  localparam",
            "  logic zero_d;\n  always_ff @(posedge clk_i) zero_d <= a_i == b_i;\n  localparam",
        ),
    ],
    "an output without its register": [
        ("3'b101", "3'b011"),
        ("always_ff @(posedge clk_i) zero_o <=", "assign zero_o ="),
    ],
    "the other edge": [
        ("@(posedge clk_i) data_q", "@(negedge clk_i) data_q"),
        ("@(posedge clk_i) zero_o", "@(negedge clk_i) zero_o"),
    ],
    "paths of different lengths": [("3'b101", "3'b011"), ("look(sum_q)", "look(sum_q ^ a_i)")],
    "a path back": [("3'b101", "3'b011"), ("look(sum_q)", "look(sum_q ^ y_o)")],
    "a cut that may hold": [
        ("3'b101", "3'b011"),
        ("1'b1), .data_i(sum_d)", "a_i[0]), .data_i(sum_d)"),
    ],
}


@pytest.mark.parametrize("name", OTHER)
def test_nothing_else_may_be(folder, name):
    answers = answer(folder, OTHER[name])
    assert EQUAL not in answers["line"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ((), True),
        ((".enable_i, .data_i(y_d)", ".enable_i(!enable_i), .data_i(y_d)"), False),
        ((".enable_i, .data_i(y_d)", ".enable_i(1'b1), .data_i(y_d)"), False),
        (("if (enable_i) zero_o", "if (!enable_i) zero_o"), False),
        (("assign y_d = ", "assign y_d = enable_i * "), False),
    ],
)
def test_all_may_wait_for_the_same_enable(folder, change, same):
    held = changed(
        TEXTS,
        [
            ("  input  logic clk_i,\n", "  input  logic clk_i,\n  input  logic enable_i,\n"),
            (".enable_i(1'b1)", ".enable_i"),
            ("zero_o <=", "if (enable_i) zero_o <="),
            ("u_line (.clk_i", "u_line (.clk_i, .enable_i(rst_ni)"),
            ("CUTS = 3'b101", "CUTS = 3'b110"),
        ],
    )
    changes = [("3'b110", "3'b101"), *([change] if change else [])]
    assert (answer(folder, changes, before=held)["line"] == {EQUAL}) == same


def test_a_signal_on_the_way_that_is_read_must_be_as_late(folder):
    change = [("3'b101", "3'b011")]
    assert answer(folder, change, ["line.sum_q"]) == {"line": {EQUAL}}
    assert answer(folder, change, ["line.looked_q"])["line"] != {EQUAL}


def test_a_signal_below_that_is_read(folder):
    """It has another value in front of the inverter."""
    change = SAME["what is computed in front of a cut"]
    assert answer(folder, change) == {"line": {EQUAL}}
    assert answer(folder, change, ["cut.data_q"]) == {"line": {"differs"}}
    with pytest.raises(EquivalenceError, match="a signal is read where instances are others"):
        answer(folder / "other", SAME["another cut"], ["cut.data_q"])


def cell(kind, parameters=None, **connections):
    """As Yosys writes one."""
    return {"type": kind, "parameters": parameters or {}, "connections": connections}


def register(data, out, clock=2, polarity="1", enable=None):
    """Of one bit."""
    parameters = {"CLK_POLARITY": polarity, "EN_POLARITY": "1"}
    if enable is None:
        return cell("$dff", parameters, CLK=[clock], D=[data], Q=[out])
    return cell("$dffe", parameters, CLK=[clock], EN=[enable], D=[data], Q=[out])


def module(*cells, out=(9,)):
    """With the inputs 2, a clock, and 3 and 4."""
    ports = {"clk": ("input", [2]), "a": ("input", [3, 4]), "y": ("output", list(out))}
    return {
        "ports": {name: {"direction": way, "bits": bits} for name, (way, bits) in ports.items()},
        "cells": {f"{number}": cell for number, cell in enumerate(cells)},
    }


def test_the_clocks_between_inputs_and_outputs():
    found = pipeline(
        module(
            cell("$scopeinfo"),
            cell("$mux", A=["0"], B=[8], S=[7], Y=[9]),
            register(3, 7),
            register(4, 8),
            register("1", 10),
            cell("$not", A=[10], Y=[11]),
            register(9, 12),
            out=(9, 11, 3, "1", 12),
        )
    )
    assert found == Pipeline(frozenset({(("clk", "1"),)}), {"y": (1, None, 0, None, 2)})
    held = pipeline(module(register(3, 8, enable=4), register(8, 9, enable=4)))
    assert held == Pipeline(frozenset({(("clk", "1"), ("a", "1"))}), {"y": (2,)})
    assert pipeline(module(cell("$not", A=[3], Y=[9]))) == Pipeline(frozenset(), {"y": (0,)})


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ([register(9, 9)], "a path back"),
        ([cell("$not", A=[9], Y=[9])], "a path back"),
        ([register(3, 8), cell("$and", A=[8], B=[4], Y=[9])], "different lengths"),
        ([cell("$not", A=[2], Y=[9]), register(3, 8)], "enable is read"),
        ([register(2, 9)], "enable is read"),
        ([register(3, 8), register(8, 9, polarity="0")], "two clocks"),
        ([register(3, 8), register(8, 9, clock=4)], "two clocks"),
        ([register(3, 9, clock=8)], "no input"),
        ([register(3, 8), register(8, 9, enable=4)], "two clocks or enables"),
        ([register(3, 8, enable=4), register(8, 9, enable=3)], "two clocks or enables"),
        ([register(3, 8, enable=4), cell("$and", A=[4], B=[8], Y=[9])], "enable is read"),
        ([register(3, 9, enable="1")], "no input"),
        ([cell("$adff", CLK=[2], ARST=[4], D=[3], Q=[9])], "a cell \\$adff"),
        ([cell("$memrd", ADDR=[3], DATA=[9])], "a cell \\$memrd"),
        ([cell("$anyconst", Y=[9])], "a cell \\$anyconst"),
    ],
)
def test_what_is_no_pipeline(cells, reason):
    with pytest.raises(NoPipelineError, match=reason):
        pipeline(module(*cells))


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ((1, 2), (1, 2), True),
        ((1, None), (1, 2), True),
        ((1, 3), (1, 2), False),
        ((1,), None, False),
    ],
)
def test_which_pipelines_match(one, other, found):
    clocks = frozenset({(("clk", "1"),)})
    ours = Pipeline(clocks, {"y": one})
    other = Pipeline(clocks, {"y": other} if other else {"z": one})
    assert ours.matches(other) == other.matches(ours) == found
    assert ours.matches(Pipeline(frozenset(), ours.latencies))
    assert not ours.matches(Pipeline(frozenset({(("clk", "0"),)}), ours.latencies))
