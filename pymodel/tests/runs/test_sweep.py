"""Sweeps: the same rows whoever runs them, resumed, and what dies or fails on the way."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import dask
import numpy as np
import pytest
from distributed import LocalCluster, Security

import pymodel
from pymodel.arith.c_build import CACHE_VARIABLE
from pymodel.mechanism.scenario_file import read
from pymodel.runs import backends
from pymodel.runs.backends import BACKENDS, Backend
from pymodel.runs.ensemble import variation
from pymodel.runs.input_error import InputError
from pymodel.runs.outcome import Outcome
from pymodel.runs.sweep import KILLED, sweep
from pymodel.runs.sweep_files import WRITERS, Parts, read_table
from pymodel.runs.workers import workers
from pymodel.tests import processes
from pymodel.tests.places import ROOT, SCENARIOS

DOUBLE_PENDULUM, FOUR_BAR = SCENARIOS / "double_pendulum.toml", SCENARIOS / "four_bar.toml"
VARY = {"body[1].mass": "-1,1,1e20", "body[1].q": "random(-3,3)"}
DRAWS = {"count": 3, "seed": 5, "steps": 20, "arithmetic": "float32"}
DIES = 4.0  # kg


def marked(*scenarios):
    """Outcomes that show the mass; the mechanism of one mass ends its process."""
    for scenario in scenarios:
        if scenario.bodies[0].mass == DIES:
            os.kill(os.getpid(), signal.SIGKILL)
    return [Outcome("done", t=scenario.bodies[0].mass, q=[0, 0]) for scenario in scenarios]


def backend(function, chunk=1):
    """A backend of a function of scenarios, which workers get by value."""
    return Backend("test", lambda scenarios, arithmetic, **options: function(*scenarios), chunk)


def same(one, other):
    """Whether two tables have the same columns with the same bits."""
    assert list(one) == list(other)
    for name, column in one.items():
        assert column.dtype.kind == other[name].dtype.kind, name
        bits = "u8" if column.dtype == float else column.dtype
        assert np.array_equal(column.view(bits), other[name].view(bits)), name
    return True


@pytest.fixture(scope="module")
def table():
    return sweep(DOUBLE_PENDULUM, VARY, workers=0, **DRAWS)


SPEEDS, MASSES = [5.0, 15.0], [0.3, 0.6]


@pytest.mark.parametrize("target", ["model", "native"])
@pytest.mark.nightly("model")
def test_a_slider_crank(target):
    """Speeds of the crank, which rod and slider follow, and masses of the slider: whole runs."""
    path = SCENARIOS / "slider_crank.toml"
    vary = {"body[0].qd": SPEEDS, "body[2].mass": MASSES}
    steps = 2000 if target == "native" else 10  # a row is kept every ten
    found = sweep(path, vary, steps=steps, arithmetic="float32", target=target, workers=0)
    assert found["status"].tolist() == ["done"] * 4 and found["steps"].tolist() == [steps] * 4
    assert found["loop_position"].max() < 1e-5 and found["loop_velocity"].max() < 1e-3
    for row in range(4):
        speed, mass = (found[key][row] for key in vary)
        scenario = variation(read(path), "file", {"body[0].qd": speed, "body[2].mass": mass}, steps)
        lean = scenario.q0[:2].sum()  # of the rod
        rod = -0.1 * np.cos(scenario.q0[0]) * speed / (0.3 * np.cos(lean))
        assert scenario.qd0[:2].sum() == pytest.approx(rod, rel=1e-9)
        run = pymodel.simulate(scenario, "float32", target=target)
        for name in ("q", "qd", "p"):
            own = [found[f"{name}{k}"][row] for k in range(3)]
            assert np.array_equal(own, getattr(run, name)[-1])


def test_a_linkage_in_space_and_one_that_cannot_close():
    speeds = sweep(
        SCENARIOS / "bennett.toml", {"body[0].qd": SPEEDS}, steps=3, target="model", workers=0
    )
    assert speeds["status"].tolist() == ["done"] * 2
    lengths = {"loop[0].point[0]": [0.3, 0.05]}  # m, of the rod
    found = sweep(SCENARIOS / "slider_crank.toml", lengths, steps=3, target="model", workers=0)
    assert found["status"].tolist() == ["done", "failed"]
    assert found["reason"][1].endswith(
        "the guesses of q close no posture: pins stay 0.0217 m apart"
    )


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        LocalCluster(
            2, threads_per_worker=1, memory_limit=0, dashboard_address="localhost:0"
        ) as found,
    ):
        yield found


def test_a_row_is_that_of_a_run_by_itself(table):
    data = read(DOUBLE_PENDULUM)
    ends = {}
    for row in range(len(table["index"])):
        status = ends.setdefault(str(table["status"][row]), [])
        values = {key: table[key][row] for key in VARY}
        try:
            one = variation(data, str(DOUBLE_PENDULUM), values, 20)
            run = pymodel.simulate(one, "float32")
        except pymodel.ScenarioError as error:
            assert (status, table["reason"][row]) == (ends["failed"], str(error))
            assert np.isnan(table["q0"][row]) and table["steps"][row] == 0
            continue
        except (pymodel.NonFiniteError, pymodel.SingularError) as error:
            assert (status, table["reason"][row]) == (ends["stopped"], str(error))
            run = error.trajectory
        else:
            assert (status, table["reason"][row]) == (ends["done"], "")
        for name in ("q", "qd", "p"):
            got = [table[f"{name}{k}"][row] for k in range(2)]
            assert got == getattr(run, name)[-1].tolist()
        energy = run.kinetic + run.potential
        assert table["energy_change"][row] == abs(energy - energy[0]).max()
        assert (table["steps"][row], table["t"][row]) == (len(run) - 1, run.t[-1])
        assert table["flags"][row] == run.flags
    assert ends.keys() == {"done", "stopped", "failed"}


def test_kept_steps_and_loops():
    found = sweep(FOUR_BAR, {"time.save": "1,5"}, steps=12, rebase=2, workers=0)
    assert found["steps"].tolist() == [12, 10]
    assert found["t"].tolist() == [12 * 1e-4, 10 * 1e-4]
    run = pymodel.simulate(pymodel.load(FOUR_BAR, 12), rebase=2)
    assert 0 < found["loop_velocity"][0] == run.loop_velocity.max()


@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_chunks_change_nothing(table, chunk):
    model = replace(BACKENDS["model"], chunk=chunk)
    assert same(sweep(DOUBLE_PENDULUM, VARY, target=model, workers=0, **DRAWS), table)


def test_native_code_gives_the_same_table(table):
    assert same(sweep(DOUBLE_PENDULUM, VARY, target="native", workers=0, **DRAWS), table)


def test_what_has_no_native_code_is_refused():
    with pytest.raises(InputError, match="target native: no code for 11/52"):
        sweep(DOUBLE_PENDULUM, {"body[0].q": "1,2"}, arithmetic="11/52", target="native")


def test_native_code_that_cannot_be_built_is_refused(tmp_path, monkeypatch):
    """At once, not in every row."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(InputError, match="target native: no folder for native code: .*file/cach"):
        sweep(DOUBLE_PENDULUM, {"body[0].q": "1,2"}, target="native", workers=0)


