"""What a run leaves behind: files, differences, plots, and what is said when parts are missing."""

import dataclasses
import io
import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from pymodel.mechanism.scenario_file import load
from pymodel.runs import files, lagrangian, pictures, plots, session
from pymodel.runs.finished import FinishedRun, HardwareResult
from pymodel.runs.input_error import InputError
from pymodel.runs.simulate import simulate
from pymodel.runs.summary import print_summary
from pymodel.runs.trajectory import Trajectory, TrajectoryError, read_csv
from pymodel.tests.places import SCENARIOS

pytestmark = pytest.mark.usefixtures("undrawn")

PLOTS = {*pictures.FILES, pictures.CONSERVED_FILE}  # of a double pendulum, which is conservative
ALL_FILES = PLOTS | {"run.csv", "reference.csv", "float64.csv", "summary.json", "scenario.toml"}


def shifted(run, name, row, amount):
    """`run` with one value of the quantity `name` moved."""
    values = getattr(run, name).copy()
    values[row] += amount
    return dataclasses.replace(run, **{name: values})


@pytest.fixture(scope="module")
def scenario():
    return dataclasses.replace(load(SCENARIOS / "double_pendulum.toml"), end=0.02)


@pytest.fixture(scope="module")
def exact(scenario):
    return lagrangian.simulate(scenario, scenario.times)


HARDWARE = HardwareResult(
    simulator="icarus",
    seed=7,
    identical=True,
    words_compared=99,
    cycles_by_part={"run write": 5, "run run": 7},
    engine_cycles={"run": 3},
    registers_moved={"run write": 2, "run run": 1},
    registers_traced=1,
    evaluations=4,
    in_hardware="all",
    float_units={"add": 1},
    versions={"icarus": "11.0"},
)


def finish(scenario, trajectory, out, arithmetic="float32", options=None, hardware=None, **more):
    target = "step" if hardware else "model"
    run = FinishedRun(scenario, trajectory, None, target, arithmetic, options or {}, hardware)
    return files.write_run(run, out, **more)


def test_the_screen_says_why_the_reference_ends_and_names_the_energy(
    scenario, exact, tmp_path, monkeypatch, capsys
):
    def ends(*_):
        raise lagrangian.NoReferenceError("[singular] posture", exact.first(5))

    monkeypatch.setattr(lagrangian, "simulate", ends)
    damped = dataclasses.replace(scenario.bodies[0], damping=0.1)
    driven = dataclasses.replace(scenario, bodies=(damped, *scenario.bodies[1:]))
    for system, name in (
        (scenario, "max drift of energy"),
        (driven, "max change of energy (motors"),
    ):
        print_summary(finish(system, exact, tmp_path), tmp_path)
        text = capsys.readouterr().out
        assert "the reference ends early: [singular] posture" in text
        assert name in text


def test_the_screen_has_one_unit_for_energies(tmp_path):
    driven = load(SCENARIOS / "andrews.toml", steps=4)
    text = printed(finish(driven, simulate(driven), tmp_path, "float64"), tmp_path)
    assert "max drift of energy less work" in text
    rows = [line.replace("│", "|").split("|") for line in text.splitlines() if "energy" in line]
    assert len(rows) > 1 and {row[3].strip() for row in rows} == {"mJ"}


def printed(summary, out):
    """What a user sees of a summary."""
    console = Console(file=io.StringIO(), width=100)
    print_summary(summary, out, console)
    return console.file.getvalue()


