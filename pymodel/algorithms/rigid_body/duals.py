"""Terms with their derivatives: forward differentiation of a text, by many variables at once.

A text that is written for :class:`pymodel.arith.terms.Terms` runs on :class:`Duals` as well. Each
value has the terms of those derivatives that are not zero by structure; values and what several
derivatives share are evaluated once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from pymodel.arith.terms import Term, Terms


class Dual:
    """A term and its derivatives, by variable."""

    __slots__ = ("by", "terms", "value")

    def __init__(self, terms: Duals, value: Term, by: Mapping[Hashable, Term]) -> None:
        self.terms, self.value = terms, value
        self.by = {name: x for name, x in by.items() if not x.is_zero}

    def __neg__(self) -> Dual:
        return Dual(self.terms, -self.value, {name: -x for name, x in self.by.items()})

    def __add__(self, other: Dual) -> Dual:
        return self.terms.total((self, other))

    def __sub__(self, other: Dual) -> Dual:
        return self.terms.total((self, -other))

    def __mul__(self, other: Dual) -> Dual:
        products = {name: [x * other.value] for name, x in self.by.items()}
        for name, x in other.by.items():
            products.setdefault(name, []).append(self.value * x)
        return self.terms.dual(self.value * other.value, products)

    @property
    def is_zero(self) -> bool:
        """Whether value and derivatives are zero by structure."""
        return self.value.is_zero and not self.by


class Duals:
    """Arithmetic whose scalars are :class:`Dual`.

    Parameters
    ----------
    terms : Terms
    """

    def __init__(self, terms: Terms[Any]) -> None:
        self.own = terms

    def fixed(self, x: Term) -> Dual:
        """A term that depends on no variable."""
        return Dual(self, x, {})

    def variable(self, x: Term, name: Hashable) -> Dual:
        """A term that is a variable."""
        return Dual(self, x, {name: self.own.one})

    def dual(self, value: Term, sums: Mapping[Hashable, Iterable[Term]]) -> Dual:
        """A value, and derivatives that are sums."""
        return Dual(self, value, {name: self.own.total(some) for name, some in sums.items()})

    @property
    def zero(self) -> Dual:
        """The number 0."""
        return self.fixed(self.own.zero)

    @property
    def one(self) -> Dual:
        """The number 1."""
        return self.fixed(self.own.one)

    def const(self, x: float) -> Dual:
        """As of :class:`Terms`."""
        return self.fixed(self.own.const(x))

    def parameter(self, name: str, x: float) -> Dual:
        """As of :class:`Terms`."""
        return self.fixed(self.own.parameter(name, x))

    def total(self, duals: Iterable[Dual]) -> Dual:
        """Sum."""
        duals = list(duals)
        sums: dict[Hashable, list[Term]] = {}
        for x in duals:
            for name, derivative in x.by.items():
                sums.setdefault(name, []).append(derivative)
        return self.dual(self.own.total(x.value for x in duals), sums)

    def sincos(self, x: Dual) -> tuple[Dual, Dual]:
        """(sin x, cos x)."""
        sin, cos = self.own.sincos(x.value)
        by_sin = {name: derivative * cos for name, derivative in x.by.items()}
        by_cos = {name: -(derivative * sin) for name, derivative in x.by.items()}
        return Dual(self, sin, by_sin), Dual(self, cos, by_cos)
