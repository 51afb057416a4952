"""The page of functional coverage."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from pymodel.hardware.coverage_point import Bin, Point
from scripts.evidence.coverage.functional import Met, Row, holes
from scripts.kernel.pages import template

TEMPLATE = Path(__file__).with_name("page.html")


def _excluded(point: Point) -> dict[str, list[str]]:
    """Reason -> the bins that it excludes."""
    found: dict[str, list[Bin]] = defaultdict(list)
    for bin_, why in point.excluded.items():
        found[why].append(bin_)
    return {why: [point.text(bin_) for bin_ in bins] for why, bins in found.items()}


def write_page(path: Path, points: Sequence[Point], rows: Sequence[Row], met: Met) -> None:
    """Write it: each point with its holes and its unreachable bins."""
    found = [
        {
            "row": row,
            "holes": [point.text(bin_) for bin_ in holes(point, met)],
            "excluded": _excluded(point),
        }
        for point, row in zip(points, rows, strict=True)
    ]
    path.write_text(template(TEMPLATE).render(points=found))
