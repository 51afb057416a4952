"""Compound bodies with any number of handles: the assembly of trees and loops, joint by joint.

The same elimination as in :mod:`pymodel.algorithms.two_handles`, whose compound bodies have two
handles. Here a joint may be between two compounds, between two handles of one (it closes a loop),
or between a compound and the ground. Only what the joints take enters: D_g^T xi_gh D_h and
D_g^T xi_g0, with the constraints D_g of the joint at handle g. So blocks have as many rows and
columns as these joints have constraints, 2 of a pin, and impulses as many components. Equation
numbers of paper 000 name what an equation generalises.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pymodel.algorithms.linalg import inner, inv_symmetric, symmetric, transposed
from pymodel.algorithms.sums import tree_sum
from pymodel.arith.scalars import Matrix, S, SupportsArithmetic, Vector


class Compound(NamedTuple):
    """Coefficients of (11), (12) at all handles: v_g = sum over h of xi_gh t_h, plus xi_g0.

    Handles are sortable keys; xi_hg is the transpose of xi_gh and stored for g <= h only.
    """

    xi: dict  # (g, h) -> D_g^T xi_gh D_h, 1/kg of translations
    xi_0: dict  # g -> D_g^T xi_g0, m/s

    def block(self, g: Any, h: Any) -> Matrix | None:
        """xi_gh; None, for zero, across two compounds and for the ground (None)."""
        if g is None or h is None:
            return None
        if g <= h:
            return self.xi.get((g, h))
        mirrored = self.xi.get((h, g))
        return mirrored and transposed(mirrored)


class Elimination(NamedTuple):
    """What the disassembly needs of a joint that was eliminated."""

    matrix: tuple  # c x c of a joint with c constraints, the bracket in (33)
    weights: dict  # h -> W_h, c rows
    beta_hat: tuple  # c


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
    inverse, singular = inv_symmetric(arithmetic, matrix)
    c = tuple(tuple(-entry for entry in row) for row in inverse)
    bias = whole.xi_0[b]
    if a is not None:
        bias = tuple(x - y for x, y in zip(bias, whole.xi_0[a], strict=True))
    beta_hat = tuple(inner(row, bias) for row in c)
    g = {h: relative(h) for h in whole.xi_0 if h not in (a, b)}
    weights = {h: tuple(tuple(inner(row, entries) for entries in g[h]) for row in c) for h in g}
    xi = {
        (h, k): _updated(whole.block(h, k), g[h], transposed(weights[k]), mirrored=h == k)
        for h in g
        for k in g
        if h <= k
    }
    xi_0 = {
        h: tuple(x + inner(row, beta_hat) for x, row in zip(whole.xi_0[h], g[h], strict=True))
        for h in g
    }
    return Compound(xi, xi_0), Elimination(matrix, weights, beta_hat), singular


def recover(elimination: Elimination, impulses: Mapping[Any, Vector[S]]) -> Vector[S]:
    """(45): t_b = -t_a = sum of W_h t_h over the handles that were left, plus beta-hat.

    Parameters
    ----------
    impulses : dict
        Handle -> t_h, of all of these.
    """
    weights, beta_hat = elimination.weights, elimination.beta_hat

    def component(i: int) -> S:
        if not weights:
            return beta_hat[i]
        return tree_sum([inner(weights[h][i], impulses[h]) for h in weights]) + beta_hat[i]

    return tuple(component(i) for i in range(len(beta_hat)))


def _matrix(rows: int, columns: int, entry: Callable[[int, int], S], mirrored: bool) -> Matrix[S]:
    """If mirrored its lower triangle is not computed but that of a symmetric matrix."""
    if mirrored:
        return symmetric(rows, entry)
    return tuple(tuple(entry(i, j) for j in range(columns)) for i in range(rows))


def _difference(
    x: Matrix[S] | None, y: Matrix[S] | None, mirrored: bool = False
) -> Matrix[S] | None:
    """x - y, of which one may be None, for zero."""
    if y is None:
        return x

    def entry(i: int, j: int) -> S:
        return x[i][j] - y[i][j] if x else -y[i][j]

    return _matrix(len(y), len(y[0]), entry, mirrored)


def _updated(x: Matrix[S] | None, g: Matrix[S], columns: Matrix[S], mirrored: bool) -> Matrix[S]:
    """x + G W of the columns of W, where x may be None, for zero."""

    def entry(i: int, j: int) -> S:
        product = inner(g[i], columns[j])
        return x[i][j] + product if x else product

    return _matrix(len(g), len(columns), entry, mirrored)
