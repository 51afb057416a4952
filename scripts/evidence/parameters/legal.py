"""The legal parameter values of every module that a user instantiates, of the records in units/.

They are what the RTL's checks allow (``$fatal`` at the start of elaborated hardware);
:mod:`scripts.evidence.parameters.elaborate` compares both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scripts.kernel import expression
from scripts.kernel.units import Record, Rule, named, records

Parameters = Mapping[str, int]
UNBOUNDED = 1 << 30  # where no check has an upper limit


class Values(NamedTuple):
    """The values that a parameter may have by itself.

    Attributes
    ----------
    least, most
        Limits; :data:`UNBOUNDED` is none.
    power
        Only powers of two from 2 on, and zero where that is in the limits.
    places
        Of a memory: none at all is an illegal value of its own.
    bit
        A parameter of one bit: what is beyond has no meaning, and nothing refuses it.
    """

    least: int
    most: int
    power: bool = False
    places: bool = False
    bit: bool = False

    def __contains__(self, value: object) -> bool:
        power = isinstance(value, int) and value > 1 and value & (value - 1) == 0
        inside = isinstance(value, int) and self.least <= value <= self.most
        return inside and (not self.power or power or (value == 0 and self.least == 0))

    @property
    def text(self) -> str:
        """In words."""
        least = max(self.least, 2) if self.power else self.least
        words = f"{least} to {self.most}" if self.most < UNBOUNDED else f"from {least}"
        if not self.power:
            return words
        zero = "0, or " if self.least == 0 else ""
        return f"{zero}powers of two, {words}"


@dataclass(frozen=True)
class Space:
    """All legal values of a module's parameters.

    Attributes
    ----------
    module
    values
        Parameter -> its values.
    rules
        Between them.
    small
        Values with which it elaborates soon, for the parameters that a check is not about.
    """

    module: str
    values: dict[str, Values]
    rules: tuple[Rule, ...] = ()
    small: tuple[tuple[str, int], ...] = ()

    def is_legal(self, given: Parameters) -> bool:
        """Whether the RTL must take them."""
        inside = all(given[name] in values for name, values in self.values.items())
        return inside and all(holds(rule, given) for rule in self.rules)


def holds(rule: Rule, given: Parameters) -> bool:
    """Whether parameters that are legal by themselves obey a rule."""
    if rule.function:
        return named(rule.function)(given)
    return bool(expression.value(rule.holds, given))


def _space(module: str, record: Record) -> Space:
    values, small = {}, []
    for name, one in record.parameters.items():
        most = UNBOUNDED if one.most is None else one.most
        values[name] = Values(one.least, most, one.power, one.places, one.bit)
        if one.small is not None:
            small.append((name, one.small))
    return Space(module, values, record.rules, tuple(small))


SPACES = {module: _space(module, one) for module, one in records().items() if one.parameters}
#: (module, parameter) -> why no seed draws all of its legal values.
NOT_RUN = {
    (module, name): one.not_drawn
    for module, record in records().items()
    for name, one in record.parameters.items()
    if one.not_drawn
}
