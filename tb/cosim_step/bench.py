"""Whole runs on the step engine; settings are those of :mod:`pymodel.hardware.cosim.step`."""

from dataclasses import replace

from pymodel.arith.fp import Format
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import step
from pymodel.hardware.cosim.step import CONFIG
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine


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
    _run("driven_crank", steps=100),
    _run("bennett", integrator="euler", rebase=1),
]
OTHER = [
    _run("andrews", steps=20, project=7),
    _run("general_four_bar", steps=200, integrator="rk4", project=20),
    _run("bennett", steps=25, integrator="euler", project=10),
    _run("general_chain_2", steps=300, integrator="semi-implicit"),
    _run("general_four_bar", steps=100, integrator="implicit-midpoint", rebase=3),
    _run("double_pendulum", steps=200, contexts=8),
    _run("four_bar", steps=100, contexts=3, rebase=2),
    _run("four_bar", steps=50, contexts=3, project=5),
]
MIXED = [_run("general_chain_2", steps=200), _run("four_bar", steps=100)]
ENSEMBLES = [
    _run("double_pendulum", steps=200, contexts=8),
    _run("four_bar", steps=20, contexts=5, rebase=3, save=2),
]
SHORT = [_run("double_pendulum", steps=4), _run("four_bar", steps=3, rebase=2)]
SHORT += [_run("four_bar", steps=4, project=2)]
SHORT += [_run(name, steps=5, integrator="euler") for name in ("driven_arm", "slider_crank")]
BENCH = step.bench(
    [
        Config(
            CONFIG,
            rtl_parameters(ROOMY),
            {"runs": SHIPPED + OTHER},
            VERILATOR,
            long=True,
            nightly=VERILATOR,
        ),
        Config("short", rtl_parameters(DEFAULT), {"runs": SHORT}, ICARUS, nightly=ICARUS),
        Config(
            "half",
            rtl_parameters(replace(ROOMY, fmt=Format(5, 10))),
            {"runs": MIXED},
            VERILATOR,
            nightly=VERILATOR,
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
            nightly=ICARUS,
        ),
        Config(
            "combinational",
            rtl_parameters(COMBINATIONAL),
            {"runs": MIXED},
            VERILATOR,
            nightly=VERILATOR,
        ),
    ]
)
