"""Inversion by LDUP factorisation: accuracy, pivoting, singular matrices, operation counts."""

import math

import numpy as np
import pytest

from pymodel.algorithms.linalg import inv_ldup
from pymodel.algorithms.sums import tree_sum
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.count import Unpivoted
from pymodel.compile.graph import flatten, symbols

SIZES = range(2, 9)
EPSILON = {"float64": 2.0**-53, "float32": 2.0**-24}  # unit roundoff
every_size = pytest.mark.parametrize("n", SIZES)


def invert(arithmetic, matrix):
    """Inverse as a numpy array of float64, and the singular status."""
    rows = tuple(tuple(map(arithmetic.const, row)) for row in np.asarray(matrix, dtype=float))
    inverse, singular = inv_ldup(arithmetic, rows)
    return np.array([[arithmetic.to_float(x) for x in row] for row in inverse]), singular


def random_matrix(kind, n, rng):
    m = rng.normal(size=(n, n))
    if kind == "spd":
        m = m @ m.T + 0.1 * np.eye(n)
    elif kind == "permuted":
        m = (np.triu(m) + 3 * np.eye(n))[rng.permutation(n)]
    elif kind == "scaled":
        m *= 10.0 ** rng.integers(-6, 7, size=(n, 1))
    elif kind == "nearly singular":
        m[-1] = m[0] + 1e-3 * m[-1]
    return m


def check(arithmetic, m):
    """Forward error of the inverse against the condition number."""
    n = len(m)
    inverse, singular = invert(arithmetic, m)
    assert not singular
    exact = np.linalg.inv(m)
    bound = 8 * n**2 * np.linalg.cond(m) * (EPSILON[arithmetic.name] + EPSILON["float64"])
    assert np.linalg.norm(inverse - exact, 2) <= bound * np.linalg.norm(exact, 2)


@every_size
@pytest.mark.parametrize("name", EPSILON)
@pytest.mark.parametrize("kind", ["general", "spd", "permuted", "scaled", "nearly singular"])
def test_accuracy(kind, name, n):
    rng = np.random.default_rng([n, *kind.encode()])
    for _ in range(30 if name == "float64" else 5):
        m = random_matrix(kind, n, rng)
        check(Float64() if name == "float64" else BitExact(BINARY32), m)


@every_size
def test_residual_of_the_hilbert_matrix(n):
    """Condition numbers up to 1e10: the right residual stays small."""
    i = np.arange(n)
    m = 1.0 / (1 + i[:, None] + i[None, :])
    inverse, singular = invert(Float64(), m)
    assert not singular
    limit = 8 * n**2 * EPSILON["float64"] * np.linalg.norm(m, 2) * np.linalg.norm(inverse, 2)
    assert np.linalg.norm(inverse @ m - np.eye(n), 2) <= limit


@every_size
@pytest.mark.parametrize("arithmetic", [Float64(), BitExact(BINARY32), BitExact(Format(5, 10))])
def test_permutations_are_exact(arithmetic, n):
    """Every pivot elsewhere: the inverse of a permutation matrix with powers of 2 is exact."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        m = np.diag(2.0 ** rng.integers(-4, 5, size=n))[rng.permutation(n)]
        m *= rng.choice([-1.0, 1.0], size=(n, 1))
        inverse, singular = invert(arithmetic, m)
        assert not singular
        assert (inverse == np.linalg.inv(m)).all()


def test_pivoting_is_partial():
    """Without an exchange of rows the first entry would ruin the result."""
    inverse, _ = invert(BitExact(BINARY32), [[1e-10, 1.0], [1.0, 1.0]])
    assert inverse == pytest.approx(np.array([[-1.0, 1.0], [1.0, 0.0]]), abs=1e-6)


@pytest.mark.parametrize("arithmetic", [Float64(), BitExact(BINARY32)])
def test_the_first_of_equal_pivots_stays(arithmetic):
    """Only rows that are larger are exchanged, whatever their sign."""
    asked = []

    class Spy(type(arithmetic)):
        def larger(self, x, y):
            result = super().larger(x, y)
            asked.append((self.to_float(x), self.to_float(y), result))
            return result

    inv_ldup(spy := Spy(), tuple(tuple(map(spy.const, row)) for row in ((2, 1), (-2, 1))))
    assert asked == [(-2.0, 2.0, False)]


def test_magnitudes_of_bits():
    arithmetic = BitExact(BINARY32)
    ascending = [0, 1, BINARY32.min_normal, BINARY32.one, BINARY32.inf, BINARY32.canonical_nan]
    for i, x in enumerate(ascending):
        for j, y in enumerate(ascending):
            for sign in (0, BINARY32.sign_mask):
                scalars = arithmetic.scalar(x | sign), arithmetic.scalar(y)
                assert arithmetic.larger(*scalars) == (i > j)
    assert Float64().larger(-3.0, 2.0) and not Float64().larger(2.0, -2.0)


@every_size
@pytest.mark.parametrize("arithmetic", [Float64(), BitExact(BINARY32), BitExact(Format(5, 10))])
def test_singular(arithmetic, n):
    """Zero, a zero row, a zero column, equal rows, a NaN, an infinity, an inverse that overflows:
    reported, with nothing raised."""
    regular = 2 * np.eye(n) + np.ones((n, n))
    cases = [np.zeros((n, n)), np.ones((n, n))]
    for value in (0.0, math.nan, math.inf):
        for place in (np.s_[n - 1, :], np.s_[:, n - 1], np.s_[0, :], np.s_[:, 0]):
            cases.append(regular.copy())
            cases[-1][place] = value
    cases.append(np.diag([1.0] * (n - 1) + [2.0**-1074]))
    assert not invert(arithmetic, regular)[1]
    for m in cases:
        assert invert(arithmetic, m)[1], m


def test_a_subnormal_pivot_counts_as_zero():
    arithmetic = BitExact(BINARY32)
    rows = [[arithmetic.scalar(bits) for bits in row] for row in ((1, 0), (0, BINARY32.one))]
    assert inv_ldup(arithmetic, rows)[1]


@every_size
def test_operations(n):
    """000 (86)-(92)."""
    graph = Unpivoted(fold=False)
    inverse, singular = inv_ldup(graph, symbols(graph, "a", (n, n)))
    assert not singular
    expected = {"mul": (n - 1) * n * (n + 1), "add": (n - 1) ** 2 * n, "rec": n, "sincos": 0}
    assert graph.count(flatten(inverse)) == expected
    assert len(graph.reachable(flatten(inverse))) == len(graph.nodes)  # nothing is in vain
    if n == 4:
        assert (expected["mul"], expected["add"], expected["rec"]) == (60, 36, 4)


@pytest.mark.parametrize("n", range(1, 18))
def test_trees_are_balanced(n):
    graph = Unpivoted(fold=False)
    terms = symbols(graph, "x", (n,))
    depth, path = graph.critical_path([tree_sum(terms)], dict.fromkeys(("add", "mul", "rec"), 1))
    assert depth == path["add"] == math.ceil(math.log2(n))
    assert graph.count([tree_sum(terms)])["add"] == n - 1


def test_more_terms_of_minus_zero_change_nothing():
    """One tree in hardware serves sums of all lengths."""
    rng = np.random.default_rng(1)
    arithmetic = BitExact(BINARY32)
    for n in range(1, 9):
        terms = [arithmetic.const(x) for x in rng.normal(size=n)]
        want = tree_sum(terms).bits
        for more in range(1, 9 - n):
            assert tree_sum([*terms, *[arithmetic.const(-0.0)] * more]).bits == want
