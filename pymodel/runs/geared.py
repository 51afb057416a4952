"""Equations of motion where joints mimic others, in float64, for the reference.

In the velocities of the joints that follow none, qd = C qd_r with a constant C:

    C^T M C qdd_r = C^T (f - h),    p_r = C^T M C qd_r,    p_r-dot = C^T p-dot.

The momenta of joints that follow are no state and are given as 0.
"""

from __future__ import annotations

import numpy as np

from pymodel.mechanism.scenario import Scenario
from pymodel.runs.equations import solve_definite
from pymodel.runs.newton_euler import NewtonEuler


class Geared(NewtonEuler):
    """The equations of a tree with mimic joints: see :class:`pymodel.runs.equations.Equations`."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        slices, nv = scenario.v_slices, scenario.nv
        follows = {slices[k].start: mimic for k, mimic in scenario.mimics.items()}
        self.leading = [k for k in range(nv) if k not in follows]
        whole = np.eye(nv)
        for k, mimic in follows.items():
            whole[k] = mimic.multiplier * np.eye(nv)[slices[mimic.body].start]
        self.coupling = whole[:, self.leading]

    def _solved(self, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        reduced = self.coupling.T @ matrix @ self.coupling
        found: np.ndarray = self.coupling @ solve_definite(reduced, self.coupling.T @ right)
        return found

    def _gathered(self, values: np.ndarray) -> np.ndarray:
        found = np.zeros_like(values)
        found[..., self.leading] = values @ self.coupling
        return found

    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations of the tree at the time t (s), (nv,)."""
        motion = self._motion(q, qd)
        centres, centres_rate = self._centres(motion)
        right = self._free_forces(motion, centres, centres_rate, q, t)
        return self._solved(self._mass_matrix(motion, centres), right)

    def velocities(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Velocities (nv,); there are no cut joints."""
        return self._solved(self.mass_matrix(q), p), np.zeros(0)

    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return self._gathered(super()._momenta(q, qd))

    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations of the joints that follow none, and 0 for p-dot of the others."""
        qd, pd = super().canonical_rates(q, p, t)
        return qd, self._gathered(pd)
