"""All that is measured: float units, engines, arrays, co-processors whose units are boxes."""

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pymodel.compile.latency import PIPELINED, STAGE_PARAMETERS, Stages
from pymodel.machine.isa import Machine
from scripts.evidence.cost.job import (
    AREA,
    BINARY32,
    FAMILIES,
    FORMATS,
    SEEDS,
    SPEED,
    FloatFormat,
    Job,
    config_of,
    format_name,
)
from scripts.kernel.errors import CostError

#: The configuration with the flags connected.
FLAGS = "flags"
#: A multiplier without infinities and NaN.
ZERO_ONLY = "zero only"
#: Name and METHOD of the reciprocal by table: fp_pkg::RECIP_TABLE.
TABLE = "table"
RECIP_TABLE = 1


class Ports(NamedTuple):
    """Inputs and outputs of a unit besides `clk_i`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


UNARY = Ports(("a_i",), ("y_o",))
BINARY = Ports(("a_i", "b_i"), ("y_o",))
SINCOS = Ports(("a_i",), ("sin_o", "cos_o"))
HANDSHAKE = Ports(("rst_ni", "valid_i", "a_i", "ready_i"), ("ready_o", "valid_o", "y_o"))


def unit_jobs(
    unit: str,
    ports: Ports,
    all_stages: Iterable[int | None],
    variant: str = "",
    fmt: FloatFormat = BINARY32,
    **parameters: int,
) -> Iterator[Job]:
    """A unit on xc7 for speed and for least area, and placed on ecp5.

    Parameters
    ----------
    unit : str
        The module.
    ports : Ports
    all_stages : iterable of int or None
        Its STAGES, each measured; None: without that parameter.
    variant : str
        What the configurations are called besides `speed` and `area`.
    fmt : tuple of int
    parameters
        Others of the module, with their values.
    """
    extra = (variant, format_name(fmt) if fmt != BINARY32 else "")
    flagged = (*ports.outputs, "flags_o")
    for stages in all_stages:
        values = ({} if stages is None else {"STAGES": stages}) | parameters
        job = functools.partial(
            Job, unit, stages=stages, inputs=ports.inputs, parameters=values, fmt=fmt
        )
        yield job(config_of(SPEED, *extra), "xc7", outputs=ports.outputs)
        yield job(config_of(AREA, *extra), "xc7", outputs=ports.outputs)
        if stages == 0:
            yield job(config_of(AREA, FLAGS, *extra), "xc7", outputs=flagged)
        yield job(config_of(SPEED, *extra), "ecp5", outputs=ports.outputs)


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


ARRAY = "step_array"
WORDS = 1024  # of the program: dFD on 2 + 2 lanes
IN_DEPTH, OUT_DEPTH = 64, 128  # diFD takes 49 words, gives 91
DEPTHS = {2: 128, 4: 64, 8: 64}  # lanes of a kind -> registers of a bank that these functions need


class Shape(NamedTuple):
    """Lanes of a kind, contexts and datapaths."""

    lanes: int
    contexts: int
    datapaths: int

    @property
    def config(self) -> str:
        """The name of its measurement."""
        return f"{self.lanes}+{self.lanes} lanes, C {self.contexts}, V {self.datapaths}"


SHAPES = (
    Shape(2, 8, 1),
    Shape(2, 8, 2),
    Shape(2, 8, 4),
    Shape(2, 8, 8),
    Shape(4, 8, 1),
    Shape(4, 8, 2),
    Shape(8, 8, 1),
)


def array_jobs(shape: Shape) -> Iterator[Job]:
    """The array of a shape, its stages the defaults of `Machine`; large ones are placed once."""
    machine = Machine()
    values = {stages_parameter(op): getattr(machine, f"{op}_stages") for op in LANE_UNITS}
    values |= {
        "NUM_ADD": shape.lanes,
        "NUM_MUL": shape.lanes,
        "CONTEXTS": shape.contexts,
        "DATAPATHS": shape.datapaths,
        "DEPTH": DEPTHS[shape.lanes],
        "PROGRAM_DEPTH": WORDS,
        "IN_DEPTH": IN_DEPTH,
        "OUT_DEPTH": OUT_DEPTH,
    }
    seeds = SEEDS if shape == SHAPES[0] else 1
    for family in FAMILIES:
        yield Job(ARRAY, shape.config, family, parameters=values, most_seeds=seeds)


HDCA, LDUP = "hdca_coprocessor", "ldup_coprocessor"
#: Float units that are boxes, and the co-processor's parameter with their STAGES.
BOXES = dict(zip(("fp_add", "fp_mul", "fp_recip"), STAGE_PARAMETERS, strict=True))
NOT_TIMED = "not timed: float units counted apart"


def coprocessor_jobs(unit: str, variant: str = "", **parameters: int) -> Iterator[Job]:
    """One with combinational units, and one with registers in them.

    Parameters
    ----------
    unit : str
        The module.
    variant : str
        What its configurations are called besides the stages.
    parameters
        Others of the module, with their values.
    """
    stages = {"combinational": {}, f"{PIPELINED.text} stages": PIPELINED.parameters()}
    for text, values in stages.items():
        for family in FAMILIES:
            config = config_of(variant, text) if variant else text
            yield Job(unit, config, family, parameters=parameters | values, boxed=True)


def box_stages(parameters: Mapping[str, int]) -> dict[str, int]:
    """Box -> its STAGES, from the parameters of a co-processor."""
    return dict(zip(BOXES, Stages.of(parameters), strict=True))


def box_jobs(job: Job) -> Iterator[Job]:
    """Each float unit of a co-processor alone, its flags connected as they are there."""
    if not job.boxed:
        return
    for unit, stages in box_stages(job.parameters).items():
        config = config_of(SPEED, "box")
        yield Job(unit, config, job.family, stages, parameters={"STAGES": stages})


REC_STAGES, SINCOS_STAGES = Machine().rec_stages, Machine().sincos_stages

JOBS = [
    *unit_jobs("fp_add", BINARY, range(7)),
    *unit_jobs("fp_mul", BINARY, range(7)),
    *unit_jobs("fp_mul", BINARY, (0,), ZERO_ONLY, SPECIALS=0),
    *unit_jobs("fp_recip", UNARY, (0, 6)),
    *unit_jobs("fp_recip", UNARY, sorted({0, 6, 8, REC_STAGES}), TABLE, METHOD=RECIP_TABLE),
    *unit_jobs("fp_recip_iterative", HANDSHAKE, (None,)),
    *unit_jobs("fp_sincos", SINCOS, sorted({0, 12, 16, SINCOS_STAGES})),
    *(job for lanes in ENGINE_LANES for job in engine_jobs(lanes)),
    *(job for lanes in BARREL_LANES for job in barrel_jobs(lanes)),
    *(job for fmt in FORMATS[1:] for job in engine_jobs(SWEEP_LANES, fmt)),
    *(job for shape in SHAPES for job in array_jobs(shape)),
    *coprocessor_jobs(HDCA),
    *coprocessor_jobs(LDUP, "serial", PARALLEL=0),
    *coprocessor_jobs(LDUP, "parallel", PARALLEL=1),
]


def chosen_jobs(names: Sequence[str], families: Collection[str]) -> list[Job]:
    """The jobs that are named, in the order of `JOBS`.

    Parameters
    ----------
    names : sequence of str
        `unit`, or `unit:part` of its config or name: `step_engine:2+2`, `fp_add:speed-3`. All
        units if there is none.
    families : collection of str
        Flows to choose from.

    Raises
    ------
    CostError
        If there is no such unit or part.
    """
    chosen = set() if names else {job.key for job in JOBS}
    for name in names:
        chosen |= {job.key for job in _named(name)}
    return [job for job in JOBS if job.key in chosen and job.family in families]


def _named(name: str) -> list[Job]:
    unit, _, part = name.partition(":")
    mine = [job for job in JOBS if job.unit == unit]
    some = [job for job in mine if part in job.config or part in job.name]
    if not mine:
        units = " ".join(sorted({job.unit for job in JOBS}))
        raise CostError(f"no such unit: {unit}; there are: {units}")
    if not some:
        known = "; ".join(sorted({job.config for job in mine}))
        raise CostError(f"{unit} has no config with {part!r}; there are: {known}")
    return some
