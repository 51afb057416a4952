"""The units whose benches are judged, of the records in units/."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pymodel.hardware.bench import Bench
from scripts.evidence.mutate.errors import MutateError
from scripts.kernel.units import Mutants, records


@dataclass(frozen=True)
class Unit(Mutants):
    """A module under mutation: what its record says, and the module.

    Mutated netlists take the module's place.
    """

    module: str = ""

    @property
    def told(self) -> list[str]:
        """What the proofs are told."""
        all_inputs = ["all_inputs"] if self.all_inputs else []
        apart = [name for counter, when in self.apart.items() for name in (counter, *when)]
        return [*self.control, *self.never, *self.before, *apart, *all_inputs]

    def shared_bench(self) -> Bench:
        """The bench that all share, with its tests."""
        importlib.import_module(f"tb.{self.bench}.test_{self.bench}")
        return importlib.import_module(f"tb.{self.bench}.bench").BENCH

    @property
    def shows(self) -> tuple[str, ...]:
        """Nets of one bit in the module that the bench reads; nothing below is there any more."""
        device = self.shared_bench().device
        if device.toplevel != self.module:
            return ()
        return tuple(name for name in device.signals if "." not in name)

    def parameters(self, known: Sequence[str]) -> list[dict[str, Any]]:
        """Parameters of the module, one mapping a variant.

        Parameters
        ----------
        known
            Names of the module's parameters.
        """
        given = self.shared_bench().configs[self.config].params
        given = {name: value for name, value in given.items() if name in known}
        given |= {"STAGES": 0} if self.lanes else {}
        return [given | variant for variant in self.variants]


UNITS = {
    unit.name: unit
    for module, record in records().items()
    for some in record.mutation
    for unit in [Unit(**vars(some) | {"name": some.name or module, "module": module})]
}


def chosen(names: Sequence[str]) -> list[Unit]:
    """Units by their names; all of them for none.

    Raises
    ------
    MutateError
        If there is no such unit.
    """
    for name in names:
        if name not in UNITS:
            raise MutateError(f"no unit {name}; units: {', '.join(UNITS)}")
    return [UNITS[name] for name in names or UNITS]
