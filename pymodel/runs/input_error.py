"""What a command line refuses."""

from pymodel.arith.errors import Error


class InputError(Error, ValueError):
    """Arguments out of their range, or that fit no file; `str()` is the line for the user."""


def require(value: object, kind: type, maker: str) -> None:
    """Refuse a value of another kind than the one that a function of the package makes."""
    if not isinstance(value, kind):
        found = type(value).__name__
        raise InputError(f"must be a {kind.__name__}, as pymodel.{maker} makes one, got {found}")
