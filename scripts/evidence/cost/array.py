"""Measurements of the step array, of shapes that stream the functions of the iiwa."""

from collections.abc import Iterator
from typing import NamedTuple

from pymodel.machine.isa import Machine
from scripts.evidence.cost.engine import LANE_UNITS, stages_parameter
from scripts.evidence.cost.job import FAMILIES, SEEDS, Job

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
