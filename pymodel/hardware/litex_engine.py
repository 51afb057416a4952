"""The step engine on the bus of a LiteX SoC (docs/integrate.md).

LiteX 2024.12; Verilog readers that the SoC is built with must take SystemVerilog.
"""

from __future__ import annotations

from litex.build.generic_platform import GenericPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc import SoC, SoCRegion
from litex.soc.interconnect import axi
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel
from migen import ClockSignal, Instance, ResetSignal

from pymodel.arith.errors import InputError
from pymodel.hardware.places import ROOT
from pymodel.hardware.rtl_files import needed, rtl_files
from pymodel.hardware.step_engine import rtl_parameters
from pymodel.machine.isa import Machine
from pymodel.machine.registers import BUS_W, step_engine

TOP = "step_engine"
#: Parameters that a machine leaves free, see docs/on_a_board.md.
FREE = ("TRACE_DEPTH", "BLOCK_RAM")


class StepEngine(LiteXModule):
    """A step engine with a slave of LiteX' AXI4-Lite, and its interrupt.

    Parameters
    ----------
    platform : litex.build.generic_platform.GenericPlatform
        Gets the engine's files.
    machine : Machine
        Which engine it is: that of the program images that it will run.
    **parameters : int
        Parameters of the RTL that the machine leaves free, ``TRACE_DEPTH`` and ``BLOCK_RAM``.

    Attributes
    ----------
    bus : litex.soc.interconnect.axi.AXILiteInterface
        The slave: 32 bits, a window of 4 KiB, in the clock domain ``sys``.
    ev : litex.soc.interconnect.csr_eventmanager.EventManager
        Its source ``level`` is pending while the engine's ``irq_o`` is high.

    Raises
    ------
    InputError
        If a parameter is not one of those.
    """

    def __init__(
        self, platform: GenericPlatform, machine: Machine | None = None, **parameters: int
    ) -> None:
        if other := parameters.keys() - set(FREE):
            raise InputError(f"{min(other)}: not one of {', '.join(FREE)}; others: of the machine")
        self.bus = bus = axi.AXILiteInterface(data_width=BUS_W)
        self.ev = EventManager()
        self.ev.level = EventSourceLevel(description="irq_o of the step engine")
        self.ev.finalize()

        registers = step_engine(1)
        values = rtl_parameters(machine or Machine()) | parameters
        ports = {}
        for channel, sent in (("aw", True), ("w", True), ("b", False), ("ar", True), ("r", False)):
            endpoint = getattr(bus, channel)
            for name in ("valid", *(field for field, _ in endpoint.description.payload_layout)):
                signal = getattr(endpoint, name)
                signal = signal[: registers.addr_w] if name == "addr" else signal
                ports[f"{'i' if sent else 'o'}_s_axil_{channel}{name}"] = signal
            ports[f"{'o' if sent else 'i'}_s_axil_{channel}ready"] = endpoint.ready
        self.specials += Instance(
            TOP,
            **{f"p_{name}": value for name, value in values.items()},
            i_clk_i=ClockSignal("sys"),
            i_rst_ni=~ResetSignal("sys"),
            o_irq_o=self.ev.level.trigger,
            **ports,
        )
        for file in needed(TOP, [ROOT / file for file in rtl_files()]):
            platform.add_source(str(file), language="systemverilog")


def add_step_engine(
    soc: SoC, name: str = TOP, machine: Machine | None = None, **parameters: int
) -> StepEngine:
    """Put a step engine on the bus of a SoC, whatever standard that has, and on its interrupts.

    Parameters
    ----------
    soc : litex.soc.integration.soc.SoC
        It has an uncached window of 4 KiB then, whose address is ``<NAME>_BASE`` of the SoC's
        generated ``mem.h``: the `base` of the driver's ``step_open``.
    name : str
        Of window, module and event manager.
    machine, **parameters
        As for :class:`StepEngine`.

    Raises
    ------
    InputError
        As for :class:`StepEngine`.
    """
    engine = StepEngine(soc.platform, machine, **parameters)
    soc.add_module(name, engine)
    window = SoCRegion(size=1 << step_engine(1).addr_w, cached=False)
    soc.bus.add_slave(name, engine.bus, window)
    if soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)
    return engine
