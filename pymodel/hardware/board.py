"""A step engine or array on a board, at the other end of a serial port (docs/board.md).

What drives the simulated one drives this one: accesses go over the link instead of a simulated
bus, and nothing waits for a simulator.
"""

import time
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import serial

from pymodel.hardware.batch import (
    ADDRESS_AT,
    ADDRESS_MASK,
    REFUSED,
    WORD_MASK,
    WRITE,
    Batch,
)
from pymodel.hardware.link import WAIT_S, Link, LinkError, Operation, bursts
from pymodel.hardware.step_array import StepArray
from pymodel.hardware.step_array import machine_of as array_machine_of
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.stream_blocks import LAST_AT, USER_AT
from pymodel.hardware.waiting import AnswerError, HangError
from pymodel.machine import stream_registers
from pymodel.machine.isa import Machine
from pymodel.machine.registers import STEP_ARRAY, STEP_ENGINE
from pymodel.machine.stream_registers import LENGTH_MASK, header
from pymodel.runs.input_error import InputError

BAUD = 3_000_000
BYTE_BITS = 10  # with start and stop bit
ID, ARRAY_ID, MAJOR_AT = int.from_bytes(b"STEP", "big"), int.from_bytes(b"SARR", "big"), 16
FIRST = ("ID", "VERSION", "CONFIG")  # registers that stand behind one another
#: Registers with a parameter of the module each, and its name.
SIZES = {
    "FILE_DEPTH": "DEPTH",
    "PROGRAM_DEPTH": "PROGRAM_DEPTH",
    "TRACE_REGISTERS": "TRACE_REGISTERS",
    "PROGRAMS": "PROGRAMS",
}
ARRAY_SIZES = {
    "FILE_DEPTH": "DEPTH",
    "PROGRAM_DEPTH": "PROGRAM_DEPTH",
    "IN_DEPTH": "IN_DEPTH",
    "OUT_DEPTH": "OUT_DEPTH",
    "SCRATCH_DEPTH": "SCRATCH_DEPTH",
}
#: Registers whose fields are parameters of the module.
SHAPES, ARRAY_SHAPES = ("CONFIG", "LANES"), ("CONFIG", "LANES", "ARRAY")
STREAMS = stream_registers.streams()
TICK_S = 1e-3  # what waits count in: the line takes longer than a run's steps; see _tick_s
PAUSE_S = 2e-3
Value = TypeVar("Value")


class SerialPort:
    """A serial port, as a port of :class:`pymodel.hardware.link.Link`.

    Parameters
    ----------
    name, baud
        Of the port.

    Attributes
    ----------
    byte_s
        How long a byte takes.

    Raises
    ------
    InputError
        If it cannot be opened.
    """

    def __init__(self, name: str, baud: int) -> None:
        self.name = name
        self.byte_s = BYTE_BITS / baud
        try:
            self._serial = serial.Serial(name, baud, exclusive=True)
        except (OSError, ValueError) as error:  # serial's own are both
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"--port {name}: cannot be opened: {reason}") from None

    def now(self) -> float:
        """The time in seconds."""
        return time.monotonic()

    def write(self, data: bytes) -> None:
        """Send bytes."""
        try:
            self._serial.write(data)
        except OSError as error:
            raise LinkError(f"{self.name}: {error}") from None

    def read(self, seconds: float) -> bytes:
        """Bytes that have come; none if there are none within so many seconds."""
        try:
            self._serial.timeout = seconds
            first = self._serial.read()
            return first + self._serial.read(self._serial.in_waiting) if first else first
        except OSError as error:
            raise LinkError(f"{self.name}: {error}") from None

    def close(self) -> None:
        """Close it."""
        self._serial.close()


class _LinkBatch(Batch):
    """A batch of accesses that go over the link."""

    async def run(self, timed: bool = False) -> list[list[Any]]:
        """Do all of them, in as few frames as there can be.

        Raises
        ------
        AnswerError
            If a response is not OKAY.
        """
        assert not any(group.poll_cycles or group.may_fail for group in self._groups)
        accesses = [
            (operation >> ADDRESS_AT & ADDRESS_MASK, _written(operation))
            for group in self._groups
            for operation in group.operations
        ]
        answer = self._registers.link.do(bursts(accesses))
        number, words, found = 0, iter(answer.words), []
        for group in self._groups:
            number += len(group.operations)
            if answer.failed is not None and answer.failed < number:
                raise AnswerError("read" if group.is_read else "write", group.name, REFUSED)
            if group.is_read:
                found.append([next(words) for _ in group.operations])
        return found


def _written(operation: int) -> int | None:
    return operation & WORD_MASK if operation & WRITE else None


