"""What resists the joints of a robot: the inertia of a link and of what hangs on it, which yields.

By articulated bodies (Featherstone, Rigid Body Dynamics Algorithms, 7.2), in one posture without
symmetry: a joint that nothing resists there is resisted nowhere.
"""

from collections.abc import Sequence

import numpy as np

from pymodel.mechanism.robot import FIXED_BASE, FREE, HELICAL, PRISMATIC, Link
from pymodel.mechanism.rotations import about_axis, skew

SEED = 1  # of the posture
TURNING, SLIDING = slice(0, 3), slice(3, 6)  # of a motion: angular, then linear
Z = (0.0, 0.0, 1.0)  # a joint's axis in its link's frame


@np.errstate(over="ignore", invalid="ignore")  # a robot of 1e30: what is no number resists nothing
def resistances(links: Sequence[Link]) -> np.ndarray:
    """What resists each joint, as a share of the inertia of all that it carries.

    Parameters
    ----------
    links : sequence of Link
        Parents before their children.

    Returns
    -------
    ndarray, shape (len(links),)
        For a joint that turns the articulated moment of inertia about its axis, with the armature,
        by the trace of the moments of what it carries; for one that slides the same of masses. Zero
        but for rounding where nothing resists; 1 for a floating base, which is not looked at.
    """
    rng, found = np.random.default_rng(SEED), np.ones(len(links))
    rigid = [_spatial(link.inertia) for link in links]
    yielding = [inertia.copy() for inertia in rigid]
    for k in reversed(range(len(links))):
        link = links[k]
        if link.kind == FREE:
            continue
        part = SLIDING if link.kind == PRISMATIC else TURNING
        axis = np.zeros(6)
        axis[part][2] = 1.0
        all_ = np.trace(rigid[k][part, part])
        if link.kind == HELICAL:
            axis[SLIDING][2] = link.pitch
            all_ += link.pitch**2 * np.trace(rigid[k][SLIDING, SLIDING])
        column = yielding[k] @ axis
        resisting = axis @ column + link.armature
        found[k] = resisting / all_ if all_ > 0 else float(resisting > 0)
        if link.parent == FIXED_BASE:
            continue
        if resisting > 0:
            yielding[k] -= np.outer(column, column) / resisting
        motion = _motion(link, rng.uniform(-1.0, 1.0))
        for inertias in (rigid, yielding):
            inertias[link.parent] += motion.T @ inertias[k] @ motion
    return found


def _spatial(inertia: np.ndarray) -> np.ndarray:
    """Spatial inertia (6, 6) of a pseudo-inertia matrix (4, 4), at the same origin."""
    second, moment, mass = inertia[:3, :3], skew(inertia[:3, 3]), inertia[3, 3]
    turning = np.trace(second) * np.eye(3) - second
    return np.block([[turning, moment], [moment.T, mass * np.eye(3)]])


def _motion(link: Link, q: float) -> np.ndarray:
    """Matrix (6, 6) from motions in the parent's frame to those in the link's."""
    turn, offset = link.rotation, link.offset
    if link.kind == PRISMATIC:
        offset = offset + q * turn[:, 2]
    else:
        offset = offset + link.pitch * q * turn[:, 2]
        turn = turn @ about_axis(Z, np.asarray(q))
    return np.block([[turn.T, np.zeros((3, 3))], [-turn.T @ skew(offset), turn.T]])
