"""Functions of robots and ensembles of mechanisms on the step array, streamed.

Settings: ``jobs``. Each is of calls, with a ``robot`` (path), ``functions``, ``rows`` (calls of
each, on random states) or ``inputs`` (path of a table), and ``floating``; with ``chained`` they
are dFD alone, in segments that repeat over columns. Or it is an ensemble, with a
``scenario`` (path), its ``steps`` and ``save``, and how many ``systems``. ``stalls``: both streams
are held back at random in this part of the cycles. ``out``: folder for what the last job of calls
hands over. ``quick``: programs are scheduled at the first try.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from pymodel.arith.fp import Format
from pymodel.compile.chains import Chain
from pymodel.compile.kernel import Kernel
from pymodel.compile.robot_kernels import chained, recorded
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.places import ROOT
from pymodel.hardware.step_array import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load

CONFIG = "short"  # the configuration that calls of other robots derive from
TEST = "jobs"  # its cocotb test
STREAMS = {"in_depth": 2, "out_depth": 2}  # of a machine that is to be fitted
SPREAD = 0.2  # of the masses, lengths and states of an ensemble


def calls(
    robot: str, functions: Iterable[str], rows: int, floating: bool = False
) -> dict[str, Any]:
    """Make a job of functions of a robot."""
    return {
        "robot": f"robots/{robot}.urdf",
        "functions": list(functions),
        "rows": rows,
        "floating": floating,
    }


def mechanisms(name: str, steps: int, save: int, systems: int) -> dict[str, Any]:
    """Make a job of an ensemble."""
    return {
        "scenario": f"scenarios/{name}.toml",
        "steps": steps,
        "save": save,
        "systems": systems,
    }


@cache
def robot_of(path: str, floating: bool) -> Robot:
    """The robot of a job."""
    return reduced(urdf.load(ROOT / path, floating))


def kernels(job: dict[str, Any]) -> dict[str, Kernel | Chain]:
    """Function -> kernel, or chain of kernels, of a job of calls."""
    robot = robot_of(job["robot"], job["floating"])
    if job.get("chained"):
        return {name: chained(robot) for name in job["functions"]}
    return {name: recorded(robot, name) for name in job["functions"]}


def scenarios(job: dict[str, Any], rng: np.random.Generator) -> list[Scenario]:
    """The mechanisms of an ensemble: parameters, and where no loop forbids it states, at random."""
    first = replace(load(ROOT / job["scenario"], job["steps"]), save=job["save"])
    return [_varied(first, rng) for _ in range(job["systems"])]


def _varied(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    bodies = []
    for body in scenario.bodies:
        mass, inertia = 1 + SPREAD * rng.uniform(-1, 1, 2)
        bodies.append(replace(body, mass=mass * body.mass, inertia=inertia * body.inertia))
    found = replace(scenario, bodies=tuple(bodies))
    if found.loops:
        return found
    apart = displaced(found, found.q0, SPREAD * rng.normal(size=found.nv))
    return found.with_state(apart, found.qd0)


FUNCTIONS = ("ID", "FD", "M", "Minv", "dID", "dFD", "diFD")
STATES = 256  # of each function of a robot
IIWA = calls("iiwa14", FUNCTIONS, rows=STATES)
#: Without Atlas' dFD and diFD, which take minutes to schedule.
FLOATING = [
    calls("hyq", FUNCTIONS, rows=STATES, floating=True),
    calls("atlas", ("ID", "FD", "dID"), rows=STATES, floating=True),
]
#: Small enough for Icarus.
SHORT = Machine(
    1, 1, contexts=2, datapaths=2, depth=128, program_depth=1024, in_depth=32, out_depth=8
)
NARROW = Machine(contexts=8, datapaths=2, depth=256, program_depth=8192, in_depth=64, out_depth=128)
ROOMY = replace(
    NARROW,
    adders=4,
    multipliers=4,
    depth=512,
    program_depth=1 << 14,
    in_depth=512,
    out_depth=2048,
)
SEGMENTED = replace(ROOMY, scratch_depth=1024)
SEGMENTS = calls("hyq", ["dFD"], rows=32, floating=True) | {"chained": True}
MANY = replace(NARROW, datapaths=8, depth=64, program_depth=1024, out_depth=16)
BENCH = Bench(
    __file__,
    toplevel="step_array",
    configs=[
        Config(
            "iiwa",
            rtl_parameters(NARROW),
            {"jobs": [IIWA], "stalls": 0.3},
            ("verilator",),
        ),
        Config(
            CONFIG,
            rtl_parameters(SHORT),
            {"jobs": [calls("iiwa14", ("ID", "FD"), rows=3)], "stalls": 0.3},
            ("icarus",),
        ),
        Config(
            "not-finite",
            rtl_parameters(replace(SHORT, fmt=Format(4, 3))),
            {"jobs": [calls("iiwa14", ("FD", "ID"), rows=3)], "stalls": 0.3},
            ("icarus",),
        ),
        Config(
            "floating",
            rtl_parameters(ROOMY),
            {"jobs": FLOATING, "quick": True},
            ("verilator",),
            long=True,
        ),
        Config(
            "segments",
            rtl_parameters(SEGMENTED),
            {"jobs": [SEGMENTS], "stalls": 0.3, "quick": True},
            ("verilator",),
        ),
        Config(
            "ensembles",
            rtl_parameters(MANY),
            {
                "jobs": [
                    mechanisms("double_pendulum", 1000, 100, 64),
                    mechanisms("four_bar", 1000, 100, 64),
                ]
            },
            ("verilator",),
            long=True,
        ),
    ],
)
