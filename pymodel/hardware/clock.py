"""Clock and reset of every synchronous bench."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

PERIOD_NS = 10


async def hold_reset(dut: Any, cycles: int = 2) -> None:
    """Start ``clk_i`` and hold ``rst_ni`` low; drive the inputs next, then release."""
    dut.rst_ni.value = 0
    if hasattr(dut, "batch_start_i"):  # of pymodel.hardware.on_bus
        dut.batch_start_i.value = 0
    if hasattr(dut, "blocks_i"):
        dut.blocks_i.value = dut.send_start_i.value = dut.take_start_i.value = 0
    clock: Any = Clock(dut.clk_i, PERIOD_NS, unit="ns", impl="gpi")
    cocotb.start_soon(clock.start())
    await ClockCycles(dut.clk_i, cycles)


async def release_reset(dut: Any) -> None:
    """Let ``rst_ni`` go high away from the clock edge."""
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def start(dut: Any) -> None:
    """Clock, reset, and release."""
    await hold_reset(dut)
    await release_reset(dut)
