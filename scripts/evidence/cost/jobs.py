"""All that is measured."""

from collections.abc import Collection, Sequence

from pymodel.machine.isa import Machine
from scripts.evidence.cost.array import SHAPES, array_jobs
from scripts.evidence.cost.coprocessors import HDCA, LDUP, coprocessor_jobs
from scripts.evidence.cost.engine import (
    BARREL_LANES,
    ENGINE_LANES,
    SWEEP_LANES,
    barrel_jobs,
    engine_jobs,
)
from scripts.evidence.cost.float_formats import FORMATS
from scripts.evidence.cost.job import Job
from scripts.evidence.cost.units import (
    BINARY,
    HANDSHAKE,
    RECIP_TABLE,
    SINCOS,
    TABLE,
    UNARY,
    ZERO_ONLY,
    unit_jobs,
)
from scripts.kernel.errors import CostError

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
