"""Condition numbers of the matrices that are watched; they take part in no result.

A joint that holds translations and rotations has a matrix of 1/kg and 1/(kg m^2). What is said of
it must depend on no unit of length.
"""

import numpy as np

from pymodel.algorithms.linalg import condition_2x2
from pymodel.arith.scalars import Matrix
from pymodel.mechanism.scenario import Scenario


def joint_condition(
    scenario: Scenario, matrix: Matrix[float], definite: bool = True
) -> float | np.ndarray:
    """Condition number of a joint matrix (33); infinite if it is not positive definite.

    Where not all joints are planar pins it is that of the matrix with its diagonal scaled to one,
    as the elimination without pivoting does not care about scales.

    Parameters
    ----------
    scenario : Scenario
    matrix : c x c
        Symmetric. Entries may be arrays of one shape: many matrices at once.
    definite : bool
        False: the bodies' lent inertias are not (:class:`pymodel.mechanism.lending.Lending`), so
        that the matrix need not be either; signs then do not count.

    Returns
    -------
    float or numpy.ndarray
        Of the entries' shape.
    """
    if scenario.pins_only:
        return condition_2x2(matrix, definite)
    matrices = np.moveaxis(np.array(matrix), (0, 1), (-2, -1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
        weights = 1.0 / np.sqrt(diagonal if definite else np.abs(diagonal))
        matrices = weights[..., :, None] * matrices * weights[..., None, :]
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    found = np.full(finite.shape, np.inf)
    values = np.linalg.eigvalsh(matrices[finite])
    if not definite:
        values = np.sort(np.abs(values), axis=-1)
    least, largest = values[..., 0], values[..., -1]
    found[finite] = np.divide(largest, least, where=least > 0.0, out=np.full(least.shape, np.inf))
    return found[()]


def eta_condition(scenario: Scenario, eta: np.ndarray) -> float | np.ndarray:
    """Condition number of eta, the matrix that connects what closes the loops.

    Rotations are weighed so that neither they nor the translations have the larger diagonal.

    Parameters
    ----------
    scenario : Scenario
    eta : numpy.ndarray, shape (..., m, m)

    Returns
    -------
    float or numpy.ndarray
        Shape (...); infinite where an entry is not finite.
    """
    matrices = np.array(eta)
    loops = scenario.constraints[len(scenario.bodies) :]
    turns = [i >= held.translations for held in loops for i in range(sum(held))]
    if any(turns) and not all(turns):
        diagonal = np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))
        moves = np.logical_not(turns)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            lengths = np.sqrt(diagonal[..., moves].max(axis=-1) / diagonal[..., turns].max(axis=-1))
            weights = np.where(turns, lengths[..., None], 1.0)
            matrices = weights[..., :, None] * matrices * weights[..., None, :]
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    found = np.full(finite.shape, np.inf)
    found[finite] = np.linalg.cond(matrices[finite])
    return found[()]
