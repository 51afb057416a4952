"""Whole runs on the step engine.

Settings: ``runs``, each with a ``scenario`` (path), and as wanted ``steps``, ``step`` (s),
``save``, ``integrator`` (default: the scenario's), ``contexts`` (copies that run interleaved),
``base`` and ``rebase``; ``out`` (folder for what the last run hands over); ``variations`` (folder
of :class:`tb.cosim_step.variations.Variations`).
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.arith.fp import Format
from pymodel.hardware import step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.places import ROOT
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load

IN_HARDWARE = "the whole step"
CONFIG = "programs"  # the configuration that runs of other scenarios derive from


def _run(name: str, **settings: int | float | str) -> dict[str, int | float | str]:
    return {"scenario": f"scenarios/{name}.toml"} | settings


DEFAULT = Machine()
ROOMY = replace(DEFAULT, depth=512, program_depth=4096)
COMBINATIONAL = replace(
    ROOMY, adders=1, multipliers=3, add_stages=0, mul_stages=0, rec_stages=0, sincos_stages=0
)
VERILATOR, ICARUS = ("verilator",), ("icarus",)
COARSE = 1e-3  # s: ten times the step of most scenarios
SHIPPED = [  # whole motions of scenarios/, in 1000 steps; the two demos have a test_demo each
    _run("general_four_bar", step=COARSE, rebase=1),
    _run("five_bar", step=COARSE, rebase=7, base="blocks", save=5),
    _run("compound_pendulum", step=COARSE),
    _run("general_chain_2"),
    _run("chain_8", step=COARSE, save=10),
    _run("tree", step=COARSE, save=10),
    _run("coupled_loops", step=COARSE, save=10, rebase=5),
    _run("driven_arm", save=10),
    _run("slider_crank", steps=1000),
    _run("bennett", integrator="euler", rebase=1),
]
OTHER = [
    _run("andrews", steps=20),
    _run("general_four_bar", steps=200, integrator="rk4"),
    _run("general_chain_2", steps=300, integrator="semi-implicit"),
    _run("general_four_bar", steps=100, integrator="implicit-midpoint", rebase=3),
    _run("double_pendulum", steps=200, contexts=8),
    _run("four_bar", steps=100, contexts=3, rebase=2),
]
MIXED = [_run("general_chain_2", steps=200), _run("four_bar", steps=100)]
ENSEMBLES = [
    _run("double_pendulum", steps=200, contexts=8),
    _run("four_bar", steps=20, contexts=5, rebase=3, save=2),
]
SHORT = [_run("double_pendulum", steps=4), _run("four_bar", steps=3, rebase=2)]
SHORT += [_run(name, steps=5, integrator="euler") for name in ("driven_arm", "slider_crank")]
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config(CONFIG, rtl_parameters(ROOMY), {"runs": SHIPPED + OTHER}, VERILATOR, long=True),
        Config("short", rtl_parameters(DEFAULT), {"runs": SHORT}, ICARUS),
        Config(
            "half", rtl_parameters(replace(ROOMY, fmt=Format(5, 10))), {"runs": MIXED}, VERILATOR
        ),
        Config(
            "barrel",
            rtl_parameters(replace(DEFAULT, contexts=8, read_stages=None, operand_stages=None)),
            {"runs": ENSEMBLES},
            VERILATOR,
        ),
        Config(  # which ends in what comes before the first step: nothing is traced
            "prologue",
            rtl_parameters(replace(DEFAULT, fmt=Format(4, 2))),
            {"runs": [_run("slider_crank", steps=20)]},
            ICARUS,
        ),
        Config("combinational", rtl_parameters(COMBINATIONAL), {"runs": MIXED}, VERILATOR),
    ],
    signals=step_watch.SIGNALS,
    modelled=step_watch.modelled,
)

#: Systems of one run start this far apart, rad or m: each has a trajectory of its own.
APART = 0.01


def systems(settings: dict[str, Any]) -> list[Scenario]:
    """The scenarios of a run: copies of one, the first joint moved a little in each but the first.

    Where it has many coordinates it moves along the first of its velocities.
    """
    first = load(ROOT / settings["scenario"], settings.get("steps"))
    given = {key: settings[key] for key in ("step", "save", "integrator") if settings.get(key)}
    first = replace(first, **given)
    unit = np.eye(first.nv)[0]
    others = [
        first.with_state(displaced(first, first.q0, APART * context * unit), first.qd0)
        for context in range(1, settings.get("contexts") or 1)
    ]
    return [first, *others]
