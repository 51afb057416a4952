"""What the equations of motion of the reference have in common, in float64.

Closed loops are cut: the equations are those of the spanning tree, and each loop adds constraints
on the velocities, J qd = 0. With the multipliers lambda,

    M qdd + h = f + J^T lambda,    J qdd = -J-dot qd,

lambda is the force of the cut joint on ``body``; ``to`` gets the opposite. What the HDCA calls p in
a closed loop are the augmented momenta

    p = M qd - J^T sigma,    sigma-dot = lambda,    sigma(0) = 0,

with sigma the impulse of the cut joint on ``body`` since t = 0. J qd = 0 makes sigma a function of
q and p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from pymodel.algorithms import friction
from pymodel.mechanism import formula, kinematics
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.scenario import Scenario, Spring, Table

# Newton steps that take a state back onto the loops. It is never far away: each step squares what
# is left, and the last one is for the rounding of the one before.
NEWTON_STEPS = 3
# States times joints that are evaluated at once, which bounds the memory of long runs.
CHUNK = 10_000


def torque_in_time(torque: float | str | Table) -> Callable[[float], float]:
    """A joint's torque, N m, as a function of the time in s."""
    if isinstance(torque, Table):
        return lambda t: np.interp(t, torque.times, torque.values)
    if isinstance(torque, str):
        return partial(formula.value, formula.parse(torque))
    return lambda t: torque


def friction_torque(size: float, scale: float, rate: np.ndarray) -> np.ndarray:
    """Coulomb friction of a joint against its motion, N m, for its velocity in rad/s.

    With y = rate / (N scale), N = 256, it is size tanh(N artanh y), and size tanh(N artanh 1/y)
    beyond y = 1: what :mod:`pymodel.algorithms.friction` says, in closed form.
    """
    if not size or not scale:
        return np.zeros_like(rate)
    with np.errstate(divide="ignore"):
        y = np.abs(rate) / (friction.SHARPNESS * scale)
        share = np.tanh(friction.SHARPNESS * np.arctanh(np.minimum(y, 1.0 / y)))
    return size * np.copysign(share, rate)


def friction_slope(size: float, scale: float, rate: float) -> float:
    """The derivative of :func:`friction_torque` by the velocity, N m s/rad."""
    y = abs(rate) / (friction.SHARPNESS * scale)
    share = float(friction_torque(1.0, scale, np.array(abs(rate))))
    return size / scale * (1.0 - share**2) / (1.0 - y**2) if y != 1.0 else 0.0


def _solve_triangular(
    matrix: np.ndarray, right: np.ndarray, lower: bool = False, transposed: bool = False
) -> np.ndarray:
    """Solve matrix x = right, or with its transpose; raises LinAlgError for a zero on the diagonal.

    By BLAS, with the same bits as scipy.linalg.solve_triangular: LAPACK, which that calls, shares
    even the smallest system among threads and waits for them, up to a millisecond when it is busy.
    """
    if not matrix.diagonal().all():
        raise np.linalg.LinAlgError("singular matrix")
    # The transpose of an array in C's order is one in Fortran's.
    if right.ndim == 1:
        return scipy.linalg.blas.dtrsv(matrix.T, right, lower=not lower, trans=not transposed)
    return scipy.linalg.blas.dtrsm(1.0, matrix.T, right, lower=not lower, trans_a=not transposed)


