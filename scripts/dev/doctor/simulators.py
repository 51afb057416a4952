"""The simulators, and what Verilator needs."""

import os
import shutil
import subprocess
from pathlib import Path

from scripts.dev.doctor.finding import MISSING, NOTE, OK, Finding, sudo
from scripts.dev.doctor.versions import dotted, output, version_in
from scripts.kernel.places import ROOT

VERILATOR_NEEDED = (5, 44)  # see scripts/dev/get_verilator.sh
ICARUS_NEEDED = (11, 0)


def check_icarus() -> Finding:
    """Icarus Verilog, old ones refused."""
    fix = sudo("apt-get install -y iverilog")
    path = shutil.which("iverilog")
    if not path or not shutil.which("vvp"):
        return Finding("Icarus Verilog", MISSING, "none", fix)
    version = version_in(output(path, "-V"), r"version (\d+)\.(\d+)")
    found = f"{'.'.join(map(str, version)) or 'unknown version'} ({path})"
    if version and version < ICARUS_NEEDED:
        return Finding("Icarus Verilog", MISSING, f"{found}, needed: 11.0", fix)
    return Finding("Icarus Verilog", OK, found)


def check_verilator(root: Path = ROOT) -> "list[Finding]":
    """Verilator, old ones refused, and a variable that misleads it."""
    findings = []
    stale = os.environ.get("VERILATOR_ROOT")
    if stale:
        said = f"set to {stale}: make ignores it, other commands may refuse to run"
        findings.append(Finding("VERILATOR_ROOT", NOTE, said, "unset VERILATOR_ROOT"))
    if len(str(root).split()) > 1:  # as in scripts/dev/get_verilator.sh
        said = "builds in no folder with a space in its path; Icarus alone is slower"
        return [*findings, Finding("Verilator", NOTE, said, "move this folder")]
    environment = {k: v for k, v in os.environ.items() if k != "VERILATOR_ROOT"}
    own = root / ".tools" / "verilator" / "usr" / "bin" / "verilator"
    on_path = shutil.which("verilator")
    candidates = [str(own)] if own.exists() else []  # what the Makefile puts first on PATH
    candidates += [on_path] if on_path and on_path != str(own) else []
    too_old = []
    for path in candidates:
        said = output(path, "--version", env=environment)
        version = version_in(said, r"Verilator (\d+)\.(\d+)")
        found = f"{dotted(version)} ({path})"
        if version >= VERILATOR_NEEDED:
            return [*findings, Finding("Verilator", OK, found)]
        too_old.append(found)
    found = f"too old: {', '.join(too_old)}" if too_old else "none"
    found += f", needed: {dotted(VERILATOR_NEEDED)}; Icarus alone is slower"
    return [*findings, Finding("Verilator", NOTE, found, "scripts/dev/get_verilator.sh")]


def check_compiler() -> Finding:
    """A C++ compiler, for Verilator."""
    path = shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if path:
        return Finding("C++ compiler", OK, f"{output(path, '--version').splitlines()[0]} ({path})")
    return Finding("C++ compiler", NOTE, "none: no Verilator", sudo("apt-get install -y g++"))


def check_fst_headers() -> Finding:
    """What Verilator's FST writer includes."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return Finding("zlib, lz4", NOTE, "not looked for without a compiler")
    probe = subprocess.run(
        [compiler, "-E", "-x", "c++", "-"],
        input=b"#include <zlib.h>\n#include <lz4.h>\n",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if probe.returncode == 0:
        return Finding("zlib, lz4", OK, "headers found (FST waveforms under Verilator)")
    fix = sudo("apt-get install -y zlib1g-dev liblz4-dev")
    return Finding("zlib, lz4", NOTE, "headers missing: perhaps no WAVES=1 under Verilator", fix)


def check_ccache() -> Finding:
    """ccache, for quicker builds."""
    path = shutil.which("ccache")
    if path:
        return Finding("ccache", OK, path)
    return Finding("ccache", NOTE, "none: builds take longer", sudo("apt-get install -y ccache"))
