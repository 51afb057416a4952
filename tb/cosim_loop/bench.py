"""A robot under control; settings are those of :mod:`pymodel.hardware.cosim.loop`."""

from dataclasses import replace

from pymodel.arith.fp import Format
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import loop
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine

DEFAULT = Machine()
IIWA, HYQ = "robots/iiwa14.urdf", "robots/hyq.urdf"
WIDE = replace(DEFAULT, adders=4, multipliers=4)
VERILATOR, ICARUS = ("verilator",), ("icarus",)
BENCH = loop.bench(
    [
        Config(
            loop.CONFIG,
            rtl_parameters(DEFAULT),
            {"robot": IIWA, "steps": 1000},
            VERILATOR,
            daily={"steps": 100},
        ),
        Config(
            "wide",
            rtl_parameters(WIDE),
            {"robot": HYQ, "steps": 100},
            VERILATOR,
            nightly=VERILATOR,
        ),
        Config(
            "half",
            rtl_parameters(replace(DEFAULT, fmt=Format(5, 10))),
            {"robot": IIWA, "steps": 100},
            VERILATOR,
            nightly=VERILATOR,
        ),
        Config(
            "short",
            rtl_parameters(DEFAULT),
            {"robot": IIWA, "steps": 5},
            ICARUS,
            nightly=ICARUS,
        ),
    ]
)
