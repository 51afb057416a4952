"""A robot's rigid-body functions on arrays: what a user of the Python API calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, VECTORS, columns, force_columns
from pymodel.compile.robot_kernels import Count, count
from pymodel.machine.isa import Machine
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import Robot
from pymodel.runs import robot_calls
from pymodel.runs.input_error import InputError

#: External wrenches: name of a link -> force and moment, shape (..., 6), in that link's frame.
Wrenches = Mapping[str, np.ndarray]


def load(
    path: str | Path,
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    arithmetic: str = "float64",
) -> RobotModel:
    """Read a robot from its URDF.

    Parameters
    ----------
    path : str or Path
    floating : bool
        The base is free to move: six more degrees of freedom, which come first.
    damping : bool
        Apply the joint damping of the file, which Pinocchio ignores.
    armature : float or dict
        Inertia of the joints' drives, kg m^2 or kg; by the joint's name, or one for all.
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.

    Returns
    -------
    RobotModel

    Raises
    ------
    pymodel.mechanism.urdf.UrdfError
        If the file makes no robot; one line says why.
    """
    return RobotModel(urdf.load(path, floating, damping, armature), arithmetic)


class RobotModel:
    """A robot's functions, in Pinocchio's conventions.

    A configuration ``q`` has shape (..., nq), rates, accelerations and torques (..., nv); leading
    axes are a batch. SI units. With a floating base ``q`` begins with position and quaternion
    (x, y, z, w), ``qd`` and ``qdd`` with the base's velocity and acceleration in its own frame,
    linear first; derivatives are in the tangent space.

    Parameters
    ----------
    robot : Robot
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str
        ``model``, or ``step`` for the cycle-accurate model of the engine.
    machine : Machine, optional
        Lanes of the engine.

    Attributes
    ----------
    robot : Robot
    nq, nv : int
        Lengths of a configuration and of a velocity.
    joints : list of str
        Names in the order of the columns.
    warnings : tuple of str
        Of the last call.
    """

    def __init__(
        self,
        robot: Robot,
        arithmetic: str = "float64",
        target: str = robot_calls.MODEL,
        machine: Machine | None = None,
    ) -> None:
        self.robot, self._reduced = robot, reduced(robot)
        self.arithmetic, self.target, self.machine = arithmetic, target, machine
        self.nq, self.nv = robot.nq, robot.nv
        self.joints = [link.joint for link in robot.links]
        self.warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.robot}>"

    def inverse_dynamics(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, f_ext: Wrenches | None = None
    ) -> np.ndarray:
        """Torques (..., nv) of the joints that move so."""
        return self._call("ID", f_ext, q=q, qd=qd, qdd=qdd)[0]

    def forward_dynamics(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, f_ext: Wrenches | None = None
    ) -> np.ndarray:
        """Accelerations (..., nv) under torques."""
        return self._call("FD", f_ext, q=q, qd=qd, tau=tau)[0]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M, shape (..., nv, nv), full."""
        return self._call("M", None, q=q)[0]

    def inverse_mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M^-1, shape (..., nv, nv), full."""
        return self._call("Minv", None, q=q)[0]

    def inverse_dynamics_derivatives(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, f_ext: Wrenches | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """dtau/dq and dtau/dqd, shape (..., nv, nv)."""
        return self._call("dID", f_ext, q=q, qd=qd, qdd=qdd)

    def forward_dynamics_derivatives(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, f_ext: Wrenches | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """dqdd/dq and dqdd/dqd, shape (..., nv, nv)."""
        return self._call("dFD", f_ext, q=q, qd=qd, tau=tau)

    def forward_dynamics_derivatives_given(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        minv: np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """dqdd/dq and dqdd/dqd where qdd and M^-1 are known already."""
        return self._call("diFD", f_ext, q=q, qd=qd, qdd=qdd, minv=minv)

    def count(self, function: str) -> Count:
        """Count the operations of a function."""
        if function not in FUNCTIONS:
            raise InputError(f"function {function!r}: must be one of {', '.join(FUNCTIONS)}")
        return count(self._reduced, function)

    def _call(
        self, function: str, f_ext: Wrenches | None, **given: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        links = [link.name for link in self.robot.links]
        table, batch, external = {}, None, []
        for name, array in given.items():
            batch = self._enter(table, name, columns(self.robot, name), array, batch)
        for name, wrench in (f_ext or {}).items():
            if name not in links:
                raise InputError(f"f_ext: no link {name!r}; those that move are {', '.join(links)}")
            external.append(links.index(name))
            batch = self._enter(
                table, f"f_ext of {name}", force_columns(external[-1:]), wrench, batch
            )
        answer = robot_calls.call(
            self._reduced, function, table, self.arithmetic, self.target, self.machine, external
        )
        self.warnings = answer.warnings
        found = []
        for kind in FUNCTIONS[function].gives:
            values = np.stack([answer.table[c] for c in columns(self.robot, kind)], axis=-1)
            shape = (self.nv,) if kind in VECTORS else (self.nv, self.nv)
            found.append(values.reshape(*batch, *shape))
        return tuple(found)

    def _enter(
        self, table: dict, name: str, names: list[str], array: np.ndarray, batch: tuple | None
    ) -> tuple:
        """Put an array's entries into columns; the shape of its batch, equal for all."""
        array = np.asarray(array, float)
        own = self._entry_shape(len(names), name)
        if array.shape[array.ndim - len(own) :] != own or array.ndim < len(own):
            raise InputError(f"{name}: shape {array.shape}, must end with {own}")
        shape = array.shape[: array.ndim - len(own)]
        if batch is not None and shape != batch:
            raise InputError(f"{name}: shape {array.shape} does not fit a batch of {batch}")
        flat = array.reshape(-1, len(names))
        table.update((column, flat[:, k]) for k, column in enumerate(names))
        return shape

    def _entry_shape(self, size: int, name: str) -> tuple:
        return (self.nv, self.nv) if name == "minv" else (size,)
