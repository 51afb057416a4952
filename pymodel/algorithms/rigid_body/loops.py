"""Constrained dynamics of robots with loops: accelerations, their derivatives, actuated torques.

The loops' constraints are kept on the level of accelerations: J qdd + gamma = 0 beside
M qdd + C = tau + J^T f, with the loops' forces f. So a state must satisfy the loops; gains of
Baumgarte's stabilisation, where a loop has them, lead back to that.

A constraint is written in the frame of the last link that both sides of its loop hang on, or of the
ground: it depends on the joints of the loop alone. Rows stand in the axes of the loop's first link.
A floating base is a joint of a loop to the ground as others are: its six degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body.duals import Dual, Duals
from pymodel.algorithms.rigid_body.frames import Placed, base_placement, numbers
from pymodel.algorithms.rigid_body.mass_matrix import (
    Factors,
    factorised,
    half_solved,
    rest_solved,
    solved,
)
from pymodel.algorithms.rigid_body.tree import Tree, point_accelerations, rotation_matrix
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    Wrench,
    add,
    apply,
    cross,
    cross_z,
    dot,
    product,
    scale,
    transpose,
)
from pymodel.arith.terms import Term
from pymodel.mechanism.loop import HINGE, Loop
from pymodel.mechanism.robot import FIXED_BASE, elimination_tree
from pymodel.mechanism.robot_loops import grounded, single_coordinates


class End(NamedTuple):
    """A loop's frame on a link.

    Attributes
    ----------
    link : int
    links : tuple of int
        With joints from this link to the one that both ends hang on, without that.
    point : Vector3
        Its origin in the link's frame.
    axes : Matrix3
        Its axes x, y and z in the link's frame.
    """

    link: int
    links: tuple[int, ...]
    point: Vector3
    axes: Matrix3


class Moving(NamedTuple):
    """How a link moves, as a :class:`pymodel.algorithms.rigid_body.tree.Motion` of it says."""

    w: Vector3
    alpha: Vector3
    a: Vector3
    U: Matrix3


class LoopState:
    """A loop in a state of a tree, which may be one of duals.

    Parameters
    ----------
    tree : Tree
    loop : Loop
    """

    def __init__(self, tree: Tree, loop: Loop) -> None:
        self.tree, self.loop = tree, loop
        #: Whether a floating base stands between its ends.
        self.based = tree.robot.floating and FIXED_BASE in loop.links
        above = [self._above(k) for k in loop.links]
        self.ends = [
            self._end(side, tuple(k for k in above[side] if k not in above[1 - side]))
            for side in range(2)
        ]

    def _above(self, link: int) -> list[int]:
        found = []
        while link != FIXED_BASE and link in self.tree.joints:
            found.append(link)
            link = self.tree.parent[link]
        return found

    def _end(self, side: int, links: tuple[int, ...]) -> End:
        loop = self.loop
        k, rotation, offset = loop.links[side], loop.rotations[side], loop.offsets[side]
        if k != FIXED_BASE:
            link = self.tree.robot.links[k]
            rotation = link.frame_rotation @ rotation
            offset = link.frame_offset + link.frame_rotation @ offset
        name, numbers = f"loop {loop.name}", self.tree.terms.parameter
        point = tuple(numbers(f"{name}.point[{side}][{i}]", float(x)) for i, x in enumerate(offset))
        axes = tuple(
            tuple(numbers(f"{name}.axes[{side}][{i}][{j}]", float(x)) for j, x in enumerate(axis))
            for i, axis in enumerate(rotation.T)
        )
        return End(k, links, point, axes)

    # --- from one end to the other ----------------------------------------------------------------

    @cached_property
    def _base(self) -> Placed:
        """Where a floating base is, in the ground that links hang on."""
        turn = numbers(self.tree, "ground", self.tree.robot.ground)
        found = base_placement(self.tree)
        return Placed(product(turn, found.rotation), apply(turn, found.origin))

    def _out(self, side: int, v: Vector3) -> Vector3:
        """A vector of an end's link in the axes of what both hang on."""
        for i in self.ends[side].links:
            v = self.tree.up(i, v)
        return apply(self._base.rotation, v) if self._through_base(side) else v

    def _through_base(self, side: int) -> bool:
        return self.based and self.ends[side].link != FIXED_BASE

    def _in(self, side: int, v: Vector3) -> Vector3:
        """Back from there to an end's link."""
        if self._through_base(side):
            v = apply(transpose(self._base.rotation), v)
        for i in reversed(self.ends[side].links):
            v = self.tree.down(i, v)
        return v

    def _to_first(self, v: Vector3) -> Vector3:
        return self._in(0, self._out(1, v))

    def _to_second(self, v: Vector3) -> Vector3:
        return self._in(1, self._out(0, v))

    # --- constraints ------------------------------------------------------------------------------

    @cached_property
    def axes(self) -> list[tuple[Vector3, Vector3]]:
        """Of each row the axis along which points are compared, and that of turns; in link 1's."""
        units, none = self.tree.axes, self.tree.origin
        turns = self.ends[0].axes if self.loop.kind == HINGE else units
        return [(units[r], none) if r < 3 else (none, turns[r - 3]) for r in self.loop.rows]

    def _force(self, numbers: Sequence[Any]) -> tuple[Vector3, Vector3]:
        """Force and moment of the rows' multipliers on the first link, at the point."""
        none = self.tree.origin
        force = add(none, *(scale(x, a) for x, (a, _) in zip(numbers, self.axes, strict=True)))
        moment = add(none, *(scale(x, t) for x, (_, t) in zip(numbers, self.axes, strict=True)))
        return force, moment

    def torques(self, numbers: Sequence[Any]) -> dict[int, Any]:
        """J^T f: degree of freedom of the tree -> torque, of the rows' multipliers."""
        force, moment = self._force(numbers)
        found = {}
        for side in range(2):
            end, based = self.ends[side], self._through_base(side)
            if not end.links and not based:
                continue
            if side:
                force, moment = (tuple(-x for x in self._to_second(v)) for v in (force, moment))
            wrench = Wrench(add(moment, cross(end.point, force)), force)
            for place, i in enumerate(end.links):
                found[self.tree.dof[i]] = self.tree.along(i, wrench)
                if based or place + 1 < len(end.links):
                    wrench = self.tree.wrench_to_parent(i, wrench)
            if based:
                found |= dict(enumerate((*wrench.force, *wrench.moment)))
        return found

    def jacobian(self) -> list[dict[int, Any]]:
        """Rows, each degree of freedom of the tree -> entry."""
        units = [
            [self.tree.one if k == row else self.tree.zero for k in range(len(self.loop.rows))]
            for row in range(len(self.loop.rows))
        ]
        return [self.torques(unit) for unit in units]

    def accelerations(self, qdd: Sequence[Any]) -> list[Any]:
        """What the constraints' second derivatives are, rows; with Baumgarte's terms."""
        (first, second), (a, b) = (self._moving(side, qdd) for side in range(2)), self.ends
        across = add(second.a, apply(second.U, b.point))
        points = _difference(add(first.a, apply(first.U, a.point)), self._to_first(across))
        turns = _difference(first.alpha, self._to_first(second.alpha))
        rate = _difference(first.w, self._to_first(second.w))
        found = []
        for along, turn in self.axes:
            row = dot((*along, *turn), (*points, *turns))
            if not all(x.is_zero for x in turn):  # the axis turns with the first link
                row = row + dot(cross(first.w, turn), rate)
            found.append(row)
        return [x + y for x, y in zip(found, self._stabilisation(), strict=True)]

    def _stabilisation(self) -> list[Any]:
        """Baumgarte's terms: velocities and errors of the rows, by the loop's gains."""
        number, name = self.tree.terms.parameter, f"loop {self.loop.name}"
        stiffness, damping = (
            number(f"{name}.{what}", float(gain))
            for what, gain in zip(("stiffness", "damping"), self.loop.gains, strict=True)
        )
        found = [[self.tree.zero] for _ in self.axes]
        if not damping.is_zero:
            for some, row in zip(found, self.jacobian(), strict=True):
                some += [damping * (x * self.tree.qd[k]) for k, x in row.items()]
        if not stiffness.is_zero:
            for some, x in zip(found, self._errors(), strict=True):
                some.append(stiffness * x)
        return [self.tree.terms.total(some) for some in found]

    def _errors(self) -> list[Any]:
        """Of the positions: differences of points and of turns, small ones."""
        (a, b), places = self.ends, []
        for end in (a, b):
            place = end.point
            for i in end.links:
                place = add(self.tree.up(i, place), self.tree.arm[i])
            if self.based and end.link != FIXED_BASE:
                place = add(self._base.origin, apply(self._base.rotation, place))
            places.append(place)
        points = self._in(0, _difference(*places))
        pairs = [*zip(a.axes, b.axes, strict=True)]
        half = self.tree.terms.const(0.5)
        turned = [cross(self._to_first(v), u) for u, v in pairs]
        turns = turned[2] if self.loop.kind == HINGE else scale(half, add(*turned))
        return [dot((*along, *turn), (*points, *turns)) for along, turn in self.axes]

    def _moving(self, side: int, qdd: Sequence[Any]) -> Moving:
        """How an end's link moves against what both hang on."""
        tree, none = self.tree, self.tree.origin
        w: Vector3 = none
        alpha: Vector3 = none
        a: Vector3 = none
        U: Matrix3 = (none, none, none)
        if self._through_base(side):
            w, alpha = tuple(tree.qd[3:6]), tuple(qdd[3:6])
            a, U = add(qdd[:3], cross(w, tree.qd[:3])), point_accelerations(w, alpha)
        for i in reversed(self.ends[side].links):
            rate, more = tree.qd[tree.dof[i]], qdd[tree.dof[i]]
            a = tree.down(i, add(a, apply(U, tree.arm[i])))
            w, alpha = tree.down(i, w), tree.down(i, alpha)
            turning = scale(rate, cross_z(w))
            if tree.slides[i]:
                x, y, _ = turning
                a = a[0] + (x + x), a[1] + (y + y), a[2] + more
            else:
                w = w[0], w[1], w[2] + rate
                alpha = alpha[0] + turning[0], alpha[1] + turning[1], alpha[2] + more
            U = point_accelerations(w, alpha)
        return Moving(w, alpha, a, U)


