"""What to build for a run in hardware: the bench, its parameters and settings."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pymodel.algorithms import drives
from pymodel.algorithms.step import Chain
from pymodel.app.checks import algorithm as algorithm_of
from pymodel.app.engines import check_word, engine, format_parameters
from pymodel.app.options import COPROCESSOR, ENGINE, Asked
from pymodel.arith import scalars
from pymodel.hardware.bench import Bench
from pymodel.hardware.cosim import hdca as cosim_hdca
from pymodel.hardware.cosim import ldup as cosim_ldup
from pymodel.hardware.cosim import step as cosim_step
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import engine_runs
from pymodel.runs.input_error import InputError


@dataclass(frozen=True)
class Target:
    """Hardware that runs a scenario.

    Attributes
    ----------
    bench, config
        The co-simulation bench, and the configuration that is run with other
    params, settings
        parameters and settings.
    in_hardware
        What it does, in words.
    float_units
        Number of its float units by operation.
    options
        Options of the algorithm.
    """

    bench: Bench
    config: str
    params: dict[str, int]
    settings: dict[str, Any]
    in_hardware: str
    float_units: dict[str, int]
    options: dict[str, Any]


def coprocessor(scenario: Scenario, options: Asked) -> Target:
    """The co-processor that has a part in this mechanism.

    Raises
    ------
    InputError, ScenarioError
        If there is none, or it cannot compute in this format.
    """
    scenario.require_free_joints("a co-processor")
    is_chain = Chain.runs(scenario)
    chosen: ModuleType
    if is_chain and scenario.loops:
        chosen = cosim_ldup
    elif is_chain and len(scenario.bodies) == 2:
        chosen = cosim_hdca
    else:
        reason = "the co-processors run open chains of two bodies and closed chains"
        if not scenario.pins_only:
            reason = "the co-processors run planar mechanisms of pins, none of them redundant"
        raise InputError(f"{scenario.source}: body: {reason}")
    algorithm = algorithm_of(options, scenario)
    params = format_parameters(options.arithmetic)
    arithmetic = scalars.parse(options.arithmetic)
    drives.check(arithmetic, scenario, drives.prepare(arithmetic, scenario))  # before it builds
    return Target(
        bench=chosen.BENCH,
        config=chosen.CONFIG,
        params=params,
        settings=_one_run(options) | algorithm,
        in_hardware=chosen.IN_HARDWARE,
        float_units=chosen.FLOAT_UNITS,
        options=algorithm,
    )


def step_engine(scenario: Scenario, options: Asked) -> Target:
    """The step engine, its memories as large as the scenario's program needs.

    Raises
    ------
    InputError, ValueError
        If it cannot compute in this format or on these lanes.
    """
    machine = engine(options.arithmetic, options.lanes)
    algorithm = algorithm_of(options, scenario)
    machine = engine_runs.fitting(machine, [scenario], **algorithm)
    check_word(machine, options.lanes)
    return Target(
        bench=cosim_step.BENCH,
        config=cosim_step.CONFIG,
        params=rtl_parameters(machine),
        settings={"runs": [_one_run(options) | algorithm]},
        in_hardware=cosim_step.IN_HARDWARE,
        float_units={"add": machine.adders, "mul": machine.multipliers, "rec": 1, "sincos": 1},
        options=algorithm,
    )


TARGETS = {COPROCESSOR: coprocessor, ENGINE: step_engine}


def _one_run(options: Asked) -> dict[str, Any]:
    return {"scenario": str(Path(options.scenario).resolve()), "steps": options.steps}
