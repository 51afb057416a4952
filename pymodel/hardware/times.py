"""How messages say when something was."""


def text(ns: float) -> str:
    """A time in nanoseconds, with all its digits: ``1180465 ns``, ``56.001 ns``."""
    return f"{ns:.3f}".rstrip("0").rstrip(".") + " ns"
