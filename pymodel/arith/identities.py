"""Identities: which operations are zero, or plus or minus another one, by algebra.

What the text adds may cancel whatever the data are: the turning of a body of revolution about its
axis, or the square of a vector's length, which no rotation changes. By floats such a sum is a
rounding error or done again. :class:`Identities` finds these in two steps:

* Every node is evaluated at one random point, exactly, in the integers modulo a prime. Where a sum
  gives zero there, or an operation what another one gave, an identity is likely.
* It is then proved: the difference is expanded as a polynomial with rational coefficients, the last
  operation first, until all its terms cancel. Only what is proved is left out.

Sine and cosine of an angle are two unknowns with cos^2 = 1 - sin^2, and a reciprocal is one with
x (1/x) = 1. A number is what its float is, exactly: twice the square of 0.70710678 is not one, and
what is only nearly zero stays. Parameters as data are unknowns, so that an identity holds for all
their values.
"""

import math
import random
from fractions import Fraction
from typing import Any

PRIME = (1 << 61) - 1
SEED = 1

#: Nodes among which identities are sought: those of more take too much memory.
MOST_NODES = 1 << 17
#: Terms that a proof may write; one that needs more is given up, and the operation is done. Of the
#: iiwa's diFD 59 products and 42 sums need more than 1000.
MOST_TERMS = 4000

Key = tuple[Any, ...]  # of a node of Terms: an operation and its operands
Signed = tuple[int, bool]  # a node, and whether its sign is turned
Monomial = tuple[int, ...]  # operations, the last one first; then unknowns, as negative numbers

ZERO, ONE = 0, 1  # nodes


class Identities:
    """What is known of the nodes of :class:`pymodel.arith.terms.Terms`, to prove more."""

    def __init__(self) -> None:
        self._random = random.Random(SEED)
        self._keys: list[Key] = []
        self._at: list[int] = []  # values at the random point
        self._first: dict[int, int] = {}  # value, or what is left to the prime -> first node
        self._angles: dict[Key, int] = {}  # tangent of half the angle
        self._ruled: dict[int, int] = {}  # see Proof
        self._asked: tuple[Key, int] = ((), 0)  # what was asked for last, and its value

    def append(self, key: Key) -> None:
        """Take the next node."""
        if len(self._keys) >= MOST_NODES:
            return
        value = self._asked[1] if self._asked[0] == key else self._value(key)
        self._first.setdefault(min(value, PRIME - value), len(self._keys))
        node = len(self._keys)
        self._keys.append(key)
        self._at.append(value)
        if key[0] == "rec":
            self._ruled[_atom(self._keys, node)] = _atom(self._keys, key[1])
        elif key[0] == "cos":
            self._ruled[_atom(self._keys, node)] = _atom(self._keys, node - 1)

    def likely(self, key: Key) -> Signed | None:
        """Tell which node a sum or product is likely to be, or the negative of which, if of any."""
        if len(self._keys) >= MOST_NODES:
            return None
        value = self._value(key)
        self._asked = key, value
        node = self._first.get(min(value, PRIME - value))
        return None if node is None else (node, self._at[node] != value)

    def proved(self, key: Key, same: Signed) -> bool:
        """Whether a sum or product is a node, or its negative, for all data; see :class:`Proof`."""
        node, negative = same
        proof = Proof(self._keys, self._ruled)
        proof.put_operation(key, (), 1)
        if node != ZERO:
            proof.put(_atom(self._keys, node), (), 1 if negative else -1)
        return proof.succeeds()

    def _value(self, key: Key) -> int:
        """Value of a node at the random point; of what has none there any."""
        at, operation = self._at, key[0]
        if operation == "mul":
            return at[key[1]] * at[key[2]] % PRIME
        if operation == "add":
            return (at[key[1]] - at[key[2]] if key[3] else at[key[1]] + at[key[2]]) % PRIME
        if operation == "rec" and at[key[1]]:
            return pow(at[key[1]], -1, PRIME)
        if operation == "number" and math.isfinite(key[1]):
            over, under = key[1].as_integer_ratio()
            return over * pow(under, -1, PRIME) % PRIME
        if operation in ("sin", "cos"):
            t = self._angles.setdefault(key[1:], self._any())
            both = 2 * t if operation == "sin" else 1 - t * t
            return both * pow(1 + t * t, -1, PRIME) % PRIME
        return self._any()

    def _any(self) -> int:
        return self._random.randrange(2, PRIME - 1)


