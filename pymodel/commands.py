"""How a command starts, and how Ctrl-C or the end of its reader, as ``| head``, ends it."""

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

INTERRUPTED, UNREAD = 130, 141  # exit status: 128 and the number of SIGINT, of SIGPIPE
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
        What ``main`` returns, the exit status; or :data:`INTERRUPTED`, or :data:`UNREAD` if nobody
        reads what it prints.
    """
    listens = signal.getsignal(signal.SIGINT) == signal.default_int_handler  # or it is ignored
    if listens:
        signal.signal(signal.SIGINT, _end)  # no exception: others' modules may catch it
    main = importlib.import_module(module).main
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            return main(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print(MESSAGE, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the rest
        return UNREAD
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # rich makes it an exit
            return UNREAD
        raise


def _end(number: int, frame: FrameType | None) -> None:
    """End the process at once: it has done nothing yet."""
    print(MESSAGE, file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
