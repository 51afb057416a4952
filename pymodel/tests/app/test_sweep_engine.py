"""`hdca sweep` on the step engine's RTL: the rows of the model, and what is refused."""

import shlex

import pytest

import pymodel
from pymodel.app import sweep_engine as engine
from pymodel.app.command import main
from pymodel.hardware.rtl_files import needed
from pymodel.runs.outcome import Outcome
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.reads("rtl")

FILE = str(ROOT / "scenarios/double_pendulum.toml")
VARY = {"body[0].mass": "1,-1,1e30", "body[1].damping": "0,0.1"}
MASSES = ("--vary", "body[0].mass=1,2,3", "--target", "engine", "--sim", "icarus")


def called(tmp_path, *words):
    return main(["sweep", FILE, "--workers", "0", "--out", str(tmp_path / "one.csv"), *words])


@pytest.mark.nightly
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


def test_a_variation_that_differs_says_how_to_run_it_alone(tmp_path, monkeypatch):
    """Its file is that of the variation, as far as a sweep of so many steps runs it."""
    failed = {"result": "fail", "message": "q0: 1 for 2\n\nrerun: make cosim_step"}
    monkeypatch.setattr(engine.BENCH, "run", lambda *words, **options: failed)
    monkeypatch.setattr(engine, "FAILURES", engine.FAILURES / tmp_path.name)
    on = engine.backend("5/10", "3+3", "icarus")
    vary = {"body[0].mass": "2,3"}
    found = pymodel.sweep(FILE, vary, steps=5, arithmetic="5/10", target=on, workers=0, rebase=0)
    for mass, reason in zip((2.0, 3.0), found["reason"], strict=True):
        said, command = reason.split("; rerun: ")
        python, module, program, goal, file, *words = shlex.split(command)
        again = pymodel.load(ROOT / file)
        assert (said, python, module, program, goal) == (
            "q0: 1 for 2",
            *["python", "-m", "pymodel", "run"],
        )
        assert (again.bodies[0].mass, again.steps) == (mass, 5)
        asked = "--target engine --arith 5/10 --lanes 3+3 --sim icarus --waves"
        assert words == asked.split()


@pytest.fixture
def simulated(monkeypatch):
    """Masses of the first bodies that were asked for; nothing simulates, and 2 kg fail."""
    masses = []

    def run(scenarios, arithmetic, **options):
        (mass,) = (scenario.bodies[0].mass for scenario in scenarios)
        masses.append(mass)
        return [Outcome.failure("differs") if mass == 2.0 else Outcome("done", q=[0, 0])]

    monkeypatch.setattr(engine, "run", run)
    monkeypatch.setattr("pymodel.app.hardware_run.usable_simulator", lambda name: name)
    monkeypatch.setattr(engine, "version_of", lambda name: f"{name} 1.0", raising=False)
    return masses


@pytest.fixture
def datapath(monkeypatch, tmp_path):
    """A copy of a file of the RTL, in its place."""
    copy = tmp_path / "step_datapath.sv"
    copy.write_text((ROOT / "rtl/step/step_datapath.sv").read_text())

    def files(*asked):
        return [copy if file.name == copy.name else file for file in needed(*asked)]

    monkeypatch.setattr(engine, "needed", files)
    return copy


def refused(tmp_path, capsys, *words):
    """What a sweep says that is refused, and leaves its files as they are."""
    before = {file: file.read_text() for file in tmp_path.rglob("*.*") if file.is_file()}
    capsys.readouterr()
    assert called(tmp_path, *words) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1
    assert before == {file: file.read_text() for file in before}
    return err


def test_rows_of_other_rtl_are_refused(tmp_path, capsys, simulated, datapath):
    for _ in range(2):  # what has failed stays, too
        assert called(tmp_path, *MASSES) == 1 and simulated == [1.0, 2.0, 3.0]
    datapath.write_text("")
    said = refused(tmp_path, capsys, *MASSES)
    assert "one.csv: of another sweep, not of this code: remove it, or give another" in said
    (tmp_path / "one.csv").unlink()
    assert called(tmp_path, *MASSES) == 1 and simulated == 2 * [1.0, 2.0, 3.0]


def test_rtl_that_changes_meanwhile_ends_a_sweep(
    tmp_path, capsys, monkeypatch, simulated, datapath
):
    """It goes on with the same RTL, simulator and lanes alone."""
    before, run = datapath.read_text(), engine.run

    def change(*scenarios, **options):
        found = run(*scenarios, **options)
        if simulated == [1.0, 2.0]:
            datapath.write_text("")
        return found

    monkeypatch.setattr(engine, "run", change)
    assert called(tmp_path, *MASSES) == 2
    said = "not the code that the sweep began with; what is done is kept\n"
    assert capsys.readouterr().err.splitlines(keepends=True)[-1] == said
    assert "one.csv.parts: of another sweep, not of this code" in refused(tmp_path, capsys, *MASSES)
    datapath.write_text(before)
    for words, other in ((("--sim", "verilator"), "simulator"), (("--lanes", "3+3"), "target")):
        said = refused(tmp_path, capsys, *MASSES, *words)
        assert f"one.csv.parts: of another sweep, not of this {other}: remove it, or" in said
    assert called(tmp_path, *MASSES) == 1 and simulated == [1.0, 2.0, 3.0]
    assert "2 done, 0 stopped, 1 failed; 2 of them were there already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lanes", "3+3"], "--lanes 3+3: only for --target twin or engine"),
        (["--target", "array"], "--target array: must be model, native, twin or engine"),
        (["--target", "engine", "--base", "ldup"], "--base ldup: must be ldl or blocks"),
        (["--target", "engine", "--arith", "float64"], "--arith float64: not in hardware"),
        (["--target", "engine", "--sim", "vcs"], "--sim vcs: must be auto, icarus or verilator"),
        (["--scheduler", "here"], "--workers: the scheduler's are used"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(tmp_path, capsys, words, said):
    assert called(tmp_path, "--vary", "body[0].mass=1,2", *words) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and said in err
