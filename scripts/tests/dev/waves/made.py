"""A made-up waveform."""

# Float formats of all sizes.
FORMATS = [(8, 23), (5, 10), (8, 7), (11, 52), (4, 3), (5, 2), (4, 2)]


def variable(name: str, width: int, kind: int = 16) -> bytes:
    """A variable in a hierarchy; kind 16 is a wire."""
    return bytes([kind, 0]) + name.encode() + b"\0" + varint(width) + b"\0"


def varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def scope(name: str, *inside: bytes) -> bytes:
    """A scope in a hierarchy."""
    return b"\xfe\0" + name.encode() + b"\0\0" + b"".join(inside) + b"\xff"


def block(kind: int, body: bytes) -> bytes:
    """A block of an FST file."""
    return bytes([kind]) + (len(body) + 8).to_bytes(8, "big") + body


def lz4(data: bytes) -> bytes:
    """As an LZ4 block of literals only."""
    assert len(data) >= 15
    rest = len(data) - 15
    return b"\xf0" + b"\xff" * (rest // 255) + bytes([rest % 255]) + data


SIZE = bytes(8)  # of the uncompressed data, not needed
HIERARCHY = scope(
    "dut",
    variable("clk_i", 1),
    variable("EXP_W [31:0]", 32, kind=2),
    variable("x_i [95:0]", 96),
    scope("u_add", variable("y_o [31:0]", 32), variable("memory[3] [7:0]", 8)),
) + scope("$rootio", variable("clk_i", 1))


def words(exp_w: int, man_w: int, count: int = 3) -> bytes:
    """The hierarchy with count floats in x_i."""
    width = count * (1 + exp_w + man_w)
    return scope("dut", variable("clk_i", 1), variable(f"x_i [{width - 1}:0]", width))
