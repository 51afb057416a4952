"""Numbers that a caller gives."""

import operator
from collections.abc import Collection, Mapping
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
    with np.errstate(over="ignore"):  # a longer float beyond the range is infinite
        return found.astype(float)


def number(name: str, x: Any) -> float:
    """Take one number, as a float; a ValueError for anything else, as :func:`numbers`."""
    found = numbers(name, x)
    if found.ndim:
        raise ValueError(f"{name}: must be a number, got an array")
    return float(found)


def check_dict(what: str, values: Any) -> None:
    """Refuse what is no dict of numbers by their names, by a ValueError."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} must be a dict, name -> number, got {type(values).__name__}")


def check_names(what: str, values: Any, names: Collection[str], known: str = "") -> None:
    """Refuse what is no dict of these names.

    Parameters
    ----------
    what : str
        What the message calls it.
    values : dict
    names : collection of str
    known : str
        What the message calls the names; they are listed unless given.

    Raises
    ------
    ValueError
        If it is no dict, or a name is missing or not among them.
    """
    check_dict(what, values)
    if values.keys() != set(names):
        differ = ", ".join(sorted(map(str, values.keys() ^ set(names))))
        raise ValueError(
            f"{what} must be {known or ', '.join(names)}; missing or unknown: {differ}"
        )


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
