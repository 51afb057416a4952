"""Bins of functional coverage that a regression has met so far."""

import json
from collections.abc import Iterator
from pathlib import Path

from pymodel.hardware.coverage_point import Bin


class Met:
    """Bins that were met, in a file that is always whole.

    Parameters
    ----------
    file
        Lines as of :func:`pymodel.hardware.results.add_coverage`, one a point; may be missing.

    Attributes
    ----------
    bins : dict
        (unit, point) -> bins.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.bins: dict[tuple[str, str], set[Bin]] = {}
        if file.exists():
            self._take(file.read_text())

    def add(self, text: str) -> None:
        """Add what a simulation has met, lines likewise."""
        if self._take(text):
            new = self._file.with_suffix(".new")
            self._file.parent.mkdir(parents=True, exist_ok=True)
            new.write_text("".join(self._lines()))
            new.replace(self._file)

    def _take(self, text: str) -> bool:
        """Whether some were new."""
        before = sum(map(len, self.bins.values()))
        for line in text.splitlines():
            unit, point, bins = json.loads(line)
            self.bins.setdefault((unit, point), set()).update(map(tuple, bins))
        return sum(map(len, self.bins.values())) > before

    def _lines(self) -> Iterator[str]:
        for (unit, point), bins in self.bins.items():
            yield json.dumps([unit, point, sorted(bins, key=repr)]) + "\n"
