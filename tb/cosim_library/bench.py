"""Several programs on one step engine, called in any order, their parameters exchanged meanwhile.

Settings: ``programs`` (names of :data:`PROGRAMS`) and ``calls`` (how many).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from pymodel.arith.fp import Format
from pymodel.arith.scalars import SupportsArithmetic
from pymodel.compile import robot_kernels
from pymodel.compile.kernel import Function, Kernel, record
from pymodel.compile.registry import recorded
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.places import ROOT
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load


class Source(NamedTuple):
    """A program: whose parameters and carried values it has, and its kernel.

    The kernel is a function of a factor on its parameters, for which they are exchanged; ``state``
    has the carried values to begin with.
    """

    owner: str
    kernel: Callable[[float], Kernel]
    state: dict[str, float]


def product(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give a scaled product, and an output that is a copy."""
    a, b = values["a"], values["b"]
    return {"result": values["gain"] * a * b, "negative": -(a + b)}


def quotient(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give a quotient, and what depends on parameters alone."""
    b, c, gain, offset = (values[name] for name in ("b", "c", "gain", "offset"))
    return {"result": b * arithmetic.recip(c * c + offset * offset) + gain * offset}


def low_pass(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
    """Carry a filtered input, and show it scaled."""
    filtered = values["filtered"]
    return {"filtered": filtered * values["decay"] + values["a"], "shown": filtered * filtered}


def _plain(
    function: Function, inputs: str, state: Mapping[str, float] | None = None, **parameters: float
) -> Source:
    state = dict(state or {})

    def kernel(factor: float) -> Kernel:
        return record(function, inputs, state, {n: factor * x for n, x in parameters.items()})

    return Source("plain", kernel, state)


def _of_scenario(name: str, function: str) -> Source:
    """A function of a mechanism; its masses and gravity are exchanged."""
    scenario: Scenario = load(ROOT / "scenarios" / f"{name}.toml")

    def kernel(factor: float) -> Kernel:
        bodies = [replace(body, mass=factor * body.mass) for body in scenario.bodies]
        gravity = tuple(factor * g for g in scenario.gravity)
        return recorded(function, replace(scenario, bodies=bodies, gravity=gravity))

    angles = {f"q[{k}]": float(q) for k, q in enumerate(scenario.q0)}
    momenta = {f"p[{k}]": 0.0 for k in range(scenario.nv)}
    return Source(name, kernel, angles | momenta if function == "step" else {})


def _of_robot(name: str, function: str) -> Source:
    """A rigid-body function of a robot; the masses of its links are exchanged."""
    robot = urdf.load(ROOT / "robots" / f"{name}.urdf", snap=SNAP)

    @cache
    def kernel(factor: float) -> Kernel:
        links = tuple(replace(link, inertia=factor * link.inertia) for link in robot.links)
        heavy = reduced(replace(robot, links=links))
        return robot_kernels.recorded(heavy, function, parameters_as_data=True)

    return Source(name, kernel, {})


#: Programs by name; all share their inputs.
PROGRAMS = {
    "product": _plain(product, "ab", gain=0.75),
    "quotient": _plain(quotient, "bc", gain=0.75, offset=1.5),
    "low pass": _plain(low_pass, "a", {"filtered": 0.0}, decay=0.4),
    "pendulum step": _of_scenario("double_pendulum", "step"),
    "pendulum rates": _of_scenario("double_pendulum", "rates"),
    "four-bar step": _of_scenario("four_bar", "step"),
    "arm ID": _of_robot("iiwa14", "ID"),
    "arm FD": _of_robot("iiwa14", "FD"),
    "arm M": _of_robot("iiwa14", "M"),
    "arm dID": _of_robot("iiwa14", "dID"),
}

ARM = [name for name in PROGRAMS if name.startswith("arm")]
ALL = {"programs": [name for name in PROGRAMS if name not in ARM], "calls": 300}
ROOMY = replace(Machine(), depth=512, program_depth=4096)
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config("library", rtl_parameters(ROOMY), ALL, ("verilator",), daily={"calls": 100}),
        Config(
            "robot",
            rtl_parameters(replace(ROOMY, trace_registers=256)),
            {"programs": [*ARM, "four-bar step"], "calls": 100},
            ("verilator",),
            nightly=("verilator",),
        ),
        Config(
            "short",
            rtl_parameters(Machine()),
            {"programs": [*PROGRAMS][:4], "calls": 40},
            ("icarus",),
            nightly=("icarus",),
        ),
        Config(
            "half",
            rtl_parameters(replace(ROOMY, fmt=Format(5, 10), programs=6)),
            ALL,
            ("verilator",),
            nightly=("verilator",),
        ),
    ],
)