def test_a_cluster_gives_the_same_table(table, cluster, tmp_path):
    for out in (tmp_path / "one.csv", tmp_path / "one.parquet"):
        address = cluster.scheduler_address
        found = sweep(DOUBLE_PENDULUM, VARY, out, scheduler=address, **DRAWS)
        assert same(found, table) and same(read_table(out), table)
        assert sorted(path.name for path in tmp_path.glob(f"{out.name}*")) == [
            out.name,
            f"{out.name}.json",
        ]


def test_a_worker_that_is_killed_loses_nothing(cluster, tmp_path):
    masses = np.linspace(1.0, 2.0, 20)

    def slow(scenario):
        time.sleep(0.05)
        return marked(scenario)

    def kill(done, total):
        if done in (5, 12):
            pids = [nanny.pid for nanny in cluster.workers.values()]
            os.kill(pids[done % 2], signal.SIGKILL)

    found = sweep(
        DOUBLE_PENDULUM,
        {"body[0].mass": masses},
        target=backend(slow),
        scheduler=cluster.scheduler_address,
        progress=kill,
    )
    assert found["t"].tolist() == masses.tolist() and (found["status"] == "done").all()


@pytest.mark.nightly
def test_what_kills_its_worker_is_a_row(cluster):
    masses = [1.0, 2.0, 3.0, DIES, 5.0, 6.0]
    found = sweep(
        DOUBLE_PENDULUM,
        {"body[0].mass": masses},
        target=backend(marked, chunk=2),
        scheduler=cluster.scheduler_address,
    )
    ends = dict(zip(masses, zip(found["status"], found["reason"], strict=True), strict=True))
    assert ends.pop(DIES) == ("failed", KILLED)
    assert set(ends.values()) == {("done", "")}


