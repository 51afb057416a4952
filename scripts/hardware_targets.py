"""What to build for a run in hardware: the bench, its parameters and settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodel.algorithms import drives
from pymodel.algorithms.step import Chain
from pymodel.app.options import COPROCESSOR, STEP, RunOptions
from pymodel.arith import scalars
from pymodel.hardware.bench import Bench
from pymodel.hardware.cosim import hdca as cosim_hdca
from pymodel.hardware.cosim import ldup as cosim_ldup
from pymodel.hardware.cosim import step as cosim_step
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import BUS_W, Machine
from pymodel.machine.registers import STEP_MAX_WORD
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


def coprocessor(scenario: Scenario, options: RunOptions) -> Target:
    """The co-processor that has a part in this mechanism.

    Raises
    ------
    InputError, ScenarioError
        If there is none, or it cannot compute in this format.
    """
    is_chain = Chain.runs(scenario)
    if is_chain and scenario.loops:
        chosen = cosim_ldup
    elif is_chain and len(scenario.bodies) == 2:
        chosen = cosim_hdca
    else:
        reason = "the co-processors run open chains of two bodies and closed chains"
        if not scenario.pins_only:
            reason = "the co-processors run planar mechanisms of pins"
        raise InputError(f"{scenario.source}: body: {reason}")
    algorithm = options.algorithm(scenario)
    params = _format_parameters(options.arithmetic)
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


def step_engine(scenario: Scenario, options: RunOptions) -> Target:
    """The step engine, its memories as large as the scenario's program needs.

    Raises
    ------
    InputError, ValueError
        If it cannot compute in this format or on these lanes.
    """
    machine = engine(options.arithmetic, options.lanes)
    algorithm = options.algorithm(scenario)
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


TARGETS = {COPROCESSOR: coprocessor, STEP: step_engine}


def engine(arithmetic: str, lanes: str) -> Machine:
    """The step engine of a format and lanes, its memories the usual ones.

    Raises
    ------
    InputError, ValueError
        If it cannot compute in this format or on these lanes.
    """
    _format_parameters(arithmetic)
    fmt = scalars.parse(arithmetic).fmt
    machine = Machine.parse(lanes, fmt=fmt)
    check_word(machine, lanes)  # before a schedule on that many lanes
    return machine


def check_word(machine: Machine, lanes: str) -> None:
    """Refuse lanes and banks that make program words wider than the registers for one."""
    if machine.bus_words > STEP_MAX_WORD:
        most = STEP_MAX_WORD * BUS_W
        raise InputError(
            f"LANES={lanes}: a program word of {machine.word_w} bits, of at most {most}: "
            "must be fewer lanes"
        )


def _one_run(options: RunOptions) -> dict[str, Any]:
    return {"scenario": str(Path(options.scenario).resolve()), "steps": options.steps}


def _format_parameters(arithmetic: str) -> dict[str, int]:
    """The RTL parameters of a format; refuses what has no place in a co-simulation."""
    parsed = scalars.parse(arithmetic)
    if not isinstance(parsed, scalars.BitExact):
        raise InputError("ARITH=float64: not in hardware")
    if parsed.fmt.width > BUS_W:
        raise InputError(f"ARITH={arithmetic}: wider than the {BUS_W}-bit registers")
    if not parsed.fmt.has_sincos:  # neither the engine nor the native code beside a co-processor
        raise InputError(f"ARITH={arithmetic}: sine and cosine end at binary32")
    return {"EXP_W": parsed.fmt.exp_w, "MAN_W": parsed.fmt.man_w}
