"""Commands that keep files between their runs work alone in their folder."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from pymodel.runs.input_error import InputError


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keep others that ask for the same folder out of it until the end.

    Raises
    ------
    InputError
        If another process is there.
    OSError
        If the folder cannot be made or written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"another process works in {folder}: wait until it ends") from None
        yield


@contextlib.contextmanager
def alone_with(file: Path) -> Iterator[None]:
    """Wait until no other process or thread changes a file, and keep them from it until the end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