def solve_definite(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve matrix x = right (m,), symmetric and positive definite; raises LinAlgError if not."""
    lower = np.linalg.cholesky(matrix)
    half = _solve_triangular(lower, right, lower=True)
    return _solve_triangular(lower, half, lower=True, transposed=True)


class Saddle:
    """M x = f + J^T s with J x = c, for one posture, by orthogonal factors of L^-1 J^T (M = L L^T).

    The factors keep J x = c to rounding, and J M^-1 J^T, whose condition is the square, is never
    formed.

    Parameters
    ----------
    matrix : numpy.ndarray, shape (nv, nv)
    jacobian : numpy.ndarray, shape (constraints, nv)
    """

    def __init__(self, matrix: np.ndarray, jacobian: np.ndarray) -> None:
        self.lower = np.linalg.cholesky(matrix)
        self.basis, self.upper = np.linalg.qr(_solve_triangular(self.lower, jacobian.T, lower=True))

    @property
    def condition(self) -> float:
        """Condition number of J M^-1 J^T; infinite if constraints depend on each other."""
        if self.upper.shape[0] < self.upper.shape[1]:  # more constraints than joints
            return np.inf
        largest, least = np.linalg.svd(self.upper, compute_uv=False)[[0, -1]]
        return float((largest / least) ** 2) if least > 0.0 else np.inf

    def solve(self, f: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for x (nv,) and s (constraints,); raises LinAlgError if a constraint is empty."""
        y = _solve_triangular(self.lower, f, lower=True)
        along = _solve_triangular(self.upper, c, transposed=True) - self.basis.T @ y
        x = _solve_triangular(self.lower, y + self.basis @ along, lower=True, transposed=True)
        return x, _solve_triangular(self.upper, along)


def spring_force(spring: Spring, vector: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Force of a spring between points on its ``body``, N.

    Parameters
    ----------
    spring : Spring
    vector, rate : numpy.ndarray, shape (d,)
        From the point on ``to`` to that on ``body``, m, and its time derivative, m/s.

    Returns
    -------
    numpy.ndarray, shape (d,)
    """
    length = np.hypot.reduce(vector)
    if spring.length == 0.0:
        force = -spring.stiffness * vector
    else:
        force = -spring.stiffness * (length - spring.length) * (vector / length)
    if spring.damping:
        direction = vector / length
        force -= spring.damping * (direction @ rate) * direction
    return force


class Equations(ABC):
    """The equations of motion of a mechanism in the coordinates of its tree of joints.

    The tree with its loops cut: :meth:`mass_matrix`, :meth:`accelerations` and :meth:`momenta`. The
    whole mechanism: :meth:`constrained_accelerations`, :meth:`velocities` and
    :meth:`canonical_rates`. q in rad and m, qd in rad/s and m/s, p in N m s and N s.

    Parameters
    ----------
    scenario : Scenario
        Its step, end and integrator play no part.

    Attributes
    ----------
    constraints : int
        Number of the loops' constraints that they keep.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.constraints = len(kinematics.kept_rows(scenario))

    @abstractmethod
    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Joint-space mass matrix M(q), kg m^2, (nv, nv), symmetric positive definite."""

    @abstractmethod
    def _gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps and constraints of not too many states."""

    def gaps(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By how much the loops are open, and their constraints on the velocities.

        Parameters
        ----------
        q : numpy.ndarray, shape (..., nq)

        Returns
        -------
        gap : numpy.ndarray, shape (..., constraints)
            m and rad.
        jacobian : numpy.ndarray, shape (..., constraints, nv)
            J.
        """
        if q.ndim > 1 and len(q) > 1 and q.size > CHUNK:
            parts = [self.gaps(part) for part in np.array_split(q, 2)]
            gap, jacobian = (np.concatenate(part) for part in zip(*parts, strict=True))
            return gap, jacobian
        return self._gaps(q)

    @abstractmethod
    def accelerations(self, q: np.ndarray, qd: np.ndarray, t: float = 0.0) -> np.ndarray:
        """Accelerations of the tree at the time t (s), rad/s^2 and m/s^2, (nv,)."""

    @abstractmethod
    def constrained_accelerations(
        self, q: np.ndarray, qd: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations of the mechanism, and the forces of its cut joints.

        Parameters
        ----------
        q, qd : numpy.ndarray, shapes (nq,) and (nv,)
            A state that fits the loops.
        t : float
            Time, s.

        Returns
        -------
        qdd : numpy.ndarray, shape (nv,)
            rad/s^2 and m/s^2.
        forces : numpy.ndarray, shape (constraints,)
            lambda, N and N m, on ``body``.

        Raises
        ------
        numpy.linalg.LinAlgError
            In singular postures.
        """

    @abstractmethod
    def canonical_rates(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Hamilton's equations; with loops p are the augmented momenta.

        Parameters
        ----------
        q, p : numpy.ndarray, shapes (nq,) and (nv,)
        t : float
            Time, s.

        Returns
        -------
        qd, pd : numpy.ndarray, shape (nv,)

        Raises
        ------
        numpy.linalg.LinAlgError
            In singular postures.
        """

    @abstractmethod
    def _momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Momenta of not too many states."""

    def momenta(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Momenta p = M qd of the tree, (..., nv), for q (..., nq) and qd (..., nv)."""
        q, qd = np.asarray(q, dtype=np.float64), np.asarray(qd, dtype=np.float64)
        if q.ndim > 1 and len(q) > 1 and q.size > CHUNK:
            return np.concatenate(
                [
                    self.momenta(*part)
                    for part in zip(np.array_split(q, 2), np.array_split(qd, 2), strict=True)
                ]
            )
        return self._momenta(q, qd)

    def onto_loops(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest state that fits the loops: least change, in rad, m, rad/s and m/s.

        Parameters
        ----------
        q, qd : numpy.ndarray, shapes (..., nq) and (..., nv)

        Returns
        -------
        q, qd : numpy.ndarray, shapes (..., nq) and (..., nv)
        """
        for _ in range(NEWTON_STEPS):
            gap, jacobian = self.gaps(q)
            q = displaced(self.scenario, q, -(np.linalg.pinv(jacobian) @ gap[..., None])[..., 0])
        inverse = np.linalg.pinv(self.gaps(q)[1])
        for _ in range(2):  # the second for the rounding of the first
            qd = qd - (inverse @ self.gap_rates(q, qd)[..., None])[..., 0]
        return q, qd

    def gap_rates(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Rates of the errors that :meth:`gaps` gives, (..., constraints)."""
        found: np.ndarray = (self.gaps(q)[1] @ qd[..., None])[..., 0]
        return found

    def placed(self, t: np.ndarray, states: np.ndarray) -> np.ndarray:
        """States (T, s), which begin with q and qd, with what motions give at the times (T,)."""
        return states

    def condition(self, q: np.ndarray) -> float:
        """Condition number of J M^-1 J^T at q (nq,): infinite for dependent loop constraints."""
        return Saddle(self.mass_matrix(q), self.gaps(q)[1]).condition

    def velocities(
        self, q: np.ndarray, p: np.ndarray, t: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve M qd = p + J^T sigma with J qd = 0.

        Parameters
        ----------
        q, p : numpy.ndarray, shapes (nq,) and (nv,)
            Coordinates and (augmented) momenta.
        t : float
            Time, s, which motions need.

        Returns
        -------
        qd : numpy.ndarray, shape (nv,)
        sigma : numpy.ndarray, shape (constraints,)
            Impulses of the cut joints on ``body``, N s and N m s.

        Raises
        ------
        numpy.linalg.LinAlgError
            In singular postures.
        """
        if not self.constraints:
            return solve_definite(self.mass_matrix(q), p), np.zeros(0)
        gap, jacobian = self.gaps(q)
        return Saddle(self.mass_matrix(q), jacobian).solve(p, np.zeros(len(gap)))
