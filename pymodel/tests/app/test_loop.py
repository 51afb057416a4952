"""`hdca loop` on what needs no simulator, and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from pymodel.app import loop as closed_loop
from pymodel.app.command import main
from pymodel.app.loop import MOTION, PICTURE
from pymodel.hardware.cosim.loop_handover import LoopHandover
from pymodel.tests.mjcf import ARM, mjcf
from pymodel.tests.places import ROOT

IIWA = str(ROOT / "robots" / "iiwa14.urdf")


def test_a_run_on_the_model(tmp_path, capsys):
    assert main(["loop", IIWA, "--steps", "20", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["degrees_of_freedom"] == 7
    assert 0 < summary["q_error_to_float64"] < 1e-6
    assert summary["q_error_to_Pinocchio"] < 1e-6
    assert len((tmp_path / MOTION).read_text().splitlines()) == 22
    assert (tmp_path / PICTURE).stat().st_size > 10_000
    assert "7 degrees of freedom" in capsys.readouterr().out


def test_a_robot_of_mjcf(tmp_path, capsys):
    path = tmp_path / "arm.xml"
    path.write_text(mjcf(ARM))
    assert main(["loop", str(path), "--steps", "5", "--out", str(tmp_path / "out")]) == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["q_error_to_Pinocchio"] < 1e-6
    assert "r: 5 degrees of freedom, fixed base" in capsys.readouterr().out


def test_joints_that_mimic_others_have_no_curve(tmp_path):
    gripper = str(ROOT / "robots" / "gripper.urdf")
    assert main(["loop", gripper, "--steps", "5", "--out", str(tmp_path)]) == 0
    assert (tmp_path / PICTURE).stat().st_size > 10_000


@pytest.mark.parametrize(
    ("sliding", "units"),
    [(7, ("m", "m/s", "N")), (3, ("rad or m", "rad/s or m/s", "N m or N"))],
    ids=["all", "some"],
)
def test_units_of_prismatic_joints(tmp_path, capsys, monkeypatch, sliding, units):
    monkeypatch.setenv("COLUMNS", "150")
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, *x, **y: drawn.append(figure) or save(figure, *x, **y)
    )
    slider = tmp_path / "slider.urdf"
    slider.write_text(Path(IIWA).read_text().replace('"revolute"', '"prismatic"', sliding))
    assert main(["loop", str(slider), "--steps", "1", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"distance to the target +│ \S+ (.*?) +│", out)[1] == units[0]
    found = re.search(r"to float64 +│ q \S+ (.*), qd \S+ (.*), tau \S+ (.*?) +│", out)
    assert found.groups() == units
    labels = [axes.get_ylabel() for axes in drawn[0].axes]
    kinds = {"m": ("displacement", "force"), "rad": ("angle", "torque")}
    of_each = list(zip(*(unit.split(" or ") for unit in units), strict=True))
    for unit, _, effort in of_each:
        motion, force = kinds[unit]
        assert {f"joint {motion} [{unit}]", f"{force} [{effort}]", f"|difference| [{unit}]"} <= {
            *labels
        }
    assert len(labels) == 3 * len(of_each)


def test_a_motion_that_rounding_has_spoiled(tmp_path, capsys):
    assert main(["loop", IIWA, "--arith", "6/6", "--steps", "400", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"{IIWA}: warning: rounding reaches 0.")


def test_float64_is_pinocchio(tmp_path):
    assert main(["loop", IIWA, "--arith", "float64", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["q_error_to_Pinocchio"] < 1e-12


@pytest.mark.parametrize("target", ["native", "twin"])
@pytest.mark.nightly("native")
def test_other_targets_give_the_bits_of_the_model(tmp_path, capsys, target):
    words = ["loop", IIWA, "--steps", "10", "--arith", "5/10"]
    for name in ("model", target):
        assert main([*words, "--target", name, "--out", str(tmp_path / name)]) == 0
    assert "10 steps, 231 words: bit-identical to the model" in capsys.readouterr().out
    tables = [(tmp_path / name / MOTION).read_text() for name in ("model", target)]
    assert tables[0] == tables[1]
    summary = json.loads((tmp_path / target / "summary.json").read_text())
    assert summary["identical"] and summary["target"] == target


@pytest.mark.parametrize("target", ["native", "twin"])
def test_a_target_that_differs_is_status_1(tmp_path, capsys, monkeypatch, target):
    def wrong(loop, *arguments):
        rows = simulate(loop, *arguments)
        rows[3][2] = rows[3][1]
        return rows

    simulate = closed_loop.simulate
    monkeypatch.setattr(closed_loop, "simulate", wrong)
    words = ["loop", IIWA, "--steps", "5", "--target", target, "--out", str(tmp_path)]
    assert main(words) == 1
    assert "a state or torque differs from the model" in capsys.readouterr().err


@pytest.fixture
def engine(monkeypatch):
    """A simulator whose engine takes no step."""

    def watched(*arguments, settings, **options):
        LoopHandover([], 100, 0, 16).write(Path(settings["out"]))
        return {"result": "fail", "message": "0 steps of 6"}

    monkeypatch.setattr(closed_loop, "watched", watched)
    monkeypatch.setattr(closed_loop, "usable_simulator", lambda name: "icarus")


@pytest.mark.parametrize(
    ("arithmetic", "status", "said"),
    [
        ("4/2", 1, "step 0: a result is infinite or not a number"),
        ("float32", 2, "0 steps of 6"),
    ],
)
def test_an_engine_that_takes_no_step(engine, tmp_path, capsys, arithmetic, status, said):
    """As the model, which breaks off; or the engine is wrong."""
    arguments = ["--steps", "5", "--target", "engine", "--arith", arithmetic]
    assert main(["loop", IIWA, "--out", str(tmp_path), *arguments]) == status
    assert capsys.readouterr().err == f"{said}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lanes", "2+2"], "--lanes 2+2: only for --target twin or engine"),
        (["--steps", "0"], "--steps 0: must be a whole number, 1 to 100000"),
        (
            ["--target", "coprocessor"],
            "--target coprocessor: must be model, native, twin or engine",
        ),
        (["--target", "engine", "--arith", "float64"], "--arith float64: not in hardware"),
    ],
)
def test_refused_in_one_line(tmp_path, capsys, arguments, said):
    assert main(["loop", IIWA, "--out", str(tmp_path), *arguments]) == 2
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.reads("rtl/rtl.f")  # which tells a checkout, where names of robots are looked up
def test_a_missing_robot(tmp_path, capsys):
    assert main(["loop", str(tmp_path / "none.urdf"), "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"{tmp_path}/none.urdf: cannot read")
