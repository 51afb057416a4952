"""Blocks of beats on a device's streams: many beats, one wait (``axis_batch.sv``)."""

from collections.abc import Iterable, Sequence
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import ValueChange

from pymodel.hardware import wide
from pymodel.hardware.batch import OCTETS, packed
from pymodel.hardware.on_bus import BEATS, OPERATION_W
from pymodel.hardware.waiting import AnswerError, HangError

# The bits of a beat
USER_AT, LAST_AT = 32, 63
DATA_MASK, USER_MASK = 0xFFFF_FFFF, 0x7FFF_FFFF
HUNG, STRAY, UNKNOWN = 1, 2, 4  # bits of take_status_o


class StreamBlocks:
    """Both streams of a device, a block of beats at a time.

    Parameters
    ----------
    dut
        The top level, see :mod:`pymodel.hardware.on_bus`; in reset.
    """

    def __init__(self, dut: Any) -> None:
        self._dut = dut
        self._line: list[int] = []  # beats that are to be sent
        self._sender: Any = None
        self._send_start = self._take_start = 0
        self._begun: list[int] = []  # beats of a packet whose end has not come
        dut.send_start_i.value = dut.take_start_i.value = 0
        self.stall((), ())
        dut.blocks_i.value = 1

    def stall(self, source: Iterable[bool], sink: Iterable[bool]) -> None:
        """In which cycles no beat is offered, and in which none is taken; over and over."""
        for port, pauses in (("source", source), ("sink", sink)):
            bits = np.packbits(np.array(list(pauses), bool), bitorder="little").tobytes()
            wide.put(getattr(self._dut, f"{port}_pauses_i"), int.from_bytes(bits, "little"))

    def send(self, users: Sequence[int], words: Sequence[int]) -> None:
        """Put a packet in line: TUSER and TDATA of each beat."""
        beats = [user << USER_AT | word for user, word in zip(users, words, strict=True)]
        beats[-1] |= 1 << LAST_AT
        self._line += beats
        if self._sender is None:
            self._sender = cocotb.start_soon(self._send())

    async def _send(self) -> None:
        dut, at = self._dut, 0
        while block := self._line[at : at + BEATS]:
            wide.put(dut.send_i, packed(block))
            dut.send_count_i.value = len(block)
            self._send_start ^= 1
            dut.send_start_i.value = self._send_start
            await ValueChange(dut.send_done_o)
            at += len(block)
        self._line.clear()
        self._sender = None

    async def take(self, packets: int, limit: int, what: str) -> list[list[int]]:
        """Take a block of what leaves: of each packet that ends in it all beats, see USER_AT.

        Parameters
        ----------
        packets
            No more than so many.
        limit
            Clock cycles from the end of one to that of the next, at most.
        what
            Says what that should be.

        Raises
        ------
        HangError
            If none ends in these cycles.
        AssertionError
            If a beat has unknown bits.
        """
        dut = self._dut
        dut.take_packets_i.value, dut.take_cycles_i.value = packets, limit
        self._take_start ^= 1
        dut.take_start_i.value = self._take_start
        await ValueChange(dut.take_done_o)
        if self._status() & HUNG:
            raise HangError(f"{what} ({self._levels()})", limit)
        found = []
        for beat in self._beats(int(dut.taken_o.value)):
            self._begun.append(beat)
            if beat >> LAST_AT:
                found.append(self._begun)
                self._begun = []
        return found

    def _beats(self, count: int) -> list[int]:
        try:
            octets = wide.octets(self._dut.take_o, OCTETS * count)
        except ValueError:
            text = str(self._dut.take_o.value)[-OPERATION_W * count :]
            places = range(len(text) - OPERATION_W, -1, -OPERATION_W)
            beats = [text[i : i + OPERATION_W] for i in places]
            wrong = next(beat for beat in beats if set(beat) - {"0", "1"})
            raise AnswerError("beat", "m_axis", f"unknown bits, {wrong}") from None
        return memoryview(octets).cast("Q").tolist()

    def check_over(self) -> None:
        """All has been sent, and no more has come than was to be taken."""
        over = self._sender is None and not self._begun and not self._status() & STRAY
        if not over:
            raise AnswerError("beats", "m_axis", f"more came, or less was taken ({self._levels()})")

    def _status(self) -> int:
        status = int(self._dut.take_status_o.value)
        if status & UNKNOWN:
            what = f"s_axis_tready or m_axis_tvalid was unknown: {self._levels()}"
            raise AnswerError("handshake", "streams", what)
        return status

    def _levels(self) -> str:
        names = ("s_axis_tvalid", "s_axis_tready", "m_axis_tvalid", "m_axis_tready")
        levels = zip(names, str(self._dut.stream_handshakes_o.value), strict=True)
        return ", ".join(f"{name} {level}" for name, level in levels)
