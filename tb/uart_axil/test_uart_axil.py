"""The serial link, by the host's own program: bursts, noise, other baud rates, resets.

Behind the link every read and write counts, so that what is lost or done twice is seen.
"""

import numpy as np
from cocotb.triggers import ClockCycles, FallingEdge, Timer
from cocotb.utils import get_sim_time

from pymodel.hardware import clock
from pymodel.hardware.link import (
    ACCESS,
    ANSWER_ROOM,
    FRAME_WORDS,
    HELLO,
    KIND_AT,
    ROOM,
    WINDOW,
    LinkError,
    Operation,
    decode,
    encode,
)
from pymodel.machine.registers import WORD_BYTES
from tb.uart_axil.bench import BENCH, CLOCK_HZ
from tb.uart_axil.line import FRAME_BYTES, Line

WORD = 1 << 32
MEMORY, COUNTER, WRITES, NOTHING = 64, 0x100, 0x104, 0x200  # words; addresses
NOISE = 3e-4  # probability that a bit flips: of short frames, one in ten
SHORT = 50 / FRAME_BYTES  # the host's patience where frames are short
LEAST_EFFICIENCY = 0.8  # of the line, in bursts


class _Registers:
    """What stands behind the link."""

    def __init__(self):
        self.memory = [0] * MEMORY
        self.lengther = self.writes = 0

    def do(self, operations):
        """Words that are read, and the number of the first access that fails."""
        words, failed, number = [], None, 0
        for operation in operations:
            for i in range(operation.length):
                address = operation.address + (0 if operation.fixed else WORD_BYTES * i)
                if address >= NOTHING and failed is None:
                    failed = number
                number += 1
                if operation.words is None:
                    words.append(self._read(address))
                else:
                    self._write(address, operation.words[i])
        return words, failed

    def _read(self, address):
        if address == COUNTER:
            self.lengther = (self.lengther + 1) % WORD
            return (self.lengther - 1) % WORD
        if address >= NOTHING:
            return 0
        return self.writes if address == WRITES else self.memory[address // WORD_BYTES]

    def _write(self, address, word):
        self.writes += 1
        if address == COUNTER:
            self.lengther = (3 * self.lengther + word) % WORD
        elif address < COUNTER:
            self.memory[address // WORD_BYTES] = word


class _Session:
    """The board, the host, and what the board should hold."""

    def __init__(self, dut, board, baud):
        self.dut, self.board, self.model = dut, board, _Registers()
        self.line = Line(dut, baud, board.rng)
        self.short_s = SHORT * self.line.link.wait_s

    async def hello(self):
        """Greet, and fill the memory."""
        await self.line.host("hello")
        words = [int(x) for x in self.board.rng.integers(WORD, size=MEMORY)]
        await self.compare([Operation(0, MEMORY, words)], "the first words")

    async def compare(self, operations, context):
        """Do operations on both sides."""
        answer = await self.line.host("do", operations)
        words, failed = self.model.do(operations)
        self.board.compare_all("words", answer.words, words, context=context)
        self.board.compare("failed", _code(answer.failed), _code(failed), context=context)

    async def check(self):
        """What the board holds is what it should hold: nothing was lost or done twice."""
        reads = [Operation(0, MEMORY), Operation(COUNTER, 1), Operation(WRITES, 1)]
        await self.compare(reads, "in the end")

    def operations(self, most, count):
        """Random ones, with bursts of at most so many words."""
        return [self._operation(most) for _ in range(count)]

    def _operation(self, most):
        rng = self.board.rng
        count, writes, fixed = int(rng.integers(1, most)), rng.random() < 0.5, rng.random() < 0.4
        address = int(rng.choice((COUNTER, COUNTER, WRITES, NOTHING) if fixed else (0,)))
        if not fixed:
            count = min(count, MEMORY)
            address = WORD_BYTES * int(rng.integers(MEMORY - count + 1))
        # zeros, and no zeros for long, are what COBS minds
        words = [int(x) for x in rng.integers(1, WORD, size=count) * (rng.random() < 0.8)]
        return Operation(address, count, words if writes else None, fixed)


def _code(failed):
    return 0 if failed is None else failed + 1


async def _started(dut, board, baud_error=0.0):
    dut.hold_i.value = 0
    dut.rx_i.value = 1
    await clock.start(dut)
    params = BENCH.params  # of a board with another clock than the simulated one
    baud = params["BAUD"] * CLOCK_HZ / params["CLOCK_HZ"]
    return _Session(dut, board, baud * (1 + baud_error))


@BENCH.test(timeout_us=200_000)
async def bursts(dut, board):
    """Random bursts, short and longer than a frame, in frames of one operation and of many."""
    session = await _started(dut, board)
    await session.hello()
    for index in range(BENCH.settings["rounds"]):
        most, count = ((4, 12), (40, 3), (300, 1))[index % 3]
        await session.compare(session.operations(most, count), f"round {index}")
    await session.check()
    board.compare("frames that were sent again", session.line.link.again, 0)


@BENCH.test(timeout_us=200_000)
async def full_frames(dut, board):
    """Bursts fill the line, both ways, but for a fifth at most."""
    session = await _started(dut, board)
    await session.hello()
    frames = BENCH.settings["rounds"] // 3
    words = [int(x) for x in board.rng.integers(1, WORD, size=frames * (ROOM - 1))]
    for operation in (
        Operation(COUNTER, len(words), words, fixed=True),
        Operation(COUNTER, frames * ANSWER_ROOM, fixed=True),
    ):
        start = get_sim_time("ns")
        await session.compare([operation], "full frames")
        seconds = (get_sim_time("ns") - start) * 1e-9
        best = operation.length * WORD_BYTES * session.line.byte_s
        fast = frames == 1 or best / seconds >= LEAST_EFFICIENCY  # one has nothing to overlap with
        board.compare("fast", int(fast), 1, context=f"{best / seconds:.2f} of the line")
    await session.check()


@BENCH.test(timeout_us=200_000)
async def baud(dut, board):
    """A host whose baud rate differs by 2 %."""
    for error in (-0.02, 0.02):
        session = await _started(dut, board, error)
        await session.hello()
        await session.compare(session.operations(20, 4), f"baud {error:+}")
        board.compare("frames that were sent again", session.line.link.again, 0)


@BENCH.test(timeout_us=400_000)
async def noise(dut, board):
    """Bits that flip, bytes that get lost or come from nowhere: all is done, and once."""
    session = await _started(dut, board)
    await session.hello()
    session.line.noise = NOISE
    session.line.link.wait_s = session.short_s
    index = 0
    while session.line.link.again < BENCH.settings["rounds"]:
        await session.compare(session.operations(4, 3), f"round {index}")
        index += 1
    session.line.noise = 0.0
    await session.check()


@BENCH.test(timeout_us=200_000)
async def slow_bus(dut, board):
    """More frames than there is room for, while the bus does not answer: they come again."""
    session = await _started(dut, board)
    await session.hello()
    session.line.link.wait_s = session.short_s
    dut.hold_i.value = 1
    words = [int(x) for x in board.rng.integers(WORD, size=WINDOW * MEMORY)]
    operation = Operation(COUNTER, len(words), words, fixed=True)

    async def release():
        await Timer(round(1e9 * WORD_BYTES * len(words) * session.line.byte_s), "ns")
        dut.hold_i.value = 0

    releasing = clock.cocotb.start_soon(release())
    await session.compare([operation], "held back")
    await releasing
    assert session.line.link.again, "all frames found room"
    await session.check()


@BENCH.test(timeout_us=200_000)
async def reset(dut, board):
    """A reset in the middle of a frame: the host is told, and can begin anew."""
    for _ in range(BENCH.settings["rounds"] // 3):
        session = await _started(dut, board)
        await session.hello()
        session.line.link.wait_s = session.short_s
        later = round(1e9 * session.line.byte_s * board.rng.uniform(5, 80))

        async def strike(later=later):
            await Timer(later, "ns")
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 0
            await ClockCycles(dut.clk_i, 3)
            await clock.release_reset(dut)

        striking = clock.cocotb.start_soon(strike())
        try:
            await session.line.host("do", [Operation(0, MEMORY), Operation(0, MEMORY)])
            told = False
        except LinkError:
            told = True
        await striking
        board.compare("told", int(told), 1)
        session.model = _Registers()
        await session.hello()
        await session.check()


@BENCH.test(timeout_us=200_000)
async def refused(dut, board):
    """Frames that are not whole, not next, or ask for what is not there; a break of the line."""
    session = await _started(dut, board)
    line = session.line
    write = [WRITES << 16 | 1 << 16 | 1, 5]  # one word
    before = encode([ACCESS << KIND_AT, *write])
    await session.line._post(before)  # nobody has been greeted
    await session.hello()
    first = line.link._next
    header = ACCESS << KIND_AT | first
    good = encode([header, *write])
    too_long = [header, *([COUNTER << 16 | 1 << 16 | FRAME_WORDS] + [1] * FRAME_WORDS)]
    for frame in (
        encode([header + 7 & 0xFF, *write]),  # not next
        encode([7 << KIND_AT | first, *write]),  # of no kind
        encode(too_long),
        good[:-3] + b"\0",  # cut
        good[1:],
        encode([]),  # nothing but a checksum
        b"\0\0",
        bytes([255]) * 300,
    ):
        await line._post(frame)
    while line._queue:
        await Timer(10, "us")
    for _ in range(2):
        await line.pins.send(0, stop=0)  # a break
    await Timer(round(4e9 * line.byte_s), "ns")
    board.compare("bytes that answer them", len(line._bytes), 0)
    await session.compare([Operation(COUNTER, 1, [3]), Operation(WRITES, 1)], "then")

    # more words are written than there are, and read than fit an answer
    short = [COUNTER << 16 | 3 << 16 | 9, 1, 2]
    long = [COUNTER << 16 | 2 << 16 | 2 * FRAME_WORDS]
    for asked, failed, words in ((short, 3, 0), (long, ANSWER_ROOM + 2, ANSWER_ROOM + 1)):
        header = ACCESS << KIND_AT | line.link._next
        await line._post(encode([header, *asked]))
        answer = decode((await line._take(session.short_s))[:-1])
        board.compare("header", answer[0], header)
        board.compare("status", answer[-1], failed)
        board.compare("words", len(answer), words + 2)
        line.link._next = (line.link._next + 1) % 256
    session.model.do([Operation(COUNTER, 2, [1, 2], True), Operation(COUNTER, words, None, True)])
    await session.check()


@BENCH.test(timeout_us=200_000)
async def again(dut, board):
    """A frame that comes again is not done again, and gets the answer that it had."""
    session = await _started(dut, board)
    line = session.line
    await session.hello()
    first, answers = line.link._next, []
    reads = np.arange(2 * WINDOW)
    for i in reads:
        frame = encode([ACCESS << KIND_AT | (first + int(i)) % 256, COUNTER << 16 | 1])
        await line._post(frame)
        answers.append(await line._take(session.short_s))
        board.compare("word", decode(answers[-1][:-1])[1], int(i))
    for i in reads[::-1]:
        await line._post(encode([ACCESS << KIND_AT | (first + int(i)) % 256, COUNTER << 16 | 1]))
        found = b""
        while got := await line._take(session.short_s):
            found += got
        kept = i >= WINDOW
        board.compare("answer", int(found.startswith(answers[i]) and bool(found)), int(kept))
    await line._post(encode([HELLO << KIND_AT | 3, COUNTER << 16 | 1]))
    found = decode((await line._take(session.short_s))[:-1])
    board.compare_all("greeting", found[2:], [len(reads), 0])


test_uart_axil = BENCH.pytest()
