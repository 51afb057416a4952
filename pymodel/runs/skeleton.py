"""What a mechanism is drawn as: bars, springs, sliders on their guides, pins, and the ground's.

Arrays of points at T times, of d = 2 numbers in the plane and 3 in space, in metres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pymodel.mechanism.kinematics import handle_positions, point_position, tip_positions
from pymodel.mechanism.scenario import FREE, PRISMATIC, REVOLUTE, SPHERICAL, Scenario, Vector
from pymodel.runs.trajectory import Trajectory

COIL_CORNERS, COIL_WIDTH = 12, 0.08  # of a drawn spring; half its width as a share of its length
BLOCK = 0.04  # half a slider's length as a share of the mechanism's extent
# Share of the farthest travel of a tip: one that travels less is a fixed pin, and tips that stay as
# near to each other have one path.
FIXED_SHARE = 1e-2


class Slider(NamedTuple):
    """What a prismatic joint is drawn as.

    Attributes
    ----------
    body : int
    block : numpy.ndarray, shape (T, 2, d)
        Ends of the block at handle 1 of the body, along the joint's axis.
    guide : numpy.ndarray, shape (T, 2, d)
        Ends of what it slides on.
    """

    body: int
    block: np.ndarray
    guide: np.ndarray


def bars(scenario: Scenario, q: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Find what bodies are drawn as: bars from handle 1 to the tip, other joints and springs.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (T, nq)

    Returns
    -------
    list of (int, numpy.ndarray)
        The body, and the ends of one of its bars, shape (T, 2, d).
    """
    starts = handle_positions(scenario, q)
    return [
        (k, np.stack((starts[:, k], point_position(scenario, q, k, point)), axis=1))
        for k, points in enumerate(ends(scenario))
        for point in points
    ]


def ends(scenario: Scenario) -> list[list[Vector]]:
    """Find where each body's bars from handle 1 end: tip, other joints and springs, its frame."""
    points = [[body.tip] for body in scenario.bodies]
    for body in scenario.bodies:
        held = body.parent >= 0 and body.joint != FREE
        if held and body.attach not in points[body.parent]:
            points[body.parent].append(body.attach)
    for pair in scenario.pairs:
        for index, point in ((pair.body, pair.point), (pair.to, pair.at)):
            if index >= 0 and point not in points[index]:
                points[index].append(point)
    return points


def coils(scenario: Scenario, q: np.ndarray) -> list[np.ndarray]:
    """Find what springs between points are drawn as: zigzags, as wide at all times.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (T, nq)

    Returns
    -------
    list of numpy.ndarray
        Corners of each spring, shape (T, corners, d).
    """
    along = np.array([0.0, *np.linspace(0.15, 0.85, COIL_CORNERS), 1.0])[:, None]
    across = np.array([0.0, 0.0, *((-1.0) ** np.arange(COIL_CORNERS - 2)), 0.0, 0.0])[:, None]
    found = []
    for spring in scenario.springs:
        start = point_position(scenario, q, spring.to, spring.at)
        vector = point_position(scenario, q, spring.body, spring.point) - start
        width = COIL_WIDTH * np.linalg.norm(vector, axis=-1).mean()
        line = start[:, None] + along * vector[:, None]
        found.append(line + across * width * _normal(vector)[:, None])
    return found


def _normal(vector: np.ndarray) -> np.ndarray:
    """Unit vectors across vectors (T, d); zero where these are."""
    if vector.shape[-1] == 2:
        normal = np.stack((-vector[:, 1], vector[:, 0]), axis=-1)
    else:  # across the ground's axis that they are least along, too
        normal = np.cross(np.eye(3)[np.abs(vector).mean(axis=0).argmin()], vector)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    return normal / np.maximum(length, np.finfo(float).tiny)


def sliders(scenario: Scenario, q: np.ndarray) -> list[Slider]:
    """Find what prismatic joints are drawn as.

    Parameters
    ----------
    scenario : Scenario
    q : numpy.ndarray, shape (T, nq)
        A guide is as long as these say.
    """
    joints = [k for k, body in enumerate(scenario.bodies) if body.joint == PRISMATIC]
    if not joints:
        return []
    points = np.concatenate([ends.reshape(-1, ends.shape[-1]) for _, ends in bars(scenario, q)])
    half = BLOCK * (np.ptp(points, axis=0).max() or 1.0)
    starts, found = handle_positions(scenario, q), []
    for k in joints:
        body = scenario.bodies[k]
        way = q[:, scenario.q_slices[k]]
        along = (point_position(scenario, q, k, body.direction) - starts[:, k])[:, None]
        base = point_position(scenario, q, body.parent, body.attach)[:, None]
        block = starts[:, k, None] + np.array([[-half], [half]]) * along
        if body.parent >= 0:  # which carries the guide
            way = np.append(way, 0.0)
        ends = np.array([[way.min() - 2 * half], [way.max() + 2 * half]])
        found.append(Slider(k, block, base + ends * along))
    return found


def pins(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Places of the bodies' joints that turn, shape (T, joints, d)."""
    turning = [k for k, body in enumerate(scenario.bodies) if body.joint in (REVOLUTE, SPHERICAL)]
    return handle_positions(scenario, q)[:, turning]


def loop_pins(scenario: Scenario, q: np.ndarray) -> np.ndarray:
    """Places of the joints that close loops, shape (T, loops, d)."""
    found = np.zeros((len(q), len(scenario.loops), len(scenario.gravity)))
    for k, loop in enumerate(scenario.loops):
        found[:, k] = point_position(scenario, q, loop.body, loop.point)
    return found


def ground_pins(scenario: Scenario) -> list[tuple[float, ...]]:
    """Find where a mechanism is held: places of its joints and springs on the ground.

    Guides show where sliders are.
    """
    unheld = (FREE, PRISMATIC)
    found = [x.attach for x in scenario.bodies if x.parent < 0 and x.joint not in unheld]
    return found + [pair.at for pair in scenario.pairs if pair.to < 0]


def traced_tips(scenario: Scenario, run: Trajectory) -> list[tuple[int, np.ndarray]]:
    """Find the paths worth drawing: of tips that move, each place once.

    Of an open chain or tree those of its ends, of a mechanism with loops those of all bodies.

    Returns
    -------
    list of (int, numpy.ndarray)
        The body, and the path of its tip, shape (T, d); at least one.
    """
    tips = tip_positions(scenario, run.q)
    travel = np.ptp(tips, axis=0).max(axis=-1)
    carrying = set() if scenario.loops else {body.parent for body in scenario.bodies}
    found: list[tuple[int, np.ndarray]] = []
    near = FIXED_SHARE * travel.max()
    for k in range(len(scenario.bodies)):
        path = tips[:, k]
        known = any(np.abs(path - other).max() <= near for _, other in found)
        if k not in carrying and travel[k] > near and not known:
            found.append((k, path))
    farthest = int(travel.argmax())
    return found or [(farthest, tips[:, farthest])]


def tip_name(scenario: Scenario, body: int) -> str:
    """What a body's tip is called in plots: by number, and by the body's name if any."""
    name = scenario.bodies[body].name
    return f"tip of body {body} ({name})" if name else f"tip of body {body}"
