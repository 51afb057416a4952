"""Time of a step, from cycles of models and measured clocks."""

from collections.abc import Mapping, Sequence

from pymodel.compile.latency import Stages
from scripts.evidence.cost import cycles
from scripts.evidence.cost.coprocessors import HDCA, LDUP, box_stages
from scripts.evidence.cost.engine import is_barrel, machine_of
from scripts.evidence.cost.job import SPEED, config_of
from scripts.evidence.cost.rows import Row, key_of
from scripts.evidence.cost.sections.cells import NONE, cell
from scripts.evidence.cost.sections.tops import Top, tops
from scripts.kernel.documents import table
from scripts.kernel.places import DEMOS

HEAD = (
    "top",
    "task",
    "cycles a step",
    "MHz",
    "clock of",
    "**µs a step**",
    "steps/s",
    "steps/s per DSP48E1",
)
HZ_PER_MHZ = 1e6
MHZ_OF_1_NS = 1e3


def cycles_of(unit: str, parameters: Mapping[str, int]) -> dict[str, int]:
    """Task -> cycles a step, of a top with these parameters."""
    if unit == HDCA:
        return {"double_pendulum": cycles.on_hdca_coprocessor(Stages.of(parameters))}
    if unit == LDUP:
        parallel = bool(parameters["PARALLEL"])
        return {"four_bar": cycles.on_ldup_coprocessor(parallel, Stages.of(parameters))}
    machine = machine_of(parameters)
    return {task: cycles.on_engine(task, machine) for task in DEMOS}


def times(rows: Sequence[Row]) -> str:
    """A table of all tops and tasks; a barrel, which steps many systems at once, has none."""
    lines = []
    for top in tops(rows):
        if is_barrel(top.any_row["parameters"]):
            continue
        mhz, where = _clock(rows, top)
        for task, n in cycles_of(top.unit, top.any_row["parameters"]).items():
            us = rate = share = None
            if mhz:
                us, rate = n / mhz, HZ_PER_MHZ * mhz / n
            if rate and top.cells.get("dsp"):
                share = rate / top.cells["dsp"]
            lines.append(
                (
                    top.title,
                    DEMOS[task],
                    n,
                    cell(mhz, "{:.1f}"),
                    where,
                    cell(us, "{:.2f}"),
                    cell(rate, "{:,.0f}"),
                    cell(share, "{:,.0f}"),
                )
            )
    return table(HEAD, lines)


def unit_clock(rows: Sequence[Row], unit: str, stages: int, variant: str = "") -> float | None:
    """The clock in MHz that a unit was placed with; None if it was not."""
    wanted = (unit, config_of(SPEED, variant), stages, "ecp5")
    return next((row["fmax_mhz"] for row in rows if key_of(row) == wanted), None)


def _clock(rows: Sequence[Row], top: Top) -> tuple[float | None, str]:
    """MHz, if there is a clock, and where it is from."""
    if top.any_row.get("units"):
        mhz = _slowest_box(rows, top.any_row)
        return mhz, "slowest unit" if mhz else NONE
    if top.placed.get("fmax_mhz"):
        return top.placed["fmax_mhz"], "ecp5"
    if top.cells.get("logic_ns"):
        return MHZ_OF_1_NS / top.cells["logic_ns"], "xc7, logic alone"
    return None, NONE


def _slowest_box(rows: Sequence[Row], row: Row) -> float | None:
    """The clock of a co-processor's slowest unit: None without registers, or if not measured."""
    stages = box_stages(row["parameters"])
    found = [unit_clock(rows, unit, n) for unit, n in stages.items() if row["units"][unit]]
    return min(found) if all(found) and all(stages.values()) else None
