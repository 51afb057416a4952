"""Assembly and disassembly against dense linear algebra, and the linear algebra they use."""

import inspect
import re

import numpy as np
import pytest

from pymodel.algorithms import linalg, sums, two_handles
from pymodel.algorithms.bodies import body_coefficients
from pymodel.algorithms.requests import Assemble, SingularError, answer
from pymodel.algorithms.step import Chain
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.graph import Graph
from pymodel.tests.chains import random_chain

SEEDS = range(10)
D = np.eye(3)[:, :2]


def body(rng):
    """Coefficients of a random physical body."""
    constants = Chain(Float64(), random_chain(rng, 1)).bodies[0]
    s_1c, s_2c = rng.uniform(-1, 1, (2, 2))
    return body_coefficients(constants, tuple(s_1c), tuple(s_2c), rng.normal())


def arrays(coefficients):
    return [np.array(values) for values in coefficients]


def velocities(coefficients, t_1, t_2):
    """(11), (12)."""
    xi_11, xi_12, xi_22, xi_10, xi_20 = arrays(coefficients)
    return xi_11 @ t_1 + xi_12 @ t_2 + xi_10, xi_12.T @ t_1 + xi_22 @ t_2 + xi_20


@pytest.mark.parametrize("seed", SEEDS)
def test_a_compound_moves_as_its_two_bodies_do(seed):
    """The joint's impulse from its constraint (24) alone, none of (27)-(37) used."""
    rng = np.random.default_rng(seed)
    a, b = body(rng), body(rng)
    compound, joint, singular = two_handles.assemble(Float64(), a, b)
    assert not singular
    for _ in range(3):
        t_1c, t_2c = np.zeros((2, 3))
        t_1c[:2], t_2c[:2] = rng.normal(size=(2, 2))

        # D^T (V_1^B - V_2^A) is affine in the impulse s on handle 1 of B (-s on handle 2 of A)
        def gap(s, t_1c=t_1c, t_2c=t_2c):
            v_a, v_b = velocities(a, t_1c, -D @ s), velocities(b, D @ s, t_2c)
            return D.T @ (v_b[0] - v_a[1])

        slope = np.column_stack([gap(s) - gap(np.zeros(2)) for s in np.eye(2)])
        s = np.linalg.solve(slope, -gap(np.zeros(2)))
        expected = velocities(a, t_1c, -D @ s)[0], velocities(b, D @ s, t_2c)[1]
        for value, exact in zip(velocities(compound, t_1c, t_2c), expected, strict=True):
            np.testing.assert_allclose(value, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
        t_1b = two_handles.disassemble(joint, tuple(t_1c[:2]), tuple(t_2c[:2]))
        np.testing.assert_allclose(t_1b, s, rtol=0, atol=1e-12 * np.abs(s).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_compound_is_a_body(seed):
    """Its generalized inverse inertia is symmetric and positive, so that it can be joined again."""
    rng = np.random.default_rng(seed)
    compound, *_ = two_handles.assemble(Float64(), body(rng), body(rng))
    xi_11, xi_12, xi_22, *_ = arrays(compound)
    assert (xi_11 == xi_11.T).all() and (xi_22 == xi_22.T).all()
    whole = np.block([[xi_11, xi_12], [xi_12.T, xi_22]])
    ends = np.block([[D, np.zeros((3, 2))], [np.zeros((3, 2)), D]])
    assert np.linalg.eigvalsh(ends.T @ whole @ ends).min() > 0


def test_only_what_enters_counts():
    """Rotation parts of T are zero (T = D s): the text reads two of three columns."""
    rng = np.random.default_rng(1)
    a, b = body(rng), body(rng)
    xi_22 = np.array(a.xi_22)
    xi_22[2, :] = xi_22[:, 2] = np.nan
    odd = a._replace(xi_22=tuple(map(tuple, xi_22)), xi_20=(*a.xi_20[:2], np.nan))
    assert two_handles.assemble(Float64(), odd, b) == two_handles.assemble(Float64(), a, b)


def test_words_are_row_by_row():
    words = list(range(two_handles.WORDS))
    coefficients = two_handles.from_words(words)
    assert coefficients.xi_11 == ((0, 1, 2), (3, 4, 5), (6, 7, 8))
    assert coefficients.xi_12[0] == (9, 10, 11) and coefficients.xi_22[2] == (24, 25, 26)
    assert coefficients.xi_10 == (27, 28, 29) and coefficients.xi_20 == (30, 31, 32)
    assert two_handles.to_words(coefficients) == words


def test_singular_joints_are_told():
    zero, one = ((0.0,) * 3,) * 3, tuple(map(tuple, np.eye(3)))
    assert two_handles.joint_inverse(Float64(), zero, one) == (((-1.0, 0.0), (0.0, -1.0)), False)
    assert two_handles.joint_inverse(Float64(), zero, zero)[1]
    half = BitExact(Format(5, 10))

    def diagonal(x):
        return tuple(tuple(half.const(x if i == j else 0.0) for j in range(3)) for i in range(3))

    for x, singular in ((2.0**-6, False), (2.0**-8, True)):  # the latter's square counts as zero
        assert two_handles.joint_inverse(half, diagonal(0.0), diagonal(x))[1] is singular
    nan = diagonal(np.nan)
    assert two_handles.joint_inverse(half, nan, diagonal(1.0))[1]
    body_a = two_handles.Coefficients(*[diagonal(2.0**-8)] * 3, *[(half.const(1.0),) * 3] * 2)
    assert two_handles.assemble(half, body_a, body_a._replace(xi_11=diagonal(0.0)))[2]
    with pytest.raises(SingularError):
        answer(half, Assemble(body_a, body_a._replace(xi_11=diagonal(0.0))))


def test_the_table_of_subdesigns_is_the_assembly():
    names = [row[0] for row in two_handles.SUBDESIGNS]
    assert len(set(names)) == 11
    called = re.findall(r"\b(\w+)\(", inspect.getsource(two_handles.assemble)) + ["disassemble"]
    assert set(names) <= set(called)
    for name, function, equation, shapes, in_pass in two_handles.SUBDESIGNS:
        assert function is getattr(two_handles, name)
        assert function.__doc__.startswith(f"({equation}): ")
        assert len(shapes) == len(inspect.signature(function).parameters)
        assert in_pass in (0, 1, 2)
    assert sorted(row[2] for row in two_handles.SUBDESIGNS) == [27, 28, *range(30, 38), 45]


def test_nothing_of_pass_2_is_needed_in_pass_1(monkeypatch):
    """Pass 1 may use operands and results of pass 1 only: otherwise it could not run first."""
    graph = Graph(fold=False)
    a, b = (
        two_handles.from_words([graph.input(f"{x}{k}") for k in range(two_handles.WORDS)])
        for x in "ab"
    )
    owner, in_pass = {}, {}

    def watched(name, function, number):
        def call(*args):
            before = len(graph.nodes)
            result = function(*args)
            for node in range(before, len(graph.nodes)):
                owner[node], in_pass[node] = name, number
            return result

        return call

    for name, function, _, _, number in two_handles.SUBDESIGNS:
        monkeypatch.setattr(two_handles, name, watched(name, function, number))
    two_handles.assemble(graph, a, b)
    assert set(owner.values()) == {row[0] for row in two_handles.SUBDESIGNS} - {"disassemble"}
    for node, number in in_pass.items():
        for operand in graph.operands(node):
            assert in_pass.get(operand, 1) <= number, owner[node]


# --- linear algebra -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_two_by_two(seed):
    rng = np.random.default_rng(seed)
    matrix, b = rng.normal(size=(2, 2)), tuple(rng.normal(size=2))
    m = tuple(map(tuple, matrix))
    inverse, singular = linalg.inv_adjugate_2x2(Float64(), m)
    exact = np.linalg.inv(matrix)
    assert not singular
    np.testing.assert_allclose(inverse, exact, rtol=0, atol=1e-13 * np.abs(exact).max())
    x, singular = linalg.solve_adjugate_2x2(Float64(), m, b)
    assert not singular
    np.testing.assert_allclose(x, exact @ b, rtol=0, atol=1e-13 * np.abs(exact).max() * 3)
    assert linalg.dot(b, (2.0, -3.0)) == 2.0 * b[0] - 3.0 * b[1]


def test_singular_matrices_are_told():
    assert linalg.inv_adjugate_2x2(Float64(), ((1.0, 2.0), (2.0, 4.0)))[1]
    assert linalg.inv_adjugate_2x2(Float64(), ((1e-200, 0.0), (0.0, 1e-200)))[1]
    assert linalg.inv_adjugate_2x2(Float64(), ((np.inf, 0.0), (0.0, 1.0)))[1]
    assert not linalg.inv_adjugate_2x2(Float64(), ((1e-100, 0.0), (0.0, 1e-100)))[1]
    # a determinant beyond the largest number would give an inverse of zeros
    assert linalg.inv_adjugate_2x2(Float64(), ((1e200, 0.0), (0.0, 1e200)))[1]
    assert linalg.solve_adjugate_2x2(Float64(), ((1e200, 0.0), (0.0, 1e200)), (1.0, 1.0))[1]


@pytest.mark.parametrize("solve", [linalg.solve_ldl, linalg.solve_blocks])
@pytest.mark.parametrize("seed", SEEDS)
def test_solvers_of_the_closed_base(solve, seed):
    rng = np.random.default_rng(seed)
    root, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    matrix = root @ root.T + 0.1 * np.eye(4)
    x, singular = solve(Float64(), tuple(map(tuple, matrix)), tuple(b))
    assert not singular
    exact = np.linalg.solve(matrix, b)
    bound = 1e-15 * np.linalg.cond(matrix) * np.abs(exact).max()
    np.testing.assert_allclose(x, exact, rtol=0, atol=10 * bound)


@pytest.mark.parametrize("solve", [linalg.solve_ldl, linalg.solve_blocks])
def test_solvers_of_the_closed_base_tell_singular_matrices(solve):
    eta = np.diag([1.0, 1.0, 1.0, 0.0]).tolist()
    assert solve(Float64(), tuple(map(tuple, eta)), (1.0,) * 4)[1]
    assert solve(Float64(), ((1.0,) * 4,) * 4, (1.0,) * 4)[1]
    assert solve(Float64(), tuple(map(tuple, np.diag([np.inf] * 4).tolist())), (1.0,) * 4)[1]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 33])
def test_prefix_sums(n):
    assert sums.prefix_sums(list(range(1, n + 1))) == list(np.cumsum(range(1, n + 1)))
    graph = Graph(fold=False)
    found = sums.prefix_sums([graph.input(k) for k in range(n)])
    depth, _ = graph.critical_path(found, dict.fromkeys(("add", "mul", "rec", "sincos"), 1))
    assert depth == int(np.ceil(np.log2(n)))
