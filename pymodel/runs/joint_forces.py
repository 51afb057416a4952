"""Forces of the joints along a run, in float64, and the table that they are written to.

HDCA gives impulses. Forces follow from the states that it passes through, by the accelerations of
Featherstone's divide-and-conquer algorithm (:mod:`pymodel.algorithms.rivals.acceleration_dca`).

`forces.csv` has one row a kept step and the columns `t`, `qdd0..`, then of each joint, by the
number of its body, `joint0_force_x`, `joint0_force_y`, `joint0_moment_z`, of each loop
`loop0_force_x` and so on; in space with all of x, y, z. Last, of each joint with a motion, by the
number of its body, `motor0`: the torque, or force, that the motion takes. Numbers are printed as in
`run.csv`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pymodel.algorithms.requests import SingularError, serve
from pymodel.algorithms.rivals.acceleration_dca import accelerations
from pymodel.algorithms.step import Mechanism
from pymodel.arith.scalars import Float64Arrays, Vector
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.units import force_units
from pymodel.runs import columns
from pymodel.runs.input_error import InputError, require
from pymodel.runs.trajectory import (
    Trajectory,
    check_mechanism,
    numbered,
    read_columns,
    same_fields,
    write_columns,
)

CHUNK = 4096  #: rows that are evaluated at once, which bounds the memory of long runs
#: Name of a quantity -> its axes in the plane and in space, and its unit.
AXES = {"force": ("xy", "xyz"), "moment": ("z", "xyz")}
UNITS = {"force": "N", "moment": "N m"}


@dataclass(frozen=True)
class JointForces:
    """What the joints exert on their bodies, ground frame; the other bodies feel the opposite.

    Of T rows, n bodies and L loops, with d = 2 forces and m = 1 moment in the plane, 3 and 3 in
    space. A row at a singular posture, where they are not determined, is NaN. Two are equal if all
    arrays are, bit for bit.

    Attributes
    ----------
    t : numpy.ndarray, shape (T,)
        s.
    acceleration : numpy.ndarray, shape (T, nv)
        Of the joints, rad/s^2 and m/s^2.
    force : numpy.ndarray, shape (T, n, d)
        N, of the joint that hangs each body on its parent or the ground, its drive included.
    moment : numpy.ndarray, shape (T, n, m)
        N m, about handle 1 of the body.
    loop_force : numpy.ndarray, shape (T, L, d)
        N, of the joint that closes each loop, on its ``body``.
    loop_moment : numpy.ndarray, shape (T, L, m)
        N m, about the loop's point.
    motor : numpy.ndarray, shape (T, motions)
        N m, or N of a prismatic joint: what the motion of each joint that has one takes beside its
        spring, damping and friction.
    moved : tuple of int
        The bodies of these joints.
    """

    t: np.ndarray
    acceleration: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    loop_force: np.ndarray
    loop_moment: np.ndarray
    motor: np.ndarray
    moved: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        """Whether all is the same, bit for bit."""
        return same_fields(self, other) if isinstance(other, JointForces) else NotImplemented

    def __repr__(self) -> str:
        joints = self.force.shape[1] + self.loop_force.shape[1]
        return f"<JointForces: {joints} joints, {len(self.t)} rows>"

    def of_joints(self, quantity: str) -> np.ndarray:
        """``force`` or ``moment`` of the bodies' joints, then of the loops', (T, n + L, ..)."""
        return np.concatenate((getattr(self, quantity), getattr(self, f"loop_{quantity}")), axis=1)

    def largest(self, scenario: Scenario) -> dict[str, Any]:
        """Name of a joint -> its largest force and moment: ``max``, ``unit``, ``time_s``.

        Of a joint with a motion ``motor``, too, what that takes.

        Raises
        ------
        InputError
            If there are no rows.
        """
        if not len(self.t):
            raise InputError("joint forces of no rows: none is the largest")
        found: dict[str, Any] = {name: {} for name in joint_names(scenario)}
        for quantity, unit in UNITS.items():
            most, when = np.full(len(found), -np.inf), np.zeros(len(found), dtype=int)
            for here in columns.blocks(len(self.t)):
                vectors = self.taken(here).of_joints(quantity)
                sizes = np.nan_to_num(np.linalg.norm(vectors, axis=-1), posinf=0.0)
                more = sizes.max(axis=0) > most
                when[more] = here.start + sizes.argmax(axis=0)[more]
                most[more] = sizes.max(axis=0)[more]
            for worst, size, row in zip(found.values(), most.tolist(), when.tolist(), strict=True):
                worst[quantity] = {"max": size, "unit": unit, "time_s": float(self.t[row])}
        for k, column in zip(self.moved, self.motor.T, strict=True):
            sizes = np.nan_to_num(np.abs(column), posinf=0.0)
            row, unit = int(sizes.argmax()), motor_unit(scenario, k)
            worst = {"max": float(sizes[row]), "unit": unit, "time_s": float(self.t[row])}
            found[scenario.joint_name(k)]["motor"] = worst
        return found

    def taken(self, rows: slice | np.ndarray) -> JointForces:
        """Some rows of them."""
        found: dict[str, Any] = {}
        for name in ARRAYS:
            found[name] = getattr(self, name)[rows]
            if not isinstance(rows, slice):  # which copies
                columns.release()
        return replace(self, **found)

    def columns(self) -> dict[str, np.ndarray]:
        """The columns of the table by name, in their order, each of shape (T,)."""
        (_, bodies, dimension), loops = self.force.shape, self.loop_force.shape[1]
        names = _column_names(self.acceleration.shape[1], bodies, loops, dimension == 3, self.moved)
        own = [*zip(self.force.swapaxes(0, 1), self.moment.swapaxes(0, 1), strict=True)]
        own += zip(self.loop_force.swapaxes(0, 1), self.loop_moment.swapaxes(0, 1), strict=True)
        found = [column for joint in own for quantity in joint for column in quantity.T]
        columns = [self.t, *self.acceleration.T, *found, *self.motor.T]
        return dict(zip(names, columns, strict=True))


def motor_unit(scenario: Scenario, k: int) -> str:
    """Unit of what moves joint k."""
    unit: str = force_units(scenario)[scenario.v_slices[k].start]
    return unit


ARRAYS = [one.name for one in fields(JointForces) if one.name != "moved"]


def joint_names(scenario: Scenario) -> list[str]:
    """What the joints are called: those of the bodies, then the loops'."""
    own = [scenario.joint_name(k) for k in range(len(scenario.bodies))]
    return own + [f"loop {k}" for k in range(len(scenario.loops))]


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def joint_forces(scenario: Scenario, trajectory: Trajectory) -> JointForces:
    """Forces of all joints at the kept times of a run.

    Where constraints of a loop follow from others, a rigid mechanism does not determine all forces.
    The dynamics then leave some constraints out (``Loop.kept``), whose forces are zero here; those
    of the others are what moves the mechanism so.

    Parameters
    ----------
    scenario : Scenario
    trajectory : Trajectory
        A run of it, on any target.

    Returns
    -------
    JointForces

    Raises
    ------
    InputError
        If the trajectory is not of this mechanism.
    ScenarioError
        If a joint mimics another.
    """
    check_mechanism(trajectory, scenario)
    scenario.require_no_mimics("what computes joint forces")
    mechanism = Mechanism(Float64Arrays(), scenario)
    rows = len(trajectory)
    found = [columns.empty(rows, *shape) for shape in _shapes(mechanism)]
    for here in columns.blocks(rows, CHUNK):
        part = _evaluated(mechanism, trajectory, np.arange(here.start, here.stop))
        for array, values in zip(found, part, strict=True):
            array[here] = values
    arrays: dict[str, Any] = dict(zip(ARRAYS, [trajectory.t, *found], strict=True))
    return JointForces(**arrays, moved=scenario.moved)