def _difference(a: Vector3, b: Vector3) -> Vector3:
    return tuple(x - y for x, y in zip(a, b, strict=True))


class Constrained:
    """M x - J^T f = b beside J x = -c, for many b and c.

    Parameters
    ----------
    tree : Tree
    factors : Factors
        Of the robot's mass matrix.

    Attributes
    ----------
    states : list of LoopState
    rows : list of dict
        J: degree of freedom of the robot -> entry.
    """

    def __init__(self, tree: Tree, factors: Factors) -> None:
        self.tree, self.factors = tree, factors
        self.states = [LoopState(tree, loop) for loop in tree.coupling.robot.loops]
        self.rows = [_of_robot(tree, row) for state in self.states for row in state.jacobian()]
        self._halves = [self._half(_full(tree, row)) for row in self.rows]
        scaled = [[x * d for x, d in zip(half, factors.d, strict=True)] for half in self._halves]
        self._scaled, numbers = scaled, range(len(self.rows))
        matrix = {
            (i, j): tree.terms.total(x * y for x, y in zip(scaled[i], self._halves[j], strict=True))
            for i in numbers
            for j in range(i + 1)
        }
        parents = elimination_tree(len(self.rows), [k for k, x in matrix.items() if not x.is_zero])
        self._order = [_way(parents, k) for k in numbers]
        self._matrix = factorised(self._order, matrix)

    def _half(self, b: Sequence[Term]) -> list[Term]:
        return half_solved(self.tree.coupling.ancestors, self.factors.L, b)

    def solve(self, b: Sequence[Term], c: Sequence[Term]) -> tuple[list[Term], list[Term]]:
        """x and f."""
        total = self.tree.terms.total
        half = self._half(b)
        wanted = [
            -total([x, *(s * y for s, y in zip(scaled, half, strict=True))])
            for x, scaled in zip(c, self._scaled, strict=True)
        ]
        f = solved(self._order, self._matrix, wanted)
        columns = zip(*self._halves, strict=True) if self.rows else [()] * len(half)
        both = [
            total([y, *(x * z for x, z in zip(column_, f, strict=True))])
            for y, column_ in zip(half, columns, strict=True)
        ]
        return rest_solved(self.tree.coupling.ancestors, self.factors, both), f


