"""A regression hands out what has no verdict, keeps what comes, and goes on where it was."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from itertools import islice
from types import SimpleNamespace

import pytest
from rich.console import Console

from pymodel.arith import c_build
from pymodel.hardware.simulators import SIMULATORS
from pymodel.runs.alone import alone_in
from pymodel.runs.workers import workers
from pymodel.tests import processes
from pymodel.tests.hardware.planted import planted
from scripts.dev.regress import command, regression
from scripts.dev.regress.junit import write_junit
from scripts.dev.regress.met import Met
from scripts.dev.regress.minimal import Failure
from scripts.dev.regress.regression import Regression
from scripts.kernel import simulations as units
from scripts.kernel.places import ROOT
from scripts.kernel.simulations import Found, Unit, chosen_benches, new_seeds, units_of
from tb.fp_mul.bench import BENCH as FP_MUL

SEEDS = range(3, 6)


def unit(seed, digest="d", bench="fp_add"):
    return Unit(bench, "half", "icarus", seed, digest)


def found(unit, result="pass", met=""):
    test = {"name": "corners", "result": result, "wall_s": 0.5, "message": "y_o differs at 3 ns"}
    test |= {"transactions": 7, "sim_ns": 1.0, "traceback": ""}
    row = unit._asdict() | {"key": unit.key, "result": result, "wall_s": 1.0, "transactions": 7}
    return Found(
        row | {"tests": [test], "problems": [], "rerun": "make fp_add", "message": ""}, met
    )


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    for module in (command, regression, units):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(command, "JUNIT", tmp_path / "junit.xml")
    monkeypatch.setattr(command, "COVERED", tmp_path / "coverage.json")
    return tmp_path


def test_what_has_a_verdict_is_not_run_again():
    first = Regression(map(unit, SEEDS), None)
    for one in islice(first.todo(), 2):
        first.add(one, found(one))
    again = Regression(map(unit, SEEDS), None)
    assert list(again.todo()) == [unit(5)] and again.known == 2


def test_verdicts_on_other_sources_count_for_nothing():
    first = Regression([unit(3)], None)
    for one in first.todo():
        first.add(one, found(one))
    assert list(Regression([unit(3, digest="other")], None).todo()) == [unit(3, digest="other")]


def test_a_unit_whose_workers_died_runs_again():
    first = Regression([unit(3)], None)
    for one in first.todo():
        assert first.add(one, None)["result"] == "fail"
    assert first.failed and not first.failures
    assert list(Regression([unit(3)], None).todo()) == [unit(3)]


def test_a_unit_whose_simulator_was_killed_runs_again():
    """By the system that had no memory left, say: that is no verdict on the sources."""
    first = Regression([unit(3)], None)
    for one in first.todo():
        row, met = found(one, "fail")
        assert first.add(one, Found(row | {"killed": True}, met))["result"] == "fail"
    assert first.failed and list(Regression([unit(3)], None).todo()) == [unit(3)]


@pytest.mark.parametrize("said", ["No space left on device", "File size limit exceeded", "other"])
def test_a_unit_that_fails_on_a_full_disk_has_no_verdict(said, folder, monkeypatch):
    unit(3).folder.mkdir(parents=True)
    row = {"result": "fail", "tests": [], "message": f"vvp ended with status 153\n{said}"}
    monkeypatch.setattr(units, "simulated", lambda *_: row)
    if said == "other":
        assert units.run_unit(unit(3)).row["result"] == "fail"
        monkeypatch.setattr(c_build, "ROOM", 1 << 10)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 9, hard))
    try:
        with pytest.raises(OSError, match=re.escape(f"{unit(3).folder}")):
            units.run_unit(unit(3))
    finally:
        if said == "other":
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(("results", "status"), [(["pass"], 0), (["pass", "fail"], 1)])
def test_a_unit_that_failed_is_status_1(results, status, monkeypatch):
    monkeypatch.setattr(regression, "all_points", lambda: [])
    some = Regression(map(unit, range(len(results))), None)
    for one, result in zip(some.todo(), results, strict=True):
        some.add(one, found(one, result))
    assert command.report(some, ["fp_add"], Console(quiet=True)) == status
    assert json.loads(command.COVERED.read_text()) == []
    assert command.JUNIT.exists()


def test_a_bench_that_was_never_begun_is_named_and_status_1(monkeypatch, capsys):
    monkeypatch.setattr(regression, "all_points", lambda: [])
    some = Regression([unit(3)], None)
    for one in some.todo():
        some.add(one, found(one))
    assert command.report(some, ["fp_add", "fp_mul"], Console(width=100)) == 1
    assert "never begun, HOURS was too short: fp_mul" in capsys.readouterr().out


def test_a_bench_without_a_simulator_is_not_owed():
    benches = chosen_benches(["fp_add", "cosim_array"])
    only = SimpleNamespace(name="one", configs={"a": SimpleNamespace(sims=("verilator",))})
    assert command.owed([*benches, only], ["verilator"]) == ["fp_add", "cosim_array", "one"]
    assert command.owed([only], ["icarus"]) == []


def test_nothing_is_begun_after_the_time_is_over():
    endless = (unit(seed) for seed in new_seeds(1))
    over = Regression(endless, time.time() + 0.05)
    begun = list(over.todo())
    assert begun and over.asked == begun


def test_new_seeds_follow_from_one():
    assert [*islice(new_seeds(5), 4)] == [*islice(new_seeds(5), 4)] != [*islice(new_seeds(6), 4)]


def test_every_configuration_of_each_seed_under_its_simulators():
    benches = chosen_benches(["inv_ldup"])
    asked = list(units_of(benches, ["icarus", "verilator"], [1, 2]))
    assert len(set(asked)) == len(asked)
    for seed in (1, 2):
        want = {(c.name, sim) for c in benches[0].chosen(seed) for sim in c.sims}
        assert {(u.config, u.simulator) for u in asked if u.seed == seed} == want


def test_a_verdict_depends_on_what_simulations_are_built_with():
    found = {file.relative_to(ROOT).as_posix() for file in units._files("fp_add")}
    assert {
        "rtl/lint.vlt",
        "pymodel/hardware/axil_batch.sv",
        "pymodel/hardware/axis_batch.sv",
    } < found
    rules = (ROOT / "pymodel/hardware/model.mk").read_text()
    named = {f"pymodel/hardware/{name}" for name in re.findall(r"\$\(THIS\)(\w+\.\w+)", rules)}
    assert {"pymodel/hardware/model.h", "pymodel/hardware/once.py"} <= named < found
    assert {"pymodel/hardware/model.mk", "pymodel/hardware/fast_casts.c"} < found
    assert {"scenarios/four_bar.toml", "robots/iiwa14.urdf", "sw/step_engine.c"} < found


def test_a_verdict_depends_on_the_data_of_the_bench():
    """All files in its folder but those that no simulation reads."""
    listed = subprocess.run(
        ["git", "ls-files", "tb"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    data = [
        file for file in listed if not file.endswith((".py", ".sv", "/Makefile", "/waves.toml"))
    ]
    own = [file for file in data if file.split("/")[1] in units.bench_names()]
    assert "tb/cosim_hdca/diverging.toml" in own
    for file in own:
        assert ROOT / file in units.sources_of_bench(file.split("/")[1])


def test_the_digest_follows_the_sources_and_the_simulator(monkeypatch, tmp_path):
    before = units.digest_of("fp_add", "icarus")
    assert before != units.digest_of("fp_mul", "icarus")
    changed = tmp_path / "fp_add.sv"
    changed.write_text((ROOT / "rtl/fp/fp_add.sv").read_text() + "\n")
    files = [changed if x.name == "fp_add.sv" else x for x in units._files("fp_add")]
    monkeypatch.setattr(units, "_files", lambda bench: files)
    now = units.digest_of("fp_add", "icarus")
    assert now != before
    with pytest.raises(ValueError, match="sources of fp_add have changed"):
        units.run_unit(unit(3, digest=before))
    monkeypatch.setattr(units, "version_of", lambda simulator: "another")
    assert units.digest_of("fp_add", "icarus") != now


def test_bins_are_merged(folder):
    file = folder / "met.jsonl"
    Met(file).add('["fp_add", "classes", [[1, "a"]]]\n')
    Met(file).add('["fp_add", "classes", [[1, "a"], [2, "b"]]]\n["fp_add", "stages", [[0]]]\n')
    want = {("fp_add", "classes"): {(1, "a"), (2, "b")}, ("fp_add", "stages"): {(0,)}}
    assert Met(file).bins == want


def test_junit_says_how_to_run_it_again(folder):
    bad, good = found(unit(3), "fail").row, found(unit(4)).row
    shortest = {"how": "item 3 alone", "rerun": "make it WAVES=1", "waves": "build/x.fst"}
    failure = Failure(unit(3), "corners")
    write_junit(folder / "junit.xml", [bad, good], {failure.key: shortest})
    root = ET.parse(folder / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    one, other = root.iter("testcase")
    assert one.get("classname") == "fp_add.half-icarus-seed3" and other.find("failure") is None
    assert one.find("failure").get("message") == "y_o differs at 3 ns"
    text = one.find("failure").text
    assert "make fp_add TEST=corners" in text and "make it WAVES=1" in text and "x.fst" in text


def test_junit_has_what_went_wrong_besides_the_tests(folder):
    row = found(unit(3), "fail").row | {"problems": ["vvp ended with status 1"]}
    write_junit(folder / "junit.xml", [row], {})
    root = ET.parse(folder / "junit.xml").getroot()
    failures = [failure.get("message") for failure in root.iter("failure")]
    assert failures == ["y_o differs at 3 ns", "vvp ended with status 1"]
    assert (root.get("tests"), root.get("failures")) == ("2", "2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nope"], "BENCHES=nope: must be of cosim_array, "),
        (["--seeds", "0"], "SEEDS=0: must be a whole number, 1 to 1000000"),
        (["--seed", "x"], "SEED=x: must be a whole number"),
        (["--hours", "0"], "HOURS=0: must be a number of hours, up to 1000"),
        (["--hours", "1", "--seeds", "3"], "SEEDS: say how many, or how many HOURS"),
        (["--seed", "2147483647", "--seeds", "2"], "SEEDS=2: seeds go up to 2147483647"),
        (["--sim", "vcs"], "SIM=vcs: must be icarus, verilator or all"),
        (["--workers", "-1"], "WORKERS=-1: must be a whole number"),
        (["--workers", "1", "--scheduler", "a:1"], "WORKERS=1: with SCHEDULER= its workers are"),
        (["fp_add", "--scheduler", "nowhere"], "SCHEDULER=nowhere: must be an address"),
        (["cosim_demo"], "BENCHES=cosim_demo: must be of"),
    ],
)
def test_what_is_refused_is_one_line_and_status_2(arguments, said, capsys):
    assert command.main(arguments) == 2
    out, error = capsys.readouterr()
    assert not out and said in error and error.count("\n") == 1


@pytest.mark.rtl_of("fp_recip_stream")
def test_a_second_regression_is_refused(folder, monkeypatch, capsys):
    monkeypatch.setattr(command, "run_all", lambda *_: pytest.fail("it runs"))
    with alone_in(folder):
        assert command.main(["fp_recip_stream", "--sim", "icarus", "--workers", "0"]) == 2
    said = f"process {os.getpid()} works in {folder}: wait until it ends\n"
    assert capsys.readouterr().err == said


@pytest.mark.rtl_of("fp_mul")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_build_that_fails_says_why(folder, simulator):
    broken = planted(FP_MUL, folder, "rtl/fp/fp_mul.sv", {"  logic [W-1:0] y;": "  logic y y;"})
    row = broken.run(simulator, "half", place="-syntax", folder=folder / "run")
    program = {"icarus": "iverilog"}.get(simulator, simulator)
    error = rf"{program} ended with status [0-9]+: .*fp_mul.sv:[0-9:]+ syntax error"
    assert re.match(error, command.said(row))


SLOW = """
import sys, time
from pathlib import Path
from scripts.dev.regress import command, regression
from scripts.kernel import simulations as units
folder = Path(sys.argv[1])
command.FOLDER = regression.FOLDER = units.FOLDER = folder
command.JUNIT, command.COVERED = folder / "junit.xml", folder / "coverage.json"
def run_unit(unit):
    until = time.monotonic() + 0.1
    while time.monotonic() < until:  # busy: workers are seen at work by their processor time
        pass
    test = {"name": "corners", "result": "pass", "wall_s": 0, "message": ""}
    row = unit._asdict() | {"key": unit.key, "result": "pass", "wall_s": 0.2, "transactions": 1}
    return units.Found(row | {"tests": [test], "problems": [], "rerun": "", "message": ""}, "")
