"""How far a run is, shown on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

BAR_INTERVAL = 0.1  # s between updates of the progress bar
LINE_INTERVAL = 5.0  # s between progress lines where there is no terminal


@contextlib.contextmanager
def progress(description: str, console: Console | None = None) -> Iterator[Callable[..., None]]:
    """A progress callback `update(done, total)` for the time of a run.

    A bar on a terminal; elsewhere a plain line every few seconds, none for short runs.

    Parameters
    ----------
    description
        Stands before the numbers.
    console
        Where it is shown; stderr unless given.
    """
    console = console or Console(file=sys.stderr)
    last = time.monotonic()
    if not console.is_terminal:

        def line(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= LINE_INTERVAL:
                last = now
                text = f"{description}: {done} of {total} steps"
                console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield line
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} steps"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(description, total=None)

        def bar(done: int, total: int) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= BAR_INTERVAL or done == total:
                last = now
                bars.update(task, completed=done, total=total)

        yield bar
