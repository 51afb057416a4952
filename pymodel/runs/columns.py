"""Columns of long runs, which wait on the disk while files are made of them."""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from weakref import WeakSet

import numpy as np

LONG = 1 << 18  #: rows from which a run's columns wait on the disk
BLOCK = 1 << 17  #: rows that are computed with together; more of them at once take more memory

_folder: ContextVar[Path | None] = ContextVar("folder", default=None)
_maps: WeakSet[mmap.mmap] = WeakSet()


@contextlib.contextmanager
def on_disk(folder: Path) -> Iterator[None]:
    """Let columns of long runs wait in a folder, in files without a name, while this lasts."""
    before = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(before)


def empty(*shape: int) -> np.ndarray:
    """A float64 array to be filled, in memory or on the disk.

    Raises
    ------
    OSError
        If the disk has not so much room; what is written into the array later always has.
    """
    folder, size = _folder.get(), 8 * math.prod(shape)
    if folder is None or shape[0] < LONG or not size:
        return np.empty(shape)
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, size)
        memory = mmap.mmap(file.fileno(), size)
    _maps.add(memory)
    return np.frombuffer(memory).reshape(shape)


def blocks(rows: int, size: int = BLOCK) -> Iterator[slice]:
    """Cut rows into parts; what waits on the disk leaves memory after each.

    None has one row alone but the only one: numpy may sum one in another order.
    """
    first = 0
    while first < rows:
        stop = rows if rows - first <= size + 1 else first + size
        yield slice(first, stop)
        first = stop
        release()


def release() -> None:
    """Let what waits on the disk leave memory."""
    for memory in list(_maps):
        with contextlib.suppress(ValueError):  # it is closed
            memory.madvise(mmap.MADV_DONTNEED)
