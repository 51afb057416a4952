"""Streams behind registers: packets both ways, what is refused, and what begins anew.

No word is lost, moved twice or changed, whatever is held back; a host that goes by LEVELS is never
refused, and one that does not is told at its first wrong access.
"""

import itertools
import logging
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # cocotbext-axi under cocotb 2
    from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

import cocotb
import numpy as np
from cocotb.triggers import ClockCycles

from pymodel.arith.fp import BINARY32
from pymodel.hardware import clock
from pymodel.hardware.axil import Registers
from pymodel.hardware.waiting import within
from pymodel.machine.registers import WORD_BYTES
from pymodel.machine.stream_registers import ID, LENGTH_MASK, USER_AT, header, streams
from tb.common.stream_rules import StreamRules
from tb.stream_axil.bench import BENCH

WORD = 1 << 32
MOST_WORDS = 12  # of a packet
SETTLED = 12  # cycles from a beat or a word to LEVELS, and more
LIMIT = 5000
STALLS = ((0, 0, 0), (0.5, 0, 0), (0, 0.8, 0.8), (0.3, 0.6, 0.1))  # of the bus, source and sink
ROOM, WORDS = "ROOM", "WORDS"


class _Session:
    """Bus and both streams."""

    def __init__(self, dut, board):
        self.dut, self.board = dut, board
        self.bus = Registers(dut, streams(0))
        self.user_w = BENCH.params["USER_W"]
        for name in ("s_axis", "m_axis"):
            logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
        ends = (dut.clk_i, dut.rst_ni)
        options = {"reset_active_level": False, "byte_lanes": 1}
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), *ends, **options)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), *ends, **options)
        self.rules = StreamRules(dut, "m_axis", "run_n", BINARY32)

    def stall(self, bus, source, sink):
        """Hold back each in these parts of the cycles."""
        rng = self.board.rng
        self.bus.stall(rng, bus)
        for end, share in ((self.source, source), (self.sink, sink)):
            end.set_pause_generator(itertools.cycle([bool(x) for x in rng.random(997) < share]))

    def packet(self, user_w):
        """TUSER and words, at random."""
        rng = self.board.rng
        words = rng.integers(WORD, size=int(rng.integers(1, MOST_WORDS)))
        return int(rng.integers(1 << user_w)), [int(x) for x in words]

    async def level(self, field):
        """A field of LEVELS."""
        return self.bus.field("LEVELS", field, await self.bus.read("LEVELS"))

    async def put(self, words):
        """Write DATA as there is room."""
        while words:
            room = await self.level(ROOM)
            await self.bus.write_each("DATA", words[:room])
            words = words[room:]

    async def get(self, count):
        """Read DATA as there are words."""
        found = []
        while len(found) < count:
            some = min(await self.level(WORDS), count - len(found))
            found += await self.bus.read_each("DATA", some)
        return found

    async def compare_sent(self, packet, context):
        """What leaves is this packet."""
        user, words = packet
        frame = await within(LIMIT, self.sink.recv(), lambda: f"a packet, {context}")
        self.board.compare_all("m_axis_tdata", [*map(int, frame.tdata)], words, context=context)
        users = {int(x) for x in np.atleast_1d(frame.tuser)}
        self.board.compare_all("m_axis_tuser", sorted(users), [user], context=context)

    async def compare_idle(self, context):
        """Both FIFOs are empty, and nothing has left that was not asked for."""
        await ClockCycles(self.dut.clk_i, SETTLED)
        self.board.compare(
            "ROOM", await self.level(ROOM), BENCH.params["IN_WORDS"], context=context
        )
        self.board.compare("WORDS", await self.level(WORDS), 0, context=context)
        self.board.compare("STATUS", await self.bus.read("STREAM_STATUS"), 0, context=context)
        self.board.compare("packets left", self.sink.count(), 0, context=context)
        assert not self.rules.error, self.rules.error

    async def refused(self, context, word=None, strobes=WORD_BYTES):
        """An access of DATA answers SLVERR, and STATUS says so."""
        address = self.bus.map["DATA"].offset
        if word is None:
            data, okay = await self.bus.read_bytes(address, WORD_BYTES)
            self.board.compare("DATA", int.from_bytes(data, "little"), 0, context=context)
        else:
            okay = await self.bus.write_bytes(
                address, word.to_bytes(WORD_BYTES, "little")[:strobes]
            )
        self.board.compare("OKAY", int(okay), 0, context=context)
        self.board.compare("ERROR", await self.bus.read("STREAM_STATUS"), 1, context=context)


async def _started(dut, board):
    await clock.hold_reset(dut)
    session = _Session(dut, board)
    await clock.release_reset(dut)
    return session


