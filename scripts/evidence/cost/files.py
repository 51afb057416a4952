"""The files that a synthesis job leaves."""

from pathlib import Path

from scripts.evidence.cost.job import Job
from scripts.kernel.places import ROOT
from scripts.kernel.tools import OUT


def path_of(job: Job, ending: str) -> Path:
    """A file of a job, relative to ROOT: `build/synth/fp_add-area-0-xc7.stat.json`."""
    return OUT / f"{job.name}.{ending}"


def read_output(job: Job, ending: str) -> str:
    """What stands in a file of a job."""
    return (ROOT / path_of(job, ending)).read_text()
