"""Wide signals, moved through the simulator's VPI in words.

cocotb moves every signal bit by bit, as text: for thousands of bits that takes longer than what the
simulation does with them (IEEE 1800-2017, clauses 38.15 and 38.34).
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np

VECTOR = 9  # vpiVectorVal
NO_DELAY = 1  # vpiNoDelay
WORD_BITS, WORD_OCTETS = 32, 4


class _Value(ctypes.Structure):
    """``s_vpi_value``, with a pointer in its union."""

    _fields_ = (("format", ctypes.c_int32), ("pointer", ctypes.c_void_p))


class _Signal:
    """A signal of the simulator, found by its name."""

    def __init__(self, signal: Any) -> None:
        self.vpi = _vpi()
        self.handle = self.vpi.vpi_handle_by_name(signal._path.encode(), None)
        if not self.handle:
            raise LookupError(f"the simulator knows no {signal._path}")
        # s_vpi_vecval: of each word its bits, and which of them are x or z
        self.words = np.zeros((-(-len(signal) // WORD_BITS), 2), np.uint32)
        self.written = _Value(VECTOR, self.words.ctypes.data)
        self.read = _Value(VECTOR, None)


def put(signal: Any, value: int) -> None:
    """Write a signal, at once: not in a phase in which nothing may be written.

    Parameters
    ----------
    signal
        cocotb's handle.
    value
        Not negative.

    Raises
    ------
    OverflowError
        If it is negative, or wider than the signal's words.
    """
    to = _found(signal)
    octets = value.to_bytes(WORD_OCTETS * len(to.words), "little")
    to.words[:, 0] = np.frombuffer(octets, "<u4")
    to.vpi.vpi_put_value(to.handle, ctypes.byref(to.written), None, NO_DELAY)


def octets(signal: Any, count: int | None = None) -> bytes:
    """Read a signal: its octets, the lowest first, and as many as fill its words.

    Parameters
    ----------
    signal
        cocotb's handle.
    count
        Only so many octets; what is above them may be unknown.

    Raises
    ------
    ValueError
        If it has unknown bits.
    """
    of = _found(signal)
    size = len(of.words) if count is None else -(-count // WORD_OCTETS)
    of.vpi.vpi_get_value(of.handle, ctypes.byref(of.read))
    read = ctypes.string_at(of.read.pointer, of.words[:size].nbytes)
    words = np.frombuffer(read, np.uint32).reshape(-1, 2)
    if words[:, 1].any():
        raise ValueError(f"{signal._path} has unknown bits")
    return words[:, 0].tobytes()[:count]


def get(signal: Any) -> int:
    """Read a signal as a number.

    Raises
    ------
    ValueError
        If it has unknown bits.
    """
    return int.from_bytes(octets(signal), "little")


@cache
def _found(signal: Any) -> _Signal:
    return _Signal(signal)


@cache
def _vpi() -> ctypes.CDLL:
    """The simulator's VPI, which is part of this process."""
    vpi = ctypes.CDLL(None)
    handle, value = ctypes.c_void_p, ctypes.POINTER(_Value)
    for name, result, arguments in (
        ("vpi_handle_by_name", handle, (ctypes.c_char_p, handle)),
        ("vpi_put_value", handle, (handle, value, ctypes.c_void_p, ctypes.c_int32)),
        ("vpi_get_value", None, (handle, value)),
    ):
        getattr(vpi, name).restype = result
        getattr(vpi, name).argtypes = arguments
    return vpi
