"""What a simulation says of its tests, from made-up files."""

import json
import sys
from types import SimpleNamespace

import pytest

from pymodel.hardware import bench, simulation
from pymodel.hardware.results import LEFT_OUT, add_note, read_results
from pymodel.hardware.results import problems_of as problems_with
from tb.fp_add.bench import BENCH

ENDED = "cocotb.regression.SimFailure: the simulation ended prematurely. This could be ..."
LOG = f"""vvp -n step_engine.vvp
     0.00ns INFO     cocotb.regression                  running a (1/2)
                                                            What it does.
     0.00ns INFO     test                               seed 1: make step_engine TEST=a
FATAL: step_trace.sv:28: step_engine.u_trace: DEPTH 3 must be a power of two
       Time: 0 Scope: step_engine.u_trace
     0.00ns WARNING  cocotb.regression                  a failed
                                                        {ENDED}
     0.00ns WARNING  cocotb.regression                  b failed
                                                        {ENDED}
"""
MISMATCH = """Traceback (most recent call last):
  File "bench.py", line 1, in body
    await function(dut, board)
AssertionError: y_o differs at 5 ns
  hex  0x1  0x2
  rerun  make fp_add TEST=a
"""


@pytest.fixture
def results(tmp_path):
    """Results of tests whose outcomes are given as elements of cocotb's file."""

    def read(log="", ended="", **outcomes):
        cases = (f'<testcase name="{name}">{text}</testcase>' for name, text in outcomes.items())
        (tmp_path / "results.xml").write_text(f"<testsuites>{''.join(cases)}</testsuites>")
        (tmp_path / "sim.log").write_text(log)
        files = (tmp_path / name for name in ("results.xml", "notes", "sim.log"))
        return read_results(*files, ended)

    return read


def failure(text, tag="failure"):
    return f"<{tag}>{text}</{tag}>"


def problems_of(tests):
    return problems_with(tests, lambda name: f"make it TEST={name}")


def test_what_the_simulator_said_at_its_end_is_shown_once(results):
    problems = problems_of(results(LOG, a=failure(ENDED), b=failure(ENDED), c=failure(ENDED)))
    assert problems == [
        "a: the simulator ended the run:\n"
        "FATAL: step_trace.sv:28: step_engine.u_trace: DEPTH 3 must be a power of two\n"
        "       Time: 0 Scope: step_engine.u_trace\n"
        "  rerun  make it TEST=a",
        "not run, as the simulator had ended in a: b, c",
    ]


def test_a_simulator_that_ends_without_a_word(results):
    log = "".join(line + "\n" for line in LOG.splitlines() if "FATAL" not in line)
    log = log.replace("       Time: 0 Scope: step_engine.u_trace\n", "")
    said = problems_of(results(log, a=failure(ENDED)))[0]
    assert said.endswith("it said nothing\n  rerun  make it TEST=a")


def test_a_simulator_that_is_ended_from_outside(results):
    tests = results(LOG, "vvp is ended: time stands still\nlast lines", a=failure(ENDED))
    said = "the simulator ended the run:\nvvp is ended: time stands still"
    assert problems_of(tests) == [f"a: {said}\n  rerun  make it TEST=a"]


def test_a_skipped_test_says_why(results, tmp_path):
    add_note(tmp_path / "notes", "a", transactions=3)
    add_note(tmp_path / "notes", "b", skipped="a hangs")
    tests = results(a=failure("AssertionError: hang"), b="<skipped/>")
    assert [(t["result"], t["transactions"]) for t in tests] == [("fail", 3), ("skip", 0)]
    said = "a: AssertionError: hang\n  rerun  make it TEST=a"
    assert problems_of(tests) == [said, "not run, as a hangs: b"]


def test_a_test_that_a_netlist_leaves_out_is_no_problem(results, tmp_path):
    add_note(tmp_path / "notes", "a", skipped=LEFT_OUT)
    (test,) = results(a="<skipped/>")
    assert (test["result"], test["message"]) == ("skip", LEFT_OUT)
    assert problems_of([test]) == []


@pytest.mark.parametrize("tag", ["failure", "error"])
def test_a_mismatch_is_shown_without_traceback(results, tag):
    (test,) = results(a=failure(MISMATCH, tag))
    assert test["message"].startswith("AssertionError: y_o differs")
    assert test["traceback"].startswith("Traceback")
    assert problems_of([test]) == [f"a: {test['message']}"]


def test_any_other_failure_has_its_time_its_command_and_its_traceback(results, tmp_path):
    error = MISMATCH.partition("AssertionError")[0] + "ValueError: no such register"
    failed = {"ns": 1_234_567.5, "why": "no such register"}
    add_note(tmp_path / "notes", "a", failure=failed, reached={})
    (test,) = results(a=failure(error))
    said = "a: ValueError: no such register\n  at     1234567.5 ns\n  rerun  make it TEST=a"
    assert problems_of([test]) == [said, test["traceback"]]


def test_a_test_that_checks_nothing_is_a_problem(results):
    said = "a: passed without a single transaction\n  rerun  make it TEST=a"
    assert problems_of(results(a="")) == [said]


def test_results_of_an_earlier_simulation_count_for_nothing(tmp_path, results, monkeypatch):
    add_note(tmp_path / "notes.jsonl", "a", transactions=3)
    results(a="")  # whose files are left there
    simulator = SimpleNamespace(run=lambda: sys.exit("vvp ended with status 1"))
    monkeypatch.setattr(simulation, "make_simulator", lambda *_, **__: simulator)
    monkeypatch.setattr(simulation, "require_usable", lambda simulator: None)
    monkeypatch.setattr(simulation, "BUILD", tmp_path)
    task = BENCH.task("e4m3", "icarus", 1, folder=str(tmp_path))
    tests, problem, _ = simulation.simulate(BENCH.device, task, None, False, print)
    assert tests == [] and problem.startswith("vvp ended with status 1\n")


def test_a_part_adds_to_what_the_whole_has_met(tmp_path, monkeypatch):
    """And leaves its result as it is; the next whole takes the place of both."""
    results, covered = tmp_path / "results", tmp_path / "met"
    monkeypatch.setattr(bench, "RESULTS", results)
    monkeypatch.setattr(bench, "COVERED", covered)
    passed = {"name": "a", "result": "pass", "transactions": 1, "message": "", "traceback": ""}
    passed["read"] = ["items"]
    run = BENCH.pytest()

    def kept(met, tests=1, testcase=None, settings=None):
        simulated = [passed] * tests, None, met
        monkeypatch.setattr(bench, "simulate", lambda *arguments: simulated)
        asked = {"testcase": testcase, "settings": settings, "daily": False}
        run("icarus", "e4m3", asked)
        (row,) = results.iterdir()
        return "".join(file.read_text() for file in covered.iterdir()), len(
            json.loads(row.read_text())["tests"]
        )

    assert kept("one\n", tests=2) == ("one\n", 2)
    assert kept("two\n", testcase="a") == ("one\ntwo\n", 2)
    assert kept("three\n", settings={"items": 1}) == ("one\ntwo\nthree\n", 2)
    with pytest.raises(pytest.fail.Exception, match="^SETTINGS: first not used by a$"):
        kept("", settings={"first": 1, "items": 1})
    assert kept("") == ("", 1)
    assert kept("four\n") == ("four\n", 1)
