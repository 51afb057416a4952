"""Processes of this machine that chunks of work go to, through pipes: nobody else can reach them.

Each has one chunk at a time, so that it is known which one it died of.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, resource_tracker
from typing import Any

from pymodel.runs.input_error import InputError

DEATHS = 1  # of its workers that a chunk survives
END_S = 5.0  # how long a worker may take to end that has nothing to do
STARTED = "started"  # what a worker says first

#: A fork would copy whatever other threads are in the middle of.
CONTEXT = multiprocessing.get_context("spawn")

Chunk = Any


class Pool:
    """Worker processes for the time of a ``with``; none is left after it, whatever ends it.

    Parameters
    ----------
    size
        How many.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        resource_tracker.ensure_running()  # which unblocks the signals that a start blocks
        self._fill()
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        for worker in self._workers:
            worker.end(now=kind is not None)
        self._workers.clear()

    def _fill(self) -> None:
        while len(self._workers) < self.size:
            self._workers.append(_Worker())

    def run(
        self, function: Callable[[Chunk], Any], chunks: Iterable[Chunk]
    ) -> Iterator[tuple[Chunk, Any]]:
        """Run chunks: pairs of a chunk and its result in the order of their ends.

        The result is None if two workers died with the chunk. The next chunk is asked for only when
        there is somebody to run it.

        Raises
        ------
        InputError
            If the function raises an exception, or workers do not start.
        """
        self._fill()
        waiting = ((chunk, 0) for chunk in chunks)
        again: deque[tuple[Chunk, int]] = deque()
        try:
            while True:
                for worker in [worker for worker in self._workers if worker.job is None]:
                    job = again.popleft() if again else next(waiting, None)
                    if job is None:
                        break
                    worker.give(function, job)
                busy: dict[Any, _Worker] = {
                    worker.pipe: worker for worker in self._workers if worker.job is not None
                }
                if not busy:
                    return
                for pipe in connection.wait(list(busy)):
                    worker = busy[pipe]
                    try:
                        told = worker.take()
                    except (EOFError, OSError):
                        chunk, deaths = self._replace(worker)
                        if deaths < DEATHS:
                            again.append((chunk, deaths + 1))
                            continue
                        yield chunk, None
                        continue
                    if told is not None:
                        yield told
        finally:  # nobody waits for what is still in work
            for worker in [worker for worker in self._workers if worker.job is not None]:
                worker.end(now=True)
                self._workers.remove(worker)

    def _replace(self, worker: _Worker) -> tuple[Chunk, int]:
        """Put another in the place of a worker that has died; the job that it had."""
        self._workers.remove(worker)
        worker.end(now=False)
        if not worker.started and (worker.process.exitcode or 0) > 0:  # Python has said why
            raise InputError(f"the workers do not start: exit status {worker.process.exitcode}")
        self._fill()
        assert worker.job is not None
        return worker.job


class _Worker:
    """A process, and the job that it has: a chunk, and how many died of it before."""

    def __init__(self) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_work, args=(theirs,))
        self.job: tuple[Chunk, int] | None = None
        self.started = False
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process.start()  # Ctrl-C is not for the new one, and waits until this has it whole
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        theirs.close()

    def give(self, function: Callable[[Chunk], Any], job: tuple[Chunk, int]) -> None:
        """Give it a job."""
        self.job = job
        try:
            text = pickle.dumps((function, job[0]))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise InputError(f"the workers cannot be sent this: {error}") from None
        with contextlib.suppress(OSError):  # it has died: taking its answer shows that
            self.pipe.send_bytes(text)

    def take(self) -> tuple[Chunk, Any] | None:
        """Its answer; None if it has only said that it has started."""
        said = self.pipe.recv()
        if said == STARTED:
            self.started = True
            return None
        good, result = said
        assert self.job is not None
        (chunk, _), self.job = self.job, None
        if not good:
            raise InputError(f"the workers cannot run this: {result}")
        return chunk, result

    def end(self, now: bool) -> None:
        """End it, with all that it has started; ``now`` does not wait for it."""
        self.pipe.close()
        if not now:
            self.process.join(END_S)
        if self.process.pid is not None and self.process.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()


def _work(pipe: connection.Connection) -> None:
    """A worker: it ends when nobody sends anything any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started it
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)  # so that what it starts can be ended with it
    threading.Thread(
        target=_end_with, args=(multiprocessing.parent_process(),), daemon=True
    ).start()
    with contextlib.suppress(EOFError, OSError):
        pipe.send(STARTED)
        while True:
            pipe.send_bytes(_answer(pipe.recv_bytes()))


def _answer(text: bytes) -> bytes:
    """The result, or what an exception says in a line."""
    try:
        function, chunk = pickle.loads(text)
        return pickle.dumps((True, function(chunk)))
    except Exception as error:
        lines = f"{error}".splitlines() or [type(error).__name__]
        return pickle.dumps((False, lines[0]))


def _end_with(parent: Any) -> None:
    """End this process and all that it has started when the one that started it has ended."""
    connection.wait([parent.sentinel])
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
