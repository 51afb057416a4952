"""What `points` are made of: the float units and step engines that were measured in binary32."""

from collections.abc import Mapping, Sequence
from typing import Any

from pymodel.machine.isa import Machine
from scripts.evidence.cost.engine import ENGINE, LANE_UNITS, LANE_VARIANTS, is_barrel, stages_of
from scripts.evidence.cost.job import SPEED
from scripts.evidence.cost.rows import Row, in_binary32, mode_and_variant
from scripts.evidence.cost.units import ZERO_ONLY
from scripts.kernel.errors import CostError

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
