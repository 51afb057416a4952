"""A robot's tree with its numbers as terms: frames, and how the links move.

Every vector of a link stands in the link's own frame, at its joint, whose axis is z. Accelerations
are classical (of points), and hold the gravity's reaction. No linear velocity appears: the
functions do not depend on it (Galilean invariance).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pymodel.algorithms.friction import Friction
from pymodel.algorithms.rigid_body.coupling import Coupling
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    Wrench,
    add,
    apply,
    column,
    cross,
    cross_z,
    double,
    product,
    scale,
    transpose,
)
from pymodel.arith.terms import Term, Terms, total
from pymodel.mechanism.robot import BY_QUATERNION, FIXED_BASE, HELICAL, PRISMATIC, Robot


class Inertia(NamedTuple):
    """Pseudo-inertia about a point: second moments, first moment, mass."""

    second: Matrix3
    first: Vector3
    mass: Term


class Carrier(NamedTuple):
    """How what carries a ball or floating joint moves at the joint, in the axes of a part's link.

    Attributes
    ----------
    w, alpha, a : Vector3
        As of a :class:`Motion`, of the carrier's point that is at the body's origin.
    joint_w, joint_v : Vector3
        Velocity of the body against the carrier, angular and of its origin.
    """

    w: Vector3
    alpha: Vector3
    a: Vector3
    joint_w: Vector3
    joint_v: Vector3

    @property
    def both_w(self) -> Vector3:
        """Sum of the angular velocities of carrier and body."""
        return add(self.w, self.w, self.joint_w)


class Motion(NamedTuple):
    """How a link moves.

    Attributes
    ----------
    w, alpha : Vector3
        Angular velocity and acceleration.
    a : Vector3
        Classical acceleration of the frame's origin, less that of gravity.
    U : Matrix3
        [alpha x] + [w x]^2: a point r of the link has the acceleration a + U r.
    carrier : Carrier or None
        Of a part of a ball or floating joint. Such a link moves as the body would if the parts
        behind it stood still, but for the accelerations that these bring along.
    """

    w: Vector3
    alpha: Vector3
    a: Vector3
    U: Matrix3
    carrier: Carrier | None = None


def point_accelerations(w: Vector3, alpha: Vector3) -> Matrix3:
    """U = [alpha x] + [w x]^2."""
    x, y, z = w
    a, b, c = alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - c, xz + b),
        (xy + c, -(xx + zz), yz - a),
        (xz - b, yz + a, -(xx + yy)),
    )


def rotation_matrix(quaternion: Sequence[Term]) -> Matrix3:
    """Rotation of a quaternion (x, y, z, w) of length 1."""
    x, y, z, w = quaternion
    x2, y2, z2, one = x + x, y + y, z + z, x.terms.one
    return (
        (one - y2 * y - z2 * z, x2 * y - z2 * w, x2 * z + y2 * w),
        (x2 * y + z2 * w, one - x2 * x - z2 * z, y2 * z - x2 * w),
        (x2 * z - y2 * w, y2 * z + x2 * w, one - x2 * x - y2 * y),
    )


def along_axis(axis: int, v: Sequence[Term]) -> Vector3:
    """A vector in axes of which z is an axis of those that it stands in."""
    return v[(axis + 1) % 3], v[(axis + 2) % 3], v[axis]


class Tree:
    """A robot's structure and numbers, and the state of one evaluation.

    Parameters
    ----------
    terms : Terms
    robot : Robot
        As :func:`pymodel.mechanism.reduction.reduced` gives it, or any other.
    q : sequence of Term, length nq
        Rad and m; a quaternion (x, y, z, w) must have length 1.
    qd : sequence of Term, length nv, optional
        Rad/s and m/s; the velocity of a floating base or joint stands in the body's own axes,
        linear first, that of a ball joint, too.
    turns : dict, optional
        Link -> sine and cosine of its joint's angle, where they were found before.

    Attributes
    ----------
    turns : dict
        Of all joints that turn about an axis.
    coupling : Coupling
        What the robot's degrees of freedom, of which q and qd are, have to do with the tree's: all
        else here is of the tree, in which each joint moves by itself.
    """

    def __init__(
        self,
        terms: Terms[Any],
        robot: Robot,
        q: Sequence[Term],
        qd: Sequence[Term] | None = None,
        turns: Mapping[int, tuple[Term, Term]] | None = None,
    ) -> None:
        self.coupling = Coupling(terms, robot)
        self.terms, self.robot = terms, robot.tree
        robot, q = robot.tree, self.coupling.coordinates(q)
        self.zero, self.one = terms.zero, terms.one
        self.origin = (self.zero,) * 3
        self.axes = tuple(
            tuple(self.one if i == k else self.zero for i in range(3)) for k in range(3)
        )
        self.links = range(len(robot.links))
        self.joints = self.links[robot.first :]  # links with a joint of one degree of freedom
        self.parent = [link.parent for link in robot.links]
        self.dof = [robot.dof(i) for i in self.links]
        self.nv = robot.nv
        self.ancestors = [robot.ancestors(k) for k in range(robot.nv)]
        self.slides = [link.kind == PRISMATIC for link in robot.links]
        self.pitch = [  # None: the joint does not slide as it turns
            self._number(i, "pitch", link.pitch) if link.kind == HELICAL else None
            for i, link in enumerate(robot.links)
        ]
        self.parts = [link.part if link.by_quaternion else None for link in robot.links]
        self.rotation: list[Matrix3] = [
            self._numbers(i, "rotation", link.rotation) for i, link in enumerate(robot.links)
        ]
        self.inertia = [self._inertia(i) for i in self.links]
        self.damping = [
            self._number(i, "damping", link.damping) for i, link in enumerate(robot.links)
        ]
        self.friction = {
            i: Friction(terms, link.joint, link.friction, link.friction_scale)
            for i, link in enumerate(robot.links)
            if link.friction and link.friction_scale
        }
        self.armature = [
            self._number(i, "armature", link.armature) for i, link in enumerate(robot.links)
        ]
        self.q = list(q)
        self.qd = self.coupling.spread(qd) if qd is not None else [self.zero] * self.nv
        self.turns = dict(turns or {})
        self.arm = {}  # link -> its origin, in the parent's frame
        for i in self.joints:
            offset: Vector3 = self._numbers(i, "offset", robot.links[i].offset)
            own = [q[k] for k in robot.coordinates[i]]
            if self.parts[i] is not None:
                offset = self._posture(i, offset, own)
            elif self.slides[i]:
                offset = add(offset, scale(own[0], column(self.rotation[i], 2)))
            else:
                if i not in self.turns:
                    number = self._number(i, "zero", robot.links[i].zero)
                    self.turns[i] = terms.sincos(own[0] + number)
                pitch = self.pitch[i]
                if pitch is not None:
                    offset = add(offset, scale(pitch * own[0], column(self.rotation[i], 2)))
            self.arm[i] = offset
        self.gravity = self._gravity(q)

    def _posture(self, i: int, offset: Vector3, q: Sequence[Term]) -> Vector3:
        """Turn the first part of a ball or floating joint by its quaternion; its link's origin."""
        part = self.parts[i]
        if part is None or part.index:
            return offset
        *position, x, y, z, w = q
        if position:
            offset = add(offset, apply(self.rotation[i], along_axis(part.axis, position)))
        turn = rotation_matrix((*along_axis(part.axis, (x, y, z)), w))
        self.rotation[i] = product(self.rotation[i], turn)
        return offset

    def undamped(self, i: int, tau: Term) -> Term:
        """A joint's torque less what its damping and friction take."""
        rate = self.qd[self.dof[i]]
        tau = tau - self.damping[i] * rate
        return tau - self.friction[i].torque(rate) if i in self.friction else tau

    def _number(self, link: int, name: str, x: float) -> Term:
        return self.terms.parameter(f"{self.robot.links[link].joint}.{name}", float(x))

    def _numbers(self, link: int, name: str, x: np.ndarray) -> tuple[Any, ...]:
        if x.ndim > 1:
            return tuple(self._numbers(link, f"{name}[{k}]", row) for k, row in enumerate(x))
        return tuple(self._number(link, f"{name}[{k}]", entry) for k, entry in enumerate(x))

    def _inertia(self, link: int) -> Inertia:
        whole = self.robot.links[link].inertia
        upper = {
            (i, k): self._number(link, f"second_moment[{i}][{k}]", whole[i, k])
            for i in range(3)
            for k in range(i, 3)
        }
        second = tuple(tuple(upper[min(i, k), max(i, k)] for k in range(3)) for i in range(3))
        first = self._numbers(link, "first_moment", whole[:3, 3])
        return Inertia(second, first, self._number(link, "mass", whole[3, 3]))

    def _gravity(self, q: Sequence[Term]) -> Vector3:
        """The gravity's reaction in the base's frame: upwards."""
        g = self.terms.parameter("gravity", self.robot.gravity)
        if not self.robot.floating:
            return self.zero, self.zero, g
        ground = self.robot.ground @ self.robot.links[0].rotation
        if np.array_equal(ground, np.eye(3)):
            x, y, z, w = q[3:7]
            x2, y2 = x + x, y + y
            row = x2 * z - y2 * w, y2 * z + x2 * w, self.one - x2 * x - y2 * y
            return scale(g, row)
        rows = rotation_matrix(q[3:7])
        numbers = enumerate(ground[2].tolist())
        up = [self.terms.parameter(f"up[{k}]", number) for k, number in numbers]
        return scale(g, add(*map(scale, up, rows)))

    def on_ground(self, i: int) -> bool:
        """Whether a link's joint stands on the ground."""
        return self.parent[i] == FIXED_BASE

    def first_part(self, i: int) -> int | None:
        """The link of the first part of the ball or floating joint of which joint i is one."""
        part = self.parts[i]
        return None if part is None else i - part.index

    # --- from frame to frame ----------------------------------------------------------------------

    def _turned(self, i: int, v: Vector3, back: bool = False) -> Vector3:
        """V turned by the joint's angle about z."""
        if i not in self.turns:
            return v
        s, c = self.turns[i]
        s = -s if back else s
        return c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]

    def up(self, i: int, v: Vector3) -> Vector3:
        """From link i's frame to its parent's."""
        return apply(self.rotation[i], self._turned(i, v))

    def down(self, i: int, v: Vector3) -> Vector3:
        """From the parent's frame to link i's."""
        return self._turned(i, apply(transpose(self.rotation[i]), v), back=True)

    def up_matrix(self, i: int, m: Matrix3) -> Matrix3:
        """R M R^T, with the rotation R from link i's frame to its parent's."""
        r = self.rotation[i]
        return product(product(r, self._turned_matrix(i, m)), transpose(r))

    def _turned_matrix(self, i: int, m: Matrix3) -> Matrix3:
        if i not in self.turns:
            return m
        s, c = self.turns[i]
        ss, cs = s * s, s * c
        (a, b, e), (d, f, g), (h, k, n) = m
        difference, both = a - f, b + d
        t = -(ss * difference + cs * both)
        u = cs * difference - ss * both
        e1, g1, _ = self._turned(i, (e, g, self.zero))
        h1, k1, _ = self._turned(i, (h, k, self.zero))
        return (a + t, b + u, e1), (d + u, f - t, g1), (h1, k1, n)

    def wrench_to_parent(self, i: int, wrench: Wrench) -> Wrench:
        """Turn a wrench about link i's origin into one about its parent's."""
        turned, of_force = self.wrenches_at_parent(i, wrench)
        return Wrench(add(turned.moment, of_force.moment), turned.force)

    def wrenches_at_parent(self, i: int, wrench: Wrench) -> tuple[Wrench, Wrench]:
        """Do the same with the moment that the force has about the parent's origin apart."""
        force = self.up(i, wrench.force)
        turned = Wrench(self.up(i, wrench.moment), force)
        return turned, Wrench(cross(self.arm[i], force), self.origin)

    def along(self, i: int, wrench: Wrench) -> Term:
        """What a wrench does along joint i: its torque or force."""
        pitch = self.pitch[i]
        if pitch is not None:
            return wrench.moment[2] + pitch * wrench.force[2]
        return wrench.force[2] if self.slides[i] else wrench.moment[2]

    # --- motion -----------------------------------------------------------------------------------

    def slip(self, i: int, w: Vector3) -> Vector3:
        """Velocity of link i's origin less that of its parent's, whose angular velocity is w.

        The origins of the links of a ball or floating joint all move as the body's.
        """
        u, pitch, part = cross(w, self.arm[i]), self.pitch[i], self.parts[i]
        if part is not None:
            return u if part.index else add(u, self.up(i, self._joint_velocity(i)[1]))
        if self.slides[i] or pitch is not None:
            rate = self.qd[self.dof[i]]
            rate = rate if pitch is None else pitch * rate
            u = add(u, scale(rate, column(self.rotation[i], 2)))
        return u

    def _joint_velocity(self, i: int) -> tuple[Vector3, Vector3]:
        """Angular velocity by a ball or floating joint and that of its origin, in a part's axes."""
        part = self.parts[i]
        assert part is not None
        start = self.dof[i] - part.index
        rates = self.qd[start : start + BY_QUATERNION[part.kind] - 1]
        linear = rates[:-3] or self.origin
        return along_axis(part.axis, rates[-3:]), along_axis(part.axis, linear)

    def motions(self, qdd: Sequence[Term]) -> list[Motion]:
        """Outward recursion of velocities and accelerations."""
        found: list[Motion] = []
        for i in self.links:
            if i < self.robot.first:
                w: Vector3 = tuple(self.qd[3:6])
                alpha: Vector3 = tuple(qdd[3:6])
                a = add(qdd[:3], cross(w, self.qd[:3]), self.gravity)
                found.append(Motion(w, alpha, a, point_accelerations(w, alpha)))
            else:
                found.append(self._joint_motion(i, found, qdd[self.dof[i]]))
        return found

    def _joint_motion(self, i: int, found: list[Motion], qdd: Term) -> Motion:
        w: Vector3
        alpha: Vector3
        if self.on_ground(i):
            w = alpha = self.origin
            a = self.down(i, self.gravity)
        else:
            carrier = found[self.parent[i]]
            w, alpha = self.down(i, carrier.w), self.down(i, carrier.alpha)
            a = self.down(i, add(carrier.a, apply(carrier.U, self.arm[i])))
        at_joint = self._carrier(i, found, (w, alpha, a))
        qd, pitch = self.qd[self.dof[i]], self.pitch[i]
        turning, sliding = self.brought_along(i, w, at_joint)
        if self.slides[i]:
            assert sliding is not None
            a = a[0] + sliding[0], a[1] + sliding[1], a[2] + qdd
        else:
            assert turning is not None
            w = w[0], w[1], w[2] + qd
            alpha = alpha[0] + turning[0], alpha[1] + turning[1], alpha[2] + qdd
            if pitch is not None:
                assert sliding is not None
                a = a[0] + sliding[0], a[1] + sliding[1], a[2] + pitch * qdd
        return Motion(w, alpha, a, point_accelerations(w, alpha), at_joint)

    def _carrier(
        self, i: int, found: list[Motion], at_joint: tuple[Vector3, Vector3, Vector3]
    ) -> Carrier | None:
        """How the carrier of a ball or floating joint moves, in the axes of a part's link."""
        part = self.parts[i]
        if part is None:
            return None
        if part.index:
            before = found[self.parent[i]].carrier
            assert before is not None
            at_joint = self.down(i, before.w), self.down(i, before.alpha), self.down(i, before.a)
        return Carrier(*at_joint, *self._joint_velocity(i))

    def brought_along(
        self, i: int, w: Vector3, carrier: Carrier | None
    ) -> tuple[Vector3 | None, Vector3 | None]:
        """Accelerations of link i that joint i's rate brings along, in its axes; None: zero.

        Parameters
        ----------
        i : int
        w : Vector3
            Angular velocity of link i, or of its parent.
        carrier : Carrier or None
            Of link i's motion.

        Returns
        -------
        tuple
            Angular acceleration, and acceleration of the origin. Their z entries are zero.
        """
        qd, pitch = self.qd[self.dof[i]], self.pitch[i]
        if carrier is not None:
            if self.slides[i]:
                return None, scale(qd, cross_z(carrier.both_w))
            return scale(qd, cross_z(carrier.w)), None
        turning = scale(qd, cross_z(w))
        if self.slides[i]:
            return None, double(turning)
        return turning, None if pitch is None else scale(pitch, double(turning))

    def inertial_wrench(self, i: int, U: Matrix3, a: Vector3) -> Wrench:
        """Wrench about link i's origin that accelerates it: Newton and Euler."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.inertia[i].second
        first = self.inertia[i].first
        (u00, u01, u02), (u10, u11, u12), (u20, u21, u22) = U
        moment = (
            total((u20 * xy, u21 * yy, (u22 - u11) * yz, -(u10 * xz), -(u12 * zz))),
            total(((u00 - u22) * xz, u01 * yz, u02 * zz, -(u20 * xx), -(u21 * xy))),
            total((u10 * xx, (u11 - u00) * xy, u12 * xz, -(u01 * yy), -(u02 * yz))),
        )
        force = add(apply(U, first), scale(self.inertia[i].mass, a))
        return Wrench(add(moment, cross(first, a)), force)

    def external_wrench(self, i: int, wrench: Sequence[Term]) -> Wrench:
        """A wrench on link i (force first) in the frame in which users give it, in link i's."""
        link = self.robot.links[i]
        rotation = self._numbers(i, "frame_rotation", link.frame_rotation)
        force = apply(rotation, tuple(wrench[:3]))
        offset = self._numbers(i, "frame_offset", link.frame_offset)
        return Wrench(add(apply(rotation, tuple(wrench[3:])), cross(offset, force)), force)
