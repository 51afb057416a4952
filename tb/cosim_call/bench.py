"""Calls on the step engine: functions that carry nothing, evaluated for batches of inputs.

Settings: ``calls``, each with a ``function`` (a name of :data:`FUNCTIONS`, or of the registry with
a ``scenario``) and ``batch`` (how many sets of inputs).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pymodel.arith.fp import Format
from pymodel.arith.scalars import SupportsArithmetic
from pymodel.compile.kernel import Kernel, record
from pymodel.compile.registry import recorded
from pymodel.hardware import step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.places import ROOT
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load


def three(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give a product, a sum that shares it, and a reciprocal."""
    a, b, c = (values[name] for name in "abc")
    return {"product": a * b, "sum": a * b + c, "reciprocal": arithmetic.recip(a + c)}


def signs(arithmetic: SupportsArithmetic, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give differences and negatives: signs of operands, and an output that is a copy."""
    a, b = (values[name] for name in "ab")
    return {"difference": a - b, "negative product": -(a * b), "negative sum": -(a + b)}


#: Functions besides those of the registry: name -> their recording.
FUNCTIONS = {
    "three": lambda: record(three, inputs="abc"),
    "signs": lambda: record(signs, inputs="ab"),
    "three of two": lambda: record(three, inputs="ab", parameters={"c": -0.3}),
}


def kernel_of(settings: Mapping[str, Any]) -> Kernel:
    """Record what the settings of a call name."""
    if settings["function"] in FUNCTIONS:
        return FUNCTIONS[settings["function"]]()
    return recorded(settings["function"], load(ROOT / settings["scenario"]))


def _rates(name: str, batch: int) -> dict[str, Any]:
    return {"function": "rates", "scenario": f"scenarios/{name}.toml", "batch": batch}


THREE = [{"function": name, "batch": 50} for name in FUNCTIONS]
MECHANISMS = [_rates(name, 20) for name in ("double_pendulum", "four_bar", "tree", "coupled_loops")]
ROOMY = replace(Machine(), depth=512, program_depth=4096)
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config("functions", rtl_parameters(ROOMY), {"calls": THREE + MECHANISMS}, ("verilator",)),
        Config(
            "short",
            rtl_parameters(Machine()),
            {"calls": THREE[:2]},
            ("icarus",),
            nightly=("icarus",),
        ),
        Config(
            "half",
            rtl_parameters(replace(ROOMY, fmt=Format(5, 10))),
            {"calls": THREE + MECHANISMS[:1]},
            ("verilator",),
            nightly=("verilator",),
        ),
    ],
    signals=step_watch.SIGNALS,
    modelled=step_watch.modelled,
)
