"""A robot's rigid-body functions on arrays: what a user of the Python API calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import (
    ALL,
    HYBRID,
    SYMMETRIC,
    columns,
    force_columns,
    shape,
    suited,
)
from pymodel.algorithms.unused_options import refuse_unused_of_robot
from pymodel.arith.errors import require_flag
from pymodel.compile.robot_kernels import Count, count, told_of
from pymodel.machine.isa import Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import FIXED_BASE, Robot, at_link, carried, inertial_parameters
from pymodel.mechanism.robot_file import with_fixed_acceleration
from pymodel.mechanism.robot_loops import LoopGeometry
from pymodel.runs import robot_calls
from pymodel.runs.base_parameters import TOLERANCE, BaseParameters, base_parameters
from pymodel.runs.input_error import InputError, require, require_numbers

#: External wrenches: name of a link -> force and moment, shape (..., 6), in that link's frame. The
#: link may be fixed to one that moves.
Wrenches = Mapping[str, np.ndarray]

STATES_A_LINK = 10  #: of the regressor whose rank is looked at

#: Method of :class:`RobotModel` of each function.
METHODS = {
    "ID": "inverse_dynamics",
    "FD": "forward_dynamics",
    "M": "mass_matrix",
    "Minv": "inverse_mass_matrix",
    "dID": "inverse_dynamics_derivatives",
    "dFD": "forward_dynamics_derivatives",
    "diFD": "forward_dynamics_derivatives_given",
    "FK": "placement",
    "J": "jacobian",
    "Jbody": "body_jacobian",
    "energy": "energy",
    "com": "centre_of_mass",
    "Y": "regressor",
    "FDc": "constrained_forward_dynamics",
    "dFDc": "constrained_forward_dynamics_derivatives",
    "IDc": "constrained_inverse_dynamics",
    "stepc": "constrained_step",
    "dstepc": "constrained_step_derivatives",
    "HD": "hybrid_dynamics",
    "dHD": "hybrid_dynamics_derivatives",
    "step": "step",
    "dstep": "step_derivatives",
    "rk4": "rk4_step",
    "drk4": "rk4_step_derivatives",
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
    fixed_acceleration: Sequence[str] = (),
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
    fixed_acceleration : sequence of str
        Names of joints whose accelerations are given in hybrid dynamics; ``root_joint`` is a
        floating base.

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
    robot = with_fixed_acceleration(robot, fixed_acceleration)
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
        self.robot = robot
        self._at: dict[str | None, Robot] = {None: robot}
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

    def constrained_forward_dynamics(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, f_ext: Wrenches | None = None
    ) -> np.ndarray:
        """Accelerations (..., nv) under torques, with the loops kept; the state must keep them."""
        return self._call("FDc", f_ext, q=q, qd=qd, tau=tau)[0]

    def constrained_forward_dynamics_derivatives(
        self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, f_ext: Wrenches | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """dqdd/dq and dqdd/dqd, shape (..., nv, nv), with the loops kept."""
        by_q, by_qd = self._call("dFDc", f_ext, q=q, qd=qd, tau=tau)
        return by_q, by_qd

    def constrained_inverse_dynamics(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, f_ext: Wrenches | None = None
    ) -> np.ndarray:
        """Torques (..., nv) of the actuated joints for a motion that keeps the loops; others 0."""
        return self._call("IDc", f_ext, q=q, qd=qd, qdd=qdd)[0]

    def constrained_step(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`step`, with the loops kept: by :meth:`constrained_forward_dynamics`."""
        q, qd = self._call("stepc", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return q, qd

    def constrained_step_derivatives(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`step_derivatives`, of :meth:`constrained_step`."""
        by_state, by_torque = self._call("dstepc", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return by_state, by_torque

    def close_loops(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The posture and velocity near these that keep the loops, (nq,) and (nv,), in float64.

        Raises
        ------
        InputError
            If Newton's method finds no such posture from there, or there are no loops.
        """
        if not self.robot.loops:
            raise InputError(f"{self.robot.name} has no loops")
        geometry = LoopGeometry(self.robot)
        closed = geometry.closed(self._rows("q", self.nq, q).reshape(self.nq))
        if closed is None:
            raise InputError("q: the loops do not close near this posture")
        return closed, geometry.kept(closed, self._rows("qd", self.nv, qd).reshape(self.nv))

    def placement(self, q: np.ndarray, link: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Position (..., 3) and rotation (..., 3, 3) of a link's frame in the ground's.

        The frame is that in which external wrenches are given. Links on fixed joints are named as
        well. Without a name: of all links that move, in the order of the joints, with one more axis
        after those of the batch.
        """
        position, rotation = self._call("FK", None, link, q=q)
        return position, rotation

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        """Jacobian (..., 6, nv) of a link, linear first.

        Times ``qd`` it is the velocity of the origin of the link's frame and the angular velocity,
        in the axes of the ground.
        """
        return self._call("J", None, link, q=q)[0]

    def body_jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        """The same in the axes of the link's own frame."""
        return self._call("Jbody", None, link, q=q)[0]

    def energy(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic and potential energy (...,), J.

        The kinetic one is ``qd @ M @ qd / 2``, that of the drives included. The potential one is
        gravity's, 0 where the centre of mass is at the height of the ground's origin.
        """
        kinetic, potential = self._call("energy", None, q=q, qd=qd)
        return kinetic, potential

    def centre_of_mass(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre of mass (..., 3) of the links that move, in the ground's axes, and its Jacobian.

        The Jacobian has shape (..., 3, nv).
        """
        centre, jacobian = self._call("com", None, q=q)
        return centre, jacobian

    def regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Y, shape (..., nv, 10 links): inverse dynamics are Y times the inertial parameters.

        Without damping, friction and armature. Of each link, in the order of the joints: mass,
        first moment (x, y, z), inertia matrix (xx, xy, yy, xz, yz, zz) about its frame's origin.
        """
        return self._call("Y", None, q=q, qd=qd, qdd=qdd)[0]

    def step(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """q (..., nq) and qd (..., nv) after a step of h (...), s: semi-implicit Euler.

        Torques and wrenches are held. Quaternions move by the exponential, as by Pinocchio's
        ``integrate``.
        """
        q, qd = self._call("step", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return q, qd

    def step_derivatives(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """A, shape (..., 2 nv, 2 nv), and B, shape (..., 2 nv, nv): of (q, qd) after :meth:`step`.

        By (q, qd) and by tau before it, by the chain rule; of and by q in the tangent space.
        """
        by_state, by_torque = self._call("dstep", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return by_state, by_torque

    def rk4_step(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`step`, by the classical Runge-Kutta method of order 4."""
        q, qd = self._call("rk4", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return q, qd

    def rk4_step_derivatives(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        h: float | np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`step_derivatives`, of :meth:`rk4_step`: by the chain rule over its stages."""
        by_state, by_torque = self._call("drk4", f_ext, q=q, qd=qd, tau=tau, h=_column(h))
        return by_state, by_torque

    @property
    def inertial_parameters(self) -> np.ndarray:
        """Numbers (10 links,) of the file that :meth:`regressor` is to be multiplied by."""
        return inertial_parameters(self.robot)

    def hybrid_dynamics(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        tau: np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Torques and accelerations (..., nv) of all joints.

        Given are accelerations of the joints of ``fixed_acceleration`` and torques of the others;
        what else is in ``qdd`` and ``tau`` is not read.
        """
        found, accelerations = self._call("HD", f_ext, q=q, qd=qd, qdd=qdd, tau=tau)
        return found, accelerations

    def hybrid_dynamics_derivatives(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        qdd: np.ndarray,
        tau: np.ndarray,
        f_ext: Wrenches | None = None,
    ) -> tuple[np.ndarray, ...]:
        """dtau/dq, dtau/dqd, dqdd/dq and dqdd/dqd, shape (..., nv, nv); rows of what is given 0."""
        return self._call("dHD", f_ext, q=q, qd=qd, qdd=qdd, tau=tau)

    def base_parameters(self, tolerance: float = TOLERANCE) -> BaseParameters:
        """What of the inertial parameters the torques can tell, by the rank of the regressor.

        Evaluated in float64 on random states, rates and accelerations; for the tolerance see
        :func:`pymodel.runs.base_parameters.base_parameters`.

        Raises
        ------
        InputError
            If the tolerance is no number between 0 and 1.
        """
        if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < tolerance < 1:
            raise InputError(f"tolerance: must be a number between 0 and 1, got {tolerance!r}")
        rows = STATES_A_LINK * len(self.robot.links)
        states = robot_calls.random_states(self.robot, "Y", rows, seed=1)
        table = robot_calls.call(self.robot, "Y", states).table
        stacked = _array(self.robot, table, "y", (rows,)).reshape(-1, shape(self.robot, "y")[1])
        links = [self.robot.links[k].name for k in self.robot.bodies]
        return base_parameters(stacked, links, float(tolerance))

    def count(self, function: str, link: str | None = None) -> Count:
        """Count the operations of a function, of those of one link by its name."""
        self._check_function(function)
        return count(self._suited(function, link), function)

    def _suited(self, function: str, link: str | None) -> Robot:
        """The robot that a function is evaluated of; the same each time for the same link."""
        if link is not None and link not in self._at:
            self._at[link] = at_link(self.robot, link)
        return suited(self._at[link], function)

    @staticmethod
    def _check_function(name: str) -> None:
        if not isinstance(name, str) or name not in ALL:
            raise InputError(f"function {name!r}: must be one of {', '.join(ALL)}")

    def _call(
        self, function: str, f_ext: Wrenches | None, link: str | None = None, **given: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Arrays through columns: all batches at once, broadcast to one shape."""
        robot = self._suited(function, link)
        if not isinstance(f_ext, Mapping | None):
            raise InputError("f_ext: must be a dict, name of a link -> force and moment")
        parts = [(name, columns(self.robot, name), array) for name, array in given.items()]
        arrays = [self._rows(name, len(names), array) for name, names, array in parts]
        for link, wrench in (f_ext or {}).items():
            at = carried(self.robot, link, "f_ext")
            parts.append((f"f_ext of {link}", force_columns([at.carrier]), wrench))
            rows = self._rows(parts[-1][0], 6, wrench)
            arrays.append(at.wrench_on_carrier(rows) if link in self.robot.fixed else rows)
        try:
            batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        except ValueError:
            shapes = ", ".join(f"{name} {np.shape(array)}" for name, _, array in parts)
            raise InputError(f"batches differ: {shapes}") from None
        if 0 in batch:
            self.warnings = told_of(self.robot)
            return tuple(np.empty((*batch, *shape(robot, x))) for x in ALL[function].gives)
        table: dict[str, np.ndarray] = {}
        for (_, names, _), array in zip(parts, arrays, strict=True):
            flat = np.broadcast_to(array, (*batch, len(names))).reshape(-1, len(names))
            for name, column in zip(names, flat.T, strict=True):  # wrenches on a link add up
                table[name] = table[name] + column if name in table else column
        values: dict[str, np.ndarray] = {}
        if function in HYBRID:  # what is given stands in the results, derivatives of it are 0
            zero = np.zeros(len(next(iter(table.values()))))
            names = [x for kind in ALL[function].gives for x in columns(robot, kind)]
            values = {x: table.get(x, zero) for x in names}
            unread = {x for kind in ("qdd", "tau") for x in columns(robot, kind)}
            unread -= set(robot_calls.input_columns(robot, function))
            table = {name: x for name, x in table.items() if name not in unread}
        answer = robot_calls.call(
            robot, function, table, self.arithmetic, self.target, self.machine
        )
        self.warnings = told_of(self.robot) + answer.warnings
        values |= answer.table
        return tuple(_array(robot, values, x, batch) for x in ALL[function].gives)

    def _rows(self, name: str, size: int, array: np.ndarray) -> np.ndarray:
        """An array with the entries of one call in the last axis."""
        array = require_numbers(name, array)
        own = (self.nv, self.nv) if name in SYMMETRIC else (size,)
        batch = array.shape[: max(array.ndim - len(own), 0)]
        if array.shape != (*batch, *own):
            raise InputError(f"{name}: shape {array.shape}, must end with {own}")
        return array.reshape(*batch, size)


def _column(h: float | np.ndarray) -> np.ndarray:
    """A number of each call as an array with the entries of one call in the last axis."""
    return require_numbers("h", h)[..., None]


def _array(robot: Robot, table: robot_calls.Table, kind: str, batch: tuple[int, ...]) -> np.ndarray:
    """A scalar, vector or matrix for each call of a batch."""
    values = np.stack([table[name] for name in columns(robot, kind)], axis=-1)
    return values.reshape((*batch, *shape(robot, kind)))
