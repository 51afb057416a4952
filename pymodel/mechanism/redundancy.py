"""Which constraints of the loops the dynamics use, where others follow from them.

A loop may be over-constrained by its geometry: Bennett's linkage moves although its hinge has 5
constraints for 3 joints, of which only 2 are independent wherever it stands, and three parallel
cranks in the plane turn although each holds the rod. The dynamics then use as many as are
independent.

That must be told from a posture that is singular: constraints that depend on each other at the
start, and no more as soon as the mechanism moves.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np
import scipy

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
# How far a posture is moved, in rad or as a share of the size, to see whether it is singular, and
# then on, to find constraints that are independent wherever the mechanism goes.
STEP = 0.05
WALK_STEP = 0.25
WALK_STEPS = 16
NEWTON_STEPS = 20
# Share of the largest singular value below which a posture of the walk is too near a singular one.
NEAR_SINGULAR = 1e-3
# Singular value of a basis' rows below which they count as dependent.
DEPENDENT = 0.02
# By how much constraints must be better than others, so that rounding decides nothing.
BETTER = 1.01


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

    def freedom(self, q: np.ndarray, rank: int) -> np.ndarray:
        """Directions that the constraints leave free, shape (nv - rank, nv)."""
        return np.linalg.svd(self.jacobian(q))[2][rank:]

    def moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray | None:
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


def with_kept_rows(scenario: Scenario) -> Scenario:
    """Choose independent constraints of the loops, well conditioned wherever it moves.

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
        If the start is singular, or nothing can move.
    """
    if not scenario.nv:
        raise ScenarioError(scenario.source, "body", "nothing can move: all joints are fixed")
    if not scenario.loops:
        return scenario
    constraints = LoopConstraints(scenario)
    jacobian = constraints.jacobian(scenario.q0)
    count, rank = len(jacobian), constraints.rank(jacobian)
    if rank < count and _is_singular(constraints, scenario.q0, rank):
        raise ScenarioError(
            scenario.source,
            "loop",
            "constraints depend on each other at the initial posture (a singular one)",
        )
    if rank == scenario.nv:
        raise ScenarioError(scenario.source, "loop", "nothing can move: the loops hold all joints")
    if rank == count:
        return scenario
    chosen = _independent(LoopConstraints(_keeping(scenario, range(count))), scenario.q0, rank)
    found = _keeping(scenario, chosen)
    loops = [
        replace(loop, kept=None) if len(loop.kept or ()) == rows.stop - rows.start else loop
        for loop, rows in zip(found.loops, kinematics.loop_rows(scenario), strict=True)
    ]
    return replace(scenario, loops=tuple(loops))


def check_motions(scenario: Scenario) -> None:
    """Refuse motions of joints that the loops leave none, or not all of these.

    Raises
    ------
    ScenarioError
        Naming the first of the motions without which the loops can be kept.
    """
    if not (scenario.loops and scenario.moved):
        return
    constraints = LoopConstraints(scenario)
    jacobian = constraints.jacobian(scenario.q0)[kinematics.kept_rows(scenario)]
    held: list[int] = []
    for k in scenario.moved:
        held += np.r_[scenario.v_slices[k]].tolist()
        free = np.delete(jacobian, held, axis=1)
        if not free.size or constraints.rank(free) < len(jacobian):
            reason = "the loops leave this joint no motion of its own, in this posture at least"
            raise ScenarioError(scenario.source, f"body[{k}].motion", reason)


def _keeping(scenario: Scenario, chosen: Container[int]) -> Scenario:
    """The scenario with ``kept`` of all its loops, which gives the rows the axes that they have."""
    loops = []
    for loop, rows in zip(scenario.loops, kinematics.loop_rows(scenario), strict=True):
        kept = tuple(row - rows.start for row in range(rows.start, rows.stop) if row in chosen)
        loops.append(replace(loop, kept=kept))
    return replace(scenario, loops=tuple(loops))


def _is_singular(constraints: LoopConstraints, q: np.ndarray, rank: int) -> bool:
    """Whether the constraints depend on each other at q alone, not where they let it move."""
    free = constraints.freedom(q, rank)
    for direction in (*free, *-free):
        moved = constraints.moved(q, STEP * direction)
        if moved is None or constraints.rank(constraints.jacobian(moved)) > rank:
            return True
    return False


def _independent(constraints: LoopConstraints, q: np.ndarray, rank: int) -> list[int]:
    """As many constraints as are independent.

    First the best conditioned ones at q, by QR with pivoting; then one is exchanged for another as
    long as they stay independent for longer on all ways from q, or are better conditioned there.
    A linkage that goes round may have none that are independent everywhere.
    """
    jacobian = constraints.jacobian(q)
    _, order = scipy.linalg.qr(jacobian.T, mode="r", pivoting=True)
    chosen, free = order[:rank].tolist(), constraints.freedom(q, rank)
    if not rank:
        return chosen
    start = np.linalg.svd(jacobian)[0][:, :rank]
    ways = [_bases(constraints, q, way, start) for way in (*free, *-free)]

    def score(rows: list[int]) -> tuple[int, float]:
        """Postures on a way until the rows become dependent, and the least singular value there."""
        lengths, least = [], 1.0
        for bases in ways:
            values = np.linalg.svd(bases[:, rows], compute_uv=False)[:, -1]
            # They are dependent between two postures where a determinant changes its sign.
            sides = np.sign(np.linalg.det(bases[:, rows]))
            bad = np.append((sides != sides[0]) | (values < DEPENDENT), True)
            lengths.append(int(bad.argmax()))
            least = min(least, values[: max(lengths[-1], 1)].min())
        return min(lengths), float(least)

    best = score(chosen)
    while True:
        others = set(range(len(jacobian))).difference(chosen)
        exchanged = [
            [other if row == old else row for row in chosen] for old in chosen for other in others
        ]
        found = max(exchanged, key=score)
        length, least = score(found)
        if (length, least) <= (best[0], BETTER * best[1]):
            return chosen
        chosen, best = found, (length, least)


def _bases(
    constraints: LoopConstraints, q: np.ndarray, direction: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Bases of the column space on a way from q, each the nearest to that before it.

    Their rows are independent where the Jacobian's are. Shape (postures, rows, rank).
    """
    rank, bases = start.shape[1], [start]
    for posture in _walk(constraints, q, direction, rank):
        basis, values, _ = np.linalg.svd(constraints.jacobian(posture))
        if values[rank - 1] < NEAR_SINGULAR * values[0]:
            break
        left, _, right = np.linalg.svd(basis[:, :rank].T @ bases[-1])
        bases.append(basis[:, :rank] @ left @ right)
    return np.array(bases)


def _walk(
    constraints: LoopConstraints, q: np.ndarray, direction: np.ndarray, rank: int
) -> Iterator[np.ndarray]:
    """Postures that the loops allow, from q as straight on as they let it move."""
    for _ in range(WALK_STEPS):
        moved = constraints.moved(q, WALK_STEP * direction)
        if moved is None:
            return
        q = moved
        yield q
        free = constraints.freedom(q, rank)
        direction = free.T @ (free @ direction)
        direction /= np.linalg.norm(direction)
