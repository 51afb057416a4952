"""Python and its packages."""

import re
import sys
from pathlib import Path

from scripts.dev.doctor.finding import MISSING, OK, Finding, sudo
from scripts.dev.doctor.versions import output
from scripts.kernel.places import ROOT

PYTHON_NEEDED = (3, 11)


def check_python() -> Finding:
    """The Python that runs the doctor."""
    found = f"{sys.version.split()[0]} ({sys.executable})"
    if sys.version_info[:2] >= PYTHON_NEEDED:
        return Finding("Python", OK, found)
    fix = sudo("apt-get install -y python3 python3-venv") + ", then make PYTHON=python3.11 ..."
    return Finding("Python", MISSING, f"{found}, needed: 3.11", fix)


def normal(name: str) -> str:
    """The normal form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(requirements: Path) -> "dict[str, str]":
    """The ==-pins of a requirements file, names in their normal form."""
    pins = re.findall(r"^([\w.-]+)==([^\s;#]+)", requirements.read_text(), re.M)
    return {normal(name): version for name, version in pins}


def check_packages(root: Path = ROOT) -> Finding:
    """The packages of .venv, compared with the pins of requirements.txt."""
    python = root / ".venv" / "bin" / "python"
    if not python.exists():
        return Finding(".venv", MISSING, "not made yet", "make setup")
    listing = "import importlib.metadata as m\nfor d in m.distributions(): print(d.name, d.version)"
    installed = {}
    for line in output(str(python), "-c", listing).splitlines():
        name, _, version = line.partition(" ")
        installed[normal(name)] = version
    pins = pinned(root / "requirements.txt")
    wrong = [
        f"{name} {installed.get(name, 'missing')} (pinned: {version})"
        for name, version in pins.items()
        if installed.get(name) != version
    ]
    if wrong:
        return Finding(".venv", MISSING, "; ".join(wrong), "rm -f .venv/.stamp && make setup")
    return Finding(".venv", OK, f"all {len(pins)} pinned packages")
