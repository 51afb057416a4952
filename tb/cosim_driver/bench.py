"""The driver in C (sw/step_engine.c), compiled as it ships, on the bus of the simulated engine.

Settings: ``steps`` of the longest run, and ``calls`` (how many).
"""

from dataclasses import replace

from pymodel.arith.fp import Format
from pymodel.machine.isa import Machine
from tb.common.bench import Bench
from tb.common.configs import Config
from tb.common.step_engine import rtl_parameters

BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config("short", rtl_parameters(Machine()), {"steps": 8, "calls": 6}),
        Config(
            "half",
            rtl_parameters(replace(Machine(3, 5), fmt=Format(5, 10), depth=128, programs=3)),
            {"steps": 500, "calls": 60},
            ("verilator",),
        ),
    ],
)
