"""Register access over AXI4-Lite by name.

Whole words go in batches, which a master in the simulation does by itself (``axil_batch.sv``), or
over cocotbext-axi's master where the channels are to be held back. That one also does all accesses
by address: bytes, and what answers with an error. The two drive the bus alike, cycle for cycle.
"""

import itertools
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # cocotbext-axi under cocotb 2
    from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from cocotb.triggers import Timer, ValueChange

from pymodel.hardware import wide
from pymodel.hardware.batch import (
    ADDRESS_AT,
    ADDRESS_MASK,
    REFUSED,
    WORD_MASK,
    WRITE,
    Answers,
    Batch,
    now,
    packed,
)
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.waiting import AnswerError, within
from pymodel.machine.registers import WORD_BYTES, Map

WRITE_CHANNELS, READ_CHANNELS = ("aw", "w", "b"), ("ar", "r")
CHANNELS = (*WRITE_CHANNELS, *READ_CHANNELS)
ANSWERS = ("b", "r")  # of these
DRIVEN = ("awvalid", "wvalid", "bready", "arvalid", "rready")  # by who has the bus
LANE_BITS = 8
LANE = (1 << LANE_BITS) - 1
ACCESS_CYCLES = 200  # a word takes at most, with every channel held back at random


class Registers:
    """The registers of a DUT with ports ``s_axil_*``, ``clk_i`` and ``rst_ni``.

    Parameters
    ----------
    dut
        The top level.
    map_
        What registers there are.

    Attributes
    ----------
    alone : bool
        Of the class: there are batches only, without cocotbext-axi's master, which looks at every
        clock edge. Simulations are then several times as fast.
    """

    alone = False

    def __init__(self, dut: Any, map_: Map) -> None:
        self.map = map_
        self.dut = dut
        self.batches = True  # whole words go in batches
        self._unknown = {"write": "", "read": ""}  # an answer with bits that are not known
        self.attach(dut)
        self._start = 0  # changes with each batch

    def attach(self, dut: Any) -> None:
        """Drive the bus of the simulated top level."""
        if self.alone:
            for name in DRIVEN:
                getattr(dut, f"s_axil_{name}").value = 0
        else:
            logging.getLogger(f"cocotb.{dut._name}.s_axil").setLevel(logging.WARNING)
            bus = AxiLiteBus.from_prefix(dut, "s_axil")
            self.master = AxiLiteMaster(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
            for response in (("b", "bresp"), ("r", "rdata"), ("r", "rresp")):
                self._let_unknown_bits_pass(*response)

    def now(self) -> int:
        """Clock cycles since the simulation began."""
        return now()

    async def pause(self, cycles: int) -> None:
        """Wait for so many clock cycles."""
        await Timer(cycles * PERIOD_NS, "ns")

    def _channel(self, name: str) -> Any:
        """Of cocotbext-axi's master."""
        half = self.master.write_if if name in WRITE_CHANNELS else self.master.read_if
        return getattr(half, f"{name}_channel")

    def refuse(self, refused: bool) -> None:
        """Take no response from now on, or take them again."""
        for name in ANSWERS:
            self._channel(name).pause = refused

    def stall(self, rng: np.random.Generator, probability: float = 0.5) -> None:
        """Hold back every channel at random from now on; probability 0 ends it."""
        self.batches = not probability
        for name in CHANNELS:
            channel = self._channel(name)
            if probability:
                pauses = rng.random(997) < probability
                channel.set_pause_generator(itertools.cycle(map(bool, pauses)))
            else:
                channel.clear_pause_generator()
                channel.pause = False

    def fill(self, rng: np.random.Generator) -> None:
        """Put random bits into the byte lanes that a write does not strobe, from now on."""
        source = self._channel("w")
        send = source.send

        async def filled(beat: Any) -> None:
            lanes = (LANE << LANE_BITS * i for i in range(WORD_BYTES) if not beat.wstrb >> i & 1)
            if unused := sum(lanes):
                beat.wdata |= int(rng.integers(1 << LANE_BITS * WORD_BYTES)) & unused
            await send(beat)

        source.send = filled

    def _let_unknown_bits_pass(self, channel: str, part: str) -> None:
        """Keep cocotbext-axi from dying of them: they pass as zeros, the one who waits fails."""
        sink = self._channel(channel)
        receive = sink.recv

        async def recv() -> Any:
            response = await receive()
            bits = str(getattr(response, part))
            if bits.strip("01"):
                self._unknown["write" if channel == "b" else "read"] = bits
                setattr(response, part, 0)
            return response

        sink.recv = recv

    def check_known(self, name: str, bits: str, access: str = "read") -> None:
        """Raise AnswerError if some of the bits that were answered are unknown."""
        if bits.strip("01"):
            raise AnswerError(access, name, f"unknown bits, {bits}")

    def answered(self, name: str, access: str, response: Any) -> Any:
        """The response of cocotbext-axi's master to an access that has ended.

        Raises
        ------
        AnswerError
            If an answer of such an access had unknown bits since the last time, or there is none:
            the reset pin has ended the access.
        """
        self.check_passed(name, access)
        if response is None:
            raise AnswerError(access, name, "no response: rst_ni fell")
        return response

    def check_passed(self, name: str, access: str) -> None:
        """Raise AnswerError if an answer of such an access had unknown bits since the last time."""
        unknown, self._unknown[access] = self._unknown[access], ""
        if unknown:
            levels = listed(self.levels())
            raise AnswerError(access, name, f"unknown bits, {unknown} (valid/ready: {levels})")

    async def write_bytes(self, address: int, data: bytes) -> bool:
        """Write bytes anywhere; True if every response was OKAY, False after a SLVERR.

        Raises
        ------
        HangError
            If the response does not come.
        AnswerError
            As :meth:`answered`.
        """
        write = self.master.write(address, data)
        what = self.waiting("write", self.name(address))
        response = await within(limit_of(len(data)), write, what)
        return okay(self.answered(self.name(address), "write", response).resp)

    async def write_no_byte(self, name: str) -> bool:
        """Write all ones to a register and strobe none of them; True if the response was OKAY.

        Raises
        ------
        HangError
            If the response does not come.
        """
        source = self._channel("w")
        send = source.send

        async def bare(beat: Any) -> None:
            beat.wstrb = 0
            await send(beat)

        source.send = bare
        try:
            return await self.write_bytes(self.map[name].offset, b"\xff" * WORD_BYTES)
        finally:
            source.send = send

    async def read_bytes(self, address: int, length: int) -> tuple[bytes, bool]:
        """Read bytes anywhere: (data, True if every response was OKAY).

        Raises
        ------
        HangError
            If the response does not come.
        AnswerError
            As :meth:`answered`.
        """
        read = self.master.read(address, length)
        what = self.waiting("read", self.name(address))
        found = await within(limit_of(length), read, what)
        response = self.answered(self.name(address), "read", found)
        return response.data, okay(response.resp)

    def begin(self, operations: Iterable[int]) -> list[Any]:
        """Start accesses of one word each on cocotbext-axi's master, as operations of a batch."""
        pending = []
        for operation in operations:
            address = operation >> ADDRESS_AT & ADDRESS_MASK
            if operation & WRITE:
                word = (operation & WORD_MASK).to_bytes(WORD_BYTES, "little")
                pending.append(self.master.init_write(address, word))
            else:
                pending.append(self.master.init_read(address, WORD_BYTES))
        return pending

    def begin_write(self, name: str, word: int) -> Any:
        """Start a write of a register on cocotbext-axi's master."""
        return self.master.init_write(self.map[name].offset, word.to_bytes(WORD_BYTES, "little"))

    def begin_read(self, name: str) -> Any:
        """Start a read of a register on cocotbext-axi's master."""
        return self.master.init_read(self.map[name].offset, WORD_BYTES)

    async def written(self, name: str, pending: Sequence[Any]) -> None:
        """Wait for writes that were started, each of a register's words; they must be OKAY."""
        what = self.waiting("write", name)
        limit = limit_of(self.map[name].words * WORD_BYTES)
        for write in pending:
            await within(limit, write.wait(), what)
            if not okay(self.answered(name, "write", write.data).resp):
                raise AnswerError("write", name, REFUSED)

    async def answers(self, name: str, pending: Sequence[Any]) -> list[int | None]:
        """Wait for reads that were started, each of one word: the words, None after a SLVERR."""
        what = self.waiting("read", name)
        words = []
        for read in pending:
            await within(limit_of(WORD_BYTES), read.wait(), what)
            response = self.answered(name, "read", read.data)
            word = int.from_bytes(response.data, "little")
            words.append(word if okay(response.resp) else None)
        return words

    def batch(self) -> Batch:
        """A batch of accesses, none yet."""
        return Batch(self)

    async def write(self, name: str, *words: int) -> None:
        """Write consecutive words from the start of a register."""
        await self.batch().write(name, *words).run()

    async def read(self, name: str) -> Any:
        """All words of a register: an int, or a list if the map says that it has several."""
        (words,) = await self.batch().read(name).run()
        return words if self.map[name].words > 1 else words[0]

    async def write_each(self, name: str, words: Iterable[int]) -> None:
        """Write words to one register, one after the other, as fast as the bus takes them."""
        await self.batch().write_each(name, words).run()

    async def read_each(self, name: str, count: int) -> list[int]:
        """Read one register so many times."""
        return (await self.batch().read_each(name, count).run())[0] if count else []

    async def try_each(self, name: str, count: int) -> list[int | None]:
        """The same where an answer may be SLVERR: None instead of a word."""
        return (await self.batch().try_each(name, count).run())[0]

    async def do(self, operations: Sequence[int], poll_cycles: int = 0) -> Answers:
        """Have the master in the simulation do operations of ``axil_batch.sv``.

        Parameters
        ----------
        operations
            At most :data:`pymodel.hardware.on_bus.OPERATIONS`, the last one with LAST.
        poll_cycles
            Clock cycles that a poll may take.
        """
        dut = self.dut
        wide.put(dut.batch_ops_i, packed(operations))
        dut.batch_count_i.value = len(operations)
        dut.batch_poll_cycles_i.value = poll_cycles
        self._start ^= 1
        dut.batch_start_i.value = self._start
        await ValueChange(dut.batch_done_o)
        return Answers(dut, len(operations))

    def name(self, address: int) -> str:
        """The register at an address, or the address where there is none."""
        for register in self.map.registers:
            if 0 <= address - register.offset < register.words * WORD_BYTES:
                return register.name
        return f"{address:#x}"

    def waiting(self, access: str, name: str) -> Callable[[], str]:
        """Says what a "read" or "write" waits for: requests that are not taken, or the response."""
        channels = WRITE_CHANNELS if access == "write" else READ_CHANNELS

        def what() -> str:
            state = self.levels()
            *requests, answer = channels
            waits = [c.upper() for c in requests if state[c][0] == "1" != state[c][1]]
            stuck = ", ".join(waits or [answer.upper()])
            return f"{access} of {name}, channel {stuck} (valid/ready: {listed(state)})"

        return what

    def levels(self) -> dict[str, tuple[str, str]]:
        """Channel -> bits of its valid and ready."""
        ends = iter(str(self.dut.handshakes_o.value))
        return {channel: (next(ends), next(ends)) for channel in CHANNELS}

    def unfinished(self, name: str, word: int) -> str:
        """What a poll waits for, the word that it has read last."""
        return f"{name} to change from {word}"

    def field(self, register: str, field: str, word: int) -> int:
        """Value of a register's field in a word read from it."""
        return self.map[register].field(field).get(word)

    def mask(self, register: str, *fields: str) -> int:
        """Bits of some fields of a register."""
        return sum(self.map[register].field(field).mask for field in fields)


def listed(levels: Mapping[str, tuple[str, str]]) -> str:
    """Levels of channels as messages have them."""
    return ", ".join(f"{channel} {valid}/{ready}" for channel, (valid, ready) in levels.items())


def limit_of(length: int) -> int:
    """Clock cycles that an access of so many bytes may take, behind another one."""
    return ACCESS_CYCLES * (2 + length // WORD_BYTES)


def okay(response: AxiResp) -> bool:
    """True for OKAY, False for SLVERR; nothing else may come."""
    assert response in (AxiResp.OKAY, AxiResp.SLVERR), response
    return response == AxiResp.OKAY
