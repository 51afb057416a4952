"""The mass matrix by composite bodies, its factors L^T D L, and its inverse (paper 002, M, Minv).

The matrix is sparse where joints are on different branches; the factors have its zeros, as the
elimination goes from the leaves to the base. A matrix is a dict (row, column) -> Term of what is
not zero: of a symmetric one the lower triangle, of L what stands below its diagonal of ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pymodel.algorithms.rigid_body.coupling import Coupling, Sparse
from pymodel.algorithms.rigid_body.tree import Inertia, Tree
from pymodel.algorithms.rigid_body.vectors import (
    Vector3,
    Wrench,
    add,
    cross_matrix,
    cross_z,
    outer,
    scale,
    sum_of,
    sum_of_wrenches,
    trace_minus,
    transpose,
    z_cross,
)
from pymodel.arith.terms import Term, total


class Factors(NamedTuple):
    """M = L^T D L.

    Attributes
    ----------
    L : Sparse
        (k, i), where i is an ancestor of k.
    d : list of Term
        Reciprocals of D's diagonal.
    """

    L: Sparse
    d: list[Term]


def with_carried(tree: Tree, i: int, carrier: Inertia, inertia: Inertia) -> tuple[Inertia, Vector3]:
    """Add to the inertia of link i's parent that of what moves with link i.

    Returns
    -------
    Inertia
    Vector3
        The first moment of what moves with link i about the parent's origin.
    """
    arm = tree.arm[i]
    first = tree.up(i, inertia.first)
    by_arm, mass_arm = outer(first, arm), scale(inertia.mass, arm)
    second = sum_of(
        carrier.second,
        tree.up_matrix(i, inertia.second),
        by_arm,
        transpose(by_arm),
        outer(mass_arm, arm),
    )
    whole = Inertia(second, add(carrier.first, first, mass_arm), carrier.mass + inertia.mass)
    return whole, add(first, mass_arm)


def composites(tree: Tree) -> list[Inertia]:
    """Inertia of each link with all that it carries, about its origin."""
    found = list(tree.inertia)
    for i in reversed(tree.joints):
        if not tree.on_ground(i):
            parent = tree.parent[i]
            found[parent], _ = with_carried(tree, i, found[parent], found[i])
    return found


def unit_wrench(tree: Tree, i: int, inertia: Inertia) -> Wrench:
    """The wrench that accelerates what moves with link i by a joint acceleration of 1."""
    if tree.slides[i]:
        zero = tree.zero
        return Wrench(cross_z(inertia.first), (zero, zero, inertia.mass))
    moment = tuple(row[2] for row in trace_minus(inertia.second))
    turning, pitch = Wrench(moment, z_cross(inertia.first)), tree.pitch[i]
    if pitch is None:
        return turning
    zero = tree.zero
    sliding = Wrench(scale(pitch, cross_z(inertia.first)), (zero, zero, pitch * inertia.mass))
    return sum_of_wrenches(turning, sliding)


def mass_matrix(tree: Tree) -> Sparse:
    """M by composite bodies: columns of wrenches climb to the base."""
    found: Sparse = {}
    bodies = composites(tree)
    for j in tree.joints:
        wrench, i = unit_wrench(tree, j, bodies[j]), j
        set_diagonal(tree, found, j, wrench)
        while not tree.on_ground(i):
            wrench, i = tree.wrench_to_parent(i, wrench), tree.parent[i]
            set_column(tree, found, j, i, wrench)
            if i not in tree.joints:
                break
    if tree.robot.floating:
        found |= base_mass_matrix(bodies[0])
    return found


def set_diagonal(tree: Tree, matrix: Sparse, j: int, wrench: Wrench) -> None:
    """Enter joint j's own inertia, that of its drive included."""
    matrix[tree.dof[j], tree.dof[j]] = tree.along(j, wrench) + tree.armature[j]


def set_column(tree: Tree, matrix: Sparse, j: int, ancestor: int, wrench: Wrench) -> None:
    """Enter what joint j's wrench does at an ancestor: a joint's one entry, or the base's six."""
    row = tree.dof[j]
    if ancestor in tree.joints:
        matrix[row, tree.dof[ancestor]] = tree.along(ancestor, wrench)
    else:
        matrix.update(((row, k), x) for k, x in enumerate((*wrench.force, *wrench.moment)))


def base_mass_matrix(whole: Inertia) -> Sparse:
    """The floating base's own 6x6 block."""
    zero, found = whole.mass.terms.zero, {}
    inertia, coupling = trace_minus(whole.second), cross_matrix(whole.first)
    for k in range(3):
        for i in range(3):
            found[3 + k, i] = coupling[k][i]
            if i <= k:
                found[k, i] = whole.mass if i == k else zero
                found[3 + k, 3 + i] = inertia[k][i]
    return found


