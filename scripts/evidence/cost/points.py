"""Time of a step of the double pendulum against area, for lanes and stages of the step engine.

Every combination of lanes and of measured stages is scheduled; its clock is that of its slowest
float unit on ecp5, its area that of its units on xc7 and what the measured engine with as many
lanes has besides them. Engines that were placed as a whole have the clock that they reached.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from scripts.evidence.cost.cycles import on_engine
from scripts.evidence.cost.engine import LANE_UNITS, LANE_VARIANTS, lanes_for, machine_with
from scripts.evidence.cost.measured import Choice, Unit, own_units, units, whole_engines
from scripts.evidence.cost.rows import Row

Point = dict[str, Any]

SCENARIO = "double_pendulum"
AREA = ("lut", "dsp")
BEST = 3  # combinations that are told for each number of lanes


def combine(rows: Sequence[Row]) -> list[Point]:
    """All points: the engines that were placed, and estimates for every combination.

    Returns
    -------
    list of dict
        lanes, stages and variants by operation, cycles, fmax_mhz, us (a step), lut (those of
        memories included), dsp, measured (placed as a whole), slowest_unit_mhz.
    """
    choices = {op: units(rows, op) for op in LANE_UNITS}
    points = []
    for lanes, engine in whole_engines(rows).items():
        own = own_units(choices, engine["stages"])
        if engine["fmax_mhz"]:
            slowest = min(unit["fmax_mhz"] for unit in own) if own else None
            choice = list(zip(LANE_VARIANTS.values(), engine["stages"], strict=True))
            area = {what: engine[what] for what in AREA}
            point = _point(lanes, choice, engine["fmax_mhz"], area)
            points.append(point | {"measured": True, "slowest_unit_mhz": slowest})
        if own:
            rest = {what: engine[what] - _area(own, lanes, what) for what in AREA}
            points += _estimates(lanes, choices, rest)
    return points


def _estimates(
    lanes: int, choices: Mapping[str, Mapping[Choice, Unit]], rest: Mapping[str, float]
) -> list[Point]:
    """A point for every combination of units; `rest` is the area of all others."""
    points = []
    for combination in itertools.product(*(choices[op].items() for op in LANE_UNITS)):
        choice, chosen = zip(*combination, strict=True)
        clock = min(unit["fmax_mhz"] for unit in chosen)
        area = {what: rest[what] + _area(chosen, lanes, what) for what in AREA}
        point = _point(lanes, choice, clock, area)
        points.append(point | {"measured": False, "slowest_unit_mhz": clock})
    return points


def _area(chosen: Sequence[Unit], lanes: int, what: str) -> float:
    """What the float units of an engine take."""
    pairs = zip(LANE_UNITS, chosen, strict=True)
    return sum(unit[what] * lanes_for(op, lanes) for op, unit in pairs)


def _point(lanes: int, choice: Sequence[Choice], clock: float, area: Mapping[str, float]) -> Point:
    variants, stages = zip(*choice, strict=True)
    machine = machine_with(lanes, dict(zip(LANE_UNITS, stages, strict=True)))
    cycles = on_engine(SCENARIO, machine)
    return {
        "lanes": lanes,
        "stages": list(stages),
        "variants": list(variants),
        "cycles": cycles,
        "fmax_mhz": clock,
        "us": cycles / clock,
        **area,
    }


def front(points: Sequence[Point], *costs: str) -> list[Point]:
    """The points that no other one beats in time and all of these costs."""
    keys = ("us", *costs)
    kept = []
    for point in sorted(points, key=lambda p: tuple(p[key] for key in keys)):
        if not any(all(other[key] <= point[key] for key in keys) for other in kept):
            kept.append(point)
    return kept


def told(points: Sequence[Point], best: int = BEST) -> dict[int, list[Point]]:
    """Lanes -> the fastest estimates, the smaller one of equals, and the measured engines."""
    by_lanes = {}
    for lanes in sorted({point["lanes"] for point in points}):
        mine = [point for point in points if point["lanes"] == lanes]
        estimates = [point for point in mine if not point["measured"]]
        fastest = sorted(estimates, key=lambda p: (p["us"], p["lut"], p["dsp"]))[:best]
        by_lanes[lanes] = fastest + [point for point in mine if point["measured"]]
    return by_lanes


def name(point: Point) -> str:
    """`2+2 lanes, 3, 3, 6, 12 stages`, with the variants of units that have any."""
    pairs = zip(point["stages"], point["variants"], strict=True)
    depths = (f"{n} {variant}".strip() for n, variant in pairs)
    return f"{point['lanes']}+{point['lanes']} lanes, {', '.join(depths)} stages"
