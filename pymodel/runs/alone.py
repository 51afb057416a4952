"""Commands that write files work alone where they write them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from pymodel.runs.input_error import InputError


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep others that ask for the same folder out of it until the end.

    Raises
    ------
    InputError
        If another process is there; its number is in the message.
    OSError
        If the folder cannot be made or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / ".lock", f"works in {folder}"):
        yield


@contextlib.contextmanager
def alone_at(file: Path) -> Iterator[None]:
    """As :func:`alone_in`, of a single file and what is kept beside it under its name."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with _locked(file.with_name(f".{file.name}.lock"), f"writes {file}"):
        yield


@contextlib.contextmanager
def _locked(path: Path, does: str) -> Iterator[None]:
    """Hold a lock, a file that says who does and is there meanwhile."""
    with contextlib.ExitStack() as held:
        while True:
            lock = held.enter_context(open(path, "a+"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                number, _, host = lock.read().strip().partition(" on ")
                who = f"process {number}" if number else "another process"
                place = "" if host in ("", socket.gethostname()) else f" of {host}"
                raise InputError(f"{who}{place} {does}: wait until it ends") from None
            if _is_at(lock.fileno(), path):
                break
            held.close()  # whoever held it has removed it meanwhile: it keeps nobody out
        held.callback(path.unlink, missing_ok=True)
        lock.truncate(0)
        lock.write(f"{os.getpid()} on {socket.gethostname()}\n")
        lock.flush()
        yield


def _is_at(number: int, path: Path) -> bool:
    """Whether an open file is the one of a path."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except OSError:
        return False


@contextlib.contextmanager
def alone_with(file: Path) -> Iterator[None]:
    """Wait until no other process or thread changes a file, and keep them from it until the end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
