"""What a command line refuses."""

import contextlib
import errno
import math
import os
from typing import Any

import numpy as np

from pymodel.arith.errors import InputError as InputError
from pymodel.arith.errors import require as require
from pymodel.arith.errors import require_function as require_function
from pymodel.arith.errors import require_one_of as require_one_of
from pymodel.arith.errors import require_path as require_path
from pymodel.arith.numbers import numbers, whole


def require_numbers(name: str, value: Any) -> np.ndarray:
    """Return a number, or an array of numbers, as float64; refuse anything else."""
    try:
        return numbers(name, value)
    except ValueError as error:
        raise InputError(str(error)) from None


def require_whole(name: str, value: Any, lowest: int, highest: float = math.inf) -> int:
    """Return a whole number as Python's; refuse any other, or one out of its range."""
    with contextlib.suppress(ValueError):
        if lowest <= (found := whole(name, value)) <= highest:
            return found
    span = f"{lowest} or more" if highest == math.inf else f"{lowest} to {highest}"
    raise InputError(f"{name}: must be a whole number of {span}, got {value!r}")


def require_other_file(out: str, *read: str) -> None:
    """Refuse to write a file that is read, however it is named.

    Raises
    ------
    InputError
        If ``out`` is one of the others.
    """
    exists = os.path.exists
    if exists(out) and any(exists(path) and os.path.samefile(out, path) for path in read):
        raise InputError(f"--out: {out} is what is read")


def cannot_write(path: str | os.PathLike[str], error: OSError) -> InputError:
    """The error that says why a file, for which folders are made, cannot be written."""
    reason = error.strerror or error
    if isinstance(error, FileExistsError):  # of mkdir: a file stands where a folder is to be
        reason = os.strerror(errno.ENOTDIR)
    return InputError(f"{path}: cannot write: {reason}")
