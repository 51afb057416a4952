"""The machine that measures."""

import os
import platform
import subprocess
from pathlib import Path


def processor() -> str:
    """Name of the processor, as Linux gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def compiler(command: str) -> str:
    """First line of what a compiler says of its version; "none" without one."""
    try:
        told = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "none"
    return told.stdout.partition("\n")[0]


def stay_on_one_core() -> None:
    """Run on one core from here on, where the system lets a process choose; children, too."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
