"""Points of the float units, found for whole arrays of operands.

Which bins are reachable is found by trial: every pair (every number) of the formats of at most
ten bits is sampled, and what none of them reaches is unreachable in formats of any size.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Protocol

import numpy as np

from pymodel.arith import float_units
from pymodel.arith.fp import OVERFLOW, UNDERFLOW, Format
from pymodel.arith.stimulus import all_pairs
from pymodel.hardware.coverage_point import Bin, Point

CLASSES = ("zero", "subnormal", "smallest binade", "normal", "largest binade", "infinity", "NaN")
SIGNS = ("+", "-")
ROUNDINGS = ("exact", "below half", "tie, down to even", "tie, up to even", "above half")
SIDES_OF_EXACT = ("exact", "rounded down", "rounded up")
RESULTS = ("zero", "underflow", "smallest binade", "normal", "largest binade", "overflow")
DISTANCES = ("0", "1", "2", "inside", "MAN_W", "MAN_W + 1", "MAN_W + 2", "beyond")
ORDERS = ("a", "b", "same")
OPERATIONS = ("add", "subtract")
SHIFTS = ("carry", "none", "one left", "more left")
NORMS = ("below 2", "2 or more")
QUARTERS = ("0", "1", "2", "3")
ANGLES = ("tiny", "below 1/2", "below a turn", "turns", "out of range")
#: Exponents at which `ANGLES` change.
ANGLE_EXPONENTS = (-12, -1, 3, 17)
SIGNIFICANDS_UP_TO = 23  # bits, where exact sums and products still fit the arrays' numbers
#: Every pair of their numbers is tried, and every number of the wider ones.
SMALL_FORMATS = (Format(4, 3), Format(5, 2), Format(4, 4), Format(4, 5))
SMALL_UNARY = (*SMALL_FORMATS, Format(5, 10), Format(6, 9), Format(8, 7))
UNARY = {"recip": 1, "sincos": 1}
NOBODY = "no numbers of the formats of at most 10 bits, all tried, come here"
NOBODY_UNARY = "no number of the formats of at most 16 bits, all tried, comes here"

Columns = Sequence[np.ndarray]


def _points(unit: str, stages: int) -> dict[str, Point]:
    """The points of a unit by name, all bins reachable for now."""
    operation = unit.removeprefix("fp_")
    depths = tuple(range(stages + 1))
    of_a = {"class of a": CLASSES, "sign of a": SIGNS}
    of_b = {"class of b": CLASSES, "sign of b": SIGNS}
    result = {"result": RESULTS, "sign": SIGNS}
    parts = {
        "add": {
            "operands": of_a | of_b | {"stages": depths},
            "rounding": {
                "operation": OPERATIONS,
                "exponent distance": DISTANCES,
                "larger exponent": ORDERS,
                "rounding": ROUNDINGS,
            },
            "normalisation": {
                "operation": OPERATIONS,
                "shift": SHIFTS,
                "rounding": ROUNDINGS,
                "rounds into the next binade": (False, True),
            },
            "result": {"operation": OPERATIONS} | result,
        },
        "mul": {
            "operands": of_a | of_b | {"stages": depths},
            "rounding": {
                "product": NORMS,
                "rounding": ROUNDINGS,
                "rounds into the next binade": (False, True),
                "result": RESULTS[1:],
            },
            "result": result,
        },
        "recip": {
            "operands": of_a | {"stages": depths},
            "rounding": {"rounding": SIDES_OF_EXACT, "result": RESULTS[1:]},
        },
        "sincos": {
            "operands": of_a | {"stages": depths},
            "angle": {"sign": SIGNS, "quarter turns": QUARTERS, "angle": ANGLES},
        },
    }[operation]
    return {name: Point(unit, name, values) for name, values in parts.items()}


class FloatUnit(Protocol):
    """What a bench tells of its float unit: its name, and the most register stages."""

    unit: str
    max_stages: int


def of_bench(bench: FloatUnit) -> list[Point]:
    """The points of a bench's unit."""
    found, unit = [], bench.unit
    for name, point in _points(unit, bench.max_stages).items():
        if name == "operands":
            found.append(point)
            continue
        reached = _reached(unit, name)
        nobody = NOBODY_UNARY if unit.removeprefix("fp_") in UNARY else NOBODY

        def why_not(bin_: Bin, reached: frozenset = reached, nobody: str = nobody) -> str:
            return "" if bin_ in reached else nobody

        found.append(Point(unit, name, point.parts, why_not))
    return found