def test_what_a_backend_cannot_run_is_a_row():
    def picky(*scenarios):
        if any(scenario.bodies[0].mass > 4.5 for scenario in scenarios):
            raise ZeroDivisionError("too heavy\nby far")
        return marked(*scenarios)

    masses = [1.0, 2.0, 3.0, 5.0, 3.5]
    found = sweep(
        DOUBLE_PENDULUM, {"body[0].mass": masses}, target=backend(picky, chunk=5), workers=0
    )
    assert found["status"].tolist() == ["done"] * 3 + ["failed", "done"]
    assert found["reason"][3] == "too heavy"


def test_an_interrupted_sweep_goes_on(table, tmp_path):
    out = tmp_path / "new" / "one.csv"
    ran = []

    def counted(scenarios, arithmetic, **options):
        ran.extend(scenarios)
        return BACKENDS["model"].run(scenarios, arithmetic, **options)

    def interrupt(done, total):
        if done == 5:
            raise KeyboardInterrupt

    model = Backend("model", counted, chunk=1)
    asked = {"target": model, "workers": 0} | DRAWS
    with pytest.raises(KeyboardInterrupt):
        sweep(DOUBLE_PENDULUM, VARY, out, progress=interrupt, **asked)
    assert len(list(out.with_name("one.csv.parts").glob("[0-9]*"))) == 5 and not out.exists()
    assert same(sweep(DOUBLE_PENDULUM, VARY, out, **asked), table)
    assert len(ran) == 6  # those that scenarios cannot be made of do not get there
    assert same(sweep(DOUBLE_PENDULUM, VARY, out, **asked), table) and len(ran) == 6


def test_what_a_table_has_is_kept_while_it_is_completed(tmp_path):
    out, asked = tmp_path / "one.csv", {"body[0].mass": "1,2,3,4"}
    ran = []

    def counted(scenarios, arithmetic, **options):
        ran.extend(scenario.bodies[0].mass for scenario in scenarios)
        return BACKENDS["model"].run(scenarios, arithmetic, **options)

    def interrupt(done, total):
        if len(ran) == 5:
            raise KeyboardInterrupt

    again = {"target": Backend("model", counted, chunk=1), "steps": 3, "workers": 0}
    table = sweep(DOUBLE_PENDULUM, asked, out, **again)
    WRITERS[".csv"](out, {name: column[2:] for name, column in table.items()})
    with pytest.raises(KeyboardInterrupt):
        sweep(DOUBLE_PENDULUM, asked, out, progress=interrupt, **again)
    assert same(sweep(DOUBLE_PENDULUM, asked, out, **again), table)
    assert ran == [1, 2, 3, 4, 1, 2]


def test_parts_of_a_sweep_that_was_killed_at_its_end_are_no_other_sweeps(tmp_path, monkeypatch):
    out = tmp_path / "one.csv"

    def stop(folder, **options):
        if folder.exists():
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pymodel.runs.sweep_files.shutil.rmtree", stop)
        with pytest.raises(KeyboardInterrupt):
            sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)
    out.unlink()
    found = sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2,3"}, out, steps=5, workers=0)
    assert found["steps"].tolist() == [5, 5, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one.csv.json"]


def test_a_second_sweep_of_one_table_is_refused(tmp_path):
    """However it differs, with the number of the process that runs the first."""
    out, vary = tmp_path / "one.csv", {"body[0].mass": "1,2,3"}
    refused = []

    def second(done, total):
        with pytest.raises(InputError, match=f"^process {os.getpid()} writes {out}: wait until"):
            sweep(DOUBLE_PENDULUM, vary, out, steps=4, workers=0)
        refused.append(done)

    found = sweep(DOUBLE_PENDULUM, vary, out, steps=3, workers=0, progress=second)
    assert found["steps"].tolist() == [3, 3, 3] and len(refused) > 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "one.csv.json"]


