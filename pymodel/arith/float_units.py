"""The float units' operations on arrays of bits: any format, with flags.

:class:`pymodel.arith.fp.Format` is the specification and takes one number at a time. Here it is C,
built by the machine's compiler; without one the specification itself is asked.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from cffi import FFI

from pymodel.arith import sincos
from pymodel.arith.c_build import NoCompilerError, opened, shared_library
from pymodel.arith.fp import Format

#: Operation -> how many operands it takes, and how many results it gives besides the flags.
OPERATIONS = {"add": (2, 1), "mul": (2, 1), "recip": (1, 1), "sincos": (1, 2)}
OPTIONS = ("-O2", "-std=gnu11", "-fPIC")

_SOURCE = Path(__file__).with_name("float_units.c")
_DECLARATIONS = """
void add_each(int, int, size_t, const uint64_t *, const uint64_t *, uint64_t *, uint8_t *);
void mul_each(int, int, size_t, const uint64_t *, const uint64_t *, uint64_t *, uint8_t *);
void recip_each(int, int, size_t, const uint64_t *, uint64_t *, uint8_t *);
void sincos_each(int, int, size_t, const uint64_t *, uint64_t *, uint64_t *, uint8_t *);
"""


def evaluate(fmt: Format, operation: str, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    """Evaluate an operation once for each row of its operands.

    Parameters
    ----------
    fmt : Format
    operation : str
        A key of :data:`OPERATIONS`.
    operands : numpy.ndarray
        Bits, uint64, shape (N,).

    Returns
    -------
    tuple of numpy.ndarray
        Bits of each result, uint64, shape (N,); and the flags, uint8, shape (N,).

    Raises
    ------
    ValueError
        If it is a sine or cosine of a format wider than 8/23, if there are more or fewer operands
        than it takes, or if they differ in length.
    """
    takes, gives = OPERATIONS[operation]
    shapes = [np.shape(side) for side in operands]
    if len(shapes) != takes or len(shapes[0]) != 1 or len(set(shapes)) > 1:
        arrays = "1 array" if takes == 1 else f"{takes} arrays"
        raise ValueError(f"{operation} takes {arrays} of one length, shapes are {shapes}")
    if operation == "sincos" and not fmt.has_sincos:
        raise ValueError(f"sincos of the format {fmt.exp_w}/{fmt.man_w}: must be at most 8/23")
    try:
        ffi, library = _library()
    except NoCompilerError:
        return specified(fmt, operation, *operands)
    count = len(operands[0])
    given = [np.ascontiguousarray(side, np.uint64) for side in operands]
    results = [np.empty(count, np.uint64) for _ in range(gives)]
    flags = np.empty(count, np.uint8)
    words = [ffi.from_buffer("uint64_t[]", side) for side in (*given, *results)]
    function = getattr(library, f"{operation}_each")
    function(fmt.exp_w, fmt.man_w, count, *words, ffi.from_buffer("uint8_t[]", flags))
    return *results, flags


def specified(fmt: Format, operation: str, *operands: np.ndarray) -> tuple[np.ndarray, ...]:
    """Evaluate by the specification; arguments and results are those of :func:`evaluate`."""
    sides = [np.asarray(side, np.uint64).tolist() for side in operands]
    found = list(map(getattr(fmt, operation), *sides))
    *results, flags = np.array(found, np.uint64).reshape(len(found), -1).T
    return *results, flags.astype(np.uint8)


@cache
def _library() -> tuple[FFI, Any]:
    files = {"float_units.c": _SOURCE.read_text(), "sincos_tables.h": sincos.c_tables()}
    ffi = FFI()
    ffi.cdef(_DECLARATIONS)
    return ffi, opened(ffi, shared_library(files, OPTIONS))
