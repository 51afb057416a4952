"""M x = b by branches."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.branches import Branch, blocks, branches, joined, released
from pymodel.algorithms.rigid_body.mass_matrix import factorised, solved
from pymodel.arith.scalars import Float64
from pymodel.arith.terms import Terms

TREES = {
    "chain": [-1, 0, 1, 2],
    "two of the ground": [-1, 0, -1, 2, 2],
    "fork": [-1, 0, 1, 2, 2, 4, 1, 6],
    "star": [-1, 0, 0, 0],
}


def ancestors_of(parents: list[int]) -> list[list[int]]:
    found = []
    for parent in parents:
        found.append([parent, *found[parent]] if parent >= 0 else [])
    return found


def test_branches_end_where_the_tree_forks():
    assert branches(ancestors_of(TREES["fork"])) == [
        Branch((0, 1), (), (2, 3, 4, 5, 6, 7)),
        Branch((2,), (1, 0), (3, 4, 5)),
        Branch((3,), (2, 1, 0), ()),
        Branch((4, 5), (2, 1, 0), ()),
        Branch((6, 7), (1, 0), ()),
    ]
    assert [x.dofs for x in branches(ancestors_of(TREES["chain"]))] == [(0, 1, 2, 3)]
    assert [x.rows for x in branches(ancestors_of(TREES["two of the ground"]))] == [
        [0, 1],
        [2, 3, 4],
        [2, 3],
        [2, 4],
    ]


@pytest.mark.parametrize("tree", TREES)
def test_solved_by_branches(tree):
    rng, ancestors = np.random.default_rng(5), ancestors_of(TREES[tree])
    n, terms = len(ancestors), Terms(Float64())
    M = {
        (i, j): terms.given(terms.arithmetic.const(float(rng.uniform(-1, 1) + 3 * n * (i == j))))
        for i in range(n)
        for j in (i, *ancestors[i])
    }
    b = [terms.given(terms.arithmetic.const(float(x))) for x in rng.uniform(-1, 1, n)]
    factors = factorised(ancestors, M)
    parts = blocks(branches(ancestors), factors)
    x = joined(parts, released(parts, b))
    expected = solved(ancestors, factors, b)
    found, wanted = ([float(terms.value(y)) for y in some] for some in (x, expected))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    matrix = np.zeros((n, n))
    for (i, j), entry in M.items():
        matrix[i, j] = matrix[j, i] = float(terms.value(entry))
    np.testing.assert_allclose(matrix @ found, [float(terms.value(y)) for y in b], rtol=1e-12)
