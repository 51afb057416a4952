"""The signal hierarchy of an FST waveform, without a viewer or its libraries.

Only the blocks that hold the hierarchy are read, never the values. The format is that of GTKWave's
`fstapi`, which Icarus and Verilator both use to write.
"""

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from scripts.dev.waves.lz4 import lz4_block

# Types of blocks.
HIERARCHY_GZIP, HIERARCHY_LZ4, HIERARCHY_LZ4_TWICE, WHOLE_FILE_GZIP = 4, 6, 7, 254
HEAD = 9  # bytes of a block before its body: type and length
SIZE = 8  # bytes of a size, in front of compressed data
# Tags in the hierarchy; a smaller one is the kind of a variable.
ATTRIBUTE_BEGIN, ATTRIBUTE_END, SCOPE, UPSCOPE = 252, 253, 254, 255
PARAMETERS = (2, 4)  # kinds: integer and real

RANGE = re.compile(r" ?\[(-?\d+)(?::(-?\d+))?\]$")


class FstError(Exception):
    """The file is no FST, or was not closed by the simulator."""


@dataclass(frozen=True)
class Signal:
    """A variable.

    Attributes
    ----------
    path : str
        `top.u_unit.a_i`, without the range.
    width : int
        Bits.
    left, right : int
        Its range.
    ranged : bool
        Whether its name carries the range.
    """

    path: str
    width: int
    left: int
    right: int
    ranged: bool

    @property
    def name(self) -> str:
        """The name by which GTKWave knows it."""
        if not self.ranged:
            return self.path
        return f"{self.path}[{self.left}:{self.right}]"

    @property
    def last_name(self) -> str:
        """That within its scope."""
        return self.path.rpartition(".")[2]


def signals(path: Path) -> dict[str, Signal]:
    """The variables of a waveform by path, parameters left out.

    Raises
    ------
    FstError
        If the file is not a complete waveform.
    """
    try:
        return _Hierarchy(_hierarchy(path.read_bytes())).signals()
    except (IndexError, EOFError, OSError, ValueError, zlib.error) as error:
        raise FstError(f"{path} is not a complete FST waveform ({error})") from error


def _hierarchy(file: bytes) -> bytes:
    """The uncompressed hierarchy in the bytes of a file."""
    data = memoryview(file)
    position = 0
    while position + HEAD <= len(data):
        kind = data[position]
        length = int.from_bytes(data[position + 1 : position + HEAD], "big")
        body = data[position + HEAD : position + 1 + length]
        if kind == WHOLE_FILE_GZIP:
            return _hierarchy(gzip.decompress(body[SIZE:]))
        if kind == HIERARCHY_GZIP:
            return gzip.decompress(body[SIZE:])
        if kind == HIERARCHY_LZ4:
            return lz4_block(body[SIZE:])
        if kind == HIERARCHY_LZ4_TWICE:
            return lz4_block(lz4_block(body[2 * SIZE :]))
        if length < SIZE:
            break
        position += 1 + length
    raise ValueError("no signal hierarchy in it")


class _Hierarchy:
    """Reads an uncompressed hierarchy."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    def signals(self) -> dict[str, Signal]:
        found: dict[str, Signal] = {}
        scopes: list[str] = []
        while self.position < len(self.data):
            tag = self._byte()
            if tag == SCOPE:
                self.position += 1  # its kind
                scopes.append(self._text())
                self._text()  # the module's name
            elif tag == UPSCOPE:
                scopes.pop()
            elif tag == ATTRIBUTE_BEGIN:
                self.position += 2  # its type and subtype
                self._text()
                self._number()
            elif tag != ATTRIBUTE_END:
                self.position += 1  # its direction
                name, width, _ = self._text(), self._number(), self._number()
                if tag not in PARAMETERS:
                    signal = _signal(scopes, name, width)
                    found.setdefault(signal.path, signal)
        return found

    def _byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def _text(self) -> str:
        """Up to the next zero."""
        start, end = self.position, self.data.index(0, self.position)
        self.position = end + 1
        return self.data[start:end].decode("utf-8", "replace")

    def _number(self) -> int:
        """Seven bits a byte, the lowest first; the last byte is below 128."""
        value, shift, byte = 0, 0, 128
        while byte >= 128:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
        return value


def _signal(scopes: list[str], name: str, width: int) -> Signal:
    match = RANGE.search(name)
    left, right = (int(match[1]), int(match[2] or match[1])) if match else (width - 1, 0)
    if not match or abs(left - right) + 1 != width or (width == 1 and match[2] is None):
        # no range: `[3]` belongs to the name of an array's element
        return Signal(".".join([*scopes, name]), width, width - 1, 0, ranged=False)
    return Signal(".".join([*scopes, name[: match.start()]]), width, left, right, ranged=True)
