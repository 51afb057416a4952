"""The options of the algorithm that a run takes, all checked here before anything starts."""

from typing import Any

from pymodel.algorithms.requests import BASE, CLOSED_BASES
from pymodel.arith import scalars
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import MAX_STEPS
from pymodel.mechanism.topology import SHAPES
from pymodel.runs.input_error import InputError, require_one_of, require_whole

#: Steps between re-basings or projections, at most: as many as a run has. The engine counts all in
#: 32 bits.
MAX_REBASE = MAX_STEPS

#: Steps between projections where nobody says, of loops in formats narrower than float64.
PROJECT = 10


def algorithm_options(
    shape: str = "balanced",
    base: str = BASE,
    rebase: int = 0,
    project: int = 0,
    *,
    dashes: str = "",
) -> dict[str, Any]:
    """Check options of the algorithm.

    Parameters
    ----------
    shape : str
        One of :data:`pymodel.mechanism.topology.SHAPES`.
    base : str
        One of :data:`pymodel.algorithms.requests.CLOSED_BASES`.
    rebase : int
        Re-base the momenta every so many steps; 0 never.
    project : int
        Project the coordinates onto the loops every so many steps, which re-bases as well; 0 never.
    dashes : str
        What the names begin with in messages: ``--`` on a command line.

    Returns
    -------
    dict
        The options by their names, as :func:`pymodel.algorithms.step.prepare` takes them.

    Raises
    ------
    InputError
        If one of them is none of those above, or a run is to re-base in other steps than it
        projects.
    """
    found = {
        "shape": require_one_of(f"{dashes}shape", shape, SHAPES),
        "base": require_one_of(f"{dashes}base", base, CLOSED_BASES),
        "rebase": require_whole(f"{dashes}rebase", rebase, 0, MAX_REBASE),
        "project": require_whole(f"{dashes}project", project, 0, MAX_REBASE),
    }
    if project and rebase not in (0, project):
        raise InputError(
            f"{dashes}rebase {rebase}: a projection re-bases as well, here every {project} steps: "
            f"give {dashes}project alone, or {dashes}project 0"
        )
    return found


def projection(project: int | None, scenario: Scenario, arithmetic: str, rebase: int = 0) -> int:
    """Steps between projections: as somebody says, otherwise those of the arithmetic.

    Parameters
    ----------
    project
        None where nobody says.
    scenario
        What runs.
    arithmetic
        As for :func:`pymodel.arith.scalars.parse`, which raises a ValueError.
    rebase
        Steps between re-basings, with which it then coincides; 0 never.
    """
    if project is not None:
        return project
    narrow = scalars.parse(arithmetic).unit_roundoff > scalars.Float64().unit_roundoff
    return (rebase or PROJECT) if scenario.loops and narrow else 0
