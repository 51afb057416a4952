"""A step array's streams behind registers, as ``rtl/board/stream_axil.sv`` has them."""

from pymodel.machine.registers import READ_ONLY, READ_WRITE, Field, Home, Map, Register

AT = 0x1000  #: where they stand behind a serial line: the array's own are below
ID = int.from_bytes(b"STRM", "big")
USER_AT, LENGTH_MASK = 16, 0xFFFF  # of a packet's header: TUSER, and words

_ADDR_W = 13
_ROOM, _WORDS = Field("ROOM", 0, 16, "words to write"), Field("WORDS", 16, 16, "words to read")
_ERROR = Field("ERROR", 0, 1, "an access of DATA was refused")


def streams(at: int = AT) -> Map:
    """The map, from an address on."""
    registers = (
        Register("STREAM_ID", at, READ_ONLY, Home.GIVEN, "STRM"),
        Register("LEVELS", at + 0x4, READ_ONLY, Home.GIVEN, "of both", fields=(_ROOM, _WORDS)),
        Register("STREAM_STATUS", at + 0x8, READ_WRITE, Home.THROUGH, "empties", fields=(_ERROR,)),
        Register("DATA", at + 0xC, READ_WRITE, Home.THROUGH, "a word in, a word out"),
    )
    return Map("stream_axil", addr_w=_ADDR_W, text="", registers=registers)


def header(user: int, words: int) -> int:
    """What stands before the words of a packet in, and behind those of a packet out."""
    return user << USER_AT | words
