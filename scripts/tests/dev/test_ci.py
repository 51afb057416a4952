"""What CI runs: it goes on where something is red, but ends red, and leaves no simulation out."""

import subprocess

import pytest

from scripts.kernel.places import ROOT
from scripts.tests import outer_make
from scripts.tests.inner_pytest import pytest_of_module

pytestmark = pytest.mark.rtl_of()

#: Stands for Python: says what it is told, and fails where it is told what is red.
PYTHON = """#!/bin/sh
echo "$@"
case " $* " in *" $RED "*) exit 1;; esac
"""
STEPS = ("scripts.dev.lint", "scripts.evidence.formal.command", "pytest")


@pytest.mark.parametrize("red", ["nothing", *STEPS])
def test_ci_runs_all_and_ends_red_if_something_is(red, tmp_path):
    """With the Makefile as it is, in a folder where it may remove and run what it wants."""
    for file, text in {
        ".ci/run": (ROOT / ".ci" / "run").read_text(),
        "Makefile": (ROOT / "Makefile").read_text(),
        "scripts/dev/setup.sh": "#!/bin/sh\n",
        ".venv/bin/python": PYTHON,
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
        (tmp_path / file).chmod(0o755)
    environment = outer_make.environment() | {"RED": red}
    command = [tmp_path / ".ci" / "run"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    lint, formal, test = done.stdout.splitlines()
    assert (done.returncode == 0) == (red == "nothing"), done.stderr
    assert lint.endswith("scripts.dev.lint") and "scripts.evidence.formal.command" in formal
    assert "--fast" in formal and test.startswith("-m pytest ")
    assert {"scripts.dev.report.plugin", "scripts.dev.changed.plugin"} <= set(test.split())


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
def test_without_a_simulator_its_tests_are_skipped_but_in_ci(ci, outcome, tmp_path, monkeypatch):
    monkeypatch.setenv("CI", ci)
    done = pytest_of_module(tmp_path / "passed.json", WITHOUT, "-p", "tb.conftest")
    assert outcome in done.stdout.splitlines()[-1], done.stdout
