"""A co-processor's row: its own logic, and each float unit counted as that unit alone.

The co-processors have up to a hundred float units, too much to synthesise at once. Nothing is
optimised across the boxes' borders, nothing is placed, and no delay or clock is found.
"""

import functools
import threading
from typing import Any

from scripts.evidence.cost import yosys
from scripts.evidence.cost.coprocessors import NOT_TIMED, box_jobs
from scripts.evidence.cost.counts import Counts, cells_of
from scripts.evidence.cost.devices import ecp5_note, zynq_note
from scripts.evidence.cost.job import Job

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
