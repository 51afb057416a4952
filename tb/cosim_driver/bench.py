"""The driver in C (sw/step_engine.c), compiled as it ships, on the bus of the simulated engine.

Settings: ``steps`` of the longest run, ``functions`` of a robot, and ``calls`` of them (how many).
"""

from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine

TRACE_DEPTH = 32  # fewer words than the longest run traces: the engine waits for the driver
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config(
            "short",
            rtl_parameters(Machine()) | {"TRACE_DEPTH": TRACE_DEPTH},
            {"steps": 8, "functions": ["ID", "M"], "calls": 6},
            nightly=("icarus",),
            daily={"calls": 3},
        ),
    ],
)
