"""What a command line refuses."""

from pymodel.arith.errors import Error


class InputError(Error, ValueError):
    """Arguments out of their range, or that fit no file; `str()` is the line for the user."""
