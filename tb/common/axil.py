"""Register access over AXI4-Lite by name, on cocotbext-axi's master."""

import itertools
import logging
import warnings
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # cocotbext-axi under cocotb 2
    from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from pymodel.machine.registers import WORD_BYTES, Map

CHANNELS = ("aw", "w", "b", "ar", "r")


class Registers:
    """The registers of a DUT with ports ``s_axil_*``, ``clk_i`` and ``rst_ni``.

    Parameters
    ----------
    dut
        The top level.
    map_
        What registers there are.
    """

    def __init__(self, dut: Any, map_: Map) -> None:
        logging.getLogger(f"cocotb.{dut._name}.s_axil").setLevel(logging.WARNING)
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        self.master = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self.map = map_

    def stall(self, rng: np.random.Generator, probability: float = 0.5) -> None:
        """Hold back every channel at random from now on; probability 0 ends it."""
        for name in CHANNELS:
            half = self.master.write_if if name in ("aw", "w", "b") else self.master.read_if
            channel = getattr(half, f"{name}_channel")
            if probability:
                pauses = rng.random(997) < probability
                channel.set_pause_generator(itertools.cycle(map(bool, pauses)))
            else:
                channel.clear_pause_generator()
                channel.pause = False

    async def write_bytes(self, address: int, data: bytes) -> bool:
        """Write bytes anywhere; True if every response was OKAY, False after a SLVERR."""
        return okay((await self.master.write(address, data)).resp)

    async def read_bytes(self, address: int, length: int) -> tuple[bytes, bool]:
        """Read bytes anywhere: (data, True if every response was OKAY)."""
        response = await self.master.read(address, length)
        return response.data, okay(response.resp)

    async def write(self, name: str, *words: int) -> None:
        """Write consecutive words from the start of a register."""
        data = b"".join(word.to_bytes(WORD_BYTES, "little") for word in words)
        assert await self.write_bytes(self.map[name].offset, data), f"write of {name}: SLVERR"

    async def read(self, name: str) -> int | list[int]:
        """All words of a register: an int, or a list if the map says that it has several."""
        register = self.map[name]
        data, okay = await self.read_bytes(register.offset, WORD_BYTES * register.words)
        assert okay, f"read of {name}: SLVERR"
        words = [
            int.from_bytes(data[i : i + WORD_BYTES], "little")
            for i in range(0, len(data), WORD_BYTES)
        ]
        return words if register.words > 1 else words[0]

    def field(self, register: str, field: str, word: int) -> int:
        """Value of a register's field in a word read from it."""
        return self.map[register].field(field).get(word)

    def mask(self, register: str, *fields: str) -> int:
        """Bits of some fields of a register."""
        return sum(self.map[register].field(field).mask for field in fields)


def okay(response: AxiResp) -> bool:
    """True for OKAY, False for SLVERR; nothing else may come."""
    assert response in (AxiResp.OKAY, AxiResp.SLVERR), response
    return response == AxiResp.OKAY
