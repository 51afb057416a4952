"""The tops that faults are injected into, each in one configuration of its bench."""

import importlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pymodel.hardware import step_array, step_engine
from pymodel.hardware.rtl_files import RULES, needed
from pymodel.hardware.simulation import Device
from pymodel.machine.isa import Machine
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


PIPELINED = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}
FORMAT = {"EXP_W": 8, "MAN_W": 23}
ENGINE = Machine(depth=64, program_depth=512, trace_registers=16, programs=2)
ARRAY = Machine(
    contexts=2,
    datapaths=2,
    depth=64,
    program_depth=1024,
    in_depth=32,
    out_depth=16,
    segments=16,
    functions=4,
)
UNITS = {
    unit.name: unit
    for unit in (
        Unit("hdca_coprocessor", "Hdca", FORMAT | {"PASSES": 2} | PIPELINED),
        Unit("ldup_coprocessor", "Ldup", FORMAT | {"N": 4, "PARALLEL": 0} | PIPELINED),
        Unit("step_engine", "Step", step_engine.rtl_parameters(ENGINE)),
        Unit("step_array", "Array", step_array.rtl_parameters(ARRAY)),
    )
}
