"""Small dense linear algebra, part of the algorithm text (generic over its scalars)."""

from collections.abc import Callable, Iterable, Sequence
from typing import overload

import numpy as np

from pymodel.algorithms.sums import tree_sum
from pymodel.arith.scalars import Matrix, S, SupportsArithmetic, SupportsPivoting, Vector


def dot(a: Vector[S], b: Vector[S]) -> S:
    """a0 b0 + a1 b1 of two 2-vectors: the only sum of products that the algorithm needs."""
    return a[0] * b[0] + a[1] * b[1]


def inner(a: Vector[S], b: Vector[S]) -> S:
    """Sum of products of two vectors of any length, by a balanced tree."""
    return tree_sum([x * y for x, y in zip(a, b, strict=True)])


def negative(v: Vector[S]) -> Vector[S]:
    """-v."""
    return tuple(-x for x in v)


@overload
def vector_sum(first: Vector[S], /, *vectors: Vector[S] | None) -> Vector[S]: ...
@overload
def vector_sum(*vectors: Vector[S] | None) -> Vector[S] | None: ...
def vector_sum(*vectors: Vector[S] | None) -> Vector[S] | None:
    """Sum of vectors; None counts as zero."""
    some = [v for v in vectors if v is not None]
    return tuple(map(tree_sum, zip(*some, strict=True))) if some else None


def difference(v: Vector[S], w: Vector[S] | None) -> Vector[S]:
    """v - w; None counts as zero."""
    return v if w is None else tuple(x - y for x, y in zip(v, w, strict=True))


def multiplied(a: Matrix[S], b: Matrix[S]) -> Matrix[S]:
    """A B."""
    columns = transposed(b)
    return tuple(tuple(inner(row, column) for column in columns) for row in a)


def transposed(m: Matrix[S]) -> Matrix[S]:
    """Rows for columns."""
    return tuple(zip(*m, strict=True))


def cross(a: Vector[S], b: Vector[S]) -> S:
    """a x b of two planar vectors."""
    return a[0] * b[1] - a[1] * b[0]


def rotate(cos_sin: Vector[S], v: Vector[S]) -> Vector[S]:
    """A body-frame vector in the ground frame, R(theta) v."""
    c, s = cos_sin
    return c * v[0] - s * v[1], s * v[0] + c * v[1]


def symmetric(n: int, entry: Callable[[int, int], S]) -> Matrix[S]:
    """n x n matrix with ``entry(i, j)`` in its upper triangle, mirrored below."""
    upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}
    return tuple(tuple(upper[min(i, j), max(i, j)] for j in range(n)) for i in range(n))


def block_diagonal(blocks: Sequence[Matrix[S]], zero: S) -> Matrix[S]:
    """The matrix with square blocks on its diagonal."""
    n = sum(map(len, blocks))
    rows, before = [], 0
    for block in blocks:
        after = n - before - len(block)
        rows += [(*(zero,) * before, *row, *(zero,) * after) for row in block]
        before += len(block)
    return tuple(rows)


def adjugate_determinant_2x2(m: Matrix[S]) -> tuple[Matrix[S], S]:
    """Adjugate (2x2) and determinant of a 2x2 matrix."""
    (a, b), (c, d) = m
    return ((d, -b), (-c, a)), a * d - b * c


def condition_2x2(m: Matrix[float], definite: bool = True) -> float | np.ndarray:
    """Condition number of a symmetric 2x2 matrix.

    Infinite if it is singular, or not positive definite where it must be. Entries may be arrays of
    one shape: many matrices at once.
    """
    (a, b), (_, c) = m
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        determinant = a * c - b * b
        trace = a + c
        if not definite:
            determinant, trace = np.abs(determinant), np.abs(trace)
        largest = 0.5 * (trace + np.sqrt((a - c) * (a - c) + 4.0 * b * b))  # eigenvalue
        return np.where(determinant > 0.0, largest * np.divide(largest, determinant), np.inf)[()]


