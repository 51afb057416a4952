"""Wide signals, moved through the simulator's VPI in words and hexadecimal digits.

cocotb moves every signal bit by bit, as text: for thousands of bits that takes longer than what the
simulation does with them (IEEE 1800-2017, clauses 38.15 and 38.34).
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np

HEX_STRING, VECTOR = 4, 9  # vpiHexStrVal, vpiVectorVal
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
        self.read = _Value(HEX_STRING, None)


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


def hexadecimal(signal: Any) -> str:
    """Read a signal: all its digits, those with unknown bits are no digits."""
    of = _found(signal)
    of.vpi.vpi_get_value(of.handle, ctypes.byref(of.read))
    return ctypes.string_at(of.read.pointer).decode()


def get(signal: Any) -> int:
    """Read a signal.

    Raises
    ------
    ValueError
        If it has unknown bits.
    """
    try:
        return int(hexadecimal(signal), 16)
    except ValueError:
        return int(signal.value)  # cocotb's message


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
