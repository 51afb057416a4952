"""What campaigns share."""

import io
import threading

import pytest
from rich.console import Console

from scripts.kernel import campaign
from scripts.kernel.campaign import bar, in_threads


@pytest.fixture
def told(monkeypatch):
    """What a file is told of a campaign of 4, one done before, as a clock goes on."""
    clock = [0.0]
    monkeypatch.setattr(campaign.time, "monotonic", lambda: clock[0])

    def run(*seconds):
        text = io.StringIO()
        with bar(Console(file=text, width=60), "runs", 4, 1) as shown:
            for spent in seconds:
                clock[0] += spent
                shown.advance()
        return text.getvalue().splitlines()

    return run


def test_a_file_gets_a_line_now_and_then_and_one_at_the_end(told):
    assert told(60, 1, 9) == ["runs: 2 of 4, 2 min left", "runs: 4 of 4"]
    assert told(1, 1) == []


def test_a_terminal_gets_a_bar():
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=100)
    with bar(console, "runs", 2) as shown:
        shown.name("the first")
        shown.advance()
    assert "the first" in text.getvalue() and "1/2" in text.getvalue()
    assert "1 of 2" not in text.getvalue()


def test_the_first_error_ends_the_work():
    begun = []

    def one(number):
        begun.append(number)
        if number == 1:
            raise ValueError("it is one")
        return number

    assert in_threads([lambda n=n: one(n) for n in (2, 3)], 2) == [2, 3]
    with pytest.raises(ValueError, match="it is one"):
        in_threads([lambda n=n: one(n) for n in (1, *range(10, 200))], 1)
    assert len(begun) < 100


def test_the_user_ends_what_runs():
    ended = threading.Event()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads([interrupted, ended.wait], 2, ended.set)
    assert ended.is_set()