@pytest.mark.parametrize("moment", ["add", "finish"])
def test_parts_that_have_become_another_sweeps_are_left_alone(tmp_path, moment):
    """Where locks do not keep others out, as on some network drives."""
    out, one, two = tmp_path / "one.csv", {"index": np.array([0])}, {"index": np.array([1])}
    first = Parts(out, {"steps": 1})
    first.add(one)
    shutil.rmtree(first.folder)
    other = Parts(out, {"steps": 2})
    other.add(one)
    if moment == "finish":
        other.finish(one)
        first.folder.mkdir()
        (first.folder / "sweep.json").write_text('{"steps": 1}')
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    with pytest.raises(InputError, match="of another sweep, not of this steps: remove it, or"):
        first.add(two) if moment == "add" else first.finish(two)
    now = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    assert now == before


def test_parts_that_say_nothing_of_their_sweep_are_refused(tmp_path):
    out = tmp_path / "one.csv"
    (tmp_path / "one.csv.parts").mkdir()
    (tmp_path / "one.csv.parts" / "00000000.json").write_text("{}")
    with pytest.raises(InputError, match="one.csv.parts: is there, and sweep.json does not say"):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)


def test_a_table_that_a_spreadsheet_has_marked_is_read(tmp_path):
    out = tmp_path / "one.csv"
    table = sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)
    out.write_text(out.read_text(), encoding="utf-8-sig")
    assert same(read_table(out), table)
    assert same(sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0), table)


@pytest.mark.parametrize("rows", [0, 2])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_table_that_lacks_rows_is_completed(tmp_path, ending, rows):
    out, asked = tmp_path / f"one{ending}", {"body[0].mass": "1,2,3"}
    table = sweep(DOUBLE_PENDULUM, asked, out, steps=3, workers=0)
    WRITERS[ending](out, {name: column[:rows] for name, column in table.items()})
    assert same(sweep(DOUBLE_PENDULUM, asked, out, steps=3, workers=0), table)
    assert same(read_table(out), table)
    assert not (tmp_path / f"{out.name}.parts").exists()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[:150], r"line 2: \d+ values for \d+ columns"),
        (lambda text: text + text.splitlines()[1] + "\n", "has other rows than this sweep's"),
        (lambda text: text.replace("\n0,", "\n2,"), "has other rows than this sweep's table"),
        (lambda text: text.replace("q0", "q9"), "has other columns than this sweep's table"),
        (lambda text: "", "line 1: not the header of a table"),
        (lambda text: text.replace("\n1,2.0,", "\n1,2.5,"), r"index 1: body\[0\].mass is 2.5, not"),
        (
            lambda text: text.replace("\n1,2.0,", "\n1,x,"),
            r"index 1: body\[0\].mass is x, not what",
        ),
        (
            lambda text: text.replace("\n1,2.0,done", "\n1,2.0,dune"),
            "index 1: status is dune, none of",
        ),
        (lambda text: text.replace("done,,3,", "done,,3?,"), r"index 0: steps is 3\?, no number"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, spoil, said):
    out = tmp_path / "one.csv"
    sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)
    out.write_text(spoil(out.read_text()))
    with pytest.raises(InputError, match=f"one.csv: {said}") as caught:
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)
    assert str(caught.value).endswith(": remove it, or give another out")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("rows", [1, 2])
def test_words_that_look_like_numbers_are_no_damage(tmp_path, ending, rows):
    """A torque of 1 stands among formulas, and alone in a table that lacks the others."""
    out = tmp_path / f"one{ending}"
    asked = {"body[0].torque": [1, "sin(t)"], "time.integrator": "euler,rk4"}
    table = sweep(DOUBLE_PENDULUM, asked, out, steps=3, workers=0)
    assert table["status"].tolist() == ["done"] * 4
    WRITERS[ending](out, {name: column[:rows] for name, column in table.items()})
    found = sweep(DOUBLE_PENDULUM, asked, out, steps=3, workers=0)
    assert found["status"].tolist() == ["done"] * 4


@pytest.mark.parametrize("text", ["null", "[]", "{"])
def test_a_damaged_description_is_refused(tmp_path, text):
    out = tmp_path / "one.csv"
    sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)
    out.with_name("one.csv.json").write_text(text)
    with pytest.raises(InputError, match="one.csv: is there, and one.csv.json does not say"):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, steps=3, workers=0)