class Proof:
    """A polynomial whose operations are expanded, the last first, until it is zero or all are.

    Parameters
    ----------
    keys : list
        Of the nodes.
    ruled : dict
        Atom of each reciprocal -> that of what it is of; of each cosine -> that of the sine.
    """

    def __init__(self, keys: list[Key], ruled: dict[int, int]) -> None:
        self._keys = keys
        self._ruled = ruled
        self._written = 0
        self._one = _atom(keys, ONE)
        self._open: dict[int, dict[Monomial, int]] = {}  # last operation -> monomials -> factors
        self._left: dict[Monomial, int] = {}  # monomials of unknowns and numbers alone

    def succeeds(self) -> bool:
        """Whether the polynomial is zero; no, if that takes too many terms to see."""
        while self._open:
            if self._written > MOST_TERMS:
                return False
            last = max(self._open)
            for monomial, factor in self._open.pop(last).items():
                self.put_operation(self._keys[last], monomial[1:], factor)
        return self._is_zero_in_unknowns()

    def put_operation(self, key: Key, others: Monomial, factor: int) -> None:
        """Add a multiple of an operation's result times other atoms."""
        a, b = _atom(self._keys, key[1]), _atom(self._keys, key[2])
        if key[0] == "mul":
            self.put(a, (b, *others), factor)
        else:
            self.put(a, others, factor)
            self.put(b, others, -factor if key[3] else factor)

    def put(self, atom: int, others: Monomial, factor: int) -> None:
        """Add a multiple of an atom times others."""
        self._written += 1
        monomial = tuple(sorted((atom, *others), reverse=True))
        ruled = self._ruled
        for unknown in monomial:
            if unknown not in ruled:
                continue
            other = ruled[unknown]
            if self._keys[-unknown - 1][0] == "rec":  # x (1/x) = 1
                if other in monomial:
                    self.put(self._one, _without(monomial, unknown, other), factor)
                    return
            elif monomial.count(unknown) > 1:  # cos^2 = 1 - sin^2
                rest = _without(monomial, unknown, unknown)
                self.put(self._one, rest, factor)
                self.put(other, (other, *rest), -factor)
                return
        if len(monomial) > 1 and self._one in monomial:
            monomial = tuple(x for x in monomial if x != self._one)
        last = monomial[0] if monomial else -1
        same = self._left if last < 0 else self._open.setdefault(last, {})
        _increase(same, monomial, factor)
        if last >= 0 and not same:
            del self._open[last]

    def _is_zero_in_unknowns(self) -> bool:
        """Whether what is left is zero, its numbers multiplied out."""
        found: dict[Monomial, Fraction] = {}
        for monomial, whole in self._left.items():
            factor, unknowns = Fraction(whole), []
            for unknown in monomial:
                operation, *operands = self._keys[-unknown - 1]
                if operation == "number" and math.isfinite(operands[0]):
                    factor *= Fraction(operands[0])
                else:
                    unknowns.append(unknown)
            _increase(found, tuple(unknowns), factor)
        return not found


def _atom(keys: list[Key], node: int) -> int:
    """A node in a monomial: an operation as it is, what is not expanded as a negative."""
    return node if keys[node][0] in ("add", "mul") else -node - 1


def _increase(terms: dict[Monomial, Any], monomial: Monomial, by: Any) -> None:
    """Add to a factor, and take out what becomes zero."""
    factor = terms.get(monomial, 0) + by
    if factor:
        terms[monomial] = factor
    else:
        terms.pop(monomial, None)


def _without(monomial: Monomial, *atoms: int) -> Monomial:
    rest = list(monomial)
    for atom in atoms:
        rest.remove(atom)
    return tuple(rest)
