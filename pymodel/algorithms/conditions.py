"""Condition numbers of the matrices that are watched; they take part in no result.

A matrix of a joint that holds translations and rotations mixes 1/kg with 1/(kg m^2). Its rotations
are weighed so that neither kind has the larger diagonal: the number then depends on no unit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pymodel.algorithms.linalg import condition_2x2
from pymodel.algorithms.requests import Eliminate
from pymodel.arith.scalars import Matrix
from pymodel.mechanism.scenario import Constraints, Scenario

PIN = Constraints(2, 0)  #: what a planar pin holds


def held_by(scenario: Scenario, request: Any) -> Constraints:
    """Find what the joint holds whose matrix (33) a request inverts."""
    return scenario.constraints[request.b.joint] if isinstance(request, Eliminate) else PIN


def joint_condition(matrix: Matrix[float], held: Constraints) -> float | np.ndarray:
    """Condition number of a joint matrix (33); infinite if it is not positive definite.

    Parameters
    ----------
    matrix : c x c
        Symmetric. Entries may be arrays of one shape: many matrices at once.
    held : Constraints
        c of them, translations first.

    Returns
    -------
    float or numpy.ndarray
        Of the entries' shape.
    """
    if held == PIN:
        return condition_2x2(matrix)
    matrices, finite = _weighed(np.moveaxis(np.array(matrix), (0, 1), (-2, -1)), [held])
    found = np.full(finite.shape, np.inf)
    values = np.linalg.eigvalsh(matrices[finite])
    least, largest = values[..., 0], values[..., -1]
    found[finite] = np.divide(largest, least, where=least > 0.0, out=np.full(least.shape, np.inf))
    return found[()]


def eta_condition(scenario: Scenario, eta: np.ndarray) -> float | np.ndarray:
    """Condition number of eta, the matrix that connects what closes the loops.

    Parameters
    ----------
    scenario : Scenario
    eta : numpy.ndarray, shape (..., m, m)

    Returns
    -------
    float or numpy.ndarray
        Shape (...); infinite where an entry is not finite.
    """
    loops = scenario.constraints[len(scenario.bodies) :]
    matrices, finite = _weighed(np.array(eta), loops)
    found = np.full(finite.shape, np.inf)
    found[finite] = np.linalg.cond(matrices[finite])
    return found[()]


def _weighed(matrices: np.ndarray, held: Sequence[Constraints]) -> tuple[np.ndarray, np.ndarray]:
    """Weigh rotations against translations; matrices (..., c, c), and which are finite (...)."""
    turns = [i >= joint.translations for joint in held for i in range(sum(joint))]
    if any(turns) and not all(turns):
        diagonal = np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))
        moves = np.logical_not(turns)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lengths = np.sqrt(diagonal[..., moves].max(axis=-1) / diagonal[..., turns].max(axis=-1))
            weights = np.where(turns, lengths[..., None], 1.0)
            matrices = weights[..., :, None] * matrices * weights[..., None, :]
    return matrices, np.isfinite(matrices).all(axis=(-2, -1))
