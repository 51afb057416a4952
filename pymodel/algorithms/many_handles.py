"""Compound bodies with any number of handles: the assembly of trees and loops, joint by joint.

The same elimination as in :mod:`pymodel.algorithms.two_handles`, whose compound bodies have two
handles. Here a joint may be between two compounds, between two handles of one (it closes a loop),
or between a compound and the ground. Only translations at handles enter, D^T xi D and D^T xi_g0, so
all blocks are 2x2 and all impulses 2-vectors. Equation numbers of paper 000 name what an
equation generalises.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.linalg import dot, inv_adjugate_2x2, symmetric
from pymodel.algorithms.sums import tree_sum
from pymodel.algorithms.two_handles import joint_bias, relative_bias
from pymodel.arith.scalars import Matrix, S, SupportsArithmetic, Vector


class Compound(NamedTuple):
    """Coefficients of (11), (12) at all handles: v_g = sum over h of xi_gh t_h, plus xi_g0.

    Handles are sortable keys; xi_hg is the transpose of xi_gh and stored for g <= h only.
    """

    xi: dict  # (g, h) -> D^T xi_gh D, 2x2, 1/kg
    xi_0: dict  # g -> D^T xi_g0, 2-vector, m/s

    def block(self, g: Any, h: Any) -> Matrix | None:
        """xi_gh; None, for zero, across two compounds and for the ground (None)."""
        if g is None or h is None:
            return None
        if g <= h:
            return self.xi.get((g, h))
        transposed = self.xi.get((h, g))
        return transposed and tuple(zip(*transposed, strict=True))


class Elimination(NamedTuple):
    """What the disassembly needs of a joint that was eliminated."""

    matrix: tuple  # 2x2, the bracket in (33), 1/kg
    weights: dict  # h -> W_h, 2x2
    beta_hat: tuple  # 2, N s


def eliminate(
    arithmetic: SupportsArithmetic[S], parts: Sequence[Compound], a: Any, b: Any
) -> tuple[Compound, Elimination, bool]:
    """Connect handle b to handle a, or to the ground if a is None, (27)-(37).

    With G_h = (xi_hb - xi_ha) D: C = -[D^T (G_b - G_a)]^-1, W_h = C G_h^T,
    beta-hat = C D^T (xi_b0 - xi_a0); xi_gh += G_g W_h, xi_g0 += G_g beta-hat.

    Parameters
    ----------
    parts : sequence of Compound
        The compound of each handle; one if both are on the same, or if a is the ground.

    Returns
    -------
    compound : Compound
        Without the two handles.
    elimination : Elimination
    singular : bool
        The matrix has determinant zero or a non-finite inverse.
    """
    whole = Compound(
        {key: block for part in parts for key, block in part.xi.items()},
        {key: bias for part in parts for key, bias in part.xi_0.items()},
    )

    def relative(h: Any) -> Matrix[S] | None:  # G_h; None for the ground
        return _difference(whole.block(h, b), whole.block(h, a))

    matrix = _difference(relative(b), relative(a), mirrored=True)
    inverse, singular = inv_adjugate_2x2(arithmetic, matrix)
    c = tuple(tuple(-entry for entry in row) for row in inverse)
    bias = whole.xi_0[b]
    beta_hat = joint_bias(c, bias if a is None else relative_bias(whole.xi_0[a], bias))
    g = {h: relative(h) for h in whole.xi_0 if h not in (a, b)}
    weights = {h: _matrix(lambda i, j, h=h: dot(c[i], g[h][j])) for h in g}
    xi = {
        (h, k): _updated(whole.block(h, k), g[h], weights[k], mirrored=h == k)
        for h in g
        for k in g
        if h <= k
    }
    xi_0 = {h: tuple(whole.xi_0[h][i] + dot(g[h][i], beta_hat) for i in range(2)) for h in g}
    return Compound(xi, xi_0), Elimination(matrix, weights, beta_hat), singular


def recover(elimination: Elimination, impulses: Mapping[Any, Vector[S]]) -> Vector[S]:
    """(45): t_b = -t_a = sum of W_h t_h over the handles that were left, plus beta-hat.

    Parameters
    ----------
    impulses : dict
        Handle -> t_h, 2-vector, N s, of all of these.
    """
    weights, beta_hat = elimination.weights, elimination.beta_hat

    def component(i: int) -> S:
        if not weights:
            return beta_hat[i]
        return tree_sum([dot(weights[h][i], impulses[h]) for h in weights]) + beta_hat[i]

    return component(0), component(1)


def _matrix(entry: Callable[[int, int], S], mirrored: bool = False) -> Matrix[S]:
    """2x2; if mirrored its lower triangle is not computed but that of a symmetric matrix."""
    if mirrored:
        return symmetric(2, entry)
    return tuple(tuple(entry(i, j) for j in range(2)) for i in range(2))


def _difference(
    x: Matrix[S] | None, y: Matrix[S] | None, mirrored: bool = False
) -> Matrix[S] | None:
    """x - y, of which one may be None, for zero."""
    if y is None:
        return x
    return _matrix(lambda i, j: x[i][j] - y[i][j] if x else -y[i][j], mirrored)


def _updated(x: Matrix[S] | None, g: Matrix[S], w: Matrix[S], mirrored: bool) -> Matrix[S]:
    """x + G W, where x may be None, for zero."""

    def entry(i: int, j: int) -> S:
        product = dot(g[i], (w[0][j], w[1][j]))
        return x[i][j] + product if x else product

    return _matrix(entry, mirrored)
