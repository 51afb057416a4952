"""Why nothing can be said about two versions of a module."""


class EquivalenceError(Exception):
    """A tool that is missing, or a design that it cannot read."""
