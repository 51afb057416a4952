"""Text of the user's is shown as it is: brackets and dollars are no markup."""

import io

import pytest
from rich.console import Console

from pymodel.app import command as cli
from pymodel.runs.progress import progress
from pymodel.tests.places import SCENARIOS

NAME = "[bold]x[/red] $\\y"
SCENARIO = (SCENARIOS / "double_pendulum.toml").read_text()


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    """A folder and a scenario whose names look like markup."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    text = SCENARIO.replace('"double_pendulum"', f"'{NAME}'").replace("end = 1.0", "end = 1e-3")
    path = tmp_path / "[bold]a.toml"
    path.write_text(text)
    return path.name


def test_a_run_shows_name_and_folder_as_they_are(scenario, capsys):
    assert cli.main(["simulate", scenario, "--out", "[i]out[/u]", "--no-reference"]) == 0
    text = capsys.readouterr().out
    assert f"{NAME}: float32 on model" in text and "files in [i]out[/u]" in text


def test_a_schedule_shows_the_name_as_it_is(scenario, capsys):
    assert cli.main(["schedule", scenario, "--out", "gantt"]) == 0
    assert f"One step of {NAME} on" in capsys.readouterr().out


def test_a_comparison_shows_files_and_units_as_they_are(scenario, capsys):
    cli.main(["simulate", scenario, "--out", "[i]out[/u]", "--no-reference"])
    capsys.readouterr()
    path = "[i]out[/u]/run.csv"
    assert cli.main(["compare", path, path]) == 0
    text = capsys.readouterr().out
    assert f"{path} and {path}" in text and "first at t [s]" in text


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_shows_the_name_as_it_is(terminal, monkeypatch):
    monkeypatch.setattr("pymodel.runs.progress.LINE_INTERVAL", 0.0)
    console = Console(file=io.StringIO(), width=100, force_terminal=terminal)
    with progress(NAME, console=console) as update:
        update(1, 1)
    assert NAME in console.file.getvalue()
