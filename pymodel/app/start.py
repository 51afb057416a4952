"""How a command starts, and how Ctrl-C or the end of its reader, as ``| head``, ends it."""

import importlib
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TextIO

#: Exit status: 128 and the number of SIGINT, of SIGPIPE.
BAD_INPUT, INTERRUPTED, UNREAD = 2, 130, 141
MESSAGE = "ended by Ctrl-C"


def ended_by(interrupt: KeyboardInterrupt) -> str:
    """What to say of a command that was ended: by Ctrl-C, if the exception says no other."""
    return str(interrupt) or MESSAGE


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
        What ``main`` returns, the exit status; :data:`INTERRUPTED`; :data:`UNREAD` if nobody reads
        what it prints; :data:`BAD_INPUT`, after one line, for a file that fails unexpectedly.
    """
    listens = signal.getsignal(signal.SIGINT) == signal.default_int_handler  # or it is ignored
    if listens:
        signal.signal(signal.SIGINT, _end)  # no exception: others' modules may catch it
    sys.stdout = _kept(sys.stdout)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name that a terminal cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    main = importlib.import_module(module).main
    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            return main(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt as error:
        print(ended_by(error), file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _print_nothing_more()
        return UNREAD
    except OSError as error:  # such as a full disk, or a folder that cannot be written
        print(text_of(error), file=sys.stderr)
        _print_nothing_more()
        return BAD_INPUT
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # rich makes it an exit
            return UNREAD
        raise


def status_of(command: Callable[[], int]) -> int:
    """Run a command to its exit status; bad input and Ctrl-C are told on stderr in one line."""
    try:
        return command()
    except ValueError as error:
        print(error, file=sys.stderr)
    except BrokenPipeError:
        raise  # no file's: what is printed is not read
    except OSError as error:
        print(text_of(error), file=sys.stderr)
    except KeyboardInterrupt as error:
        print(f"{ended_by(error)}; this run leaves no files", file=sys.stderr)
        return INTERRUPTED
    return BAD_INPUT


def _kept(out: TextIO | None) -> TextIO:
    """Stdout that keeps a line that fails, and fails once more at the end.

    Without a buffer (PYTHONUNBUFFERED) it is lost, and argparse hides the error of the write since
    about Python 3.11.3.  A closed stdout (``>&-``) is one that nobody reads.
    """
    if out is None:
        return open(os.devnull, "w")
    if not (isinstance(out, io.TextIOWrapper) and out.write_through):
        return out
    return open(
        out.fileno(), "w", buffering=1, encoding=out.encoding, errors=out.errors, closefd=False
    )


def text_of(error: OSError) -> str:
    """The line that tells of a file that cannot be read or written."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def _print_nothing_more() -> None:
    """Keep what is left in buffers from failing once more when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _end(number: int, frame: FrameType | None) -> None:
    """End the process at once: it has done nothing yet."""
    print(MESSAGE, file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)
