"""What a scenario has no use for, and what its algorithm takes."""

from typing import Any

from pymodel.algorithms.unused_options import unused_options
from pymodel.app.options import COPROCESSOR, Asked
from pymodel.app.table import BASES
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.input_error import InputError
from pymodel.runs.options import algorithm_options, projection


def require_used(
    scenario: Scenario,
    base: str | None = None,
    rebase: int | None = 0,
    forces: bool = False,
    shape: str | None = None,
    project: int | None = 0,
) -> None:
    """Refuse options that are given and would change nothing.

    Raises
    ------
    InputError
        Naming the option and its value.
    """
    given = {"base": base, "rebase": rebase, "forces": forces, "shape": shape, "project": project}
    shape = shape or "balanced"
    unused = unused_options(scenario, base, rebase or 0, forces, shape, project or 0)
    for option, use in unused.items():
        value = "" if given[option] is True else f" {given[option]}"
        raise InputError(f"--{option}{value}: {use}")


def algorithm(asked: Asked, scenario: Scenario) -> dict[str, Any]:
    """The options of the algorithm that a run takes; ``shape`` if given.

    Raises
    ------
    InputError
        If one is given that would change nothing for this scenario.
    """
    shape, forces = vars(asked).get("shape"), vars(asked).get("forces", False)
    require_used(scenario, asked.base, asked.rebase, forces, shape, asked.project)
    found = {"base": asked.base or BASES[asked.target][0], "rebase": asked.rebase}
    found["project"] = 0
    if asked.target != COPROCESSOR:  # which takes its part of every step alike
        found["project"] = projection(asked.project, scenario, asked.arithmetic, asked.rebase)
    algorithm_options(**found, dashes="--")
    return found if shape is None else found | {"shape": shape}
