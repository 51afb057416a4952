"""Numbers that a caller gives."""

import operator
from typing import Any

import numpy as np

MASKED = "has masked entries, which are no numbers: fill them"


def masked(x: Any) -> bool:
    """Whether some of what a caller gives is masked: numpy would take the numbers behind it."""
    if isinstance(x, list | tuple):
        return any(map(masked, x))
    return bool(np.ma.is_masked(x))


def numbers(name: str, x: Any) -> np.ndarray:
    """Take a number, or an array of numbers, as float64.

    Parameters
    ----------
    name : str
        What the message calls it.
    x : array_like

    Raises
    ------
    ValueError
        If it is something else, such as None, a text or a complex number, which numpy would turn
        into numbers; or if some of it is masked.
    """
    if isinstance(x, float) or (type(x) is np.ndarray and x.dtype == float):  # nearly all
        return np.asarray(x)
    if masked(x):
        raise ValueError(f"{name}: {MASKED}")
    try:
        found = np.asarray(x)
        if found.dtype == object:  # such as fractions
            if any(isinstance(entry, str) for entry in found.flat):
                raise ValueError
            found = np.array([float(entry) for entry in found.flat]).reshape(found.shape)
    except (TypeError, ValueError, OverflowError):
        found = np.array("")
    if found.dtype.kind not in "biuf":
        raise ValueError(f"{name}: must be a number, or an array of numbers")
    return found.astype(float)


def whole(name: str, x: Any) -> int:
    """Take a whole number, of Python's or of numpy's.

    Parameters
    ----------
    name : str
        What the message calls it.
    x : int

    Raises
    ------
    ValueError
        If it is something else, such as a float, also one without a fraction.
    """
    try:
        return operator.index(x)
    except TypeError:
        raise ValueError(f"{name} is {x!r}, must be a whole number") from None