command.run_unit = run_unit
command.all_points = regression.all_points = lambda: []
if __name__ == "__main__":
    workers, seeds = sys.argv[2:]
    words = ["fp_recip_stream", "--sim", "icarus", "--seeds", seeds, "--workers", workers]
    sys.exit(command.main(words))
"""


def slow(folder, workers, seeds=2):
    program = folder / "slow.py"
    program.write_text(SLOW)
    return {
        "args": [sys.executable, str(program), str(folder), str(workers), str(seeds)],
        "cwd": ROOT,
        "env": os.environ | {"PYTHONPATH": str(ROOT)},
        "text": True,
    }


@processes.NEEDED
@pytest.mark.rtl_of("fp_recip_stream")
def test_nobody_can_reach_the_workers(folder):
    more = slow(folder, 2, seeds=200)  # than it can do before it is looked at
    process = subprocess.Popen(**more, stdout=subprocess.DEVNULL)
    try:
        assert processes.sockets_of_work(process, 2) == []
    finally:
        process.terminate()
        process.wait()


@pytest.mark.rtl_of("fp_recip_stream")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.nightly("2")
def test_a_killed_regression_goes_on(folder, number):
    process = subprocess.Popen(**slow(folder, 0), stderr=subprocess.PIPE)
    (folder / "junit.xml").write_text("nothing of old")
    journal, until = folder / "fp_recip_stream" / "journal.jsonl", time.monotonic() + 60
    while not journal.exists() or journal.read_text().count("\n") < 2:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    if number == signal.SIGINT:
        assert process.returncode == 130 and "Traceback" not in error
        assert re.search(r"ended by Ctrl-C; [0-9]+ verdicts are kept, the same command", error)
        assert "nothing of old" not in (folder / "junit.xml").read_text()
    kept = journal.read_text().count("\n")
    assert 2 <= kept < 24
    done = subprocess.run(**slow(folder, 0), capture_output=True)
    assert done.returncode == 0, done.stderr
    assert f"24 runs, {kept} of them from the journal, 0 failed" in done.stdout
    keys = [json.loads(line)["key"] for line in journal.read_text().splitlines()]
    assert len(set(keys)) == len(keys) == 24


def test_chunks_are_handed_out_when_there_is_somebody_to_run_them():
    """Not all at once: what is not begun can still be left out."""
    asked = []

    def numbers():
        for number in range(12):
            asked.append(number)
            yield number

    with workers(1, None) as (_, run):
        ahead = [len(asked) - done for done, _ in enumerate(run(abs, numbers()), 1)]
    assert len(ahead) == 12 and max(ahead) <= 2
