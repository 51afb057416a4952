"""build/synth/summary.json: the rows of all runs."""

from collections.abc import Iterable

from scripts.evidence.cost.jobs import JOBS
from scripts.evidence.cost.rows import Row, key_of
from scripts.evidence.cost.source import source
from scripts.kernel.journal import Summary
from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT

SUMMARY = Summary(ROOT / OUT / "summary.json", [job.key for job in JOBS], key_of, "rows")


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


def current_rows() -> list[Row]:
    """Those of the file.

    Raises
    ------
    InputError
        If it is no summary.
    """
    return current(SUMMARY.read().values())
