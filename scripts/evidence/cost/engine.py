"""Measurements of the step engine, and what its parameters mean."""

from collections.abc import Iterator, Mapping

from pymodel.machine.isa import Machine
from scripts.evidence.cost.float_formats import BINARY32, FloatFormat, format_name
from scripts.evidence.cost.job import FAMILIES, SEEDS, Job
from scripts.evidence.cost.units import TABLE

ENGINE = "step_engine"
#: Operation of a lane -> the float unit in it; the order of stages everywhere.
LANE_UNITS = {"add": "fp_add", "mul": "fp_mul", "rec": "fp_recip", "sincos": "fp_sincos"}
#: Variants of the units that the step engine has (see `units.unit_jobs`).
LANE_VARIANTS = dict.fromkeys(LANE_UNITS, "") | {"rec": TABLE}
#: Adders, and as many multipliers, that engines are measured with.
ENGINE_LANES = (1, 2, 4, 8)
#: The same of the arithmetic sweep; larger engines are placed once.
SWEEP_LANES = 2
#: A barrel: its contexts, and stages that they hide.
BARREL_CONTEXTS = 8
BARREL_STAGES = {"add": 6, "mul": 3, "rec": 6, "sincos": 16}
#: Adders, and as many multipliers, that barrels are measured with.
BARREL_LANES = (2, 4, 8)


def stages_parameter(op: str) -> str:
    """The parameter with the stages of an operation's unit: `ADD_STAGES`."""
    return f"{op.upper()}_STAGES"


def stages_of(parameters: Mapping[str, int]) -> dict[str, int]:
    """Operation -> stages of its unit, from the parameters of an engine."""
    return {op: parameters[stages_parameter(op)] for op in LANE_UNITS}


def machine_with(lanes: int, stages: Mapping[str, int]) -> Machine:
    """The scheduler's machine with so many adders and multipliers, and these stages."""
    depths = {f"{op}_stages": n for op, n in stages.items()}
    return Machine(adders=lanes, multipliers=lanes, **depths)


def machine_of(parameters: Mapping[str, int]) -> Machine:
    """The scheduler's machine, from the parameters of an engine."""
    return machine_with(parameters["NUM_ADD"], stages_of(parameters))


def is_barrel(parameters: Mapping[str, int]) -> bool:
    """Whether an engine has several contexts: a word of it stands for many cycles."""
    return parameters.get("CONTEXTS", 1) > 1


def lanes_for(op: str, lanes: int) -> int:
    """Units for an operation in an engine with so many adders and multipliers."""
    return lanes if op in ("add", "mul") else 1


def engine_jobs(lanes: int, fmt: FloatFormat = BINARY32) -> Iterator[Job]:
    """The engine with so many adders and multipliers, its stages the defaults of `Machine`."""
    config = f"{lanes}+{lanes} lanes"
    if fmt != BINARY32:
        config += f", {format_name(fmt)}"
    machine = Machine()
    stages = {stages_parameter(op): getattr(machine, f"{op}_stages") for op in LANE_UNITS}
    values = {"NUM_ADD": lanes, "NUM_MUL": lanes} | stages
    most_seeds = 1 if fmt != BINARY32 or lanes > SWEEP_LANES else SEEDS
    for family in FAMILIES:
        yield Job(ENGINE, config, family, parameters=values, fmt=fmt, most_seeds=most_seeds)


def barrel_jobs(lanes: int) -> Iterator[Job]:
    """The engine with so many adders and multipliers as a barrel."""
    config = f"{lanes}+{lanes} lanes, {BARREL_CONTEXTS} contexts"
    values = {"NUM_ADD": lanes, "NUM_MUL": lanes, "CONTEXTS": BARREL_CONTEXTS}
    values |= {stages_parameter(op): n for op, n in BARREL_STAGES.items()}
    for family in FAMILIES:
        yield Job(ENGINE, config, family, parameters=values, most_seeds=1)
