"""How a command starts and how Ctrl-C ends it: in one line, however early it comes."""

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

INTERRUPTED = 130  # exit status
MESSAGE = "ended by Ctrl-C"


def run_command(module: str, arguments: Sequence[str]) -> int:
    """Import a module, which takes most of a second, and run its ``main``.

    Parameters
    ----------
    module
        Name of a module with a function ``main``.
    arguments
        Those of the command line, which ``main`` takes.

    Returns
    -------
    int
        What ``main`` returns, the exit status; or :data:`INTERRUPTED`.
    """
    listens = signal.getsignal(signal.SIGINT) == signal.default_int_handler  # or it is ignored
    if listens:
        signal.signal(signal.SIGINT, _end)  # no exception: others' modules may catch it
    main = importlib.import_module(module).main
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return main(arguments)
    except KeyboardInterrupt:
        print(MESSAGE, file=sys.stderr)
        return INTERRUPTED


def _end(number: int, frame: FrameType | None) -> None:
    """End the process at once: it has done nothing yet."""
    print(MESSAGE, file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