@pytest.mark.parametrize("text", ['{"index": [0', "[]", '{"index": 3}', "{}"])
def test_a_damaged_part_is_refused(tmp_path, text):
    def stop(done, total):
        if done == 1:
            raise KeyboardInterrupt

    out = tmp_path / "one.csv"
    asked = {"steps": 3, "workers": 0, "target": replace(BACKENDS["model"], chunk=1)}
    with pytest.raises(KeyboardInterrupt):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, progress=stop, **asked)
    (tmp_path / "one.csv.parts" / "00000000.json").write_text(text)
    with pytest.raises(InputError, match=r"one.csv.parts/00000000.json: .*: remove it, or"):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, out, **asked)


def test_files_of_another_sweep_are_left_alone(tmp_path):
    out, vary = tmp_path / "one.csv", {"body[0].mass": "1,2"}
    sweep(DOUBLE_PENDULUM, vary, out, steps=3, workers=0)
    before = out.read_text()
    with pytest.raises(InputError, match="one.csv: of another sweep, not of this steps: remove"):
        sweep(DOUBLE_PENDULUM, vary, out, steps=4, workers=0)
    assert out.read_text() == before
    out.with_name("one.csv.json").unlink()
    with pytest.raises(InputError, match="one.csv: is there, and one.csv.json does not say"):
        sweep(DOUBLE_PENDULUM, vary, out, steps=3, workers=0)
    parts = Parts(tmp_path / "two.csv", {"seed": 1})
    parts.add({"index": np.array([0])})
    with pytest.raises(InputError, match="two.csv.parts: of another sweep, not of this seed"):
        Parts(tmp_path / "two.csv", {"seed": 2})


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder in place of the package's, as far as its digest goes."""
    folder = tmp_path / "package"
    monkeypatch.setattr(backends, "PACKAGE", folder)
    yield folder
    BACKENDS["model"].identity.cache_clear()


@pytest.mark.parametrize("target", ["model", "native"])
@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("arith/x.py", True),
        ("algorithms/rigid_body/x.py", True),
        ("compile/x.c", True),
        ("tests/runs/x.py", False),
        ("runs/.#x.py", False),
        ("runs/.checkpoints/x.py", False),
        ("x.py", False),
    ],
)
def test_a_table_of_another_version_is_left_alone(tmp_path, package, target, file, counts):
    asked = {"steps": 3, "workers": 0, "target": target}
    (package / file).parent.mkdir(parents=True)
    for text in ("1", "2"):
        (package / file).write_text(text)
        BACKENDS[target].identity.cache_clear()  # as in another process
        refused = pytest.raises(InputError, match="one.csv: of another sweep, not of this code: ")
        with refused if counts and text == "2" else contextlib.nullcontext():
            sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, tmp_path / "one.csv", **asked)


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_worker_with_other_code_ends_a_sweep(tmp_path, cluster, where):
    """What is done is kept, and nothing has failed."""
    changed = tmp_path / "changed"

    def change(scenario):
        if scenario.bodies[0].mass == 2.0:
            changed.touch()
        return marked(scenario)

    on = replace(backend(change), identity=lambda: {"code": str(changed.exists())})
    to = {"workers": 0} if where == "here" else {"scheduler": cluster.scheduler_address}
    out, masses = tmp_path / "one.csv", [1.0, 2.0, *np.linspace(2.1, 3.9, 40)]
    with pytest.raises(InputError, match="not the code that the sweep began with; what is done is"):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": masses}, out, target=on, **to)
    parts = [json.loads(file.read_text()) for file in tmp_path.glob("one.csv.parts/0*")]
    assert {status for part in parts for status in part["status"]} <= {"done"}
    assert where == "cluster" or len(parts) == 2