def is_picture(path):
    """A PNG of some size whose pixels are not all alike."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    return data.startswith(b"\x89PNG\r\n") and width > 900 and height > 500 and len(data) > 10_000


@pytest.mark.usefixtures("drawn")
def test_files_and_the_parts_of_the_kinetic_difference(tmp_path, scenario, exact):
    twin = shifted(exact, "kinetic", 50, 3e-3)
    run = shifted(shifted(twin, "kinetic", 50, 1e-3), "q", 70, [0.0, -2e-3])
    run.flags = 0b00101
    out = tmp_path / "new" / "dir"
    summary = finish(scenario, run, out, hardware=HARDWARE, twin=twin)
    assert {path.name for path in out.iterdir()} == ALL_FILES
    assert all(is_picture(out / name) for name in PLOTS)
    assert json.loads((out / "summary.json").read_text()) == summary
    assert summary["kinetic_difference_max_J"] == pytest.approx(4e-3, rel=1e-9)
    assert summary["kinetic_difference_float64_max_J"] == pytest.approx(3e-3, rel=1e-9)
    assert summary["kinetic_rounding_max_J"] == pytest.approx(1e-3, rel=1e-9)
    worst = summary["differences_to_reference"]["q"]
    assert worst["max"] == pytest.approx(2e-3, rel=1e-9) and worst["unit"] == "rad"
    assert worst["time_s"] == scenario.times[70]
    assert summary["differences_to_reference"]["p"]["max"] == 0.0
    assert summary["flags"] == ["OF", "NX"]
    assert (summary["steps"], summary["rows"], summary["cycles"]) == (200, 201, 12)
    assert set(summary["versions"]) == {"python", "numpy", "scipy", "icarus"}


def test_the_reference_stands_at_exactly_the_kept_times(tmp_path, scenario, exact):
    finish(scenario, exact, tmp_path)
    run, other = read_csv(tmp_path / "run.csv"), read_csv(tmp_path / "reference.csv")
    assert run.t.tobytes() == other.t.tobytes() == scenario.times.tobytes()


def test_a_float64_run_is_its_own_twin(tmp_path, scenario, exact):
    run = shifted(exact, "kinetic", 3, 1e-3)
    summary = finish(scenario, run, tmp_path, "float64")
    difference = summary["kinetic_difference_max_J"]
    assert summary["kinetic_difference_float64_max_J"] == difference
    assert difference == pytest.approx(1e-3, rel=1e-9)
    assert summary["kinetic_rounding_max_J"] == 0.0
    assert not (tmp_path / "float64.csv").exists()


def test_unknown_parts_are_null_and_old_files_go(tmp_path, scenario, exact):
    finish(scenario, exact, tmp_path, twin=exact)
    summary = finish(scenario, exact, tmp_path, with_reference=False)
    assert summary["reference"] is None and summary["reference_missing"] == "not asked for"
    assert summary["differences_to_reference"] is None
    assert summary["kinetic_difference_max_J"] is None
    assert summary["kinetic_rounding_max_J"] is None
    left = {path.name for path in tmp_path.iterdir()}
    assert left == ALL_FILES - {"reference.csv", "float64.csv"}


def test_the_rounding_is_named_fully_where_it_stands_alone(tmp_path, scenario, exact):
    twin = shifted(exact, "kinetic", 50, 1e-3)
    for with_reference, name in ((True, "- part"), (False, "max kinetic energy error")):
        summary = finish(scenario, exact, tmp_path, twin=twin, with_reference=with_reference)
        assert f" {name} of rounding (run - float64)" in printed(summary, tmp_path)


def test_a_run_that_stopped_early_is_compared_as_far_as_it_went(tmp_path, scenario, exact):
    summary = finish(scenario, exact.first(80), tmp_path, twin=exact)
    assert summary["rows"] == 80 and summary["kinetic_rounding_max_J"] == 0.0
    assert len(read_csv(tmp_path / "float64.csv")) == 80


@pytest.mark.usefixtures("drawn")
def test_loops_have_a_reference_and_a_picture_of_their_own(tmp_path):
    scenario = dataclasses.replace(load(SCENARIOS / "four_bar.toml"), end=0.01)
    t = scenario.times
    zero = np.zeros((len(t), 3))
    run = Trajectory(t, zero + scenario.q0, zero, zero, *np.zeros((4, len(t))))
    summary = finish(scenario, run, tmp_path)
    assert summary["reference_missing"] is None
    assert summary["differences_to_reference"]["q"]["max"] > 0
    assert all(is_picture(tmp_path / name) for name in PLOTS | {pictures.LOOP_FILE})


def test_a_reference_that_ends_at_a_singular_posture_is_kept_until_there(tmp_path):
    """The rhombus under gravity along -y goes flat at 0.262 s; in float64 the model steps over."""
    scenario = load(SCENARIOS / "four_bar.toml")
    scenario = dataclasses.replace(scenario, gravity=(0.0, -9.80665), step=1e-3, end=0.3)
    run = simulate(scenario)
    summary = finish(scenario, run, tmp_path, "float64")
    exact = read_csv(tmp_path / "reference.csv")
    assert len(run) == 301 and len(exact) == 262
    assert exact.t.tobytes() == run.t[:262].tobytes()
    assert summary["reference_end_s"] == exact.t[-1]
    assert "loop: singular posture at t = 0.261" in summary["reference_missing"]
    worst = np.abs(run.kinetic[:262] - exact.kinetic).max()
    assert summary["kinetic_difference_max_J"] == worst
    differences = summary["differences_to_reference"]
    assert differences["kinetic"]["max"] == worst
    assert all(0 < row["max"] and row["time_s"] <= exact.t[-1] for row in differences.values())
    assert len(files.replot(tmp_path)) == 5
    assert "reference ends at" in printed(summary, tmp_path)


def test_options_must_not_replace_an_entry(tmp_path, scenario, exact):
    with pytest.raises(ValueError, match="^options: flags, steps: already in the summary$"):
        finish(scenario, exact, tmp_path, options={"steps": 1, "flags": 2})
    with pytest.raises(ValueError, match="^options: cycles: already in the summary$"):
        finish(scenario, exact, tmp_path, options={"cycles": 1}, hardware=HARDWARE)


def test_numbers_that_are_not_finite_are_refused_by_name(tmp_path, scenario, exact):
    run = shifted(exact, "kinetic", 3, np.nan)
    with pytest.raises(TrajectoryError, match="^summary: energy_change_max_J: nan is not"):
        finish(scenario, run, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly(every=2)
@pytest.mark.parametrize("shape", ["chain", "tree"])
@pytest.mark.usefixtures("drawn")
def test_many_joints_and_trees_can_be_drawn(tmp_path, shape):
    scenario = load(SCENARIOS / "chain_8.toml")
    extra = (dataclasses.replace(scenario.bodies[-1], parent=2 if shape == "tree" else 7),) * 4
    scenario = dataclasses.replace(scenario, bodies=scenario.bodies + extra, end=0.01)
    run = lagrangian.simulate(scenario, scenario.times)
    paths = plots.plot_run(run, run, tmp_path, "many", twin=run, scenario=scenario)
    assert {path.name for path in paths} == PLOTS
    assert all(is_picture(path) for path in paths)


def test_without_the_mechanism_there_is_no_overview(tmp_path, exact):
    paths = plots.plot_run(exact, None, tmp_path, "bare")
    assert [path.name for path in paths] == list(pictures.FILES[:2])


@pytest.mark.nightly
@pytest.mark.usefixtures("drawn")
def test_replot(tmp_path, scenario, exact):
    finish(scenario, exact, tmp_path, twin=shifted(exact, "kinetic", 3, 1e-3))
    before = {name: (tmp_path / name).read_bytes() for name in PLOTS}
    for name in PLOTS:
        (tmp_path / name).unlink()
    assert {path.name for path in files.replot(tmp_path)} == PLOTS
    assert {name: (tmp_path / name).read_bytes() for name in PLOTS} == before


def test_replot_needs_table_and_summary_only(tmp_path, scenario, exact):
    finish(scenario, exact, tmp_path)
    for name in ALL_FILES - {"run.csv", "summary.json"}:
        (tmp_path / name).unlink(missing_ok=True)
    assert len(files.replot(tmp_path)) == 2
    (tmp_path / "scenario.toml").write_text((SCENARIOS / "four_bar.toml").read_text())
    with pytest.raises(TrajectoryError, match="scenario.toml: not the mechanism of run.csv$"):
        files.replot(tmp_path)


@pytest.mark.parametrize(
    "read", [files.replot, files.read_run, lambda out: files.read_table(out / "run.csv")]
)
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda out: (out / "summary.json").unlink(),
            "is not whole: it has no summary.json",
        ),
        (lambda out: cut(out / "run.csv", 3), "run.csv: 198 rows, summary.json says 201: the run"),
        (lambda out: (out / "summary.json").write_text("{"), "summary.json: not the summary of"),
        (lambda out: (out / "summary.json").write_text("[]"), "summary.json: not the summary of"),
        (lambda out: (out / "run.csv").unlink(), "run.csv: cannot read: No such file"),
    ],
)
def test_what_is_not_whole_is_refused(tmp_path, scenario, exact, spoil, said, read):
    finish(scenario, exact, tmp_path)
    spoil(tmp_path)
    with pytest.raises(TrajectoryError, match=said):
        read(tmp_path)


def cut(path, rows):
    """Cut a table, at the end of a row."""
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-rows]))


def test_a_reference_that_was_cut_is_refused(tmp_path, scenario, exact):
    finish(scenario, exact, tmp_path)
    cut(tmp_path / "reference.csv", 3)
    with pytest.raises(TrajectoryError, match="reference.csv: does not end at 0.02 s, as"):
        files.replot(tmp_path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("moment", ["write_csv", "write_summary", "joint_forces"])
def test_an_earlier_run_stays_until_the_new_one_is_whole(
    tmp_path, scenario, exact, monkeypatch, moment, error
):
    finish(scenario, exact, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fails(*arguments, **options):
        raise error

    monkeypatch.setattr(files, moment, fails)
    with pytest.raises(BaseException) as caught:
        finish(scenario, exact.first(9), tmp_path, forces=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    if isinstance(error, OSError):
        assert caught.value.filename == str(tmp_path)


@pytest.mark.parametrize("kind", ["file", "link", "dangling", "run.csv"])
def test_a_file_of_the_users_own_is_not_replaced(tmp_path, scenario, exact, kind):
    out, own = tmp_path / "out", tmp_path / "own.toml"
    out.mkdir()
    place = out / ("run.csv" if kind == "run.csv" else "scenario.toml")
    if kind != "dangling":
        own.write_text("# mine\n")
    place.write_text("# mine\n") if kind == "file" else place.symlink_to(own)
    with pytest.raises(InputError, match=f"{place.name}: is .*and would be replaced: "):
        finish(scenario, exact, out)
    assert place.is_symlink() == (kind != "file") and len(list(out.iterdir())) == 1
    assert kind == "dangling" or place.read_text() == "# mine\n"
    place.unlink()
    finish(scenario, exact, out)
    other = dataclasses.replace(load(SCENARIOS / "compound_pendulum.toml"), end=0.01)
    finish(other, simulate(other), out, "float64")  # what a run has left is replaced
    assert (out / "scenario.toml").read_text() == (SCENARIOS / "compound_pendulum.toml").read_text()
    (out / "scenario.toml").write_text((out / "scenario.toml").read_text() + "# edited\n")
    with pytest.raises(InputError, match="scenario.toml: is of no earlier run there"):
        finish(scenario, exact, out)
    own_run = load(out / "scenario.toml", 3)
    finish(own_run, simulate(own_run), out, "float64")
    assert (out / "scenario.toml").read_text().endswith("# edited\n")


def test_the_table_shows_millijoules(tmp_path, scenario, exact):
    run = shifted(exact, "kinetic", 50, 9.125e-3)
    summary = finish(scenario, run, tmp_path, twin=exact)
    lines = [
        line
        for line in printed(summary, tmp_path).splitlines()
        if "(run - " in line and "energy" in line or "rounding" in line
    ]
    assert len(lines) == 2 and all("9.125" in line and "mJ" in line for line in lines)


@pytest.mark.parametrize("forces", [False, True])
@pytest.mark.parametrize("where", ["disk", "file"])
def test_what_does_not_fit_is_refused_before_it_starts(tmp_path, monkeypatch, where, forces):
    """By the size that its tables turn out to have."""
    scenario = load(SCENARIOS / "double_pendulum.toml", 2000)
    monkeypatch.setattr(plots, "plot_run", lambda *arguments, **options: [])
    session.run_model(scenario, "float32", tmp_path / "a", forces=forces)
    names = [*files.TABLES[:3], *([files.FORCES] if forces else [])]
    sizes = [(tmp_path / "a" / name).stat().st_size for name in names]

    def run(room, monkeypatch):
        there = (sum(sizes), max(sizes)) if where == "disk" else (10**12, max(sizes))
        free, most = (round(room * size) for size in there)
        usage = SimpleNamespace(free=free if where == "disk" else 10**12)
        monkeypatch.setattr(files.shutil, "disk_usage", lambda path: usage)
        limit = (most if where == "file" else files.resource.RLIM_INFINITY, 0)
        monkeypatch.setattr(files.resource, "getrlimit", lambda kind: limit)
        return session.run_model(scenario, "float32", tmp_path / "b", forces=forces)

    said = "b: the tables of 2001 rows take about .* GB, .*: keep f"
    with monkeypatch.context() as refused, pytest.raises(InputError, match=said):
        refused.setattr(session, "simulated", lambda *_: pytest.fail("it starts"))
        run(0.85, refused)
    assert run(1.15, monkeypatch)[1] == session.DONE
