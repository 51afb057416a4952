"""Stimulus for the float units and their model, generic over the format.

Numbers are bits: Python ints, or numpy uint64 arrays for the mass-produced ones. Pairs are two
arrays of one length, the first operands and the second ones.
"""

import numpy as np

from pymodel.arith.fp import Format

ALL_PAIRS_MAX_WIDTH = 10


def corners(fmt: Format) -> list[int]:
    """Numbers around which the arithmetic changes its behaviour, of both signs."""
    one, normal, man_w = fmt.one, fmt.min_normal, fmt.man_w
    quiet, ones = fmt.quiet_bit, fmt.min_normal - 1
    largest_exponent = 2 * fmt.bias
    positive = [
        # zeros and subnormals, NaNs quiet and signaling
        *(0, 1, ones),
        *(fmt.inf, fmt.canonical_nan, fmt.canonical_nan | 1, fmt.inf | ones),
        *(fmt.inf | 1, fmt.inf | (quiet - 1)),
        # both ends of the range; reciprocals turn to zero in the two highest binades
        *(normal, normal + 1, normal | quiet, normal | ones, 2 * normal, 2 * normal | ones),
        *(fmt.max_finite, fmt.max_finite - 1, fmt.max_finite ^ quiet),
        *((largest_exponent << man_w) + step for step in (-normal, 1 - normal, -1, 0, 1)),
        # around one, and factors whose product rounds into the next binade
        *(one - 2, one - 1, one, one + 1, one + 2, one | quiet, one | ones, one + normal),
        *(one + normal + 1, one - normal, one - normal + 1),
    ]
    # halves, units and one and a half units in the last place of 1, of 2 and of the largest
    for exponent in (fmt.bias, fmt.bias + 1, largest_exponent):
        for place in (man_w, man_w + 1, man_w + 2):
            if exponent > place:
                ulp = (exponent - place) << man_w
                positive += [ulp, ulp | quiet, ulp + 1, ulp - 1]
    distinct = dict.fromkeys(positive)
    return [*distinct, *(fmt.neg(x) for x in distinct)]


