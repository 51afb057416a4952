"""What `hdca robot` refuses, and how results are compared; the engine is a bench's."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pymodel.app import robot
from pymodel.app.command import main
from pymodel.app.table import NAMED
from pymodel.arith import c_build
from pymodel.arith.fp import BINARY32
from pymodel.compile.recording_limit import TooManyOperationsError
from pymodel.hardware.cosim.calls import Calls
from pymodel.mechanism import mjcf as mjcf_reader
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.runs import robot_calls
from pymodel.tests.mjcf import ARM, QUADRUPED, mjcf
from pymodel.tests.places import ROOT

IIWA = str(ROOT / "robots" / "iiwa14.urdf")


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    monkeypatch.setattr(robot, "PATIENCE", 3600.0)  # a busy machine says no more

    def run(function, *options, urdf=IIWA):
        words = ["robot", urdf, "--function", function, "--out", str(tmp_path / "out")]
        return main([*words, *options])

    return run


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["IK"], "--function IK: must be ID, FD, M, Minv, dID, dFD, diFD, FK, J, Jbody, energy, "),
        (
            ["ID", "--target", "gpu"],
            "--target gpu: must be model, native, twin, engine, array or board",
        ),
        (["ID", "--rows", "0"], "--rows 0: must be a whole number, 1 to 1000000"),
        (["ID", "--lanes", "8+8"], "--lanes 8+8: only for --target twin, engine or array"),
        (["ID", "--sim", "icarus"], "--sim icarus: only for --target engine or array"),
        (["ID", "--gravity=0,1"], "--gravity 0,1: must be three numbers, as 0,0,-1.62"),
        (["ID", "--gravity=0,0,g"], "--gravity 0,0,g: must be three numbers, as 0,0,-1.62"),
        (["M", "--gravity=0,0,-1"], "--gravity: changes nothing in M"),
        (["FK", "--gravity=0,0,-1"], "--gravity: changes nothing in FK"),
        (["ID", "--link", "iiwa_link_7"], "--link: changes nothing in ID"),
        (["J"], "J of iiwa14: needs the name of a link"),
        (["J", "--link", "hand"], "--link: no link 'hand'; those that move are iiwa_link_1, "),
        (["FK", "--link", "base"], "--link: link 'base' stands on the ground, and does not"),
        (["ID", "--gravity=0,0,1e40"], "gravity: must be three numbers of at most 1e+30"),
        (["ID", "--waves"], "--waves: only for --target engine or array"),
        (["ID", "--stalls", "20", "--target", "engine"], "--stalls 20: only for --target array"),
        (["ID", "--contexts", "17", "--target", "array"], "--contexts 17: must be a whole number"),
        (["ID", "--datapaths", "0", "--target", "array"], "--datapaths 0: must be a whole number"),
        (["ID", "--lanes", "8x8", "--target", "engine"], "--lanes 8x8: must be <adders>+<multip"),
        (["ID", "--arith", "half"], "--arith half: must be float32, float64 or"),
        (["ID", "--arith", "float64", "--target", "engine"], "--arith float64: not in hardware"),
        (["ID", "--arith", "9/20", "--target", "engine"], "--arith 9/20: sine and cosine end at"),
        (["ID", "--lanes", "200+200", "--target", "engine"], "--lanes 200+200: a program word of"),
    ],
)
def test_what_cannot_run_is_one_line_and_status_2(attempt, tmp_path, capsys, options, said):
    assert attempt(*options) == 2
    out, err = capsys.readouterr()
    assert not out and said in err and len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.reads("rtl/rtl.f")  # which tells a checkout, where names of robots are looked up
def test_a_robot_that_makes_none_is_one_line_and_status_2(attempt, tmp_path, capsys):
    none = tmp_path / "none.urdf"
    assert attempt("ID", urdf=str(none)) == 2
    assert capsys.readouterr().err == f"{none}: cannot read: No such file or directory\n"


def test_limits_and_meshes_are_not_read(attempt, tmp_path):
    """Neither by us nor, of the same file, by Pinocchio."""
    text = Path(IIWA).read_text()
    assert text.count("<limit") == 7
    path = tmp_path / "bare.urdf"
    path.write_text(
        re.sub("<limit[^>]*>", "<limit lower='?'/>", text, count=3).replace("<mesh", "<m")
    )
    assert attempt("ID", "--rows", "2", urdf=str(path)) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["float64_error_to_pinocchio"] < 1e-12


@pytest.mark.parametrize("axis", ["0 0 1e-200", "0&#10;0  1e200"])
def test_pinocchio_gets_an_axis_that_it_can_square(attempt, tmp_path, axis):
    text = Path(IIWA).read_text()
    path = tmp_path / "odd.urdf"
    path.write_text(re.sub(r'<axis xyz="0 0 1"', f'<axis xyz="{axis}"', text))
    assert axis in path.read_text()
    assert attempt("ID", "--rows", "2", urdf=str(path)) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["float64_error_to_pinocchio"] < 1e-12


@pytest.mark.reads("rtl/rtl.f")
def test_a_shipped_robot_is_found_by_its_name(attempt, tmp_path):
    """Also an MJCF; of two files of a name the URDF would be taken."""
    for name in ("quadruped", "iiwa14"):
        assert attempt("M", "--rows", "2", urdf=name) == 0
        summary = json.loads((tmp_path / "out" / "summary.json").read_text())
        assert summary["robot"] == name and summary["float64_error_to_pinocchio"] < 1e-12


@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["arm", "quadruped"])
@pytest.mark.parametrize("function", ["FD", "dFD"])
def test_an_mjcf_is_compared_with_mujoco(attempt, tmp_path, capsys, elements, function):
    """But for derivatives, which MuJoCo has not."""
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(elements))
    assert attempt(function, "--rows", "2", urdf=str(path)) == 0
    out = re.sub(r"[│\s]+", " ", capsys.readouterr().out)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["float64_error_to_pinocchio"] < 1e-12
    assert "damping is not applied" in " ".join(summary["notes"]) or elements is QUADRUPED
    assert ("float64_error_to_mujoco" in summary) == (function == "FD")
    if function == "FD":
        assert summary["float64_error_to_mujoco"] < 1e-12
        assert 1e-9 < summary["error_to_mujoco"] < 1e-5
        assert "max error, float64 - MuJoCo" in out


def test_a_reading_that_differs_from_mujoco_is_status_1(attempt, tmp_path, capsys, monkeypatch):
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(ARM))
    load_ = mjcf_reader.load

    def heavier(*arguments):
        robot_ = load_(*arguments)
        first, *others = robot_.links
        return replace(robot_, links=(replace(first, inertia=2 * first.inertia), *others))

    monkeypatch.setattr(mjcf_reader, "load", heavier)
    assert attempt("ID", "--rows", "2", urdf=str(path)) == 1
    assert capsys.readouterr().err == "float64 differs from MuJoCo\n"


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
def test_the_model_is_compared_and_leaves_its_files(attempt, tmp_path, capsys, arithmetic):
    options = ["--arith", arithmetic, "--rows", "4", "--seed", "3", "--floating"]
    assert attempt("FD", *options) == 0
    out = re.sub(r"[│\s]+", " ", capsys.readouterr().out)  # cells of a table in 80 columns
    assert "iiwa14: 13 degrees of freedom, floating base" in out and "FD by articulated" in out
    folder = tmp_path / "out"
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["degrees_of_freedom"] == 13 and summary["finite"]
    assert summary["float64_error_to_pinocchio"] < 1e-12
    small = reduced(load(IIWA, floating=True))
    states = robot_calls.read_table(folder / "inputs.csv")
    assert len(states["q0"]) == 4
    found = robot_calls.call(small, "FD", states, arithmetic).table
    for name, column in robot_calls.read_table(folder / "outputs.csv").items():
        assert column.tobytes() == found[name].tobytes()
    if arithmetic == "float32":
        assert 1e-8 < summary["error_to_float64"] < 1e-5
        assert summary["error_to_float64"] == pytest.approx(summary["error_to_pinocchio"], rel=1e-3)


def test_gravity_as_asked(attempt, tmp_path):
    assert attempt("ID", "--gravity=-1,2,0.5", "--floating", "--rows", "3") == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["float64_error_to_pinocchio"] < 1e-12
    assert summary["gravity"] == pytest.approx([-1, 2, 0.5])


def test_results_that_are_not_finite_are_status_1(attempt, tmp_path, capsys):
    """Iiwa's accelerations leave the range of 4/10 in some of the states."""
    assert attempt("FD", "--arith", "4/10") == 1
    out, err = capsys.readouterr()
    assert "outputs.csv: a result is infinite or not a number" in err
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["finite"] is False


