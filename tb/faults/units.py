"""A top that faults are injected into, in one configuration."""

import importlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pymodel.hardware.rtl_files import RULES, needed
from pymodel.hardware.simulation import Device
from tb.faults.registers import registers_of


@dataclass(frozen=True)
class Unit:
    """A top under injection.

    Attributes
    ----------
    name
        Its module, and the bench that has it.
    workload
        Class of :mod:`tb.faults.workloads`.
    params
        Of the module.
    sources
        Files instead of the bench's own.
    """

    name: str
    workload: str
    params: dict[str, int]
    sources: tuple[Path, ...] = ()

    @cached_property
    def device(self) -> Device:
        """The top with all its registers to be written."""
        device = importlib.import_module(f"tb.{self.name}.bench").BENCH.device
        sources = self.sources or device.sources
        files = [file for file in sources if file.suffix != RULES]
        registers = registers_of(needed(self.name, files))
        return replace(device, sources=sources, signals=(), writable=registers)
