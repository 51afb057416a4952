"""What CI runs: it goes on where something is red, but ends red, and leaves no simulation out."""

import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts.kernel.benches import all_benches
from scripts.kernel.places import ROOT
from scripts.tests import outer_make
from scripts.tests.inner_pytest import pytest_of, pytest_of_module
from tb.common.nights import leave_to_the_night

pytestmark = pytest.mark.rtl_of()

#: Stands for make: says what it is told, and fails where it is told what is red.
MAKE = """#!/bin/sh
echo "$@"
case " $* " in *" $RED "*) exit 1;; esac
"""
STEPS = ("lint", "formal", "test")


@pytest.mark.parametrize("red", ["nothing", *STEPS])
def test_ci_runs_all_and_ends_red_if_something_is(red, tmp_path):
    """What make does of each is tested with the Makefile."""
    for file, text in {".ci/run": (ROOT / ".ci" / "run").read_text(), "bin/make": MAKE}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        (tmp_path / file).chmod(0o755)
    environment = outer_make.environment() | {"RED": red}
    environment["PATH"] = f"{tmp_path / 'bin'}:{environment['PATH']}"
    command = [tmp_path / ".ci" / "run"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["lint", "formal FAST=1", "test"]
    assert (done.returncode == 0) == (red == "nothing"), done.stderr


WITHOUT = """
import pytest
import tb.conftest

assert tb.conftest.usable
tb.conftest.usable = lambda simulator: False

@pytest.mark.parametrize("simulator", ["icarus"])
def test_it(simulator):
    pass
"""


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 passed"), ("", "1 skipped")])
@pytest.mark.nightly("true-1 passed")
def test_without_a_simulator_its_tests_are_skipped_but_in_ci(ci, outcome, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", ci)
    done = pytest_of_module(tmp_path / "passed.json", WITHOUT, "-p", "tb.conftest")
    assert outcome in done.stdout.splitlines()[-1], done.stdout


@pytest.mark.parametrize(
    ("options", "names"), [(["--daily"], "verilator"), ([], "icarus verilator")]
)
@pytest.mark.nightly("options0-verilator")
def test_cases_of_the_night_are_left_out_of_the_day_alone(options, names, tmp_path):
    """The driver's bench leaves Icarus to the night."""
    done = pytest_of(tmp_path / "passed.json", "tb/cosim_driver", "--collect-only", *options)
    found = re.findall(r"test_cosim_driver\[(\w+)-short\]", done.stdout)
    assert sorted(found) == names.split(), done.stdout


CASES = ["short", "long[one]", "long[two]"]


@pytest.mark.parametrize(
    ("short", "long", "by_day"),
    [
        (None, None, CASES),
        (None, (), CASES[:1]),
        (None, ("two",), [CASES[0], CASES[2]]),
        (None, ("long",), CASES),
        ((), ("one",), CASES[1:2]),
        (None, 2, CASES[:2]),
        (None, 1, CASES),
        ((), (), "nightly leaves nothing of it to `make test`"),
        (None, ("tow",), "nightly names no test: tow"),
    ],
)
def test_tests_of_the_night_are_left_out_of_the_day(short, long, by_day):
    marks = {"short": short, "long": long}

    def item(text):
        name, _, case = text.rstrip("]").partition("[")
        given = marks[name]
        words, more = ((), {"every": given}) if isinstance(given, int) else (given or (), {})
        mark = None if given is None else pytest.mark.nightly(*words, **more).mark
        more = {"callspec": SimpleNamespace(id=case)} if case else {}
        more["get_closest_marker"] = lambda kind: mark
        return SimpleNamespace(originalname=name, path=Path("m.py"), text=text, **more)

    items, dropped = [item(text) for text in CASES], []
    hook = SimpleNamespace(pytest_deselected=lambda items: dropped.extend(items))
    config = SimpleNamespace(args=["tests"], hook=hook)
    if isinstance(by_day, str):
        with pytest.raises(pytest.UsageError, match=by_day):
            leave_to_the_night(config, items)
    else:
        leave_to_the_night(config, items)
        assert [item.text for item in items] == by_day and len(items + dropped) == len(CASES)


def test_the_nightly_runs_all_that_the_day_leaves_out():
    assert "run: make test WHOLE=1" in (ROOT / ".github/workflows/nightly.yml").read_text()


@pytest.mark.parametrize("bench", all_benches(), ids=lambda bench: bench.name)
def test_something_of_each_bench_and_simulator_runs_by_day(bench):
    configs = bench.configs.values()
    assert all({*config.nightly} <= {*config.sims} for config in configs)
    by_day = {sim for config in configs for sim in config.sims if sim not in config.nightly}
    by_day |= {*bench.random.sims} if bench.random else set()
    by_day |= {"verilator"} if (ROOT / f"tb/{bench.name}/test_demo.py").exists() else set()
    left = {sim for config in configs for sim in config.sims} - by_day
    assert left <= {"icarus"} and by_day