def inv_adjugate_2x2(arithmetic: SupportsArithmetic[S], m: Matrix[S]) -> tuple[Matrix[S], bool]:
    """Inverse of a 2x2 matrix by its adjugate, paper 000 (53).

    Returns
    -------
    inverse : 2x2
    singular : bool
        The determinant is zero or not finite, or an entry of the inverse is not finite.
    """
    adjugate, determinant = adjugate_determinant_2x2(m)
    r = arithmetic.recip(determinant)
    inverse = tuple(tuple(entry * r for entry in row) for row in adjugate)
    entries = (entry for row in inverse for entry in row)
    return inverse, _degenerate(arithmetic, determinant) or not _finite(arithmetic, entries)


def inv_up_to_2x2(arithmetic: SupportsArithmetic[S], m: Matrix[S]) -> tuple[Matrix[S], bool]:
    """Inverse of a matrix of one or two rows, and whether it is singular."""
    if len(m) == 2:
        return inv_adjugate_2x2(arithmetic, m)
    ((x,),) = m
    return ((arithmetic.recip(x),),), _degenerate(arithmetic, x)


def solve_adjugate_2x2(
    arithmetic: SupportsArithmetic[S], m: Matrix[S], b: Vector[S]
) -> tuple[Vector[S], bool]:
    """x with m x = b, for a 2x2 matrix: the adjugate times b, then one reciprocal.

    Returns
    -------
    x : 2
    singular : bool
        The determinant is zero or not finite.
    """
    adjugate, determinant = adjugate_determinant_2x2(m)
    r = arithmetic.recip(determinant)
    x = dot(adjugate[0], b) * r, dot(adjugate[1], b) * r
    return x, _degenerate(arithmetic, determinant)


def solve_ldl(
    arithmetic: SupportsArithmetic[S], a: Matrix[S], b: Vector[S]
) -> tuple[Vector[S], bool]:
    """x with a x = b for a symmetric positive definite matrix, by a = L D L^T without pivoting.

    Reads the lower triangle of ``a`` (n x n). Every pivot is inverted once.

    Returns
    -------
    x : n
    singular : bool
        A pivot is zero or not finite.
    """
    n = len(b)
    rest = [list(row) for row in a]
    lower: list[list[S]] = [[] for _ in range(n)]
    reciprocals, singular = [], False
    for k in range(n):
        singular |= _degenerate(arithmetic, rest[k][k])
        reciprocals.append(arithmetic.recip(rest[k][k]))
        for i in range(k + 1, n):
            lower[i].append(rest[i][k] * reciprocals[k])
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                rest[i][j] = rest[i][j] - lower[i][k] * rest[j][k]
    x = list(b)
    for i in range(n):
        for j in range(i):
            x[i] = x[i] - lower[i][j] * x[j]
    x = [x[i] * reciprocals[i] for i in range(n)]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - lower[j][i] * x[j]
    return tuple(x), singular


def solve_blocks(
    arithmetic: SupportsArithmetic[S], a: Matrix[S], b: Vector[S]
) -> tuple[Vector[S], bool]:
    """x with a x = b for a symmetric positive definite 4x4 matrix, by two 2x2 inverses.

    The first two unknowns are eliminated with the inverse of the leading block.

    Returns
    -------
    x : 4
    singular : bool
        A 2x2 block is singular.
    """
    leading, coupling = (tuple(row[c : c + 2] for row in a[:2]) for c in (0, 2))
    trailing = tuple(row[2:] for row in a[2:])
    inverse, singular = inv_adjugate_2x2(arithmetic, leading)
    # half = leading^-1 coupling; schur = trailing - coupling^T half
    columns = tuple(zip(*coupling, strict=True))
    half = tuple(tuple(dot(row, column) for column in columns) for row in inverse)
    half_columns = tuple(zip(*half, strict=True))
    schur = tuple(
        tuple(trailing[i][j] - dot(columns[i], half_columns[j]) for j in range(2)) for i in range(2)
    )
    first = tuple(dot(row, b[:2]) for row in inverse)
    inverse, singular_too = inv_adjugate_2x2(arithmetic, schur)
    rest = tuple(b[2 + i] - dot(columns[i], first) for i in range(2))
    x_2 = tuple(dot(row, rest) for row in inverse)
    x_1 = tuple(first[i] - dot(half[i], x_2) for i in range(2))
    return (*x_1, *x_2), singular or singular_too


