"""Made-up jobs and rows that the tests of the costs share."""

from typing import Any

from scripts.evidence.cost.job import Job, Row
from scripts.evidence.cost.jobs import JOBS, NOT_TIMED
from scripts.evidence.cost.measure import source

ADD = Job("fp_add", "speed", "xc7", 3, ("a_i", "b_i"), ("y_o",), {"STAGES": 3})
TOP = Job("step_engine", "2+2 lanes", "ecp5", parameters={"NUM_ADD": 2})
BOXED = Job(
    "ldup_coprocessor", "parallel", "ecp5", parameters={"PARALLEL": 1, "MUL_STAGES": 3}, boxed=True
)
ECP5_STAT = """{"design": {"num_cells_by_type": {"LUT4": 100, "CCU2C": 10, "TRELLIS_DPR16X4": 2,
  "MULT18X18D": 160, "TRELLIS_FF": 9, "DP16KD": 3}}}"""


def row(**values: Any) -> Row:
    """A row of an adder, with these values."""
    return {"unit": "fp_add", "config": "area", "stages": 0, "family": "xc7"} | values


def job(
    unit: str = "fp_add", config: str = "area", stages: int | None = 0, family: str = "xc7"
) -> Job:
    """One of JOBS."""
    return next(job for job in JOBS if job.key == (unit, config, stages, family))


# -------------------------------------------------------------------------------------------------
# What is made of the rows
# -------------------------------------------------------------------------------------------------
def measured_rows() -> list[Row]:
    """A row for every job, with plausible numbers."""
    rows = []
    for one in JOBS:
        stages = one.stages or 0
        lanes = one.parameters.get("NUM_ADD", 1)
        cells = 4000 + 1200 * lanes if not one.is_unit else 300 + 10 * stages
        row = {name: getattr(one, name) for name in ("unit", "config", "stages", "family")}
        row |= {"lut": cells, "dsp": 4 * lanes, "ff": 9, "lutram": 8, "bram": 2.0, "inv": 1}
        row |= {"logic_ns": None, "fmax_mhz": None, "note": None, "format": list(one.fmt)}
        row |= {"parameters": one.values, "commands": ["yosys"], "seeds": 3}
        if one.family == "ecp5":
            row["fmax_mhz"] = 30.0 + 20 * stages if one.is_unit else 61.0
        else:
            row["logic_ns"] = 8.0
        if one.boxed:
            note = NOT_TIMED if one.family == "ecp5" else None
            units = {"fp_add": 41, "fp_mul": 54, "fp_recip": 1}
            row |= {"logic_ns": None, "fmax_mhz": None, "note": note, "units": units}
        rows.append(row | {"source": source(one, 3)})
    return rows
