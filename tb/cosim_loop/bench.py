"""A robot under control on the step engine: whole steps, plant and controller.

Settings: ``robot`` (path), ``steps``, and ``out`` (folder for what the run hands over), if wanted.
"""

from dataclasses import replace

from pymodel.arith.fp import Format
from pymodel.hardware import step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine

CONFIG = "second"  # the configuration that runs of other robots derive from
TEST = "closed_loop"  # the cocotb test
DEFAULT = Machine()
IIWA, HYQ = "robots/iiwa14.urdf", "robots/hyq.urdf"
WIDE = replace(DEFAULT, adders=4, multipliers=4)
VERILATOR, ICARUS = ("verilator",), ("icarus",)
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config(CONFIG, rtl_parameters(DEFAULT), {"robot": IIWA, "steps": 1000}, VERILATOR),
        Config("wide", rtl_parameters(WIDE), {"robot": HYQ, "steps": 100}, VERILATOR),
        Config(
            "half",
            rtl_parameters(replace(DEFAULT, fmt=Format(5, 10))),
            {"robot": IIWA, "steps": 100},
            VERILATOR,
        ),
        Config("short", rtl_parameters(DEFAULT), {"robot": IIWA, "steps": 5}, ICARUS),
    ],
    signals=step_watch.SIGNALS,
    modelled=step_watch.modelled,
)
