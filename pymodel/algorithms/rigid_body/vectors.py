"""Vectors and matrices of three, of :class:`pymodel.arith.terms.Term`.

A vector is a tuple of three, a matrix a tuple of its rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pymodel.arith.terms import Term, total

Vector3 = Sequence[Term]
Matrix3 = Sequence[Sequence[Term]]


def add(*vectors: Vector3) -> Vector3:
    """Sum of vectors."""
    return tuple(total(entries) for entries in zip(*vectors, strict=True))


def scale(s: Term, v: Vector3) -> Vector3:
    """s v."""
    return tuple(s * x for x in v)


def double(v: Vector3) -> Vector3:
    """2 v."""
    return tuple(x + x for x in v)


def dot(a: Vector3, b: Vector3) -> Term:
    """a . b; of vectors of any length."""
    return total(x * y for x, y in zip(a, b, strict=True))


def cross(a: Vector3, b: Vector3) -> Vector3:
    """a x b."""
    return tuple(a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1)))


def z_cross(v: Vector3) -> Vector3:
    """e_z x v, less its zero: how v changes as it turns about the z axis."""
    return -v[1], v[0], v[2].terms.zero


def cross_z(v: Vector3) -> Vector3:
    """v x e_z."""
    return v[1], -v[0], v[2].terms.zero


def transpose(m: Matrix3) -> Matrix3:
    """Rows for columns."""
    return tuple(zip(*m, strict=True))


def column(m: Matrix3, k: int) -> Vector3:
    """Column k."""
    return tuple(row[k] for row in m)


def apply(m: Matrix3, v: Vector3) -> Vector3:
    """M v."""
    return tuple(dot(row, v) for row in m)


def product(a: Matrix3, b: Matrix3) -> Matrix3:
    """A B."""
    return tuple(tuple(dot(row, col) for col in transpose(b)) for row in a)


def outer(a: Vector3, b: Vector3) -> Matrix3:
    """a b^T."""
    return tuple(tuple(x * y for y in b) for x in a)


def sum_of(*matrices: Matrix3) -> Matrix3:
    """Sum of matrices."""
    return tuple(add(*rows) for rows in zip(*matrices, strict=True))


def cross_matrix(v: Vector3) -> Matrix3:
    """[v x], the matrix with [v x] u = v x u."""
    (x, y, z), zero = v, v[0].terms.zero
    return (zero, -z, y), (z, zero, -x), (-y, x, zero)


def trace_minus(m: Matrix3) -> Matrix3:
    """tr(M) 1 - M: the inertia matrix of second moments M."""
    (a, b, c), (d, e, f), (g, h, i) = m
    return (e + i, -b, -c), (-d, a + i, -f), (-g, -h, a + e)


class Wrench(NamedTuple):
    """A moment about a point, and a force."""

    moment: Vector3
    force: Vector3


def sum_of_wrenches(*wrenches: Wrench) -> Wrench:
    """Sum of wrenches about one point."""
    return Wrench(*(add(*vectors) for vectors in zip(*wrenches, strict=True)))
