"""`make closed-loop` on the model, and what it refuses."""

import json
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from pymodel.hardware.cosim.loop_handover import LoopHandover
from scripts.evidence.robots import closed_loop
from scripts.evidence.robots.closed_loop import MOTION, PICTURE, main
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of()

IIWA = str(ROOT / "robots" / "iiwa14.urdf")


def test_a_run_on_the_model(tmp_path, capsys):
    assert main(["--urdf", IIWA, "--steps", "20", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["degrees_of_freedom"] == 7
    assert 0 < summary["q_error_to_float64"] < 1e-6
    assert summary["q_error_to_Pinocchio"] < 1e-6
    assert len((tmp_path / MOTION).read_text().splitlines()) == 22
    assert (tmp_path / PICTURE).stat().st_size > 10_000
    assert "7 degrees of freedom" in capsys.readouterr().out


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
    assert main(["--urdf", str(slider), "--steps", "1", "--out", str(tmp_path)]) == 0
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
    assert main(["--urdf", IIWA, "--arith", "6/6", "--steps", "400", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"{IIWA}: warning: rounding reaches 0.")


def test_float64_is_pinocchio(tmp_path):
    assert main(["--urdf", IIWA, "--arith", "float64", "--out", str(tmp_path)]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["q_error_to_Pinocchio"] < 1e-12


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
    arguments = ["--steps", "5", "--target", "step", "--arith", arithmetic]
    assert main(["--urdf", IIWA, "--out", str(tmp_path), *arguments]) == status
    assert capsys.readouterr().err == f"{said}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lanes", "2+2"], "LANES=2+2: only for TARGET=step"),
        (["--steps", "0"], "STEPS=0: must be a whole number, 1 to 100000"),
        (["--target", "coprocessor"], "TARGET=coprocessor: must be model or step"),
        (["--target", "step", "--arith", "float64"], "ARITH=float64: not in hardware"),
    ],
)
def test_refused_in_one_line(tmp_path, capsys, arguments, said):
    assert main(["--urdf", IIWA, "--out", str(tmp_path), *arguments]) == 2
    assert capsys.readouterr().err == f"{said}\n"


def test_a_missing_robot(tmp_path, capsys):
    assert main(["--urdf", "none.urdf", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("none.urdf: cannot read")
