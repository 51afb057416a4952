"""The host in C (sw/step_host.c, step_link.c): a whole run over a line that loses frames, and
ports with nobody, or somebody else, behind them."""

import fcntl
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from pymodel.hardware import link
from pymodel.hardware.cosim.board import c_files
from pymodel.machine.c_driver import build_host, compiler
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.runs.engine_runs import prepare
from pymodel.tests.driver import RegisterFile
from pymodel.tests.hardware.line_device import Device, terminal
from pymodel.tests.places import ROOT, SCENARIOS

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler")
SANITIZERS = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
STEPS, LIMIT_S = 40, 60
BAUD, WAIT_MS, LOSSY_MS = "3000000", "5000", "30"


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The program, under the sanitizers."""
    return build_host(ROOT / "sw", tmp_path_factory.mktemp("host"), *SANITIZERS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An image, and the words of its trace."""
    return c_files(tmp_path_factory.mktemp("files"), Machine(), STEPS)


def engine():
    """Registers whose runs the twin does."""
    run = prepare(Machine(), [load(SCENARIOS / "double_pendulum.toml", STEPS)])
    return RegisterFile(Machine(), [run.program], polls=2)


def said(host, *arguments):
    """Exit status, what it prints, and what it complains of."""
    command = [str(host), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    assert "Sanitizer" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("every", [0, 2])
def test_a_run_is_that_of_the_model(host, files, every):
    """Each frame is done once, though of frames and answers every other one is damaged."""
    registers = engine()
    device = Device(registers.read, registers.write, every)
    with terminal(device.answer) as port:
        status, printed, complained = said(host, port, BAUD, *files, LOSSY_MS if every else WAIT_MS)
    rows = STEPS + 1
    words = len(Path(files[1]).read_text().split())
    assert printed == f"{rows} rows, {words} words: bit-identical to the model\n", complained
    assert status == 0
    again = int(re.fullmatch(r"41 steps, \d+ cycles, (\d+) frames sent again\n", complained)[1])
    assert (again > 5 and device.repeated > 2) if every else again == 0
    assert not registers.trace


def test_a_word_that_differs_is_named(host, files, tmp_path):
    lines = Path(files[1]).read_text().split()
    lines[9] = f"{int(lines[9], 16) ^ 1:08x}"
    other = tmp_path / "other"
    other.write_text("\n".join(lines))
    registers = engine()
    with terminal(Device(registers.read, registers.write).answer) as port:
        status, printed, complained = said(host, port, BAUD, files[0], other, WAIT_MS)
    columns = len(lines) // (STEPS + 1)
    row, word = divmod(9, columns)
    wrong = rf"row {row}, word {word}: the board gave \w{{8}}, expected {lines[9]}"
    assert re.fullmatch(wrong, complained.splitlines()[-1])
    assert (status, printed) == (1, "")


def test_its_words_are_those_that_python_sends_and_takes(host, files):
    """Bursts are as long as there can be: a program of 100 words takes a few frames."""
    registers = engine()
    device = Device(registers.read, registers.write)
    with terminal(device.answer) as port:
        status, printed, _ = said(host, port, BAUD, files[0])
    assert (status, printed) == (0, Path(files[1]).read_text())
    assert device.done < 60


NOBODY = "the board does not answer"
OTHER = "what answers speaks another version of the link"
#: A whole answer to nobody's question.
STALE = link.DELIMITER + link.encode([link.ACCESS << link.KIND_AT | 3, 0])


@pytest.mark.parametrize(
    ("answer", "babble", "wanted"),
    [
        (lambda frame: b"", b"", NOBODY),
        (lambda frame: b"", bytes(range(256)), NOBODY),
        (lambda frame: b"", b"\x01" * 256, NOBODY),  # nothing ends a frame
        (lambda frame: b"", STALE, NOBODY),
        (lambda frame: frame + link.DELIMITER, b"", OTHER),  # its own echo
        (Device(lambda at: 0, lambda at, word: None, greeting=0x20480).answer, b"", OTHER),
    ],
    ids=["silence", "noise", "endless", "stale", "echo", "version"],
)
def test_what_is_no_board(host, files, answer, babble, wanted):
    start = time.monotonic()
    with terminal(answer, babble) as port:
        status, printed, complained = said(host, port, BAUD, *files, 5)
    assert (status, printed, complained) == (2, "", f"{port}: {wanted}\n")
    assert time.monotonic() - start < LIMIT_S / 2


#: A line that always has a byte for the host: a pseudo-terminal has moments without one.
FLOOD = """#define _DEFAULT_SOURCE
#include <poll.h>
#include <string.h>
#include <unistd.h>
static inline int flood_poll(struct pollfd *port, nfds_t count, int wait) {
  (void)count;
  (void)wait;
  port->revents = port->events;
  return 1;
}
static inline ssize_t flood_read(int port, void *bytes, size_t size) {
  (void)port;
  memset(bytes, 1, size);
  return (ssize_t)size;
}
#define poll flood_poll
#define read flood_read
"""


def test_a_line_that_never_pauses(files, tmp_path):
    """The deadline ends it, not a moment without a byte."""
    flood = tmp_path / "flood.h"
    flood.write_text(FLOOD)
    host = build_host(ROOT / "sw", tmp_path, "-include", str(flood))
    with terminal(lambda frame: b"") as port:
        status, printed, complained = said(host, port, BAUD, *files, 5)
    assert (status, printed, complained) == (2, "", f"{port}: {NOBODY}\n")


def test_a_board_that_falls_silent(host, files):
    """Its frames are sent again, five times in all; then the host says so."""
    registers, tries = engine(), []
    device = Device(registers.read, registers.write)

    def answer(frame):
        if device.done < 13:
            return device.answer(frame)
        tries.append(frame)
        return b""

    with terminal(answer) as port:
        status, printed, complained = said(host, port, BAUD, *files, 60)
    assert (status, printed, complained) == (1, "", f"{NOBODY}\n")
    assert len(tries) == link.TRIES * link.WINDOW
    assert len(set(tries)) == link.WINDOW and tries[: link.WINDOW] == tries[-link.WINDOW :]


def test_an_answer_of_another_length(host, files):
    registers = engine()
    device = Device(registers.read, registers.write)

    def answer(frame):
        words = link.decode(device.answer(frame)[:-1])
        return link.encode([*words, *([0] if device.done == 5 else [])])

    with terminal(answer) as port:
        status, printed, complained = said(host, port, BAUD, *files, WAIT_MS)
    assert (status, printed, complained) == (1, "", f"{OTHER}\n")


def test_no_engine_behind_the_link(host, files):
    with terminal(Device(lambda at: 0, lambda at, word: None).answer) as port:
        status, printed, complained = said(host, port, BAUD, *files, WAIT_MS)
    assert (status, printed, complained) == (1, "", "the driver ends with status 5\n")


def test_refused(host, files, tmp_path):
    image, words = files
    (tmp_path / "none").write_text("no image")
    none = str(tmp_path / "none")
    board, port = os.openpty()
    taken = os.ttyname(port)
    fcntl.flock(port, fcntl.LOCK_EX)
    usage = "usage: step_host PORT BAUD IMAGE [WORDS [WAIT_MS]]"
    for arguments, wanted in (
        ((), usage),
        ((taken, "fast", image), usage),
        ((taken, BAUD, image, words, "0"), usage),
        ((taken, BAUD, "/nobody"), "/nobody: No such file or directory"),
        ((taken, BAUD, none), f"{none}: no sound program image"),
        ((taken, 1234, image), f"{taken}: this system has no such rate"),
        ((taken, BAUD, image), f"{taken}: another program uses the port"),
        (("/nobody", BAUD, image), "/nobody: the port cannot be opened: No such file or directory"),
        ((none, BAUD, image), f"{none}: the port cannot be opened: Inappropriate ioctl for device"),
    ):
        assert said(host, *arguments) == (2, "", wanted + "\n")
    os.close(board)
    os.close(port)
