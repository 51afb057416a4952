"""Units of the coordinates, velocities and momenta of a scenario's joints."""

from pymodel.mechanism.scenario import FREE, PRISMATIC, Scenario

ANGLE, LENGTH = "rad", "m"
MOMENTA = {ANGLE: "N m s", LENGTH: "N s"}  #: unit of a motion -> that of its momentum
FORCES = {ANGLE: "N m", LENGTH: "N"}  #: unit of a motion -> that of its force


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
