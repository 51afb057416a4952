"""The tests that every bus gets are red for a bus, or a bench, that is not as they say."""

import asyncio
import itertools
from types import SimpleNamespace

import pytest

from pymodel.hardware import axil, batch
from pymodel.hardware.axil import AxiResp, Registers
from pymodel.hardware.batch import RESPONSE_AT, SLVERR, Batch
from pymodel.hardware.waiting import AnswerError
from pymodel.machine.registers import ldup_coprocessor
from pymodel.tests.hardware.planted import planted
from tb.common import coprocessor_bench
from tb.common.coprocessor_bench import Bus, not_judged
from tb.ldup_coprocessor.bench import BENCH

pytestmark = pytest.mark.rtl_of("ldup_coprocessor")

MAP = ldup_coprocessor(2)
BUS = "rtl/axil/axil_slave.sv"
#: Name of bugs that are planted together -> text and what stands there instead; the red tests.
PLANTED = {
    "errors": (
        {"SLVERR = 2'b10": "SLVERR = 2'b00"},
        {"every_access", "bad_addresses", "unready_master", "access_while_busy"},
    ),
    "others": (
        {
            "write_strb_q <= s_axil_wstrb;": "write_strb_q <= '1;",
            "w_full_q && (!bvalid_q || s_axil_bready)": "w_full_q && !bvalid_q",
            "    if (read_o) begin\n      rdata_q": "    if (ar_full_q) begin\n      rdata_q",
        },
        {
            *("byte_strobes", "every_access", "interrupts"),  # of the first bug
            *("full_rate", "bad_addresses", "stalled_runs", "unready_master"),  # of the others
        },
    ),
}


@pytest.mark.parametrize("bugs", PLANTED)
@pytest.mark.nightly("errors")
def test_bugs_of_a_bus_are_red_in_the_tests_that_are_for_them(bugs, tmp_path):
    """The others, which none of them concerns, are green."""
    changes, concerned = PLANTED[bugs]
    row = planted(BENCH, tmp_path, BUS, changes).run("icarus", "serial", place=f"-{bugs}")
    assert {test["name"] for test in row["tests"] if test["result"] == "fail"} == concerned


@pytest.fixture
def bus(board):
    """A bus without a device."""
    bus = Bus.__new__(Bus)
    bus.board, bus.dut = board, None
    bus.registers = SimpleNamespace(map=MAP)
    bus.OPERANDS = ("MATRIX",)
    return bus


def test_words_of_a_register_that_differ_are_red(bus):
    bus._same("MATRIX", [1, 2], [1, 2], None, "")
    with pytest.raises(AssertionError, match=r"MATRIX\[1\] differs"):
        bus._same("MATRIX", [1, 2], [1, 3], None, "")
    with pytest.raises(ValueError, match="longer"):
        bus._same("MATRIX", [1], [1, 2], None, "")


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ({"OPERANDS": ()}, ["MATRIX: must be in OPERANDS, is in none"]),
        ({"PARAMETERS": ("MATRIX",)}, ["MATRIX: must be in OPERANDS, is in OPERANDS and PARAMET"]),
        ({"ACTIVE": ("NONE",)}, ["NONE: no register of ldup_coprocessor"]),
        ({}, []),
    ],
)
def test_a_register_that_no_list_of_a_bus_judges_is_told(lists, said):
    right = {"OPERANDS": ("MATRIX",), "RESULTS": ("INVERSE",)}
    found = not_judged(MAP, type("Other", (Bus,), right | lists))
    assert len(found) == len(said)
    assert all(one.startswith(start) for one, start in zip(found, said, strict=True))


class Answered:
    """A batch whose answers are given."""

    def __init__(self, words, ends):
        self.words, self.ends = words, ends

    def write(self, *_):
        return self

    read = poll = read_each = write

    async def run(self, timed):
        return self.words


OVER_BATCH = {"words": [[1, 2]], "levels": [3, 4], "ends": [5, 7]}


@pytest.mark.parametrize(
    ("differs", "said"),
    [
        ({}, None),
        ({"words": [[1, 3]]}, "words"),
        ({"levels": [3, 5]}, "valid and ready in cycle"),
        ({"levels": [3, 4, 4]}, "valid and ready in cycle"),
        ({"ends": [5, 8]}, "ends of groups"),
    ],
)
def test_a_batch_that_is_not_as_the_master_is_red(bus, monkeypatch, differs, said):
    now = {}

    async def nothing(*_):
        return None

    def answered():
        now.update(OVER_BATCH | (differs if bus.registers.batches else {}))
        return Answered(now["words"], now["ends"])

    def watched(levels):
        levels += now["levels"]
        return SimpleNamespace(cancel=lambda: None)

    monkeypatch.setattr(bus, "round", nothing)
    monkeypatch.setattr(bus, "random_operands", lambda: None)
    bus.registers.batch = answered
    monkeypatch.setattr(coprocessor_bench, "_handshakes", lambda dut, levels: levels)
    monkeypatch.setattr(coprocessor_bench.cocotb, "start_soon", watched)
    if said is None:
        asyncio.run(coprocessor_bench.masters(bus))
        assert bus.board.transactions
        return
    with pytest.raises(AssertionError, match=said):
        asyncio.run(coprocessor_bench.masters(bus))