def _shapes(mechanism: Mechanism[Any]) -> list[tuple[int, ...]]:
    """Of a row, the shapes of the arrays of a :class:`JointForces` after ``t``."""
    scenario, space = mechanism.scenario, mechanism.space
    joints = len(scenario.bodies), len(scenario.loops)
    each = [(count, size) for count in joints for size in (space.dimension, space.angles)]
    return [(scenario.nv,), *each, (len(scenario.moved),)]


def _evaluated(
    mechanism: Mechanism[Any], trajectory: Trajectory, rows: np.ndarray
) -> tuple[np.ndarray, ...]:
    """The arrays of a :class:`JointForces` after ``t``, of some rows."""
    scenario, space = mechanism.scenario, mechanism.space
    q, qd = (list(np.ascontiguousarray(x[rows].T)) for x in (trajectory.q, trajectory.qd))
    sizes = {"linear": space.dimension, "angular": space.angles}
    try:
        found = serve(mechanism.arithmetic, accelerations(mechanism, q, qd, trajectory.t[rows]))
    except SingularError:
        if len(rows) > 1:
            halves = (_evaluated(mechanism, trajectory, half) for half in np.array_split(rows, 2))
            return tuple(map(np.concatenate, zip(*halves, strict=True)))
        return tuple(np.full((1, *shape), np.nan) for shape in _shapes(mechanism))
    arrays = [_columns(found.q_ddot, len(rows), scenario.nv)]
    for twists in (found.forces, found.closing):
        for part, size in sizes.items():
            columns = [_columns(getattr(twist, part), len(rows), size) for twist in twists]
            arrays.append(np.array(columns).reshape(len(twists), len(rows), size).swapaxes(0, 1))
    return (*arrays, _columns(found.motors, len(rows), len(scenario.moved)))


