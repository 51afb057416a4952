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

from pymodel.algorithms.linalg import inner, inv_up_to_2x2, symmetric, transposed
from pymodel.algorithms.sums import tree_sum
from pymodel.arith.scalars import Matrix, S, Scalar, SupportsArithmetic, Vector


class Compound(NamedTuple):
    """Coefficients of (11), (12) at all handles: v_g = sum over h of xi_gh t_h, plus xi_g0.

    Handles are sortable keys; xi_hg is the transpose of xi_gh and stored for g <= h only.
    """

    xi: Mapping[tuple[Any, Any], Matrix[Scalar] | None]  # (g, h) -> D_g^T xi_gh D_h; 1/kg of moves
    xi_0: Mapping[Any, Vector[Scalar]]  # g -> D_g^T xi_g0, m/s

    def block(self, g: Any, h: Any) -> Matrix[Scalar] | None:
        """xi_gh; None, for zero, across two compounds and for the ground (None)."""
        if g is None or h is None:
            return None
        if g <= h:
            return self.xi.get((g, h))
        mirrored = self.xi.get((h, g))
        return mirrored and transposed(mirrored)


class Elimination(NamedTuple):
    """What the disassembly needs of a joint that was eliminated, two constraints at a time."""

    matrix: Matrix[Scalar]  # c x c of a joint with c constraints, the bracket in (33)
    weights: Mapping[Any, Matrix[Scalar]]  # h -> W_h, a row for each of the first two constraints
    beta_hat: Vector[Scalar]  # of these
    own: Matrix[Scalar] = ()  # W of the joint's other constraints, likewise
    others: "Elimination | None" = None  # these


def eliminate(
    arithmetic: SupportsArithmetic[S], parts: Sequence[Compound], a: Any, b: Any
) -> tuple[Compound, Elimination, bool]:
    """Connect handle b to handle a, or to the ground if a is None, (27)-(37).

    With G_h = (xi_hb - xi_ha) D: C = -[D^T (G_b - G_a)]^-1, W_h = C G_h^T,
    beta-hat = C D^T (xi_b0 - xi_a0); xi_gh += G_g W_h, xi_g0 += G_g beta-hat.

    Two constraints at a time, all others being like handles that are left: so only 2x2 inverses
    occur, and no product waits for the last one.

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

    def relative(h: Any) -> Any:  # G_h; None for the ground
        return _difference(whole.block(h, b), whole.block(h, a))

    matrix: Any = _difference(relative(b), relative(a), mirrored=True)

    def bias() -> Vector[S]:
        own = whole.xi_0[b]
        return own if a is None else tuple(x - y for x, y in zip(own, whole.xi_0[a], strict=True))

    handles = [h for h in whole.xi_0 if h not in (a, b)]
    left = Compound(
        {(h, k): whole.block(h, k) for h in handles for k in handles if h <= k},
        {h: whole.xi_0[h] for h in handles},
    )
    return _without(arithmetic, left, matrix, relative, bias)


def _without(
    arithmetic: SupportsArithmetic[S],
    left: Compound,
    matrix: Matrix[S],
    relative: Callable[[Any], Matrix[S]],
    bias: Callable[[], Vector[S]],
) -> tuple[Compound, Elimination, bool]:
    """The handles that are left, without constraints: ``matrix`` is D^T (G_b - G_a).

    ``relative`` gives G_h and ``bias`` D^T (xi_b0 - xi_a0), once each: operations keep their order.
    """
    first, others = slice(0, 2), slice(2, None)
    inverse, singular = inv_up_to_2x2(arithmetic, _part(matrix, first, first))
    c = tuple(tuple(-entry for entry in row) for row in inverse)
    violation = bias()
    beta_hat = tuple(inner(row, violation[first]) for row in c)
    g = {h: relative(h) for h in left.xi_0}
    now = {h: _part(block, slice(None), first) for h, block in g.items()}
    weights = {h: tuple(tuple(inner(row, x) for x in now[h]) for row in c) for h in g}
    columns = {h: transposed(weights[h]) for h in g}
    xi = {
        (h, k): _updated(block, now[h], columns[k], mirrored=h == k)
        for (h, k), block in left.xi.items()
    }
    xi_0 = {h: _biased(left.xi_0[h], now[h], beta_hat) for h in g}
    left = Compound(xi, xi_0)
    if len(matrix) <= 2:
        return left, Elimination(matrix, weights, beta_hat), singular
    coupling = _part(matrix, others, first)
    own = tuple(tuple(inner(row, x) for x in coupling) for row in c)
    own_columns = transposed(own)
    later = {
        h: _updated(_part(block, slice(None), others), now[h], own_columns, mirrored=False)
        for h, block in g.items()
    }
    complement = _updated(_part(matrix, others, others), coupling, own_columns, mirrored=True)
    remaining = _biased(violation[others], coupling, beta_hat)
    left, rest, singular_too = _without(
        arithmetic, left, complement, later.__getitem__, lambda: remaining
    )
    return left, Elimination(matrix, weights, beta_hat, own, rest), singular or singular_too


def recover(elimination: Elimination, impulses: Mapping[Any, Vector[S]]) -> Vector[S]:
    """(45): t_b = -t_a = sum of W_h t_h over the handles that were left, plus beta-hat.

    Parameters
    ----------
    impulses : dict
        Handle -> t_h, of all of these.
    """
    weights, beta_hat = elimination.weights, elimination.beta_hat
    others = recover(elimination.others, impulses) if elimination.others else ()

    def component(i: int) -> S:
        found = beta_hat[i]
        if weights:
            found = tree_sum([inner(weights[h][i], impulses[h]) for h in weights]) + found
        return found + inner(elimination.own[i], others) if others else found

    return (*(component(i) for i in range(len(beta_hat))), *others)


def _part(m: Matrix[S], rows: slice, columns: slice) -> Matrix[S]:
    return tuple(row[columns] for row in m[rows])


def _biased(x: Vector[S], g: Matrix[S], beta_hat: Vector[S]) -> Vector[S]:
    """x + G beta-hat."""
    return tuple(x_0 + inner(row, beta_hat) for x_0, row in zip(x, g, strict=True))


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
