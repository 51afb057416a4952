"""States of a robot, coordinates and rates, and the tangent space in which they differ.

Coordinates add, but those of a floating base, of ball and of floating joints: these end in a
quaternion, and differ and move on as Pinocchio's ``difference`` and ``integrate`` have it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body import manifold
from pymodel.control.c_library import Library, doubles
from pymodel.mechanism.robot import Robot


class States:
    """What states of a robot are.

    Parameters
    ----------
    robot : Robot

    Attributes
    ----------
    nq, nv : int
        Coordinates and degrees of freedom.
    nx, ndx : int
        Length of a state (q, qd), and of a displacement.
    driven : list of int
        Degrees of freedom that torques act on: those of the joints that are actuated where the file
        says which, else all but a floating base's.
    """

    def __init__(self, robot: Robot) -> None:
        self.nq, self.nv = robot.nq, robot.nv
        self.nx, self.ndx = robot.nq + robot.nv, 2 * robot.nv
        self.driven = list(range(6 * robot.floating, robot.nv))
        if robot.actuated is not None:
            self.driven = sorted({robot.dof(link) for link in robot.actuated})
        self._quaternions = robot.quaternions
        self._joints = manifold.joints(robot)

    @property
    def nu(self) -> int:
        """Number of torques."""
        return len(self.driven)

    @property
    def sizes(self) -> dict[str, Any]:
        """Macros of the C sources."""
        joints = (f"{{{j.coordinates.start},{j.dofs.start},{len(j.dofs)}}}," for j in self._joints)
        return {"NQ": self.nq, "NV": self.nv, "NU": self.nu, "JOINTS": "".join(joints)}

    @cached_property
    def _library(self) -> Library:
        return Library("states", "se3", **self.sizes)

    @property
    def neutral(self) -> np.ndarray:
        """The state of all zeros, its quaternions without a turn, shape (nx,)."""
        found = np.zeros(self.nx)
        found[[own[-1] for own in self._quaternions]] = 1.0
        return found

    def difference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Displacements (..., ndx) from states a to b, shapes (..., nx)."""
        a, b = map(doubles, np.broadcast_arrays(a, b))
        found = np.empty((*a.shape[:-1], self.ndx))
        self._library.call("differences", a.size // self.nx, a, b, found)
        return found

    def integrate(self, x: np.ndarray, displacement: np.ndarray) -> np.ndarray:
        """States (..., nx) where displacements (..., ndx) lead from states (..., nx)."""
        batch = np.broadcast_shapes(np.shape(x)[:-1], np.shape(displacement)[:-1])
        x = doubles(np.broadcast_to(x, (*batch, self.nx)))
        way = doubles(np.broadcast_to(displacement, (*batch, self.ndx)))
        found = np.empty_like(x)
        self._library.call("integrated", x.size // self.nx, x, way, found)
        return found

    def torques(self, us: np.ndarray) -> np.ndarray:
        """Torques (..., nv) of all degrees of freedom, of those that are driven, (..., nu)."""
        found = np.zeros((*us.shape[:-1], self.nv))
        found[..., self.driven] = us
        return found
