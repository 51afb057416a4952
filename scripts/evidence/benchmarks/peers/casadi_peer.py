"""Time of C code that CasADi generates from Pinocchio's algorithms, as optimal control has it."""

import hashlib
import importlib.util
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from pymodel.mechanism.robot import Robot
from scripts.evidence.benchmarks.peers import building, pinocchio_peer
from scripts.evidence.benchmarks.peers.pinocchio_peer import CALLS, SHOWN

NAME = "CasADi"
GENERATOR_FLAGS = ("-std=c++17", "-O1", "-DNDEBUG")  # it writes text: seconds, not minutes
CALL_FLAGS = ("-O3", "-march=native", "-DNDEBUG")


def build() -> Path:
    """Compile the program that generates code: some minutes, once.

    Raises
    ------
    PeerError
        If CasADi, a compiler or headers are missing.
    """
    building.version_of("casadi")
    package = Path(importlib.util.find_spec("casadi").origin).parent
    library = package / "libcasadi.so"
    link = ("-isystem", str(package / "include"), str(library), f"-Wl,-rpath,{package}")
    flags = (*GENERATOR_FLAGS, *pinocchio_peer.include_flags(), *link)
    source = building.SOURCES / "pinocchio_casadi.cpp"
    return building.compiled(source, "g++", flags, [*pinocchio_peer.PACKAGES, "casadi"])


def robot_ns(
    generator: Path, robot: Robot, functions: Sequence[str], budget: float
) -> dict[str, float]:
    """Time a robot's functions as generated C; see :func:`pinocchio_peer.robot_ns`."""
    its, states, right = pinocchio_peer.robot_states(robot, functions)
    model, count = pinocchio_peer.model_text(its), len(states.q)
    given = f"{count} {SHOWN} {budget!r}\n{states.text()}\n"
    times = {}
    for function in functions:
        call = CALLS[function]
        ns, *shown = building.output(_program(generator, model, call), (), given)
        found = np.array([line.split() for line in shown], float)
        building.check(f"{NAME}'s {call}", found, right[call], pinocchio_peer.AGREES)
        times[function] = float(ns)
    return times


@cache
def _program(generator: Path, model: str, call: str) -> Path:
    """The program that times one call of a robot."""
    digest = hashlib.sha256(model.encode()).hexdigest()[:16]
    folder = building.OUT / f"{generator.name}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    code = folder / f"{call}.c"
    if not code.exists():
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            building.output(generator, [unfinished, call], model)
            (Path(unfinished) / code.name).rename(code)
    text = building.SOURCES / "casadi_call.c"
    flags = (*CALL_FLAGS, f'-DCODE="{code}"', "-lm")
    return building.compiled(text, "gcc", flags, ["casadi"])
