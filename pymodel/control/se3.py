"""Logarithms of placements and their Jacobians, of many placements at once: see ``se3.c``.

Twists are linear first, in the axes of the moved frame, as Pinocchio has them. Columns of arrays
are placements.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI

from pymodel.arith.c_build import opened, shared_library

OPTIONS = ("-O3", "-march=native", "-std=gnu11", "-fPIC", "-fno-math-errno")
_FOLDER = Path(__file__).parent
#: The sources, for other libraries that need them.
FILES = {name: (_FOLDER / name).read_text() for name in ("se3.c", "se3.h")}
_DECLARATIONS = """
void log6(size_t count, const double *R, const double *p, double *twist);
void jacobian_log6(size_t count, const double *twist, double *out);
"""


@cache
def _library() -> tuple[FFI, Any]:
    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, opened(ffi, shared_library(FILES, OPTIONS))


def _call(name: str, *arrays: np.ndarray) -> None:
    ffi, library = _library()
    pointers = [ffi.cast("double *", array.ctypes.data) for array in arrays]
    getattr(library, name)(arrays[0].shape[1], *pointers)


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
    R, p = np.ascontiguousarray(R, np.float64), np.ascontiguousarray(p, np.float64)
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
    twist = np.ascontiguousarray(twist, np.float64)
    found = np.empty((36, twist.shape[1]))
    _call("jacobian_log6", twist, found)
    return found
