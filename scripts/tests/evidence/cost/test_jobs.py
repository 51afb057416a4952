"""What is measured."""

import pytest

from scripts.evidence.cost.job import FAMILIES, Job
from scripts.evidence.cost.jobs import (
    JOBS,
    TABLE,
    Ports,
    box_jobs,
    chosen_jobs,
    unit_jobs,
)
from scripts.evidence.cost.yosys import synthesis_script, wrapper
from scripts.kernel.errors import CostError
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.tests.evidence.cost.made import ADD, BOXED, TOP


def test_wrapper_leaves_flags_open_and_registers_on_ecp5():
    plain = wrapper(ADD)
    assert "fp_add #(.STAGES(3)) u_unit(" in plain and ".flags_o()" in plain
    assert "always_ff" not in plain
    job = Job("fp_recip", "flags", "ecp5", 0, ("a_i",), ("y_o", "flags_o"), {"STAGES": 0})
    registered = wrapper(job)
    assert ".flags_o(flags_o_w)" in registered and registered.count("always_ff") == 3


def test_float_units_of_coprocessors_are_boxes():
    script = synthesis_script(BOXED)
    assert "--top ldup_coprocessor -G PARALLEL=1 -G MUL_STAGES=3 --blackboxed-module fp_" in script
    assert script.count("--blackboxed-module") == script.count("setparam") == 3
    assert "; setparam -unset EXP_W" in script
    assert "--top step_engine -G NUM_ADD=2 rtl" in synthesis_script(TOP)
    assert "-flatten" in synthesis_script(ADD) and "boxed" not in synthesis_script(ADD)


def test_a_box_is_counted_as_that_unit_alone():
    boxes = [*box_jobs(BOXED)]
    assert [(box.unit, box.stages) for box in boxes] == [
        ("fp_add", 0),
        ("fp_mul", 3),
        ("fp_recip", 0),
    ]
    assert "--top fp_mul -G STAGES=3 rtl" in synthesis_script(boxes[1])
    assert not [*box_jobs(ADD)] and not {box.name for box in boxes} & {job.name for job in JOBS}


def test_a_job_depends_on_the_modules_that_it_instantiates():
    adder, engine = needed_files("fp_add"), needed_files("step_engine")
    assert "rtl/fp/fp_pkg.sv" in adder and "rtl/fp/fp_mul.sv" not in adder
    assert {"rtl/fp/fp_mul.sv", "rtl/step/step_bank.sv"} <= set(engine)
    assert not any(file.startswith("rtl/hdca/") for file in engine)
    assert "rtl/fp/fp_mul.sv" in needed_files("ldup_coprocessor")
    with pytest.raises(CostError):
        needed_files("fp_nothing")


def test_ports_of_other_units():
    ports = Ports(("rst_ni", "valid_i", "a_i"), ("ready_o", "y_o", "count_o:6"))
    jobs = [*unit_jobs("fp_other", ports, (None,), "iterative", WIDTH=2)]
    assert [(j.config, j.stages) for j in jobs] == [
        ("speed, iterative", None),
        ("area, iterative", None),
        ("speed, iterative", None),
    ]
    text = wrapper(jobs[0])
    assert "fp_other #(.WIDTH(2)) u_unit(" in text and "STAGES" not in text
    assert "input logic [0:0] valid_i" in text and "output logic [5:0] count_o" in text


def test_formats_set_the_width():
    half = next(unit_jobs("fp_add", Ports(("a_i", "b_i"), ("y_o",)), (0,), fmt=(5, 10)))
    text = wrapper(half)
    assert ".EXP_W(5), .MAN_W(10)" in text and "input logic [15:0] a_i" in text
    assert half.config == "speed, half"


def test_chosen_by_unit_and_config():
    chosen = chosen_jobs(["step_engine:1+1"], ["ecp5"])
    assert [(j.config, j.family) for j in chosen] == [("1+1 lanes", "ecp5")]
    chosen = chosen_jobs(["fp_mul:speed-3", "fp_add:flags"], FAMILIES)
    assert [j.name for j in chosen] == [
        "fp_add-area-flags-0-xc7",
        "fp_mul-speed-3-xc7",
        "fp_mul-speed-3-ecp5",
    ]
    assert len(chosen_jobs([], FAMILIES)) == len(JOBS)


def test_every_measurement_has_a_name_of_its_own():
    assert len({job.name for job in JOBS}) == len(JOBS)


def test_the_table_is_the_one_of_the_rtl():
    (method,) = {job.parameters["METHOD"] for job in JOBS if TABLE in job.config}
    assert f"localparam int RECIP_TABLE = {method};" in (ROOT / "rtl/fp/fp_pkg.sv").read_text()