def all_pairs(fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of numbers of a small format.

    Raises
    ------
    ValueError
        If the format has more than 10 bits.
    """
    if fmt.width > ALL_PAIRS_MAX_WIDTH:
        raise ValueError(f"all pairs of a {fmt.width}-bit format are too many")
    numbers = np.arange(1 << fmt.width, dtype=np.uint64)
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


def corner_pairs(fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of :func:`corners`."""
    numbers = np.array(corners(fmt), dtype=np.uint64)
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


def random_pairs(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw ``n`` pairs in random order, evenly from every distribution of ``DISTRIBUTIONS``.

    Returns
    -------
    a, b : numpy.ndarray of uint64, shape (n,)
    """
    shares = np.diff(np.linspace(0, n, len(DISTRIBUTIONS) + 1).astype(int))
    parts = [
        distribution(fmt, rng, share)
        for distribution, share in zip(DISTRIBUTIONS, shares, strict=True)
    ]
    a, b = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = rng.permutation(n)
    return a[order], b[order]


def uniform(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw any bits."""
    return _bits(rng, n, fmt.width), _bits(rng, n, fmt.width)


def near_exponents(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw exponents at most so far apart that the smaller operand still matters to a sum."""
    exponent = rng.integers(0, 1 << fmt.exp_w, n)
    distance = rng.integers(-fmt.man_w - 4, fmt.man_w + 5, n)
    return _random(fmt, rng, exponent), _random(fmt, rng, exponent + distance)


def cancellation(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a number and nearly its negative: sums lose many leading bits, or all."""
    a, _ = uniform(fmt, rng, n)
    step = rng.integers(0, 1 << rng.integers(0, fmt.man_w + 1, n)).astype(np.uint64)
    step = _with_runs(fmt, rng, step)
    below = _bits(rng, n, 1) == 1
    b = np.where(below, a - np.minimum(step, a), a + step) & np.uint64(2 * fmt.sign_mask - 1)
    return a, b ^ np.uint64(fmt.sign_mask)


def overflow(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw operands of sums and products around the largest finite number.

    Half of the sums get there by rounding.
    """
    top = 2 * fmt.bias
    kind = np.arange(n) % 4
    product, rounded = kind < 2, kind == 2
    a = rng.integers(np.where(product, fmt.bias, top - 1), top + 1)
    b = np.where(product, top + fmt.bias - a, top) + rng.integers(-2, 2, n)
    b -= np.where(rounded, fmt.man_w + 1, 0)
    return _random(fmt, rng, a), _random(fmt, rng, b)


def flush(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw operands of sums and products around the smallest normal."""
    product = np.arange(n) % 2 == 0
    a = rng.integers(1, np.where(product, fmt.bias + 1, 4))
    b = np.where(product, fmt.bias + 1 - a + rng.integers(-2, 2, n), rng.integers(0, 4, n))
    return _random(fmt, rng, a), _random(fmt, rng, b)


def one_corner(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a corner with any number, in either order."""
    a = rng.choice(np.array(corners(fmt), dtype=np.uint64), n)
    b, _ = uniform(fmt, rng, n)
    swap = _bits(rng, n, 1) == 1
    return np.where(swap, b, a), np.where(swap, a, b)


def not_numbers(fmt: Format, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw subnormals and NaNs, which one bit of the mantissa tells, and any with them."""
    highest = (1 << fmt.exp_w) - 1
    a = _random(fmt, rng, rng.integers(0, 2, n) * highest)
    b = _random(fmt, rng, rng.integers(0, highest + 1, n))
    swap = _bits(rng, n, 1) == 1
    return np.where(swap, b, a), np.where(swap, a, b)


def differences_of_ones(
    fmt: Format, rng: np.random.Generator, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw numbers whose sum is just below the smallest normal number: ones, then zeros.

    Where all bits are ones, an adder may see the smallest normal number before it has added a unit.
    """
    low = rng.integers(0, fmt.man_w, n)
    high = rng.integers(low + 1, fmt.man_w + 1)
    one = np.uint64(1)
    step = (one << high.astype(np.uint64)) - (one << low.astype(np.uint64))
    exponent = np.clip(fmt.man_w + 1 - high, 1, 2 * fmt.bias).astype(np.uint64)
    a = (exponent << np.uint64(fmt.man_w)) | _bits(rng, n, fmt.man_w)
    b = np.where(_bits(rng, n, 1) == 1, a - step, a + step)
    sign = _bits(rng, n, 1) << np.uint64(fmt.width - 1)
    return a ^ sign, b ^ sign ^ np.uint64(fmt.sign_mask)


def products_of_ones(
    fmt: Format, rng: np.random.Generator, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw factors of products in the last binade, all ones but for a bit.

    They are about to be rounded up, which overflows where all bits are ones.
    """
    one = fmt.min_normal  # the leading one of a significand
    most = 2 * one - 1
    first, second = [], []
    for hole in rng.integers(0, fmt.man_w, n):
        end = 2 * one * (most - (1 << int(hole)) + 1) - 1  # of the products that are cut to this
        first.append(int(rng.integers(min(end // most + 1, most), most + 1)))
        second.append(min(end // first[-1], most))
    exponent = rng.integers(fmt.bias, 2 * fmt.bias, n)

    def numbers(exponent: np.ndarray, significands: list[int]) -> np.ndarray:
        mantissa = np.array(significands, dtype=np.uint64) - np.uint64(one)
        sign = _bits(rng, n, 1) << np.uint64(fmt.width - 1)
        return sign | (exponent.astype(np.uint64) << np.uint64(fmt.man_w)) | mantissa

    return numbers(exponent, first), numbers(3 * fmt.bias - 1 - exponent, second)


DISTRIBUTIONS = (uniform, near_exponents, cancellation, overflow, flush, one_corner, not_numbers)


def _bits(rng: np.random.Generator, n: int, width: int) -> np.ndarray:
    return rng.integers(0, 1 << width, n, dtype=np.uint64)


def _random(fmt: Format, rng: np.random.Generator, exponent: np.ndarray) -> np.ndarray:
    """Draw numbers of the exponents given (clipped to the format's), with any sign.

    Their mantissas have runs of ones or zeros: products and sums of such numbers are ties, or
    carry far.
    """
    n = len(exponent)
    mantissa = _with_runs(fmt, rng, _bits(rng, n, fmt.man_w))
    exponent = np.clip(exponent, 0, (1 << fmt.exp_w) - 1).astype(np.uint64)
    sign = _bits(rng, n, 1) << np.uint64(fmt.width - 1)
    return sign | (exponent << np.uint64(fmt.man_w)) | mantissa


def _with_runs(fmt: Format, rng: np.random.Generator, mantissa: np.ndarray) -> np.ndarray:
    """Mantissas of which a fifth stays as it is.

    A fifth ends in zeros from a random place, a fifth in ones; a fifth becomes one run of ones,
    half of these one bit long, and a fifth all ones but for such a run.
    """
    n, one = len(mantissa), np.uint64(1)
    ones = np.uint64(fmt.min_normal - 1)
    tail = (one << rng.integers(0, fmt.man_w + 1, n, dtype=np.uint64)) - one
    low = rng.integers(0, fmt.man_w, n, dtype=np.uint64)
    high = np.where(_bits(rng, n, 1) == 1, low + one, rng.integers(low + one, fmt.man_w + 1))
    run = (one << high.astype(np.uint64)) - (one << low)
    kinds = (mantissa, mantissa & ~tail, mantissa | tail, run, run ^ ones)
    return np.choose(rng.integers(0, len(kinds), n), kinds)
