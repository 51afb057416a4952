"""Units of the coordinates, velocities and momenta of a scenario's joints."""

from collections.abc import Sequence
from typing import Any

from pymodel.mechanism import schema
from pymodel.mechanism.scenario import FREE, PRISMATIC, Scenario

ANGLE, LENGTH = "rad", "m"
MOMENTA = {ANGLE: "N m s", LENGTH: "N s"}  #: unit of a motion -> that of its momentum
FORCES = {ANGLE: "N m", LENGTH: "N"}  #: unit of a motion -> that of its force
#: Unit of a number of a joint that turns -> the same of one that slides.
SLIDING = {
    ANGLE: LENGTH,
    f"{ANGLE}/s": f"{LENGTH}/s",
    FORCES[ANGLE]: FORCES[LENGTH],
    f"{FORCES[ANGLE]}/{ANGLE}": f"{FORCES[LENGTH]}/{LENGTH}",
    f"{MOMENTA[ANGLE]}/{ANGLE}": f"{MOMENTA[LENGTH]}/{LENGTH}",
}


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


def key_unit(scenario: Scenario, place: Sequence[Any]) -> str:
    """Unit of a number in a scenario file, empty without one.

    Parameters
    ----------
    scenario : Scenario
        What the file says.
    place : sequence of str and int
        Way to the number: ("body", 0, "com", 1), ("gravity", 1), ("time", "step").
    """
    if place[0] == "time":
        heading, name = "[time]", place[-1]
    elif len(place) > 2:
        heading, name = f"[[{place[0]}]]", place[2]
    else:
        heading, name = "", place[0]
    unit = next((key.unit for key in schema.TABLES.get(heading, ()) if key.name == name), "")
    if heading != "[[body]]":
        return unit
    _, k, _, *element = place
    own = {
        "q": (coordinate_units(scenario), scenario.q_slices),
        "qd": (velocity_units(scenario), scenario.v_slices),
    }
    if name in own:
        units, slices = own[name]
        return units[slices[k]][element[0] if element else 0]
    slides = scenario.bodies[k].joint == PRISMATIC and name != "rotation"
    return SLIDING.get(unit, unit) if slides else unit
