"""What a command line refuses."""


class InputError(ValueError):
    """Arguments out of their range, or that fit no file; `str()` is the line for the user."""
