"""What a command line refuses."""

import contextlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pymodel.arith.errors import Error
from pymodel.arith.numbers import numbers, whole


class InputError(Error, ValueError):
    """Arguments out of their range, or that fit no file; `str()` is the line for the user."""


def require(value: object, kind: type, maker: str) -> None:
    """Refuse a value of another kind than the one that a function of the package makes."""
    if not isinstance(value, kind):
        found = type(value).__name__
        raise InputError(f"must be a {kind.__name__}, as pymodel.{maker} makes one, got {found}")


def require_numbers(name: str, value: Any) -> np.ndarray:
    """Return a number, or an array of numbers, as float64; refuse anything else."""
    try:
        return numbers(name, value)
    except ValueError as error:
        raise InputError(str(error)) from None


def require_one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a word; refuse what is none of those that are known."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}: must be one of {', '.join(known)}, got {value!r}")
    return value


def require_whole(name: str, value: Any, lowest: int, highest: float = math.inf) -> int:
    """Return a whole number as Python's; refuse any other, or one out of its range."""
    with contextlib.suppress(ValueError):
        if lowest <= (found := whole(name, value)) <= highest:
            return found
    span = f"{lowest} or more" if highest == math.inf else f"{lowest} to {highest}"
    raise InputError(f"{name}: must be a whole number of {span}, got {value!r}")
