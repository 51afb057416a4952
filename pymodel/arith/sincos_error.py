"""Measure the errors of `Format.sincos` over binary32 angles, and print them.

The angles of every narrower format are among them.
`python -m pymodel.arith.sincos_error [COUNT]` is the command.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pymodel.arith import sincos
from pymodel.arith.fp import BINARY32

SIGNIFICANDS = 1 << BINARY32.man_w
SMALLEST, LARGEST = -14, sincos.MAX_EXPONENT  # binades of which many are taken; below, sin x is x
MULTIPLES = 16  # of each convergent
CHUNK = 1 << 20
SEED = 1

_TABLES = sincos.tables()
_ARRAYS = sincos.Tables(
    tuple(map(np.array, _TABLES.multiples)), *(np.array(column) for column in _TABLES[1:])
)


def _bit_length(x: np.ndarray) -> np.ndarray:
    """Bit lengths of int64 in 0 .. 2**62; ``frexp`` alone would round 2**57 - 1 up."""
    high, low = np.frexp(x >> 30)[1], np.frexp(x & ((1 << 30) - 1))[1]
    return np.where(high > 0, high + 30, low).astype(np.int64)


def sincos_of(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Evaluate ``BINARY32.sincos`` on an array.

    Parameters
    ----------
    bits : numpy.ndarray of int, shape (n,)
        Positive normal numbers in its range, rad.

    Returns
    -------
    sin, cos : numpy.ndarray of int64, shape (n,)
        Bits of the results.
    """
    bits = bits.astype(np.int64)
    exponent = (bits >> BINARY32.man_w) - BINARY32.bias
    significand = bits & (SIGNIFICANDS - 1) | SIGNIFICANDS
    count, negative, sin, sin_exponent, cos = sincos.fixed_point(
        significand, exponent, _ARRAYS, _bit_length, np.where
    )
    half_turn, quarter_turn = count >> 1 & 1, count & 1
    sin = _round(sin, sin_exponent - sincos.NORMAL_W + 1, half_turn ^ negative ^ quarter_turn)
    cos = _round(cos, -sincos.VALUE_F, half_turn)
    return np.where(quarter_turn, cos, sin), np.where(quarter_turn, sin, cos)


def _round(value: np.ndarray, exponent: np.ndarray | int, negative: np.ndarray) -> np.ndarray:
    """Bits of value * 2**exponent, half an ULP rounded up; nothing is that small or that large."""
    drop = _bit_length(value) - BINARY32.man_w - 1
    rounded = (value >> (drop - 1)) + 1 >> 1
    field = BINARY32.bias + exponent + drop + BINARY32.man_w - 1
    return negative << (BINARY32.width - 1) | (field << BINARY32.man_w) + rounded


@dataclass
class Worst:
    """The largest errors of a set of angles, each with its angle.

    Attributes
    ----------
    ulp : tuple of float
        Largest error in ULP, and its angle in rad.
    near_zero : tuple of float
        Largest absolute error of results below 2**-8, and its angle in rad.
    wrong : int
        Number of results that are not correctly rounded.
    results : int
        Number of results, two an angle.
    """

    ulp: tuple[float, float] = (0.0, 0.0)
    near_zero: tuple[float, float] = (0.0, 0.0)
    wrong: int = 0
    results: int = 0

    def add(self, bits: np.ndarray) -> "Worst":
        """Take more angles in, given as bits of positive numbers; returns itself."""
        x = bits.astype(np.uint32).view(np.float32).astype(np.float64)
        for got, exact in zip(sincos_of(bits), (np.sin(x), np.cos(x)), strict=True):
            got = got.astype(np.uint32).view(np.float32)
            # The machine's float64 functions are right to 2**-52, 2**-28 ULP of binary32.
            error = np.abs(got - exact)
            ulp = np.exp2(np.floor(np.log2(np.abs(exact))) - BINARY32.man_w)
            self.ulp = _larger(self.ulp, error / ulp, x)
            self.near_zero = _larger(self.near_zero, np.where(np.abs(exact) < 2.0**-8, error, 0), x)
            self.wrong += int(np.count_nonzero(got != exact.astype(np.float32)))
            self.results += len(x)
        return self

    def __str__(self) -> str:
        return (
            f"{self.results} results: error at most {self.ulp[0]:.4f} ULP (at {self.ulp[1]!r}), "
            f"next to zeros {self.near_zero[0]:.2e} (at {self.near_zero[1]!r}), "
            f"{100 * (1 - self.wrong / self.results):.1f} % correctly rounded"
        )


