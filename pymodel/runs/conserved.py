"""Quantities that a mechanism's motion conserves; what a run changes of them is its error.

Gravity, motors, dampers, and what holds a mechanism on the ground decide. A scenario may have none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import FREE, GROUND, Scenario
from pymodel.runs import columns
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

    def size(self, run: Trajectory) -> float:
        """What a change of it is to be compared with, in the same unit."""
        return max(self.scale(part) for part in run.parts())

    def change(self, run: Trajectory) -> np.ndarray:
        """What the run has changed of it since its start, shape (T,)."""
        values = columns.empty(len(run))
        for here, part in zip(columns.blocks(len(run)), run.parts(), strict=True):
            values[here] = self.values(part)
        values -= values[0].copy()
        return values


def conserved(scenario: Scenario) -> list[Conserved]:
    """Find what the exact motion of a scenario conserves.

    Parameters
    ----------
    scenario : Scenario

    Returns
    -------
    list of Conserved
        The energy, unless something dampens the motion or a torque depends on time; it counts the
        work of constant torques. In the plane the angular momentum about the pin of each tree of
        bodies on which nothing outside has a moment about it. Where nothing is held on the ground,
        the momenta that gravity leaves alone.
    """
    return [*_energy(scenario), *_angular_momenta(scenario), *_of_floating(scenario)]


def has_dampers(scenario: Scenario) -> bool:
    """Whether the energy of a motion changes by viscous damping, or by friction."""
    in_joints = any(body.damping or body.rubs for body in scenario.bodies)
    return in_joints or any(spring.damping for spring in scenario.springs)


def _energy(scenario: Scenario) -> list[Conserved]:
    if has_dampers(scenario) or scenario.is_driven:
        return []
    torques = np.zeros(scenario.nq)
    for body, own in zip(scenario.bodies, scenario.q_slices, strict=True):
        if own.stop - own.start == 1:
            constant: Any = body.torque  # as nothing is driven
            torques[own] = constant

    def values(run: Trajectory) -> np.ndarray:
        return run.kinetic + run.potential - run.q @ torques

    def scale(run: Trajectory) -> float:
        return float(run.kinetic.max())

    name = f"{ENERGY} less work of the motors" if torques.any() else ENERGY
    return [Conserved(name, "J", values, scale, "kinetic energy")]


def _angular_momenta(scenario: Scenario) -> list[Conserved]:
    if any(scenario.gravity) or not scenario.pins_only:
        return []
    roots: list[int] = []  # of each body: the one of its tree that is on the ground
    for k, body in enumerate(scenario.bodies):
        roots.append(k if body.parent == GROUND else roots[body.parent])
    ends = [
        {GROUND if body == GROUND else roots[body] for body in (pair.body, pair.to)}
        for pair in scenario.pairs
    ]
    found = []
    for k, body in enumerate(scenario.bodies):
        held = any(k in pair and len(pair) > 1 for pair in ends)
        if roots[k] == k and not (held or body.torque or body.spring or body.damping or body.rubs):
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
        return (
            mass * orbital
            + inertia * kinematics.angular_velocities(scenario, run.q, run.qd)[:, bodies]
        )

    def values(run: Trajectory) -> np.ndarray:
        return parts(run).sum(axis=-1)

    def scale(run: Trajectory) -> float:
        return float(np.abs(parts(run)).sum(axis=-1).max())

    name = scenario.joint_names[root]
    return Conserved(f"angular momentum about {name}", "N m s", values, scale, "sum of magnitudes")


def _of_floating(scenario: Scenario) -> list[Conserved]:
    """Momenta of a mechanism that nothing holds on the ground."""
    held = any(body.parent == GROUND and body.joint != FREE for body in scenario.bodies)
    if held or any(GROUND in (pair.body, pair.to) for pair in scenario.pairs):
        return []
    gravity = np.array(scenario.gravity)
    down: Any = gravity / np.linalg.norm(gravity) if gravity.any() else None
    found = []
    for axis, name in enumerate("xyz"[: len(gravity)]):
        if not gravity.any() or down[axis] == 0.0:
            found.append(_momentum(scenario, 0, np.eye(len(gravity))[axis], f"along {name}", "N s"))
    turns = np.eye(3) if scenario.spatial else np.eye(1)
    if not gravity.any():
        for direction, name in zip(turns, "xyz" if scenario.spatial else "z", strict=True):
            found.append(_momentum(scenario, 1, direction, f"about {name}", "N m s"))
    elif scenario.spatial:
        found.append(_momentum(scenario, 1, down, "about the vertical", "N m s"))
    return found


def _momentum(
    scenario: Scenario, kind: int, direction: np.ndarray, name: str, unit: str
) -> Conserved:
    """A component of the linear (0) or angular (1) momentum, about the ground's origin."""

    def values(run: Trajectory) -> np.ndarray:
        return kinematics.total_momenta(scenario, run.q, run.qd)[kind] @ direction

    def scale(run: Trajectory) -> float:
        momenta = kinematics.total_momenta(scenario, run.q, run.qd)[kind]
        return float(np.linalg.norm(momenta, axis=-1).max())

    what = ("momentum", "angular momentum")[kind]
    return Conserved(f"{what} {name}", unit, values, scale, f"the largest {what}")
