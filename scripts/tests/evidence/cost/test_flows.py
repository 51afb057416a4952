"""What becomes of a netlist."""

import json
import subprocess
from dataclasses import asdict

import pytest

from scripts.evidence.cost import measure, nextpnr, yosys
from scripts.evidence.cost.counts import ecp5_counts
from scripts.evidence.cost.fold import Folded
from scripts.evidence.cost.job import path_of
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


def test_tops_are_placed_with_folded_registers(monkeypatch, tmp_path):
    netlist = {"modules": {"top": {"ports": {}, "cells": {}, "attributes": {}}}}
    report = {"utilization": {}, "fmax": {"clk": {"achieved": 90.0}}}
    placed = []

    def place(program, options, log):
        placed.append(options[options.index("--json") + 1])
        (tmp_path / options[options.index("--report") + 1]).write_text(json.dumps(report))

    monkeypatch.setattr(nextpnr, "ROOT", tmp_path)
    monkeypatch.setattr(tools, "run", place)
    few = dict.fromkeys(("lut", "dsp", "ff", "bram"), 1)
    top, unit = TOP, job("fp_add", "speed", 3, "ecp5")
    for one in (top, unit):
        file = tmp_path / path_of(one, "json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(netlist))
        found, _ = place_and_route(one, few, 2)
        assert found["fmax_mhz_of_seeds"] == [90.0, 90.0]
        assert found.get("moved") == (None if one is unit else asdict(Folded()))
    folded, plain = str(path_of(top, "folded.json")), str(path_of(unit, "json"))
    assert placed == [folded, folded, plain, plain]