@cache
def _reached(unit: str, name: str) -> frozenset[Bin]:
    """The bins of a point that small formats reach, all their numbers tried."""
    found = set()
    operation = unit.removeprefix("fp_")
    for fmt in SMALL_UNARY if operation in UNARY else SMALL_FORMATS:
        if operation in UNARY:
            operands = (np.arange(1 << fmt.width, dtype=np.uint64),)
        else:
            operands = all_pairs(fmt)
        stages = np.zeros(len(operands[0]), int)
        for point, bins in sample(fmt, unit, operands, stages):
            found |= bins if point == name else set()
    return frozenset(found)


def sample(
    fmt: Format, unit: str, operands: Columns, stages: np.ndarray
) -> Iterator[tuple[str, set[Bin]]]:
    """Find what operands meet.

    Parameters
    ----------
    fmt, unit
        Format; name of the unit.
    operands
        One uint64 array for each.
    stages
        Of the copy of the unit that they go to, shape (N,).

    Yields
    ------
    name : str
        Of a point.
    bins : set
    """
    operation = unit.removeprefix("fp_")
    *results, flags = float_units.evaluate(fmt, operation, *operands)
    kinds = [_classes(fmt, side) for side in operands]
    signs = [_sign(fmt, side) for side in operands]
    of_operands = [column for pair in zip(kinds, signs, strict=True) for column in pair]
    names = [values for _ in operands for values in (CLASSES, SIGNS)]
    yield "operands", _bins([*names, range(stages.max() + 1)], [*of_operands, stages])
    finite = np.all([(2 <= kind) & (kind <= 4) for kind in kinds], axis=0)
    kept = [side[finite] for side in operands]
    if operation == "sincos":
        yield "angle", _angles(fmt, kept[0])
        return
    y, flags = results[0][finite], flags[finite]
    result = _result(fmt, y, flags)
    if operation == "add":
        yield from _sums(fmt, kept, y, result)
    elif operation == "mul":
        yield "result", _bins([RESULTS, SIGNS], [result, _sign(fmt, y)])
        if fmt.man_w <= SIGNIFICANDS_UP_TO:
            yield "rounding", _products(fmt, kept, result)
    elif fmt.man_w <= SIGNIFICANDS_UP_TO:
        yield "rounding", _reciprocals(fmt, kept[0], y, result)


def _bins(values: Sequence[Sequence], columns: Columns) -> set[Bin]:
    """The distinct rows of some columns of indices, as values."""
    if not len(columns[0]):
        return set()
    shape = [len(some) for some in values]
    flat = np.unique(np.ravel_multi_index([np.asarray(c, int) for c in columns], shape))
    rows = zip(*np.unravel_index(flat, shape), strict=True)
    return {tuple(some[i] for some, i in zip(values, row, strict=True)) for row in rows}


def _exponents(fmt: Format, x: np.ndarray) -> np.ndarray:
    return (x >> np.uint64(fmt.man_w)).astype(np.int64) & ((1 << fmt.exp_w) - 1)


def _significands(fmt: Format, x: np.ndarray) -> np.ndarray:
    return x.astype(np.int64) & (fmt.min_normal - 1) | fmt.min_normal


def _sign(fmt: Format, x: np.ndarray) -> np.ndarray:
    return (x >> np.uint64(fmt.width - 1)).astype(np.int64)


def _classes(fmt: Format, x: np.ndarray) -> np.ndarray:
    """Index of the class of each number."""
    exponent, top = _exponents(fmt, x), (1 << fmt.exp_w) - 1
    fraction = x & np.uint64(fmt.min_normal - 1) != 0
    return np.select(
        [exponent == 0, exponent == top, exponent == 1, exponent == top - 1],
        [np.where(fraction, 1, 0), np.where(fraction, 6, 5), 2, 4],
        3,
    )


def _result(fmt: Format, y: np.ndarray, flags: np.ndarray) -> np.ndarray:
    """Index of what became of a result of finite operands."""
    kinds = _classes(fmt, y)
    flushed, overflowed = (flags & UNDERFLOW) != 0, (flags & OVERFLOW) != 0
    return np.select([flushed, overflowed, kinds == 0], [1, 5, 0], kinds)


def _bit_lengths(x: np.ndarray) -> np.ndarray:
    """Bits of numbers below 2**53."""
    return np.frexp(x.astype(float))[1].astype(np.int64)


