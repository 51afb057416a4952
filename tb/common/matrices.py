"""What the benches of the matrix inverters share: matrices of every kind."""

import math

import numpy as np

from pymodel.arith.fp import Format
from pymodel.arith.stimulus import corners

KINDS = ("general", "spd", "permuted", "scaled", "nearly singular", "singular", "special")
SPECIAL_SHARE = 0.2  # entries of a special matrix that are corners of the format


def random_matrix(fmt: Format, n: int, kind: str, rng: np.random.Generator) -> list[int]:
    """Bit patterns of the n * n entries, row by row; kind is one of :data:`KINDS`."""
    m = rng.normal(size=(n, n))
    if kind == "spd":
        m = m @ m.T
    elif kind == "permuted":  # every pivot is in another row
        m = (np.triu(m) + 3 * np.eye(n))[rng.permutation(n)]
    elif kind == "scaled":
        m *= 2.0 ** rng.integers(-fmt.bias // 2, fmt.bias // 2, size=(n, 1))
    elif kind == "nearly singular":
        m[-1] = m[0] * rng.normal() * (1 + rng.normal(size=n) * 2.0**-fmt.man_w)
    elif kind == "singular":  # products of small integers are exact
        m = rng.integers(-2, 3, size=(n, n - 1)) @ rng.integers(-2, 3, size=(n - 1, n))
    bits = [fmt.from_float(float(x)) for x in m.flat]
    if kind == "special":
        special = corners(fmt)
        for i in np.flatnonzero(rng.random(n * n) < SPECIAL_SHARE):
            bits[i] = special[rng.integers(len(special))]
    return bits


def singular_matrices(fmt: Format, n: int) -> list[np.ndarray]:
    """Matrices without a finite inverse, as float64 that the format holds."""
    regular = 2 * np.eye(n) + np.ones((n, n))
    found = [np.zeros((n, n)), np.ones((n, n))]
    for value in (0.0, math.nan, math.inf):
        for place in (np.s_[n - 1, :], np.s_[:, n - 1], np.s_[0, :], np.s_[:, 0]):
            found.append(regular.copy())
            found[-1][place] = value
    overflow = np.eye(n)  # only an entry off the diagonal is too large
    overflow[n - 1, n - 1] = fmt.to_float(fmt.min_normal)
    overflow[0, n - 1] = fmt.to_float(fmt.max_finite)
    return [*found, overflow]
