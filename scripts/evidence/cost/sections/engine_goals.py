"""The step engine's clock and size next to its goals."""

from collections.abc import Sequence

from scripts.evidence.cost.engine import (
    ENGINE,
    LANE_UNITS,
    LANE_VARIANTS,
    SWEEP_LANES,
    is_barrel,
    stages_of,
)
from scripts.evidence.cost.goals import (
    BARREL_MHZ,
    ENGINE_CLOCK_SHARE,
    ENGINE_DSP,
    ENGINE_LUT,
    ENGINE_US,
)
from scripts.evidence.cost.rows import Row
from scripts.evidence.cost.sections.cells import verdict
from scripts.evidence.cost.sections.times import cycles_of, unit_clock
from scripts.evidence.cost.sections.tops import Top, tops


def engine_goals(rows: Sequence[Row]) -> str:
    """Clocks next to those of the slowest units, and the goals of 2+2 lanes, as a list."""
    lines = []
    for top in tops(rows):
        if top.unit != ENGINE or not top.placed.get("fmax_mhz"):
            continue
        if is_barrel(top.placed["parameters"]):
            lines += _barrel_clock(top)
            continue
        clocks = _unit_clocks(rows, top)
        if None in clocks.values():
            continue
        lines.append(_clock(top, clocks))
        if top.cells and top.placed["parameters"]["NUM_ADD"] == SWEEP_LANES:
            lines += _sizes(top)
    return "\n".join(lines) or "Not measured."


def _unit_clocks(rows: Sequence[Row], top: Top) -> dict[str, float | None]:
    """Operation -> clock of its unit alone, None if that was not placed."""
    stages = stages_of(top.placed["parameters"])
    return {
        op: unit_clock(rows, unit, stages[op], LANE_VARIANTS[op]) for op, unit in LANE_UNITS.items()
    }


def _clock(top: Top, clocks: dict[str, float]) -> str:
    slowest = min(clocks, key=clocks.get)
    stages = stages_of(top.placed["parameters"])[slowest]
    share = top.placed["fmax_mhz"] / clocks[slowest]
    return (
        f"- {top.config}: {top.placed['fmax_mhz']} MHz, {share:.0%} of the {clocks[slowest]} MHz "
        f"of its slowest unit (`{LANE_UNITS[slowest]}`, {stages} stages); at least "
        f"{ENGINE_CLOCK_SHARE:.0%}: {verdict(share >= ENGINE_CLOCK_SHARE)}"
    )


def _barrel_clock(top: Top) -> list[str]:
    mhz, least = top.placed["fmax_mhz"], BARREL_MHZ.get(top.placed["parameters"]["NUM_ADD"])
    if least is None:
        return []
    return [f"- {top.config}: {mhz} MHz; at least {least}: {verdict(mhz >= least)}"]


def _sizes(top: Top) -> list[str]:
    us = cycles_of(top.unit, top.placed["parameters"])["double_pendulum"] / top.placed["fmax_mhz"]
    luts, dsps = top.cells["lut"] + top.cells["lutram"], top.cells["dsp"]
    values = (
        (us, ENGINE_US, f"{us:.2f} µs a step of the double pendulum"),
        (dsps, ENGINE_DSP, f"{dsps} DSP48E1"),
        (luts, ENGINE_LUT, f"{luts} LUT, memories included"),
    )
    return [
        f"- {top.config}: {text}; at most {limit:g}: {verdict(value <= limit)}"
        for value, limit, text in values
    ]
