"""Ctrl-C under pytest: one line instead of the place in the code that it happened to meet."""

import signal
import threading
from types import FrameType
from typing import NoReturn


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed; pytest ends, and prints this instead of a traceback."""


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Interrupted("ended by Ctrl-C")


def install() -> None:
    """Raise :class:`Interrupted` at Ctrl-C, which only the main thread can do."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _interrupt)
