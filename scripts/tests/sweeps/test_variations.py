"""`make sweep` on the step engine's RTL: the rows of the model, and what is refused."""

import subprocess

import pytest

import pymodel
from scripts.places import ROOT
from scripts.sweeps.variations import main
from scripts.tests import outer_make

pytestmark = pytest.mark.rtl_of()

FILE = str(ROOT / "scenarios/double_pendulum.toml")
VARY = {"body[0].mass": "1,-1,1e30", "body[1].damping": "0,0.1"}


def called(tmp_path, *words):
    return main([FILE, "--workers", "0", "--out", str(tmp_path / "one.csv"), *words])


@pytest.mark.rtl_of("step_engine")
def test_rows_of_the_rtl_are_those_of_the_model(tmp_path, capsys):
    """With another mass, what does not run, what stops, and another program in one simulation."""
    vary = [word for key, values in VARY.items() for word in ("--vary", f"{key}={values}")]
    words = (*vary, "--steps", "5", "--target", "engine", "--sim", "icarus")
    assert called(tmp_path, *words) == 1
    said = capsys.readouterr()
    assert "6 variations: 2 done, 2 stopped, 2 failed" in said.out
    got = pymodel.read_table(tmp_path / "one.csv")
    want = pymodel.sweep(FILE, VARY, steps=5, arithmetic="float32", workers=0)
    done = want["status"] == "done"
    assert got["status"].tolist() == want["status"].tolist()
    for name in ("q0", "q1", "qd0", "qd1", "p0", "p1", "energy_change", "steps"):
        assert got[name][done].tolist() == want[name][done].tolist(), name
    assert (got["cycles"][done] > 5 * 100).all()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lanes", "3+3"], "LANES=3+3: only for TARGET=engine"),
        (["--target", "step"], "TARGET=step: must be model, native or engine"),
        (["--target", "engine", "--base", "ldup"], "BASE=ldup: must be ldl or blocks"),
        (["--target", "engine", "--arith", "float64"], "ARITH=float64: not in hardware"),
        (["--target", "engine", "--sim", "vcs"], "SIM=vcs: must be auto, icarus or verilator"),
        (["--scheduler", "here"], "--workers: the scheduler's are used"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(tmp_path, capsys, words, said):
    assert called(tmp_path, "--vary", "body[0].mass=1,2", *words) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and said in err


def test_the_makefile_hands_everything_on():
    words = ["make", "-n", "sweep", f"SCENARIO={FILE}", "COUNT=3", "OUT=x.csv", "TARGET=engine"]
    words += ["VARY=body[0].mass=1:2:3 body[1].q=random(-1,1)", "WORKERS=2", "SCHEDULER=a:1"]
    words += ["SIM=icarus", "LANES=4+4", "SEED=3", "STEPS=7", "ARITH=5/10"]
    environment = outer_make.environment()
    said = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    for option in (
        "--vary 'body[0].mass=1:2:3' --vary 'body[1].q=random(-1,1)' --count '3' --target 'engine'",
        "--workers '2' --scheduler 'a:1' --sim 'icarus' --arith '5/10' --steps '7' --lanes '4+4'",
        "--seed '3'",
        "--out 'x.csv'",
    ):
        assert option in " ".join(said.stdout.replace("\\", "").split())
