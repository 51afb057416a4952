"""Base parameters of a robot by rank: what of its inertial parameters its torques can tell.

Columns of the regressor on random states that depend on others, within a tolerance, are found by a
QR decomposition with pivoting (Gautier, 1991). What they add to the independent ones makes the base
parameters: the torques are linear in these alone, and a motion that excites them tells them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular

TOLERANCE = 1e-9  #: of the diagonal of R, relative to its largest, below which a column depends
PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """What the torques of a robot depend on.

    Attributes
    ----------
    columns : ndarray of int, shape (b,)
        Independent columns of the regressor, ascending.
    matrix : ndarray, shape (b, 10 links)
        Base parameters of the inertial ones: each is one of them and what others add to it.
    names : tuple of str
        Of each the inertial parameter of its column, as ``Izz iiwa_link_3``.
    """

    columns: np.ndarray
    matrix: np.ndarray
    names: tuple[str, ...]


def base_parameters(
    regressor: np.ndarray, links: list[str], tolerance: float = TOLERANCE
) -> BaseParameters:
    """Find the base parameters.

    Parameters
    ----------
    regressor : ndarray, shape (rows, 10 links)
        Regressors one below the other, of states that excite all that can be excited.
    links : list of str
        Names of the links.
    tolerance : float
        A column depends on others if its entry on the diagonal of R is smaller than that, relative
        to the largest one.
    """
    R, order = qr(regressor, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(R))
    rank = int(np.sum(diagonal > tolerance * diagonal[0]))
    free, rest = order[:rank], order[rank:]
    matrix = np.zeros((rank, regressor.shape[1]))
    matrix[np.arange(rank), free] = 1.0
    matrix[:, rest] = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    ascending = np.argsort(free)
    columns = free[ascending]
    names = [f"{PARAMETERS[k % 10]} {links[k // 10]}" for k in columns]
    return BaseParameters(columns, matrix[ascending], tuple(names))