def _columns(vector: Vector[Any] | None, count: int, size: int) -> np.ndarray:
    if not vector:
        return np.zeros((count, size))
    return np.stack([np.broadcast_to(x, count) for x in vector], axis=-1)


def _column_names(
    nv: int, bodies: int, loops: int, spatial: bool, moved: tuple[int, ...]
) -> list[str]:
    """The header of a table."""
    components = [f"{name}_{axis}" for name, axes in AXES.items() for axis in axes[spatial]]
    joints = [*(f"joint{k}" for k in range(bodies)), *(f"loop{k}" for k in range(loops))]
    own = [f"{joint}_{component}" for joint in joints for component in components]
    return ["t", *(f"qdd{k}" for k in range(nv)), *own, *(f"motor{k}" for k in moved)]


def write_forces(path: str | os.PathLike[str], forces: JointForces) -> None:
    """Write the table of joint forces, which :func:`read_forces` reads back bit for bit.

    Parameters
    ----------
    path : str or path-like
    forces : JointForces

    Raises
    ------
    InputError
        If they are no joint forces.
    OSError
        If the file cannot be written.
    """
    require(forces, JointForces, "joint_forces")
    write_columns(path, forces.columns())


def read_forces(path: str | os.PathLike[str]) -> JointForces:
    """Read the table of joint forces.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    JointForces

    Raises
    ------
    TrajectoryError
        If it is not one: one line with file, line and reason.
    """
    nv = bodies = loops = 0
    spatial = False
    moved: tuple[int, ...] = ()

    def names(header: list[str]) -> list[str]:
        nonlocal nv, bodies, loops, spatial, moved
        patterns = (r"qdd\d+", r"joint\d+_force_x", r"loop\d+_force_x")
        nv, bodies, loops = (numbered(header, name) for name in patterns)
        spatial = "joint0_force_z" in header
        moved = tuple(k for k in range(bodies) if f"motor{k}" in header)
        return _column_names(nv, bodies, loops, spatial, moved)

    found = read_columns(path, names, "joint forces (t, qdd0.., joint0_force_x, ..)")
    t, *values = found.values()
    ends = [nv, len(values) - len(moved)]
    rates, rest, motor = np.split(np.array(values).T, ends, axis=1)
    components = sum(len(axes[spatial]) for axes in AXES.values())
    joints = rest.reshape(len(t), bodies + loops, components)
    force, moment = np.split(joints, [3 if spatial else 2], axis=2)
    own = (force[:, :bodies], moment[:, :bodies], force[:, bodies:], moment[:, bodies:])
    return JointForces(t, rates, *own, motor, moved)
