"""A board with a step array behind a pseudo-terminal: what `hdca` does with it, what it refuses.

The array's twin runs what the host loads; words go through FIFOs that are smaller than calls.
"""

import itertools
import json
import re
import time
from types import SimpleNamespace

import pytest

from pymodel.app.command import main
from pymodel.app.selftest import UNITS
from pymodel.hardware import board
from pymodel.hardware.board import STREAMS
from pymodel.hardware.coprocessor import parameter_word
from pymodel.hardware.step_array import StepArray, rtl_parameters
from pymodel.machine import stream_registers
from pymodel.machine.isa import Machine
from pymodel.machine.registers import Home, step_array
from pymodel.machine.stream_registers import LENGTH_MASK, USER_AT, header
from pymodel.tests.hardware.line_device import Device, RefusedError, terminal

MACHINE = Machine(contexts=2, depth=32, in_depth=64, out_depth=128)
PARAMETERS = ("CONFIG", "LANES", "FILE_DEPTH", "PROGRAM_DEPTH", "IN_DEPTH", "OUT_DEPTH")
FIFO = 24  # words
BUSY = step_array(MACHINE.bus_words)["STATUS"].field("BUSY")
PARTS = ["registers", "streams", *(f"unit {name}" for name in UNITS)]


class BoardArray:
    """What `board_array` does with accesses.

    Parameters
    ----------
    loaded
        Arrays that hosts have loaded: the last one is run.
    fault
        Takes the name of a register and the word that is read of it, and gives another one.
    """

    def __init__(self, loaded, fault=lambda name, word: word):
        self._map = step_array(MACHINE.bus_words)
        self._loaded, self._fault = loaded, fault
        self._names = {
            register.offset + 4 * k: (register, k)
            for map_ in (self._map, STREAMS)
            for register in map_.registers
            for k in range(register.words)
        }
        parameters = rtl_parameters(MACHINE)
        self._words = {
            (name, 0): parameter_word(self._map[name], parameters)
            for name in (*PARAMETERS, "SCRATCH_DEPTH", "ARRAY")
        }
        self._words |= {
            ("ID", 0): int.from_bytes(b"SARR", "big"),
            ("VERSION", 0): self._map.version_word,
            ("STREAM_ID", 0): stream_registers.ID,
            ("STATUS", 0): 0,
        }
        self._left = self._calls = 0
        self._write_off()

    def _write_off(self):
        self._error, self._packet, self._expected = 0, [], 0
        self._given, self._sent = [], []

    def read(self, offset):
        register, k = self._names[offset]
        name = register.name
        if name == "DATA":
            if self._error or not self._sent:
                self._error = 1
                raise RefusedError
            word = self._sent.pop(0)
        elif name == "LEVELS":
            room = FIFO - (0 if self._calls else len(self._packet))
            word = room | len(self._sent) << USER_AT
        elif name == "STREAM_STATUS":
            word = self._error
        else:
            word = self._words.get((name, k), 0)
        return self._fault(name, word)

    def write(self, offset, word):
        register, k = self._names[offset]
        name = register.name
        if name == "STREAM_STATUS":
            self._write_off()
        elif name == "DATA":
            self._put(word)
        elif name == "CTRL":
            run = self._map["CTRL"].field("RUN").mask
            self._calls = self._words["CALLS", 0] if word & run else 0
        elif name == "STATUS":
            self._words[name, 0] = 0
        elif register.home == Home.HELD:
            self._words[name, k] = word

    def _put(self, word):
        if self._error or (not self._calls and len(self._packet) == FIFO):
            self._error = 1
            raise RefusedError
        if not self._expected:
            self._user, self._expected = word >> USER_AT, word & LENGTH_MASK
            return
        self._packet.append(word)
        if len(self._packet) == self._expected and self._calls:
            self._given.append((self._user, self._packet))
            self._packet, self._expected = [], 0
            if len(self._given) == self._calls:
                self._run()

    def _run(self):
        twin = self._loaded[-1].twin()
        for item in twin.run(self._given):
            faults = MACHINE.functions
            user = item.function + faults * item.fault
            self._sent += [*item.words, header(user, len(item.words))]
        flags = self._map["STATUS"].field("FLAGS")
        self._words["STATUS", 0] |= twin.flags << flags.low
        self._words["WORD_CYCLES", 0] = self._words["CYCLES", 0] = twin.word_cycles
        self._given, self._calls = [], 0


@pytest.fixture
def loaded(monkeypatch):
    """The arrays that are loaded, one after the other."""
    found, load = [], StepArray.load

    async def kept(array, what):
        found.append(what)
        await load(array, what)

    monkeypatch.setattr(StepArray, "load", kept)
    return found


@pytest.fixture
def on_board(loaded, tmp_path, capsys):
    """Exit status and what is printed of a command, on an array with a fault."""

    def run(*words, fault=lambda name, word: word, every=0, wait="0.5"):
        array = BoardArray(loaded, fault)
        device = Device(array.read, array.write, every)
        with terminal(device.answer) as port:
            status = main([*words, "--port", port, "--wait", wait])
        return status, capsys.readouterr()

    return run


def flipped(register, number):
    """A fault: the last bit of one word that is read of a register."""
    count = 0

    def fault(name, word):
        nonlocal count
        count += name == register
        return word ^ (name == register and count == number)

    return fault


ROBOT = ("robot", "mobile_arm", "--function", "FK", "--rows", "5", "--target", "board")


