"""What a command line refuses."""


class InputError(ValueError):
    """Arguments that make no sense; `str()` is the line for the user."""
