"""Terms: scalars that know their structure, on top of any arithmetic.

The text of a robot's functions (:mod:`pymodel.algorithms.rigid_body`) writes every formula as it
stands in the book, for the general case. :class:`Terms` turns it into few operations, by rules that
no arithmetic changes, so that every arithmetic gives the same bits:

* what is zero or plus or minus one by structure is never computed with, and x - x is zero;
* equal operations on equal operands are done once;
* a sign belongs to a term and costs nothing, so -a - b is done as a + b, b - a as a - b;
* numbers are computed with once, in float64; 2 x is x + x; c (d x) is (c d) x for numbers c, d;
* a sum of many terms adds what is ready first (:func:`total`), constants before all;
* on demand, what is zero or another operation by algebra is not done
  (:mod:`pymodel.arith.identities`).
"""

import bisect
import heapq
from collections.abc import Iterable
from typing import Any, Generic

from pymodel.arith.identities import ONE, ZERO, Identities, Key, Signed
from pymodel.arith.scalars import S, SupportsArithmetic

#: How long operations take when the order of a sum is chosen, cycles. It is part of the text's
#: specification, and does not follow the latencies of a particular machine.
DELAY = {"add": 4, "mul": 3, "rec": 7, "sincos": 14}

#: Numbers that differ by less, relatively, are one: products of a model's rotations leave dust of a
#: few roundings. What differs by more stays apart: a small mass on a large one is no dust.
SAME_NUMBER = 4e-15


class Term:
    """A signed reference to a node of :class:`Terms`: what the text sees as a scalar."""

    __slots__ = ("negative", "node", "terms")

    def __init__(self, terms: "Terms[Any]", node: int, negative: bool = False) -> None:
        self.terms = terms
        self.node = node
        self.negative = negative

    def __neg__(self) -> "Term":
        return self if self.node == ZERO else Term(self.terms, self.node, not self.negative)

    def __add__(self, other: "Term") -> "Term":
        return self.terms.add(self, other)

    def __sub__(self, other: "Term") -> "Term":
        return self.terms.add(self, -other)

    def __mul__(self, other: "Term") -> "Term":
        return self.terms.mul(self, other)

    @property
    def is_zero(self) -> bool:
        """Whether the term is zero by structure."""
        return self.node == ZERO


def total(terms: Iterable[Term]) -> Term:
    """Sum of at least one term: the two that are ready first are added, until one is left."""
    terms = list(terms)
    return terms[0].terms.total(terms)


