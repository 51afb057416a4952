"""What the benches of the matrix inverters share: matrices of every kind."""

import math
from collections.abc import Iterator
from itertools import islice, product

import numpy as np

from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.arith.stimulus import corners

KINDS = ("general", "spd", "permuted", "scaled", "nearly singular", "singular", "special")
SPECIAL_SHARE = 0.2  # entries of a special matrix that are corners of the format
BLOCK = 4  # rows of the matrices that are searched for an inverse with one entry too large
DRAWN = 120_000  # matrices of that search
TRIES = 400  # of those for each entry
ROUNDING = 1e-9  # of an inverse in float64
TOO_LARGE = 4  # times the reciprocal of the smallest normal number: the format overflows


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
    overflow = np.eye(n)  # a product is too large, and infinity times zero is not a number
    overflow[n - 1, n - 1] = fmt.to_float(fmt.min_normal)
    overflow[0, n - 1] = fmt.to_float(fmt.max_finite)
    return [*found, overflow]


def one_cofactor_too_large(fmt: Format) -> list[tuple[float, float, float, float]]:
    """2 x 2 matrices, row by row, whose inverse by the adjugate has one entry that is not finite.

    The determinant is a quarter of `near`'s square: times its reciprocal three cofactors stay
    finite.
    """
    t = (fmt.bias - 3) // 2
    tiny, large = 2.0 ** (1 - fmt.bias), 2.0 ** (fmt.bias - 1 - 2 * t)
    near, far = 2.0**-t, 0.75 * 2.0**-t
    return [
        (large, near, far, tiny),
        (near, large, tiny, far),
        (near, tiny, large, far),
        (tiny, near, far, large),
    ]


