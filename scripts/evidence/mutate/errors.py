"""What the user is told in one line, with exit status 2."""

from pymodel.arith.errors import Error


class MutateError(Error):
    """Bad input, a tool that is missing or failed, or a bench that fails without a mutation."""
