"""Register access over AXI4-Lite by name, on cocotbext-axi's master."""

import itertools
import logging
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # cocotbext-axi under cocotb 2
    from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from cocotb.triggers import Event
from cocotb.utils import get_sim_time

from pymodel.machine.registers import WORD_BYTES, Map
from tb.common.waiting import within

WRITE_CHANNELS, READ_CHANNELS = ("aw", "w", "b"), ("ar", "r")
CHANNELS = (*WRITE_CHANNELS, *READ_CHANNELS)
ACCESS_CYCLES = 200  # a word takes at most, with every channel held back at random


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
        self.dut = dut
        self._unknown = ""  # a word that was read with bits that are not known
        self._let_unknown_bits_pass()

    def stall(self, rng: np.random.Generator, probability: float = 0.5) -> None:
        """Hold back every channel at random from now on; probability 0 ends it."""
        for name in CHANNELS:
            half = self.master.write_if if name in WRITE_CHANNELS else self.master.read_if
            channel = getattr(half, f"{name}_channel")
            if probability:
                pauses = rng.random(997) < probability
                channel.set_pause_generator(itertools.cycle(map(bool, pauses)))
            else:
                channel.clear_pause_generator()
                channel.pause = False

    def _let_unknown_bits_pass(self) -> None:
        """Keep cocotbext-axi from dying of them: they pass as zeros, the one who reads fails."""
        channel = self.master.read_if.r_channel
        receive = channel.recv

        async def recv() -> Any:
            response = await receive()
            if not response.rdata.is_resolvable:
                self._unknown = str(response.rdata)
                response.rdata = 0
            return response

        channel.recv = recv

    def _check_known(self, name: str) -> None:
        unknown, self._unknown = self._unknown, ""
        assert not unknown, f"read of {name} at {get_sim_time('ns'):g} ns: unknown bits, {unknown}"

    async def write_bytes(self, address: int, data: bytes) -> bool:
        """Write bytes anywhere; True if every response was OKAY, False after a SLVERR.

        Raises
        ------
        HangError
            If the response does not come.
        """
        write = self.master.write(address, data)
        what = self._waiting("write", self.name(address), WRITE_CHANNELS)
        return okay((await within(_limit(len(data)), write, what)).resp)

    async def read_bytes(self, address: int, length: int) -> tuple[bytes, bool]:
        """Read bytes anywhere: (data, True if every response was OKAY).

        Raises
        ------
        HangError
            If the response does not come.
        AssertionError
            If it has unknown bits.
        """
        read = self.master.read(address, length)
        what = self._waiting("read", self.name(address), READ_CHANNELS)
        response = await within(_limit(length), read, what)
        self._check_known(self.name(address))
        return response.data, okay(response.resp)

    async def written(self, name: str, pending: Sequence[Event]) -> None:
        """Wait for writes that were started, each of a register's words; they must be OKAY."""
        what = self._waiting("write", name, WRITE_CHANNELS)
        limit = _limit(self.map[name].words * WORD_BYTES)
        for write in pending:
            await within(limit, write.wait(), what)
            assert okay(write.data.resp), f"write of {name}: SLVERR"

    async def answers(self, name: str, pending: Sequence[Event]) -> list[int | None]:
        """Wait for reads that were started, each of one word: the words, None after a SLVERR."""
        what = self._waiting("read", name, READ_CHANNELS)
        words = []
        for read in pending:
            await within(_limit(WORD_BYTES), read.wait(), what)
            self._check_known(name)
            word = int.from_bytes(read.data.data, "little")
            words.append(word if okay(read.data.resp) else None)
        return words

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

    def name(self, address: int) -> str:
        """The register at an address, or the address where there is none."""
        for register in self.map.registers:
            if 0 <= address - register.offset < register.words * WORD_BYTES:
                return register.name
        return f"{address:#x}"

    def _waiting(self, access: str, name: str, channels: Sequence[str]) -> Callable[[], str]:
        """Says what an access waits for: the first channel that is not taken, or the last one."""

        def what() -> str:
            state = {c: (self._wire(c, "valid"), self._wire(c, "ready")) for c in CHANNELS}
            *requests, answer = channels
            stuck = next((c for c in requests if state[c] == ("1", "0")), answer)
            levels = ", ".join(f"{c} {valid}/{ready}" for c, (valid, ready) in state.items())
            return f"{access} of {name}, channel {stuck.upper()} (valid/ready: {levels})"

        return what

    def _wire(self, channel: str, end: str) -> str:
        return str(getattr(self.dut, f"s_axil_{channel}{end}").value)

    def field(self, register: str, field: str, word: int) -> int:
        """Value of a register's field in a word read from it."""
        return self.map[register].field(field).get(word)

    def mask(self, register: str, *fields: str) -> int:
        """Bits of some fields of a register."""
        return sum(self.map[register].field(field).mask for field in fields)


def _limit(length: int) -> int:
    """Clock cycles that an access of so many bytes may take, behind another one."""
    return ACCESS_CYCLES * (2 + length // WORD_BYTES)


def okay(response: AxiResp) -> bool:
    """True for OKAY, False for SLVERR; nothing else may come."""
    assert response in (AxiResp.OKAY, AxiResp.SLVERR), response
    return response == AxiResp.OKAY
