"""What becomes of a flip: what the host has seen, and whether it can tell that it is wrong."""

import asyncio
import json
import math
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

from pymodel.hardware.waiting import BusHangError, HangError
from tb.faults import injections
from tb.faults.injections import IDENTITY, Injections
from tb.faults.registers import CONTROL, Register
from tb.faults.verdicts import (
    CRASH,
    DETECTED,
    HANG,
    MASKED,
    SILENT,
    STOPPED,
    THRESHOLD,
    Place,
)
from tb.faults.workloads import Seen

pytestmark = pytest.mark.rtl_of()

CLEAN = Seen(words=[1, 2], status=0b0100, numbers=[2])
OTHER = replace(CLEAN, words=[1, 3])
RESIDUAL = 0.5  # without a flip
PLACE = Place("done_q", 0, 7)


class Workload:
    """Sessions that come to what they are given, one after the other; a bus that answers."""

    def __init__(self):
        self.host, self.sessions = self, []
        self.numbers, self.far = [7, 8, 7], RESIDUAL
        self.asked = []

    async def session(self):
        seen = self.sessions.pop(0)
        if isinstance(seen, Exception):
            raise seen
        return seen

    async def write(self, name, word):
        pass

    async def read(self, name):
        self.asked.append(name)
        return self.numbers[len(self.asked) - 1]

    def residual(self, words):
        return self.far

    def is_finite(self, words):
        return 0 not in words

    async def recover(self):
        pass

    load = recover


@pytest.fixture
def workload():
    return Workload()


@pytest.fixture
def made(tmp_path, monkeypatch, sim_time, workload):
    """Injections into one register, a bit each, of a session that is clean otherwise."""
    handle = SimpleNamespace(value=0)
    clean = {"identity": [7, 8, 7], "seen": asdict(CLEAN), "residual": RESIDUAL}
    files = {name: tmp_path / f"{name}.json" for name in ("listing", "orders", "rows")}
    files["listing"].write_text(json.dumps(clean))
    files["orders"].write_text("[]")
    settings = {name: str(file) for name, file in files.items()} | {"digest": "0123"}
    monkeypatch.setattr(injections.cocotb, "start_soon", lambda session: session)
    task = SimpleNamespace(waves=True, settings=settings)
    return Injections(None, task, workload, {Register("done_q", 1): handle})


def row_of(made, workload, *sessions):
    """The row of a flip, the session of which comes to the first of these."""
    workload.sessions = list(sessions)
    asyncio.run(made.one(PLACE, workload.session()))
    with open(made.task.settings["rows"]) as rows:
        (row,) = map(json.loads, rows)
    about = PLACE._asdict() | {"kind": CONTROL, "digest": "0123"}
    assert about.items() <= row.items()
    return {name: value for name, value in row.items() if name not in about}


def test_the_words_of_a_clean_session_are_masked(made, workload):
    assert row_of(made, workload, CLEAN) == {"verdict": MASKED}
    assert workload.asked == [*IDENTITY]
    _, handle = made.registers[PLACE.path]
    assert handle.value == 1  # it was flipped


@pytest.mark.parametrize(
    ("residual", "found"),
    [
        (RESIDUAL, False),
        (RESIDUAL * THRESHOLD, False),
        (RESIDUAL * THRESHOLD * 1.01, True),
        (math.nan, True),
    ],
)
def test_other_words_alone_are_silent_and_may_be_found(made, workload, residual, found):
    workload.far = residual
    row = row_of(made, workload, OTHER)
    assert (row["verdict"], row["found"]) == (SILENT, found)


SIGNS = {
    "STATUS 0x8": {"status": 0b1100},
    "numbers of words, steps or calls": {"numbers": [3]},
    "a result that is not finite": {"words": [1, 0]},
}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("differs", [False, True])
def test_a_sign_of_a_fault_is_detected(made, workload, sign, differs):
    seen = replace(OTHER if differs else CLEAN, **SIGNS[sign])
    row = row_of(made, workload, seen)
    assert row == {"verdict": DETECTED, "why": sign, "differs": seen.words != CLEAN.words}


def test_less_words_than_there_should_be_are_detected(made, workload):
    row = row_of(made, workload, replace(CLEAN, words=[1]))
    assert (row["verdict"], row["why"]) == (DETECTED, "numbers of words, steps or calls")


def test_a_status_that_is_no_longer_there_is_no_sign(made, workload):
    """It is one of the clean session; only more is a sign."""
    assert row_of(made, workload, replace(CLEAN, status=0)) == {"verdict": MASKED}


@pytest.mark.parametrize("number", range(len(IDENTITY)))
def test_an_identity_that_reads_otherwise_is_detected(made, workload, number):
    workload.numbers[number] ^= 1
    row = row_of(made, workload, CLEAN)
    assert row == {"verdict": DETECTED, "why": "ID reads otherwise", "differs": False}


def test_a_refused_access_is_detected(made, workload):
    row = row_of(made, workload, AssertionError("SLVERR"))
    assert row == {"verdict": DETECTED, "why": "SLVERR", "differs": True}
    assert workload.asked == [*IDENTITY]


@pytest.mark.parametrize(
    ("later", "how"),
    [
        ([CLEAN], "CTRL.RESET"),
        ([OTHER, CLEAN], "rst_ni"),
        ([HangError, CLEAN], "rst_ni"),
        ([OTHER, OTHER], ""),
        ([HangError, HangError], ""),
    ],
)
def test_a_run_that_does_not_end_is_stopped_by_what_makes_the_next_one_right(
    made, workload, monkeypatch, later, how
):
    resets = []

    async def reset():
        resets.append(1)

    def hang():
        return HangError("a run to end", 9)

    monkeypatch.setattr(made, "reset", reset)
    later = [hang() if seen is HangError else seen for seen in later]
    row = row_of(made, workload, hang(), *later)
    assert (row["verdict"], row["recovered"]) == (STOPPED, how)
    assert len(resets) == (how != "CTRL.RESET")


@pytest.mark.parametrize("before", [[], [HangError]])
def test_a_bus_that_hangs_is_a_hang(made, workload, before):
    """In the session, or in the one behind it."""
    sessions = [error("a run to end", 9) for error in (*before, BusHangError)]
    row = row_of(made, workload, *sessions)
    assert row["verdict"] == HANG and "after 9 cycles" in row["why"]


def test_an_error_of_the_bench_itself_is_a_crash(made, workload):
    row = row_of(made, workload, KeyError("x"))
    assert row == {"verdict": CRASH, "why": "KeyError: 'x'"}


@pytest.mark.parametrize("seen", [CLEAN, OTHER])
def test_the_session_without_a_flip_must_be_that_of_the_listing(made, workload, seen):
    workload.sessions = [seen]
    if seen == CLEAN:
        asyncio.run(made.run())
        return
    with pytest.raises(AssertionError, match="differs from the listing"):
        asyncio.run(made.run())