class Terms(Generic[S]):
    """Arithmetic whose scalars are :class:`Term`; see the module's docstring.

    Parameters
    ----------
    arithmetic : SupportsArithmetic
        Does the operations, each once, as soon as the text asks for it.
    parameters_as_data : bool
        A parameter keeps its name and may change its value later, as long as the structure stays:
        what is 0, 1 or -1, and which sums of parameters are 0. False: it is a number like those of
        the text.
    identities : bool
        Do no operation that is zero, or plus or minus an earlier one, by algebra. Not for a text
        that rounds on purpose, or that computes a small difference in another way to be accurate.
    """

    def __init__(
        self,
        arithmetic: SupportsArithmetic[S],
        parameters_as_data: bool = False,
        identities: bool = False,
    ) -> None:
        self.arithmetic = arithmetic
        self.parameters_as_data = parameters_as_data
        self.name = arithmetic.name
        self._values: list[S] = []  # of each node: the scalar; what follows likewise
        self._ready: list[int] = []
        self._fixed: list[float | None] = []  # what depends on numbers and parameters alone
        self._is_number: list[bool] = []  # what depends on numbers alone
        # No term is kept: it would keep this object, which would keep the term.
        self._factor: dict[int, tuple[int, int]] = {}  # product with something fixed -> both
        self._sums: dict[int, tuple[Signed, Signed]] = {}  # sum -> its operands
        self._read: set[int] = set()  # by other operations
        self._known: dict[Key, int] = {}
        self._identities = Identities() if identities else None
        self._same: dict[Key, Signed] = {}  # what is not done -> what it is by algebra
        self._numbers: list[float] = []  # magnitudes of numbers, in order
        for number in (0.0, 1.0):  # ZERO and ONE
            self.const(number)

    @property
    def zero(self) -> Term:
        """The number 0."""
        return Term(self, ZERO)

    @property
    def one(self) -> Term:
        """The number 1."""
        return Term(self, ONE)

    @property
    def flags(self) -> int:
        """Sticky float flags of all operations so far."""
        return self.arithmetic.flags

    def value(self, term: Term) -> S:
        """Return a term's value, a scalar of the arithmetic."""
        value = self._values[term.node]
        return -value if term.negative else value

    def _node(
        self,
        key: Key,
        value: S,
        ready: int,
        fixed: float | None = None,
        number: bool = False,
    ) -> Term:
        node = self._known[key] = len(self._values)
        self._values.append(value)
        self._ready.append(0 if fixed is not None else ready)
        self._fixed.append(fixed)
        self._is_number.append(number)
        if self._identities is not None:
            self._identities.append(key)
        return Term(self, node)

    def _found(self, key: Key, ready: int) -> Term | None:
        """What a sum or product is already: done before, or by algebra what is ready no later."""
        node = self._known.get(key)
        if node is not None:
            return Term(self, node)
        identities = self._identities
        if identities is None:
            return None
        same = self._same.get(key)
        if same is None:
            same = identities.likely(key)
            if same is None or self._ready[same[0]] > ready or not identities.proved(key, same):
                return None
            self._same[key] = same
        return Term(self, *same)

    # --- leaves -----------------------------------------------------------------------------------

    def given(self, value: S) -> Term:
        """Take a scalar of the arithmetic: an input."""
        return self._node(("given", len(self._values)), value, 0)

    def const(self, x: float) -> Term:
        """Give a number of the text; 0 and +-1 are structure."""
        magnitude = abs(float(x))
        place = bisect.bisect_left(self._numbers, magnitude)
        for near in self._numbers[max(place - 1, 0) : place + 1]:
            if near == magnitude or abs(near - magnitude) < SAME_NUMBER * magnitude:
                return self._signed(Term(self, self._known["number", near]), x < 0)
        self._numbers.insert(place, magnitude)
        value = self.arithmetic.const(magnitude)
        found = self._node(("number", magnitude), value, 0, magnitude, number=True)
        return self._signed(found, x < 0)

    def parameter(self, name: str, x: float) -> Term:
        """Give a parameter of the model; 0 and +-1 are structure."""
        if not self.parameters_as_data or x == 0 or _is_one(x):
            return self.const(x)
        key = ("parameter", name)
        if key in self._known:
            return Term(self, self._known[key])
        return self._node(key, self.arithmetic.parameter(name, x), 0, float(x))

    structural = parameter

    def _signed_value(self, term: Term) -> float | None:
        """What is known of a term before any evaluation."""
        value = self._fixed[term.node]
        return -value if term.negative and value is not None else value

    @staticmethod
    def _signed(term: Term, negative: bool) -> Term:
        return -term if negative else term

    # --- operations -------------------------------------------------------------------------------

    def add(self, a: Term, b: Term) -> Term:
        """a + b."""
        if a.node == ZERO:
            return b
        if b.node == ZERO:
            return a
        if a.node == b.node and a.negative != b.negative:
            return self.zero
        p, q = self._signed_value(a), self._signed_value(b)
        whole = None
        if p is not None and q is not None:
            whole = p + q
            if abs(whole) < SAME_NUMBER * max(abs(p), abs(q)):
                return self.zero
            if self._is_number[a.node] and self._is_number[b.node]:
                return self.const(whole)
        if (b.node, b.negative) < (a.node, a.negative):
            a, b = b, a
        turned = a.negative
        subtracts = b.negative != turned
        key = ("add", a.node, b.node, subtracts)
        ready = max(self._ready[a.node], self._ready[b.node]) + DELAY["add"]
        known = self._found(key, ready)
        if known is not None:
            return self._signed(known, turned)
        x, y = self._values[a.node], self._values[b.node]
        self._read |= {a.node, b.node}
        if whole is not None and turned:
            whole = -whole
        found = self._node(key, x - y if subtracts else x + y, ready, whole)
        self._sums[found.node] = (a.node, a.negative != turned), (b.node, b.negative != turned)
        return self._signed(found, turned)

    def mul(self, a: Term, b: Term) -> Term:
        """a b."""
        if a.node == ZERO or b.node == ZERO:
            return self.zero
        negative = a.negative != b.negative
        if a.node == ONE:
            return Term(self, b.node, negative)
        if b.node == ONE:
            return Term(self, a.node, negative)
        first, second = sorted((a.node, b.node))
        p, q = self._fixed[first], self._fixed[second]
        whole = None if p is None or q is None else p * q
        if whole is not None and self._is_number[first] and self._is_number[second]:
            return self._signed(self.const(whole), negative)
        key = ("mul", first, second)
        ready = max(self._ready[first], self._ready[second]) + DELAY["mul"]
        known = self._found(key, ready)
        if known is not None:
            return self._signed(known, negative)
        for c, x in ((first, second), (second, first)):
            if self._is_number[c] and self._fixed[c] == 2.0:
                return self._signed(self.add(Term(self, x), Term(self, x)), negative)
            if self._fixed[c] is not None and x in self._factor:
                d, rest = self._factor[x]
                return self._signed(Term(self, c) * Term(self, d) * Term(self, rest), negative)
        self._read |= {first, second}
        product = self._node(key, self._values[first] * self._values[second], ready, whole)
        if (p is None) != (q is None):
            c, x = (first, second) if p is not None else (second, first)
            self._factor[product.node] = c, x
        return self._signed(product, negative)

    def recip(self, x: Term) -> Term:
        """1 / x; of zero by structure what the arithmetic gives for zero: an infinity."""
        fixed = self._fixed[x.node]
        whole = 1.0 / fixed if fixed else None
        if whole is not None and self._is_number[x.node]:
            return self._signed(self.const(whole), x.negative)
        key = ("rec", x.node)
        node = self._known.get(key)
        if node is not None:
            return Term(self, node, x.negative)
        self._read.add(x.node)
        value = self.arithmetic.recip(self._values[x.node])
        found = self._node(key, value, self._ready[x.node] + DELAY["rec"], whole)
        return self._signed(found, x.negative)

    def sincos(self, x: Term) -> tuple[Term, Term]:
        """(sin x, cos x)."""
        keys = [(function, x.node, x.negative) for function in ("sin", "cos")]
        if keys[0] not in self._known:
            ready = self._ready[x.node] + DELAY["sincos"]
            for key, value in zip(keys, self.arithmetic.sincos(self.value(x)), strict=True):
                self._node(key, value, ready)
        sin, cos = (Term(self, self._known[key]) for key in keys)
        return sin, cos

    def total(self, terms: Iterable[Term]) -> Term:
        """Sum of terms: the two that are ready first are added, until one is left."""
        waiting = [(self._ready[t.node], t.node, t.negative) for t in terms if t.node != ZERO]
        if not waiting:
            return self.zero
        heapq.heapify(waiting)
        while len(waiting) > 1:
            (_, a, a_negative), (_, b, b_negative) = heapq.heappop(waiting), heapq.heappop(waiting)
            term = self.add(Term(self, a, a_negative), Term(self, b, b_negative))
            if term.node != ZERO:
                heapq.heappush(waiting, (self._ready[term.node], term.node, term.negative))
            elif not waiting:
                return self.zero
        _, node, negative = waiting[0]
        return Term(self, node, negative)

    # --- what depends on data ---------------------------------------------------------------------

    def is_zero(self, x: Term) -> bool:
        """Whether x is zero, for a status."""
        return self.arithmetic.is_zero(self.value(x))

    def is_finite(self, x: Term) -> bool:
        """Whether x is finite, for a status."""
        return self.arithmetic.is_finite(self.value(x))

    # --- results ----------------------------------------------------------------------------------

    def results(self, terms: Iterable[Term]) -> list[S]:
        """Return the values of results: a negative sum that nothing else needs turns all its signs.

        Hardware then stores it as it leaves the adder. (It differs in the sign of a zero only.)
        """
        terms = list(terms)
        needed = self._read | {term.node for term in terms if not term.negative}
        turned = {term.node for term in terms} & self._sums.keys() - needed
        values = {
            node: -self.value(Term(self, *a)) - self.value(Term(self, *b))
            for node in sorted(turned)
            for a, b in [self._sums[node]]
        }
        return [values[term.node] if term.node in turned else self.value(term) for term in terms]


def _is_one(x: float) -> bool:
    return abs(abs(x) - 1.0) < SAME_NUMBER