class _OnBoard:
    """What is driven over a link, instead of a simulated bus.

    Attributes
    ----------
    link
        That has been greeted.
    """

    link: Link
    read: Any
    field: Any
    unfinished: Any
    status: int

    def attach(self, dut: Any) -> None:
        """There is no simulated bus."""

    def batch(self) -> Batch:
        """A batch of accesses, none yet."""
        return _LinkBatch(self)

    def now(self) -> int:
        """Ticks, far longer than clock cycles: no wait that a simulation has ends too soon."""
        return _ticks(self.link)

    async def pause(self, cycles: int) -> None:
        """Let time pass where a run is long."""
        time.sleep(PAUSE_S)

    async def wait_until_idle(self, cycles: int) -> int:
        """Poll STATUS until it is no longer BUSY; returns the polls.

        Raises
        ------
        BoardHangError
            If that takes more than so many ticks.
        """
        start, polls = self.now(), 0
        while True:
            self.status = await self.read("STATUS")
            polls += 1
            if not self.field("STATUS", "BUSY", self.status):
                return polls
            if self.now() - start > cycles:
                waited_s = (self.now() - start) * _tick_s(self.link)
                raise BoardHangError(self.unfinished("STATUS", self.status), waited_s)


class BoardHangError(HangError):
    """A board answers, but what was waited for does not come.

    Parameters
    ----------
    what
        As of :class:`pymodel.hardware.waiting.HangError`.
    waited_s
        For so many seconds.
    """

    def __init__(self, what: str, waited_s: float) -> None:
        AssertionError.__init__(self, f"the board does not go on for {waited_s:.3g} s: {what}")


def _ticks(link: Link) -> int:
    return round(time.monotonic() / _tick_s(link))


def _tick_s(link: Link) -> float:
    """Longer where a link waits longer, as for the simulation of a board."""
    return TICK_S * max(1.0, link.wait_s / WAIT_S)


class BoardEngine(_OnBoard, StepEngine):
    """A step engine behind a link.

    Parameters
    ----------
    link
        That has been greeted.
    machine
        What the engine is.
    """

    def __init__(self, link: Link, machine: Machine) -> None:
        super().__init__(None, machine)
        self.link = link


class LinkStreams:
    """Both streams of an array behind a link, see ``rtl/board/stream_axil.sv``.

    Parameters
    ----------
    link
        That has been greeted.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._line: deque[int] = deque()  # words to write
        self._expected: deque[int] = deque()  # words of each packet that is to come
        self._begun: list[int] = []  # words that were read, of packets that are not whole
        self._room = self._waiting = 0  # at least so much

    def reset(self) -> None:
        """Empty the board's FIFOs, and forget what was to be sent or to come."""
        self._line.clear()
        self._expected.clear()
        self._begun.clear()
        self._room = self._waiting = 0
        self._do([Operation(STREAMS["STREAM_STATUS"].offset, 1, [0])])

    def send(self, users: Sequence[int], words: Sequence[int]) -> None:
        """Put a packet in line: TUSER of each beat, which are the same, and TDATA."""
        (user,) = set(users)
        self._line += [header(user, len(words)), *words]

    def expect(self, lengths: Iterable[int]) -> None:
        """Say how many words the next packets have that come."""
        self._expected += lengths

    async def take(self, packets: int, limit: int, what: str) -> list[list[int]]:
        """Take what leaves, and send meanwhile what is in line.

        Parameters
        ----------
        packets
            No more than so many.
        limit
            Ticks from one word that moves to the next, at most.
        what
            Says what that should be.

        Returns
        -------
        list of list of int
            Of each packet, one at least, its beats as
            :meth:`pymodel.hardware.stream_blocks.StreamBlocks.take` gives them.

        Raises
        ------
        BoardHangError
            If no word moves for so long.
        AnswerError
            If a word is refused, or a packet is not as long as it should be.
        """
        last, found = _ticks(self._link), self._whole(packets)
        while not found:
            if self._exchange():
                last = _ticks(self._link)
            elif (waited := _ticks(self._link) - last) > limit:
                what = f"{what} ({len(self._line)} words to be sent)"
                raise BoardHangError(what, waited * _tick_s(self._link))
            found = self._whole(packets)
        return found

    def check_over(self) -> None:
        """All has been sent, and no more has come than was to be taken."""
        self._exchange()
        if self._line or self._expected or self._begun or self._waiting:
            raise AnswerError("beats", "m_axis", "more came, or less was taken")

    def levels(self) -> tuple[int, int]:
        """Room for words to send, and words that can be taken."""
        levels = STREAMS["LEVELS"]
        (word,) = self._do([Operation(levels.offset, 1)])
        return levels.field("ROOM").get(word), levels.field("WORDS").get(word)

    def put(self, words: Sequence[int]) -> None:
        """Send words, whether there is room or not."""
        self._do([Operation(STREAMS["DATA"].offset, len(words), words, fixed=True)])

    def get(self, count: int) -> list[int]:
        """Take words, whether there are any or not."""
        return self._do([Operation(STREAMS["DATA"].offset, count, fixed=True)])

    def _exchange(self) -> int:
        """Move as many words as there are and find room; how many."""
        data, levels = STREAMS["DATA"].offset, STREAMS["LEVELS"]
        wanted = sum(self._expected) + len(self._expected) - len(self._begun)
        reads = min(self._waiting, wanted)
        writes = [self._line.popleft() for _ in range(min(self._room, len(self._line)))]
        operations = [
            Operation(data, reads, fixed=True),
            Operation(data, len(writes), writes, fixed=True),
            Operation(levels.offset, 1),
        ]
        *words, level = self._do([each for each in operations if each.length])
        self._begun += words
        self._room = levels.field("ROOM").get(level)
        self._waiting = levels.field("WORDS").get(level)
        return reads + len(writes)

    def _do(self, operations: Sequence[Operation]) -> list[int]:
        answer = self._link.do(operations)
        if answer.failed is not None:
            raise AnswerError("access", "the streams", REFUSED)
        return answer.words

    def _whole(self, most: int) -> list[list[int]]:
        """The packets that have come whole."""
        found: list[list[int]] = []
        at = 0
        while len(found) < most and self._expected and len(self._begun) > at + self._expected[0]:
            length = self._expected.popleft()
            *words, end = self._begun[at : at + length + 1]
            at += length + 1
            user, said = end >> stream_registers.USER_AT, end & LENGTH_MASK
            if said != length:
                raise AnswerError("packet", "m_axis", f"{said} words, expected {length}")
            beats = [user << USER_AT | word for word in words]
            beats[-1] |= 1 << LAST_AT
            found.append(beats)
        del self._begun[:at]
        return found