@pytest.fixture
def simulated(monkeypatch):
    """A simulator that gives what the model gives, with what the bench says of it."""
    said = {"result": "pass", "message": ""}

    def watched(bench, simulator, config, name, unit, settings, command, **options):
        (call,) = settings.get("calls") or settings["jobs"]
        call["function"] = call.get("function") or call["functions"][0]
        small = reduced(load(call["robot"], call["floating"], gravity=call["gravity"]))
        names = robot_calls.inputs(small, call["function"])
        table = robot_calls.read_table(call["inputs"])
        batch = robot_calls.bits_of(BINARY32, {name: table[name] for name in names})
        engine = robot_calls.prepare(robot_calls.machine_of("4+4"), small, call["function"])
        results, twin = engine.on_twin(batch)
        Calls(results, len(results) * len(results[0]), 400, twin.flags).write(
            robot.Path(settings["out"])
        )
        said["command"] = command
        return said

    monkeypatch.setattr(robot, "watched", watched)
    monkeypatch.setattr(robot, "usable_simulator", lambda name: "verilator")
    monkeypatch.setattr(robot, "simulator_version", lambda name: "1")
    return said


@pytest.mark.parametrize("target", ["engine", "array"])
def test_hardware_gets_the_gravity_and_is_asked_again_with_it(attempt, tmp_path, simulated, target):
    """A number below zero after a blank would be an option."""
    asked = ("--floating", "--gravity=-1,2,0.5", "--rows", "2")
    assert attempt("ID", "--target", target, *asked) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["error_to_pinocchio"] < 1e-6
    assert "--gravity=-1.0,2.0,0.5" in simulated["command"].split()


