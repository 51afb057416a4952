"""What campaigns share: a wide console, how far they are, work in threads.

Its rows are in a :class:`scripts.kernel.journal.Journal` by keys of :mod:`scripts.kernel.digest`,
so that one that was cut short goes on. It works alone in its folder (:mod:`scripts.kernel.alone`)
and ends in a :class:`scripts.kernel.journal.Summary`, which a page is made of
(:mod:`scripts.kernel.documents`, :mod:`scripts.kernel.pages`).
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

WIDTH = 150  # columns where there is no terminal
LINE_INTERVAL_S = 10.0  # between lines of progress there
Found = TypeVar("Found")


def wide_console() -> Console:
    """A console whose tables are whole in a file, too."""
    return Console(width=None if sys.stdout.isatty() else WIDTH)


class Bar:
    """How far a campaign is: a bar on a terminal, elsewhere a line every few seconds."""

    def __init__(
        self, console: Console, progress: Progress, text: str, total: int, done: int
    ) -> None:
        self._console, self._progress, self._text = console, progress, text
        self._total, self._before, self._done = total, done, done
        self._task = progress.add_task(text, total=total, completed=done)
        self._begun = self._told = time.monotonic()
        self._lock = threading.Lock()

    def advance(self) -> None:
        """One more is done; threads may say so at the same time."""
        with self._lock:
            self.reach(self._done + 1)

    def name(self, text: str) -> None:
        """Show what goes on."""
        self._progress.update(self._task, description=text)

    def reach(self, done: int) -> None:
        """So many are done."""
        self._progress.update(self._task, completed=done)
        before, self._done = self._done, done
        if self._console.is_terminal or done == before:
            return
        now, total = time.monotonic(), self._total
        if done == total or now - self._told > LINE_INTERVAL_S:
            self._told, spent = now, now - self._begun
            left = spent * (total - done) / max(1, done - self._before)
            rest = f", {left / 60:.0f} min left" if done > self._before and done < total else ""
            self._console.print(f"{self._text}: {done} of {total}{rest}", highlight=False)


@contextlib.contextmanager
def bar(console: Console, text: str, total: int, done: int = 0) -> Iterator[Bar]:
    """Show how far a campaign is.

    Parameters
    ----------
    console
    text
        What is counted.
    total, done
        How many there are, and are done already.
    """
    columns = (TextColumn("{task.description:48}"), BarColumn(), MofNCompleteColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, *times, console=console, disable=not console.is_terminal) as progress:
        yield Bar(console, progress, text, total, done)


def in_threads(
    work: Sequence[Callable[[], Found]], workers: int, end: Callable[[], None] = lambda: None
) -> list[Found]:
    """Do all of the work, some at the same time; the first error of it is raised.

    What runs is finished then, and nothing else begun.

    Parameters
    ----------
    work
    workers
        How many threads.
    end
        Ends what runs when the user wants no more (Ctrl-C).
    """
    with ThreadPoolExecutor(workers) as pool:
        try:
            pending = [pool.submit(one) for one in work]
            return [future.result() for future in pending]
        except KeyboardInterrupt:
            end()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
