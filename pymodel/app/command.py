"""The command `hdca`, and `python -m pymodel`: chooses the subcommand and runs it.

Exit status: 0 done, 1 the answer is no (a run that broke off, results that differ), 2 bad input,
130 Ctrl-C; the last two in one line on stderr.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata

from pymodel.app import words
from pymodel.app.options import Asked, Command, meant
from pymodel.app.start import BAD_INPUT, INTERRUPTED, ended_by, text_of
from pymodel.app.table import COMMANDS, NAMED
from pymodel.arith.errors import Error

DISTRIBUTION = "hdca-accelerator"
HELP, VERSION = ("-h", "--help", "help"), "--version"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    if name in HELP:
        print(overview())
        return 0
    if name == VERSION:
        print(f"hdca {version()}")
        return 0
    if name not in NAMED:
        what = f"{name}: no such subcommand{meant(name, list(NAMED))}" if name else "say what to do"
        print(f"{words.program()}: {what} (see --help)", file=sys.stderr)
        return BAD_INPUT
    command = NAMED[name]
    return _run(command, lambda: command.parse(rest))


def of_make(
    name: str, variables: Mapping[str, str], before: Callable[[Asked], None] = lambda asked: None
) -> int:
    """Run a subcommand as make's variables ask for it.

    Parameters
    ----------
    name
        A subcommand, or its name in make.
    variables
        Of make, as they stand.
    before
        Is done before it runs, once nothing is refused.

    Returns
    -------
    int
        The exit status.
    """
    command = NAMED[name]

    def ask() -> Asked:
        asked = command.of_make(variables)
        before(asked)
        return asked

    spoke = words.speak_as(words.MAKE)
    try:
        return _run(command, ask)
    finally:
        words.speak_as(spoke)


def _run(command: Command, ask: Callable[[], Asked]) -> int:
    """Run a subcommand to its exit status; bad input and Ctrl-C are told in one line."""
    try:
        asked = ask()
        module, _, function = command.runs.partition(":")
        return getattr(importlib.import_module(module), function)(asked)
    except (Error, ValueError) as error:
        print(command.said(error), file=sys.stderr)
    except BrokenPipeError:
        raise  # no file's: what is printed is not read
    except OSError as error:
        print(text_of(error), file=sys.stderr)
    except KeyboardInterrupt as error:
        kept = "; this run leaves no files" if command.leaves_nothing else ""
        print(f"{ended_by(error)}{kept}", file=sys.stderr)
        return INTERRUPTED
    return BAD_INPUT


def overview() -> str:
    """What `--help` prints: all subcommands, a line each."""
    width = max(len(command.name) for command in COMMANDS)
    lines = [f"  {command.name:{width}}  {command.help}" for command in COMMANDS]
    own = words.program()
    return "\n".join(
        [
            f"usage: {own} <subcommand> ..., {own} <subcommand> --help, {own} --version",
            "",
            "Mechanisms by HDCA, on a bit-exact model, as native code, and in simulated hardware.",
            "",
            *lines,
        ]
    )


def version() -> str:
    """The version of the package, or that it is run from its repository."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "of this checkout, not installed"
