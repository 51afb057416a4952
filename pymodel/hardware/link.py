"""The host's side of the serial link (docs/board.md): frames, their answers, and what gets lost.

It knows no clock and no line: a :class:`Port` sends and receives bytes, be it a device of the
operating system or the pins of a simulation.
"""

import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from cobs import cobs

from pymodel.arith.errors import Error
from pymodel.machine.registers import WORD_BYTES

VERSION, WINDOW, FRAME_WORDS = 1, 4, 128
ACCESS, HELLO = 0, 1  # kinds of frames
KIND_AT, VERSION_AT, WINDOW_AT = 8, 16, 8  # bits of words
OP_WRITE, OP_FIXED, OP_ADDRESS_AT = 1 << 16, 1 << 17, 16
SEQUENCES, BYTE, HALF = 1 << 8, 0xFF, 0xFFFF
DELIMITER = b"\0"
GREETING = VERSION << VERSION_AT | WINDOW << WINDOW_AT | FRAME_WORDS  # what answers a hello
#: Words of a frame, checksum and header left out, and of an answer, whose last one is a status.
ROOM, ANSWER_ROOM = FRAME_WORDS - 2, FRAME_WORDS - 4
WAIT_S = 0.25  # without a byte, before a frame is sent again; twice as long each time
TRIES = 5
#: Bytes of a frame on the line at most, with its delimiter, and of all that may be there at once.
FRAME_BYTES = WORD_BYTES * FRAME_WORDS + 4
LINE_BYTES = 2 * WINDOW * FRAME_BYTES


#: Of :func:`c_header`: name, number, what it is.
_CONSTANTS = (
    ("FRAME_WORDS", FRAME_WORDS, "of a frame at most, its checksum included"),
    ("WINDOW", WINDOW, "frames without an answer, at most"),
    ("ACCESS", ACCESS, "kind of a frame"),
    ("HELLO", HELLO, "kind of a frame"),
    ("KIND_AT", KIND_AT, "bit of the first word"),
    ("ADDRESS_AT", OP_ADDRESS_AT, "bit of an operation, for a byte address"),
    ("WRITE", OP_WRITE, "bit of an operation"),
    ("FIXED", OP_FIXED, "bit of an operation: all at one address"),
    ("GREETING", GREETING, "what answers a hello: version, WINDOW, FRAME_WORDS"),
    ("TRIES", TRIES, "before a host gives up"),
    ("WAIT_MS", round(1000 * WAIT_S), "without an answer, before the first repetition"),
)


def c_header(generated: str) -> str:
    """The numbers for hosts in C."""
    lines = [f"/* {generated} */", "#ifndef STEP_LINK_WORDS_H", "#define STEP_LINK_WORDS_H", ""]
    lines += [
        f"#define STEP_LINK_{name} {number:#x}u /* {text} */" for name, number, text in _CONSTANTS
    ]
    return "\n".join([*lines, "", "#endif", ""])


class LinkError(Error):
    """No answer, or one that no such link gives."""


class Port(Protocol):
    """A line of bytes."""

    @property
    def byte_s(self) -> float:
        """How long a byte takes, in seconds."""

    def now(self) -> float:
        """The time in seconds, from any moment on, while bytes come and go."""

    def write(self, data: bytes) -> None:
        """Send bytes; they may be on their way when it returns."""

    def read(self, seconds: float) -> bytes:
        """Bytes that have come; none if there are none within so many seconds."""


class Operation(NamedTuple):
    """A burst of accesses.

    Attributes
    ----------
    address
        In bytes, of the first one.
    length
        How many.
    words
        That are written; None: they are read.
    fixed
        All go to this address, instead of to words behind one another.
    """

    address: int
    length: int
    words: Sequence[int] | None = None
    fixed: bool = False

    def part(self, start: int, count: int) -> "Operation":
        """Some of its accesses."""
        address = self.address + (0 if self.fixed else WORD_BYTES * start)
        words = None if self.words is None else self.words[start : start + count]
        return Operation(address, count, words, self.fixed)

    def encoded(self) -> list[int]:
        """Words of a frame."""
        flags = (OP_WRITE if self.words is not None else 0) | (OP_FIXED if self.fixed else 0)
        return [self.address << OP_ADDRESS_AT | flags | self.length, *(self.words or ())]


class Answer(NamedTuple):
    """What accesses gave.

    Attributes
    ----------
    words
        Of all reads, in their order.
    failed
        The number of the first access that was not OKAY, from 0 on; None if all were.
    """

    words: list[int]
    failed: int | None


def encode(words: Sequence[int]) -> bytes:
    """A frame as it goes over the line."""
    data = struct.pack(f"<{len(words)}I", *words)
    return cobs.encode(data + struct.pack("<I", zlib.crc32(data))) + DELIMITER


def decode(block: bytes) -> list[int] | None:
    """The words of a frame, without delimiter and checksum; None if it is damaged."""
    try:
        data = cobs.decode(block)
    except cobs.DecodeError:
        return None
    if len(data) % WORD_BYTES or len(data) < 2 * WORD_BYTES:
        return None
    *words, check = struct.unpack(f"<{len(data) // WORD_BYTES}I", data)
    return words if check == zlib.crc32(data[:-WORD_BYTES]) else None


def frames_of(operations: Iterable[Operation]) -> list[list[Operation]]:
    """Operations, cut so that each list fits a frame and its answers fit one, too."""
    frames: list[list[Operation]] = []
    room = answer_room = 0
    for operation in operations:
        start = 0
        while start < operation.length:
            reads = operation.words is None
            count = min(operation.length - start, answer_room if reads else room - 1)
            if count < 1 or room < 1:
                frames.append([])
                room, answer_room = ROOM, ANSWER_ROOM
                continue
            frames[-1].append(operation.part(start, count))
            room -= 1 if reads else 1 + count
            answer_room -= count if reads else 0
            start += count
    return frames


