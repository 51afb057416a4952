"""A scenario's tree as a robot: what the functions of robots take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pymodel.mechanism.robot import FIXED_BASE, Link, Robot, moved
from pymodel.mechanism.rotations import from_angles, hinge_directions
from pymodel.mechanism.scenario import (
    FIXED,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    Body,
    Scenario,
    ScenarioError,
    inertia_matrix,
)

UP = (0.0, 0.0, 1.0)


class _Place(NamedTuple):
    """Where a body's frame stands in that of a link, or of the ground."""

    link: int
    rotation: np.ndarray
    offset: np.ndarray


def robot_of(scenario: Scenario) -> Robot:
    """The tree of a scenario as a robot: each joint's axis is z, gravity points down.

    Joints keep their order, coordinates and velocities. Fixed bodies become parts of what they hang
    on. Torques and springs are not in it, damping and friction of joints are. A planar mechanism
    moves in a plane of space.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    Robot
        With a fixed base.

    Raises
    ------
    ScenarioError
        If the scenario has loops, or joints with several coordinates.
    """
    if scenario.loops:
        raise ScenarioError(scenario.source, "loop", "recursive algorithms take trees only")
    gravity = _in_space(scenario.gravity)
    strength = float(np.linalg.norm(gravity))
    ground = _frame_along(-gravity / strength).T if strength else np.eye(3)
    places = {GROUND: _Place(FIXED_BASE, ground, np.zeros(3))}
    links: list[dict[str, Any]] = []
    for k, body in enumerate(scenario.bodies):
        parent, rotation, offset = places[body.parent]
        offset = offset + rotation @ _in_space(body.attach)
        turn = body.rotation if isinstance(body.rotation, tuple) else (0.0, 0.0, body.rotation)
        rotation = rotation @ from_angles(turn)
        if body.joint == FIXED:
            places[k] = _Place(parent, rotation, offset)
            if parent != FIXED_BASE:
                gained = moved(_pseudo_inertia(body), rotation, offset)
                links[parent]["inertia"] = links[parent]["inertia"] + gained
            continue
        if body.joint not in (REVOLUTE, PRISMATIC):
            reason = "must have one coordinate for recursive algorithms"
            raise ScenarioError(scenario.source, f"body[{k}].joint", reason)
        frame = _frame_along(_in_space(body.axis or UP))
        links.append(
            {
                "name": body.name or f"body {k}",
                "joint": f"joint {k}",
                "kind": body.joint,
                "parent": parent,
                "rotation": rotation @ frame,
                "offset": offset,
                "inertia": moved(_pseudo_inertia(body), frame.T, np.zeros(3)),
                "damping": body.damping,
                "friction": body.friction,
                "friction_scale": body.friction_scale,
                "frame_rotation": frame.T,
            }
        )
        places[k] = _Place(len(links) - 1, frame.T, np.zeros(3))
    return Robot(scenario.name, tuple(Link(**link) for link in links), strength, scenario.source)


def _frame_along(axis: np.ndarray) -> np.ndarray:
    """A rotation matrix whose last column is a unit vector."""
    return np.column_stack((*hinge_directions(axis), axis))


def _in_space(vector: tuple[float, ...]) -> np.ndarray:
    return np.array((*vector, 0.0)[:3])


def _pseudo_inertia(body: Body) -> np.ndarray:
    """About handle 1 in the body's frame, shape (4, 4)."""
    com = _in_space(body.com)
    if isinstance(body.inertia, tuple):
        moments = inertia_matrix(body.inertia)
    else:
        moments = np.diag((0.5, 0.5, 1.0)) * body.inertia  # those across z do not matter
    found = np.empty((4, 4))
    found[:3, :3] = 0.5 * np.trace(moments) * np.eye(3) - moments + body.mass * np.outer(com, com)
    found[:3, 3] = found[3, :3] = body.mass * com
    found[3, 3] = body.mass
    return found
