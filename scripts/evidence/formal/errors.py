"""What the user is told in one line, with exit status 2."""

from pymodel.arith.errors import Error


class FormalError(Error):
    """Bad input, a tool that is missing, or one that fails other than by disproving."""
