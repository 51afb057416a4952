"""Place and route with nextpnr on the LFE5U-85F of speed grade 6."""

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


def arguments(job: Job, seed: int, kind: str = "") -> list[str]:
    """What nextpnr is called with to place a netlist of a job: Yosys', or the `FOLDED` one."""
    files = ["--json", str(path_of(job, f"{kind}json")), "-q", "--timing-allow-fail"]
    files += ["--seed", str(seed), "--report", str(_report(job, seed, kind))]
    return [*place_options(job).split(), *files]


def _report(job: Job, seed: int, kind: str) -> Path:
    return path_of(job, f"{kind}{seed}.json")


def _place(job: Job, seed: int, kind: str = "") -> Counts:
    """Place and route with one seed."""
    tools.run(NEXTPNR, arguments(job, seed, kind), path_of(job, f"{kind}{seed}.log"))
    return placed(json.loads((ROOT / _report(job, seed, kind)).read_text()))


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
    for seed in seeds_of(job, seeds):
        commands.append(command_line(NEXTPNR, arguments(job, seed)))
        try:
            results.append(_place(job, seed))
        except CostError as error:
            if not NO_ROOM.search(str(error)):
                raise
            return counts | {"note": "does not fit: no legal placement"}, commands
    return _best(results), commands


def _best(results: list[Counts]) -> dict[str, Any]:
    """Counts of the fastest placement, and the clocks of all."""
    best = max(results, key=lambda result: result["fmax_mhz"])
    return best | {"fmax_mhz_of_seeds": [result["fmax_mhz"] for result in results]}


def place_folded(job: Job, seeds: int) -> dict[str, Any]:
    """The same of the netlist with registers moved into multipliers and memories.

    Parameters
    ----------
    job : Job
        Whose netlist Yosys has written.
    seeds : int

    Returns
    -------
    dict
        Counts, clocks, and `moved`: what :class:`scripts.evidence.cost.fold.Folded` counts.

    Raises
    ------
    CostError
        If nextpnr is missing or fails.
    """
    netlists = (ROOT / path_of(job, f"{kind}json") for kind in ("", FOLDED))
    moved = fold_file(*netlists)
    results = [_place(job, seed, FOLDED) for seed in seeds_of(job, seeds)]
    return _best(results) | {"moved": asdict(moved)}