def test_native_code_says_what_was_compared_and_what_computed(
    attempt, tmp_path, capsys, monkeypatch
):
    options = ("FD", "--target", "native", "--rows", "20")
    assert attempt(*options) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "20 calls, the 112 words of the first 16: identical to the model"
    assert "float32 on native" in said[0]
    monkeypatch.setenv("CC", "no-such-compiler")
    c_build.compiler.cache_clear()
    try:
        assert attempt(*options) == 0
    finally:
        c_build.compiler.cache_clear()
    found = capsys.readouterr()
    assert "float32 on numpy" in found.out and "not kept" in found.out
    assert "no C compiler (no-such-compiler)" in found.err
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["by_numpy"]


def test_of_what_is_large_fewer_calls_are_compared(attempt, capsys, monkeypatch):
    monkeypatch.setattr(robot, "OPERATIONS_COMPARED", 1)
    assert attempt("FD", "--target", "native", "--rows", "20") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "20 calls, the 7 words of the first 1: identical to the model"


@pytest.mark.parametrize("target", ["twin", "engine", "array", "board"])
def test_what_is_too_long_for_a_program_is_refused_at_once(
    attempt, tmp_path, capsys, monkeypatch, target
):
    """And leaves no folder."""

    def refuse(*_):
        raise TooManyOperationsError("too many operations")

    monkeypatch.setattr(robot, "recorded", refuse)
    monkeypatch.setattr(robot_calls, "call", lambda *_, **__: pytest.fail("evaluated"))
    monkeypatch.setattr(robot, "usable_simulator", lambda name: "verilator")
    assert attempt("dFD", "--target", target) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("too many operations")
    assert not (tmp_path / "out").exists()


