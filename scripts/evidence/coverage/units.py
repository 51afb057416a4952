"""All points of functional coverage, of the records in units/."""

from collections.abc import Iterator

from pymodel.hardware.coverage_point import Point
from scripts.kernel.simulations import bench_named
from scripts.kernel.units import Record, named, records


def all_points() -> list[Point]:
    """Every point of every unit; finding what is unreachable takes seconds."""
    return [point for record in records().values() for point in points_of(record)]


def points_of(record: Record) -> Iterator[Point]:
    """The points of a unit.

    Raises
    ------
    UnitError
        If its record names what is not there.
    """
    for name in record.coverage:
        found = named(name)
        if callable(found):
            found = found(bench_named(record.benches[0]))
        yield from [found] if isinstance(found, Point) else found
