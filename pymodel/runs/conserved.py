"""Quantities that a mechanism's motion conserves; what a run changes of them is its error.

Gravity, motors, dampers, and what holds a mechanism on the ground decide. A scenario may have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import GROUND, Scenario
from pymodel.runs.trajectory import Trajectory

ENERGY = "energy"


@dataclass(frozen=True)
class Conserved:
    """A quantity that the exact motion conserves.

    Attributes
    ----------
    name, unit : str
    values : callable
        Trajectory -> its values, shape (T,).
    scale : callable
        Trajectory -> what a change of it is to be compared with, in the same unit.
    scale_name : str
        What the scale is.
    """

    name: str
    unit: str
    values: Callable[[Trajectory], np.ndarray]
    scale: Callable[[Trajectory], float]
    scale_name: str

    def change(self, run: Trajectory) -> np.ndarray:
        """What the run has changed of it since its start, shape (T,)."""
        values = self.values(run)
        return values - values[0]


def conserved(scenario: Scenario) -> list[Conserved]:
    """Find what the exact motion of a scenario conserves.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    list of Conserved
        The energy, unless something dampens the motion; it counts the work of constant torques.
        The angular momentum about the pin of each tree of bodies on which nothing outside has a
        moment about it.
    """
    return [*_energy(scenario), *_angular_momenta(scenario)]


def has_dampers(scenario: Scenario) -> bool:
    """Whether the energy of a motion changes by viscous damping."""
    return any(x.damping for x in (*scenario.bodies, *scenario.springs))


def _energy(scenario: Scenario) -> list[Conserved]:
    if has_dampers(scenario):
        return []
    torques = np.array([body.torque for body in scenario.bodies])

    def values(run: Trajectory) -> np.ndarray:
        return run.kinetic + run.potential - run.q @ torques

    def scale(run: Trajectory) -> float:
        return float(run.kinetic.max())

    name = f"{ENERGY} less work of the motors" if torques.any() else ENERGY
    return [Conserved(name, "J", values, scale, "kinetic energy")]


def _angular_momenta(scenario: Scenario) -> list[Conserved]:
    if any(scenario.gravity):
        return []
    roots: list[int] = []  # of each body: the one of its tree that is on the ground
    for k, body in enumerate(scenario.bodies):
        roots.append(k if body.parent == GROUND else roots[body.parent])
    ends = [
        {GROUND if body == GROUND else roots[body] for body in (pair.body, pair.to)}
        for pair in (*scenario.loops, *scenario.springs)
    ]
    found = []
    for k, body in enumerate(scenario.bodies):
        held = any(k in pair and len(pair) > 1 for pair in ends)
        if roots[k] == k and not (held or body.torque or body.spring or body.damping):
            found.append(_angular_momentum(scenario, k, [j for j, r in enumerate(roots) if r == k]))
    return found


def _angular_momentum(scenario: Scenario, root: int, bodies: list[int]) -> Conserved:
    """That of bodies about the pin of their root, from their velocities."""
    pin = np.array(scenario.bodies[root].attach)
    mass = np.array([scenario.bodies[k].mass for k in bodies])
    inertia = np.array([scenario.bodies[k].inertia for k in bodies])

    def parts(run: Trajectory) -> np.ndarray:
        arms = kinematics.centres_of_mass(scenario, run.q)[:, bodies] - pin
        velocities = kinematics.centre_of_mass_velocities(scenario, run.q, run.qd)[:, bodies]
        orbital = arms[..., 0] * velocities[..., 1] - arms[..., 1] * velocities[..., 0]
        return mass * orbital + inertia * kinematics.angular_velocities(scenario, run.qd)[:, bodies]

    def values(run: Trajectory) -> np.ndarray:
        return parts(run).sum(axis=-1)

    def scale(run: Trajectory) -> float:
        return float(np.abs(parts(run)).sum(axis=-1).max())

    name = scenario.joint_names[root]
    return Conserved(f"angular momentum about {name}", "N m s", values, scale, "sum of magnitudes")
