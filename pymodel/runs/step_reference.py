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
    """Step by the classical method of order 4, as :func:`step`.

    Where coordinates do not add, it is that of Celledoni, Marthinsen and Owren (2003), whose first
    example it is: displacements by stages' rates, after each other, are its rows.
    """
    n = len(qd)
    rows: list[list[list[float]]] = [
        [[]],
        [[1 / 2]],
        [[0, 1 / 2]],
        [[1 / 2], [-1 / 2, 0, 1]],
        [[1 / 4, 1 / 6, 1 / 6, -1 / 12], [-1 / 12, 1 / 6, 1 / 6, 1 / 4]],
    ]
    rates: list[tuple[np.ndarray, np.ndarray]] = []  # of q and qd, with derivatives
    for moves in rows:
        at, by_q, at_rate, by_rate = q, _unit(n)[:n], qd, _unit(n)[n:]
        for weights in moves:
            total, by = np.zeros(2 * n), np.zeros((2 * n, 3 * n))
            for weight, (slope, changes) in zip(weights, rates, strict=False):
                total, by = total + weight * h * slope, by + weight * h * changes
            at, by_start, by_way = integrate(at, total[:n])
            by_q = by_start @ by_q + by_way @ by[:n]
            at_rate, by_rate = at_rate + total[n:], by_rate + by[n:]
        if len(rates) < len(rows) - 1:
            qdd, own = accelerations(at, at_rate)
            changes = own[:, :n] @ by_q + own[:, n : 2 * n] @ by_rate
            changes[:, 2 * n :] += own[:, 2 * n :]
            rates.append((np.concatenate([at_rate, qdd]), np.vstack([by_rate, changes])))
    return np.concatenate([at, at_rate]), np.vstack([by_q, by_rate])


def _unit(n: int) -> np.ndarray:
    return np.eye(2 * n, 3 * n)
