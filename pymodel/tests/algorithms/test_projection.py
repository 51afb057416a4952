"""Projection of the coordinates onto the loops, against the equations of motion."""

import numpy as np
import pytest

from pymodel.algorithms.integrators import integrate
from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import BASE, CLOSED_BASES, serve
from pymodel.algorithms.step import prepare
from pymodel.arith.scalars import Float64
from pymodel.mechanism.checks import size as size_of
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import native_runs, simulate
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests import space
from pymodel.tests.loops import random_loop
from pymodel.tests.mechanisms import random_mechanism
from pymodel.tests.places import SCENARIOS

RNG = np.random.default_rng(55)
CLOSED = {
    **space.closed_mechanisms(),
    **space.turning_planes(),
    **{
        name: load(SCENARIOS / f"{name}.toml")
        for name in ("four_bar", "five_bar", "coupled_loops", "andrews")
    },
    "random loop": random_loop(RNG, 5),
    "three random loops": random_mechanism(RNG, 7, 3),
}


def step(one, q, p, base=BASE):
    """The projection in float64."""
    arithmetic = Float64()
    mechanism = prepare(arithmetic, one, base=base, project=1)
    state = [[arithmetic.const(x) for x in values] for values in (q, p)]
    return map(np.array, serve(arithmetic, projected(mechanism, *state)))


def nearly_closed(one, size):
    """A posture with a gap of about this size, and any momenta."""
    rng = np.random.default_rng(1)
    q = displaced(one, one.q0, size * rng.normal(size=one.nv))
    return q, rng.normal(size=one.nv)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.nightly(every=4)
def test_newton_step(name):
    """dq = -M^-1 J^T (J M^-1 J^T)^-1 gap; p without the share of the loops, J^T sigma.

    A joint that carries both ends of a loop has no share: what is left is gap x sigma.
    """
    one, equations = CLOSED[name], NewtonEuler(CLOSED[name])
    q, p = nearly_closed(one, 1e-3)
    gap, jacobian = equations.gaps(q)
    assert np.abs(gap).max() > 1e-5
    inverse = np.linalg.inv(equations.mass_matrix(q))
    lambdas = np.linalg.solve(jacobian @ inverse @ jacobian.T, gap)
    change = -inverse @ jacobian.T @ lambdas
    _, sigma = equations.velocities(q, p)
    new_q, new_p = step(one, q, p)
    # To first order in dq: a quaternion's rate is not its displacement.
    scale = np.abs(change).max()
    np.testing.assert_allclose(new_q, displaced(one, q, change), rtol=0, atol=scale**2 + 1e-12)
    left = 3 * np.abs(gap).max() * np.abs(sigma).max()
    np.testing.assert_allclose(new_p, p + jacobian.T @ sigma, rtol=0, atol=left + 1e-10)


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.nightly(every=4)
def test_gap_shrinks_quadratically(name):
    one, equations = CLOSED[name], NewtonEuler(CLOSED[name])
    left = []
    for size in (1e-3, 1e-4, 1e-5):
        q, p = nearly_closed(one, size)
        before = np.abs(equations.gaps(q)[0]).max()
        new_q, _ = step(one, q, p)
        after = np.abs(equations.gaps(new_q)[0]).max()
        assert after < 0.1 * before
        left.append(after)
    # A tenth of the gap leaves a hundredth, down to the rounding.
    for coarse, fine in zip(left, left[1:], strict=False):
        assert fine < 0.03 * coarse + 1e-13


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.nightly(every=4)
def test_closed_loops_stay(name):
    """Where nothing is open nothing moves, and the momenta are those of the tree, dT/dq-dot."""
    one, equations = CLOSED[name], NewtonEuler(CLOSED[name])
    q, qd = equations.onto_loops(one.q0, one.qd0)
    sigma = np.random.default_rng(0).uniform(-1, 1, equations.constraints)
    p = equations.momenta(q, qd)
    new_q, new_p = step(one, q, p - equations.gaps(q)[1].T @ sigma)
    np.testing.assert_allclose(new_q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(new_p, p, rtol=0, atol=1e-11 * max(1.0, np.abs(p).max()))


@pytest.mark.parametrize("base", CLOSED_BASES)
def test_bases(base):
    one = load(SCENARIOS / "general_four_bar.toml")
    q, p = nearly_closed(one, 1e-3)
    for found, expected in zip(step(one, q, p, base), step(one, q, p), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.nightly("coupled_loops", "general_four_bar")
@pytest.mark.parametrize("name", ["general_four_bar", "coupled_loops", "bennett"])
def test_gap_of_a_long_run(name):
    """In float32 loops stay closed to what the coordinates resolve; the energy is no worse."""
    one = load(SCENARIOS / f"{name}.toml", 40_000)
    free, held = (native_runs.simulate(one, "float32", project=every) for every in (0, 10))
    resolved = 2.0**-24 * np.abs(held.q).max() * size_of(one)
    assert held.loop_position.max() < 8 * resolved
    assert free.loop_position.max() > 5 * held.loop_position.max()
    changes = [
        np.abs(run.kinetic + run.potential - held.kinetic[0] - held.potential[0]).max()
        for run in (free, held)
    ]
    assert changes[1] < 2 * changes[0]


@pytest.mark.parametrize("name", ["four_bar", "coupled_loops", "bennett"])
def test_steps_that_project(name):
    """Steps 3, 6, ... end with a projection, and no other step does."""
    one = varied(load(SCENARIOS / f"{name}.toml", 8), save=1)
    arithmetic = Float64()
    mechanism = prepare(arithmetic, one, project=3)
    q, p = mechanism.initial_state(one)
    rows = [q]
    for number in range(8):
        q, p, _ = serve(arithmetic, integrate(mechanism, q, p))
        if number in (3, 6):
            q, p = serve(arithmetic, projected(mechanism, q, p))
        rows.append(q)
    np.testing.assert_array_equal(simulate.simulate(one, project=3).q, rows)
    assert simulate.simulate(one, project=0) == simulate.simulate(one)
