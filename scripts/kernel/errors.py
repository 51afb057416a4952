"""What the user is told in one line, with exit status 2."""

from pymodel.arith.errors import Error


class CostError(Error):
    """A tool that is missing or failed, bad input, or something that was not measured."""
