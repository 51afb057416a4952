"""Bins that simulations have met, merged into one database of cocotb-coverage."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cocotb_coverage.coverage import CoverageDB, CoverPoint, coverage_db

from pymodel.hardware.coverage_point import Bin, Point

Met = dict[tuple[str, str], set[Bin]]
NO_NAME = r"\W+"
STALE = "; if the points have changed since, run `make test` again"


class Row(NamedTuple):
    """A point: how many bins have to be met, how many were, how many nothing can reach."""

    unit: str
    point: str
    bins: int
    hit: int
    excluded: int


class CoverageError(Exception):
    """What was met cannot be: a line for the terminal."""


def read_met(folder: Path) -> Met:
    """Merge the files of a folder that simulations left, see :mod:`pymodel.hardware.results`.

    Returns
    -------
    dict
        (unit, point) -> bins.

    Raises
    ------
    CoverageError
        If a file is damaged.
    """
    met = defaultdict(set)
    for path in sorted(folder.glob("*.jsonl")):
        try:
            for line in path.read_text().splitlines():
                unit, point, bins = json.loads(line)
                met[unit, point].update(map(tuple, bins))
        except (ValueError, TypeError):
            raise CoverageError(f"{path} is damaged: remove it, and run its bench again") from None
    return dict(met)


def fill(points: Sequence[Point], met: Met) -> CoverageDB:
    """Sample what was met into cocotb-coverage's database, one cover point for each point.

    Raises
    ------
    CoverageError
        If something was met that no point has, or that a point calls unreachable.
    """
    names = {(point.unit, point.name) for point in points}
    for unit, name in met.keys() - names:
        raise CoverageError(f"{unit} has no point {name!r}, but bins of it were met{STALE}")
    coverage_db.clear()
    for point in points:
        found = met.get((point.unit, point.name), set())
        known = set(point.bins)
        for bin_ in sorted(found - known, key=repr):
            why = point.excluded.get(bin_, f"no such bin{STALE}")
            raise CoverageError(f"{point.unit}, {point.name}: {bin_} was met, but: {why}")
        _sample(point, [bin_ for bin_ in point.bins if bin_ in found])
    return coverage_db


def _name(point: Point) -> str:
    """A point's name in the database, which makes elements of XML of it."""
    return f"{point.unit}.{re.sub(NO_NAME, '_', point.name)}"


def _sample(point: Point, found: Iterable[Bin]) -> None:
    """Define a cover point and sample it."""
    texts = {bin_: point.text(bin_) for bin_ in point.bins}

    @CoverPoint(_name(point), bins=list(texts.values()))
    def sample(text: str) -> None:
        pass

    for bin_ in found:
        sample(texts[bin_])


def rows(points: Sequence[Point]) -> list[Row]:
    """What the database says of each point."""
    found = []
    for point in points:
        item = coverage_db[_name(point)]
        found.append(Row(point.unit, point.name, item.size, item.coverage, len(point.excluded)))
    return found


def by_unit(some: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of summary.json: unit, bins, hit, excluded."""
    found: dict[str, dict[str, Any]] = {}
    for row in some:
        unit = found.setdefault(row.unit, {"unit": row.unit, "bins": 0, "hit": 0, "excluded": 0})
        unit["bins"] += row.bins
        unit["hit"] += row.hit
        unit["excluded"] += row.excluded
    return list(found.values())


def holes(point: Point, met: Met) -> list[Bin]:
    """The bins of a point that were not met, though they can be."""
    found = met.get((point.unit, point.name), set())
    return [bin_ for bin_ in point.bins if bin_ not in found]
