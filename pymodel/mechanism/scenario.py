"""A scenario: the mechanism, its initial state, and the time grid of a run.

Bodies are numbered from 0 in the order of the file and parents stand before their children.  A
body has handle 1 at the joint to its parent and handle 2 at `tip`; vectors are in metres, angles
in radians, everything else in SI units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROUND = -1
INTEGRATORS = ("euler", "semi-implicit", "rk4")

Vector = tuple[float, float]


class ScenarioError(ValueError):
    """A scenario that makes no sense; `str()` is the single line `file: key: reason`."""

    def __init__(self, source: str, key: str, reason: str) -> None:
        self.source = source
        self.key = key
        self.reason = reason
        super().__init__(f"{source}: {key}: {reason}" if key else f"{source}: {reason}")


@dataclass(frozen=True)
class Body:
    """One rigid body and the pin that hangs it on its parent.

    mass kg, inertia kg m^2 about the centre of mass; com and tip from handle 1 in the body frame,
    attach in the parent's frame from its handle 1 (ground frame if parent is -1), m.  q rad and
    qd rad/s are relative to the parent.  Joint torque: torque - spring (q - rest) - damping qd.
    """

    mass: float
    inertia: float
    com: Vector
    tip: Vector
    parent: int = GROUND
    attach: Vector = (0.0, 0.0)
    q: float = 0.0
    qd: float = 0.0
    torque: float = 0.0
    spring: float = 0.0
    rest: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Loop:
    """An extra pin: `point` of `body` (its frame) stays on `at` of `to` (its frame; -1 ground)."""

    body: int
    point: Vector
    to: int
    at: Vector


@dataclass(frozen=True)
class Scenario:
    """A mechanism with its initial state (in the bodies), gravity (m/s^2) and time grid (s)."""

    name: str
    gravity: Vector
    step: float
    end: float
    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    integrator: str = "euler"
    save: int = 1
    source: str = "<scenario>"

    @property
    def steps(self) -> int:
        """Number of integration steps of the run."""
        return round(self.end / self.step)

    @property
    def times(self) -> np.ndarray:
        """Kept times in s, the start included: every `save`-th step k at k * step."""
        return np.arange(0, self.steps + 1, self.save) * self.step

    @property
    def is_chain(self) -> bool:
        """True if every body hangs on the previous one (wherever on it), the first on ground."""
        return all(body.parent == k - 1 for k, body in enumerate(self.bodies))

    @property
    def q0(self) -> np.ndarray:
        """Initial joint angles, rad, shape (n,)."""
        return np.array([body.q for body in self.bodies])

    @property
    def qd0(self) -> np.ndarray:
        """Initial joint velocities, rad/s, shape (n,)."""
        return np.array([body.qd for body in self.bodies])