def test_a_folder_that_cannot_be_written_is_refused_at_once(tmp_path, monkeypatch):
    def refuse(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError):
        Parts(tmp_path / "one.csv", {"seed": 1})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"out": "one.xls"}, "out one.xls: must end in .parquet or .csv"),
        ({"out": "a --b.xls"}, "out a --b.xls: must end in .parquet or .csv"),
        ({"out": "a --out.xls"}, "out a --out.xls: must end in .parquet or .csv"),
        ({"target": "fpga"}, "target: must be one of model"),
        ({"target": None}, "target: must be one of model"),
        ({"shape": "round"}, "shape: must be one of balanced"),
        ({"shape": None}, "shape: must be one of balanced"),
        (
            {"vary": {"time.end": "0.1,0.2"}, "steps": 9},
            "vary time.end: would change nothing, steps says how long a run is",
        ),
        ({"vary": {"body[5].mass": [1]}}, "vary body[5].mass: the scenario has no body[5]"),
        ({"count": 4}, "count: only with random values, here all are on a grid"),
        ({"base": "ldl"}, "base: only for a chain of bodies that is closed to the ground"),
        ({"base": "lu"}, "base: must be one of "),
        ({"rebase": 3}, "rebase: only for a mechanism with loops"),
        ({"rebase": -1}, "rebase: must be a whole number of 0 to "),
        ({"arithmetic": "float31"}, "arithmetic 'float31': must be float32"),
        ({"arithmetic": None}, "arithmetic 'None': must be float32"),
        ({"workers": -1}, "workers: must be a whole number of 0 or more, got -1"),
        ({"workers": 1.5}, "workers: must be a whole number of 0 or more, got 1.5"),
        ({"workers": 1, "scheduler": "tcp://localhost:1"}, "workers: the scheduler's are used"),
        ({"workers": None, "scheduler": "here"}, "scheduler here: must be an address"),
    ],
)
def test_what_makes_no_sense_is_refused(options, said):
    with pytest.raises(InputError) as caught:
        sweep(DOUBLE_PENDULUM, **({"vary": {"body[0].mass": "1,2"}, "workers": 0} | options))
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_a_scenario_in_python(tmp_path):
    data = read(DOUBLE_PENDULUM) | {"gravity": np.array([0.0, -9.80665])}
    found = sweep(data, {"body[0].mass": "1,2"}, tmp_path / "one.csv", steps=5, workers=0)
    want = sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, steps=5, workers=0)
    assert same(found, want)
    one_body = SCENARIOS / "compound_pendulum.toml"
    with pytest.raises(
        InputError, match="shape: only for a mechanism like this of three or more bodies"
    ):
        sweep(one_body, {"body[0].mass": "1,2"}, shape="left", workers=0)
    loaded = pymodel.load(DOUBLE_PENDULUM)
    assert same(sweep(loaded, {"body[0].mass": "1,2"}, steps=5, workers=0), want)
    with pytest.raises(InputError, match="scenario: must be a Scenario, a file, or the dictionary"):
        sweep([loaded], {"body[0].mass": "1,2"})


def test_numbers_may_be_numpys(tmp_path):
    one, two = np.float32(1.0), np.int64(2)
    vary = {"body[0].q": pymodel.Uniform(one, two), "body[0].mass": [one, two]}
    asked = {"count": two, "seed": two, "steps": two, "workers": np.int64(0)}
    found = sweep(DOUBLE_PENDULUM, vary, tmp_path / "one.csv", **asked)
    vary = {"body[0].q": "random(1,2)", "body[0].mass": "1,2"}
    assert same(found, sweep(DOUBLE_PENDULUM, vary, count=2, seed=2, steps=2, workers=0))


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr("pymodel.runs.workers.ANSWER_S", 0.5)
    with pytest.raises(InputError, match="scheduler tcp://127.0.0.1:9: no answer within 0.5 s"):
        sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize("count", [0, 1])
@pytest.mark.nightly("0")
def test_a_scheduler_without_workers(count, monkeypatch, caplog):
    """From the start, or once the last one has gone."""
    monkeypatch.setattr("pymodel.runs.workers.TELL_S", 0.2)
    monkeypatch.setattr("pymodel.runs.workers.GIVE_UP_S", 1.0)
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "localhost:0"}
    with LocalCluster(count, **options) as found:
        address = found.scheduler_address

        def leave(done, total):
            if done:
                found.scale(0)

        waits = rf"scheduler {address}: no worker for 1 s; what is done is kept"
        with pytest.raises(InputError, match=waits):
            vary = {"body[0].mass": "1:2:100000"}
            sweep(DOUBLE_PENDULUM, vary, steps=1, scheduler=address, progress=leave)
    assert [record.message for record in caplog.records if record.name.startswith("pymodel")] == [
        f"waiting for workers of {address}"
    ]


