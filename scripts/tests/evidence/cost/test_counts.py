"""What is read out of the tools' output."""

import json

import pytest

from scripts.evidence.cost.counts import (
    LFE5U_85F,
    ZYNQ_7020,
    ecp5_counts,
    logic_delay,
    placed,
    too_much,
    xc7_counts,
)
from scripts.kernel.errors import CostError
from scripts.kernel.tools import complaint
from scripts.tests.evidence.cost.made import ECP5_STAT

STAT = """{"modules": {"\\\\bench": {"num_cells_by_type": {"LUT2": 999}}},
 "design": {"num_cells_by_type": {"CARRY4": 26, "INV": 1, "LUT1": 2, "LUT2": 31, "LUT6": 41,
  "DSP48E1": 2, "FDRE": 7, "FDSE": 1, "MUXF7": 3, "RAM64M": 2, "SRL16E": 5, "RAMB36E1": 3,
  "RAMB18E1": 1}}}"""
STA = """4. Executing STA pass (static timing analysis).
Latest arrival time in 'bench' is 10843:
   10843 (<primary output>)
"""
REPORT = {
    "fmax": {"$glbnet$clk_i": {"achieved": 72.83321, "constraint": 250}},
    "utilization": {
        "TRELLIS_COMB": {"available": 83640, "used": 638},
        "TRELLIS_FF": {"available": 83640, "used": 236},
        "MULT18X18D": {"available": 156, "used": 4},
    },
}


def test_cells_of_the_whole_design():
    counts = {"lut": 74, "dsp": 2, "ff": 8, "lutram": 13, "bram": 3.5, "inv": 1}
    assert xc7_counts(json.loads(STAT)) == counts


def test_logic_delay():
    assert logic_delay(STA) == 10.843
    with pytest.raises(CostError):
        logic_delay("4. Executing STA pass\n")


def test_report_of_place_and_route():
    found = placed(REPORT)
    assert (found["lut"], found["ff"], found["dsp"], found["fmax_mhz"]) == (638, 236, 4, 72.8)
    with pytest.raises(CostError):
        placed(REPORT | {"fmax": {}})


def test_complaint_is_the_first_error_or_the_last_line():
    assert complaint("Warning: a\nERROR: no top\nbye\n") == "ERROR: no top"
    assert complaint("one\n\ntwo\n") == "two"
    assert complaint("") == "it said nothing"


def test_what_does_not_fit_is_said():
    counts = ecp5_counts(json.loads(ECP5_STAT))
    assert counts == {"lut": 128, "dsp": 160, "ff": 9, "lutram": 8, "bram": 3.0}
    assert too_much(counts, LFE5U_85F) == "160 of 156 DSP"
    assert too_much(counts, ZYNQ_7020) == ""
