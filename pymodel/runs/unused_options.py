"""Which options of the algorithm would change nothing for a scenario."""

from pymodel.algorithms.step import Chain
from pymodel.mechanism.scenario import Scenario


def unused_options(
    scenario: Scenario,
    base: str | None,
    rebase: int,
    forces: bool = False,
    shape: str = "balanced",
) -> dict[str, str]:
    """The options that are given and that the scenario has no use for.

    Parameters
    ----------
    scenario
        The scenario.
    base
        How the base of a closed chain is to be solved; None where nobody says.
    rebase
        Re-base the momenta every so many steps; 0 never.
    forces
        Write the forces of the joints.
    shape
        Of the assembly tree; ``balanced`` where nobody says.

    Returns
    -------
    dict
        Name of an option -> what it is for.
    """
    unused = {}
    if base is not None and not (scenario.loops and Chain.runs(scenario)):
        unused["base"] = "only for a chain of bodies that is closed to the ground"
    if rebase and not scenario.loops:
        unused["rebase"] = "only for a mechanism with loops"
    if forces and not any(map(sum, scenario.constraints)):
        unused["forces"] = "only for a mechanism with joints that hold something"
    if shape != "balanced" and len(scenario.bodies) == 1:
        unused["shape"] = "only for a mechanism of two or more bodies"
    return unused
