"""Units of the coordinates, velocities and momenta of a scenario's joints."""

import re

from pymodel.mechanism import schema
from pymodel.mechanism.scenario import FREE, PRISMATIC, Scenario

ANGLE, LENGTH = "rad", "m"
MOMENTA = {ANGLE: "N m s", LENGTH: "N s"}  #: unit of a motion -> that of its momentum
FORCES = {ANGLE: "N m", LENGTH: "N"}  #: unit of a motion -> that of its force
#: Unit of a number of a joint that turns -> the same of one that slides.
SLIDING = {ANGLE: LENGTH, "N m": "N", "N m/rad": "N/m", "N m s/rad": "N s/m"}


def motions(scenario: Scenario) -> list[str]:
    """Say of each velocity whether it turns (rad) or moves (m), nv."""
    found = []
    for body, size in zip(scenario.bodies, scenario.freedoms, strict=True):
        moves = {PRISMATIC: 1, FREE: len(scenario.gravity)}.get(body.joint, 0)
        found += [LENGTH] * moves + [ANGLE] * (size.v - moves)
    return found


def coordinate_units(scenario: Scenario) -> list[str]:
    """Units of q, nq; empty for those of quaternions."""
    found, all_ = [], motions(scenario)
    for own, size in zip(scenario.v_slices, scenario.freedoms, strict=True):
        rates = all_[own]
        found += rates if size.q == size.v else [*rates[:-3], "", "", "", ""]
    return found


def velocity_units(scenario: Scenario) -> list[str]:
    """Units of qd, nv."""
    return [f"{unit}/s" for unit in motions(scenario)]


def momentum_units(scenario: Scenario) -> list[str]:
    """Units of p, nv."""
    return [MOMENTA[unit] for unit in motions(scenario)]


def force_units(scenario: Scenario) -> list[str]:
    """Units of forces and torques of the joints, nv."""
    return [FORCES[unit] for unit in motions(scenario)]


def key_unit(scenario: Scenario, key: str) -> str:
    """Unit of a number in a scenario file, empty without one.

    Parameters
    ----------
    scenario : Scenario
        What the file says.
    key : str
        As in messages about the file: ``body[0].com[1]``, ``gravity[1]``, ``time.step``.
    """
    found = re.fullmatch(r"(?:(time)\.|(\w+)\[(\d+)\]\.)?(\w+)(?:\[(\d+)\])?", key)
    if not found:
        return ""
    table, tables, index, name, element = found.groups()
    heading = f"[{table}]" if table else f"[[{tables}]]" if tables else ""
    unit = next((one.unit for one in schema.TABLES.get(heading, ()) if one.name == name), "")
    if tables != "body" or int(index) >= len(scenario.bodies):
        return unit
    own = {
        "q": (coordinate_units(scenario), scenario.q_slices),
        "qd": (velocity_units(scenario), scenario.v_slices),
    }
    if name in own:
        units, slices = own[name]
        mine = units[slices[int(index)]]
        return mine[int(element or 0)] if int(element or 0) < len(mine) else ""
    slides = scenario.bodies[int(index)].joint == PRISMATIC and name != "rotation"
    return SLIDING.get(unit, unit) if slides else unit
