"""Which constraints of the loops the dynamics use, where others follow from them.

A loop in space may be over-constrained by its geometry: Bennett's linkage moves although its hinge
has 5 constraints for 3 joints, of which only 2 are independent wherever it stands. The dynamics
then use as many as are independent. In the plane such loops are refused.

That must be told from a posture that is singular: constraints that depend on each other at the
start, and no more as soon as the mechanism moves.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import qr

from pymodel.mechanism import kinematics
from pymodel.mechanism.checks import size
from pymodel.mechanism.coordinates import displaced, slides
from pymodel.mechanism.scenario import Scenario, ScenarioError

# Constraint rows count as dependent below this share of the largest singular value, or of 1 if that
# is larger. In the plane it is far above rounding (1e-16) and below a four-bar held 1e-8 rad from
# its flat posture.
RANK_TOLERANCE = 1e-9
# In space: above what typed decimals leave of a row that should vanish (1e-6).
SPATIAL_RANK_TOLERANCE = 1e-5
# How far a posture is moved to see whether it is singular, in rad, or as a share of the size.
STEP = 0.05
NEWTON_STEPS = 20


def with_kept_rows(scenario: Scenario) -> Scenario:
    """Choose independent constraints of the loops, the best conditioned at the start.

    Parameters
    ----------
    scenario : Scenario
        Its loops are closed.

    Returns
    -------
    Scenario
        With ``kept`` of its loops.

    Raises
    ------
    ScenarioError
        If the start is singular, planar constraints depend on each other, or nothing can move.
    """
    if not scenario.nv:
        raise ScenarioError(scenario.source, "body", "nothing can move: all joints are fixed")
    if not scenario.loops:
        return scenario
    constraints = LoopConstraints(scenario)
    jacobian = constraints.jacobian(scenario.q0)
    count, rank = len(jacobian), constraints.rank(jacobian)
    if rank < count and (not scenario.spatial or constraints.is_singular(scenario.q0)):
        raise ScenarioError(
            scenario.source,
            "loop",
            "constraints depend on each other at the initial posture (redundant or singular)",
        )
    if rank == scenario.nv:
        raise ScenarioError(scenario.source, "loop", "nothing can move: the loops hold all joints")
    if rank == count:
        return scenario
    _, order = qr(jacobian.T, mode="r", pivoting=True)
    chosen = set(order[:rank].tolist())
    loops = []
    for loop, rows in zip(scenario.loops, kinematics.loop_rows(scenario), strict=True):
        kept = tuple(row - rows.start for row in range(rows.start, rows.stop) if row in chosen)
        loops.append(replace(loop, kept=None if len(kept) == rows.stop - rows.start else kept))
    return replace(scenario, loops=tuple(loops))


class LoopConstraints:
    """The constraints of all loops without units: lengths as shares of the mechanism's size.

    Parameters
    ----------
    scenario : Scenario

    Attributes
    ----------
    size : float
        m; 1 for a linkage with all its pins in one place.
    units : numpy.ndarray, shape (nv,)
        Size of translations, 1 of rotations.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.tolerance = SPATIAL_RANK_TOLERANCE if scenario.spatial else RANK_TOLERANCE
        extent = self.size = size(scenario) or 1.0
        self.units = np.where(slides(scenario), extent, 1.0)
        dimension = len(scenario.gravity)
        self._row_units = np.concatenate(
            [
                np.where(np.arange(rows.stop - rows.start) < dimension, extent, 1.0)
                for rows in kinematics.loop_rows(scenario)
            ]
        )

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Shape (rows, nv)."""
        jacobian = kinematics.loop_jacobian(self.scenario, q)
        return jacobian * self.units / self._row_units[:, None]

    def errors(self, q: np.ndarray) -> np.ndarray:
        """Shape (rows,)."""
        return kinematics.loop_errors(self.scenario, q) / self._row_units

    def correction(self, q: np.ndarray, free: np.ndarray | slice) -> np.ndarray:
        """The least step (nv,) of the ``free`` velocities that closes the loops at first order."""
        found = np.zeros_like(self.units)
        jacobian = self.jacobian(q)[:, free]
        found[free] = np.linalg.lstsq(jacobian, self.errors(q), rcond=self.tolerance)[0]
        return -self.units * found

    def rank(self, jacobian: np.ndarray) -> int:
        """Number of independent constraints."""
        values = np.linalg.svd(jacobian, compute_uv=False)
        return int((values > self.tolerance * max(values[0], 1.0)).sum())

    def is_singular(self, q: np.ndarray) -> bool:
        """Whether the constraints depend on each other at q alone, not where they let it move."""
        jacobian = self.jacobian(q)
        rank = self.rank(jacobian)
        free = np.linalg.svd(jacobian)[2][rank:]
        for direction in (*free, *-free):
            moved = self._moved(q, STEP * direction)
            if moved is None or self.rank(self.jacobian(moved)) > rank:
                return True
        return False

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray | None:
        """The posture that the loops allow near a step away; None if there is none."""
        travelled = np.zeros_like(step)
        change = step
        for _ in range(NEWTON_STEPS):
            q = displaced(self.scenario, q, self.units * change)
            travelled += change
            if np.abs(self.errors(q)).max() <= self.tolerance:
                return q if travelled @ step > 0.5 * step @ step else None
            change = self.correction(q, slice(None)) / self.units
        return None
