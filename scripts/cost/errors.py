"""What the user is told in one line, with exit status 2."""

from pymodel.arith.errors import Error


class CostError(Error):
    """A tool that is missing or failed, bad input, or something that was not measured."""


def positive(name: str, value: int) -> int:
    """The value of an option.

    Raises
    ------
    CostError
        If it is less than 1.
    """
    if value < 1:
        raise CostError(f"--{name}: must be 1 or more, got {value}")
    return value
