"""Who speaks: `hdca`, whose options are `--steps 3`, or make, whose variables are `STEPS=3`.

Messages are written as `hdca` says them; :func:`said` puts them into make's words where make's
front end has called.  A message names an option by its dashes, and its value right behind it.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

MAKE, HDCA = "make", "hdca"

_front = HDCA


def speak_as(front: str) -> str:
    """Choose who speaks, :data:`HDCA` or :data:`MAKE`; returns who did before."""
    global _front
    before, _front = _front, front
    return before


def by_make() -> bool:
    """Whether make's front end has called."""
    return _front == MAKE


def program() -> str:
    """How this program was called."""
    own = os.path.basename(sys.argv[0]) if sys.argv else ""
    return HDCA if own == HDCA else "python -m pymodel"


def variable(option: str) -> str:
    """What make calls an option."""
    return option.replace("-", "_").upper()


def said(text: str, switches: Mapping[str, str], arguments: Mapping[str, str]) -> str:
    """A message in the words of who speaks.

    Parameters
    ----------
    text
        As `hdca` says it.
    switches
        Options without a value: name -> the variable and its value in make, ``WAVES=1``.
    arguments
        Options with a value, and arguments in capitals: name -> variable.
    """
    if not by_make():
        return text

    def of_option(match: re.Match[str]) -> str:
        name, follows = match.groups()
        if name in switches:
            return switches[name] + follows
        if name not in arguments:
            return match[0]
        return arguments[name] + ("=" if follows else "")

    # A value follows a space; a sentence that goes on behind an option has a comma before it.
    text = re.sub(r"(?<![^\s(])--([a-z][a-z-]*)( (?=\S)|)", of_option, text)
    names = "|".join(name for name in arguments if name.isupper())
    return re.sub(rf"^({names}) (?=\S)", r"\1=", text) if names else text


def command_line(command: str, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """A line for a shell, in the words of who speaks; what is None or False is left out.

    Parameters
    ----------
    command
        Name of the subcommand.
    arguments
        What has no dashes, in its order: name in make -> value.
    options
        Name -> value; True for one without.
    """
    given = {name: x for name, x in options.items() if x is not None and x is not False}
    if by_make():
        words = [f"{variable(name)}={x}" for name, x in arguments.items()]
        for name, x in given.items():
            text = " ".join(x) if isinstance(x, list) else 1 if x is True else x
            words.append(f"{variable(name)}={text}")
        return shlex.join([MAKE, command, *words])
    words = [str(x) for x in arguments.values()]
    for name, x in given.items():
        for each in x if isinstance(x, list) else [x]:
            if str(each).startswith("-"):  # no option
                words.append(f"--{name}={each}")
            else:
                words += [f"--{name}"] if each is True else [f"--{name}", str(each)]
    return f"{program()} {shlex.join([command, *words])}"
