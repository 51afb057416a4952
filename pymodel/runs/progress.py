"""How far a run is, shown on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

BAR_INTERVAL = 0.1  # s between updates of the progress bar
LINE_INTERVAL = 30.0  # s between progress lines where there is no terminal


@contextlib.contextmanager
def progress(
    description: str, before: str = "", console: Console | None = None
) -> Iterator[Callable[..., None]]:
    """A progress callback `update(done, total)` for the time of a run.

    A bar on a terminal; elsewhere a plain line every half minute, none for short runs.

    Parameters
    ----------
    description
        Stands before the numbers.
    before
        What goes on until the first update, shown at once.
    console
        Where it is shown; stderr unless given.
    """
    console = console or Console(file=sys.stderr)
    last = time.monotonic()
    if not console.is_terminal:
        if before:
            _print(console, f"{description}: {before}")

        def line(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LINE_INTERVAL:
                last = now
                _print(console, f"{description}: {_steps(done, total)}")

        yield line
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[state]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=None, state=before)

        def bar(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= BAR_INTERVAL or done == total:
                last = now
                bars.update(task, completed=done, total=total, state=_steps(done, total))

        yield bar


def _steps(done: int, total: int) -> str:
    return f"{done} of {total} steps"


def _print(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
