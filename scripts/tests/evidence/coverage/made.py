"""A point, made up."""

from pymodel.hardware.coverage_point import Point

NEVER = "2 and 3 never meet"
POINT = Point(
    "unit",
    "pairs",
    {"a": (1, 2), "b": (3, 4)},
    lambda bin_: NEVER if bin_ == (2, 3) else "",
)
