"""The study's processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pymodel.runs.progress import progress

WORKERS = 2


def in_parallel(
    function: Callable[[Any], Any], jobs: Sequence[Any], before: str, unit: str
) -> Iterator[Any]:
    """Results of all jobs, in the order in which they come; how far they are is shown on stderr.

    Parameters
    ----------
    function : callable
        Of a module, so that a process finds it.
    jobs : sequence
        The longest should come first.
    before : str
        What goes on until the first result.
    unit : str
        What is counted.
    """
    context = multiprocessing.get_context("spawn")
    with (
        progress("study", before, unit=unit) as update,
        context.Pool(WORKERS, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool,
    ):
        for done, result in enumerate(pool.imap_unordered(function, jobs), start=1):
            update(done, len(jobs))
            yield result
