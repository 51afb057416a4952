"""Random chains, and one evaluation of the algorithm text on them, for the tests of the model."""

import numpy as np

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Chain, rates
from pymodel.mechanism.scenario import Body, Scenario


def random_chain(rng, n, **keys):
    """A chain with nothing special about it: offsets in both axes, loads on every joint."""
    bodies = [
        Body(
            mass=rng.uniform(0.3, 2.0),
            inertia=rng.uniform(0.005, 0.05),
            com=tuple(rng.uniform(-0.3, 0.3, 2)),
            tip=tuple(rng.uniform(-0.5, 0.5, 2)),  # the next body hangs elsewhere: attach
            parent=k - 1,
            attach=tuple(rng.uniform(-0.5, 0.5, 2)),
            q=rng.uniform(-3, 3),
            qd=rng.uniform(-2, 2),
            **{key: rng.uniform(-1, 1) for key in ("torque", "spring", "rest", "damping")},
        )
        for k in range(n)
    ]
    gravity = tuple(rng.uniform(-10, 10, 2))
    return Scenario("random", gravity, **{"step": 1e-3, "end": 0.1, **keys}, bodies=tuple(bodies))


def random_assembly(rng, first, last):
    """An assembly tree over bodies first..last-1, cut at random places."""
    if last - first == 1:
        return first
    cut = int(rng.integers(first + 1, last))
    return random_assembly(rng, first, cut), random_assembly(rng, cut, last)


def evaluate(arithmetic, scenario, q, p, shape="balanced"):
    """q-dot and p-dot as float64 arrays, from float64 values that are rounded to the format."""
    chain = Chain(arithmetic, scenario, shape)
    state = ([arithmetic.const(x) for x in values] for values in (q, p))
    found = serve(arithmetic, rates(chain, *state))
    return [
        np.array([arithmetic.to_float(x) for x in values]) for values in (found.q_dot, found.p_dot)
    ]


def difference(value, expected):
    """Norm-wise relative difference of two vectors."""
    value, expected = np.asarray(value), np.asarray(expected)
    return np.linalg.norm(value - expected) / np.linalg.norm(expected)
