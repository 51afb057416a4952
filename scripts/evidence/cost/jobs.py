"""All that is measured, of the records in units/: float units, and tops of them."""

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pymodel.compile.latency import STAGE_PARAMETERS, Stages
from pymodel.machine.isa import Machine
from scripts.evidence.cost.job import (
    AREA,
    BINARY32,
    FAMILIES,
    SPEED,
    FloatFormat,
    Job,
    config_of,
    format_name,
)
from scripts.kernel.errors import CostError
from scripts.kernel.units import Cost, records

#: The configuration with the flags connected.
FLAGS = "flags"
#: A multiplier without infinities and NaN.
ZERO_ONLY = "zero only"
#: The reciprocal by table.
TABLE = "table"


class Ports(NamedTuple):
    """Inputs and outputs of a unit besides `clk_i`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


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
#: What records say that the step engine is measured with.
_ENGINES = records()[ENGINE].cost
#: Adders, and as many multipliers, that engines are measured with.
ENGINE_LANES = tuple(sorted({some.parameters["NUM_ADD"] for some in _ENGINES}))
#: The same of the arithmetic sweep.
(SWEEP_LANES,) = {some.parameters["NUM_ADD"] for some in _ENGINES if some.format != BINARY32}


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


ARRAY = "step_array"


class Shape(NamedTuple):
    """Lanes of a kind, contexts and datapaths."""

    lanes: int
    contexts: int
    datapaths: int

    @property
    def config(self) -> str:
        """The name of its measurement."""
        return f"{self.lanes}+{self.lanes} lanes, C {self.contexts}, V {self.datapaths}"


#: Those that are measured, some in other formats, too, or with rare units in logic.
SHAPES = tuple(
    dict.fromkeys(
        Shape(some.parameters["NUM_ADD"], some.parameters["CONTEXTS"], some.parameters["DATAPATHS"])
        for some in records()[ARRAY].cost
    )
)


HDCA, LDUP = "hdca_coprocessor", "ldup_coprocessor"
#: Float units that are boxes, and the co-processor's parameter with their STAGES.
BOXES = dict(zip(("fp_add", "fp_mul", "fp_recip"), STAGE_PARAMETERS, strict=True))
NOT_TIMED = "not timed: float units counted apart"


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


def jobs_of(unit: str, some: Cost) -> Iterator[Job]:
    """The measurements that a record asks for.

    Parameters
    ----------
    unit : str
        The module.
    some : Cost
    """
    fmt = (some.format[0], some.format[1])
    if some.inputs:
        ports = Ports(some.inputs, some.outputs)
        stages = some.stages or (None,)
        yield from unit_jobs(unit, ports, stages, some.config, fmt, **some.parameters)
        return
    for family in FAMILIES:
        yield Job(
            unit,
            some.config,
            family,
            parameters=some.parameters,
            fmt=fmt,
            boxed=some.boxed,
            most_seeds=some.seeds,
        )


#: All; those whose float units are counted apart come last.
JOBS = sorted(
    (
        job
        for unit, record in records().items()
        for some in record.cost
        for job in jobs_of(unit, some)
    ),
    key=lambda job: job.boxed,
)


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