@BENCH.test(timeout_us=400)
async def packets(dut, board):
    """Packets both ways at once, the bus, the source or the sink held back."""
    session = await _started(dut, board)
    for number, stalls in enumerate(STALLS):
        session.stall(*stalls)
        ins = [session.packet(session.user_w) for _ in range(BENCH.settings["packets"])]
        outs = [session.packet(session.user_w + 1) for _ in range(BENCH.settings["packets"])]
        for user, words in outs:
            session.source.send_nowait(AxiStreamFrame(words, tuser=user))

        async def sent(ins=ins, number=number):
            for packet in ins:
                await session.compare_sent(packet, f"round {number}")

        sending = cocotb.start_soon(sent())
        for (in_user, in_words), (out_user, out_words) in zip(ins, outs, strict=True):
            none = [header(in_user, 0)] * int(board.rng.integers(2))  # no packet
            await session.put([*none, header(in_user, len(in_words)), *in_words])
            found = await session.get(len(out_words) + 1)
            want = [*out_words, header(out_user, len(out_words))]
            board.compare_all("DATA", found, want, context=f"round {number}")
        await sending
        session.stall(0, 0, 0)
        await session.compare_idle(f"round {number}")


@BENCH.test(timeout_us=100)
async def registers(dut, board):
    """What they read as, and that nothing else is there or can be written."""
    session = await _started(dut, board)
    bus, map_ = session.bus, session.bus.map
    board.compare("ID", await bus.read("STREAM_ID"), ID)
    for name in ("STREAM_ID", "LEVELS"):
        okay = await bus.write_bytes(map_[name].offset, bytes(WORD_BYTES))
        board.compare(f"write of {name}", int(okay), 0)
    for address in (0x10, 0x80, 0xFFC):
        board.compare("write", int(await bus.write_bytes(address, bytes(WORD_BYTES))), 0)
        data, okay = await bus.read_bytes(address, WORD_BYTES)
        board.compare("read", int(okay), 0)
        board.compare("word", int.from_bytes(data, "little"), 0)
    await session.compare_idle("in the end")


@BENCH.test(timeout_us=100)
async def full(dut, board):
    """Exactly so many words find room; the next one is refused, and all behind it."""
    session = await _started(dut, board)
    bus, room = session.bus, BENCH.params["IN_WORDS"]
    for strobes in (WORD_BYTES, 2):  # in one round the FIFO is full, in one a write is not whole
        session.sink.pause = True
        words = [int(x) for x in board.rng.integers(WORD, size=room)]
        await bus.write_each("DATA", [header(1, room)])
        await ClockCycles(dut.clk_i, SETTLED)  # the header has left the FIFO
        board.compare("ROOM", await session.level(ROOM), room)
        fits = room if strobes == WORD_BYTES else room - 1
        for count, word in enumerate(words[:fits], 1):
            await bus.write("DATA", word)
            board.compare("ROOM", await session.level(ROOM), room - count)
        await session.refused("full, or not whole", words[-1], strobes)
        session.sink.pause = False
        await ClockCycles(dut.clk_i, room * 3 + SETTLED)
        await session.refused("room again, but locked", 7)
        await session.refused("locked, too")
        if fits == room:
            await session.compare_sent((1, words), "what was taken")
        await bus.write("STREAM_STATUS", 0)
        session.sink.clear()
        session.sink.assert_reset()  # a packet may have begun
        await session.compare_idle("written off")


@BENCH.test(timeout_us=100)
async def empty(dut, board):
    """A read without a word is refused, and all behind it; what comes is kept until written off."""
    session = await _started(dut, board)
    await session.refused("empty")
    session.source.send_nowait(AxiStreamFrame([5, 6], tuser=1))
    await ClockCycles(dut.clk_i, SETTLED)
    board.compare("WORDS", await session.level(WORDS), 3)
    await session.refused("a word, but locked")
    await session.refused("locked, too", 5)
    await session.bus.write("STREAM_STATUS", 0)
    await session.compare_idle("written off")
    session.source.send_nowait(AxiStreamFrame([8], tuser=2))
    board.compare_all("DATA", await session.get(2), [8, header(2, 1)])
    await session.compare_idle("in the end")


@BENCH.test(timeout_us=100)
async def written_off(dut, board):
    """Packets that have begun, in and out, are forgotten; the next ones are whole."""
    session = await _started(dut, board)
    most = min(BENCH.params["IN_WORDS"], BENCH.params["OUT_WORDS"])
    for length in range(1, most + 1):
        session.sink.pause = True
        await session.put([header(1, length + 1), *range(1, length)])
        session.source.send_nowait(AxiStreamFrame([9] * (MOST_WORDS + most), tuser=3))
        await ClockCycles(dut.clk_i, length + SETTLED)
        assert await session.level(WORDS)
        session.source.clear()
        session.source.assert_reset(True)
        await ClockCycles(dut.clk_i, 2)
        await session.bus.write("STREAM_STATUS", 0)
        session.source.assert_reset(False)
        session.sink.pause = False
        await session.compare_idle(f"after {length}")
        packet = session.packet(session.user_w)
        user, words = packet
        await session.put([header(user, len(words)), *words])
        await session.compare_sent(packet, f"after {length}")
        user, words = session.packet(session.user_w + 1)
        session.source.send_nowait(AxiStreamFrame(words, tuser=user))
        *found, end = await session.get(len(words) + 1)
        board.compare_all("DATA", found, words, context=f"after {length}")
        board.compare("words", end & LENGTH_MASK, len(words), context=f"after {length}")
        board.compare("TUSER", end >> USER_AT, user, context=f"after {length}")


test_stream_axil = BENCH.pytest()
