"""Numbers whose every operation is a little wrong, at random: how much rounding a text magnifies.

Evaluated so, a text shows what becomes of its rounding errors, whatever cancels where (Parker,
Monte Carlo arithmetic, 1997). Arrays hold many evaluations, each with errors of its own.
"""

from __future__ import annotations

import math

import numpy as np

#: Largest relative error of an operation. It is far above float64's own rounding, and so small that
#: what it makes wrong grows in proportion until nearly all digits of float64 are lost.
ERROR = 2.0**-48
#: Errors that are drawn in advance, and by how many an operation's stand behind the last one's.
DRAWN, STRIDE = 1 << 16, 4093
#: Share of a determinant, or pivot, that may be error: with more the errors look small again, as
#: those of 1 / x are where x is large by error.
SPOILED = 0.25
#: Numbers with so few bits are exact in every format.
EXACT_BITS = 3


class PerturbedArrays:
    """Scalars that are arrays of float64; all results get relative errors up to :data:`ERROR`.

    Nothing is singular here: what cannot be inverted gives infinities.

    Parameters
    ----------
    states : int
        Number of states that are evaluated.
    each : int
        Evaluations of each state. Arrays hold one of every state, then the next ones.

    Attributes
    ----------
    spoiled : ndarray of bool, shape (states,)
        Whether a matrix was inverted that is all error, see :data:`SPOILED`.
    """

    name = "perturbed"
    flags = 0

    def __init__(self, states: int, each: int) -> None:
        self.each, self.count = each, states * each
        self.spoiled = np.zeros(states, bool)
        rng = np.random.default_rng(1997)
        self._factors = 1.0 + ERROR * rng.uniform(-1.0, 1.0, DRAWN + self.count)
        self._next = 0

    def rounded(self, x: np.ndarray | float) -> Perturbed:
        """What an operation gives whose exact result is x."""
        here = self._next
        self._next = (here + STRIDE) % DRAWN
        return Perturbed(self, x * self._factors[here : here + self.count])

    def given(self, x: np.ndarray) -> Perturbed:
        """Take an exact number of each state."""
        return Perturbed(self, np.tile(x, self.each))

    def of_states(self, x: Perturbed) -> np.ndarray:
        """Evaluations of each state, (each, states)."""
        return x.values.reshape(self.each, -1)

    def const(self, x: float) -> Perturbed:
        """Round x, unless no format has to."""
        fraction, _ = math.frexp(x)
        if (fraction * 2.0**EXACT_BITS).is_integer():
            return Perturbed(self, np.full(self.count, float(x)))
        return self.rounded(float(x))

    def parameter(self, name: str, x: float) -> Perturbed:
        """Round x."""
        return self.const(x)

    structural = parameter

    def recip(self, x: Perturbed) -> Perturbed:
        """1 / x; infinite for zero."""
        with np.errstate(divide="ignore"):
            return self.rounded(1.0 / x.values)

    def sincos(self, x: Perturbed) -> tuple[Perturbed, Perturbed]:
        """(sin x, cos x)."""
        with np.errstate(invalid="ignore"):
            return self.rounded(np.sin(x.values)), self.rounded(np.cos(x.values))

    def is_zero(self, x: Perturbed) -> bool:
        """Note what is all error; no, as all evaluations go on.

        The text asks of what a matrix is inverted with.
        """
        rows = self.of_states(x)
        mean = rows.mean(axis=0)
        self.spoiled |= ~(np.abs(rows - mean).max(axis=0) < SPOILED * np.abs(mean))
        return False

    def is_finite(self, x: Perturbed) -> bool:
        """Yes: all evaluations go on."""
        return True


class Perturbed:
    """Numbers of :class:`PerturbedArrays`.

    Attributes
    ----------
    values : ndarray
    """

    __slots__ = ("arithmetic", "values")

    def __init__(self, arithmetic: PerturbedArrays, values: np.ndarray) -> None:
        self.arithmetic = arithmetic
        self.values = values

    def __add__(self, other: Perturbed) -> Perturbed:
        return self.arithmetic.rounded(self.values + other.values)

    def __sub__(self, other: Perturbed) -> Perturbed:
        return self.arithmetic.rounded(self.values - other.values)

    def __mul__(self, other: Perturbed) -> Perturbed:
        return self.arithmetic.rounded(self.values * other.values)

    def __neg__(self) -> Perturbed:
        return Perturbed(self.arithmetic, -self.values)