def _way(parents: Sequence[int], row: int) -> list[int]:
    """Rows from one to a root, without itself."""
    found = []
    while (row := parents[row]) >= 0:
        found.append(row)
    return found


def _of_robot(tree: Tree, row: dict[int, Any]) -> dict[int, Any]:
    """A row by the robot's degrees of freedom, of one by the tree's."""
    found = tree.coupling.gathered([row.get(k, tree.zero) for k in range(tree.nv)])
    return {k: x for k, x in enumerate(found) if not x.is_zero}


def _full(tree: Tree, row: dict[int, Term]) -> list[Term]:
    return [row.get(k, tree.zero) for k in range(tree.coupling.nv)]


def accelerations(tree: Tree, qdd: Sequence[Term], states: Sequence[LoopState]) -> list[Term]:
    """J qdd + gamma of all loops, of the robot's degrees of freedom."""
    every = tree.coupling.spread(qdd)
    return [x for state in states for x in state.accelerations(every)]


def loop_derivatives(
    tree: Tree, q: Sequence[Term], qd: Sequence[Term], qdd: Sequence[Term], f: Sequence[Term]
) -> tuple[dict[tuple[str, int], list[Term]], dict[tuple[str, int], list[Term]]]:
    """Derivatives of J^T f and of J qdd + gamma, with f and qdd fixed.

    Parameters
    ----------
    tree : Tree
    q, qd, qdd : sequence of Term
        Of the robot.
    f : sequence of Term
        Forces of the loops' rows.

    Returns
    -------
    dict, dict
        (``dq`` or ``dqd``, degree of freedom) -> entries by row. What is not there is zero.
    """
    duals, robot = Duals(tree.terms), tree.coupling.robot
    own = single_coordinates(robot)
    angles = [
        duals.variable(x, ("dq", own[k])) if k in own else duals.fixed(x) for k, x in enumerate(q)
    ]
    if any(grounded(robot)):
        angles[:7] = _moved_base(duals, q[:7])
    rates = [duals.variable(x, ("dqd", k)) for k, x in enumerate(qd)]
    varied = Tree(duals, robot, angles, rates)  # type: ignore[arg-type] # duals are as terms
    states = [LoopState(varied, loop) for loop in robot.loops]
    fixed: Any = [duals.fixed(x) for x in qdd]
    rows: list[Any] = accelerations(varied, fixed, states)
    torques: list[list[Any]] = [[varied.zero] for _ in range(robot.nv)]
    left = iter(f)
    for state in states:
        numbers = [duals.fixed(next(left)) for _ in state.loop.rows]
        for k, x in _of_robot(varied, state.torques(numbers)).items():
            torques[k].append(x)
    sums = [duals.total(some) for some in torques]
    return _by_variable(sums, tree), _by_variable(rows, tree)


