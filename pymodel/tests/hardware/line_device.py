"""The board's end of the link in Python, behind a pseudo-terminal, on a line that loses things."""

import os
import select
import threading
import tty
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

from pymodel.hardware import link

HEADER_BITS = 0xFFFF
SEQUENCE_BITS = 0xFF
LOOK_S = 0.02


class RefusedError(Exception):
    """An access that is answered with SLVERR."""


class Device:
    """What rtl/board does with frames (docs/board.md).

    Parameters
    ----------
    read, write
        Accesses to registers, at byte offsets; may raise :class:`RefusedError`.
    every
        Of frames and answers together, one of so many is damaged, each at most once; 0: none.
    greeting
        What it answers to a hello.

    Attributes
    ----------
    done
        Frames that were done.
    repeated
        Frames that came again, and were answered from what was kept.
    """

    def __init__(
        self,
        read: Callable[[int], int],
        write: Callable[[int, int], None],
        every: int = 0,
        greeting: int = link.GREETING,
    ) -> None:
        self._read, self._write, self._greeting = read, write, greeting
        self._every, self._passed = every, 0
        self._rng, self._hurt = np.random.default_rng(5), set[bytes]()
        self._kept: deque[list[int]] = deque(maxlen=link.WINDOW)
        self._next: int | None = None
        self.done = self.repeated = 0
        self._accesses = self._failed = 0  # of a frame; the first that was refused

    def answer(self, block: bytes) -> bytes:
        """The bytes that answer those of a frame, none if it is dropped."""
        words = link.decode(self._hit(block))
        if words is None:
            return b""
        header, *operations = words
        kind, sequence = header >> link.KIND_AT, header & SEQUENCE_BITS
        if kind == link.HELLO:
            self._kept.clear()
        elif sequence != self._next:
            for kept in self._kept:
                if kept[0] == header:
                    self.repeated += 1
                    return self._hit(link.encode(kept))
            return b""
        self._next = (sequence + 1) % link.SEQUENCES
        self.done += 1
        greeting = [self._greeting] if kind == link.HELLO else []
        self._accesses = self._failed = 0
        words = [*self._done(deque(operations))]
        found = [header, *greeting, *words, self._failed]
        assert len(found) < link.FRAME_WORDS
        self._kept.append(found)
        return self._hit(link.encode(found))

    def _done(self, operations: deque[int]) -> Iterator[int]:
        while operations:
            word = operations.popleft()
            address, count = word >> link.OP_ADDRESS_AT & ~3, word & link.HALF
            step = 0 if word & link.OP_FIXED else 4
            for at in range(address, address + step * count, step) if step else [address] * count:
                self._accesses += 1
                if word & link.OP_WRITE:
                    data = operations.popleft()
                    self._tried(self._write, at, data)
                else:
                    yield self._tried(self._read, at) or 0

    def _tried(self, access: Callable[..., int | None], *arguments: int) -> int | None:
        try:
            return access(*arguments)
        except RefusedError:
            self._failed = self._failed or self._accesses
            return None

    def _hit(self, data: bytes) -> bytes:
        """These bytes, or with a wrong one, or without their end."""
        self._passed += 1
        if not self._every or self._passed % self._every or data in self._hurt:
            return data
        self._hurt.add(data)
        at = int(self._rng.integers(len(data)))
        return data[:at] if self._rng.random() < 0.5 else data[:at] + b"\x55" + data[at + 1 :]


@contextmanager
def terminal(served: Callable[[bytes], bytes], babble: bytes = b"") -> Iterator[str]:
    """A port's name, behind which a thread answers each frame, and babbles when nothing comes."""
    board, host = os.openpty()
    tty.setraw(host)
    over = threading.Event()

    def serve() -> None:
        received = b""
        while not over.is_set():
            if not select.select([board], [], [], 0 if babble else LOOK_S)[0]:
                _sent(board, babble)
                continue
            *frames, received = (received + os.read(board, 4096)).split(link.DELIMITER)
            for frame in frames:
                _sent(board, served(frame) if frame else b"")

    os.set_blocking(board, False)
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield os.ttyname(host)
    finally:
        over.set()
        thread.join()
        os.close(board)
        os.close(host)


def _sent(board: int, data: bytes) -> None:
    """Send what there is room for: a host that takes nothing must not stop the board."""
    with suppress(BlockingIOError):
        os.write(board, data)
