"""The plane and space: vectors, rotations, and the motion subspaces of joints.

The algorithm text is one for both; what differs is here. Vectors are tuples of 2 or 3 scalars in
the ground frame, unless another frame is named. What turns (angular velocities, moments) has 1
component in the plane, about z, and 3 in space. None stands for a vector that is zero.

A joint leaves some motions free and takes the others. Either is a :data:`Subspace` at the joint's
handle: a tuple of columns, each the number of an axis of the ground (translations first, rotations
after them) or a :class:`Twist`. Columns of the two subspaces are dual: an impulse of the joint is D
t + H p, with H the free motions, D the others, p the momenta of the joint and t what the assembly
finds.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from pymodel.algorithms.linalg import cross, inner, multiplied, rotate, transposed
from pymodel.algorithms.sums import outward_sums, tree_sum
from pymodel.arith.scalars import Matrix, S, Scalar, SupportsArithmetic, Vector
from pymodel.mechanism.scenario import FIXED, FREE, PRISMATIC, REVOLUTE, SPHERICAL


class Twist(NamedTuple):
    """A translation (or force) and a rotation (or moment); None is zero."""

    linear: Vector[Scalar] | None
    angular: Vector[Scalar] | None


Column = int | Twist
Subspace = tuple[Column, ...]
#: How a body stands in the ground frame: (cos, sin) in the plane, a rotation matrix in space.
Pose: TypeAlias = Sequence[Any]


class Joint(NamedTuple):
    """What a joint leaves free, and what it takes."""

    freedoms: Subspace  # H
    constraints: Subspace  # D


class Plane:
    """Vectors of 2, rotations about z.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
        Its scalars may be :class:`pymodel.arith.terms.Term`.

    Attributes
    ----------
    dimension, angles : int
        Components of a vector, and of what turns.
    axes : str
    """

    dimension, angles, axes = 2, 1, "xy"

    def __init__(self, arithmetic: SupportsArithmetic[Scalar]) -> None:
        self.arithmetic = arithmetic

    # --- vectors ----------------------------------------------------------------------------------

    @staticmethod
    def moment(s: Vector[S], f: Vector[S]) -> Vector[S]:
        """s x f, the moment of a force on an arm."""
        return (cross(s, f),)

    @staticmethod
    def turned(omega: Vector[S], s: Vector[S]) -> Vector[S]:
        """omega x s, the velocity of an arm's end."""
        return -(omega[0] * s[1]), omega[0] * s[0]

    @staticmethod
    def shifted(s: Vector[S], omega: Vector[S], i: int) -> S:
        """Component i of s x omega: the velocity that a handle has less than its body's centre."""
        return s[1] * omega[0] if i == 0 else -(s[0] * omega[0])

    @staticmethod
    def gyroscopic(a: Vector[S], omega: Vector[S]) -> Vector[S] | None:
        """a x omega of two vectors that turn; None where it is always zero."""
        return None

    # --- bodies -----------------------------------------------------------------------------------

    def poses(self, mechanism: Any, q: Sequence[S]) -> list[Pose]:
        """(cos, sin) of the angle of each body to the ground."""
        angles = []
        for k, body in enumerate(mechanism.bodies):
            own = mechanism.coordinates(k, q)
            angle = {REVOLUTE: own[:1], FREE: own[2:]}.get(body.joint, [])
            if body.placement is not None:
                angle = [*angle, body.placement]
            angles.append(tree_sum(angle) if angle else None)
        found: list[Pose] = []
        for theta in outward_sums(mechanism.topology, angles):
            if theta is None:
                found.append((self.arithmetic.const(1.0), self.arithmetic.const(0.0)))
            else:
                sin, cos = self.arithmetic.sincos(theta)
                found.append((cos, sin))
        return found

    @staticmethod
    def rotate(pose: Pose, v: Vector[S]) -> Vector[S]:
        """A body-frame vector in the ground frame."""
        return rotate(pose, v)

    @staticmethod
    def inverse_inertia(pose: Pose | None, inverse: Any) -> Matrix[Scalar]:
        """Inverse of the inertia about the centre of mass, ground frame, 1/(kg m^2)."""
        return ((inverse,),)

    @staticmethod
    def turnings(s: Vector[S], inverse: Matrix[S]) -> list[Vector[S]]:
        """[s x] J^-1: row i is the angular velocity that a unit impulse along axis i gives."""
        ((j,),) = inverse
        return [(s[1] * j,), (-(s[0] * j),)]

    # --- joints -----------------------------------------------------------------------------------

    def joint(self, kind: str, pose: Pose, axis: Vector[Scalar] | None) -> Joint:
        """The subspaces of a joint; ``pose`` is that of its body, ``axis`` stands in its frame."""
        if kind == PRISMATIC and axis is not None:
            x, y = self.rotate(pose, axis)
            return Joint((Twist((x, y), None),), (Twist((-y, x), None), 2))
        return {
            REVOLUTE: Joint((2,), (0, 1)),
            FIXED: Joint((), (0, 1, 2)),
            FREE: Joint((0, 1, 2), ()),
        }[kind]

    def closing(self, directions: Sequence[Vector[S]], axes: Pose | None = None) -> Subspace:
        """What a pin that closes a loop takes, along the axes of a pose, or the ground's."""
        if axes is None:
            return (0, 1)
        c, s = axes
        return (Twist((c, s), None), Twist((-s, c), None))

    def columns_turn_with(self, kind: str) -> str | None:
        """What the free motions of a joint turn with: ``parent``, ``body`` or nothing."""
        return "parent" if kind == PRISMATIC else None

    def coordinate_rates(
        self, kind: str, q: Sequence[S], q_dot: Sequence[S], velocity: Vector[S] | None
    ) -> Sequence[S]:
        """Time derivatives of a joint's coordinates, from its velocities."""
        return q_dot

    # --- subspaces --------------------------------------------------------------------------------

    def across(
        self, subspace: Subspace, linear: Vector[Scalar] | None, angular: Vector[Scalar] | None
    ) -> list[Scalar]:
        """Components of a twist or wrench along each column; None of those that are zero."""
        return [self.along(column, linear, angular) for column in subspace]

    def along(
        self, column: Column, linear: Vector[S] | None, angular: Vector[S] | None
    ) -> S | None:
        """One such component; None if it is zero."""
        if isinstance(column, int):
            vector, axis = (
                (linear, column) if column < self.dimension else (angular, column - self.dimension)
            )
            return None if vector is None else vector[axis]
        pairs = zip(column, (linear, angular), strict=True)
        parts = [inner(a, b) for a, b in pairs if a is not None and b is not None]
        return tree_sum(parts) if parts else None

    def spread(self, subspace: Subspace, values: Sequence[S]) -> Twist:
        """The twist or wrench that has these components along the columns."""
        terms: list[list[S]] = [[] for _ in range(self.dimension + self.angles)]
        for column, x in zip(subspace, values, strict=True):
            if isinstance(column, int):
                terms[column].append(x)
                continue
            first = 0
            for part, size in zip(column, (self.dimension, self.angles), strict=True):
                for i, entry in enumerate(part or ()):
                    terms[first + i].append(entry * x)
                first += size
        return Twist(self._sums(terms[: self.dimension]), self._sums(terms[self.dimension :]))

    def _sums(self, terms: Sequence[list[S]]) -> Vector[S] | None:
        if not any(terms):
            return None
        return tuple(tree_sum(t) if t else self.arithmetic.const(0.0) for t in terms)


