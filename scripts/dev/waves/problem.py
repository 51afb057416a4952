"""What goes wrong for the user."""


class Problem(Exception):
    """What the user is told in one line."""
