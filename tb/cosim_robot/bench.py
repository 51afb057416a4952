"""Rigid-body functions of robots; settings are those of :mod:`pymodel.hardware.cosim.robot`."""

from collections.abc import Iterable
from typing import Any

from pymodel.algorithms.rigid_body.functions import CONSTRAINED, FUNCTIONS, HYBRID
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import robot
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine


def _calls(
    name: str,
    functions: Iterable[str] = FUNCTIONS,
    rows: int = 16,
    floating: bool = False,
    **more: Any,
) -> list[dict[str, Any]]:
    """Functions of a robot, the seven unless named."""
    path = name if "." in name else f"{name}.urdf"
    asked = {"robot": f"robots/{path}", "rows": rows, "floating": floating, **more}
    return [{**asked, "function": function} for function in functions]


IIWA, HYQ = _calls("iiwa14"), _calls("hyq", floating=True)
#: Of MuJoCo's format, under a gravity that is not along an axis, and with mimic joints.
OTHERS = [
    *_calls("quadruped.xml", ("ID", "dFD"), rows=4),
    *_calls("quadruped.xml", ("FD",), rows=4, gravity=[1.0, -2.0, -9.0]),
    *_calls("gripper", rows=4),
    *_calls("gripper", HYBRID, rows=4, fixed_acceleration=["drive"]),
    *_calls("closed_leg", CONSTRAINED, rows=4),
]
#: Joints of several degrees of freedom and helical ones.
JOINTS = [
    *_calls("mobile_arm", ("ID", "dFD"), rows=4),
    *_calls("tethered", ("FD", "dID"), rows=4),
]
#: Functions of links as they are.
LINKS = [
    *_calls("quadruped.xml", ("FK", "J"), rows=4, link="rh_shank"),
    *_calls("gripper", ("FK", "energy", "com", "Y"), rows=4, floating=True),
    *_calls("tethered", ("FK", "energy", "com"), rows=4),
    *_calls("gripper", ("J", "Jbody"), rows=4, link="right_tip"),
]
#: Discrete steps and their derivatives.
STEPS = [
    *_calls("gripper", ("step", "dstep", "rk4"), rows=4),
    *_calls("gripper", ("rk4",), rows=2, floating=True),
]
#: Without dFD and diFD: they fit (6000 words of 800 bits), but take minutes to schedule and load.
ATLAS = [
    *_calls("atlas", ("ID", "FD", "M", "Minv"), floating=True),
    *_calls("atlas", ("dID",), rows=4, floating=True),
]
#: In `make test`: HyQ's largest programs take seconds each to schedule.
#: Machines that hold the largest program of their configurations.
SHORT = Machine(depth=256)
NARROW = Machine(depth=1024, program_depth=8192, trace_registers=512)
WIDE = Machine(8, 8, depth=512, program_depth=2048, trace_registers=2048)
BARRELS = {  # contexts -> functions; two evaluations of 4, one of 8
    4: _calls("iiwa14", ("ID", "dFD"), rows=8),
    8: _calls("iiwa14", rows=8),
}
VERILATOR, ICARUS = ("verilator",), ("icarus",)
BENCH = robot.bench(
    [
        Config(
            robot.CONFIG,
            rtl_parameters(NARROW),
            {"calls": IIWA + HYQ + OTHERS + JOINTS + LINKS + STEPS},
            VERILATOR,
            nightly=VERILATOR,
        ),
        Config(
            "wide",
            rtl_parameters(WIDE),
            {"calls": IIWA + HYQ + ATLAS},
            VERILATOR,
            nightly=VERILATOR,
        ),
        *(
            Config(
                f"barrel-of-{n}",
                rtl_parameters(Machine(depth=256, trace_registers=1024, contexts=n)),
                {"calls": calls},
                VERILATOR,
                nightly=VERILATOR if n == 4 else (),
            )
            for n, calls in BARRELS.items()
        ),
        Config(
            "short",
            rtl_parameters(SHORT),
            {"calls": _calls("iiwa14", rows=2)},
            ICARUS,
            daily={"calls": _calls("iiwa14", ("ID", "FD", "M"), rows=2)},
        ),
    ]
)
