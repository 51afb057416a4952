"""The algorithm text on loops in space, and on sliders, against the reference."""

import numpy as np
import pytest

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Mechanism, rates
from pymodel.arith.scalars import Float64
from pymodel.runs import lagrangian
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.tests import space
from pymodel.tests.chains import difference

CLOSED = space.closed_mechanisms() | space.turning_planes()


@pytest.mark.parametrize("name", CLOSED)
def test_rates_of_loops(name):
    """q-dot and p-dot, with any impulse in the loops, which re-basing takes away."""
    scenario, arithmetic = CLOSED[name], Float64()
    equations, q = NewtonEuler(scenario), scenario.q0
    sigma = np.random.default_rng(0).uniform(-1, 1, equations.constraints)
    p = equations.momenta(q, scenario.qd0) - equations.gaps(q)[1].T @ sigma
    state = [[arithmetic.const(x) for x in values] for values in (q, p)]
    found = serve(arithmetic, rates(Mechanism(arithmetic, scenario), *state))
    exact = lagrangian.canonical_rates(scenario, q, p)
    for values, expected in zip((found.q_dot, found.p_dot), exact, strict=True):
        assert difference([arithmetic.to_float(x) for x in values], expected) < 1e-11
    # Re-based by these impulses, the momenta are those of the tree.
    impulses = [arithmetic.const(x) for x in sigma]
    now = serve(arithmetic, rates(Mechanism(arithmetic, scenario), *state, impulses))
    momenta = equations.momenta(q, scenario.qd0)
    assert difference([arithmetic.to_float(x) for x in now.p], momenta) < 1e-11
