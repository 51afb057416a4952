"""What the benches of the HDCA phases share: coefficients of bodies."""

import numpy as np

from pymodel.algorithms import two_handles
from pymodel.algorithms.bodies import BodyConstants, body_coefficients
from pymodel.arith.scalars import BitExact
from pymodel.arith.stimulus import corners


def physical(arithmetic: BitExact, rng: np.random.Generator) -> two_handles.Coefficients:
    """Coefficients of a random rigid body (mass, lengths and momentum of order one)."""
    const = arithmetic.const
    nothing = BodyConstants(**dict.fromkeys(BodyConstants._fields))
    body = nothing._replace(  # the coefficients need no more
        inverse_mass=const(rng.uniform(0.2, 5)), inverse_inertia=const(rng.uniform(1, 80))
    )
    s_1c, s_2c = rng.uniform(-1, 1, (2, 2))
    return body_coefficients(
        body, tuple(map(const, s_1c)), tuple(map(const, s_2c)), const(rng.normal())
    )


def arbitrary(
    arithmetic: BitExact, rng: np.random.Generator, special: float = 0.0
) -> two_handles.Coefficients:
    """Coefficients of unrelated random values; a part of them ``special`` float values."""
    values = [
        arithmetic.const(x) for x in rng.normal(size=two_handles.WORDS) * 2.0 ** rng.integers(-6, 7)
    ]
    odd = corners(arithmetic.fmt)
    for i in np.flatnonzero(rng.random(two_handles.WORDS) < special):
        values[i] = arithmetic.scalar(odd[rng.integers(len(odd))])
    return two_handles.from_words(values)


def any_body(arithmetic: BitExact, rng: np.random.Generator) -> two_handles.Coefficients:
    """One of the kinds above."""
    kind = rng.integers(4)
    if kind < 2:
        return physical(arithmetic, rng)
    return arbitrary(arithmetic, rng, special=0.0 if kind == 2 else 0.1)
