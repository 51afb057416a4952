"""Random chains, and one evaluation of the algorithm text on them, for the tests of the model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Chain, rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.mechanism.scenario import Body, Scenario


def random_chain(rng: np.random.Generator, n: int, **keys: Any) -> Scenario:
    """Draw a chain with nothing special about it: offsets in both axes, loads on every joint.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        Number of bodies.
    **keys
        Fields of the scenario other than the mechanism; by default 100 steps of 1 ms.

    Returns
    -------
    Scenario
    """
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


def random_assembly(rng: np.random.Generator, first: int, last: int) -> int | tuple:
    """Draw an assembly tree over bodies first..last-1, cut at random places."""
    if last - first == 1:
        return first
    cut = int(rng.integers(first + 1, last))
    return random_assembly(rng, first, cut), random_assembly(rng, cut, last)


def evaluate(
    arithmetic: Float64 | BitExact,
    scenario: Scenario,
    q: Sequence[float],
    p: Sequence[float],
    shape: str | int | tuple = "balanced",
) -> list[np.ndarray]:
    """Evaluate the algorithm text of a chain once.

    Parameters
    ----------
    arithmetic : Float64 or BitExact
    scenario : Scenario
    q, p : sequence of float, length n
        Joint angles, rad, and momenta, N m s, which are rounded to the format.
    shape : str, int or tuple
        Assembly tree, see :func:`pymodel.mechanism.topology.build_tree`.

    Returns
    -------
    list of numpy.ndarray, shape (n,)
        q-dot, rad/s, and p-dot, N m, float64.
    """
    chain = Chain(arithmetic, scenario, shape)
    state = ([arithmetic.const(x) for x in values] for values in (q, p))
    found = serve(arithmetic, rates(chain, *state))
    return [
        np.array([arithmetic.to_float(x) for x in values]) for values in (found.q_dot, found.p_dot)
    ]


def difference(value: Sequence[float], expected: Sequence[float]) -> float:
    """Norm-wise relative difference of two vectors."""
    value, expected = np.asarray(value), np.asarray(expected)
    return np.linalg.norm(value - expected) / np.linalg.norm(expected)
