"""build/synth/summary.json: the rows of all runs, and how long measurements took."""

import json
from collections.abc import Iterable

from scripts.cost.errors import CostError
from scripts.cost.job import Job
from scripts.cost.jobs import JOBS
from scripts.cost.rows import Row, key_of
from scripts.cost.source import source
from scripts.cost.tools import OUT
from scripts.places import ROOT

SUMMARY = ROOT / OUT / "summary.json"


def read_summary() -> tuple[list[Row], dict[str, float]]:
    """Rows of earlier runs, and name of a job -> seconds that it last took.

    Raises
    ------
    CostError
        If the file is not a summary.
    """
    if not SUMMARY.exists():
        return [], {}
    try:
        summary = json.loads(SUMMARY.read_text())
        return summary["rows"], summary.get("seconds", {})
    except (ValueError, KeyError, TypeError):
        raise CostError(f"{SUMMARY} is not a summary: remove it") from None


def add_to_summary(job: Job, row: Row) -> None:
    """Write a row next to those that are there, of other runs too.

    Raises
    ------
    CostError
        If the file is not a summary.
    """
    rows, seconds = read_summary()
    summary = {"rows": ordered([*rows, row]), "seconds": seconds | {job.name: row["seconds"]}}
    new = SUMMARY.with_suffix(".new")
    new.write_text(json.dumps(summary, indent=1) + "\n")
    new.replace(SUMMARY)


def ordered(rows: Iterable[Row]) -> list[Row]:
    """The last row of each measurement that there still is, in the order of `JOBS`."""
    found = {key_of(row): row for row in rows}
    return [found[job.key] for job in JOBS if job.key in found]


def current(rows: Iterable[Row], seeds: int | None = None) -> list[Row]:
    """The rows that a measurement would give again, in the order of `JOBS`.

    Parameters
    ----------
    rows : iterable of dict
    seeds : int, optional
        Placements of that measurement; those of each row if there is none.
    """
    found = {key_of(row): row for row in rows}
    jobs = [job for job in JOBS if job.key in found]
    return [
        found[job.key]
        for job in jobs
        if found[job.key].get("source") == source(job, seeds or found[job.key].get("seeds"))
    ]