@pytest.fixture
def registers(sim_time, monkeypatch):
    """Registers whose channels do nothing, in a dictionary."""
    registers = Registers.__new__(Registers)
    registers.map, registers.batches = MAP, True
    registers.channels = {name: SimpleNamespace(pause=False) for name in axil.CHANNELS}
    monkeypatch.setattr(registers, "_channel", registers.channels.get, raising=False)
    monkeypatch.setattr(batch, "now", lambda: 0)
    return registers


def test_every_channel_is_held_back_in_some_cycles(registers, board):
    held = {}
    for name, channel in registers.channels.items():
        channel.set_pause_generator = lambda pauses, name=name: held.setdefault(name, pauses)
        channel.clear_pause_generator = lambda name=name: held.pop(name)
    registers.stall(board.rng)
    assert not registers.batches
    first = {name: tuple(itertools.islice(pauses, 200)) for name, pauses in held.items()}
    assert first.keys() == set(axil.CHANNELS)
    assert len(set(first.values())) == len(first)  # each of its own
    assert all(set(pauses) == {False, True} for pauses in first.values())
    registers.stall(board.rng, 0.0)
    assert registers.batches and not held


def test_responses_are_refused_until_they_are_taken_again(registers):
    for refused in (True, False):
        registers.refuse(refused)
        paused = {name for name, channel in registers.channels.items() if channel.pause}
        assert paused == (set(axil.ANSWERS) if refused else set())


def test_lanes_that_are_not_strobed_have_random_bits(registers, board):
    sent = []

    async def send(beat):
        sent.append(beat)

    registers.channels["w"].send = send
    registers.fill(board.rng)
    for _ in range(20):
        beat = SimpleNamespace(wstrb=0b0110, wdata=0x0012_3400)
        asyncio.run(registers.channels["w"].send(beat))
    assert {beat.wdata & 0x00FF_FF00 for beat in sent} == {0x0012_3400}
    assert len({beat.wdata & 0xFF for beat in sent}) > 1 < len({beat.wdata >> 24 for beat in sent})


def test_unknown_bits_of_an_answer_are_red(registers):
    registers.check_known("STATUS", "01")
    for bits in ("x1", "0z"):
        with pytest.raises(AnswerError, match=f"read of STATUS at .*: unknown bits, {bits}"):
            registers.check_known("STATUS", bits)


def test_a_response_is_okay_or_slverr():
    assert [axil.okay(response) for response in (AxiResp.OKAY, AxiResp.SLVERR)] == [True, False]
    for response in (AxiResp.EXOKAY, AxiResp.DECERR):
        with pytest.raises(AssertionError):
            axil.okay(response)


@pytest.mark.parametrize("access", ["write", "read"])
@pytest.mark.parametrize("way", ["bytes", "word"])
def test_an_access_that_a_reset_ends_is_told(registers, monkeypatch, access, way):
    """Cocotbext-axi gives None instead of its response."""

    async def none(*_):
        return None

    async def at_once(limit, answer, what):
        return await answer

    monkeypatch.setattr(axil, "within", at_once)
    registers._unknown = {"write": "", "read": ""}
    registers.master = SimpleNamespace(write=none, read=none)
    pending = [SimpleNamespace(wait=none, data=None)]
    calls = {
        ("write", "bytes"): lambda: registers.write_bytes(MAP["CTRL"].offset, bytes(4)),
        ("read", "bytes"): lambda: registers.read_bytes(MAP["CTRL"].offset, 4),
        ("write", "word"): lambda: registers.written("CTRL", pending),
        ("read", "word"): lambda: registers.answers("CTRL", pending),
    }
    with pytest.raises(AnswerError, match=f"{access} of CTRL at .*: no response: rst_ni fell"):
        asyncio.run(calls[access, way]())


def given(registers, response):
    """Registers whose next batch has that response to its one access."""

    async def do(operations, cycles):
        word = response << RESPONSE_AT
        return SimpleNamespace(
            hung=False, failed=bool(response), answered=1, polls=0, each=lambda: ([word], [])
        )

    registers.do = do
    return Batch(registers)


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize(
    ("response", "said"), [(SLVERR, "SLVERR, not OKAY"), (1, "a response that is reserved")]
)
def test_a_batch_whose_response_is_not_okay_is_red(registers, access, response, said):
    one = given(registers, response)
    one = one.read("STATUS") if access == "read" else one.write("STATUS", 0)
    with pytest.raises(AnswerError, match=f"{access} of STATUS at .*: {said}"):
        asyncio.run(one.run())


def test_a_batch_may_ask_for_what_is_refused(registers):
    assert asyncio.run(given(registers, SLVERR).try_each("STATUS", 1).run()) == [[None]]
    with pytest.raises(AnswerError, match="a response that is reserved"):
        asyncio.run(given(registers, 3).try_each("STATUS", 1).run())
