"""Differential dynamic programming with limits of the controls.

Gauss-Newton second derivatives of the cost, none of the dynamics (iterative LQR); controls stay
within their limits by a quadratic programme in each knot (Tassa, Mansard and Todorov 2014). A
Hessian by the controls that is not positive definite, or a step that no share of makes better, is
met by more regularisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pymodel.control.motion import Approximation, Motion, Policy

#: Shares of a step that are tried: the first that keeps this part of what is expected is taken.
KEPT = 0.1
#: Regularisation: where it begins, at least and at most, and by how much it changes.
LEAST, MOST, FACTOR = 1e-9, 1e9, 10.0


class Cost(Protocol):
    """What a motion costs, as a sum over its knots."""

    def value(self, xs: np.ndarray, us: np.ndarray, lanes: slice = slice(None)) -> np.ndarray:
        """Costs of some of motions: xs (T + 1, nx, width), us (T, nu, width) -> (lanes,)."""

    def approximated(self, xs: np.ndarray, us: np.ndarray) -> Approximation:
        """Derivatives at the knots of one motion: xs (T + 1, nx), us (T, nu)."""


@dataclass(frozen=True)
class Problem:
    """Bring a robot from a state to where its cost is least.

    Attributes
    ----------
    motion : Motion
    cost : Cost
    low, high : ndarray, shape (nu,)
        Limits of the controls, N m or N; infinities where there are none.
    """

    motion: Motion
    cost: Cost
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Solution:
    """A motion, the policy around it, and how it was found.

    Attributes
    ----------
    policy : Policy
        Of the last iteration; ``xs`` and ``us`` are the motion.
    costs : tuple of float
        Of the first motion, and after each iteration.
    converged : bool
        Whether an iteration expected less than the tolerance of itself.
    """

    policy: Policy
    costs: tuple[float, ...]
    converged: bool

    @property
    def iterations(self) -> int:
        """How many were done."""
        return len(self.costs) - 1


def solve(
    problem: Problem,
    x: np.ndarray,
    begin: Policy,
    iterations: int = 100,
    tolerance: float = 1e-9,
    watch: Callable[[int, float], None] = lambda iteration, cost: None,
) -> Solution:
    """Find the controls of least cost from a state on.

    Parameters
    ----------
    problem : Problem
    x : ndarray, shape (nx,)
        Where the robot is.
    begin : Policy
        Of the motion to begin with; its feed-forward part is left out.
    iterations : int
        At most.
    tolerance : float
        Ends where an iteration expects to lower the cost by less.
    watch : callable
        Told the number of iterations done and the cost.

    Returns
    -------
    Solution
    """
    motion = problem.motion
    begun = motion.under(begin, x, np.zeros(motion.lanes), problem.low, problem.high)
    xs, us = (array[..., 0].copy() for array in begun)
    costs = [float(problem.cost.value(*begun, slice(0, 1))[0])]
    regular, policy, linear = 0.0, begin._replace(xs=xs, us=us), None
    while len(costs) <= iterations:
        if linear is None:
            linear = *motion.linearised(xs, us), problem.cost.approximated(xs, us)
        low, high = problem.low - us, problem.high - us
        found = motion.backward(*linear, low, high, regular)
        step = None
        if found is not None:
            k, K, expected = found
            policy = Policy(xs, us, k, K)
            if -(expected[0] + 0.5 * expected[1]) < tolerance:
                return Solution(policy, tuple(costs), converged=True)
            step = _searched(problem, policy, x, expected, costs[-1])
        if step is None:
            regular = max(FACTOR * regular, LEAST)
            if regular > MOST:
                break
            continue
        xs, us, cost = step
        regular = regular / FACTOR if regular > LEAST else 0.0
        linear = None
        costs.append(cost)
        watch(len(costs) - 1, cost)
    return Solution(policy._replace(xs=xs, us=us), tuple(costs), converged=False)


def _searched(
    problem: Problem, policy: Policy, x: np.ndarray, expected: np.ndarray, before: float
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """The motion of the largest share that lowers the cost as expected; None if none does."""
    motion = problem.motion
    shares = 0.5 ** np.arange(motion.lanes)
    for _ in range(2):
        xs, us = motion.under(policy, x, shares, problem.low, problem.high)
        for some in (slice(0, 1), slice(1, None)):
            costs = problem.cost.value(xs, us, some)
            least = KEPT * (shares[some] * expected[0] + 0.5 * shares[some] ** 2 * expected[1])
            good = np.flatnonzero(np.isfinite(costs) & (costs - before <= least))
            if len(good):
                at = (0 if some.start == 0 else 1) + good[0]
                return xs[..., at].copy(), us[..., at].copy(), float(costs[good[0]])
        shares = shares * shares[-1] * 0.5
    return None
