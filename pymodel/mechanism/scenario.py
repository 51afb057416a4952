"""A scenario: the mechanism, its initial state, and the time grid of a run.

Bodies are numbered from 0 in the order of the file and parents stand before their children. A
body has handle 1 at the joint to its parent and handle 2 at ``tip``; vectors are in metres, angles
in radians, everything else in SI units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pymodel.arith.errors import Error

GROUND = -1
INTEGRATORS = ("euler", "semi-implicit", "rk4", "implicit-midpoint")
#: Those of scipy, which choose their steps by a tolerance.
ADAPTIVE = ("RK45", "RK23", "DOP853", "LSODA", "Radau", "BDF")
TOLERANCE = 1e-9  #: of theirs, where a scenario says none
#: A spring may be so many times longer or shorter than its natural length: within that the
#: algorithm's length of it is right to 2e-14 (:mod:`pymodel.algorithms.springs`).
STRETCH = 16.0

GROUND_NAME = "ground"

Vector = tuple[float, float]


class ScenarioError(Error, ValueError):
    """A scenario that cannot be run; ``str()`` is the single line ``file: key: reason``.

    Parameters
    ----------
    source : str
        File, or what stands for it.
    key : str
        Path of the key, as ``body[1].mass``; empty if the whole file is meant.
    reason : str
    """

    def __init__(self, source: str, key: str, reason: str) -> None:
        self.source = source
        self.key = key
        self.reason = reason
        super().__init__(f"{source}: {key}: {reason}" if key else f"{source}: {reason}")


@dataclass(frozen=True)
class Body:
    """One rigid body and the pin that hangs it on its parent.

    The joint's torque is torque - spring (q - rest) - damping qd.

    Parameters
    ----------
    mass : float
        kg.
    inertia : float
        kg m^2, about the centre of mass.
    com, tip : tuple of float
        Centre of mass and handle 2, m, from handle 1 in the body frame.
    parent : int
        Index of the parent, ``GROUND`` for the ground.
    attach : tuple of float
        Place of the pin, m, in the parent's frame from its handle 1, or in the ground frame.
    q, qd : float
        Initial angle (rad) and velocity (rad/s), relative to the parent.
    guess : bool
        Whether a file gives ``q`` and ``qd`` as guesses; here they are what closes the loops.
    torque : float
        N m.
    spring : float
        N m/rad.
    rest : float
        Angle of the relaxed spring, rad.
    damping : float
        N m s/rad.
    name : str
        Empty without one.
    """

    mass: float
    inertia: float
    com: Vector
    tip: Vector
    parent: int = GROUND
    attach: Vector = (0.0, 0.0)
    q: float = 0.0
    qd: float = 0.0
    guess: bool = False
    torque: float = 0.0
    spring: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class Loop:
    """An extra pin, which closes a loop: a point of one body stays on a point of another.

    Parameters
    ----------
    body : int
    point : tuple of float
        m, from handle 1 of ``body`` in its frame.
    to : int
        The other body, ``GROUND`` for the ground.
    at : tuple of float
        m, from handle 1 of ``to`` in its frame, or in the ground frame.
    """

    body: int
    point: Vector
    to: int
    at: Vector


@dataclass(frozen=True)
class Spring:
    """A spring and a damper, in parallel, between points of two bodies or of a body and the ground.

    It pulls its ends together with stiffness (L - length) + damping dL/dt, L being their distance.

    Parameters
    ----------
    body, point, to, at
        Its two ends, as for :class:`Loop`.
    stiffness : float
        N/m.
    length : float
        Natural length, m, not negative.
    damping : float
        N s/m.
    """

    body: int
    point: Vector
    to: int
    at: Vector
    stiffness: float = 0.0
    length: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """A mechanism with its initial state (in the bodies), gravity and time grid.

    Parameters
    ----------
    name : str
    gravity : tuple of float
        m/s^2, ground frame.
    step, end : float
        Length of a step and of the run, s.
    bodies : tuple of Body
        Parents before their children.
    loops : tuple of Loop
    springs : tuple of Spring
    integrator : str
        One of ``INTEGRATORS`` or ``ADAPTIVE``.
    save : int
        Every ``save``-th step is kept.
    tolerance : float, optional
        Of an adaptive integrator; ``TOLERANCE`` unless given.
    source : str
        File, or what stands for it in messages.
    """

    name: str
    gravity: Vector
    step: float
    end: float
    bodies: tuple[Body, ...]
    loops: tuple[Loop, ...] = ()
    springs: tuple[Spring, ...] = ()
    integrator: str = "euler"
    save: int = 1
    tolerance: float | None = None
    source: str = "<scenario>"

    @property
    def adaptive(self) -> bool:
        """Whether the integrator chooses its steps."""
        return self.integrator in ADAPTIVE

    def require_fixed_steps(self) -> None:
        """Refuse an adaptive integrator where each step is the same program, by a ScenarioError."""
        if self.adaptive:
            needed = "only for the model in float64 (ARITH=float64, --arith float64)"
            reason = f"{self.integrator} chooses its steps: {needed}"
            raise ScenarioError(self.source, "time.integrator", reason)

    @property
    def steps(self) -> int:
        """Number of integration steps of the run."""
        return round(self.end / self.step)

    @property
    def times(self) -> np.ndarray:
        """Kept times in s, the start included: every ``save``-th step k at k * step."""
        return np.arange(0, self.steps + 1, self.save) * self.step

    @property
    def is_chain(self) -> bool:
        """Whether each body hangs on the one before (anywhere on it), the first on the ground."""
        return all(body.parent == k - 1 for k, body in enumerate(self.bodies))

    @property
    def joint_names(self) -> list[str]:
        """What the joints are called in plots: by number, and by their bodies' names if any."""
        names = [f" ({body.name})" if body.name else "" for body in self.bodies]
        return [f"joint {k}{name}" for k, name in enumerate(names)]

    @property
    def q0(self) -> np.ndarray:
        """Initial joint angles, rad, shape (n,)."""
        return np.array([body.q for body in self.bodies])

    @property
    def qd0(self) -> np.ndarray:
        """Initial joint velocities, rad/s, shape (n,)."""
        return np.array([body.qd for body in self.bodies])
