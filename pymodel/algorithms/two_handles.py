"""HDCA assembly and disassembly of two bodies: the text that the RTL in ``rtl/hdca`` mirrors.

Equation numbers are those of paper 000 (Hamiltonian divide-and-conquer on an FPGA). Vectors have
the x and y components first and the rotation last; ``D`` selects the first two. Matrices are
tuples of rows. The symmetric matrices xi_11 and xi_22 of a compound body are computed in their
upper triangle and mirrored; xi_21 is the transpose of xi_12 and never stored.

Each function below is one sub-design of section 4.3; :data:`SUBDESIGNS` names them and the pass
that runs each. Two passes share units as in the paper, where 21 multipliers always belong to its
sub-designs 1, 2 and 11; here the disassembly alone keeps units of its own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pymodel.algorithms.linalg import dot, inv_adjugate_2x2, symmetric
from pymodel.arith.scalars import Matrix, S, Scalar, SupportsArithmetic, Vector


class Coefficients(NamedTuple):
    """Articulated-body coefficients of (11), (12): V_i = xi_i1 T_1 + xi_i2 T_2 + xi_i0."""

    xi_11: Matrix[Scalar]  # 3x3, 1/kg .. 1/(kg m^2)
    xi_12: Matrix[Scalar]  # 3x3
    xi_22: Matrix[Scalar]  # 3x3
    xi_10: Vector[Scalar]  # 3, m/s and rad/s
    xi_20: Vector[Scalar]  # 3


WORDS = 33  # scalars in a body's coefficients


#: What each word is, in the order of the registers.
WORD_NAMES = (
    *(f"xi_{m}[{i}][{j}]" for m in (11, 12, 22) for i in range(3) for j in range(3)),
    *(f"xi_{v}[{i}]" for v in (10, 20) for i in range(3)),
)


def to_words(coefficients: Coefficients) -> list[Scalar]:
    """The 33 scalars in the order of the registers: row by row, xi_11 first."""
    matrices = (entry for m in coefficients[:3] for row in m for entry in row)
    return [*matrices, *coefficients.xi_10, *coefficients.xi_20]


def from_words(words: Sequence[Scalar]) -> Coefficients:
    """The inverse of :func:`to_words`."""
    xi_11, xi_12, xi_22 = (
        tuple(tuple(words[9 * m + 3 * i : 9 * m + 3 * i + 3]) for i in range(3)) for m in range(3)
    )
    return Coefficients(xi_11, xi_12, xi_22, tuple(words[27:30]), tuple(words[30:33]))


class Joint(NamedTuple):
    """What the disassembly needs of the joint that an assembly eliminated."""

    W_A: Matrix[Scalar]  # 2x3
    W_B: Matrix[Scalar]  # 2x3
    beta_hat: Vector[Scalar]  # 2, N s


def joint_inverse(
    arithmetic: SupportsArithmetic[S], xi_22_a: Matrix[S], xi_11_b: Matrix[S]
) -> tuple[Matrix[S], bool]:
    """(33): C = -[D^T (xi_11^B + xi_22^A) D]^-1, and whether the bracket is singular."""
    m = tuple(tuple(xi_11_b[i][j] + xi_22_a[i][j] for j in range(2)) for i in range(2))
    inverse, singular = inv_adjugate_2x2(arithmetic, m)
    return tuple(tuple(-entry for entry in row) for row in inverse), singular


def relative_bias(xi_20_a: Vector[S], xi_10_b: Vector[S]) -> Vector[S]:
    """(34): b = D^T (xi_10^B - xi_20^A)."""
    return tuple(xi_10_b[i] - xi_20_a[i] for i in range(2))


def weight_a(c: Matrix[S], xi_12_a: Matrix[S]) -> Matrix[S]:
    """(35): W^A = C D^T xi_21^A."""
    return tuple(tuple(dot(c[i], xi_12_a[j]) for j in range(3)) for i in range(2))


def weight_b(c: Matrix[S], xi_12_b: Matrix[S]) -> Matrix[S]:
    """(36): W^B = C D^T xi_12^B."""
    return tuple(
        tuple(dot(c[i], (xi_12_b[0][j], xi_12_b[1][j])) for j in range(3)) for i in range(2)
    )


def joint_bias(c: Matrix[S], b: Vector[S]) -> Vector[S]:
    """(37): beta_hat = C b."""
    return dot(c[0], b), dot(c[1], b)


def compound_xi_10(xi_10_a: Vector[S], xi_12_a: Matrix[S], beta_hat: Vector[S]) -> Vector[S]:
    """(31): xi_10^C = xi_10^A - xi_12^A D beta_hat."""
    return tuple(xi_10_a[i] - dot(xi_12_a[i], beta_hat) for i in range(3))


def compound_xi_20(xi_20_b: Vector[S], xi_12_b: Matrix[S], beta_hat: Vector[S]) -> Vector[S]:
    """(32): xi_20^C = xi_20^B + xi_21^B D beta_hat."""
    return tuple(xi_20_b[i] + dot((xi_12_b[0][i], xi_12_b[1][i]), beta_hat) for i in range(3))


def compound_xi_11(xi_11_a: Matrix[S], xi_12_a: Matrix[S], w_a: Matrix[S]) -> Matrix[S]:
    """(27): xi_11^C = xi_11^A + xi_12^A D W^A (symmetric)."""
    return symmetric(3, lambda i, j: xi_11_a[i][j] + dot(xi_12_a[i], (w_a[0][j], w_a[1][j])))


def compound_xi_12(xi_12_a: Matrix[S], w_b: Matrix[S]) -> Matrix[S]:
    """(28): xi_12^C = -xi_12^A D W^B; (29) is its transpose."""
    return tuple(
        tuple(-dot(xi_12_a[i], (w_b[0][j], w_b[1][j])) for j in range(3)) for i in range(3)
    )


def compound_xi_22(xi_22_b: Matrix[S], xi_12_b: Matrix[S], w_b: Matrix[S]) -> Matrix[S]:
    """(30): xi_22^C = xi_22^B + xi_21^B D W^B (symmetric)."""
    return symmetric(
        3, lambda i, j: xi_22_b[i][j] + dot((xi_12_b[0][i], xi_12_b[1][i]), (w_b[0][j], w_b[1][j]))
    )


def disassemble(joint: Joint, t_1c: Vector[S], t_2c: Vector[S]) -> Vector[S]:
    """(45): T_1^B = -T_2^A = D (W^B T_2^C - W^A T_1^C + beta_hat); all impulses as 2-vectors."""
    return tuple(
        (dot(joint.W_B[i], t_2c) - dot(joint.W_A[i], t_1c)) + joint.beta_hat[i] for i in range(2)
    )


def assemble(
    arithmetic: SupportsArithmetic[S], a: Coefficients, b: Coefficients
) -> tuple[Coefficients, Joint, bool]:
    """Assembly phase of two bodies A and B, (27)-(37).

    Parameters
    ----------
    a, b : Coefficients
        Handle 2 of A is joined to handle 1 of B.

    Returns
    -------
    compound : Coefficients
    joint : Joint
    singular : bool
        The matrix in (33) has determinant zero or a non-finite inverse.
    """
    c, singular = joint_inverse(arithmetic, a.xi_22, b.xi_11)
    w_a = weight_a(c, a.xi_12)
    w_b = weight_b(c, b.xi_12)
    beta_hat = joint_bias(c, relative_bias(a.xi_20, b.xi_10))
    compound = Coefficients(
        xi_11=compound_xi_11(a.xi_11, a.xi_12, w_a),
        xi_12=compound_xi_12(a.xi_12, w_b),
        xi_22=compound_xi_22(b.xi_22, b.xi_12, w_b),
        xi_10=compound_xi_10(a.xi_10, a.xi_12, beta_hat),
        xi_20=compound_xi_20(b.xi_20, b.xi_12, beta_hat),
    )
    return compound, Joint(w_a, w_b, beta_hat), singular


#: The eleven sub-designs: name, function, equation, shapes of its operands (None = the
#: arithmetic itself), pass that runs it (0 = units of its own, always connected).
SUBDESIGNS = (
    ("joint_inverse", joint_inverse, 33, (None, (3, 3), (3, 3)), 1),
    ("relative_bias", relative_bias, 34, ((3,), (3,)), 1),
    ("weight_a", weight_a, 35, ((2, 2), (3, 3)), 1),
    ("weight_b", weight_b, 36, ((2, 2), (3, 3)), 1),
    ("joint_bias", joint_bias, 37, ((2, 2), (2,)), 1),
    ("compound_xi_10", compound_xi_10, 31, ((3,), (3, 3), (2,)), 1),
    ("compound_xi_20", compound_xi_20, 32, ((3,), (3, 3), (2,)), 1),
    ("compound_xi_11", compound_xi_11, 27, ((3, 3), (3, 3), (2, 3)), 2),
    ("compound_xi_12", compound_xi_12, 28, ((3, 3), (2, 3)), 2),
    ("compound_xi_22", compound_xi_22, 30, ((3, 3), (3, 3), (2, 3)), 2),
    ("disassemble", disassemble, 45, (Joint, (2,), (2,)), 0),
)
