"""Compile and run the small programs that time other libraries."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from scripts.kernel.machine import processor
from scripts.kernel.places import BUILD

SOURCES = Path(__file__).parent
OUT = BUILD / "bench" / "peers"


class PeerError(RuntimeError):
    """A peer that cannot be timed; one line says why."""


def version_of(package: str) -> str:
    """Version of an installed package.

    Raises
    ------
    PeerError
        If it is not installed.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        raise PeerError(f"the package {package} is missing: scripts/dev/setup.sh bench") from None


def compiled(source: Path, compiler: str, flags: Sequence[str], packages: Sequence[str]) -> Path:
    """Compile a program, unless the same was compiled before.

    Parameters
    ----------
    source : Path
    compiler : str
        ``g++`` or ``gcc``.
    flags : sequence of str
    packages : sequence of str
        Those whose headers it includes.

    Returns
    -------
    Path
        The program.

    Raises
    ------
    PeerError
        If a package or the compiler is missing, or the compiler refuses.
    """
    versions = [f"{package} {version_of(package)}" for package in packages]
    if not shutil.which(compiler):
        raise PeerError(f"no compiler: {compiler} is missing")
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    content = "\n".join([told, processor(), *flags, *versions, *_texts(source)])
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    program = OUT / f"{source.stem}-{digest}"
    if program.exists():
        return program
    OUT.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_name(f"{program.name}-{os.getpid()}")
    command = [compiler, str(source), *flags, "-o", str(unfinished)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        wrong = [line for line in done.stderr.splitlines() if "error" in line] or [done.stderr]
        raise PeerError(f"{source.name} does not compile: {wrong[0].strip()}")
    return unfinished.rename(program)


def _texts(source: Path) -> list[str]:
    """Text of a program and of the files beside it that it includes."""
    text = source.read_text()
    beside = [source.with_name(name) for name in re.findall(r'^#include "(.+)"$', text, re.M)]
    return [text, *(other for path in beside for other in _texts(path))]


def output(program: Path, arguments: Sequence[str], given: str) -> list[str]:
    """Run a program: the lines that it prints.

    Raises
    ------
    PeerError
        If it fails.
    """
    done = subprocess.run([str(program), *arguments], input=given, capture_output=True, text=True)
    if done.returncode:
        raise PeerError(f"{program.name} failed: {done.stderr.strip() or done.returncode}")
    return done.stdout.splitlines()


def numbers(values: Sequence[float]) -> str:
    """Write numbers so that they are read back exactly."""
    return " ".join(repr(float(x)) for x in values)


def check(name: str, found: np.ndarray, right: np.ndarray, bound: float) -> None:
    """Compare a peer's results with the model's.

    Parameters
    ----------
    name : str
    found, right : numpy.ndarray
        Of one shape; rows are states.
    bound : float
        Largest difference, relative to the largest value of a state.

    Raises
    ------
    PeerError
        If they differ: a time would then mean nothing.
    """
    if found.shape != right.shape:
        raise PeerError(f"{name} gives {found.shape} values, the model {right.shape}")
    scale = np.abs(right).max(axis=1, keepdims=True)
    error = float((np.abs(found - right) / scale).max())
    if not error <= bound:
        raise PeerError(f"{name} differs from the model by {error:.2g}, more than {bound:g}")
