"""Processes that the chunks of a sweep go to: here, through pipes, or a cluster's, through Dask.

A Dask scheduler runs whatever anybody sends it who can connect. So there is none of our own, and
one that is named should ask for certificates: an address ``tls://``, with what Dask's configuration
says of certificates and key.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from pymodel.runs.input_error import InputError
from pymodel.runs.pool import Pool

ADDRESS = r"((tcp|tls|ws|wss|ucx)://)?[^/:]+:[0-9]+"  # of a scheduler
ANSWER_S = 5.0  # how long it may take to answer
AHEAD = 2  # chunks of each worker that are handed out: one in work, the next at hand
LOOK_S = 0.02  # between two looks for results
TELL_S, GIVE_UP_S = 5.0, 60.0  # without any worker: until that is told, and until the end
QUIET = logging.CRITICAL + 1  # errors come as exceptions
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,  # deaths that a chunk survives
    "distributed.comm.timeouts.connect": f"{ANSWER_S} s",  # to who has died with its results
}

Chunk = Any
Results = Iterator[tuple[Chunk, Any]]
Run = Callable[[Callable[[Chunk], Any], Iterable[Chunk]], Results]


@contextlib.contextmanager
def workers(count: int | None, scheduler: str | None) -> Iterator[tuple[int, Run]]:
    """Workers for the time of a ``with``.

    Parameters
    ----------
    count
        Processes of this machine; None for as many as it has cores, 0 for none: all runs here.
    scheduler
        Address of a Dask scheduler whose workers are used instead. What Dask's configuration says
        of TLS counts.

    Yields
    ------
    size : int
        How many chunks run at once.
    run : callable(function, chunks)
        An iterator of (chunk, result) in the order of their ends. The result is None if workers
        died again and again while the chunk was theirs, in work or waiting. The next chunk is asked
        for only when there is somebody to run it.

    Raises
    ------
    InputError
        If the scheduler does not answer, or has no workers for long, its certificates are missing,
        or Dask is not installed; from ``run``, if the workers cannot run this.
    """
    if count == 0 and scheduler is None:
        yield 1, lambda function, chunks: ((chunk, function(chunk)) for chunk in chunks)
        return
    if scheduler is None:
        size = count or os.cpu_count() or 1
        with _on(signal.SIGTERM, _end_once, signal.SIG_DFL), Pool(size) as pool:
            yield size, pool.run
        return
    try:
        import dask
        import distributed
    except ImportError:
        needs = "--scheduler needs Dask: pip install 'hdca-accelerator[sweeps]'"
        raise InputError(f"{needs}; --workers needs nothing else") from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(QUIET)
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        client = stack.enter_context(_connected(distributed.Client, scheduler))
        size = sum(client.nthreads().values()) or 1
        yield size, lambda function, chunks: _on_cluster(client, function, chunks)


@contextlib.contextmanager
def _on(number: int, handler: Any, instead_of: Any = None) -> Iterator[None]:
    """Handle a signal; what is ignored is so by processes that start meanwhile, too.

    With ``instead_of``, only where this is its handler: somebody else's stays.
    """
    elsewhere = threading.current_thread() is not threading.main_thread()  # no signal comes there
    if elsewhere or instead_of not in (None, signal.getsignal(number)):
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL if before is None else before)


def _end_once(number: int, frame: Any) -> None:
    """End as Ctrl-C does: killed, it would leave semaphores behind, which Python tells at length.

    Whoever ends a group of processes, as ``timeout`` does with make, may do so several times.
    """
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt("ended by SIGTERM")


def address(scheduler: str) -> str:
    """A scheduler's address, as it is given.

    Raises
    ------
    InputError
        If it is none.
    """
    if not re.fullmatch(ADDRESS, scheduler):
        raise InputError(f"--scheduler {scheduler}: must be an address, as tls://host:8786")
    return scheduler


def _connected(client_type: type, scheduler: str) -> Any:
    address(scheduler)
    try:
        return client_type(scheduler, timeout=ANSWER_S, set_as_default=False)
    except OSError as error:
        # Of TLS that one side does not have, or a certificate that the other does not know.
        said = f"; {error.__cause__}".splitlines()[0] if "SSL" in f"{error.__cause__}" else ""
        raise InputError(
            f"--scheduler {scheduler}: no answer within {ANSWER_S:g} s{said}"
        ) from None
    except (TypeError, ValueError) as error:
        said = "Dask's configuration names no certificate, key and authority for TLS"
        raise InputError(f"--scheduler {scheduler}: {said} (docs/sweeps.md)") from error


def _on_cluster(client: Any, function: Callable[[Chunk], Any], chunks: Iterable[Chunk]) -> Results:
    """Run chunks on a cluster; Dask gives those of a worker that dies to others, a few times."""
    from distributed import CancelledError, KilledWorker, as_completed

    waiting = iter(chunks)
    pending: dict[Any, Chunk] = {}
    done, patience = as_completed(loop=client.loop), _Patience(client)
    kept = "the connection is lost; what is done is kept, the same command goes on"
    lost = InputError(f"--scheduler {client.scheduler.address}: {kept}")

    def hand_out() -> None:
        try:
            size = sum(client.nthreads().values())
        except OSError:
            raise lost from None
        room = AHEAD * max(1, size) - len(pending)
        for chunk in islice(waiting, max(0, room)):
            future = client.submit(function, chunk, pure=False)
            pending[future] = chunk
            done.add(future)

    hand_out()
    while pending:
        while not done.has_ready():
            time.sleep(LOOK_S)
            patience.look()
        future = next(done)
        chunk = pending.pop(future)
        try:
            result = _result(future, patience)
        except KilledWorker:
            result = None
        except CancelledError:
            raise lost from None
        except Exception as error:  # of scheduler or worker, as a package that it does not have
            cause = error.__cause__ or error
            said = (f"{cause}".splitlines() or [type(cause).__name__])[0]
            if isinstance(cause, ImportError):
                said += " (docs/sweeps.md: what scheduler and workers need)"
            raise InputError(f"the workers cannot run this: {said}") from error
        yield chunk, result
        hand_out()


def _result(future: Any, patience: _Patience) -> Any:
    """The result of a chunk that has ended; it runs again if its worker has gone with that."""
    while True:
        try:
            return future.result(timeout=GIVE_UP_S)
        except TimeoutError:
            if future.status == "error":  # the chunk's own
                raise
            patience.look()


class _Patience:
    """How long a cluster has had no worker."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._seen = self._looked = time.monotonic()
        self._told = False

    def look(self) -> None:
        """Tell that there is no worker.

        Raises
        ------
        InputError
            If there has been none for long.
        """
        now = time.monotonic()
        if now - self._looked < TELL_S:
            return
        self._looked = now
        with contextlib.suppress(OSError):  # no answer: Dask notices, and cancels what is pending
            if self._client.nthreads():
                self._seen, self._told = now, False
        address, without = self._client.scheduler.address, now - self._seen
        if without >= TELL_S and not self._told:
            self._told = True
            logging.getLogger(__name__).warning("waiting for workers of %s", address)
        if without >= GIVE_UP_S:
            kept = "what is done is kept, the same command goes on"
            raise InputError(f"--scheduler {address}: no worker for {GIVE_UP_S:g} s; {kept}")
