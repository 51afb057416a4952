"""What `make test` leaves to the night: tests with the marker `nightly`."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest


def names_of(item: Any) -> set[str]:
    """What the marker `nightly` may name a test by: its function, and its case."""
    case = getattr(item, "callspec", None)
    return {item.originalname, *([case.id] if case else [])}


def leave_to_the_night(config: Any, items: list[Any]) -> None:
    """Leave out what is marked `nightly`; refuse to where that would be all of a module.

    By day cases run that the marker names, and with `every=3` each third one, from the first on.
    """
    day: list[Any] = []
    night: list[Any] = []
    known: dict[Path, set[str]] = {}
    named: dict[Path, set[str]] = {}
    cases: Counter[tuple[Path, str]] = Counter()
    for item in items:
        mark, names = item.get_closest_marker("nightly"), names_of(item)
        place = cases[item.path, item.originalname]
        cases[item.path, item.originalname] += 1
        known.setdefault(item.path, set()).update(names)
        named.setdefault(item.path, set()).update(mark.args if mark else ())
        every = mark.kwargs.get("every") if mark else None
        by_day = not mark or names.intersection(mark.args) or every and place % every == 0
        (day if by_day else night).append(item)
    if not any("::" in word for word in config.args):  # modules are whole
        for path, names in known.items():
            if stale := named[path] - names:
                raise pytest.UsageError(f"{path}: nightly names no test: {', '.join(stale)}")
        if left := known.keys() - {item.path for item in day}:
            raise pytest.UsageError(f"{min(left)}: nightly leaves nothing of it to `make test`")
    config.hook.pytest_deselected(items=night)
    items[:] = day
