"""Jobs of the step array; settings are those of :mod:`pymodel.hardware.cosim.array`."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pymodel.arith.fp import Format
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import array
from pymodel.hardware.step_array import rtl_parameters
from pymodel.machine.isa import Machine


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
#: Linearisations of a controller that looks ahead.
KNOTS = calls("iiwa14", ["dstep"], rows=4)
MANY = replace(NARROW, datapaths=8, depth=64, program_depth=1024, out_depth=16)
VERILATOR, ICARUS = ("verilator",), ("icarus",)
BENCH = array.bench(
    [
        Config(
            "iiwa",
            rtl_parameters(replace(NARROW, rare_logic=1)),
            {"jobs": [IIWA], "stalls": 0.3},
            VERILATOR,
            nightly=VERILATOR,
        ),
        Config(
            array.CONFIG,
            rtl_parameters(SHORT),
            {"jobs": [calls("iiwa14", ("ID", "FD"), rows=3)], "stalls": 0.3},
            ICARUS,
        ),
        Config(
            "not-finite",
            rtl_parameters(replace(SHORT, fmt=Format(4, 3))),
            {"jobs": [calls("iiwa14", ("FD", "ID"), rows=3)], "stalls": 0.3},
            ICARUS,
            nightly=ICARUS,
        ),
        Config(
            "floating",
            rtl_parameters(ROOMY),
            {"jobs": FLOATING, "quick": True},
            VERILATOR,
            long=True,
            nightly=VERILATOR,
        ),
        Config(
            "segments",
            rtl_parameters(SEGMENTED),
            {"jobs": [SEGMENTS], "stalls": 0.3, "quick": True},
            VERILATOR,
            nightly=VERILATOR,
        ),
        Config(
            "few-segments",
            rtl_parameters(replace(NARROW, scratch_depth=1024, out_depth=512)),
            {
                "jobs": [
                    calls("iiwa14", ["dFD"], rows=32) | {"chained": True},
                    KNOTS,
                ],
                "stalls": 0.3,
                "quick": True,
            },
            VERILATOR,
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
            VERILATOR,
            long=True,
            nightly=VERILATOR,
        ),
    ]
)
