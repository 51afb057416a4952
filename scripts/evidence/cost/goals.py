"""What units shall reach: at most so many cells on xc7, at least this clock on ecp5."""

from collections.abc import Iterator
from dataclasses import dataclass

from scripts.evidence.cost.job import AREA, SPEED, Row, config_of
from scripts.evidence.cost.jobs import TABLE, ZERO_ONLY

LABELS = {"lut": "LUT ≤", "cells": "LUT + INV ≤", "dsp": "DSP ≤", "fmax_mhz": "MHz ≥"}
#: What is compared with limits, by flow.
COMPARED = {"xc7": ("lut", "cells", "dsp"), "ecp5": ("fmax_mhz",)}


@dataclass(frozen=True)
class Goal:
    """What a unit shall reach: at most so many cells on xc7 in `area`, this clock on ecp5.

    `cells` is LUT and inverters.
    """

    unit: str
    stages: int | None
    variant: str = ""
    lut: int | None = None
    cells: int | None = None
    dsp: int | None = None
    fmax_mhz: int | None = None

    @property
    def key(self) -> tuple[str, int | None, str]:
        """Unit, stages, variant."""
        return self.unit, self.stages, self.variant

    def is_for(self, row: Row) -> bool:
        """Whether it is the row's goal."""
        config = config_of(AREA if row["family"] == "xc7" else SPEED, self.variant)
        return (row["unit"], row["stages"], row["config"]) == (self.unit, self.stages, config)

    def judge(self, row: Row) -> Iterator[tuple[str, bool]]:
        """What it says about its row: `LUT ≤ 330`, and whether it is met; for each limit."""
        for name in COMPARED[row["family"]]:
            limit = getattr(self, name)
            if limit is not None:
                value = row["lut"] + row["inv"] if name == "cells" else row[name]
                met = value >= limit if name == "fmax_mhz" else value <= limit
                yield f"{LABELS[name]} {limit}", met


GOALS = [
    Goal("fp_add", 0, lut=330, dsp=0),
    Goal("fp_add", 3, lut=345, dsp=0, fmax_mhz=95),
    Goal("fp_add", 6, lut=345, dsp=0, fmax_mhz=170),
    Goal("fp_mul", 0, lut=78, dsp=2),
    Goal("fp_mul", 0, ZERO_ONLY, lut=53, dsp=2),
    Goal("fp_mul", 3, fmax_mhz=110),
    Goal("fp_mul", 5, fmax_mhz=140),
    Goal("fp_recip", 0, cells=665, dsp=0),
    Goal("fp_recip", 0, TABLE, lut=262, dsp=4),
    Goal("fp_recip", 6, TABLE, fmax_mhz=100),
    Goal("fp_recip_iterative", None, cells=60, dsp=0, fmax_mhz=190),
]

#: Of the engine with `engine.SWEEP_LANES`: a step of the double pendulum, cells on xc7.
ENGINE_US, ENGINE_LUT, ENGINE_DSP = 1.5, 8000, 12
#: Of a barrel's clock in MHz, by its adders.
BARREL_MHZ = {2: 120, 8: 100}
#: Of every other engine's clock, as a share of its slowest unit's.
ENGINE_CLOCK_SHARE = 0.9


def goal_of(unit: str, stages: int | None, variant: str = "") -> Goal:
    """The goal of a unit.

    Raises
    ------
    KeyError
        If there is none.
    """
    return {goal.key: goal for goal in GOALS}[unit, stages, variant]