def _rounding(fmt: Format, exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of the rounding of exact significands, and whether it ends in the next binade."""
    cut = np.maximum(_bit_lengths(exact) - fmt.man_w - 1, 0)
    rest = exact & ((1 << cut) - 1)
    kept = exact >> cut
    half = np.where(cut > 0, 1 << np.maximum(cut - 1, 0), 1)
    odd = kept & 1
    case = np.select(
        [rest == 0, rest < half, rest > half, odd == 0],
        [0, 1, 4, 2],
        3,
    )
    full = kept == 2 * fmt.min_normal - 1
    return case, full & (case >= 3)


def _sums(
    fmt: Format, sides: Columns, y: np.ndarray, result: np.ndarray
) -> Iterator[tuple[str, set[Bin]]]:
    exponents = [_exponents(fmt, side) for side in sides]
    operation = _sign(fmt, sides[0]) ^ _sign(fmt, sides[1])
    yield "result", _bins([OPERATIONS, RESULTS, SIGNS], [operation, result, _sign(fmt, y)])
    if fmt.man_w > SIGNIFICANDS_UP_TO:
        return
    distance = np.abs(exponents[0] - exponents[1])
    order = np.where(distance == 0, 2, (exponents[1] > exponents[0]).astype(int))
    significands = [_significands(fmt, side) for side in sides]
    a_is_high = order != 1
    high = np.where(a_is_high, significands[0], significands[1])
    low = np.where(a_is_high, significands[1], significands[0])
    room = fmt.man_w + 3  # a number that is further below counts as something that is not zero
    shifted = np.where(distance <= room, low << np.maximum(room - distance, 0), 1)
    exact = (high << room) + np.where(operation == 0, shifted, -shifted)
    exact = np.abs(exact)  # at the same exponent the other one may be larger
    some = exact > 0
    man_w = fmt.man_w
    bucket = np.select(
        [distance <= 2, distance < man_w, distance <= man_w + 2],
        [distance, 3, 4 + distance - man_w],
        7,
    )
    case, carries = _rounding(fmt, exact)
    lost = room + man_w + 1 - _bit_lengths(exact)
    shift = np.select([lost < 0, lost == 0, lost == 1], [0, 1, 2], 3)
    columns = [column[some] for column in (operation, bucket, order, case)]
    yield "rounding", _bins([OPERATIONS, DISTANCES, ORDERS, ROUNDINGS], columns)
    columns = [column[some] for column in (operation, shift, case, carries)]
    yield "normalisation", _bins([OPERATIONS, SHIFTS, ROUNDINGS, (False, True)], columns)


def _products(fmt: Format, sides: Columns, result: np.ndarray) -> set[Bin]:
    a, b = (_significands(fmt, side) for side in sides)
    exact = a * b
    norm = _bit_lengths(exact) - 2 * fmt.man_w - 1
    case, carries = _rounding(fmt, exact)
    values = [NORMS, ROUNDINGS, (False, True), RESULTS[1:]]
    return _bins(values, [norm, case, carries, result - 1])


def _reciprocals(fmt: Format, x: np.ndarray, y: np.ndarray, result: np.ndarray) -> set[Bin]:
    product = _significands(fmt, x) * _significands(fmt, y)
    one = 1 << _bit_lengths(product - 1)  # the nearest power of two from above
    one = np.where(product - one // 2 < one - product, one // 2, one)
    case = np.select([product == one, product < one], [0, 1], 2)
    there = result != 1  # what is flushed has no significand
    case = np.where(there, case, np.where(_significands(fmt, x) == fmt.min_normal, 0, 1))
    return _bins([SIDES_OF_EXACT, RESULTS[1:]], [case, result - 1])


def _angles(fmt: Format, x: np.ndarray) -> set[Bin]:
    exponent = _exponents(fmt, x) - fmt.bias
    size = np.searchsorted(ANGLE_EXPONENTS, exponent, side="right")
    angle = np.ldexp(_significands(fmt, x).astype(float), exponent - fmt.man_w)
    angle = np.where(size == len(ANGLES) - 1, 0.0, angle)
    angle = np.where(_sign(fmt, x) == 1, -angle, angle)
    quarters = np.floor(angle / (np.pi / 2) + 0.5).astype(np.int64) % 4
    return _bins([SIGNS, QUARTERS, ANGLES], [_sign(fmt, x), quarters, size])