class Space(Plane):
    """Vectors of 3. A body's pose is its rotation matrix, from its frame to the ground's.

    The frame of a body with a revolute or prismatic joint has its z axis along the joint's.
    """

    dimension, angles, axes = 3, 3, "xyz"

    @staticmethod
    def moment(s: Vector[S], f: Vector[S]) -> Vector[S]:
        """s x f."""
        return tuple(Space.shifted(s, f, i) for i in range(3))

    @staticmethod
    def turned(omega: Vector[S], s: Vector[S]) -> Vector[S]:
        """omega x s."""
        return Space.moment(omega, s)

    @staticmethod
    def shifted(s: Vector[S], omega: Vector[S], i: int) -> S:
        """Component i of s x omega."""
        j, k = (i + 1) % 3, (i + 2) % 3
        return s[j] * omega[k] - s[k] * omega[j]

    @staticmethod
    def gyroscopic(a: Vector[S], omega: Vector[S]) -> Vector[S] | None:
        """a x omega."""
        return Space.moment(a, omega)

    @staticmethod
    def gyroscopic_rate(inertia: Matrix[S], omega: Vector[S]) -> Vector[S]:
        """(J omega) x omega, with differences of moments: what is round by structure has none."""
        found = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            found.append(
                tree_sum(
                    [
                        (inertia[j][j] - inertia[k][k]) * (omega[j] * omega[k]),
                        inertia[i][j] * (omega[i] * omega[k]),
                        -(inertia[i][k] * (omega[i] * omega[j])),
                        inertia[j][k] * (omega[k] * omega[k] - omega[j] * omega[j]),
                    ]
                )
            )
        return tuple(found)

    def poses(self, mechanism: Any, q: Sequence[S]) -> list[Pose]:
        """Rotation matrices, by a scan of the products along each path."""
        local: list[Pose] = []
        for k, body in enumerate(mechanism.bodies):
            placement, own = body.placement, mechanism.coordinates(k, q)
            if body.joint == REVOLUTE:
                local.append(self._turned_about_z(placement, own[0]))
            elif body.joint in (SPHERICAL, FREE):
                local.append(multiplied(placement, self._of_quaternion(own[-4:])))
            else:
                local.append(placement)
        return outward_sums(mechanism.topology, local, multiplied)

    def _turned_about_z(self, m: Matrix[S], angle: S) -> Matrix[S]:
        sin, cos = self.arithmetic.sincos(angle)
        return tuple((x * cos + y * sin, y * cos - x * sin, z) for x, y, z in m)

    def _of_quaternion(self, quaternion: Sequence[S]) -> Matrix[S]:
        """The rotation of a quaternion x, y, z, w of any length."""
        x, y, z, w = quaternion
        one = self.arithmetic.const(1.0)
        r = self.arithmetic.recip(tree_sum([a * a for a in quaternion]))
        r = r + r
        xr, yr, zr = x * r, y * r, z * r
        xx, yy, zz, xy, xz, yz = x * xr, y * yr, z * zr, x * yr, x * zr, y * zr
        wx, wy, wz = w * xr, w * yr, w * zr
        return (
            (one - (yy + zz), xy - wz, xz + wy),
            (xy + wz, one - (xx + zz), yz - wx),
            (xz - wy, yz + wx, one - (xx + yy)),
        )

    @staticmethod
    def rotate(pose: Pose, v: Vector[S]) -> Vector[S]:
        """A body-frame vector in the ground frame."""
        return tuple(inner(row, v) for row in pose)

    def joint(self, kind: str, pose: Pose, axis: Vector[Scalar] | None) -> Joint:
        """The subspaces of a joint; ``pose`` is that of its body."""
        columns = transposed(pose)
        moves = tuple(Twist(column, None) for column in columns)
        turns = tuple(Twist(None, column) for column in columns)
        return {
            REVOLUTE: Joint(turns[2:], (0, 1, 2, *turns[:2])),
            PRISMATIC: Joint(moves[2:], (*moves[:2], 3, 4, 5)),
            FIXED: Joint((), (0, 1, 2, 3, 4, 5)),
            SPHERICAL: Joint(turns, (0, 1, 2)),
            FREE: Joint((*moves, *turns), ()),
        }[kind]

    def closing(self, directions: Sequence[Vector[S]], axes: Matrix[S] | None = None) -> Subspace:
        """What a ball or, with two directions across its axis, a hinge takes.

        Translations are along the axes of a pose, or the ground's.
        """
        moves: Subspace = (0, 1, 2)
        if axes is not None:
            moves = tuple(Twist(column, None) for column in transposed(axes))
        return (*moves, *(Twist(None, direction) for direction in directions))

    def columns_turn_with(self, kind: str) -> str | None:
        """What the free motions of a joint turn with: ``parent``, ``body`` or nothing."""
        found = {REVOLUTE: "parent", PRISMATIC: "parent", SPHERICAL: "body", FREE: "body"}
        return found.get(kind)

    def own_twist(self, kind: str, values: Sequence[S]) -> Twist:
        """The motion, or impulse, of a joint with these values, in the axes of its body."""
        zero: Any = self.arithmetic.const(0.0)
        return {
            REVOLUTE: lambda: Twist(None, (zero, zero, *values)),
            PRISMATIC: lambda: Twist((zero, zero, *values), None),
            FIXED: lambda: Twist(None, None),
            SPHERICAL: lambda: Twist(None, tuple(values)),
            FREE: lambda: Twist(tuple(values[:3]), tuple(values[3:])),
        }[kind]()

    @staticmethod
    def parted(freedoms: Subspace) -> tuple[Subspace, Subspace]:
        """Columns that move, and those that turn."""
        moves = sum(isinstance(column, Twist) and column.angular is None for column in freedoms)
        return freedoms[:moves], freedoms[moves:]

    def coordinate_rates(
        self, kind: str, q: Sequence[S], q_dot: Sequence[S], velocity: Vector[S] | None
    ) -> Sequence[S]:
        """Of a quaternion half the product with the angular velocity, which is in its frame."""
        if kind not in (SPHERICAL, FREE):
            return q_dot
        *v, w = q[-4:]
        half = self.arithmetic.const(0.5)
        omega = [half * x for x in q_dot[-3:]]
        turning = self.moment(v, omega)
        rates = [w * omega[i] + turning[i] for i in range(3)]
        moves = velocity if kind == FREE and velocity is not None else ()
        return [*moves, *rates, -inner(v, omega)]
