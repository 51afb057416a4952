"""Equations of motion where some joints are moved in a given way, in float64, for the reference.

Hybrid dynamics: of the joints that have a motion (K) the accelerations are known and the torques
are not, of the others (F) the reverse. What is known goes to the right,

    M_FF qdd_F = f_F - h_F - M_FK qdd_K + J_F^T lambda,    J_F qdd_F = -J-dot qd - J_K qdd_K,

and likewise for velocities and momenta. The momenta of K are no state and are given as 0.
"""

from __future__ import annotations

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.motions import motion_in_time
from pymodel.mechanism.scenario import Scenario
from pymodel.runs.equations import Saddle, solve_definite
from pymodel.runs.newton_euler import NewtonEuler


class Hybrid(NewtonEuler):
    """The equations of a mechanism with motions: see :class:`pymodel.runs.equations.Equations`.

    Jacobians of the loops are by the joints that move freely: columns of the others are 0.
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.places = [scenario.q_slices[k].start for k in scenario.moved]
        self.held = [scenario.v_slices[k].start for k in scenario.moved]
        motions = [scenario.bodies[k].motion for k in scenario.moved]
        self.motions = [motion_in_time(x) for x in motions if x is not None]

    def _given(self, order: int, t: float) -> np.ndarray:
        """Coordinates (0), velocities (1) or accelerations (2) of the moved joints."""
        return np.array([at(t, order) for at in self.motions])

    def placed(self, t: np.ndarray, states: np.ndarray) -> np.ndarray:
        """States with what the motions give at their times."""
        states = states.copy()
        for state, time in zip(states, t.tolist(), strict=True):
            state[self.places] = self._given(0, time)
            state[np.add(self.held, self.scenario.nq)] = self._given(1, time)
        return states

    def _at(self, q: np.ndarray, qd: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        q, qd = q.copy(), qd.copy()
        q[self.places], qd[self.held] = self._given(0, t), self._given(1, t)
        return q, qd

    def _parted(
        self, matrix: np.ndarray, right: np.ndarray, given: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The system whose solution has the given values in its rows of K."""
        right = right - matrix[:, self.held] @ given
        matrix = matrix.copy()
        matrix[self.held] = matrix[:, self.held] = 0.0
        matrix[self.held, self.held] = 1.0
        right[self.held] = given
        return matrix, right

    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations of the tree at the time t (s), (nv,)."""
        motion = self._motion(*self._at(q, qd, t))
        centres, centres_rate = self._centres(motion)
        right = self._free_forces(motion, centres, centres_rate, q, t)
        matrix = self._mass_matrix(motion, centres)
        return solve_definite(*self._parted(matrix, right, self._given(2, t)))

    def _gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        errors, jacobian = super()._gaps(q)
        jacobian[..., self.held] = 0.0
        return errors, jacobian

    def gap_rates(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Rates of the errors that :meth:`gaps` gives, (..., constraints)."""
        jacobian = kinematics.loop_jacobian(self.scenario, q)[..., self.kept, :]
        found: np.ndarray = (jacobian @ qd[..., None])[..., 0]
        return found

    def constrained_accelerations(
        self, q: np.ndarray, qd: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (nv,) and lambda (kept,)."""
        q, qd = self._at(q, qd, t)
        motion, given = self._motion(q, qd), self._given(2, t)
        centres, centres_rate = self._centres(motion)
        jacobian, rate = self._constraints(motion)
        right = self._free_forces(motion, centres, centres_rate, q, t)
        matrix, right = self._parted(self._mass_matrix(motion, centres), right, given)
        closing = -rate @ qd - jacobian[:, self.held] @ given
        jacobian[:, self.held] = 0.0
        return Saddle(matrix, jacobian).solve(right, closing)

    def condition(self, q: np.ndarray) -> float:
        """Condition number of J M^-1 J^T of the joints that move freely."""
        nothing = np.zeros(len(self.held))
        matrix, _ = self._parted(self.mass_matrix(q), np.zeros(self.scenario.nv), nothing)
        return Saddle(matrix, self.gaps(q)[1]).condition

    def velocities(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (nv,) and impulses of the cut joints at the time t (s)."""
        given = self._given(1, t)
        matrix, right = self._parted(self.mass_matrix(q), p, given)
        if not self.constraints:
            return solve_definite(matrix, right), np.zeros(0)
        moved = np.zeros(self.scenario.nv)
        moved[self.held] = given
        return Saddle(matrix, self.gaps(q)[1]).solve(right, -self.gap_rates(q, moved))

    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        found = super()._momenta(q, qd)
        found[..., self.held] = 0.0
        return found

    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations of the joints that move freely, and 0 for p-dot of the others."""
        qd, pd = super().canonical_rates(q, p, t)
        pd[self.held] = 0.0
        return qd, pd
