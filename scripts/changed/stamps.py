"""Which files have changed since a session began, by the time of their last change."""

import contextlib
import os
from collections.abc import Iterable

from scripts.changed.inputs import EVERYTHING, walk
from tb.common.places import ROOT


class Stamps:
    """When each file of the repository was last changed, as of now."""

    def __init__(self) -> None:
        self._start = _stamps(EVERYTHING)
        self._before: dict[tuple[str, ...], dict[str, int]] = {}

    def changed(self, places: tuple[str, ...]) -> list[str]:
        """Files in these places that were written, added or removed since, relative to the root."""
        if places not in self._before:
            self._before[places] = {
                file: stamp for file, stamp in self._start.items() if _is_in(file, places)
            }
        return sorted({file for file, _ in self._before[places].items() ^ _stamps(places).items()})


def _is_in(file: str, places: tuple[str, ...]) -> bool:
    folders = tuple(f"{place}/" for place in places)
    return places == EVERYTHING or file in places or file.startswith(folders)


def _stamps(places: Iterable[str]) -> dict[str, int]:
    """Files, and when each was changed or put into its place: no tool sets that time."""
    found = {}
    for place in places:
        for file in walk(place):
            with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                found[file] = os.stat(os.path.join(ROOT, file)).st_ctime_ns
    return found