@pytest.mark.nightly
def test_a_scheduler_that_is_lost():
    with LocalCluster(1, threads_per_worker=1, dashboard_address="localhost:0") as found:
        address = found.scheduler_address

        def close(done, total):
            found.close()

        lost = f"scheduler {address}: the connection is lost; what is done is kept"
        with pytest.raises(InputError, match=lost):
            vary = {"body[0].mass": "1:2:100000"}
            sweep(DOUBLE_PENDULUM, vary, steps=1, scheduler=address, progress=close)


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_a_program_that_handles_sigterm_does_so_during_a_sweep(handler):
    before = signal.signal(signal.SIGTERM, handler)
    try:
        with workers(1, None):
            assert signal.getsignal(signal.SIGTERM) is handler
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.nightly
def test_a_plain_install_has_workers_and_csv(tmp_path):
    """Neither Dask nor pyarrow; what needs them says so in a line."""
    code = "import sys; sys.modules |= dict.fromkeys(['dask', 'distributed', 'pyarrow'])\n"
    code += "from pymodel.app.command import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "sweep", str(DOUBLE_PENDULUM), "--steps", "2"]
    command += ["--vary", "body[0].mass=1:2:9"]
    for workers_, out in ((["--workers", "2"], "a.csv"), (["--workers", "0"], "b.csv")):
        subprocess.run([*command, *workers_, "--out", tmp_path / out], cwd=ROOT, check=True)
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    for more, said in (
        (
            ["--out", "c.parquet"],
            "a .parquet table needs pyarrow: pip install 'hdca-accelerator[swe",
        ),
        (
            ["--out", "c.csv", "--scheduler", "tls://a:1"],
            "--scheduler needs Dask: pip install 'hdc",
        ),
    ):
        done = subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith(said), done.stderr


@processes.NEEDED
def test_nobody_can_reach_the_workers(tmp_path):
    """They have no socket that anybody could connect to, nor has who has started them."""
    words = ["--vary", "body[0].q=-3:3:200", "--steps", "3000", "--workers", "2", "--out", "a.csv"]
    command = [sys.executable, "-m", "pymodel", "sweep", str(SCENARIOS / "double_pendulum.toml")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*command, *words], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        assert processes.sockets_of_work(process, 2) == []
    finally:
        process.terminate()
        process.wait()


@processes.NEEDED
def test_sockets_that_anybody_can_reach_are_seen(tmp_path):
    code = "import socket, sys; a = socket.create_server(('127.0.0.1', 0)); "
    code += "b = socket.socket(socket.AF_UNIX); b.bind(sys.argv[1]); b.listen(); "
    code += "print(a.getsockname()[1], flush=True); sys.stdin.read()"
    listens = [sys.executable, "-c", code, str(tmp_path / "named")]
    shell = ["sh", "-c", '"$@"; true', "sh", *listens]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        port = int(one.stdout.readline())
        found = processes.sockets_that_listen(one.pid)
    assert found == [f"0100007F:{port:04X}", str(tmp_path / "named")]


def die(chunk):
    """A chunk that its worker dies of, or that waits, or has an answer."""
    if chunk == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if chunk == "raises":
        raise ZeroDivisionError("by zero\nand more")
    if isinstance(chunk, Path):
        chunk.touch()
        time.sleep(60)
    return chunk


@pytest.mark.nightly
def test_what_kills_its_local_worker_twice_has_no_result():
    with workers(2, None) as (_, run):
        found = list(run(die, ["a", "dies", "b", "c", "dies", "d"]))
        assert sorted(found, key=str) == sorted(
            [(x, x) for x in "abcd"] + [("dies", None)] * 2, key=str
        )
        with pytest.raises(InputError, match="^the workers cannot run this: by zero$"):
            list(run(die, ["a", "raises", "b"]))
        assert [x for _, x in run(die, ["a"])] == ["a"]  # they work on
        with pytest.raises(InputError, match="^the workers cannot be sent this: .*lambda"):
            list(run(lambda chunk: chunk, ["a"]))