def test_the_twin_says_what_was_compared_and_its_cycles(attempt, tmp_path, capsys):
    assert attempt("FD", "--target", "twin", "--rows", "20", "--lanes", "4+4") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "20 calls, the 112 words of the first 16: identical to the model"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["identical"] and summary["bounds"]["both"] <= summary["cycles"]


def test_a_twin_that_differs_is_status_1(attempt, capsys, monkeypatch):
    call = robot_calls.call

    def wrong(*arguments, **options):
        answer = call(*arguments, **options)
        if "twin" in arguments:
            answer.table["qdd3"][1] = np.nextafter(answer.table["qdd3"][1], 9.0)
        return answer

    monkeypatch.setattr(robot_calls, "call", wrong)
    assert attempt("FD", "--target", "twin", "--rows", "2") == 1
    assert "the engine's model differs from the model" in capsys.readouterr().err


@pytest.mark.parametrize("compiler", [None, "no-such-compiler"])
def test_native_code_is_the_model_where_results_are_no_numbers(
    attempt, capsys, monkeypatch, compiler
):
    if compiler:
        monkeypatch.setenv("CC", compiler)
        c_build.compiler.cache_clear()
    try:
        assert attempt("FD", "--arith", "4/2", "--rows", "4", "--target", "native") == 1
    finally:
        c_build.compiler.cache_clear()
    found = capsys.readouterr()
    assert "a result is infinite or not a number" in found.err
    assert "differs" not in found.err
    assert "28 words of the first 4: identical to the model" in found.out


ENGINE = ("--target", "engine", "--lanes", "4+4", "--rows", "2")


@pytest.fixture
def slide(tmp_path):
    """A robot whose derivatives are all zero by structure."""
    path = tmp_path / "slide.urdf"
    inertia = "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
    path.write_text(
        f"<robot name='slide'><link name='a'/><link name='b'><inertial><mass value='2'/>{inertia}"
        "</inertial></link><joint name='j' type='prismatic'><parent link='a'/><child link='b'/>"
        "<axis xyz='0 0.6 0.8'/></joint></robot>"
    )
    return str(path)


@pytest.mark.parametrize("target", ["model", "native"])
def test_results_that_are_zero_by_structure(attempt, slide, capsys, target):
    assert attempt("dID", "--rows", "2", "--target", target, urdf=slide) == 0
    assert "none" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["twin", "engine", "array"])
def test_results_that_are_zero_are_no_program(attempt, simulated, slide, tmp_path, capsys, target):
    assert attempt("dID", "--target", target, urdf=slide) == 2
    assert "dID of slide: all results are zero" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_engine_is_identical(attempt, simulated, tmp_path, capsys):
    assert attempt("ID", *ENGINE) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 calls, 14 words: identical to the text"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["identical"] and summary["cycles_with_start_and_trace"] == 400
    assert summary["bounds"]["both"] <= summary["cycles"]
    assert summary["error_to_float64"] < 1e-5
    assert simulated["command"] == (
        f"python -m pymodel robot {IIWA} --function ID --target engine --rows 2 --lanes 4+4 "
        "--sim verilator"
    )


