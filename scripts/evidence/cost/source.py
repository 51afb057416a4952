"""Whether two rows are comparable."""

from scripts.evidence.cost.coprocessors import box_jobs
from scripts.evidence.cost.job import Job
from scripts.evidence.cost.nextpnr import place_options
from scripts.evidence.cost.wrapper import wrapper
from scripts.evidence.cost.yosys import delay_script, synthesis_script
from scripts.kernel.digest import key_of, pinned
from scripts.kernel.modules import needed_files
from scripts.kernel.tools import REQUIREMENTS


def source(job: Job, seeds: int) -> str:
    """Changes with all that the tools are given: rows of other sources are not comparable.

    That is RTL of the module and of what it instantiates, parameters, options, versions, seeds.
    """
    given = [synthesis_script(job), delay_script(job), wrapper(job) if job.is_unit else ""]
    given += map(synthesis_script, box_jobs(job))
    if job.family == "ecp5":
        given.append(f"{place_options(job)} {seeds}")
    return key_of(needed_files(job.unit), pinned(REQUIREMENTS), *given)[:16]
