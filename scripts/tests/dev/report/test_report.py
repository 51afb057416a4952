"""The HTML report from small made-up results."""

import base64
import html
import json
import os
import re

import pytest

from scripts.dev import make_front
from scripts.dev.changed.session import begin
from scripts.dev.report.bench_runs import BenchRun, read_bench_runs
from scripts.dev.report.page import duration, write_report
from scripts.dev.report.pytest_files import read_junit

pytestmark = pytest.mark.rtl_of()

PASSING = {
    "bench": "fp_mul",
    "config": "binary32-s0",
    "simulator": "icarus",
    "params": {"EXP_W": 8, "MAN_W": 23, "STAGES": 0},
    "seed": 7,
    "transactions": 20000,
    "tests": [
        {"name": "random", "result": "pass", "wall_s": 2.0, "sim_ns": 200000.0, "message": ""}
    ],
    "wall_s": 3.5,
    "result": "pass",
    "rerun": "make fp_mul SIM=icarus SEED=7 CONFIG=binary32-s0",
}
FAILING = {
    **PASSING,
    "bench": "fp_sub",
    "simulator": "verilator",
    "result": "fail",
    "tests": [
        {"name": "corners", "result": "pass", "wall_s": 0.1, "sim_ns": 50.0, "message": ""},
        {"name": "random", "result": "fail", "wall_s": 1.0, "sim_ns": 90.0, "message": "y_o <x>"},
    ],
    "rerun": "make fp_sub SIM=verilator SEED=7 CONFIG=binary32-s0",
}
JUNIT = """<?xml version="1.0"?><testsuites><testsuite name="pytest">
<testcase classname="pymodel.tests.test_arith" name="test_a" time="0.5" />
<testcase classname="pymodel.tests.test_arith.TestMul" name="test_b" time="0.25" />
<testcase classname="tb.fp_sub.test_fp_sub" name="test_run" time="1"><failure
 message="short">AssertionError: long text</failure></testcase>
<testcase classname="scripts.tests.test_e" name="test_e" time="0"><error
 message="at setup">OSError: x</error></testcase>
<testcase classname="scripts.tests.test_x" name="test_s" time="0"><skipped message="" /></testcase>
</testsuite></testsuites>"""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def build(tmp_path):
    results, page = tmp_path / "results", tmp_path / "report"
    results.mkdir()
    page.mkdir()
    for demo in ("pendulum", "fourbar"):
        (tmp_path / demo).mkdir()
        (tmp_path / demo / "angles.png").write_bytes(PIXEL)
    (results / "a.json").write_text(json.dumps(PASSING))
    (results / "b.json").write_text(json.dumps(FAILING))
    (page / "junit.xml").write_text(JUNIT)
    return tmp_path


def test_failed_run_comes_first_and_is_open(build):
    page = write_report(build).read_text()
    assert page.index("fp_sub") < page.index("fp_mul")
    assert page.count("<details open>") == 1  # the failed bench run
    assert "y_o &lt;x&gt;" in page
    assert "make fp_sub SIM=verilator SEED=7" in page
    assert "40,000 transactions" in page


def test_a_report_is_titled_by_what_it_is_of(build):
    def title():
        (found,) = re.findall("<title>(.*)</title>", page := write_report(build).read_text())
        assert f"<h1>{found}</h1>" in page
        return found

    (build / "report" / "junit.xml").write_text(JUNIT)
    assert title() == "Regression report"
    (build / "report" / "junit.xml").unlink()
    assert title() == "Report of 2 benches"
    (build / "results" / "b.json").unlink()
    assert title() == "Report of bench fp_mul"


def test_what_the_last_session_has_not_run_is_marked(build):
    assert "earlier" not in write_report(build).read_text()
    for name in ("a", "b"):
        os.utime(build / "results" / f"{name}.json", (1, 1))
    (build / "results" / "c.json").write_text(json.dumps(PASSING | {"bench": "fp_new"}))
    begin(build / "changed", everything=False)
    os.utime(build / "results" / "c.json")
    page = write_report(build).read_text()
    assert "3 bench runs" in page and "2 of earlier sessions, which this one has not run" in page
    assert page.count(">earlier: pass</td>") == page.count(">earlier: fail</td>") == 1
    assert "20,000 transactions" in page and "40,000" not in page