def test_the_array_is_identical(attempt, simulated, tmp_path, capsys):
    shape = ("--lanes", "1+2", "--contexts", "4", "--datapaths", "3", "--stalls", "0")
    assert attempt("ID", "--target", "array", "--rows", "2", *shape) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 calls, 14 words: identical to the text"
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["identical"] and summary["cycles_per_call"] == 200
    assert summary["cycles_per_call_of_full_batches"] == summary["words"] / 3
    assert simulated["command"] == (
        f"python -m pymodel robot {IIWA} --function ID --target array --rows 2 --lanes 1+2 "
        "--sim verilator --contexts 4 --datapaths 3 --stalls 0"
    )


def test_the_engine_differs(attempt, simulated, tmp_path, capsys):
    simulated |= {"result": "fail", "message": "tau0 differs\nrerun: make robot ..."}
    assert attempt("ID", *ENGINE) == 1
    out, err = capsys.readouterr()
    assert "identical" not in out and err.endswith("tau0 differs\nrerun: make robot ...\n")
    assert not json.loads((tmp_path / "out" / "summary.json").read_text())["identical"]


def test_a_simulation_that_fails_is_told(attempt, simulated, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(robot, "watched", lambda *arguments, **options: {"message": "no build"})
    assert attempt("ID", *ENGINE) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "no build"
    assert not (tmp_path / "out" / "outputs.csv").exists()


def test_ctrl_c_leaves_no_files(attempt, simulated, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(robot, "watched", interrupt)
    assert attempt("ID", *ENGINE) == 130
    assert capsys.readouterr().err == "ended by Ctrl-C; this run leaves no files\n"
    assert not (tmp_path / "out").exists()


def test_errors_are_those_of_the_worst_row():
    exact = {"a": np.array([1.0, 10.0]), "b": np.array([2.0, 0.0])}
    found = {"a": np.array([1.5, 11.0]), "b": np.array([2.0, np.nan])}
    assert robot._error(found, exact, 0.0) == 0.25
    nothing = {name: np.full(2, np.nan) for name in exact}
    assert robot._error(nothing, exact, 0.0) is None


def test_a_comparison_of_no_finite_call_is_a_verdict(capsys):
    options = NAMED["robot"].asked(urdf=IIWA, function="FD", out="out")
    summary = {"float64_error_to_pinocchio": None}
    assert robot._verdict(options, summary, robot.Found({}, 0, {}), finite=False) == 1
    said = "out/outputs.csv: a result is infinite or not a number\n"
    assert capsys.readouterr().err == said


def test_errors_of_rows_that_are_zero_are_relative_to_what_cancels_in_them():
    """Not those of other rows, however small."""
    exact, found = {"a": np.array([1e-16, 1e-8])}, {"a": np.array([-1e-16, 2e-8])}
    assert robot._error(found, exact, 2.0) == 1.0
    assert robot._error(found, exact, 20.0) == pytest.approx(5e-10)


@pytest.mark.parametrize("arithmetic", ["float64", "float32"])
@pytest.mark.parametrize("function", ["dID", "dFD", "diFD"])
def test_a_turntable_is_that_of_pinocchio(attempt, tmp_path, function, arithmetic):
    """Its derivatives are zero, but rounding: the axis is vertical through two turns."""
    x, y = 0.3, 0.4
    axis = (-math.sin(y), math.cos(y) * math.sin(x), math.cos(y) * math.cos(x))
    path = tmp_path / "turntable.urdf"
    path.write_text(
        "<robot name='turntable'><link name='a'/><link name='b'><inertial>"
        "<origin xyz='0.05 -0.02 0.1'/><mass value='2'/>"
        "<inertia ixx='0.02' ixy='0.001' ixz='0.002' iyy='0.025' iyz='0.0015' izz='0.01'/>"
        "</inertial></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
        f"<origin rpy='{x} {y} 0'/><axis xyz='{' '.join(map(repr, axis))}'/></joint></robot>"
    )
    assert attempt(function, "--arith", arithmetic, urdf=str(path)) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["float64_error_to_pinocchio"] < 1e-13
    assert summary.get("error_to_float64", 0.0) < 1e-5
