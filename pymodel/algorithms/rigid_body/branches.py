"""M x = b by branches: the equations of each unbranched part of the tree at once.

The degrees of freedom on a part of the tree without a fork make a *branch*, with those that carry
it *above* and those that it carries below. L of M = L^T D L has a block on the branch and one below
those above: with it the branch's own block is M_b = L_b^T D_b L_b once all below is eliminated, and
G = L_b^-1 L_ba is how it follows what carries it. From the tips to the root

    b_a -= G^T b_b,  u_b = M_b^-1 b_b,

and from the root to the tips x_b = u_b - G x_a. The response to a b that is zero but on one branch
costs little: another branch only follows what both have above.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pymodel.algorithms.rigid_body.coupling import Sparse
from pymodel.algorithms.rigid_body.mass_matrix import Factors, solved
from pymodel.arith.terms import Term, total


class Branch(NamedTuple):
    """An unbranched part of the tree.

    Attributes
    ----------
    dofs : tuple of int
        Its degrees of freedom, from the root on.
    above, below : tuple of int
        Those that carry it, nearest first, and those that it carries.
    """

    dofs: tuple[int, ...]
    above: tuple[int, ...]
    below: tuple[int, ...]

    @property
    def rows(self) -> list[int]:
        """Where a torque's derivative by its motion is not zero."""
        return sorted((*self.above, *self.dofs, *self.below))


def branches(ancestors: Sequence[Sequence[int]]) -> list[Branch]:
    """Find the branches of a tree; what carries others stands in front of them.

    Parameters
    ----------
    ancestors : sequence
        Of each degree of freedom those that it hangs on, nearest first.
    """
    carried = [
        [k for k, above in enumerate(ancestors) if i in above] for i in range(len(ancestors))
    ]
    nearest = [above[0] if above else None for above in ancestors]
    found: dict[int, list[int]] = {}  # last degree of freedom -> those of the branch
    for k, parent in enumerate(nearest):
        follows = parent is not None and parent in found and nearest.count(parent) == 1
        found[k] = [*(found.pop(parent) if parent is not None and follows else ()), k]
    parts = sorted(found.values())
    return [Branch(tuple(x), tuple(ancestors[x[0]]), tuple(carried[x[-1]])) for x in parts]


class Block(NamedTuple):
    """What is known of a branch before any b.

    Attributes
    ----------
    branch : Branch
    factors : Factors
        Of the branch's own block: rows and columns count within it.
    G : Sparse
        (degree of freedom, one of those above).
    """

    branch: Branch
    factors: Factors
    G: Sparse


def blocks(parts: Sequence[Branch], factors: Factors) -> list[Block]:
    """Eliminate: the blocks of branches, from the factors of M."""
    L, d = factors
    found = []
    for branch in parts:
        dofs = branch.dofs
        G: dict[tuple[int, int], Term] = {}
        own = {(i, j): L[dofs[i], dofs[j]] for i in range(len(dofs)) for j in range(i)}
        for i, k in enumerate(dofs):
            for c in branch.above:
                followed = (-(own[i, j] * G[dofs[j], c]) for j in range(i))
                G[k, c] = total([L[k, c], *followed])
        found.append(Block(branch, Factors(own, [d[k] for k in dofs]), G))
    return found


def released(parts: Sequence[Block], b: Sequence[Term]) -> list[Term]:
    """u: what each branch does as if nothing moved that carries it."""
    gathered, u = [[x] for x in b], list(b)
    for (dofs, above, _), factors, G in reversed(parts):
        own = [total(gathered[k]) for k in dofs]
        for c in above:
            gathered[c] += [-(G[k, c] * x) for k, x in zip(dofs, own, strict=True)]
        chain = [range(i - 1, -1, -1) for i in range(len(dofs))]
        for k, x in zip(dofs, solved(chain, factors, own), strict=True):
            u[k] = x
    return u


def joined(parts: Sequence[Block], u: Sequence[Term]) -> list[Term]:
    """x from u: every branch follows what carries it."""
    x = list(u)
    for (dofs, above, _), _, G in parts:
        for k in dofs:
            x[k] = total([u[k], *(-(G[k, c] * x[c]) for c in above)])
    return x
