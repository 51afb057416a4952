"""`python -m pymodel compile`: images of scenarios and robots, and one line for what is refused."""

from pathlib import Path

import pytest

from pymodel.app.command import main
from pymodel.compile.robot_kernels import recorded
from pymodel.machine.c_driver import Driver, Status, build, compiler
from pymodel.machine.isa import Machine
from pymodel.machine.program_image import ProgramImage
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.scenario_file import load
from pymodel.runs.compiled import library_image, run_image
from pymodel.runs.engine_calls import prepare_library
from pymodel.runs.engine_runs import prepare
from pymodel.runs.options import MAX_REBASE
from pymodel.tests.places import ROOT, SCENARIOS
from pymodel.tests.robots import ROBOTS

PENDULUM, FOUR_BAR = (str(SCENARIOS / f"{x}.toml") for x in ("double_pendulum", "four_bar"))
IIWA, HYQ = (str(ROBOTS / f"{x}.urdf") for x in ("iiwa14", "hyq"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(*words):
    assert main(["compile", *words, "--out", "out/x.image"]) == 0
    with open("out/x.image", "rb") as file:
        return ProgramImage.decode(file.read())


def test_a_time_step(capsys):
    image = compiled(FOUR_BAR, "--rebase", "10", "--base", "blocks", "--arith", "5/10")
    (step,) = image.programs
    assert (step.name, step.every, step.steps) == ("step", 10, 10_001)
    assert image.machine.fmt.man_w == 10
    said = capsys.readouterr().out
    assert main(["compile", "--show", "out/x.image"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(said) and shown.count("before: q[0], ") == 1
    listed = [line for line in shown.splitlines() if line.startswith("parameters: ")]
    assert listed == [f"parameters: {', '.join(image.parameters)}"]
    assert "body[0].inverse_mass" in image.parameters
    assert "format 5/10, DEPTH 64" in said and "every 10" in said


def test_the_largest_numbers_fit():
    (step,) = compiled(FOUR_BAR, "--rebase", str(MAX_REBASE)).programs
    assert step.every == MAX_REBASE


@pytest.mark.parametrize("width", [None, "50"])
def test_no_digit_is_cut(capsys, monkeypatch, width):
    """Where there is no terminal."""
    if width:
        monkeypatch.setenv("COLUMNS", width)
    compiled(FOUR_BAR, "--rebase", str(MAX_REBASE))
    said = capsys.readouterr().out
    assert f"every {MAX_REBASE}" in said and "…" not in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("/dev/full", "No space left on device"),
        ("file/x.image", "Not a directory"),
        ("file/new/x.image", "Not a directory"),
        (".", "Is a directory"),
    ],
)
def test_images_that_cannot_be_written(folder, capsys, out, why):
    (folder / "file").touch()
    assert main(["compile", PENDULUM, "--out", out]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"{out}: cannot write: {why}"


def test_stages_of_the_register_file(capsys):
    """A host finds them in LANES, an older image's are 0."""
    plain = compiled(PENDULUM)
    assert (plain.machine.read_stages, plain.machine.operand_stages) == (0, 0)
    capsys.readouterr()
    image = compiled(PENDULUM, "--read-stages", "2", "--operand-stages", "1")
    assert "13, READ_STAGES 2, OPERAND_STAGES 1, format 8/23, " in capsys.readouterr().out
    machine = Machine(read_stages=2, operand_stages=1)
    assert image.machine == machine and image.lanes != plain.lanes
    assert image == run_image(prepare(machine, [load(PENDULUM)]))
    assert image.programs[0].main > plain.programs[0].main


def test_an_engine_without_multipliers_in_its_rare_units(capsys):
    plain = compiled(PENDULUM)
    capsys.readouterr()
    image = compiled(PENDULUM, "--rare-logic")
    assert ", OPERAND_STAGES 0, RARE_LOGIC 1, format 8/23, " in capsys.readouterr().out
    assert image.machine == Machine(rare_logic=1) and image.lanes != plain.lanes
    assert image.programs[0].main > plain.programs[0].main


def test_functions_of_a_scenario_have_its_state():
    image = compiled(FOUR_BAR, "--function", "rates", "--function", "step", "--lanes", "3+4")
    rates, step = image.programs
    assert (rates.name, step.name, image.machine.multipliers) == ("rates", "step", 4)
    alone = compiled(FOUR_BAR, "--lanes", "3+4").programs[0]
    assert step.initial == alone.initial and any(step.initial.values())


def test_functions_of_a_robot(capsys):
    image = compiled(IIWA, "--function", "M", "--function", "FD", "--depth", "256")
    assert capsys.readouterr().err.splitlines() == [str(urdf.load(IIWA))]
    assert [program.name for program in image.programs] == ["M", "FD"]
    assert image.depth == 256 and not any("link" in name for name in image.parameters)
    named = compiled(IIWA, "--function", "M", "--parameters-as-data")
    assert len(named.parameters) > 20
    capsys.readouterr()
    assert main(["compile", "--show", "out/x.image"]) == 0
    assert "iiwa_joint_4.first_moment[1], " in capsys.readouterr().out
    floating = compiled(HYQ, "--function", "ID", "--floating", "--armature", "0.1")
    assert len(floating.programs[0].after) == 18
    both = compiled(IIWA, "--function", "FK", "--function", "ID", "--link", "iiwa_link_7")
    assert [len(program.after) for program in both.programs] == [12, 7]


@pytest.mark.skipif(compiler() is None, reason="no C compiler")
def test_the_driver_takes_what_is_written(tmp_path):
    compiled(IIWA, "--function", "M")
    driver = Driver(build(ROOT / "sw", tmp_path), lambda offset: 0, lambda offset, word: None)
    assert driver.parse((tmp_path / "out/x.image").read_bytes()) == Status.OK


def test_what_is_read_is_not_overwritten(capsys):
    text = Path(PENDULUM).read_text()
    Path("own.toml").write_text(text)
    assert main(["compile", "own.toml", "--out", "./own.toml"]) == 2
    assert capsys.readouterr().err == "--out: ./own.toml is what is read\n"
    assert Path("own.toml").read_text() == text


OUT = ("--out", "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([PENDULUM], "compile: give a scenario or robot file and --out, or --show"),
        ([*OUT], "compile: give a scenario or robot file and --out, or --show"),
        (["--show", "x", PENDULUM], "SOURCE: not with --show"),
        (["--show", "x", "--lanes", "2+2"], "--lanes: not with --show"),
        (["--show", "none"], "none: No such file or directory"),
        (["none.toml", *OUT], "none.toml"),
        ([PENDULUM, "--function", "fly", *OUT], "--function: must be one of "),
        (
            [PENDULUM, "--function", "ID", *OUT],
            "--function: ID is of a robot",
        ),
        (
            [IIWA, "--function", "dID", "--function", "diFD", "--armature", "1", *OUT],
            "--armature: changes nothing in dID and diFD",
        ),
        ([IIWA, "--function", "ID", "--damping", *OUT], "--damping: no joint of "),
        ([PENDULUM, *["--function", "rates"] * 2, *OUT], "--function: rates twice"),
        ([PENDULUM, "--rebase", "3", *OUT], "--rebase 3: only for a mechanism with loops"),
        ([FOUR_BAR, "--rebase", "-3", *OUT], "--rebase -3: must be a whole number, 0 to 42949672"),
        (
            [FOUR_BAR, "--rebase", "4294967295", *OUT],
            "--rebase 4294967295: must be a whole number, 0 to 4294967294",
        ),
        (
            [FOUR_BAR, "--rebase", "3", "--function", "rates", *OUT],
            "--rebase: only for the function step by itself",
        ),
        (
            [PENDULUM, "--base", "ldl", *OUT],
            "--base ldl: only for a chain of bodies that is closed",
        ),
        ([PENDULUM, "--floating", *OUT], "--floating: only for a robot file"),
        ([PENDULUM, "--armature", "0", *OUT], "--armature: only for a robot file"),
        ([PENDULUM, "--parameters-as-data", *OUT], "--parameters-as-data: only for a robot file"),
        ([IIWA, *OUT], "--function: give one or more of ID, FD"),
        ([IIWA, "--function", "steps", *OUT], "--function: must be one of ID, FD"),
        ([IIWA, "--function", "M", "--base", "ldl", *OUT], "--base: only for a scenario"),
        ([IIWA, "--function", "M", "--rebase", "2", *OUT], "--rebase: only for a scenario"),
        ([PENDULUM, "--lanes", "2", *OUT], "--lanes 2: must be <adders>+<multipliers>"),
        ([PENDULUM, "--lanes", "90+90", *OUT], "an engine takes 2048"),
        ([PENDULUM, "--stages", "8,2,6,13", *OUT], "add_stages is 8, must be 0 to 6"),
        ([PENDULUM, "--read-stages", "3", *OUT], "--read-stages 3: must be a whole number, 0 to 2"),
        (
            [PENDULUM, "--operand-stages", "-1", *OUT],
            "--operand-stages -1: must be a whole number, 0 to 1",
        ),
        (["--show", "x", "--read-stages", "0"], "--read-stages: not with --show"),
        ([PENDULUM, "--depth", "48", *OUT], "depth is 48, must be a power of two"),
        ([PENDULUM, "--depth", f"{1 << 17}", *OUT], "depth is 131072, an engine has at most 65536"),
        ([PENDULUM, "--depth", f"{1 << 32}", *OUT], "depth is 4294967296, an engine has at most"),
        ([FOUR_BAR, "--depth", "4", *OUT], "--depth: the programs need"),
        ([PENDULUM, "--arith", "float64", *OUT], "--arith: the engine has no float64"),
        ([PENDULUM, "--arith", "11/52", *OUT], "--arith: the engine has no sine for the format"),
        ([PENDULUM, "--arith", "half", *OUT], "--arith half: must be float32"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(words, said, capsys):
    assert main(["compile", *words]) == 2
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == 1 and said in err


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data[:-1], "cut short"),
        (lambda data: b"RIFF" + data[4:], "no program image"),
        (lambda data: data[:4] + b"\1" + data[5:], "version 1 of the format; must be 2"),
        (lambda data: data[:-9] + b"?" + data[-8:], "damaged: its checksum is wrong"),
        (lambda data: b"", "cut short"),
    ],
)
def test_images_that_are_refused(folder, spoil, said, capsys):
    compiled(PENDULUM)
    (folder / "bad.image").write_bytes(spoil((folder / "out/x.image").read_bytes()))
    capsys.readouterr()
    assert main(["compile", "--show", "bad.image"]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith("bad.image: ") and len(err.splitlines()) == 1
    assert said in err


@pytest.mark.parametrize(("path", "rebase"), [(PENDULUM, 0), (FOUR_BAR, 3)])
def test_a_written_run_is_the_one_that_python_prepares(path, rebase):
    """So that what the benches load is what a user compiles."""
    run = prepare(Machine(), [load(path)], rebase=rebase)
    assert compiled(path, *(["--rebase", str(rebase)] if rebase else [])) == run_image(run)


def test_a_written_library_is_the_one_that_python_prepares():
    robot = reduced(urdf.load(IIWA))
    kernels = {name: recorded(robot, name, parameters_as_data=True) for name in ("ID", "M")}
    image = compiled(IIWA, "--function", "ID", "--function", "M", "--parameters-as-data")
    assert image == library_image(prepare_library(Machine(), kernels))
