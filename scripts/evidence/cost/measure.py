"""One measurement, whatever its flow."""

import time
from typing import Any

from scripts.evidence.cost import nextpnr, yosys
from scripts.evidence.cost.boxes import fill_boxes
from scripts.evidence.cost.devices import zynq_note
from scripts.evidence.cost.job import Job
from scripts.evidence.cost.rows import Row
from scripts.evidence.cost.source import source
from scripts.kernel.errors import CostError

COUNTED = ("lut", "dsp", "ff", "lutram", "bram", "logic_ns", "fmax_mhz", "note")


def measure(job: Job, seeds: int) -> Row:
    """The row of a job.

    Parameters
    ----------
    job : Job
    seeds : int
        Placements on ecp5, if the job allows so many.

    Returns
    -------
    dict
        unit, config, stages, family; lut, dsp, ff, lutram, bram (blocks); logic_ns, fmax_mhz and
        note, None where there is none; format, parameters, commands, seeds, source; seconds that it
        took. On xc7 inv, with placements fmax_mhz_of_seeds, of a co-processor units.

    Raises
    ------
    CostError
        One line with the job's name, if a tool is missing or fails.
    """
    start = time.monotonic()
    row = {name: getattr(job, name) for name in ("unit", "config", "stages", "family")}
    row |= dict.fromkeys(COUNTED)
    row |= {"format": list(job.fmt), "parameters": job.values}
    try:
        part, commands = _run(job, seeds)
    except CostError as error:
        raise CostError(f"{job.name}: {error}") from None
    seconds = round(time.monotonic() - start, 1)
    row |= part | {"commands": commands, "seeds": seeds, "source": source(job, seeds)}
    return row | {"seconds": seconds}


def _run(job: Job, seeds: int) -> tuple[dict[str, Any], list[str]]:
    """Part of the row, and the commands that gave it."""
    first = yosys.command(yosys.synthesis_script(job))
    counts = yosys.synthesise(job)
    if job.boxed:
        part, commands = fill_boxes(job, counts)
    elif job.family == "xc7":
        part = counts | {"note": zynq_note(counts), "logic_ns": yosys.find_delay(job)}
        commands = [yosys.command(yosys.delay_script(job))]
    else:
        part, commands = nextpnr.place_and_route(job, counts, seeds)
    return part, [first, *commands]
