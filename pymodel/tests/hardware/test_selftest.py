"""`hdca board selftest` on an engine's twin behind a pseudo-terminal: what it does and reports."""

import json
import re

import numpy as np
import pytest

from pymodel.app import selftest
from pymodel.app.command import main
from pymodel.app.selftest import UNITS
from pymodel.machine.isa import Machine, Program
from pymodel.machine.registers import step_engine
from pymodel.tests.driver import RegisterFile
from pymodel.tests.hardware.line_device import Device, terminal

TRACE_DEPTH = 512


class Engine(RegisterFile):
    """Registers of an engine that runs whatever is loaded, and may have a fault.

    Attributes
    ----------
    fault
        Takes the name of a register and the word that is read of it, and gives another one.
    """

    def __init__(self, programs, fault=lambda name, word: word):
        super().__init__(Machine(), [])
        self.programs, self.fault = programs, fault
        self.held = dict.fromkeys(("PROGRAM", "EVERY", "SAVE"), 0)
        self.given["TRACE_DEPTH"] = TRACE_DEPTH

    def read(self, offset):
        return self.fault(self.name(offset)[0].name, super().read(offset))

    def decoded(self, segment):
        """Those of the last program with such bits: the bits alone do not tell who is idle."""
        wanted = [self.words[k] for k in segment]
        for bits, words in reversed(self.programs):
            for at in range(len(bits) - len(wanted) + 1):
                if bits[at : at + len(wanted)] == wanted:
                    return words[at : at + len(wanted)]
        raise AssertionError("nobody has encoded such words")


@pytest.fixture
def programs(monkeypatch):
    """Bits and words of all programs that are encoded."""
    known, encode = [], Program.encoded

    def encoded(program):
        bits = encode(program)
        known.append((bits, program.words))
        return bits

    monkeypatch.setattr(Program, "encoded", encoded)
    return known


@pytest.fixture
def tested(programs, tmp_path, capsys):
    """What a test of an engine with a fault gives: status, report, what is printed."""

    def test(*options, fault=lambda name, word: word, answer=None, wait="0.5"):
        engine = Engine(programs, fault)
        device, file = Device(engine.read, engine.write), tmp_path / "to/report.json"
        with terminal(answer(device) if answer else device.answer) as port:
            port = ["--port", port, "--wait", wait, "--report", str(file)]
            status = main(["board", "selftest", *port, *options])
        return status, json.loads(file.read_text()), capsys.readouterr()

    return test


PARTS = [
    *("registers", "unit add", "unit mul", "unit recip", "unit sin", "unit cos"),
    "run double_pendulum",
]


def test_all_is_identical(tested):
    status, report, printed = tested("--short", "--seed", "3")
    assert [part.get("differs", "") for part in report["parts"]] == [""] * len(PARTS)
    assert [part["name"] for part in report["parts"]] == PARTS
    assert all(part["words"] and "differs" not in part for part in report["parts"])
    assert report["identical"] and not report["frames_again"] and report["frames"] > 50
    assert report["words"] == sum(part["words"] for part in report["parts"])
    assert report["seed"] == 3 and report["registers"]["ID"] == "0x53544550"
    assert report["engine"]["NUM_MUL"] == 2
    assert {"hdca", "python", "pyserial", "system", "time"} <= report.keys()
    last = printed.out.splitlines()[-1]
    assert last == f"{len(PARTS)} parts, {report['words']} words: bit-identical to the model"
    assert status == 0 and not printed.err


def flipped(register, number):
    """A fault: the last bit of one word that is read of a register."""
    count = 0

    def fault(name, word):
        nonlocal count
        count += name == register
        return word ^ (name == register and count == number)

    return fault


@pytest.mark.parametrize(
    ("register", "number", "part", "said"),
    [
        ("FILE_DATA", 5, "registers", r"Location\(.*\): 0x\w+, expected 0x\w+"),
        ("TRACE_DATA", 1, "unit add", r"add of 0x\w+, 0x\w+: 0x\w+, expected 0x\w+"),
    ],
)
def test_one_wrong_bit_is_named(tested, register, number, part, said):
    status, report, printed = tested("--short", fault=flipped(register, number))
    wrong = [row for row in report["parts"] if "differs" in row]
    assert [row["name"] for row in wrong] == [part]
    assert re.fullmatch(said, wrong[0]["differs"])
    assert not report["identical"] and status == 1
    assert printed.err == f"1 of {len(PARTS)} parts differ\n"


def test_an_engine_that_does_not_stop(tested):
    """What is infinite or no number ends a run; one that does not say so is found."""
    stopped = step_engine(Machine().bus_words)["STATUS"].field("STOPPED").mask
    status, report, _ = tested(
        "--short", fault=lambda name, word: word & ~stopped if name == "STATUS" else word
    )
    wrong = [row["name"] for row in report["parts"] if "differs" in row]
    assert status == 1 and set(wrong) == {f"unit {name}" for name in UNITS}


def test_a_board_that_falls_silent(tested):
    """What was done until then is reported."""

    def answer(device):
        return lambda frame: device.answer(frame) if device.done < 40 else b""

    status, report, printed = tested("--short", answer=answer, wait="0.01")
    *parts, last = report["parts"]
    assert status == 1 and parts and not report["identical"]
    assert last["name"] == "line" and last["differs"].startswith("the board does not answer")
    assert "the board does not answer" in printed.err


class Clock:
    """A clock that only moves when told."""

    def __init__(self):
        self.time = 0.0

    def monotonic(self):
        return self.time


@pytest.mark.parametrize(("minutes", "rounds"), [("0", 1), ("1", 3), ("2", 5)])
def test_rounds_follow_until_the_minutes_are_over(tested, monkeypatch, minutes, rounds):
    """A round of 25 s: the one that begins before the end is done whole; each has other numbers."""
    clock, drawn = Clock(), []
    monkeypatch.setattr(selftest, "time", clock)

    def part(seconds, wrong_in=()):
        def done(rng):
            clock.time += seconds
            drawn.append(int(rng.integers(1 << 62)))
            return 5, "a bit" if len(drawn) // 2 in wrong_in else ""

        return done

    parts = [("good", part(10)), ("bad", part(15, (2,)))]
    monkeypatch.setattr(selftest, "_parts", lambda *given: parts)
    status, report, printed = tested("--minutes", minutes, "--seed", "7")
    assert [row["round"] for row in report["parts"]] == [k // 2 for k in range(2 * rounds)]
    assert [row["seconds"] for row in report["parts"]] == [10, 15] * rounds
    assert report["words"] == 10 * rounds
    seeds = [[7, k // 2, k % 2] for k in range(2 * rounds)]  # seed, round, part
    assert drawn == [int(np.random.default_rng(seed).integers(1 << 62)) for seed in seeds]
    said = re.findall(r"^round (\d+) +10 words, (.*) of (\d+) min$", printed.out, re.M)
    times = [f"{25 * k / 60:.1f}" for k in range(1, rounds + 1)]
    assert said == [(str(k), time, minutes) for k, time in enumerate(times, 1) if minutes != "0"]
    wrong = [row["round"] for row in report["parts"] if "differs" in row]
    assert wrong == ([1] if rounds > 1 else []) and status == int(rounds > 1)
    assert len(re.findall(r"^(?:good|bad) ", printed.out, re.M)) == 2 + len(wrong)
