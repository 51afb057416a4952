"""Random mechanisms with closed loops, away from singular postures, for the tests of the model."""

import dataclasses
from itertools import product
from typing import Any

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import GROUND, Loop, Scenario
from pymodel.runs.lagrangian import Lagrangian
from pymodel.tests.chains import random_chain

CONDITION = 100.0  # of J M^-1 J^T at the start; the demo's rhombus has 5 there
ATTEMPTS = 10_000
LOADS = ("torque", "spring", "rest", "damping")


def damped_chain(rng: np.random.Generator, n: int, **keys: Any) -> Scenario:
    """Draw a ``random_chain`` that stays tame in long runs: springs pull and damping brakes."""
    scenario = random_chain(rng, n, **keys)
    bodies = tuple(
        dataclasses.replace(body, spring=abs(body.spring), damping=0.1 * abs(body.damping))
        for body in scenario.bodies
    )
    return dataclasses.replace(scenario, bodies=bodies)


def close(rng: np.random.Generator, scenario: Scenario, pairs: list[tuple[int, int]]) -> Scenario:
    """Pin bodies of a tree to each other, where they are now.

    The velocities become those nearest to the tree's that fit the loops, both to rounding (about
    1e-16 m and m/s).

    Parameters
    ----------
    rng : numpy.random.Generator
    scenario : Scenario
        Without loops.
    pairs : list of tuple of int
        Two bodies, the second one ``GROUND`` for the ground. The pin is at a random point of the
        first one.

    Returns
    -------
    Scenario
    """
    q = scenario.q0
    angle = kinematics.absolute_angles(scenario, q)
    handle = kinematics.handle_positions(scenario, q)
    loops = []
    for body, to in pairs:
        point = tuple(rng.uniform(-0.5, 0.5, 2).tolist())
        at = kinematics.point_position(scenario, q, body, point)
        if to != GROUND:
            c, s = np.cos(angle[to]), np.sin(angle[to])
            at = np.array([[c, s], [-s, c]]) @ (at - handle[to])
        loops.append(Loop(body=body, point=point, to=to, at=tuple(at.tolist())))
    closed = dataclasses.replace(scenario, loops=tuple(loops))
    jacobian = kinematics.loop_jacobian(closed, q)
    inverse = np.linalg.pinv(jacobian)
    qd = scenario.qd0
    for _ in range(2):  # the second for the rounding of the first
        qd = qd - inverse @ (jacobian @ qd)
    bodies = tuple(
        dataclasses.replace(body, qd=rate)
        for body, rate in zip(closed.bodies, qd.tolist(), strict=True)
    )
    return dataclasses.replace(closed, bodies=bodies)


def condition(scenario: Scenario) -> float:
    """Condition number of J M^-1 J^T of the loops at the start."""
    return Lagrangian(scenario).condition(scenario.q0)


def unloaded(scenario: Scenario) -> Scenario:
    """Take joint torques, springs and damping away: what is left keeps its energy."""
    nothing = dict.fromkeys(LOADS, 0.0)
    bodies = tuple(dataclasses.replace(body, **nothing) for body in scenario.bodies)
    return dataclasses.replace(scenario, bodies=bodies)


def random_loop(rng: np.random.Generator, n: int, *, loads: bool = True, **keys: Any) -> Scenario:
    """Draw one loop of moving bodies: a random chain whose last body is pinned to the ground.

    It moves, has offsets in both axes, and is far from singular at the start. Four-bars (n = 3)
    stay away from singular postures wherever they move.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Number of bodies, 3 or more.
    loads : bool
        Whether joints have torques, springs and damping.
    **keys
        Of the scenario, as in :func:`pymodel.tests.chains.random_chain`.

    Returns
    -------
    Scenario

    Raises
    ------
    ValueError
        If ``n`` is below 3.
    RuntimeError
        If no attempt gives such a loop.
    """
    if n < 3:
        raise ValueError(f"n: a loop that moves has 3 bodies or more, got {n}")
    for _ in range(ATTEMPTS):
        scenario = close(rng, damped_chain(rng, n, **keys), [(n - 1, GROUND)])
        far = condition(scenario) < CONDITION and np.abs(scenario.qd0).max() > 0.5
        if far and (n > 3 or _flatness(scenario) > 0.1):
            return scenario if loads else unloaded(scenario)
    raise RuntimeError(f"no loop of {n} bodies in {ATTEMPTS} attempts")


def random_four_bar(
    rng: np.random.Generator, grashof: bool, *, loads: bool = True, **keys: Any
) -> Scenario:
    """Draw a ``random_loop`` of 3 bodies in which some link can turn fully (Grashof), or none can.

    Raises
    ------
    RuntimeError
        If no attempt gives such a four-bar.
    """
    for _ in range(ATTEMPTS):
        scenario = random_loop(rng, 3, loads=loads, **keys)
        if is_grashof(scenario) == grashof:
            return scenario
    raise RuntimeError(f"no four-bar with grashof={grashof} in {ATTEMPTS} attempts")


def link_lengths(scenario: Scenario) -> np.ndarray:
    """Distances in m between the neighbouring pins of a four-bar, the ground's last, shape (4,)."""
    (loop,) = scenario.loops
    bodies = scenario.bodies
    arms = [bodies[1].attach, bodies[2].attach, loop.point]
    arms.append(np.subtract(loop.at, bodies[0].attach))
    return np.linalg.norm(arms, axis=1)


def is_grashof(scenario: Scenario) -> bool:
    """Whether the shortest and the longest link of a four-bar are shorter than the other two."""
    length = np.sort(link_lengths(scenario))
    return bool(length[0] + length[3] < length[1] + length[2])


def _flatness(scenario: Scenario) -> float:
    """How far a four-bar stays from flat, as a share: 0 if its links fit onto a line."""
    length = link_lengths(scenario)
    folded = [abs(length @ np.array([1, *signs])) for signs in product((1, -1), repeat=3)]
    return min(folded) / length.sum()
