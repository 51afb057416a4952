"""The base classes of this package's exceptions."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

IS_TEXT = "a text of many lines"  #: where a path is needed, see :func:`is_text`


class Error(Exception):
    """Something that this package refuses or cannot do; ``str()`` is one line that says why.

    What refuses data or arguments is a ``ValueError``, too; the smallest checks, of one number or
    name, raise a plain ``ValueError``.
    """


class InputError(Error, ValueError):
    """Arguments out of their range, or that fit no file; `str()` is the line for the user."""


def require(value: object, kind: type, maker: str) -> None:
    """Refuse a value of another kind than the one that a function of the package makes."""
    if not isinstance(value, kind):
        found = type(value).__name__
        raise InputError(f"must be a {kind.__name__}, as pymodel.{maker} makes one, got {found}")


def require_one_of(name: str, value: Any, known: Iterable[str]) -> str:
    """Return a word; refuse what is none of those that are known."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}: must be one of {', '.join(known)}, got {value!r}")
    return value


def require_path(name: str, value: Any) -> None:
    """Refuse what names no file; also a number, which Python takes for an open one."""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{name}: must be that of a file, got {value!r}")
    if is_text(value):
        raise InputError(f"{name}: must be that of a file, got {IS_TEXT}")


def is_text(path: str | os.PathLike[str]) -> bool:
    """Whether what should be a file's path is rather what stands in a file."""
    return "\n" in str(path)


def require_function(name: str, value: Any) -> None:
    """Refuse what cannot be called; None is that there is nothing to call."""
    if value is not None and not callable(value):
        raise InputError(f"{name}: must be a function, got {value!r}")


def require_flag(name: str, value: Any) -> bool:
    """Return True or False; refuse anything else."""
    if not isinstance(value, bool):
        raise InputError(f"{name}: must be True or False, got {value!r}")
    return value


class RunError(Error, ArithmeticError):
    """A run that cannot go on.

    Attributes
    ----------
    trajectory : Trajectory or None
        The steps so far; None if not even the first one was kept.
    """

    trajectory: Any = None
