"""A robot's tree with its numbers as terms: frames, and how the links move.

Every vector of a link stands in the link's own frame, at its joint, whose axis is z. Accelerations
are classical (of points), and hold the gravity's reaction. No linear velocity appears: the
functions do not depend on it (Galilean invariance).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

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
    product,
    scale,
    transpose,
)
from pymodel.arith.terms import Term, Terms, total
from pymodel.mechanism.robot import FIXED_BASE, PRISMATIC, Robot


class Inertia(NamedTuple):
    """Pseudo-inertia about a point: second moments, first moment, mass."""

    second: Matrix3
    first: Vector3
    mass: Term


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
    """

    w: Vector3
    alpha: Vector3
    a: Vector3
    U: Matrix3


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


class Tree:
    """A robot's structure and numbers, and the state of one evaluation.

    Parameters
    ----------
    terms : Terms
    robot : Robot
        As :func:`pymodel.mechanism.reduction.reduced` gives it, or any other.
    q : sequence of Term, length nq
        Rad and m; a floating base's quaternion (x, y, z, w) must have length 1.
    qd : sequence of Term, length nv, optional
        Rad/s and m/s; a floating base's velocity stands in its own frame, linear first.

    Attributes
    ----------
    coupling : Coupling
        What the robot's degrees of freedom, of which q and qd are, have to do with the tree's: all
        else here is of the tree, in which each joint moves by itself.
    """

    def __init__(
        self, terms: Terms[Any], robot: Robot, q: Sequence[Term], qd: Sequence[Term] | None = None
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
        self.rotation = [
            self._numbers(i, "rotation", link.rotation) for i, link in enumerate(robot.links)
        ]
        self.inertia = [self._inertia(i) for i in self.links]
        self.damping = [
            self._number(i, "damping", link.damping) for i, link in enumerate(robot.links)
        ]
        self.armature = [
            self._number(i, "armature", link.armature) for i, link in enumerate(robot.links)
        ]
        self.qd = self.coupling.spread(qd) if qd is not None else [self.zero] * self.nv
        self._turn = {}  # link -> sine and cosine of its joint's angle
        self.arm = {}  # link -> its origin, in the parent's frame
        for i in self.joints:
            offset: Vector3 = self._numbers(i, "offset", robot.links[i].offset)
            x = q[i - robot.first + 7 * robot.floating]
            if self.slides[i]:
                offset = add(offset, scale(x, column(self.rotation[i], 2)))
            else:
                self._turn[i] = terms.sincos(x + self._number(i, "zero", robot.links[i].zero))
            self.arm[i] = offset
        self.gravity = self._gravity(q)

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
        x, y, z, w = q[3:7]
        x2, y2 = x + x, y + y
        row = x2 * z - y2 * w, y2 * z + x2 * w, self.one - x2 * x - y2 * y
        if np.array_equal(self.robot.ground, np.eye(3)):
            return scale(g, row)
        z2 = z + z
        rows = (
            (self.one - y2 * y - z2 * z, x2 * y - z2 * w, x2 * z + y2 * w),
            (x2 * y + z2 * w, self.one - x2 * x - z2 * z, y2 * z - x2 * w),
            row,
        )
        numbers = enumerate(self.robot.ground[2].tolist())
        up = [self.terms.parameter(f"up[{k}]", number) for k, number in numbers]
        return scale(g, add(*map(scale, up, rows)))

    def on_ground(self, i: int) -> bool:
        """Whether a link's joint stands on the ground."""
        return self.parent[i] == FIXED_BASE

    # --- from frame to frame ----------------------------------------------------------------------

    def _turned(self, i: int, v: Vector3, back: bool = False) -> Vector3:
        """V turned by the joint's angle about z."""
        if self.slides[i]:
            return v
        s, c = self._turn[i]
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
        if self.slides[i]:
            return m
        s, c = self._turn[i]
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
        return wrench.force[2] if self.slides[i] else wrench.moment[2]

    # --- motion -----------------------------------------------------------------------------------

    def slip(self, i: int, w: Vector3) -> Vector3:
        """Velocity of link i's origin less that of its parent's, whose angular velocity is w."""
        u = cross(w, self.arm[i])
        if self.slides[i]:
            u = add(u, scale(self.qd[self.dof[i]], column(self.rotation[i], 2)))
        return u

    def motions(self, qdd: Sequence[Term]) -> list[Motion]:
        """Outward recursion of velocities and accelerations."""
        found: list[Motion] = []
        for i in self.links:
            if i < self.robot.first:
                w: Vector3 = tuple(self.qd[3:6])
                alpha: Vector3 = tuple(qdd[3:6])
                a = add(qdd[:3], cross(w, self.qd[:3]), self.gravity)
            else:
                w, alpha, a = self._joint_motion(i, found, qdd[self.dof[i]])
            found.append(Motion(w, alpha, a, point_accelerations(w, alpha)))
        return found

    def _joint_motion(self, i: int, found: list[Motion], qdd: Term) -> tuple[Vector3, ...]:
        qd = self.qd[self.dof[i]]
        w: Vector3
        alpha: Vector3
        if self.on_ground(i):
            w = alpha = self.origin
            a = self.down(i, self.gravity)
        else:
            carrier = found[self.parent[i]]
            w, alpha = self.down(i, carrier.w), self.down(i, carrier.alpha)
            a = self.down(i, add(carrier.a, apply(carrier.U, self.arm[i])))
        turning = scale(qd, cross_z(w))
        if self.slides[i]:
            x, y, _ = turning
            return w, alpha, (a[0] + (x + x), a[1] + (y + y), a[2] + qdd)
        w = w[0], w[1], w[2] + qd
        return w, (alpha[0] + turning[0], alpha[1] + turning[1], alpha[2] + qdd), a

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
