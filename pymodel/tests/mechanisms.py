"""Random trees, and trees with loops, for the tests of the model."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from pymodel.mechanism.scenario import GROUND, Scenario
from pymodel.tests import loops
from pymodel.tests.chains import random_chain


def hang(scenario: Scenario, parents: Sequence[int]) -> Scenario:
    """Hang the bodies of a chain as a tree instead: at their own points of these parents."""
    bodies = zip(scenario.bodies, parents, strict=True)
    bodies = tuple(dataclasses.replace(body, parent=parent) for body, parent in bodies)
    return dataclasses.replace(scenario, bodies=bodies)


def random_parents(rng: np.random.Generator, n: int) -> list[int]:
    """Draw any forest: each body hangs on the ground or on an earlier one."""
    return [int(rng.integers(GROUND, k)) for k in range(n)]


def random_tree(rng: np.random.Generator, n: int, **keys: Any) -> Scenario:
    """Draw a tree, like ``random_chain``; some joints are where others of their body are."""
    scenario = hang(random_chain(rng, n, **keys), random_parents(rng, n))
    bodies = list(scenario.bodies)
    for k, body in enumerate(bodies):
        others = [other.attach for other in bodies[:k] if other.parent == body.parent]
        places = [*others, (0.0, 0.0), body.attach, body.attach]  # the second one is handle 1
        if body.parent != GROUND:
            place = places[int(rng.integers(len(places)))]
            bodies[k] = dataclasses.replace(body, attach=place)
    return dataclasses.replace(scenario, bodies=tuple(bodies))


def chain(n: int) -> list[int]:
    """Parents of a chain: each body hangs on the one before."""
    return [k - 1 for k in range(n)]


def comb(n: int) -> list[int]:
    """Parents of a comb: a chain of every second body, with the other ones as teeth."""
    return [k - 1 if k % 2 else max(k - 2, GROUND) for k in range(n)]


def star(n: int) -> list[int]:
    """Parents of a star: all other bodies hang on body 0."""
    return [GROUND] + [0] * (n - 1)


def roots(n: int) -> list[int]:
    """Parents of bodies that all hang on the ground."""
    return [GROUND] * n


def fork(n: int) -> list[int]:
    """Parents of a fork: two chains on body 0."""
    return [GROUND, 0, 0, *range(1, n - 2)]


def binary(n: int) -> list[int]:
    """Parents of a binary tree, level by level."""
    return [(k - 1) // 2 if k else GROUND for k in range(n)]


FORMS = {form.__name__: form for form in (chain, comb, star, roots, fork, binary)}


def random_mechanism(rng: np.random.Generator, n: int, loop_count: int, **keys: Any) -> Scenario:
    """Draw a tree with pins between any bodies, or body and ground, well-conditioned.

    Parameters
    ----------
    rng : numpy.random.Generator
    n, loop_count : int
        Number of bodies and of pins.
    **keys
        Of the scenario, as in :func:`pymodel.tests.chains.random_chain`.

    Returns
    -------
    Scenario

    Raises
    ------
    RuntimeError
        If no attempt gives such a mechanism.
    """
    for _ in range(loops.ATTEMPTS):
        tree = hang(loops.damped_chain(rng, n, **keys), random_parents(rng, n))
        pairs = []
        while len(pairs) < loop_count:
            body, to = int(rng.integers(n)), int(rng.integers(GROUND, n))
            if body != to:
                pairs.append((body, to))
        scenario = loops.close(rng, tree, pairs)
        if np.abs(scenario.qd0).max() > 0.5 and loops.condition(scenario) < loops.CONDITION:
            return scenario
    raise RuntimeError(f"no mechanism of {n} bodies and {loop_count} loops")
