"""Bodies of a mechanism: their numbers, prepared for one arithmetic, and (13)-(19) of paper 000."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

import numpy as np

from pymodel.algorithms.linalg import inner, symmetric, transposed, vector_sum
from pymodel.algorithms.space import Column, Plane, Subspace, Twist
from pymodel.algorithms.sums import tree_sum
from pymodel.algorithms.two_handles import Coefficients
from pymodel.arith.scalars import Matrix, S, Scalar, SupportsArithmetic, Vector
from pymodel.mechanism.frames import own_frame
from pymodel.mechanism.lending import Lending, lent
from pymodel.mechanism.rotations import from_angles
from pymodel.mechanism.scenario import (
    FREEDOMS,
    PRISMATIC,
    REVOLUTE,
    Scenario,
    inertia_matrix,
)
from pymodel.mechanism.topology import Topology


class BodyConstants(NamedTuple):
    """Parameter-only values of one body, each rounded once from float64.

    Vectors stand in the body's frame. In space that is the scenario's, turned so that its z axis is
    that of a revolute or prismatic joint.
    """

    inverse_mass: Scalar  # 1/kg
    inverse_inertia: Any  # 1/(kg m^2), about the centre of mass; 3x3 in space
    com: Vector[Scalar]  # m, handle 1 to centre of mass
    handles: Sequence[Vector[Scalar]]  # m, handle 1 to handle 2 and further ones
    weight: Vector[Scalar]  # N, ground frame
    carried_weight: Vector[Scalar]  # N, of this body and all that it carries
    torque: Scalar | None  # N m; None if it depends on time, or there is none
    spring: Scalar  # N m/rad
    rest: Scalar  # rad
    damping: Scalar  # N m s/rad
    joint: str = REVOLUTE
    axis: Vector[Scalar] | None = None  # of a prismatic joint in the plane
    placement: Any = None  # frame at q = 0 in the parent's: an angle, or 3x3; None if parallel


class Numbers:
    """A scenario's numbers as scalars of an arithmetic, known by their names.

    Masses, centres of mass and inertias are those after the bodies have lent each other what
    :mod:`pymodel.mechanism.lending` says.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
    scenario : Scenario
    """

    def __init__(self, arithmetic: SupportsArithmetic[Any], scenario: Scenario) -> None:
        self.arithmetic = arithmetic
        self.scenario = scenario
        self.axes = "xyz" if scenario.spatial else "xy"

    @cached_property
    def lending(self) -> Lending:
        """What the bodies have lent each other."""
        return lent(self.scenario)

    def scalar(self, name: str, x: float) -> Scalar:
        """A number."""
        return self.arithmetic.parameter(name, float(x))

    def vector(self, name: str, v: Sequence[float]) -> tuple[Scalar, ...]:
        """A vector."""
        pairs = zip(self.axes, v, strict=True)
        return tuple(self.scalar(f"{name}.{axis}", x) for axis, x in pairs)

    def matrix(self, name: str, m: np.ndarray) -> Matrix[Scalar]:
        """A matrix."""
        return tuple(
            tuple(self.scalar(f"{name}[{i}][{j}]", x) for j, x in enumerate(row))
            for i, row in enumerate(m)
        )

    def on_body(self, k: int, name: str, v: Sequence[float]) -> tuple[Scalar, ...]:
        """A vector of a body, in the frame that the algorithm gives it; of the ground if k is."""
        if self.scenario.spatial:
            v = own_frame(self.scenario, k).T @ np.asarray(v)
        return self.vector(name, v)

    def body(self, topology: Topology, k: int, handles: Sequence[Sequence[float]]) -> BodyConstants:
        """All of a body; ``handles`` are its points other than handle 1."""
        scenario = self.scenario
        body, gravity = self.lending.bodies[k], scenario.gravity
        carried_mass = sum(scenario.bodies[j].mass for j in topology.carried[k])
        carried_mass += self.lending.masses[k]
        if FREEDOMS[body.joint, scenario.spatial].v == 1:
            names = ("torque", "spring", "rest", "damping")
            values = {name: getattr(body, name) for name in names}
            drive = {
                name: self.scalar(f"body[{k}].{name}", x) if isinstance(x, float | int) else None
                for name, x in values.items()
            }
        else:
            drive = dict.fromkeys(("torque", "spring", "rest", "damping"))
        return BodyConstants(
            inverse_mass=self.scalar(f"body[{k}].inverse_mass", 1.0 / body.mass),
            inverse_inertia=self._inverse_inertia(k),
            com=self.on_body(k, f"body[{k}].com", body.com),
            handles=tuple(
                self.on_body(k, f"body[{k}].handle[{i}]", point)
                for i, point in enumerate(handles, start=2)
            ),
            weight=self.vector(f"body[{k}].weight", [body.mass * g for g in gravity]),
            carried_weight=self.vector(
                f"body[{k}].carried_weight", [carried_mass * g for g in gravity]
            ),
            **drive,
            joint=body.joint,
            axis=(
                self.vector(f"body[{k}].axis", body.direction)
                if body.joint == PRISMATIC and not scenario.spatial
                else None
            ),
            placement=self._placement(k),
        )

    def inertia(self, k: int) -> Matrix[Scalar]:
        """Inertia of a body in space about its centre of mass, in its frame, kg m^2."""
        frame = own_frame(self.scenario, k)
        found = frame.T @ inertia_matrix(self.lending.bodies[k].moments) @ frame
        return self._symmetric(f"body[{k}].inertia", found)

    def lent_mass(self, k: int) -> Scalar | None:
        """What a body has got over its joint as a point mass at its handle 1, kg; None if none."""
        mass = self.lending.masses[k]
        return self.scalar(f"body[{k}].lent_mass", mass) if mass else None

    def lent_moments(self, k: int) -> Matrix[Scalar] | None:
        """The same as moments of inertia, kg m^2, in its frame; None if none."""
        moments, name = self.lending.moments[k], f"body[{k}].lent_moments"
        if moments is None:
            return None
        if not self.scenario.spatial:
            return ((self.scalar(name, moments[2, 2]),),)
        frame = own_frame(self.scenario, k)
        return self._symmetric(name, frame.T @ moments @ frame)

    def _symmetric(self, name: str, m: np.ndarray) -> Matrix[Scalar]:
        m = np.where(np.abs(m) < ROUNDING * np.abs(m).max(), 0.0, m)
        return symmetric(3, lambda i, j: self.scalar(f"{name}[{i}][{j}]", m[i, j]))

    def _inverse_inertia(self, k: int) -> Any:
        body = self.lending.bodies[k]
        name = f"body[{k}].inverse_inertia"
        if not isinstance(body.inertia, tuple):
            return self.scalar(name, 1.0 / body.inertia)
        frame = own_frame(self.scenario, k)
        return self._symmetric(name, frame.T @ np.linalg.inv(inertia_matrix(body.moments)) @ frame)

    def _placement(self, k: int) -> Any:
        body = self.scenario.bodies[k]
        name = f"body[{k}].placement"
        if not isinstance(body.rotation, tuple):
            return self.scalar(name, body.rotation) if body.rotation else None
        before, own = own_frame(self.scenario, body.parent), own_frame(self.scenario, k)
        found = before.T @ from_angles(body.turn) @ own
        found = np.where(np.abs(found - np.round(found)) < ROUNDING, np.round(found), found)
        return self.matrix(name, found + 0.0)


#: Relative size of entries of a body's matrices that are zero but for rounding.
ROUNDING = 1e-15


def _is_one(rows: Subspace, columns: Subspace) -> bool:
    """Whether these are one subspace: that of one joint, or the same directions of the frame.

    Joints at one place of a body may take different ones. Scalars are not compared.
    """
    frame = all(isinstance(column, int) for column in (*rows, *columns))
    return rows is columns or (frame and rows == columns)


class FreeBody(Generic[S]):
    """(13)-(19): a body alone, for any number of handles, numbered from 0.

    Its velocities are xi_gh = S_gC^-T M_C^-1 S_hC^-1 times impulses, and biases xi_g0; they are
    computed where a joint needs them.

    Parameters
    ----------
    space : Plane
    inverse_mass : scalar
        1/kg.
    inverse_inertia : matrix
        About the centre of mass, ground frame, 1/(kg m^2).
    levers : sequence of vectors
        From each handle to the centre of mass, ground frame, m.
    known : Twist
        Impulse that is known beforehand: of the joints' momenta, about the centre of mass.
    drifts : sequence of Twist, optional
        Velocity of each handle that no impulse gives.
    drifts_of_joints : dict, optional
        Index of a joint -> the same of its handle on this body.
    """

    def __init__(
        self,
        space: Plane,
        inverse_mass: S,
        inverse_inertia: Matrix[S],
        levers: Sequence[Vector[S]],
        known: Twist,
        drifts: Sequence[Twist] = (),
        drifts_of_joints: Mapping[int, Twist] = MappingProxyType({}),
    ) -> None:
        self.space = space
        self.inverse_mass = inverse_mass
        self.inverse_inertia = inverse_inertia
        self.levers = levers
        self.known = known
        self.drifts = drifts
        self.drifts_of_joints = drifts_of_joints
        self._found_spin: Vector[S] | None = None
        self.turnings = self._turnings()

    def _turnings(self) -> list[list[Vector[S]]]:
        """Of each handle: angular velocities that unit impulses along the axes give."""
        return [self.space.turnings(s, self.inverse_inertia) for s in self.levers]

    def _total(self, terms: Sequence[S]) -> S:
        if terms:
            return tree_sum(terms)
        zero: S = self.space.arithmetic.const(0.0)
        return zero

    def _turning(self, g: int, column: Column) -> Vector[S]:
        """Angular velocity that a unit impulse along a column gives at handle g."""
        if isinstance(column, int):
            d = self.space.dimension
            return self.turnings[g][column] if column < d else self.inverse_inertia[column - d]
        linear, angular = column
        terms: list[Vector[S]] = []
        if linear is not None:
            columns = zip(*self.turnings[g], strict=True)
            terms.append([inner(linear, entries) for entries in columns])
        if angular is not None:
            terms.append([inner(angular, row) for row in self.inverse_inertia])
        return vector_sum(*terms)

    def block(self, g: int, rows: Subspace, h: int, columns: Subspace) -> Matrix[S]:
        """D_g^T xi_gh D_h, symmetric for one place and one subspace."""
        turning = [self._turning(g, row) for row in rows]
        pairs = [(i, j) for i in range(len(rows)) for j in range(len(columns))]
        if g == h and _is_one(rows, columns):
            pairs = [(i, j) for i, j in pairs if i <= j]
        found = {  # recordings have what stands off the diagonal first
            (i, j): self._entry(g, rows[i], turning[i], h, columns[j])
            for i, j in sorted(pairs, key=lambda pair: pair[0] == pair[1])
        }
        return tuple(
            tuple(found[(i, j) if (i, j) in found else (j, i)] for j in range(len(columns)))
            for i in range(len(rows))
        )

    def _entry(self, g: int, row: Column, turning: Vector[S], h: int, column: Column) -> S:
        """Velocity along a row at handle g that an impulse along a column at handle h gives.

        As xi is symmetric, it is the velocity along the column that an impulse along the row gives,
        which turns the body by ``turning``.
        """
        d = self.space.dimension
        if isinstance(column, int) and column >= d:
            return turning[column - d]
        if isinstance(column, int) and isinstance(row, int) and row >= d:
            return self.turnings[h][column][row - d]
        parts: list[S] = []
        linear = None if isinstance(column, int) else column.linear
        if isinstance(column, int):
            parts += self._shared(row, column)
            parts.append(self.space.shifted(self.levers[h], turning, column))
        elif linear is not None:
            moved = [self.space.shifted(self.levers[h], turning, i) for i in range(d)]
            parts += self._common(row, linear)
            parts.append(inner(linear, moved))
        if not isinstance(column, int) and column.angular is not None:
            parts.append(inner(column.angular, turning))
        return self._total(parts)

    def _shared(self, row: Column, axis: int) -> list[S]:
        """Velocity of the centre of mass along an axis, by an impulse along a row; [] if none."""
        if isinstance(row, int):
            return [self.inverse_mass] if row == axis else []
        return [] if row.linear is None else [self.inverse_mass * row.linear[axis]]

    def _common(self, row: Column, linear: Vector[S]) -> list[S]:
        """The same along a vector."""
        if isinstance(row, int):
            return [self.inverse_mass * linear[row]] if row < self.space.dimension else []
        if row.linear is None:
            return []
        return [self.inverse_mass * inner(row.linear, linear)]

    def bias(self, g: int, rows: Subspace, joint: int | None = None) -> Vector[S]:
        """D_g^T xi_g0: what the known impulse gives, and the drift at the joint's handle."""
        found = tuple(self._bias(g, row, joint) for row in rows)
        if self.space.angles == 1 and self.known.angular is not None:
            self._spin()  # in the plane it goes with them, (17)-(19)
        return found

    def _bias(self, g: int, row: Column, joint: int | None) -> S:
        force, moment = self.known
        parts: list[S] = []
        if force is not None:
            if not isinstance(row, int):
                parts += self._common(row, force)
            elif row < self.space.dimension:
                parts.append(self.inverse_mass * force[row])
        if moment is not None:
            parts.append(inner(moment, self._turning(g, row)))
        drifts = [*self.drifts[g : g + 1]]
        if joint is not None and joint in self.drifts_of_joints:
            drifts.append(self.drifts_of_joints[joint])
        parts += [x for drift in drifts if (x := self.space.along(row, *drift)) is not None]
        return self._total(parts)

    def coefficients(self, joints: Sequence[int | None] = (None, None)) -> Coefficients:
        """Coefficients of a planar body with two handles; ``joints``: whose drifts they have."""
        everything = (0, 1, 2)
        xi_11, xi_12, xi_22 = (
            self.block(g, everything, h, everything) for g, h in ((0, 0), (0, 1), (1, 1))
        )
        xi_10, xi_20 = (self.bias(g, everything, joint) for g, joint in enumerate(joints))
        return Coefficients(xi_11, xi_12, xi_22, xi_10, xi_20)

    def _spin(self) -> Vector[S]:
        """Rotation part of xi_10: the angular velocity that the known impulse alone gives."""
        if self._found_spin is None:
            moment: Vector[S] = self.known.angular or ()
            self._found_spin = tuple(inner(moment, row) for row in self.inverse_inertia)
        return self._found_spin

    def angular_velocity(self, impulses: Sequence[Twist]) -> Vector[S]:
        """Rotation part of (11): omega = sum over h of xi_1h T_h, plus xi_10."""
        moments = [twist.angular for twist in impulses if twist.angular is not None]
        if moments and self.known.angular is not None:
            moments.append(self.known.angular)
        found: list[S] = []
        for i, row in enumerate(self.inverse_inertia):
            terms = [
                inner(twist.linear, [entry[i] for entry in self.turnings[h]])
                for h, twist in enumerate(impulses)
                if twist.linear is not None
            ]
            parts: list[S] = [tree_sum(terms)] if terms else []
            if moments:
                parts.append(inner(vector_sum(*moments), row))
            elif self.known.angular is not None:
                parts.append(self._spin()[i])
            found.append(self._total(parts))
        return tuple(found)

    def velocity(self, h: int, impulses: Sequence[Twist], omega: Vector[S]) -> Vector[S]:
        """Translation part of (11) at handle h, from the centre of mass."""
        forces = [twist.linear for twist in (*impulses, self.known) if twist.linear is not None]
        shifts = range(self.space.dimension)
        turning = [self.space.shifted(self.levers[h], omega, i) for i in shifts]
        if not forces:
            return tuple(turning)
        momentum = vector_sum(*forces)
        return tuple(self.inverse_mass * momentum[i] + turning[i] for i in shifts)