def _degenerate(arithmetic: SupportsArithmetic[S], divisor: S) -> bool:
    return arithmetic.is_zero(divisor) or not arithmetic.is_finite(divisor)


def _finite(arithmetic: SupportsArithmetic[S], values: Iterable[S]) -> bool:
    return all(map(arithmetic.is_finite, values))


def inv_ldup(arithmetic: SupportsPivoting[S], a: Matrix[S]) -> tuple[Matrix[S], bool]:
    """Inverse of an n x n matrix by LDUP factorisation with partial pivoting, paper 000 (60)-(82).

    P A = L D U, A^-1 = U^-1 D^-1 L^-1 P. (74) is read as P A = L A_{n-1}, and the row of
    l-hat in (81) as k instead of k - 1.

    Takes (n-1) n (n+1) multiplications, (n-1)^2 n additions and n reciprocals.

    Parameters
    ----------
    a : n x n

    Returns
    -------
    inverse : n x n
    singular : bool
        A pivot is zero, or an entry of the inverse is not finite.
    """
    n = len(a)
    x = [list(row) for row in a]  # A_k, with the columns of L below its diagonal
    pivots, c = [], []
    singular = False
    for k in range(n):
        pivot = k  # (60)
        for i in range(k + 1, n):
            if arithmetic.larger(x[i][k], x[pivot][k]):
                pivot = i
        x[k], x[pivot] = x[pivot], x[k]  # (61), and the rows of L in (69)
        pivots.append(pivot)
        singular |= arithmetic.is_zero(x[k][k])
        c.append(arithmetic.recip(x[k][k]))  # (62), (75)
        for i in range(k + 1, n):
            x[i][k] = c[k] * x[i][k]  # (66), (69)
            for j in range(k + 1, n):
                x[i][j] = x[i][j] - x[i][k] * x[k][j]  # (68)
    u_transposed = [[c[j] * x[j][i] for j in range(i)] for i in range(n)]  # (77)
    l_hat = _inv_unit_lower(x)
    u_hat_transposed = _inv_unit_lower(u_transposed)  # (79)
    b = [  # (80), each row from its diagonal on
        [c[i]] + [u_hat_transposed[j][i] * c[j] for j in range(i + 1, n)] for i in range(n)
    ]

    def y(i: int, j: int) -> S:  # (81)
        products = [b[i][k - i] * l_hat[k][j] for k in reversed(range(max(i, j + 1), n))]
        return tree_sum(products + [b[i][j - i]] if i <= j else products)

    inverse = [[y(i, j) for j in range(n)] for i in range(n)]
    for k, pivot in reversed(list(enumerate(pivots))):  # (82)
        for row in inverse:
            row[k], row[pivot] = row[pivot], row[k]
    finite = _finite(arithmetic, (entry for row in inverse for entry in row))
    return tuple(map(tuple, inverse)), singular or not finite


def solve_ldup(
    arithmetic: SupportsPivoting[S], a: Matrix[S], b: Vector[S]
) -> tuple[Vector[S], bool]:
    """x = a^-1 b by the inverse of :func:`inv_ldup`, as the paper does it.

    Returns
    -------
    x : n
    singular : bool
        As for the inverse.
    """
    inverse, singular = inv_ldup(arithmetic, a)
    return product(inverse, b), singular


def product(matrix: Matrix[S], vector: Vector[S]) -> Vector[S]:
    """Matrix times vector, each sum by a balanced tree."""
    return tuple(tree_sum([x * y for x, y in zip(row, vector, strict=True)]) for row in matrix)


def _inv_unit_lower(m: Matrix[S]) -> list[dict[int, S]]:
    """(78): inverse of a lower triangular matrix with ones on its diagonal, which are not read."""
    n = len(m)
    hat: list[dict[int, S]] = [{} for _ in range(n)]
    for i in range(n):
        for j in reversed(range(i)):
            products = [hat[i][k] * m[k][j] for k in range(j + 1, i)]
            hat[i][j] = -tree_sum([*products, m[i][j]])
    return hat
