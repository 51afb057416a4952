"""Coordinates that move along a displacement of the tangent space, and how that changes.

Coordinates add, but those of a ball or floating joint, or of a floating base: these move by the
exponential, as Pinocchio's ``integrate`` has it, and change as its ``dIntegrate``. A displacement
stands in the axes of the body before it, linear first; derivatives are by those before and to those
after. The exponentials' coefficients are entire functions of the square of the angle, so that their
series need neither a root nor a case: :data:`POWERS` give float64's rounding for turns of half a
radian a step, 1e-12 for one of a radian.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.rigid_body.coupling import Sparse
from pymodel.algorithms.rigid_body.tree import rotation_matrix
from pymodel.algorithms.rigid_body.vectors import (
    Matrix3,
    Vector3,
    add,
    apply,
    cross,
    cross_matrix,
    dot,
    product,
    scale,
    transpose,
)
from pymodel.arith.terms import Term, Terms
from pymodel.mechanism.robot import Robot

POWERS = 7  # of the square of the angle


class Joint(NamedTuple):
    """A ball or floating joint, or a floating base: its coordinates and degrees of freedom."""

    coordinates: range
    dofs: range

    @property
    def turns(self) -> range:
        """The degrees of freedom of its turn."""
        return self.dofs[-3:]


def joints(robot: Robot) -> list[Joint]:
    """Name those whose coordinates do not add."""
    found = []
    for link, own in enumerate(robot.coordinates):
        if len(own) > 1:
            first = 0 if link < robot.first else robot.dof(link)
            found.append(Joint(own, range(first, first + len(own) - 1)))
    return found


def moved(
    terms: Terms[Any], robot: Robot, q: Sequence[Term], displacement: Sequence[Term]
) -> list[Term]:
    """Move a configuration (nq) along a displacement (nv)."""
    found = list(q)
    others = set(range(len(displacement))).difference(*(joint.dofs for joint in joints(robot)))
    own = [
        place for place in range(robot.nq) if not any(place in j.coordinates for j in joints(robot))
    ]
    for place, dof in zip(own, sorted(others), strict=True):
        found[place] = q[place] + displacement[dof]
    for joint in joints(robot):
        before, way = (
            [x[k] for k in which]
            for x, which in ((q, joint.coordinates), (displacement, joint.dofs))
        )
        found[joint.coordinates.start : joint.coordinates.stop] = _moved(terms, before, way)
    return found


def _moved(terms: Terms[Any], before: Sequence[Term], way: Sequence[Term]) -> list[Term]:
    """A position, if there is one, and a quaternion."""
    turn, quaternion = way[-3:], before[-4:]
    square = dot(turn, turn)
    after = _normalised(terms, _multiplied(quaternion, _half_turn(terms, turn, square)))
    if len(way) == 3:
        return after
    straight = way[:3]
    b, c = (_series(terms, square, k) for k in (2, 3))
    bent = cross(turn, straight)
    chord = add(straight, scale(b, bent), scale(c, cross(turn, bent)))
    return [*add(before[:3], apply(rotation_matrix(quaternion), chord)), *after]


def _half_turn(terms: Terms[Any], turn: Vector3, square: Term) -> list[Term]:
    """The quaternion (x, y, z, w) of a rotation vector."""
    quarter = square * terms.const(0.25)
    half = terms.const(0.5) * _series(terms, quarter, 1)
    return [*scale(half, turn), _series(terms, quarter, 0)]


def _multiplied(p: Sequence[Term], q: Sequence[Term]) -> list[Term]:
    vector = add(scale(p[3], q[:3]), scale(q[3], p[:3]), cross(p[:3], q[:3]))
    return [*vector, p[3] * q[3] - dot(p[:3], q[:3])]


def _normalised(terms: Terms[Any], q: Sequence[Term]) -> list[Term]:
    """Of a quaternion that has nearly length 1: a step of Newton's to 1 / sqrt, without a root."""
    factor = (terms.const(3.0) - dot(q, q)) * terms.const(0.5)
    return list(scale(factor, q))


