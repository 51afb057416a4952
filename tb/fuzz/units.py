"""A top that is fuzzed, in one configuration."""

import importlib
from dataclasses import dataclass, replace
from pathlib import Path

from pymodel.hardware.places import BUILD, ROOT
from pymodel.hardware.simulation import Device
from tb.fuzz.top import MASTER, name_of, text_of


@dataclass(frozen=True)
class Unit:
    """A top that is fuzzed.

    Attributes
    ----------
    name
        Its module, and the bench that has it.
    model
        Class of :mod:`tb.fuzz.model`.
    params
        Of the module.
    """

    name: str
    model: str
    params: dict[str, int]

    def device(self, sources: tuple[Path, ...] = ()) -> Device:
        """The top with the fuzzer on its bus; of other files than its own, if given."""
        device = importlib.import_module(f"tb.{self.name}.bench").BENCH.device
        sources = sources or device.sources
        own = next(file for file in sources if file.stem == self.name)
        file = BUILD / "fuzz" / f"{name_of(self.name)}.sv"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = text_of(self.name, own.read_text(), self.params)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        return replace(
            device,
            toplevel=file.stem,
            instance=self.name,
            sources=(*sources, ROOT / MASTER, file),
            signals=(),
            modelled=None,
        )