class Link:
    """A link to a board.

    Parameters
    ----------
    port
        The line.
    wait_s
        As :data:`WAIT_S`.

    Attributes
    ----------
    wait_s
        As given.
    sent, again
        Frames that were sent, and those of them that had been sent before.
    """

    def __init__(self, port: Port, wait_s: float = WAIT_S) -> None:
        self._port, self.wait_s = port, wait_s
        self._next: int | None = None  # sequence number; None: nobody has been greeted
        self._received = bytearray()
        self.sent = self.again = 0

    def hello(self, operations: Sequence[Operation] = ()) -> Answer:
        """Greet the board, which forgets what frames came before, and make first accesses.

        Raises
        ------
        LinkError
            If nothing answers, or something that speaks another version.
        """
        first = int.from_bytes(os.urandom(1), "little")
        (words,) = self._exchanged([_frame(HELLO, operations)], HELLO, first)
        link, *rest = words
        version = link >> VERSION_AT
        if version != VERSION:
            raise LinkError(f"the board speaks version {version} of the link, this host {VERSION}")
        if (link >> WINDOW_AT & BYTE, link & BYTE) != (WINDOW, FRAME_WORDS):
            raise LinkError(f"the board's link has other sizes, {link & HALF:#06x}")
        return _answer([rest], [operations])

    def do(self, operations: Iterable[Operation]) -> Answer:
        """Make accesses, one after the other.

        Raises
        ------
        LinkError
            If nothing answers.
        """
        if self._next is None:
            raise LinkError("nobody has been greeted")
        parts = frames_of(operations)
        frames = [_frame(ACCESS, part) for part in parts]
        return _answer(self._exchanged(frames, ACCESS, self._next), parts)

    def _exchanged(self, frames: list[list[int]], kind: int, first: int) -> list[list[int]]:
        """Send frames, at most WINDOW without an answer; the answers, without their first words.

        What is lost, or comes damaged, is sent again with all behind it: the board does no frame
        twice, and answers those that it has done.
        """
        answers: list[list[int]] = []
        sent, most_sent, tries = 0, 0, 0
        if kind == HELLO:
            self._port.write(DELIMITER)  # behind whatever came before
            self._received.clear()
        while len(answers) < len(frames):
            while sent < min(len(frames), len(answers) + WINDOW):
                header = kind << KIND_AT | (first + sent) % SEQUENCES
                self._port.write(encode([header, *frames[sent][1:]]))
                self.sent += 1
                self.again += sent < most_sent
                sent += 1
                most_sent = max(sent, most_sent)
            header = kind << KIND_AT | (first + len(answers)) % SEQUENCES
            words = self._receive(header, self.wait_s * 2**tries)
            if words is None:
                tries += 1
                if tries == TRIES:
                    self._next = None
                    what = "any more: was it reset?" if kind == ACCESS else f"in {TRIES} tries"
                    raise LinkError(f"the board does not answer {what}")
                sent = len(answers)
                self._port.write(DELIMITER)
            else:
                answers.append(words)
                tries = 0
        self._next = (first + len(frames)) % SEQUENCES
        return answers

    def _receive(self, header: int, wait_s: float) -> list[int] | None:
        """What stands behind the first word of the frame that begins with it.

        None if the line is silent for so long, or brings other things for so long and the time that
        all that may be on the line takes there.
        """
        end = self._port.now() + wait_s + LINE_BYTES * self._port.byte_s
        while (left := end - self._port.now()) > 0:
            block, delimiter, rest = self._received.partition(DELIMITER)
            if delimiter:
                self._received = rest
                words = decode(bytes(block)) if block else None
                if words and words[0] == header:
                    return words[1:]
                continue
            if len(self._received) > FRAME_BYTES:  # no frame
                self._received.clear()
            data = self._port.read(min(wait_s, left))
            if not data:
                return None
            self._received += data
        return None


def _frame(kind: int, operations: Sequence[Operation]) -> list[int]:
    """Words of a frame, the first of which gets its sequence number when it is sent."""
    return [kind << KIND_AT, *(word for operation in operations for word in operation.encoded())]


def _answer(answers: Sequence[list[int]], parts: Sequence[Sequence[Operation]]) -> Answer:
    """One answer of the answers to frames with these operations."""
    words: list[int] = []
    failed, before = None, 0
    for (*found, status), operations in zip(answers, parts, strict=True):
        if status and failed is None:
            failed = before + status - 1
        before += sum(operation.length for operation in operations)
        words += found
    return Answer(words, failed)


def bursts(accesses: Iterable[tuple[int, int | None]]) -> list[Operation]:
    """Accesses, each an address and the word to write or None, as the longest bursts there are."""
    found: list[list[tuple[int, int | None]]] = []
    for access in accesses:
        address, word = access
        if found:
            last = found[-1]
            same_kind = (last[-1][1] is None) == (word is None)
            steps = {b[0] - a[0] for a, b in pairwise([*last[-2:], access])}
            if same_kind and steps in ({0}, {WORD_BYTES}):
                last.append(access)
                continue
        found.append([access])
    return [_burst(group) for group in found]


def _burst(accesses: Sequence[tuple[int, int | None]]) -> Operation:
    addresses = [address for address, _ in accesses]
    words = [word for _, word in accesses if word is not None]
    fixed = len(set(addresses)) < len(addresses)
    return Operation(addresses[0], len(accesses), words or None, fixed)
