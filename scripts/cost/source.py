"""Whether two rows are comparable."""

import hashlib

from scripts.cost.coprocessors import box_jobs
from scripts.cost.job import Job
from scripts.cost.modules import needed_files
from scripts.cost.nextpnr import place_options
from scripts.cost.tools import REQUIREMENTS
from scripts.cost.wrapper import wrapper
from scripts.cost.yosys import delay_script, synthesis_script
from scripts.places import ROOT


def source(job: Job, seeds: int) -> str:
    """Changes with all that the tools are given: rows of other sources are not comparable.

    That is RTL of the module and of what it instantiates, parameters, options, versions, seeds.
    """
    files = [*needed_files(job.unit), REQUIREMENTS]
    given = [synthesis_script(job), delay_script(job), wrapper(job) if job.is_unit else ""]
    given += map(synthesis_script, box_jobs(job))
    if job.family == "ecp5":
        given.append(f"{place_options(job)} {seeds}")
    content = [(ROOT / file).read_bytes() for file in files]
    return hashlib.sha256(b"\0".join([*content, *map(str.encode, given)])).hexdigest()[:16]
