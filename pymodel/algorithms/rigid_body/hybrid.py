"""Hybrid dynamics: accelerations of some joints are given, torques of the others.

With K the joints that are held to their accelerations and F the free ones,

    M_FF qdd_F = tau_F - h_F - M_FK qdd_K,    tau_K = h_K + M_KK qdd_K + M_KF qdd_F.
"""

from __future__ import annotations

from collections.abc import Sequence

from pymodel.algorithms.rigid_body.coupling import Sparse
from pymodel.algorithms.rigid_body.mass_matrix import factorised, solved
from pymodel.algorithms.rigid_body.tree import Tree
from pymodel.arith.terms import Term


class FreePart:
    """The mass matrix's part of the joints that move freely, and its rows of the others.

    Parameters
    ----------
    tree : Tree
    held : sequence of int
        Degrees of freedom.
    matrix : dict
        Of all degrees of freedom.
    """

    def __init__(self, tree: Tree, held: Sequence[int], matrix: Sparse) -> None:
        self.own = [k for k in range(tree.coupling.nv) if k not in held]
        self._matrix, places = matrix, {k: i for i, k in enumerate(self.own)}
        # Fill stays on the ways to the base, of which some joints are left out.
        self._ancestors = [
            [places[a] for a in tree.coupling.ancestors[k] if a in places] for k in self.own
        ]
        entries = {
            (i, a): matrix.get((k, self.own[a]), matrix.get((self.own[a], k), tree.zero))
            for i, k in enumerate(self.own)
            for a in (i, *self._ancestors[i])
        }
        self._factors = factorised(self._ancestors, entries)

    def solve(self, b: list[Term]) -> list[Term]:
        """Accelerations of the free joints by torques on them."""
        return solved(self._ancestors, self._factors, b)

    def felt(self, k: int, qdd_free: Sequence[Term]) -> list[Term]:
        """Summands of the torque of a held joint by accelerations of the free ones."""
        pairs = ((self._matrix.get((k, i), self._matrix.get((i, k))), i) for i in self.own)
        return [
            x * a
            for (x, _), a in zip(pairs, qdd_free, strict=True)
            if x is not None and not x.is_zero
        ]