@pytest.mark.parametrize("every", [0, 3], ids=["clean", "noisy"])
def test_a_function_is_streamed(on_board, tmp_path, every):
    wait = "0.05" if every else "0.5"
    status, said = on_board(*ROBOT, "--out", str(tmp_path), every=every, wait=wait)
    assert status == 0, said.err
    summary = json.loads((tmp_path / "summary.json").read_text())
    words = summary["words_compared"]
    assert words and summary["identical"] and summary["contexts"] == 2
    assert said.out.splitlines()[-1] == f"5 calls, {words} words: bit-identical to the model"


@pytest.mark.parametrize(
    ("register", "number", "says"),
    [
        ("DATA", 3, "expected"),
        ("WORD_CYCLES", 1, "WORD_CYCLES"),
        ("DROPPED", 1, "DROPPED"),
    ],
)
def test_one_wrong_bit_is_told(on_board, tmp_path, register, number, says):
    status, said = on_board(*ROBOT, "--out", str(tmp_path), fault=flipped(register, number))
    assert status == 1 and says in said.err


@pytest.mark.parametrize(
    ("register", "word", "said"),
    [("LEVELS", 0, "results of a call"), ("STATUS", BUSY.mask, "BUSY 1")],
)
def test_an_array_that_does_not_go_on(
    on_board, tmp_path, loaded, monkeypatch, register, word, said
):
    """Seconds are not waited for here."""
    now = itertools.count()
    clock = SimpleNamespace(sleep=time.sleep, monotonic=lambda: next(now) / 10)
    monkeypatch.setattr(board, "time", clock)
    fault = {register: word}
    status, found = on_board(
        *ROBOT,
        *("--out", str(tmp_path)),
        fault=lambda name, right: fault.get(name, right) if loaded else right,
    )
    assert status == 1 and "Traceback" not in found.err
    assert re.search(rf"the board does not go on for [0-9.]+ s: .*{said}", found.err)


@pytest.mark.parametrize(("wait_s", "least_s"), [(0.25, 1.0), (5.0, 20.0)])
def test_who_waits_longer_for_frames_waits_longer_for_words(monkeypatch, wait_s, least_s):
    """A thousand ticks, of a millisecond where the link waits as by default."""
    answer = SimpleNamespace(failed=None, words=[0])
    link = SimpleNamespace(wait_s=wait_s, do=lambda operations: answer)
    now = itertools.count()
    monkeypatch.setattr(board, "time", SimpleNamespace(monotonic=lambda: next(now) / 10))
    with pytest.raises(board.BoardHangError, match="a word"):
        board.done(board.LinkStreams(link).take(1, 1000, "a word"))
    assert least_s <= next(now) / 10 < least_s + 0.5


def test_a_packet_of_another_length(on_board, tmp_path, loaded):
    """The word behind a packet says how long it was."""
    outputs = 1

    def fault(name, word):
        nonlocal outputs
        if name == "DATA" and loaded:
            outputs -= 1
            (function,) = loaded[-1].table
            return word ^ (outputs == -function.outputs)
        return word

    status, said = on_board(*ROBOT, "--out", str(tmp_path), fault=fault)
    assert status == 1 and "words, expected" in said.err


def test_levels_that_promise_too_much(on_board, tmp_path):
    """What is refused is told; nothing is taken for a result."""
    status, said = on_board(
        *ROBOT,
        *("--out", str(tmp_path)),
        fault=lambda name, word: word + (1 << 16) if name == "LEVELS" else word,
    )
    assert status == 1 and "SLVERR" in said.err


def test_a_scenario_is_not_for_an_array(on_board, tmp_path):
    command = ("run", "double_pendulum", "--target", "board", "--out", str(tmp_path / "run"))
    status, said = on_board(*command)
    assert status == 2 and not said.out
    assert said.err.count("\n") == 1 and "hdca robot" in said.err and "TOP=engine" in said.err


def test_a_function_that_is_too_large(on_board, tmp_path):
    command = ("robot", "iiwa14", "--function", "FD", "--target", "board", "--rows", "1")
    status, said = on_board(*command, "--out", str(tmp_path))
    last = said.err.splitlines()[-1]
    assert status == 2 and last.startswith("the program needs") and last.endswith("has 32")


def test_streams_that_are_not_there(on_board, tmp_path):
    status, said = on_board(
        *ROBOT,
        *("--out", str(tmp_path)),
        fault=lambda name, word: 0 if name == "STREAM_ID" else word,
    )
    assert status == 2 and "the array's streams are not behind the link" in said.err


@pytest.mark.parametrize(
    ("fault", "wrong"),
    [
        (lambda name, word: word, []),
        (lambda name, word: word ^ 1 if name == "CALLS" else word, ["registers"]),
        (lambda name, word: word + 1 if name == "LEVELS" and word < 20 else word, ["streams"]),
        (lambda name, word: word & ~(1 << 20) if name == "DATA" else word, PARTS[2:]),
    ],
    ids=["good", "register", "room", "no fault bit"],
)
def test_selftest(on_board, tmp_path, fault, wrong):
    file = tmp_path / "report.json"
    status, said = on_board("board", "selftest", "--short", "--report", str(file), fault=fault)
    report = json.loads(file.read_text())
    assert [part["name"] for part in report["parts"]] == PARTS
    found = [part["name"] for part in report["parts"] if "differs" in part]
    assert found == wrong and status == int(bool(wrong)), report["parts"]
    assert report["array"]["DATAPATHS"] == 1 and report["registers"]["ID"] == "0x53415252"
    if not wrong:
        last = said.out.splitlines()[-1]
        assert last == f"{len(PARTS)} parts, {report['words']} words: bit-identical to the model"
