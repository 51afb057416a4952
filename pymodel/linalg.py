"""Small dense linear algebra, part of the algorithm text (generic over its scalars)."""

import math


def dot(a, b):
    """a0 b0 + a1 b1 of two 2-vectors: the only sum of products that the algorithm needs."""
    return a[0] * b[0] + a[1] * b[1]


def adjugate_determinant_2x2(m):
    """Adjugate (2x2) and determinant of a 2x2 matrix."""
    (a, b), (c, d) = m
    return ((d, -b), (-c, a)), a * d - b * c


def inv_adjugate_2x2(arithmetic, m):
    """Inverse of a 2x2 matrix by its adjugate, paper 000 (53).

    Returns
    -------
    inverse : 2x2
    singular : bool
        The determinant is zero, or an entry of the inverse is not finite.
    """
    adjugate, determinant = adjugate_determinant_2x2(m)
    r = arithmetic.recip(determinant)
    inverse = tuple(tuple(entry * r for entry in row) for row in adjugate)
    finite = all(math.isfinite(arithmetic.to_float(entry)) for row in inverse for entry in row)
    return inverse, arithmetic.to_float(determinant) == 0.0 or not finite


def solve_2x2(arithmetic, m, b):
    """x with m x = b, for a 2x2 matrix: the adjugate times b, then one reciprocal."""
    adjugate, determinant = adjugate_determinant_2x2(m)
    r = arithmetic.recip(determinant)
    return dot(adjugate[0], b) * r, dot(adjugate[1], b) * r


def prefix_sums(values):
    """Inclusive prefix sums of scalars in logarithmic depth (Sklansky's scan)."""
    if len(values) == 1:
        return list(values)
    half = (len(values) + 1) // 2
    left, right = prefix_sums(values[:half]), prefix_sums(values[half:])
    return left + [left[-1] + value for value in right]
