"""Which files have changed since a session began, by the time of their last change."""

import contextlib
import os

from pymodel.hardware.places import ROOT
from scripts.kernel.inputs import walk


class Stamps:
    """When each file of the repository was last changed, as of now."""

    def __init__(self) -> None:
        self._start = _stamps()

    def changed(self) -> list[str]:
        """Files that were written, added or removed since, relative to the root."""
        return sorted({file for file, _ in self._start.items() ^ _stamps().items()})


def _stamps() -> dict[str, int]:
    """Files, and when each was changed or put into its place: no tool sets that time."""
    found = {}
    for file in walk("."):
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            found[file] = os.stat(os.path.join(ROOT, file)).st_ctime_ns
    return found
