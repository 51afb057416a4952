"""Stimulus for the HDCA phases: coefficients of physical bodies, and of no body at all."""

import numpy as np

from pymodel.algorithms import two_handles
from pymodel.algorithms.step import BodyConstants, body_coefficients
from pymodel.arith.stimulus import corners


def physical(arithmetic, rng):
    """Coefficients of a random rigid body (mass, lengths and momentum of order one)."""
    const = arithmetic.const
    body = BodyConstants(const(rng.uniform(0.2, 5)), const(rng.uniform(1, 80)), *[None] * 8)
    s_1c, s_2c = rng.uniform(-1, 1, (2, 2))
    return body_coefficients(
        body, tuple(map(const, s_1c)), tuple(map(const, s_2c)), const(rng.normal())
    )


def arbitrary(arithmetic, rng, special=0.0):
    """Coefficients of unrelated random values; a part of them ``special`` float values."""
    values = [
        arithmetic.const(x) for x in rng.normal(size=two_handles.WORDS) * 2.0 ** rng.integers(-6, 7)
    ]
    odd = corners(arithmetic.fmt)
    for i in np.flatnonzero(rng.random(two_handles.WORDS) < special):
        values[i] = arithmetic.scalar(odd[rng.integers(len(odd))])
    return two_handles.from_words(values)


def any_body(arithmetic, rng):
    """One of the kinds above."""
    kind = rng.integers(4)
    if kind < 2:
        return physical(arithmetic, rng)
    return arbitrary(arithmetic, rng, special=0.0 if kind == 2 else 0.1)