def test_a_local_worker_that_is_killed_loses_nothing():
    with workers(1, None) as (_, run):
        killed, found = [], []
        for chunk, result in run(abs, range(0, -30, -1)):
            found.append(result)
            if chunk in (-5, -12):
                (one,) = [x for x in processes.children(os.getpid()) if b"spawn_main" in cmdline(x)]
                os.kill(one, signal.SIGKILL)
                killed.append(one)
        assert found == list(range(30)) and len({*killed}) == 2


def cmdline(process):
    return Path(f"/proc/{process}/cmdline").read_bytes()


def test_workers_that_do_not_start_are_told(monkeypatch):
    monkeypatch.setattr("pymodel.runs.pool._work", len)  # which takes no pipe
    with (
        pytest.raises(InputError, match="^the workers do not start: exit status 1$"),
        workers(1, None) as (_, run),
    ):
        list(run(abs, [1]))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.nightly("9")
def test_no_worker_outlives_its_command(tmp_path, number):
    """Nor what a worker has started, however the command ends."""
    code = "import signal, subprocess, sys\nfrom pathlib import Path\n"
    code += (
        "from pymodel.runs.workers import workers\nfrom pymodel.tests.runs.test_sweep import die\n"
    )
    code += "if __name__ == '__main__':\n with workers(2, None) as (_, run):\n"
    code += "  list(run(die, [Path(x) for x in sys.argv[1:]]))\n"
    marks = [str(tmp_path / name) for name in "ab"]
    (tmp_path / "main.py").write_text(code)
    process = subprocess.Popen(
        [sys.executable, tmp_path / "main.py", *marks],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 60
    while not all(map(os.path.exists, marks)):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    started = processes.children(process.pid)
    process.send_signal(number)
    process.wait(timeout=30)
    until = time.monotonic() + 30
    while any(is_running(one) for one in started):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_running(process):
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


@pytest.mark.nightly
@pytest.mark.reads("docs/sweeps.md")  # whose recipe it follows
def test_a_scheduler_with_tls(tmp_path):
    """Whoever has no certificate of its authority is told that."""
    security = certificates(tmp_path)
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": "localhost:0"}
    with LocalCluster(1, security=Security(**security), **options) as found:
        address = found.scheduler_address
        assert address.startswith("tls://")
        with pytest.raises(
            InputError, match=f"^scheduler {address}: Dask's configuration names no"
        ):
            sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, steps=3, scheduler=address)
        tls = {
            "distributed.comm.tls.ca-file": security["tls_ca_file"],
            "distributed.comm.tls.client.cert": security["tls_client_cert"],
            "distributed.comm.tls.client.key": security["tls_client_key"],
        }
        with dask.config.set(tls):
            table = sweep(DOUBLE_PENDULUM, {"body[0].mass": "1,2"}, steps=3, scheduler=address)
    assert table["status"].tolist() == ["done"] * 2


def certificates(folder):
    """A certificate that signs itself, and its key, by the commands of docs/sweeps.md."""
    page = (ROOT / "docs" / "sweeps.md").read_text()
    command = next(line for line in page.splitlines() if line.startswith("openssl req"))
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True)
    cert, key = str(folder / "cluster.crt"), str(folder / "cluster.key")
    both = {f"tls_{who}_cert": cert for who in ("scheduler", "worker", "client")}
    both |= {f"tls_{who}_key": key for who in ("scheduler", "worker", "client")}
    return both | {"tls_ca_file": cert, "require_encryption": True}


@pytest.mark.nightly(every=2)
@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")]
)
def test_ctrl_c_on_the_command_line_and_going_on(tmp_path, number, name):
    """It reaches the workers, too: they leave Ctrl-C to the command."""
    out = tmp_path / "one.csv"
    command = [sys.executable, "-m", "pymodel", "sweep", str(DOUBLE_PENDULUM), "--steps", "2"]
    command += ["--vary", "body[0].mass=1:2:5000", "--workers", "1", "--out", str(out)]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 60
    while not list(tmp_path.glob("one.csv.parts/0*")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=60)
    *progress, last = said.splitlines()  # a busy machine has time for some
    assert process.returncode == 130
    assert all(line.startswith("double_pendulum: ") for line in progress), said
    assert last.startswith(f"ended by {name}; ") and "of 5000 variations are kept" in last
    assert json.loads((tmp_path / "one.csv.parts" / "sweep.json").read_text())["steps"] == 2