def test_plots_of_both_demos_are_shown(build):
    page = write_report(build).read_text()
    assert all(f'alt="{demo}/angles.png"' in page for demo in ("pendulum", "fourbar"))


def test_a_red_test_has_the_command_that_shows_where_it_fails(build, monkeypatch):
    page = html.unescape(write_report(build).read_text())
    (command,) = re.findall(r"<code>(make debug .*?)</code>", page)
    assert command == "make debug BENCH=fp_sub CONFIG=binary32-s0 SIM=verilator SEED=7 TEST=random"
    done = []
    monkeypatch.setattr(make_front, "set_up", lambda *parts: done.append(parts))
    monkeypatch.setattr(make_front, "program", lambda *words: done.append(words) or 0)
    _, target, *given = command.split()
    variables = dict(word.split("=", 1) for word in given)
    assert make_front.target_named(target).run(variables) == 0
    ((simulator,), (module, words)) = done
    assert (simulator, module) == ("verilator", "scripts.dev.waves.debug")
    options = {"--config=binary32-s0", "--sim=verilator", "--test=random", "--seed=7"}
    assert options | {"fp_sub"} == set(words) - {"--"}


def test_functional_coverage_is_linked_where_it_is(build):
    link = '<a href="../coverage/index.html">'
    assert link not in write_report(build).read_text()
    (build / "coverage").mkdir()
    (build / "coverage" / "index.html").touch()
    assert link in write_report(build).read_text()


def test_every_message_stands_once(build):
    row = FAILING | {"message": f"random: y_o <x>\n\nrerun: {FAILING['rerun']}"}
    row["tests"][1]["traceback"] = "Traceback (most recent call last):"
    (build / "results" / "b.json").write_text(json.dumps(row))
    text = row["message"].replace("<", "&lt;").replace(">", "&gt;")
    (build / "report" / "junit.xml").write_text(JUNIT.replace("AssertionError: long text", text))
    page = write_report(build).read_text()
    assert page.count("y_o &lt;x&gt;") == 1
    assert "see its bench above" in page
    assert "<details><summary>traceback</summary>" in page


def test_plots_are_embedded(build):
    page = write_report(build).read_text()
    assert base64.b64encode(PIXEL).decode() in page
    assert "http://" not in page and "https://" not in page


def test_pytest_cases_are_summed_per_file(build):
    files = {f.name: f for f in read_junit(build / "report" / "junit.xml")}
    arith = files["pymodel/tests/test_arith.py"]
    assert (arith.passed, arith.seconds, arith.failed) == (2, 0.75, False)
    assert files["scripts/tests/test_x.py"].skipped == 1
    assert files["scripts/tests/test_e.py"].failures == [("test_e", "at setup", "OSError: x")]
    assert [*files][:2] == ["scripts/tests/test_e.py", "tb/fp_sub/test_fp_sub.py"]
    assert files["tb/fp_sub/test_fp_sub.py"].failures[0][1:] == (
        "short",
        "AssertionError: long text",
    )


def test_unreadable_result_is_a_failed_run(build):
    (build / "results" / "torn.json").write_text('{"bench": "fp_')
    first = read_bench_runs(build / "results")
    assert [r.bench for r in first if r.failed] == ["fp_sub", "torn"]
    assert "unreadable" in write_report(build).read_text()


def test_a_failed_test_makes_the_run_failed():
    tests = [{"name": "t", "result": "fail"}]
    assert BenchRun("b", result="pass", tests=tests).failed
    assert not BenchRun("b", result="pass").failed


def test_nothing_to_report(tmp_path):
    assert "No bench has left a result" in write_report(tmp_path).read_text()


@pytest.mark.parametrize(
    "seconds, text",
    [(0, "0 s"), (1.5e-8, "15 ns"), (2e-4, "200 us"), (0.9996, "1000 ms"), (75, "1 min 15 s")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text
