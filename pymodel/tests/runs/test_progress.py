"""How far a run is: lines now and then, or a bar."""

import io
import threading

import pytest
from rich.console import Console

from pymodel.compile.graph import Graph
from pymodel.compile.recording_limit import limited
from pymodel.runs import progress


def test_progress_prints_plain_lines_now_and_then(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    console = Console(file=io.StringIO(), width=40)
    with progress.progress("a run whose name is longer than the line", console=console) as update:
        for done in range(1, 13):
            now[0] += 2.0
            update(done, 12)
    name = "a run whose name is longer than the line"
    expected = [f"{name}: {done} of 12 steps, {24 - 2 * done} s left" for done in (3, 6, 9)]
    expected.append(f"{name}: 12 of 12 steps")
    assert console.file.getvalue().splitlines() == expected


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(7, "7 s"), (59, "59 s"), (61, "1 min"), (3599, "59 min"), (7300, "2 h 1 min")],
)
def test_progress_says_how_long_it_takes_still(monkeypatch, seconds, said):
    """By the pace since it began: what was there already took no time."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    console = Console(file=io.StringIO(), width=80)
    with progress.progress("sweep", console=console) as update:
        update(500, 1000)
        now[0] += seconds
        update(750, 1000)
    found = console.file.getvalue()
    assert found == f"sweep: 750 of 1000 steps, {said} left\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_says_how_far_a_recording_is(monkeypatch, terminal):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal)
    with progress.progress("run", console=console):
        now[0] += 6.0
        limited(Graph(), "step of it", 1000).watch(500)
    assert "500 of 1000 operations recorded" in console.file.getvalue()


def test_progress_bar_on_a_terminal_leaves_nothing_behind():
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with progress.progress("run", console=console) as update:
        for done in range(1, 101):
            update(done, 100)
    assert "100 of 100 steps" in console.file.getvalue()


def test_progress_says_what_goes_on_only_if_it_lasts(monkeypatch):
    console = Console(file=io.StringIO(), width=80)
    with progress.progress("call", "recording", console, patience=60.0) as update:
        update(0, 1)
    assert console.file.getvalue() == ""
    told = threading.Event()
    monkeypatch.setattr(progress, "_print", lambda console, text: told.set())
    with progress.progress("call", "recording", console, patience=0.01):
        assert told.wait(60)


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_says_what_goes_on_before_the_first_step(terminal):
    console = Console(file=io.StringIO(), width=80, force_terminal=terminal)
    with progress.progress("run", "building the [top]", console):
        pass
    assert "building the [top]" in console.file.getvalue()
    assert "None" not in console.file.getvalue()
