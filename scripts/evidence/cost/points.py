"""Time of a step of the double pendulum against area, for lanes and stages of the step engine.

Every combination of lanes and of measured stages is scheduled; its clock is that of its slowest
float unit on ecp5, its area that of its units on xc7 and what the measured engine with as many
lanes has besides them. Engines that were placed as a whole have the clock that they reached.
Cycles are those of models alone; the benches measure the same: tables of docs/results.md.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pymodel.algorithms import two_handles
from pymodel.compile import latency
from pymodel.compile.kernel import Kernel
from pymodel.compile.latency import Stages
from pymodel.compile.registry import recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from scripts.evidence.cost.job import SPEED, Row, in_binary32, mode_and_variant
from scripts.evidence.cost.jobs import (
    ENGINE,
    LANE_UNITS,
    LANE_VARIANTS,
    ZERO_ONLY,
    is_barrel,
    lanes_for,
    machine_with,
    stages_of,
)
from scripts.kernel.errors import CostError
from scripts.kernel.places import scenario_file

#: The simulated bus: a block of words takes so many cycles more, an access alone so many.
BLOCK, ACCESS = 3, 4
BODY_WORDS = len(two_handles.WORD_NAMES)
IMPULSE_WORDS = 2
ETA_SIZE = 4  # rows of eta of a planar chain with both ends on the ground


@functools.cache
def step_of(scenario: str) -> Kernel:
    """The step of a shipped scenario, by its name."""
    return recorded("step", load(scenario_file(scenario)))


@functools.cache
def on_engine(scenario: str, machine: Machine) -> int:
    """Cycles of a shipped scenario on the step engine: untraced registers, one system.

    The sizes of the machine's memories do not matter.
    """
    return schedule(machine.boundless, step_of(scenario)).main


def on_hdca_coprocessor(stages: Stages) -> int:
    """Assembly and disassembly of two bodies, bus included."""
    moved = 3 * _move(BODY_WORDS) + _move(2 * IMPULSE_WORDS) + _move(IMPULSE_WORDS)
    return moved + _run(latency.assembly(stages)) + _run(latency.disassembly(stages))


def on_ldup_coprocessor(parallel: bool, stages: Stages) -> int:
    """The inverse of the four-bar's eta, bus included."""
    return 2 * _move(ETA_SIZE**2) + _run(latency.inversion(ETA_SIZE, parallel, stages))


def _run(cycles: int) -> int:
    """A run: the write of CTRL, and reads of STATUS until it is not busy any more."""
    return ACCESS * (2 + cycles // ACCESS)


def _move(words: int) -> int:
    return words + BLOCK


Choice = tuple[str, int]  # variant and stages of a unit
Unit = dict[str, float]  # its fmax_mhz, lut, dsp


def units(rows: Sequence[Row], op: str) -> dict[Choice, Unit]:
    """The pipelined units for an operation that were measured in both flows."""
    found = {"xc7": {}, "ecp5": {}}
    for row in rows:
        mode, variant = mode_and_variant(row)
        mine = row["unit"] == LANE_UNITS[op] and in_binary32(row) and mode == SPEED
        # Without infinities a multiplier cannot be used: the engine stops at them.
        if mine and row["stages"] and ZERO_ONLY not in variant:
            found[row["family"]][", ".join(variant), row["stages"]] = row
    return {
        choice: {
            "fmax_mhz": found["ecp5"][choice]["fmax_mhz"],
            "lut": row["lut"],
            "dsp": row["dsp"],
        }
        for choice, row in found["xc7"].items()
        if choice in found["ecp5"]
    }


def whole_engines(rows: Sequence[Row]) -> dict[int, dict[str, Any]]:
    """Lanes -> area, stages and clock of engines of one context on xc7; no clock if not placed."""
    found = {"xc7": {}, "ecp5": {}}
    for row in rows:
        mine = row["unit"] == ENGINE and in_binary32(row) and not is_barrel(row["parameters"])
        if mine and row["lut"] is not None:
            found[row["family"]][row["parameters"]["NUM_ADD"]] = row
    return {
        lanes: {
            "fmax_mhz": found["ecp5"].get(lanes, {}).get("fmax_mhz"),
            "lut": row["lut"] + row["lutram"],
            "dsp": row["dsp"],
            "stages": list(stages_of(row["parameters"]).values()),
        }
        for lanes, row in found["xc7"].items()
    }


def own_units(
    choices: Mapping[str, Mapping[Choice, Unit]], stages: Sequence[int]
) -> list[Unit] | None:
    """The units that a measured engine has; None if one was not measured itself."""
    keys = zip(LANE_UNITS, stages, strict=True)
    found = [choices[op].get((LANE_VARIANTS[op], n)) for op, n in keys]
    return None if None in found else found


def check(rows: Sequence[Row]) -> None:
    """See that there is what points are made of.

    Raises
    ------
    CostError
        If not, with the command that measures it.
    """
    choices = {op: units(rows, op) for op in LANE_UNITS}
    engines = whole_engines(rows).values()
    missing = [LANE_UNITS[op] for op, found in choices.items() if not found]
    if not engines:
        missing.append(ENGINE)
    elif not missing and not any(own_units(choices, engine["stages"]) for engine in engines):
        missing = [f"units of {Machine()}"]
    if missing:
        what = " ".join(missing)
        raise CostError(f'not measured: run `make synth UNITS="{what}"` first')


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