def one_bit_in_the_exponent(fmt: Format) -> list[tuple[float, float, float, float]]:
    """2 x 2 matrices, row by row, for each bit of the exponent field one whose determinant has it.

    The smallest is the smallest normal number: all are regular.
    """
    found = []
    for k in range(fmt.exp_w):
        power = (1 << k) - fmt.bias
        found.append((2.0 ** (power // 2), 0.0, 0.0, 2.0 ** (power - power // 2)))
    return found


def one_entry_too_large(fmt: Format, n: int) -> list[tuple[int, list[int]]]:
    """Matrices whose inverse, by LDUP, has one entry that is not finite.

    Products of small triangular matrices of determinant 1, times the smallest normal number or,
    where these have halves, twice that. Up to two for each entry: one whose pivots stand in their
    place, so that the entry is never moved, and one with rows exchanged. Before columns are
    exchanged, none of the last column can overflow alone (the other sums of its row take it up),
    and of the last row the first entry alone can: the others are a reciprocal times 2 at most. Its
    way to other columns is that of :func:`_exchanged_in_the_last_row`.

    Returns
    -------
    list of tuple
        Number of the entry, row by row, and bit patterns of the n * n entries of the matrix.
    """
    rng, size = np.random.default_rng(0), min(n, BLOCK)
    scale = np.where(np.arange(DRAWN) // 2 % 2, 2, 1)[:, None, None]
    lower = np.tril(rng.integers(-scale, scale + 1, size=(DRAWN, size, size)) / scale, -1)
    upper = np.triu(rng.integers(-3, 4, size=(DRAWN, size, size)), 1)
    lower[0], upper[0] = -np.tril(np.ones((size, size)), -1), 0  # the last row's first entry
    lower, upper = lower + np.eye(size), upper + np.eye(size)
    order = rng.permuted(np.tile(np.arange(size), (DRAWN, 1)), axis=1)
    order[::2] = np.arange(size)
    blocks = scale * np.take_along_axis(lower @ upper, order[:, :, None], axis=1)
    inverses = np.abs(np.linalg.inv(blocks)).reshape(DRAWN, -1)
    large = inverses > TOO_LARGE * (1 - ROUNDING)
    found = []
    for entry, moved in product(range(size * size), range(2)):
        alone = np.flatnonzero(large[:, entry] & (large.sum(axis=1) == 1))
        for block in islice(blocks[alone[alone % 2 == moved]], TRIES):
            rows = np.sort(rng.choice(n, size=size, replace=False))
            matrix = np.eye(n)
            matrix[np.ix_(rows, rows)] = block * fmt.to_float(fmt.min_normal)
            bits = [fmt.from_float(float(x)) for x in matrix.flat]
            place = int(rows[entry // size] * n + rows[entry % size])
            if _not_finite(fmt, n, bits) == [place]:
                found.append((place, bits))
                break
    exchanged = _exchanged_in_the_last_row(fmt, n) if n >= BLOCK else ()
    return [*found, *exchanged]


def _exchanged_in_the_last_row(fmt: Format, n: int) -> Iterator[tuple[int, list[int]]]:
    """As :func:`one_entry_too_large`: the last row's first entry, which a column exchange moves.

    It is the reciprocal of the last pivot times 4 where all of L is -1. So that the first pivot is
    not in the first row, the others are smaller by one unit of the last place; their ratio rounds
    to 1.
    """
    ulp = 2.0**-fmt.man_w
    pivot, less, last = 2 - ulp, 2 - 2 * ulp, fmt.to_float(fmt.min_normal)
    block = np.array([[pivot, 0, 0, 0], [-less, 1, 0, 0], [-less, -1, 1, 0], [-less, -1, -1, last]])
    for column in range(n - BLOCK + 1, n):  # its first pivot stands in this row
        matrix = np.eye(n)
        matrix[n - BLOCK :, n - BLOCK :] = block
        matrix[[n - BLOCK, column]] = matrix[[column, n - BLOCK]]
        yield n * (n - 1) + column, [fmt.from_float(float(x)) for x in matrix.flat]


def close_pivots(fmt: Format, n: int, rng: np.random.Generator) -> Iterator[tuple[str, list[int]]]:
    """Matrices where a column has two numbers only, whose magnitudes differ in one bit.

    Every column, pair of its rows and bit of a magnitude, in random order. In front of the column
    stands a unit matrix, so that what is compared is what stands in the matrix.

    Yields
    ------
    str, list of int
        What is meant, and bit patterns of the n * n entries of the matrix.
    """
    pairs = [(k, i, j) for k in range(n) for i in range(k, n) for j in range(i + 1, n)]
    cases = [(*pair, bit) for pair in pairs for bit in range(fmt.width - 1)]
    for case in rng.permutation(len(cases)):
        k, i, j, bit = cases[case]
        matrix = np.eye(n)
        matrix[k:, k:] = rng.uniform(-1, 1, size=(n - k, n - k))
        matrix[k:, k] = 0
        bits = [fmt.from_float(float(x)) for x in matrix.flat]
        magnitude = _regular_with_either(fmt, bit, rng)
        for row in rng.permutation((i, j)):
            bits[n * row + k] = magnitude | int(rng.integers(2)) * fmt.sign_mask
            magnitude ^= 1 << bit
        yield f"column {k}, rows {i} and {j}, bit {bit}", bits


def _regular_with_either(fmt: Format, bit: int, rng: np.random.Generator) -> int:
    """A magnitude about 1 that is no zero and finite, also with a bit inverted."""
    while True:
        magnitude = fmt.from_float(float(rng.uniform(0.5, 4)))
        if all(fmt.min_normal <= x <= fmt.max_finite for x in (magnitude, magnitude ^ 1 << bit)):
            return magnitude


def a_bit_from_infinite(fmt: Format, n: int) -> dict[str, list[int]]:
    """Matrices whose inverses have finite entries, of infinity's exponent but for one bit.

    Every entry of the inverse is reached with every bit but the lowest, as no reciprocal has that
    exponent.

    Returns
    -------
    dict
        What is meant -> bit patterns of the n * n entries of the matrix.
    """
    found = {}
    for shift in range(n):
        for bit in range(1, fmt.exp_w):
            matrix = np.roll(np.eye(n, dtype=int), shift, axis=1)
            exponent = (1 << bit) - 1  # of the reciprocal, then: all ones but for this bit
            bits = (matrix * exponent << fmt.man_w).ravel().tolist()
            found[f"shift {shift}, bit {bit}"] = bits
    return found


def _not_finite(fmt: Format, n: int, bits: list[int]) -> list[int]:
    """Which entries of the inverse by LDUP are not finite."""
    arithmetic = BitExact(fmt)
    scalars = [arithmetic.scalar(x) for x in bits]
    inverse, _ = inv_ldup(arithmetic, [scalars[n * i : n * i + n] for i in range(n)])
    entries = [entry for row in inverse for entry in row]
    return [i for i, entry in enumerate(entries) if not arithmetic.is_finite(entry)]
