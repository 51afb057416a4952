"""Place and route with nextpnr on the LFE5U-85F of speed grade 6."""

import json
import re
from pathlib import Path
from typing import Any

from scripts.evidence.cost.counts import Counts, ecp5_note, placed
from scripts.evidence.cost.job import Job, path_of
from scripts.kernel import tools
from scripts.kernel.errors import CostError
from scripts.kernel.places import ROOT
from scripts.kernel.tools import NEXTPNR, command_line

PLACE = "--85k --package CABGA756 --speed 6 --freq 250 --lpf-allow-unconstrained"
#: Added for tops, where wires take more time than logic: the placer minds the critical paths more.
PLACE_TOP = "--placer-heap-timingweight 40 --placer-heap-critexp 4"
NO_ROOM = re.compile(r"no bels remaining|unable to find legal placement", re.I)


def place_options(job: Job) -> str:
    """Options besides files and seed."""
    return PLACE if job.is_unit else f"{PLACE} {PLACE_TOP}"


def arguments(job: Job, seed: int) -> list[str]:
    """What nextpnr is called with to place the netlist of a job."""
    files = ["--json", str(path_of(job, "json")), "-q"]
    files += ["--timing-allow-fail", "--seed", str(seed), "--report", str(_report(job, seed))]
    return [*place_options(job).split(), *files]


def _report(job: Job, seed: int) -> Path:
    return path_of(job, f"{seed}.json")


def place_and_route(job: Job, counts: Counts, seeds: int) -> tuple[dict[str, Any], list[str]]:
    """Place the netlist of a job with the seeds 1, 2, ...

    Parameters
    ----------
    job : Job
    counts : dict
        Counts of the netlist.
    seeds : int
        How many, if the job allows so many.

    Returns
    -------
    part : dict
        Part of its row: counts, and the best clock or a note that says why there is none.
    commands : list of str

    Raises
    ------
    CostError
        If nextpnr is missing or fails, but for want of room.
    """
    note = ecp5_note(counts)
    if note:
        return counts | {"note": note}, []
    results, commands = [], []
    for seed in range(1, min(seeds, job.most_seeds) + 1):
        commands.append(command_line(NEXTPNR, arguments(job, seed)))
        try:
            tools.run(NEXTPNR, arguments(job, seed), path_of(job, f"{seed}.log"))
        except CostError as error:
            if not NO_ROOM.search(str(error)):
                raise
            return counts | {"note": "does not fit: no legal placement"}, commands
        results.append(placed(json.loads((ROOT / _report(job, seed)).read_text())))
    best = max(results, key=lambda result: result["fmax_mhz"])
    of_seeds = [result["fmax_mhz"] for result in results]
    return best | {"fmax_mhz_of_seeds": of_seeds}, commands
