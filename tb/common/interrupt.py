"""Ctrl-C or SIGTERM under pytest: one line instead of the place in the code that it met."""

import signal
import threading
from types import FrameType
from typing import NoReturn

NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


class Interrupted(KeyboardInterrupt):
    """Pytest is ended, and prints this instead of a traceback; what has passed is kept."""


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    if number == signal.SIGTERM:  # who ends a group of processes may do so several times
        signal.signal(number, signal.SIG_IGN)
    raise Interrupted(f"ended by {NAMES[number]}")


def install() -> None:
    """Raise :class:`Interrupted` at these signals, which only the main thread can do."""
    if threading.current_thread() is threading.main_thread():
        for number in NAMES:
            signal.signal(number, _interrupt)