# --- factors --------------------------------------------------------------------------------------


def factorised(ancestors: Sequence[Sequence[int]], matrix: Sparse) -> Factors:
    """L and D of M = L^T D L (Featherstone, Rigid Body Dynamics Algorithms, table 6.3).

    Parameters
    ----------
    ancestors : sequence
        Of each row those that it hangs on, nearest first: the others' entries are zero.
    matrix : Sparse
        M's lower triangle.
    """
    entries = defaultdict(list, {place: [x] for place, x in matrix.items()})
    L: Sparse = {}
    d: dict[int, Term] = {}
    for k in reversed(range(len(ancestors))):
        above = ancestors[k]
        row = {i: total(entries[k, i]) for i in (k, *above)}
        d[k] = row[k].terms.recip(row[k])
        for i in above:
            L[k, i] = row[i] * d[k]
        for i in above:
            for j in (i, *ancestors[i]):
                entries[i, j].append(-(L[k, i] * row[j]))
    return Factors(L, [d[k] for k in range(len(ancestors))])


def solved(ancestors: Sequence[Sequence[int]], factors: Factors, b: Sequence[Term]) -> list[Term]:
    """x of M x = b, by substitution."""
    return rest_solved(ancestors, factors, half_solved(ancestors, factors.L, b))


def half_solved(ancestors: Sequence[Sequence[int]], L: Sparse, b: Sequence[Term]) -> list[Term]:
    """y of L^T y = b."""
    gathered, y = [[value] for value in b], list(b)
    for k in reversed(range(len(b))):
        y[k] = total(gathered[k])
        for i in ancestors[k]:
            gathered[i].append(-(L[k, i] * y[k]))
    return y


def rest_solved(
    ancestors: Sequence[Sequence[int]], factors: Factors, y: Sequence[Term]
) -> list[Term]:
    """x of D L x = y."""
    (L, d), x = factors, list(y)
    for k in range(len(y)):
        x[k] = total([y[k] * d[k], *(-(L[k, i] * x[i]) for i in ancestors[k])])
    return x


def inverse_of_L(coupling: Coupling, L: Sparse) -> Sparse:
    """W = L^-1, with its diagonal of ones."""
    W: Sparse = {}
    for k in range(coupling.nv):
        above = coupling.ancestors[k]
        for c in above:
            W[k, c] = total(
                -(L[k, i] * W[i, c]) for i in above if i == c or c in coupling.ancestors[i]
            )
        W[k, k] = coupling.terms.one
    return W


def solved_by_inverse(
    coupling: Coupling, W: Sparse, d: Sequence[Term], b: Sequence[Term]
) -> list[Term]:
    """x of M x = b as W D^-1 W^T b: shorter paths than by substitution."""
    return from_gathered(coupling.ancestors, W, d, gathered(coupling.ancestors, W, b))


def gathered(ancestors: Sequence[Sequence[int]], W: Sparse, b: Sequence[Term]) -> Iterator[Term]:
    """W^T b, entry by entry: what each degree of freedom feels of b."""
    found: list[list[Term]] = [[] for _ in b]
    for i, x in enumerate(b):
        for k in (i, *ancestors[i]):
            found[k].append(W[i, k] * x)
    return map(total, found)


def from_gathered(
    ancestors: Sequence[Sequence[int]], W: Sparse, d: Sequence[Term], y: Iterable[Term]
) -> list[Term]:
    """x of M x = b from y = W^T b."""
    z = [x * r for x, r in zip(y, d, strict=True)]
    return [total(W[i, k] * z[k] for k in (i, *above)) for i, above in enumerate(ancestors)]


def inverse(coupling: Coupling, factors: Factors) -> Sparse:
    """M^-1 = W D^-1 W^T, both triangles."""
    W = inverse_of_L(coupling, factors.L)
    scaled = {(i, k): x * factors.d[k] for (i, k), x in W.items()}
    found = {}
    for i in range(coupling.nv):
        mine = {i, *coupling.ancestors[i]}
        for j in range(i + 1):
            shared = [k for k in (j, *coupling.ancestors[j]) if k in mine]
            found[i, j] = found[j, i] = coupling.terms.total(W[i, k] * scaled[j, k] for k in shared)
    return found


def multiplied(coupling: Coupling, matrix: Sparse, b: Sequence[Term]) -> list[Term]:
    """X b, for a full matrix."""
    return [total(matrix[i, j] * b[j] for j in range(coupling.nv)) for i in range(coupling.nv)]