class SpatialBody(FreeBody[S]):
    """The same in space, with all that turns in the axes of the body's frame.

    There its inertia is constant, often diagonal, and so are its levers. A thin body's own axis has
    a small moment of inertia: in its own axes what turns about that axis is small by itself; in the
    ground's it is a difference of large numbers, whose rounding the inverse moment magnifies.

    Parameters
    ----------
    space, inverse_mass, levers, drifts, drifts_of_joints
        As for :class:`FreeBody`.
    pose : matrix
        From the body's frame to the ground's.
    inverse_inertia : matrix
        About the centre of mass, 1/(kg m^2), in the body's frame.
    local_levers : sequence of vectors
        The levers in the body's frame.
    known : Twist
        Impulse that is known beforehand: the force in the ground's axes, the moment about the
        centre of mass in the body's.
    """

    def __init__(
        self,
        space: Plane,
        inverse_mass: S,
        pose: Matrix[S],
        inverse_inertia: Matrix[S],
        levers: Sequence[Vector[S]],
        local_levers: Sequence[Vector[S]],
        known: Twist,
        drifts: Sequence[Twist] = (),
        drifts_of_joints: Mapping[int, Twist] = MappingProxyType({}),
    ) -> None:
        super().__init__(
            space, inverse_mass, inverse_inertia, levers, known, drifts, drifts_of_joints
        )
        self.pose, self.to_own = pose, transposed(pose)
        axes = enumerate(self.to_own)
        self.own: dict[Column, int] = {Twist(None, axis): i for i, axis in axes}
        #: Of each handle: moments about the centre of mass of unit impulses along ground axes.
        self.moments = [[space.moment(row, s) for row in pose] for s in local_levers]

    def _turnings(self) -> list[list[Vector[S]]]:
        return []  # what turns is found from moments

    def _moment(self, g: int, column: Column) -> Vector[S]:
        """Moment about the centre of mass of a unit impulse along a column at handle g."""
        d = self.space.dimension
        if isinstance(column, int):
            return self.moments[g][column] if column < d else self.pose[column - d]
        found: Vector[S] = self._felt(g, column)
        return found

    def _felt(self, g: int, impulse: Twist) -> Any:
        """The same of an impulse at handle g; None of none."""
        force, couple = impulse
        arm = None
        if force is not None:
            arm = tuple(inner(force, entries) for entries in zip(*self.moments[g], strict=True))
        return vector_sum(arm, couple and self.space.rotate(self.to_own, couple))

    def _turned_by(self, moment: Vector[S]) -> Vector[S]:
        return self.space.rotate(self.inverse_inertia, moment)

    def _turning(self, g: int, column: Column) -> Vector[S]:
        if column in self.own:
            return self.inverse_inertia[self.own[column]]
        return self._turned_by(self._moment(g, column))

    def _entry(self, g: int, row: Column, turning: Vector[S], h: int, column: Column) -> S:
        if column in self.own:
            return turning[self.own[column]]
        parts: list[S] = []
        if not isinstance(column, int):
            parts += [] if column.linear is None else self._common(row, column.linear)
        elif column < self.space.dimension:
            parts += self._shared(row, column)
        parts.append(inner(self._moment(h, column), turning))
        return self._total(parts)

    def local_angular_velocity(self, impulses: Sequence[Twist]) -> Vector[S]:
        """Rotation part of (11) in the body's axes."""
        felt = [self._felt(h, twist) for h, twist in enumerate(impulses)]
        moment: Any = vector_sum(self.known.angular, *felt)
        if moment is None:
            return tuple(self.space.arithmetic.const(0.0) for _ in range(self.space.angles))
        return self._turned_by(moment)

    def angular_velocity(self, impulses: Sequence[Twist]) -> Vector[S]:
        """The same in the ground's axes."""
        return self.space.rotate(self.pose, self.local_angular_velocity(impulses))


def body_coefficients(
    body: BodyConstants, s_1c: Vector[S], s_2c: Vector[S], net_momentum: S
) -> Coefficients:
    """Coefficients of a free planar body between two pins; ``net_momentum`` = p_1 - p_2."""
    inverse_inertia = Plane.inverse_inertia(None, body.inverse_inertia)
    known = Twist(None, (net_momentum,))
    space: Any = Plane  # not of an arithmetic: no number is needed
    return FreeBody(space, body.inverse_mass, inverse_inertia, (s_1c, s_2c), known).coefficients()
