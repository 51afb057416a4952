"""Cells of the tables."""

NONE = "–"


def cell(value: float | None, form: str = "{:g}") -> str:
    """A number, or a dash for None."""
    return NONE if value is None else form.format(value)


def title(unit: str, config: str) -> str:
    """A top as it is called in lists and tables."""
    return f"`{unit}`, {config}"


def verdict(met: bool) -> str:
    """Whether a goal is met."""
    return "met" if met else "**missed**"
