"""Clock cycles of the co-processors' engines, from the register stages of their float units.

The headers of rtl/hdca and rtl/linalg state the same formulas; the benches compare.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from pymodel.algorithms.linalg import inv_ldup
from pymodel.compile.count import Unpivoted
from pymodel.compile.graph import flatten, symbols

#: The RTL parameters of :class:`Stages`.
STAGE_PARAMETERS = ("ADD_STAGES", "MUL_STAGES", "REC_STAGES")


class Stages(NamedTuple):
    """Register stages of a co-processor's adders, multipliers and reciprocals."""

    add: int
    mul: int
    rec: int

    @classmethod
    def of(cls, parameters: Mapping[str, int]) -> Stages:
        """Stages from RTL parameters; those that are not set are 0, as in the RTL."""
        return cls(*(parameters.get(name, 0) for name in STAGE_PARAMETERS))

    def parameters(self) -> dict[str, int]:
        """The RTL parameters."""
        return dict(zip(STAGE_PARAMETERS, self, strict=True))

    @property
    def text(self) -> str:
        """`3, 3, 6`."""
        return ", ".join(map(str, self))


COMBINATIONAL = Stages(0, 0, 0)
#: Stages with which pipelined co-processors are simulated and measured.
PIPELINED = Stages(3, 3, 6)


def assembly(stages: Stages, passes: int = 2) -> int:
    """Busy cycles of an assembly (rtl/hdca/hdca_assembly.sv).

    Parameters
    ----------
    stages : Stages
    passes : int
        PASSES: 2, which share units, or 1.
    """
    add, mul, rec = stages
    first = 5 * add + 4 * mul + rec + 1
    return first if passes == 1 else first + 2 * add + mul + 1


def disassembly(stages: Stages) -> int:
    """Busy cycles of a disassembly (rtl/hdca/hdca_disassembly.sv)."""
    return 3 * stages.add + stages.mul + 1


def inversion(n: int, parallel: bool, stages: Stages) -> int:
    """Busy cycles of an LDUP inversion (rtl/linalg/ldup_engine.sv).

    Parameters
    ----------
    n : int
        Rows of the matrix.
    parallel : bool
        PARALLEL: a unit for each operation, or those of one elimination row.
    stages : Stages
    """
    if parallel:  # the longest path through the model's operations
        graph = Unpivoted(fold=False)
        inverse, _ = inv_ldup(graph, symbols(graph, "a", (n, n)))
        return graph.critical_path(flatten(inverse), stages._asdict())[0] + 1
    add, mul, rec = stages
    steps = [
        (n, rec),  # reciprocals
        (n * (n - 1) // 2, 2 * mul + add),  # elimination rows
        (2 * (n - 1), mul),  # rows of U and B
        # entries of the two inverses and of the product
        (n * (n - 1) + n * n, mul + math.ceil(math.log2(n)) * add),
        (n - 1, 0),  # exchanges of columns
    ]
    return sum(times * (cycles + 1) for times, cycles in steps)
