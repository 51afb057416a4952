"""A robot's rigid-body functions on arrays: what a user of the Python API calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import (
    FUNCTIONS,
    SYMMETRIC,
    VECTORS,
    columns,
    force_columns,
)
from pymodel.algorithms.unused_options import refuse_unused_of_robot
from pymodel.arith.errors import require_flag
from pymodel.compile.robot_kernels import Count, count, told_of
from pymodel.machine.isa import Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FIXED_BASE, FixedLink, Robot
from pymodel.runs import robot_calls
from pymodel.runs.input_error import InputError, require, require_numbers

#: External wrenches: name of a link -> force and moment, shape (..., 6), in that link's frame. The
#: link may be fixed to one that moves.
Wrenches = Mapping[str, np.ndarray]

#: Method of :class:`RobotModel` of each function.
METHODS = {
    "ID": "inverse_dynamics",
    "FD": "forward_dynamics",
    "M": "mass_matrix",
    "Minv": "inverse_mass_matrix",
    "dID": "inverse_dynamics_derivatives",
    "dFD": "forward_dynamics_derivatives",
    "diFD": "forward_dynamics_derivatives_given",
}


def load_robot(
    path: str | Path,
    floating: bool = False,
    damping: bool = False,
    armature: float | Mapping[str, float] = 0.0,
    arithmetic: str = "float64",
    target: str = robot_calls.MODEL,
    lanes: str | None = None,
    snap: float = 0.0,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    friction: float = 0.0,
) -> RobotModel:
    """Read a robot from its URDF or MJCF.

    Parameters
    ----------
    path : str or Path
        The root element says the format. MJCF needs the package's extra ``mjcf``.
    floating : bool
        The base is free to move: six more degrees of freedom, which come first. The base of an MJCF
        moves as the file says.
    damping : bool
        Apply the joint damping of the file, which Pinocchio ignores.
    armature : float or dict
        Inertia of the joints' drives, kg m^2 or kg; by the joint's name, or one for all. That of an
        MJCF is the file's where none is given.
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str
        ``model``; ``native``: compiled C; ``twin``: the cycle-accurate model of the engine.
    lanes : str, optional
        Adders + multipliers of the engine, as ``8+8``; default 2+2.
    snap : float
        Take entries of joint transforms that are so near 0 or +-1 for that, as 1e-5 an angle of
        1.5708 for a right one; the ``warnings`` say which, and what operations that saves. 0: the
        transforms are the file's.
    gravity : sequence of float, optional
        Gravity's acceleration, three numbers, m/s^2, in the axes of the root link, or of the ground
        if the base floats. Default: (0, 0, -9.81), of an MJCF what the file says.
    mimic : bool
        Mimic joints follow what they mimic, and have no coordinates of their own; False: they have.
        In an MJCF they are those that ``<equality><joint>`` constrains.
    friction : float
        Apply the dry friction of the file, URDF's ``<dynamics friction>`` or MJCF's
        ``frictionloss``, as that times tanh(qd / friction): a scale of velocity, rad/s or m/s. 0:
        it is left out, as Pinocchio does.

    Returns
    -------
    RobotModel

    Raises
    ------
    pymodel.mechanism.robot_bodies.RobotError
        If the file makes no robot; one line says why.
    InputError
        If the path is none, an option is none of these, an armature is negative or of no joint,
        gravity is no three numbers,
        lanes are given without an engine, or damping or friction of a file that has none is asked
        for.
    """
    for name, value in (("floating", floating), ("damping", damping), ("mimic", mimic)):
        require_flag(name, value)
    machine, target = robot_calls.machine_of(lanes), robot_calls.OLD_NAMES.get(target, target)
    if lanes is not None and target != robot_calls.TWIN:
        raise InputError(f"lanes {lanes!r}: only for the target {robot_calls.TWIN}")
    robot = robot_file.load(path, floating, damping, armature, snap, gravity, mimic, friction)
    refuse_unused_of_robot(robot, (), damping, armature, friction=friction)
    return RobotModel(robot, arithmetic, target, machine)


class RobotModel:
    """A robot's functions, in Pinocchio's conventions.

    A configuration ``q`` has shape (..., nq), rates, accelerations and torques (..., nv); leading
    axes are a batch, and broadcast. SI units. With a floating base ``q`` begins with position and
    quaternion (x, y, z, w), ``qd`` and ``qdd`` with the base's velocity and acceleration in its own
    frame, linear first; derivatives are in the tangent space. Ball and floating joints have a
    quaternion, too, and velocities in the axes of their body; ``robot.told()`` says which columns
    are whose. Results that are not finite stay infinite or NaN, with a warning.

    Parameters
    ----------
    robot : Robot
    arithmetic : str
        ``float64``, ``float32`` or ``<EXP_W>/<MAN_W>``.
    target : str
        ``model``; ``native``: compiled C; ``twin``: the cycle-accurate model of the engine.
    machine : Machine, optional
        Lanes of the engine.

    Attributes
    ----------
    robot : Robot
    nq, nv : int
        Lengths of a configuration and of a velocity.
    joints : list of str
        Names in the order of the columns; those that mimic others have none.
    mimics : dict
        Name of a joint that mimics another -> the other's name, multiplier and offset. The name is
        None where the file holds the joint at the offset.
    warnings : tuple of str
        What of the robot itself a user may not expect (:attr:`Robot.warnings`), then those of the
        last call.

    The class raises an InputError for an arithmetic or a target that there is not, its functions
    for arrays of wrong shape, of what is no finite number, or with masked entries.
    """

    def __init__(
        self,
        robot: Robot,
        arithmetic: str = "float64",
        target: str = robot_calls.MODEL,
        machine: Machine | None = None,
    ) -> None:
        require(robot, Robot, "mechanism.robot_file.load")
        if machine is not None:
            require(machine, Machine, "Machine")
        robot_calls.arithmetic_on(target, arithmetic)
        self.robot, self._reduced = robot, reduced(robot)
        self.arithmetic, self.target, self.machine = arithmetic, target, machine
        self.nq, self.nv = robot.nq, robot.nv
        names = [link.joint for link in robot.links]
        self.joints = [names[k] for k in robot.leaders]
        self.mimics = {
            names[k]: (None if x.of == FIXED_BASE else names[x.of], x.multiplier, x.offset)
            for k, x in robot.mimics.items()
        }
        self.warnings = told_of(robot)

    def __repr__(self) -> str:
        return f"<{self.robot}>"

    def on(self, target: str, arithmetic: str, machine: Machine | None = None) -> RobotModel:
        """The same robot on another target; arguments as of the class."""
        return RobotModel(self.robot, arithmetic, target, machine)

    def function(self, name: str) -> Callable[..., Any]:
        """The method of a function that is called by its short name, such as FD.

        Raises
        ------
        InputError
            If there is no such function.
        """
        self._check_function(name)
        method: Callable[..., Any] = getattr(self, METHODS[name])
        return method

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
        by_q, by_qd = self._call("dID", f_ext, q=q, qd=qd, qdd=qdd)
        return by_q, by_qd

    def forward_dynamics_derivatives(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, f_ext: Wrenches | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """dqdd/dq and dqdd/dqd, shape (..., nv, nv)."""
        by_q, by_qd = self._call("dFD", f_ext, q=q, qd=qd, tau=tau)
        return by_q, by_qd

    def forward_dynamics_derivatives_given(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        minv: np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """dqdd/dq and dqdd/dqd where qdd and M^-1 are known already."""
        by_q, by_qd = self._call("diFD", f_ext, q=q, qd=qd, qdd=qdd, minv=minv)
        return by_q, by_qd

    def count(self, function: str) -> Count:
        """Count the operations of a function."""
        self._check_function(function)
        return count(self._reduced, function)

    @staticmethod
    def _check_function(name: str) -> None:
        if not isinstance(name, str) or name not in FUNCTIONS:
            raise InputError(f"function {name!r}: must be one of {', '.join(FUNCTIONS)}")

    def _call(
        self, function: str, f_ext: Wrenches | None, **given: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Arrays through columns: all batches at once, broadcast to one shape."""
        if not isinstance(f_ext, Mapping | None):
            raise InputError("f_ext: must be a dict, name of a link -> force and moment")
        parts = [(name, columns(self.robot, name), array) for name, array in given.items()]
        arrays = [self._rows(name, len(names), array) for name, names, array in parts]
        for link, wrench in (f_ext or {}).items():
            index, fixed = self._carrier(link)
            parts.append((f"f_ext of {link}", force_columns([index]), wrench))
            rows = self._rows(parts[-1][0], 6, wrench)
            arrays.append(fixed.wrench_on_carrier(rows) if fixed else rows)
        try:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            shapes = ", ".join(f"{name} {np.shape(array)}" for name, _, array in parts)
            raise InputError(f"batches differ: {shapes}") from None
        if 0 in batch:
            self.warnings = told_of(self.robot)
            return tuple(np.empty((*batch, *self._size(x))) for x in FUNCTIONS[function].gives)
        table: dict[str, np.ndarray] = {}
        for (_, names, _), array in zip(parts, arrays, strict=True):
            flat = np.broadcast_to(array, (*batch, len(names))).reshape(-1, len(names))
            for name, column in zip(names, flat.T, strict=True):  # wrenches on a link add up
                table[name] = table[name] + column if name in table else column
        answer = robot_calls.call(
            self._reduced, function, table, self.arithmetic, self.target, self.machine
        )
        self.warnings = told_of(self.robot) + answer.warnings
        return tuple(self._array(answer.table, kind, batch) for kind in FUNCTIONS[function].gives)

    def _carrier(self, name: str) -> tuple[int, FixedLink | None]:
        """The moving link that a wrench on a link acts on, and how the link is fixed to it."""
        links = [link.name for link in self.robot.links]
        if name in links:
            return links.index(name), None
        found = self.robot.fixed.get(name)
        if found is None:
            links += [link for link, at in self.robot.fixed.items() if at.carrier != FIXED_BASE]
            raise InputError(f"f_ext: no link {name!r}; those that move are {', '.join(links)}")
        if found.carrier == FIXED_BASE:
            raise InputError(f"f_ext: link {name!r} stands on the ground, and does not move")
        return found.carrier, found

    def _rows(self, name: str, size: int, array: np.ndarray) -> np.ndarray:
        """An array with the entries of one call in the last axis."""
        array = require_numbers(name, array)
        own = (self.nv, self.nv) if name in SYMMETRIC else (size,)
        batch = array.shape[: max(array.ndim - len(own), 0)]
        if array.shape != (*batch, *own):
            raise InputError(f"{name}: shape {array.shape}, must end with {own}")
        return array.reshape(*batch, size)

    def _array(self, table: robot_calls.Table, kind: str, batch: tuple[int, ...]) -> np.ndarray:
        """A vector or matrix for each call of a batch."""
        values = np.stack([table[name] for name in columns(self.robot, kind)], axis=-1)
        return values.reshape(*batch, *self._size(kind))

    def _size(self, kind: str) -> tuple[int, ...]:
        """Shape of a vector or matrix."""
        return (self.nv,) if kind in VECTORS else (self.nv, self.nv)
