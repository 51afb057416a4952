"""Logarithms of placements and their Jacobians, of many placements at once: see ``se3.c``.

Twists are linear first, in the axes of the moved frame, as Pinocchio has them. Columns of arrays
are placements.
"""

from functools import cache

import numpy as np

from pymodel.control.c_library import Library, doubles


@cache
def _library() -> Library:
    return Library("se3")


def _call(name: str, *arrays: np.ndarray) -> None:
    _library().call(name, arrays[0].shape[1], *arrays)


def log6(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Twists whose exponentials are placements; of a half-turn one of both.

    Parameters
    ----------
    R : ndarray, shape (9, N)
        Rotations, row by row.
    p : ndarray, shape (3, N)
        m.

    Returns
    -------
    ndarray, shape (6, N)
        m, then rad.

    Raises
    ------
    NoCompilerError
        If there is no C compiler.
    """
    R, p = doubles(R), doubles(p)
    found = np.empty((6, R.shape[1]))
    _call("log6", R, p, found)
    return found


def jacobian_log6(twist: np.ndarray) -> np.ndarray:
    """How logarithms change as their placements move on by a twist of their own frame.

    Parameters
    ----------
    twist : ndarray, shape (6, N)
        m, then rad: the logarithms.

    Returns
    -------
    ndarray, shape (36, N)
        Pinocchio's Jlog6, row by row: the inverse of the exponential's right Jacobian.

    Raises
    ------
    NoCompilerError
        If there is no C compiler.
    """
    twist = doubles(twist)
    found = np.empty((36, twist.shape[1]))
    _call("jacobian_log6", twist, found)
    return found
