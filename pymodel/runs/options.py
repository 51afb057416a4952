"""The options of the algorithm that a run takes, all checked here before anything starts."""

from typing import Any

from pymodel.algorithms.requests import BASE, CLOSED_BASES
from pymodel.mechanism.scenario_file import MAX_STEPS
from pymodel.mechanism.topology import SHAPES
from pymodel.runs.input_error import require_one_of, require_whole

#: Steps between re-basings, at most: as many as a run has. The engine counts both in 32 bits.
MAX_REBASE = MAX_STEPS


def algorithm_options(
    shape: str = "balanced", base: str = BASE, rebase: int = 0, *, dashes: str = ""
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
    dashes : str
        What the names begin with in messages: ``--`` on a command line.

    Returns
    -------
    dict
        The options by their names, as :func:`pymodel.algorithms.step.prepare` takes them.

    Raises
    ------
    InputError
        If one of them is none of those above.
    """
    return {
        "shape": require_one_of(f"{dashes}shape", shape, SHAPES),
        "base": require_one_of(f"{dashes}base", base, CLOSED_BASES),
        "rebase": require_whole(f"{dashes}rebase", rebase, 0, MAX_REBASE),
    }
