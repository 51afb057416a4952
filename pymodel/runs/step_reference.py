"""Discrete steps and their sensitivities by numpy, from anybody's accelerations: a reference."""

from collections.abc import Callable

import numpy as np

#: q, displacement (nv,) -> q after it, and its derivatives by q and by the displacement, (nv, nv).
Integration = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]

#: q, qd -> accelerations (nv,), and their derivatives by (q, qd, tau), (nv, 3 nv).
Accelerations = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def step(
    accelerations: Accelerations, integrate: Integration, q: np.ndarray, qd: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Step rates first, then coordinates by the new rates.

    Returns
    -------
    x : ndarray, shape (nq + nv,)
        q and qd after the step.
    by : ndarray, shape (2 nv, 3 nv)
        Its derivatives by (q, qd, tau), those of and by q in the tangent space.
    """
    n = len(qd)
    qdd, by = accelerations(q, qd)
    qd = qd + h * qdd
    by_qd = _unit(n)[n:] + h * by
    after, by_start, by_way = integrate(q, h * qd)
    by_q = by_start @ _unit(n)[:n] + by_way @ (h * by_qd)
    return np.concatenate([after, qd]), np.vstack([by_q, by_qd])


def rk4(
    accelerations: Accelerations, integrate: Integration, q: np.ndarray, qd: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray]:
    """Step by the classical method of order 4, of coordinates that add: else as :func:`step`."""
    begin, unit, rates = np.concatenate([q, qd]), _unit(len(q)), _rates(accelerations)
    slopes = [rates(begin, unit)]
    for share in (0.5, 0.5, 1.0):
        slope, by = slopes[-1]
        slopes.append(rates(begin + share * h * slope, unit + share * h * by))
    weights = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
    mean = sum(w * slope for w, (slope, _) in zip(weights, slopes, strict=True))
    by = sum(w * changes for w, (_, changes) in zip(weights, slopes, strict=True))
    return begin + h * mean, unit + h * by


def _unit(n: int) -> np.ndarray:
    return np.eye(2 * n, 3 * n)


def _rates(
    accelerations: Accelerations,
) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Rates of (q, qd), and how they change as (q, qd) changes by `by` with (q, qd, tau)."""

    def rates(x: np.ndarray, by: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(x) // 2
        qdd, own = accelerations(x[:n], x[n:])
        changes = own[:, : 2 * n] @ by
        changes[:, 2 * n :] += own[:, 2 * n :]
        return np.concatenate([x[n:], qdd]), np.vstack([by[n:], changes])

    return rates
