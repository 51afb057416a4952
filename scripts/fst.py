"""The signal hierarchy of an FST waveform, without a viewer or its libraries.

Only the blocks that hold the hierarchy are read, never the values. The format is that of GTKWave's
``fstapi``, which Icarus and Verilator both use to write.
"""

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

# Block types
HIERARCHY_GZIP, HIERARCHY_LZ4, HIERARCHY_LZ4_TWICE, WHOLE_FILE_GZIP = 4, 6, 7, 254
# Tags in the hierarchy; a smaller one is the kind of a variable
ATTRIBUTE_BEGIN, ATTRIBUTE_END, SCOPE, UPSCOPE = 252, 253, 254, 255
PARAMETERS = (2, 4)  # integer and real

RANGE = re.compile(r" ?\[(-?\d+)(?::(-?\d+))?\]$")


class FstError(Exception):
    """The file is no FST, or was not closed by the simulator."""


@dataclass(frozen=True)
class Signal:
    """A variable: its path without the range, and its range."""

    path: str
    width: int
    left: int
    right: int
    ranged: bool  # does its name carry the range?

    @property
    def name(self) -> str:
        """The name by which GTKWave knows it."""
        if not self.ranged:
            return self.path
        return f"{self.path}[{self.left}:{self.right}]"


def signals(path: Path) -> dict[str, Signal]:
    """The variables of a waveform by path (``top.u_unit.a_i``), parameters left out.

    Raises:
        FstError: see there.
    """
    try:
        return _walk(_hierarchy(path.read_bytes))
    except (IndexError, EOFError, OSError, ValueError, zlib.error) as error:
        raise FstError(f"{path} is not a complete FST waveform ({error})") from error


def _hierarchy(read) -> bytes:
    """The uncompressed hierarchy; ``read`` gives the file's bytes."""
    data = memoryview(read())
    position = 0
    while position + 9 <= len(data):
        kind = data[position]
        length = int.from_bytes(data[position + 1 : position + 9], "big")
        block = data[position + 9 : position + 1 + length]
        if kind == WHOLE_FILE_GZIP:
            return _hierarchy(lambda block=block: gzip.decompress(block[8:]))
        if kind == HIERARCHY_GZIP:
            return gzip.decompress(block[8:])
        if kind == HIERARCHY_LZ4:
            return lz4_block(block[8:])
        if kind == HIERARCHY_LZ4_TWICE:
            return lz4_block(lz4_block(block[16:]))
        if length < 8:
            break
        position += 1 + length
    raise ValueError("no signal hierarchy in it")


def lz4_block(data: bytes) -> bytes:
    """Decompress one raw LZ4 block."""
    out = bytearray()
    position = 0

    def more(length):
        nonlocal position
        while True:
            byte = data[position]
            position += 1
            length += byte
            if byte != 255:
                return length

    while position < len(data):
        token = data[position]
        position += 1
        literals = token >> 4
        if literals == 15:
            literals = more(literals)
        out += data[position : position + literals]
        position += literals
        if position >= len(data):
            break  # the last sequence has no match
        offset = data[position] | data[position + 1] << 8
        position += 2
        length = token & 15
        if length == 15:
            length = more(length)
        for _ in range(length + 4):
            out.append(out[-offset])
    return bytes(out)


def _walk(data: bytes) -> dict[str, Signal]:
    found: dict[str, Signal] = {}
    scopes: list[str] = []
    position = 0

    def text():
        nonlocal position
        end = data.index(0, position)
        piece, position = data[position:end].decode("utf-8", "replace"), end + 1
        return piece

    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(data):
        tag = data[position]
        position += 1
        if tag == SCOPE:
            position += 1  # its kind
            scopes.append(text())
            text()
        elif tag == UPSCOPE:
            scopes.pop()
        elif tag == ATTRIBUTE_BEGIN:
            position += 2
            text()
            number()
        elif tag != ATTRIBUTE_END:
            position += 1  # its direction
            name, width, _ = text(), number(), number()
            if tag not in PARAMETERS:
                signal = _signal(scopes, name, width)
                found.setdefault(signal.path, signal)
    return found


def _signal(scopes: list[str], name: str, width: int) -> Signal:
    match = RANGE.search(name)
    left, right = (int(match[1]), int(match[2] or match[1])) if match else (width - 1, 0)
    if not match or abs(left - right) + 1 != width or (width == 1 and match[2] is None):
        # no range: `[3]` belongs to the name of an array's element
        return Signal(".".join([*scopes, name]), width, width - 1, 0, ranged=False)
    return Signal(".".join([*scopes, name[: match.start()]]), width, left, right, ranged=True)