class BoardArray(_OnBoard, StepArray):
    """A step array behind a link: whole runs.

    Parameters
    ----------
    link
        That has been greeted.
    machine
        What the array is.
    """

    in_blocks = True

    def __init__(self, link: Link, machine: Machine) -> None:
        self.link = link
        super().__init__(None, machine)

    def streams(self) -> LinkStreams:
        """Both streams."""
        return LinkStreams(self.link)

    async def start(self, calls: int) -> None:
        """Start a run of so many calls; what was left on the streams is forgotten."""
        self.blocks.reset()
        await super().start(calls)

    def send(self, function: int | Sequence[int], words: Sequence[int]) -> None:
        """Put a call in line; ``function``: TUSER, of all beats or of each."""
        super().send(function, words)
        number = function if isinstance(function, int) else function[0]
        self.blocks.expect([self.outputs[number]] * self.rows[number])


def done(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """The result of what waits for no simulator."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise AssertionError("waits for a simulator")


@contextmanager
def connected(port: str | None, baud: int, wait_s: float) -> Iterator[BoardEngine | BoardArray]:
    """The engine or array at the other end of a serial port.

    Parameters
    ----------
    port
        Its name, such as ``/dev/ttyUSB0``.
    baud
        Bits a second.
    wait_s
        Of the link.

    Raises
    ------
    InputError
        If there is no such port, nothing answers there, or neither engine nor array.
    """
    if not port:
        raise InputError("--target board: needs --port, as --port /dev/ttyUSB0")
    line = SerialPort(port, baud)
    try:
        link = Link(line, wait_s)
        try:
            found = _found(link)
        except LinkError as error:
            raise InputError(f"--port {port}: {error}") from None
        done(found.write("CTRL", found.mask("CTRL", "RESET")))  # whatever another host left
        yield found
    finally:
        line.close()


def _found(link: Link) -> BoardEngine | BoardArray:
    """Greet a board: what is there."""
    id_, version, config = link.hello([Operation(STEP_ENGINE["ID"].offset, len(FIRST))]).words
    if id_ not in (ID, ARRAY_ID):
        raise LinkError(f"no step engine or array answers, ID is {id_:#010x}")
    map_, what = (STEP_ENGINE, "engine") if id_ == ID else (STEP_ARRAY, "array")
    assert map_.version is not None
    if version >> MAJOR_AT != map_.version[0]:
        major, minor = version >> MAJOR_AT, version & 0xFFFF
        raise LinkError(f"the {what} has registers of version {major}.{minor}")
    shapes, sizes = (SHAPES, SIZES) if id_ == ID else (ARRAY_SHAPES, ARRAY_SIZES)
    names = (*shapes[1:], *sizes)
    words = link.do(Operation(map_[name].offset, 1) for name in names).words
    read = {"CONFIG": config} | dict(zip(names, words, strict=True))
    parameters = {parameter: read[name] for name, parameter in sizes.items()}
    for name in shapes:
        parameters |= {field.name: field.get(read[name]) for field in map_[name].fields}
    if id_ == ID:
        return BoardEngine(link, machine_of(parameters))
    (streams,) = link.do([Operation(STREAMS["STREAM_ID"].offset, 1)]).words
    if streams != stream_registers.ID:
        raise LinkError(
            f"the array's streams are not behind the link, STREAM_ID is {streams:#010x}"
        )
    return BoardArray(link, array_machine_of(parameters))
