"""What becomes of a netlist."""

import json
import subprocess

import pytest

from scripts.evidence.cost import measure, yosys
from scripts.evidence.cost.counts import ecp5_counts
from scripts.evidence.cost.jobs import NOT_TIMED
from scripts.evidence.cost.measure import fill_boxes
from scripts.evidence.cost.nextpnr import place_and_route
from scripts.evidence.cost.yosys import find_delay
from scripts.kernel import tools
from scripts.tests.evidence.cost.made import BOXED, ECP5_STAT, TOP, job


@pytest.mark.parametrize(
    "multipliers, note", [(2, NOT_TIMED), (20, "does not fit: 164 of 156 DSP")]
)
def test_own_logic_and_so_many_units(monkeypatch, multipliers, note):
    own = {"LUT4": 100, "MULT18X18D": 4, "fp_mul": multipliers, "fp_recip": 1}
    stat = json.dumps({"design": {"num_cells_by_type": own}})
    each = {"lut": 30, "dsp": 8, "ff": 5, "lutram": 0, "bram": 0.0}
    monkeypatch.setattr(yosys, "read_output", lambda job, ending: stat)
    monkeypatch.setattr(
        measure, "count_box", lambda box: each if box.unit == "fp_mul" else each | {"dsp": 0}
    )
    found, commands = fill_boxes(BOXED, ecp5_counts(json.loads(stat)))
    assert found["units"] == {"fp_add": 0, "fp_mul": multipliers, "fp_recip": 1}
    assert found["lut"] == 100 + 30 * (multipliers + 1) and found["dsp"] == 4 + 8 * multipliers
    assert found["note"] == note and "fmax_mhz" not in found and len(commands) == 3


def test_too_large_for_ecp5_is_a_row_without_a_clock():
    found, commands = place_and_route(TOP, ecp5_counts(json.loads(ECP5_STAT)), 3)
    assert found["note"] == "does not fit: 160 of 156 DSP" and "fmax_mhz" not in found
    assert not commands


def test_a_delay_that_takes_too_long_is_none(monkeypatch):
    def late(*arguments):
        raise subprocess.TimeoutExpired("yosys", 1)

    monkeypatch.setattr(tools, "run", late)
    assert find_delay(job()) is None
