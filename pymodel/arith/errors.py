"""The base classes of this package's exceptions."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """Something that this package refuses or cannot do; ``str()`` is one line that says why.

    What refuses data or arguments is a ``ValueError``, too; the smallest checks, of one number or
    name, raise a plain ``ValueError``.
    """


class RunError(Error, ArithmeticError):
    """A run that cannot go on.

    Attributes
    ----------
    trajectory : Trajectory or None
        The steps so far; None if not even the first one was kept.
    """

    trajectory: Any = None
