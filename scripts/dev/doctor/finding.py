"""What the doctor finds."""

import os
from typing import NamedTuple

OK, NOTE, MISSING = "ok", "note", "MISSING"  # NOTE: optional or worth knowing


class Finding(NamedTuple):
    """One row of the table; `fix` is a command or an advice, empty when nothing is to do."""

    what: str
    state: str
    found: str
    fix: str = ""


def sudo(command: str) -> str:
    """The command, run by root."""
    return command if os.geteuid() == 0 else "sudo " + command
