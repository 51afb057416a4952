"""The host's side of the serial link: frames, bursts, and ports with nobody behind them."""

import os
import re
import tty

import numpy as np
import pytest

from pymodel.app.command import main
from pymodel.hardware import link
from pymodel.hardware.link import (
    ANSWER_ROOM,
    FRAME_WORDS,
    ROOM,
    Operation,
    bursts,
    decode,
    encode,
    frames_of,
)
from pymodel.machine import register_files
from pymodel.machine.registers import WORD_BYTES
from pymodel.tests.places import ROOT


def test_frames_come_back():
    rng = np.random.default_rng(1)
    for size in range(1, FRAME_WORDS):
        words = rng.integers(1 << 32, size=size) * (rng.random(size) < 0.7)
        data = encode(words.tolist())
        assert data.index(0) == len(data) - 1
        assert len(data) <= 4 * (size + 1) + 4  # COBS adds three bytes at most, and the delimiter
        assert decode(data[:-1]) == words.tolist()


def test_no_flipped_bit_passes():
    data = encode([3, 0, 1 << 31])[:-1]
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        assert decode(bytes(flipped)) is None


def test_bursts_are_as_long_as_can_be():
    accesses = [(0x40, 1), (0x44, 2), (0x48, 3), (0x80, None), (0x80, None), (0x80, 7), (0x84, 8)]
    assert bursts(accesses) == [
        Operation(0x40, 3, [1, 2, 3]),
        Operation(0x80, 2, fixed=True),
        Operation(0x80, 2, [7, 8]),
    ]


def test_all_accesses_are_in_some_frame():
    rng, operations = np.random.default_rng(2), []
    for _ in range(60):
        length, fixed = int(rng.choice((1, 5, 400))), bool(rng.random() < 0.5)
        words = list(range(length)) if rng.random() < 0.5 else None
        operations.append(Operation(4 * int(rng.integers(64)), length, words, fixed))
    frames = frames_of(operations)
    each = [_accesses(operation) for frame in frames for operation in frame]
    assert sum(each, []) == sum(map(_accesses, operations), [])
    for frame in frames:
        assert sum(len(operation.encoded()) for operation in frame) <= ROOM
        assert sum(x.length for x in frame if x.words is None) <= ANSWER_ROOM


def _accesses(operation):
    step = 0 if operation.fixed else 4
    words = operation.words or [None] * operation.length
    return [(operation.address + step * i, word) for i, word in enumerate(words)]


def test_the_constants_of_the_c_host():
    """Those of the generated header are the link's."""
    header = (ROOT / "sw/step_link_words.h").read_text()
    assert header == link.c_header(register_files.GENERATED), "python -m scripts.dev.generate"


@pytest.mark.reads("rtl")
@pytest.mark.rtl_of("uart_axil")
def test_the_constants_of_the_board():
    """Those of the RTL are the link's."""
    package = (ROOT / "rtl/board/link_pkg.sv").read_text()
    found = {
        name: int(number, 0)
        for name, number in re.findall(r"localparam .*?(\w+) = (?:8'd)?(\w+);", package)
        if number.isdigit()
    }
    for name in ("VERSION", "WINDOW", "FRAME_WORDS", "ACCESS", "HELLO"):
        assert found[name] == getattr(link, name)
    assert found["WORD_BYTES"] == WORD_BYTES and found["SEQUENCE_W"] == link.KIND_AT
    assert found["COUNT_W"] == link.OP_ADDRESS_AT and 1 << found["SEQUENCE_W"] == link.SEQUENCES
    for name in ("WRITE", "FIXED"):
        assert 1 << found["COUNT_W"] + found[f"OP_{name}"] == getattr(link, f"OP_{name}")


RUN = ("run", "double_pendulum", "--target", "board")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (RUN, "--target board: needs --port, as --port /dev/ttyUSB0"),
        ((*RUN, "--port", "/dev/nobody"), "--port /dev/nobody: cannot be opened: .*"),
        (("run", "double_pendulum", "--port", "x"), "--port x: only for --target board"),
        (("board", "selftest"), "board: say --port: .*"),
        (("board", "paint", "--port", "x"), "ACTION paint: must be selftest"),
        ((*RUN, "--port", "/dev/null"), "--port /dev/null: cannot be opened: .*"),
    ],
)
def test_refused(arguments, said, capsys):
    assert main(arguments) == 2
    assert re.fullmatch(said, capsys.readouterr().err.rstrip("\n"))


def test_nobody_answers(capsys):
    board, host = os.openpty()
    tty.setraw(host)
    name = os.ttyname(host)
    try:
        assert main((*RUN, "--port", name, "--wait", "0.005")) == 2
    finally:
        os.close(board)
        os.close(host)
    error = capsys.readouterr().err
    assert error == f"--port {name}: the board does not answer in 5 tries\n"


class Trickle:
    """A port whose other end sends some bytes again and again, each within the host's patience."""

    byte_s = 1e-5

    def __init__(self, data, pause_s):
        self.time, self.tries = 0.0, 0
        self._data, self._pause_s, self._at = data, pause_s, 0

    def now(self):
        return self.time

    def write(self, data):
        self.tries += data != link.DELIMITER

    def read(self, seconds):
        assert 0 < seconds
        self.time += min(seconds, self._pause_s)
        if seconds < self._pause_s:
            return b""
        self._at += 1
        return self._data[self._at % len(self._data) :][:1]


#: A whole answer to nobody's question.
STALE = link.DELIMITER + encode([link.ACCESS << link.KIND_AT | 3, 0])


@pytest.mark.parametrize("data", [b"\x01", b"\x00", bytes(range(256)), STALE])
@pytest.mark.parametrize("pause_s", [0.02, 0.2])
def test_a_line_that_trickles_is_given_up(data, pause_s):
    """A byte that comes renews no patience: each try ends, and so do all."""
    port = Trickle(data, pause_s)
    with pytest.raises(link.LinkError, match=r"the board does not answer in 5 tries$"):
        link.Link(port).hello()
    tries = [link.WAIT_S * 2**n + link.LINE_BYTES * port.byte_s for n in range(link.TRIES)]
    assert port.tries == link.TRIES
    assert port.time == pytest.approx(sum(tries))