def _larger(before: tuple[float, float], errors: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    at = int(np.argmax(errors))
    return max(before, (float(errors[at]), float(x[at])))


# --- the angles ----------------------------------------------------------------------------------


def near_multiples(neighbours: int = 3, limit: int = 1 << (LARGEST + 1)) -> np.ndarray:
    """Floats around the multiples of pi/2: the nearest one and its neighbours.

    Parameters
    ----------
    neighbours : int
        How many to take on either side of the nearest one.
    limit : int
        Multiples up to this angle in rad; all in range by default.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Bits.
    """
    multiples = np.arange(1, int(limit / (np.pi / 2)) + 1) * (np.pi / 2)
    nearest = multiples.astype(np.float32).view(np.uint32).astype(np.int64)
    bits = nearest[:, None] + np.arange(-neighbours, neighbours + 1)
    return bits[bits < in_range_end()]


def in_range_end() -> int:
    """Bits of the first positive number out of the range."""
    return (BINARY32.bias + LARGEST + 1) << BINARY32.man_w


def convergents() -> np.ndarray:
    """Floats that come nearest to multiples of pi/2, where reducing them cancels most.

    S 2**(e - 23) is nearly n pi/2 if n / S is a convergent of the continued fraction of
    2**(e - 22) / pi, or S a small multiple of one, or of one and its predecessor.

    Returns
    -------
    numpy.ndarray of int64, shape (n,)
        Bits, ascending.
    """
    found = set()
    for exponent in range(SMALLEST, LARGEST + 1):
        ratio = Fraction(1 << sincos.PI_F, sincos.PI) * Fraction(2) ** (exponent + 1) / SIGNIFICANDS
        before, denominator = 1, 0
        while before + denominator < 2 * SIGNIFICANDS:
            whole = int(ratio)
            before, denominator = denominator, whole * denominator + before
            if denominator == 0 or ratio == whole:
                break
            ratio = 1 / (ratio - whole)
            for start in (0, before):
                first = -(-(SIGNIFICANDS - start) // denominator)
                steps = range(max(first, 1), max(first, 1) + MULTIPLES)
                found |= {(exponent, start + k * denominator) for k in steps}
    return np.array(
        sorted(
            ((exponent + BINARY32.bias) << BINARY32.man_w) + significand - SIGNIFICANDS
            for exponent, significand in found
            if SIGNIFICANDS <= significand < 2 * SIGNIFICANDS
        )
    )


def tiny_and_large() -> np.ndarray:
    """Bits of the ends of every binade, from the smallest normal to the end of the range."""
    ends = np.arange(1, (in_range_end() >> BINARY32.man_w) + 1)[:, None] << BINARY32.man_w
    bits = (ends + np.arange(-8, 8)).ravel()
    return bits[(bits >= BINARY32.min_normal) & (bits < in_range_end())]


def random(rng: np.random.Generator, count: int) -> np.ndarray:
    """Bits of any significands, with exponents evenly from those where something happens."""
    exponent = rng.integers(SMALLEST, LARGEST + 1, count) + BINARY32.bias
    return (exponent << BINARY32.man_w) + rng.integers(0, SIGNIFICANDS, count)


def every(exponents: range = range(SMALLEST, LARGEST + 1)) -> Iterator[np.ndarray]:
    """Yield all numbers of some binades, in arrays of bits of ``CHUNK`` numbers each."""
    for exponent in exponents:
        first = (exponent + BINARY32.bias) << BINARY32.man_w
        for start in range(first, first + SIGNIFICANDS, CHUNK):
            yield np.arange(start, start + CHUNK)


def check(count: int, report: Callable[[str], None] = print) -> Worst:
    """Measure the directed angles, then random ones or all.

    Parameters
    ----------
    count : int
        Number of random angles; 0 for all of the range instead.
    report : callable
        Takes a line of text for each set of angles, and one for all.

    Returns
    -------
    Worst
        The errors of all sets together.
    """
    sets: dict[str, Iterable[np.ndarray]] = {
        "near multiples of pi/2": [near_multiples()],
        "convergents": [convergents()],
        "ends of binades": [tiny_and_large()],
    }
    if count:
        rng = np.random.default_rng(SEED)
        sizes = [CHUNK] * (count // CHUNK) + [count % CHUNK] * (count % CHUNK > 0)
        sets["random"] = (random(rng, size) for size in sizes)
    else:
        sets[f"every one from 2**{SMALLEST}"] = every()
    total = Worst()
    for name, parts in sets.items():
        worst = Worst()
        for bits in parts:
            worst.add(bits)
            total.add(bits)
        report(f"{name}: {worst}")
    report(f"all: {total}")
    return total


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the errors."""
    parser = argparse.ArgumentParser(
        prog="python -m pymodel.arith.sincos_error", description=__doc__
    )
    parser.add_argument(
        "count",
        type=int,
        nargs="?",
        default=0,
        help="random angles to measure; 0, the default: all",
    )
    check(parser.parse_args(arguments).count)
    return 0


if __name__ == "__main__":
    main()
