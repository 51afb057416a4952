"""MuJoCo's time of a step of a mechanism, by mujoco.c."""

import importlib.util
from pathlib import Path

import numpy as np

from pymodel.mechanism.scenario import Scenario
from scripts.evidence.benchmarks.peers import building
from scripts.evidence.benchmarks.peers.building import PeerError
from scripts.evidence.benchmarks.peers.mjcf import mjcf
from scripts.evidence.benchmarks.peers.states import accelerations, moving

NAME = "MuJoCo"
CALL = "mj_step"
FLAGS = ("-O3", "-march=native", "-DNDEBUG")
#: Largest difference of accelerations, by the largest: MuJoCo's pins are never quite rigid.
AGREES = {False: 1e-9, True: 1e-3}
SHOWN = 8  # states whose accelerations are compared


def build() -> Path:
    """Compile the program.

    Raises
    ------
    PeerError
        If MuJoCo or a compiler is missing.
    """
    version = building.version_of("mujoco")
    package = Path(importlib.util.find_spec("mujoco").origin).parent
    library = package / f"libmujoco.so.{version}"
    if not library.exists():
        raise PeerError(f"MuJoCo {version} has no {library.name}")
    link = ("-I", str(package / "include"), str(library), f"-Wl,-rpath,{package}", "-lm")
    return building.compiled(building.SOURCES / "mujoco.c", "gcc", (*FLAGS, *link), ["mujoco"])


def step_ns(program: Path, scenario: Scenario, budget: float) -> float:
    """Time a step, the fastest of many runs from the scenario's initial state.

    Parameters
    ----------
    program : Path
        What :func:`build` gave.
    scenario : Scenario
    budget : float
        Seconds to spend.

    Returns
    -------
    float
        ns.

    Raises
    ------
    PeerError
        If it computes something else.
    """
    q, qd = moving(scenario, SHOWN)
    path = building.OUT / f"{scenario.name}.xml"
    path.write_text(mjcf(scenario))
    given = building.numbers(np.hstack((q, qd)).ravel())
    arguments = [str(path), str(scenario.steps), repr(budget), str(SHOWN)]
    *shown, ns = building.output(program, arguments, given)
    found = np.array([line.split() for line in shown], float)
    building.check(
        f"{NAME}'s {CALL}", found, accelerations(scenario, q, qd), AGREES[bool(scenario.loops)]
    )
    return float(ns)
