"""Place and route with nextpnr on the LFE5U-85F of speed grade 6.

Of tops what is placed is the netlist with registers moved into multipliers and memories (`fold`).
"""

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any

from scripts.evidence.cost.counts import Counts, ecp5_note, placed
from scripts.evidence.cost.fold import fold_file
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


#: Of the files of a netlist with folded registers.
FOLDED = "folded."


def kind_of(job: Job) -> str:
    """Which netlist of a job is placed: that of Yosys, of a top the folded one."""
    return "" if job.is_unit else FOLDED


def arguments(job: Job, seed: int) -> list[str]:
    """What nextpnr is called with to place the netlist of a job."""
    netlist, report = path_of(job, f"{kind_of(job)}json"), _report(job, seed)
    files = ["--json", str(netlist), "-q", "--timing-allow-fail"]
    files += ["--seed", str(seed), "--report", str(report)]
    return [*place_options(job).split(), *files]


def _report(job: Job, seed: int) -> Path:
    return path_of(job, f"{kind_of(job)}{seed}.json")


def _place(job: Job, seed: int) -> Counts:
    """Place and route with one seed."""
    tools.run(NEXTPNR, arguments(job, seed), path_of(job, f"{kind_of(job)}{seed}.log"))
    return placed(json.loads((ROOT / _report(job, seed)).read_text()))


def seeds_of(job: Job, seeds: int) -> range:
    """The seeds 1, 2, ..., so many if the job allows it."""
    return range(1, min(seeds, job.most_seeds) + 1)


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
        Part of its row: counts, and the best clock or a note that says why there is none; of a top
        `moved`, what :class:`scripts.evidence.cost.fold.Folded` counts.
    commands : list of str

    Raises
    ------
    CostError
        If nextpnr is missing or fails, but for want of room.
    """
    note = ecp5_note(counts)
    if note:
        return counts | {"note": note}, []
    moved = {} if job.is_unit else {"moved": fold_netlist(job)}
    results, commands = [], []
    for seed in seeds_of(job, seeds):
        commands.append(command_line(NEXTPNR, arguments(job, seed)))
        try:
            results.append(_place(job, seed))
        except CostError as error:
            if not NO_ROOM.search(str(error)):
                raise
            return counts | {"note": "does not fit: no legal placement"}, commands
    return _best(results) | moved, commands


def _best(results: list[Counts]) -> dict[str, Any]:
    """Counts of the fastest placement, and the clocks of all."""
    best = max(results, key=lambda result: result["fmax_mhz"])
    return best | {"fmax_mhz_of_seeds": [result["fmax_mhz"] for result in results]}


def fold_netlist(job: Job) -> dict[str, int]:
    """Move registers of a netlist that Yosys has written, into one beside it; what was moved."""
    return asdict(fold_file(*(ROOT / path_of(job, f"{kind}json") for kind in ("", FOLDED))))
