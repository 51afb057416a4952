"""One measurement, whatever its flow, and whether a row is what it would give again.

Of a co-processor, with up to a hundred float units, it is its own logic, and each unit counted as
that unit alone: nothing is optimised across the boxes' borders, nothing is placed, and no delay or
clock is found.
"""

import functools
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.evidence.cost import fold, nextpnr, yosys
from scripts.evidence.cost.counts import Counts, cells_of, ecp5_note, zynq_note
from scripts.evidence.cost.job import Job, Row, row_key
from scripts.evidence.cost.jobs import JOBS, NOT_TIMED, box_jobs
from scripts.evidence.cost.nextpnr import place_options
from scripts.evidence.cost.yosys import delay_script, synthesis_script, wrapper
from scripts.kernel.digest import key_of, pinned
from scripts.kernel.errors import CostError
from scripts.kernel.journal import Summary
from scripts.kernel.modules import needed_files
from scripts.kernel.places import ROOT
from scripts.kernel.tools import GROUP, OUT

_lock = threading.Lock()


def count_box(job: Job) -> Counts:
    """Counts of a unit alone, measured once.

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    with _lock:
        return _synthesise_once(job)


_synthesise_once = functools.cache(yosys.synthesise)


def fill_boxes(job: Job, counts: Counts) -> tuple[dict[str, Any], list[str]]:
    """Add the float units of a co-processor to its own logic.

    Parameters
    ----------
    job : Job
    counts : dict
        Counts of its netlist, where the units are boxes.

    Returns
    -------
    part : dict
        Part of its row: all counts, `units` (box -> how many there are), and a note.
    commands : list of str

    Raises
    ------
    CostError
        If Yosys is missing or fails.
    """
    cells = cells_of(yosys.stat(job))
    total, units, commands = counts, {}, []
    for box in box_jobs(job):
        commands.append(yosys.command(yosys.synthesis_script(box)))
        each = count_box(box)
        units[box.unit] = cells.get(box.unit, 0)
        total = {name: n + units[box.unit] * each[name] for name, n in total.items()}
    note = zynq_note(total) if job.family == "xc7" else ecp5_note(total) or NOT_TIMED
    return total | {"units": units, "note": note}, commands


def source(job: Job, seeds: int) -> str:
    """Changes with all that the tools are given: rows of other sources are not comparable.

    That is RTL of the module and of what it instantiates, parameters, options, versions, seeds,
    and how registers are folded.
    """
    given = [synthesis_script(job), delay_script(job), wrapper(job) if job.is_unit else ""]
    given += map(synthesis_script, box_jobs(job))
    if job.family == "ecp5":
        given.append(f"{place_options(job)} {seeds}")
    if job.family == "ecp5" and not job.is_unit:
        given.append(Path(fold.__file__).read_text())
    return key_of(needed_files(job.unit), pinned(GROUP), *given)[:16]


SUMMARY = Summary(ROOT / OUT / "summary.json", [job.key for job in JOBS], row_key, "rows")


def current(rows: Iterable[Row], seeds: int | None = None) -> list[Row]:
    """The rows that a measurement would give again, in the order of `JOBS`.

    Parameters
    ----------
    rows : iterable of dict
    seeds : int, optional
        Placements of that measurement; those of each row if there is none.
    """
    found = {row_key(row): row for row in rows}
    jobs = [job for job in JOBS if job.key in found]
    return [
        found[job.key]
        for job in jobs
        if found[job.key].get("source") == source(job, seeds or found[job.key].get("seeds"))
    ]


def current_rows() -> list[Row]:
    """Those of the file.

    Raises
    ------
    InputError
        If it is no summary.
    """
    return current(SUMMARY.read().values())


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
        took. On xc7 inv, with placements fmax_mhz_of_seeds, of tops moved (`fold.Folded`); of a
        co-processor units.

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
