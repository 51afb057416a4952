"""A horizon that recedes: in each tick the controller plans on from what it measures.

The torques of a tick are those that were planned one tick before, for the state that the model
expected then, corrected by the feedback of that plan: what is computed in a tick acts in the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pymodel.control.ddp import Problem, solve
from pymodel.control.motion import Motion, Policy
from pymodel.mechanism.robot import Robot


class Driven(NamedTuple):
    """What a plant did under a controller.

    Attributes
    ----------
    xs : ndarray, shape (ticks + 1, nx)
    us : ndarray, shape (ticks, nu)
        N m, N.
    """

    xs: np.ndarray
    us: np.ndarray


@dataclass(frozen=True)
class Plant:
    """The robot that is there, in float64.

    Attributes
    ----------
    motion : Motion
        Of a part of a tick.
    parts : int
        Steps in a tick.
    """

    motion: Motion
    parts: int

    def after(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The state after a tick under torques that are held."""
        held = self.motion.open(np.tile(u, (self.parts, 1)))
        free = np.full(self.motion.nu, np.inf)
        xs, _ = self.motion.under(held, x, np.ones(self.motion.lanes), -free, free)
        return np.array(xs[-1, :, 0])


def heavier(robot: Robot, share: float) -> Robot:
    """The robot with all masses and moments of inertia larger by a share."""
    links = [replace(link, inertia=(1.0 + share) * link.inertia) for link in robot.links]
    return replace(robot, links=tuple(links))


def drive(
    problem: Problem,
    plant: Plant,
    policy: Policy,
    ticks: int,
    noise: float = 0.0,
    iterations: int = 1,
    seed: int = 1,
    watch: Callable[[int, int], None] = lambda done, ticks: None,
) -> Driven:
    """Drive a plant for some ticks, each as long as a knot.

    Parameters
    ----------
    problem : Problem
    plant : Plant
    policy : Policy
        A plan from the plant's state on.
    ticks : int
    noise : float
        Standard deviation of what is measured, rad and rad/s (m and m/s).
    iterations : int
        Of each tick.
    seed : int
        Of the noise.
    watch : callable
        Told ticks done and all.

    Returns
    -------
    Driven
    """
    rng, x, states = np.random.default_rng(seed), policy.xs[0], problem.motion.states
    xs, us = [x], []
    for tick in range(ticks):
        seen = states.integrate(x, noise * rng.normal(size=states.ndx))
        away = states.difference(policy.xs[0], seen)
        u = np.clip(policy.us[0] + policy.K[0] @ away, problem.low, problem.high)
        # While the plant moves, the next plan is made from where the model expects it then.
        ahead = _next(problem.motion, seen, u)
        policy = solve(problem, ahead, policy.later(), iterations, tolerance=0.0).policy
        x = plant.after(x, u)
        xs.append(x)
        us.append(u)
        watch(tick + 1, ticks)
    return Driven(np.array(xs), np.array(us))


def _next(motion: Motion, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    return Plant(motion, 1).after(x, u)
