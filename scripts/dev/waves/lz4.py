"""Decompression of LZ4 blocks."""

LAST = 15  # of a length's four bits in a token: more bytes of it follow
LEAST_MATCH = 4


class _Reader:
    """Bytes from a position on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position = data, 0

    @property
    def at_end(self) -> bool:
        return self.position >= len(self.data)

    def byte(self) -> int:
        self.position += 1
        return self.data[self.position - 1]

    def bytes(self, count: int) -> bytes:
        self.position += count
        return self.data[self.position - count : self.position]

    def length(self, bits: int) -> int:
        """A length whose first four bits were in a token."""
        if bits < LAST:
            return bits
        more = 255
        while more == 255:
            more = self.byte()
            bits += more
        return bits


def lz4_block(data: bytes) -> bytes:
    """Decompress one raw LZ4 block.

    Raises
    ------
    IndexError
        If it is cut off, or refers to what is not there.
    """
    reader, out = _Reader(data), bytearray()
    while not reader.at_end:
        token = reader.byte()
        out += reader.bytes(reader.length(token >> 4))
        if reader.at_end:
            break  # the last sequence has no match
        offset = reader.byte() | reader.byte() << 8
        for _ in range(reader.length(token & 15) + LEAST_MATCH):
            out.append(out[-offset])
    return bytes(out)
