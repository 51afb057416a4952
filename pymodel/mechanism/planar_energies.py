"""Energies of a mechanism in the plane at many times, by columns: body by body, all times at once.

The bits are those of the vectors of :mod:`pymodel.mechanism.kinematics`, which stand in rows: every
number comes from the same operations, and sums over bodies run over rows, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pymodel.mechanism.scenario import FREE, GROUND, PRISMATIC, REVOLUTE, Scenario, Vector

#: Times that are computed with together: their columns stay in the cache.
TOGETHER = 1 << 10

Columns = tuple[np.ndarray, np.ndarray]  #: x and y of each body, (n, T) each


class Planar:
    """A mechanism in the plane, prepared to compute energies of many states.

    Parameters
    ----------
    scenario : Scenario
    """

    def __init__(self, scenario: Scenario) -> None:
        bodies = scenario.bodies
        self.scenario = scenario
        self.parents = [body.parent for body in bodies]
        self.turned = [k for k, body in enumerate(bodies) if body.joint in (REVOLUTE, FREE)]
        self.rotation = None
        if not scenario.pins_only:
            self.rotation = np.array([[body.rotation] for body in bodies])
        self.mass = np.array([body.mass for body in bodies])
        self.inertia = np.array([body.inertia for body in bodies])
        self.weight = self.mass[:, None] * scenario.gravity
        self.com = _columns([body.com for body in bodies])
        # Bodies on others, and where these hold them.
        self.carried = [k for k, body in enumerate(bodies) if body.parent != GROUND]
        self.carriers = [bodies[k].parent for k in self.carried]
        self.attach = _columns([bodies[k].attach for k in self.carried])
        self.first = [k for k, body in enumerate(bodies) if body.parent == GROUND]
        self.held = np.array(_columns([bodies[k].attach for k in self.first]))
        self.sliding = [k for k, body in enumerate(bodies) if body.joint == PRISMATIC]
        self.direction = _columns([bodies[k].direction for k in self.sliding])

    def energies(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and potential energy in gravity alone, J, (T,) each.

        Parameters
        ----------
        q, qd : numpy.ndarray, shape (T, nq), (T, nv)
        """
        if len(q) <= TOGETHER + 1:  # a lone row at the end would be summed in another way
            return self._energies(q, qd)
        kinetic, potential = np.empty(len(q)), np.empty(len(q))
        for first in range(0, len(q) - 1, TOGETHER):
            stop = len(q) if len(q) - first == TOGETHER + 1 else first + TOGETHER
            here = slice(first, stop)
            kinetic[here], potential[here] = self._energies(q[here], qd[here])
        return kinetic, potential

    def _energies(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those of so few times that their columns stay in the cache."""
        bodies, (q, qd) = self.scenario.bodies, (np.array(x.T, order="C") for x in (q, qd))
        angles = self._own_turns(q, self.scenario.q_slices)
        if self.rotation is not None:
            angles += self.rotation
        self._add_ancestors(angles)
        rate = self._own_turns(qd, self.scenario.v_slices)
        self._add_ancestors(rate)
        turns = np.cos(angles), np.sin(angles)
        lever = _turned(turns, self.com)
        position, velocity = np.empty((2, *angles.shape)), np.zeros((2, *angles.shape))
        position[:, self.first] = self.held
        x, y = _turned([x[self.carriers] for x in turns], self.attach)
        slides = np.array(_turned([x[self.sliding] for x in turns], self.direction))
        arm = np.array((x, y))
        for which, k in enumerate(self.sliding):
            along = slides[:, which] * q[self.scenario.q_slices[k]]
            if k in self.carried:
                arm[:, self.carried.index(k)] += along
            else:
                position[:, k] += along
        position[:, self.carried] = arm
        spin = rate[self.carriers]
        velocity[0, self.carried], velocity[1, self.carried] = -arm[1] * spin, arm[0] * spin
        for k, body in enumerate(bodies):
            own = self.scenario.q_slices[k], self.scenario.v_slices[k]
            if body.joint == FREE:
                position[:, k], velocity[:, k] = q[own[0]][:2], qd[own[1]][:2]
            elif (parent := body.parent) != GROUND:
                velocity[:, k] += velocity[:, parent]
                position[:, k] += position[:, parent]
            if body.joint == PRISMATIC:
                velocity[:, k] += slides[:, self.sliding.index(k)] * qd[own[1]]
        velocity[0] += -lever[1] * rate
        velocity[1] += lever[0] * rate
        position += lever
        with np.errstate(over="ignore"):  # a run that explodes gets here before it is stopped
            speed = velocity**2
            moving = np.ascontiguousarray((speed[0] + speed[1]).T) * self.mass
            turning = np.ascontiguousarray((rate**2).T) * self.inertia
            kinetic = 0.5 * (moving.sum(axis=-1) + turning.sum(axis=-1))
        centres = np.ascontiguousarray(position.transpose(2, 1, 0))
        return kinetic, -(centres * self.weight).sum(axis=(-1, -2))

    def _own_turns(self, values: np.ndarray, slices: list[slice]) -> np.ndarray:
        """Of coordinates or velocities those that turn a body, or 0, shape (n, T)."""
        if self.rotation is None:
            return values
        turns = np.zeros((len(self.parents), values.shape[-1]))
        for k in self.turned:
            turns[k] = values[slices[k].stop - 1]  # of a free body the last one
        return turns

    def _add_ancestors(self, values: np.ndarray) -> None:
        """Add to each body's value those of all bodies that it hangs on."""
        for k, parent in enumerate(self.parents):
            if parent != GROUND:
                values[k] += values[parent]


def _columns(vectors: list[Vector]) -> Columns:
    """x and y of vectors of bodies, (n, 1) each."""
    x, y = np.array(vectors, dtype=np.float64).reshape(-1, 2).T
    return x[:, None], y[:, None]


def _turned(turns: Any, vector: Columns) -> Columns:
    """Vectors of bodies in the ground frame; ``turns`` are cosines and sines, (n, T) each."""
    (c, s), (x, y) = turns, vector
    return c * x - s * y, s * x + c * y
