"""How far a run is, shown on stderr."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pymodel.compile.recording_limit import watched

RECORDED = "operations recorded"
PATIENCE = 1.0  # s of recording without a word
BAR_INTERVAL = 0.1  # s between updates of the progress bar
LINE_INTERVAL = 5.0  # s between progress lines where there is no terminal


@contextlib.contextmanager
def progress(
    description: str,
    before: str = "",
    console: Console | None = None,
    unit: str = "steps",
    patience: float = 0.0,
) -> Iterator[Callable[..., None]]:
    """A progress callback `update(done, total)` for the time of a run.

    A third argument names what is counted instead of ``unit``: operations, while what is run is
    recorded.

    A bar on a terminal; elsewhere a plain line every few seconds, none for short runs.

    Parameters
    ----------
    description
        Stands before the numbers.
    before
        What goes on until the first update.
    console
        Where it is shown; stderr unless given.
    unit
        What is counted.
    patience
        Seconds until ``before`` is told where there is no terminal; never if all ends sooner.
    """
    console = console or Console(file=sys.stderr)
    last = start = time.monotonic()
    what = unit  # is counted now
    first: int | None = None  # done when it began: what an earlier command has left
    if not console.is_terminal:
        text = f"{description}: {before}"
        timer = threading.Timer(patience, _print, (console, text))
        if before and patience:
            timer.start()
        elif before:
            _print(console, text)

        def line(done: int, total: int, counted: str = unit) -> None:
            nonlocal first, last, start, what
            timer.cancel()
            now = time.monotonic()
            if first is None or counted != what:
                first, start, what = done, now, counted
            if now - last >= LINE_INTERVAL:
                last = now
                left = _left(now - start, done - first, total - done)
                _print(console, f"{description}: {done} of {total} {counted}{left}")

        try:
            with watched(partial(line, counted=RECORDED)):
                yield line
        finally:
            timer.cancel()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=None, state=before)

        def bar(done: int, total: int, counted: str = unit) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= BAR_INTERVAL or done == total:
                last = now
                state = f"{done} of {total} {counted}"
                bars.update(task, completed=done, total=total, state=state)

        with watched(partial(bar, counted=RECORDED)):
            yield bar


def _left(passed: float, done: int, rest: int) -> str:
    """How long it takes still, if that is known."""
    if done <= 0 or rest <= 0:
        return ""
    seconds = round(passed / done * rest)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    about = f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else ""
    return f", {about or f'{seconds} s'} left"


def _print(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
