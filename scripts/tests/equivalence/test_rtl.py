"""What RTL can be compared at all: the repository's."""

from pathlib import Path

import pytest

from scripts.equivalence.errors import EquivalenceError
from scripts.equivalence.proofs import check_readable
from scripts.places import ROOT
from tb.common.rtl_files import rtl_files


def test_all_of_the_rtl_can_be_compared():
    for file in rtl_files():
        text = (ROOT / file).read_text()
        check_readable(Path(file).stem, text, text)


def refuse(block):
    text = f"""module unit (input logic a, input logic [3:0] d, output logic [3:0] y);
  logic [3:0] t;
  {block}
endmodule
"""
    check_readable("unit", text, text)


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("always_comb begin y = t + d; t = 4'(a); end", "reads t before it is assigned"),
        ("always_comb begin if (t[0]) y = d; else y = '0; t = d; end", "reads t before"),
        ("always_comb y += d;", "reads y before it is assigned"),
        ("always_comb begin t[y] = a; y = d; end", "reads y before it is assigned"),
        ("always_comb for (int i = 0; i < 3; i++) y[i+1] = y[i];", "reads y before"),
        ("always_ff @(posedge a) y = d;", "has a blocking assignment to y"),
        ("always_ff @(posedge a) {y, t} = {d, d};", "has a blocking assignment to t"),
        ("always_ff @(posedge a) y++;", "has a blocking assignment to y"),
        ("always_comb unique case (a) 1'b0: y = d; default: y = '0; endcase", "has 'unique'"),
        ("wor [3:0] more = d;", "has 'wor'"),
    ],
)
def test_what_runs_in_an_order_of_its_own_is_refused(block, reason):
    """Yosys sees logic where a simulator has values of an earlier run, or of what ran first."""
    with pytest.raises(EquivalenceError, match=f"unit.* {reason}"):
        refuse(block)


@pytest.mark.parametrize(
    "block",
    [
        "always_comb begin y = 4'(a); y = y + d; end",
        "always_comb begin t = d; y = t; t = '0; end",
        "always_comb begin {y[0], t} = 5'(d); y[3:1] = t[2:0]; end",
        "always_comb begin y = '0; for (int i = 0; i < 3; i++) y[i+1] = y[i] ^ d[i]; end",
        "always_ff @(posedge a) begin logic [3:0] own; own = d; own++; y <= own; end",
        "always_ff @(posedge a) for (int i = 0; i < 4; i++) y[i] <= d[i] ^ y[i];",
    ],
)
def test_what_has_one_order_is_not(block):
    refuse(block)