def _series(terms: Terms[Any], square: Term, first: int) -> Term:
    """Sum of (-x)^k / (2 k + first)!: cos, sin a / a, (1 - cos a) / a^2, (a - sin a) / a^3."""
    return _polynomial(
        terms, square, [(-1) ** k / math.factorial(2 * k + first) for k in range(POWERS)]
    )


def _slope(terms: Terms[Any], square: Term, first: int) -> Term:
    """Twice the derivative of that series by the square."""
    numbers = [2 * k * (-1) ** k / math.factorial(2 * k + first) for k in range(1, POWERS + 1)]
    return _polynomial(terms, square, numbers)


def _polynomial(terms: Terms[Any], x: Term, numbers: Sequence[float]) -> Term:
    found = terms.const(numbers[-1])
    for number in reversed(numbers[:-1]):
        found = terms.const(number) + x * found
    return found


def changes(terms: Terms[Any], robot: Robot, displacement: Sequence[Term]) -> tuple[Sparse, Sparse]:
    """Derivatives of where :func:`moved` leads to, by where it begins and by the displacement.

    Of joints whose coordinates do not add alone: of others both are 1.

    Returns
    -------
    tuple of Sparse
        (i, k) -> derivative, i and k degrees of freedom of the same joint.
    """
    by_start: Sparse = {}
    by_way: Sparse = {}
    for joint in joints(robot):
        turn = [displacement[k] for k in joint.turns]
        square, W = dot(turn, turn), cross_matrix(turn)
        WW = product(W, W)
        a, b, c = (_series(terms, square, k) for k in (1, 2, 3))
        back = transpose(_combined(terms, (terms.one, None), (a, W), (b, WW)))
        right = _combined(terms, (terms.one, None), (-b, W), (c, WW))
        for found, block in ((by_start, back), (by_way, right)):
            for start in range(joint.dofs.start, joint.dofs.stop, 3):
                found |= _placed(block, start, start)
        if len(joint.dofs) == 6:
            straight = [displacement[k] for k in joint.dofs[:3]]
            across = joint.dofs.start, joint.turns.start
            by_way |= _placed(_corner(terms, turn, straight, square, (b, c), (W, WW)), *across)
            bent = cross(turn, straight)
            chord = add(straight, scale(b, bent), scale(c, cross(turn, bent)))
            lever = product(back, cross_matrix(chord))
            by_start |= _placed([[-x for x in row] for row in lever], *across)
    return by_start, by_way


def _corner(
    terms: Terms[Any],
    turn: Vector3,
    straight: Vector3,
    square: Term,
    series: tuple[Term, Term],
    powers: tuple[Matrix3, Matrix3],
) -> Matrix3:
    """How the right Jacobian 1 - b W + c W^2 changes as the turn does along a straight way.

    That is its upper right part (Barfoot, State Estimation for Robotics, 2017, section 7.1).
    """
    (b, c), (W, WW) = series, powers
    N, along = cross_matrix(straight), dot(turn, straight)
    NW, WN = product(N, W), product(W, N)
    both = [add(x, y) for x, y in zip(NW, WN, strict=True)]
    b_slope, c_slope = (along * _slope(terms, square, k) for k in (2, 3))
    return _combined(terms, (-b, N), (c, both), (-b_slope, W), (c_slope, WW))


def _combined(terms: Terms[Any], *parts: tuple[Term, Matrix3 | None]) -> Matrix3:
    """Sum of multiples of matrices; None is the identity."""
    return [
        [
            terms.total(
                factor * (M[i][j] if M is not None else terms.one if i == j else terms.zero)
                for factor, M in parts
            )
            for j in range(3)
        ]
        for i in range(3)
    ]


def _placed(block: Matrix3, row: int, column: int) -> Sparse:
    return {(row + i, column + j): x for i, some in enumerate(block) for j, x in enumerate(some)}