def _moved_base(duals: Duals, q: Sequence[Term]) -> list[Dual]:
    """Coordinates of a floating base, by displacements of the tangent space in its own axes."""
    terms = duals.own
    x, y, z, w = q[3:]
    half = terms.const(0.5)
    turning = (w, z, -y, -x), (-z, w, x, -y), (y, -x, w, -z)  # of (x, y, z, w), by axis
    position = [
        Dual(duals, q[k], {("dq", i): turn for i, turn in enumerate(row)})
        for k, row in enumerate(rotation_matrix(q[3:]))
    ]
    quaternion = [
        Dual(duals, q[3 + k], {("dq", 3 + i): half * column[k] for i, column in enumerate(turning)})
        for k in range(4)
    ]
    return position + quaternion


def _by_variable(found: Sequence[Dual], tree: Tree) -> dict[tuple[str, int], list[Term]]:
    names: list[Any] = sorted({name for x in found for name in x.by})
    return {name: [x.by.get(name, tree.zero) for x in found] for name in names}


def actuated_torques(tree: Tree, tau: Sequence[Term], driven: Sequence[int]) -> dict[int, Term]:
    """Torques of the driven degrees of freedom that do what tau does without the loops' forces.

    The others have none: J_u^T f = tau_u, with as many rows as columns, by the factors of
    J_u J_u^T.

    Parameters
    ----------
    tree : Tree
    tau : sequence of Term
        Of inverse dynamics, of the robot's degrees of freedom.
    driven : sequence of int
        Degrees of freedom.
    """
    total = tree.terms.total
    states = [LoopState(tree, loop) for loop in tree.coupling.robot.loops]
    rows = [_of_robot(tree, row) for state in states for row in state.jacobian()]
    free = [{k: x for k, x in row.items() if k not in driven} for row in rows]
    matrix = {
        (i, j): total(x * free[j][k] for k, x in row.items() if k in free[j])
        for i, row in enumerate(free)
        for j in range(i + 1)
    }
    parents = elimination_tree(len(rows), [k for k, x in matrix.items() if not x.is_zero])
    order = [_way(parents, k) for k in range(len(rows))]
    wanted = [total(x * tau[k] for k, x in row.items()) for row in free]
    f = solved(order, factorised(order, matrix), wanted)
    return {
        k: total([tau[k], *(-(row[k] * x) for row, x in zip(rows, f, strict=True) if k in row)])
        for k in driven
    }
