"""A regression whose tests all pass is red where a bin was not met."""

import pytest

from pymodel.hardware.results import add_coverage
from scripts.dev.report import plugin

pytestmark = pytest.mark.rtl_of()

pytest_plugins = "pytester"
SOME, REST = {(1, 3), (1, 4)}, {(2, 4)}
GREEN = "def test_green():\n    pass\n"


@pytest.fixture
def regression(pytester, met, monkeypatch):
    """Runs one test under the plugin, in a folder of its own."""
    monkeypatch.setattr(plugin, "BUILD", pytester.path)
    monkeypatch.setattr(plugin, "ROOT", pytester.path)
    monkeypatch.setattr(plugin, "usable", lambda simulator: True)

    def run(*options):
        pytester.makepyfile(GREEN)
        return pytester.runpytest_inprocess("-p", "scripts.dev.report.plugin", *options)

    return run


def test_holes_are_red(regression, met):
    add_coverage(met / "one.jsonl", {("unit", "pairs"): SOME})
    result = regression()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["coverage: 2 of 3 bins met, 1 unreachable", "not met: unit, pairs: a: 2, b: 4"]
    )


def test_without_holes_it_is_green(regression, met):
    add_coverage(met / "one.jsonl", {("unit", "pairs"): SOME | REST})
    result = regression()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["coverage: 3 of 3 bins met, 1 unreachable"])


def test_nothing_met_is_red(regression):
    result = regression()
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["coverage: met is empty: run `make test` first"])


def test_holes_are_not_judged_without_a_simulator(regression, met, monkeypatch):
    monkeypatch.setattr(plugin, "usable", lambda simulator: simulator == "icarus")
    add_coverage(met / "one.jsonl", {("unit", "pairs"): SOME})
    result = regression()
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["not met: unit, pairs: a: 2, b: 4"])


@pytest.mark.parametrize("options", [["-k", "green"], ["-m", "not x"], ["--deselect", "x"], ["."]])
def test_a_selection_need_not_meet_all(regression, options):
    result = regression(*options)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*coverage*")


def test_the_usual_marks_are_no_selection(regression, pytester):
    pytester.makeini('[pytest]\naddopts = -m "not x"\n')
    assert regression().ret == pytest.ExitCode.TESTS_FAILED
