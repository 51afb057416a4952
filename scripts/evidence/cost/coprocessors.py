"""Measurements of the co-processors, whose float units are black boxes."""

from collections.abc import Iterator, Mapping

from pymodel.compile.latency import PIPELINED, Stages
from scripts.evidence.cost.job import FAMILIES, SPEED, Job, config_of

HDCA, LDUP = "hdca_coprocessor", "ldup_coprocessor"
#: Float units that are boxes, and the co-processor's parameter with their STAGES.
BOXES = dict(zip(("fp_add", "fp_mul", "fp_recip"), Stages.PARAMETERS, strict=True))
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
