"""The step engine's machine and the bits of its words."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pymodel.arith.fp import Format
from pymodel.machine import isa
from pymodel.machine.isa import OFFERED, Machine, Operand, Port, ProgramError, Word
from pymodel.machine.registers import STEP_MAX_REPEAT
from pymodel.tests.places import ROOT

pytestmark = pytest.mark.reads("rtl")


@pytest.mark.parametrize("package", ["step/step_pkg", "array/array_pkg", "fp/fp_pkg"])
def test_constants_are_those_of_the_rtl(package):
    text = (ROOT / f"rtl/{package}.sv").read_text()
    found = {}
    for name, value in re.findall(r"localparam int (\w+) = ([\w +]+);", text):
        found[name] = eval(value, {}, found)
    shared = {name for name in found if hasattr(isa, name)}
    assert (
        shared
        >= {
            "step/step_pkg": {"MAX_CONTEXTS", "MAX_READ_STAGES", "MAX_OPERAND_STAGES"},
            "array/array_pkg": {"MAX_DATAPATHS", "LOAD_STAGES", "SHARE_STAGES"},
            "fp/fp_pkg": {"MAX_STAGES", "MAX_SINCOS_STAGES", "LOGIC_STAGES"},
        }[package]
    )
    assert {name: found[name] for name in shared} == {name: getattr(isa, name) for name in shared}


@pytest.mark.parametrize(("stages", "most"), [("add", 6), ("mul", 6), ("rec", 7), ("sincos", 16)])
def test_stages_that_no_unit_has(stages, most):
    name = f"{stages}_stages"
    Machine(**{name: most})
    for wrong in (most + 1, -1):
        with pytest.raises(ValueError, match=f"{name} is {wrong}, must be 0 to {most}"):
            Machine(**{name: wrong})


@pytest.mark.parametrize("fmt", [Format(8, 24), Format(9, 23), Format(11, 52)])
def test_formats_that_no_engine_has(fmt):
    with pytest.raises(ValueError, match=f"fmt is {fmt}, must be at most 8/23"):
        Machine(fmt=fmt)


def test_repeats_end_where_those_of_the_rtl_do():
    (bits,) = re.findall(
        r"localparam int REPEAT_W = (\d+);", (ROOT / "rtl/top/step_array.sv").read_text()
    )
    assert STEP_MAX_REPEAT == 2 ** int(bits) - 1


def test_words_are_packed_without_gaps():
    machine = Machine(adders=1, multipliers=2, depth=32)
    every = Word(
        reads={Port(b, side): OFFERED if b == 4 else 31 for b in range(5) for side in range(2)},
        issues={k: (Operand(4, True),) * len(lane.sides) for k, lane in enumerate(machine.lanes)},
        writes={b: 31 for b in range(5)},
        sine=True,
    )
    assert machine.word_w == 15 * 6 + 1 + 8 * (3 + 1)
    bits = machine.encode(every)
    ports = [bits >> 6 * k & 63 for k in range(10)]
    assert ports == [31] * 8 + [32] * 2
    assert [bits >> 60 + 6 * k & 63 for k in range(5)] == [31 | 32] * 5
    assert bits >> 90 & 1
    assert [bits >> 91 + 4 * k & 15 for k in range(8)] == [4 | 8] * 8
    assert bits >> machine.word_w == 0
    assert machine.encode(Word()) == 0


def test_read_ports_of_a_barrel_have_a_bit_more():
    one, two = Machine(1, 1), Machine(1, 1, contexts=2)
    assert two.word_w == one.word_w + 2 * 4
    reads = dict.fromkeys((Port(b, side) for b in range(4) for side in range(2)), 0)
    bits = two.encode(Word(reads, common={Port(0, 1), Port(3, 0)}))
    assert bits == 1 << 8 * 1 + 7 | 1 << 8 * 6 + 7


def test_a_scratch_memory_adds_two_bits():
    """One behind each of emit and the number that is loaded; numbers hold the deepest memory."""
    plain = Machine(1, 1, contexts=4, in_depth=4, out_depth=8)
    scratch = replace(plain, scratch_depth=32)
    assert scratch.word_w == plain.word_w + 2 + (5 - 2) + (5 - 3)
    front = plain.word_w - (1 + 3 + 2 + 2 + 2)  # what stands below emit
    word = Word(issues={5: (Operand(0),)}, output=17, load=25, to_scratch=True, from_scratch=True)
    assert scratch.encode(word) >> front == 0b11 | 17 << 2 | 25 << 9 | 1 << 14
    assert replace(plain, scratch_depth=8).word_w == plain.word_w + 2 + 1
    with pytest.raises(ProgramError, match="field of 0 bits"):
        plain.encode(Word(from_scratch=True))


@pytest.mark.parametrize(("contexts", "words"), [(1, 4), (2, 2), (3, 2), (4, 1), (8, 1)])
def test_what_goes_to_the_scratch_memory_takes_some_words(contexts, words):
    machine = Machine(contexts=contexts, read_stages=2, operand_stages=1)
    assert machine.operand_latency == 4
    assert machine.scratch_words == words


@pytest.mark.parametrize(
    ("contexts", "stages", "latency"),
    [
        (1, {}, (4, 3, 7, 14)),
        (1, {"read_stages": 2, "operand_stages": 1}, (7, 6, 10, 17)),
        (3, {}, (2, 2, 3, 6)),
        (8, {}, (1, 1, 2, 3)),
        (16, {"sincos_stages": 12}, (1, 1, 1, 1)),
        (8, {"rare_logic": 1}, (1, 1, 3, 4)),
        (1, {"rare_logic": 1}, (4, 3, 18, 25)),
    ],
)
def test_latencies_are_whole_words(contexts, stages, latency):
    machine = Machine(contexts=contexts, **stages)
    assert tuple(machine.latency.values()) == latency


@pytest.mark.parametrize(
    "bad",
    [
        {"adders": 0},
        {"multipliers": 0},
        {"depth": 48},
        {"contexts": 17},
        {"contexts": 0},
        {"read_stages": 3},
        {"operand_stages": -1},
        {"scratch_depth": 24},
        {"scratch_depth": 1},
        {"adders": 1.5},
        {"adders": "2"},
        {"contexts": 2.0},
        {"read_stages": 0.5},
        {"program_depth": None},
        {"add_stages": -1},
        {"programs": 0},
        {"fmt": "5/10"},
        {"fmt": None},
    ],
)
def test_machines_that_make_no_sense(bad):
    with pytest.raises(ValueError, match=f"^{next(iter(bad))} is "):
        Machine(**bad)


def test_numpys_integers_are_numbers_too():
    half = Format(np.int64(5), np.int8(10))
    machine = Machine(adders=np.int64(3), contexts=np.uint8(2), fmt=half)
    assert machine == Machine(adders=3, contexts=2, fmt=Format(5, 10))
    assert type(machine.adders) is type(half.exp_w) is int


@pytest.mark.parametrize("lanes", [2, None, 2.2, b"2+2"])
def test_lanes_are_a_text(lanes):
    with pytest.raises(ValueError, match="must be <adders>[+]<multipliers>, such as 2[+]2"):
        Machine.parse(lanes)
    with pytest.raises(ValueError, match="must be four numbers, such as 3,2,6,13"):
        Machine.parse("2+2", lanes or 2)
