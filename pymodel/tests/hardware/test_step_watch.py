"""What is said of a store of the step engine that is not the model's."""

import asyncio
import re
from types import SimpleNamespace

import pytest

from pymodel.arith.fp import BINARY32
from pymodel.compile.kernel import record
from pymodel.hardware import step_watch, times
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_watch import END, WORDS, Judge, Sequencer, seen_from_inside, watched
from pymodel.hardware.waiting import TraceError
from pymodel.machine.isa import Location, Machine
from pymodel.machine.model import Twin
from pymodel.runs.engine_calls import prepare_call

NUMBERS = {"a": 1.5, "b": -2.0, "c": 0.25}


def function(arithmetic, values):
    a, b, c = (values[name] for name in "abc")
    return {"product": a * b, "rest": c - a * b, "reciprocal": arithmetic.recip(c)}


@pytest.fixture
def call():
    return prepare_call(Machine(), record(function, inputs="abc"))


def first_wrong(call, spoil, steps=2):
    """Judge two steps of the model itself, after ``spoil(step, cycle, stores, operands)``."""
    machine, program = call.program.machine, call.program
    inputs = {name: BINARY32.from_float(x) for name, x in NUMBERS.items()}
    registers = call.image | call.registers(inputs)
    judge, twin = Judge(program, registers, steps, every=0), Twin(machine)
    twin.load(registers)
    first = [sum(len(lane.sides) for lane in machine.lanes[:i]) for i in range(len(machine.lanes))]
    for step in range(steps):
        assert twin.step(program.words)
        operands = [{} for _ in range(len(program.words) + 1)]
        for store in twin.stores:
            lane = next(i for i, x in enumerate(machine.lanes) if store.bank in x.banks)
            issued = store.cycle - machine.latency[machine.lanes[lane].op]
            for i, bits in enumerate(store.operands):
                operands[issued + 1][first[lane] + i] = bits
        for cycle in range(len(program.words)):
            stores = {s.bank: (s.address, s.bits) for s in twin.stores if s.cycle == cycle}
            spoil(step, cycle, stores, operands[cycle])
            assert judge.issued == list(operands[cycle])
            wrong = judge.word(stores, operands[cycle])
            if wrong:
                return wrong
    assert judge.no_word({}) is None
    return None


def test_the_model_is_right(call):
    assert first_wrong(call, lambda *cycle: None) is None


def home(call, name) -> tuple[int, Location]:
    """The cycle in which an output is stored, and its register."""
    location = call.outputs[name]
    words = call.program.words
    (cycle,) = (i for i, w in enumerate(words) if w.writes.get(location.bank) == location.address)
    return cycle, location


def test_a_wrong_context_is_named():
    machine, kernel = Machine(contexts=4), record(function, inputs="abc")
    call = prepare_call(machine, kernel)
    program = call.program
    given = [{name: BINARY32.from_float(x + k) for name, x in NUMBERS.items()} for k in range(4)]
    registers = call.image | call.registers(*given)
    judge, twin = Judge(program, registers, 1, every=0), Twin(machine)
    twin.load(registers)
    assert twin.step(program.words)
    cycle, (bank, address) = home(call, "product")
    for tick in range(4 * len(program.words)):
        now, context = divmod(tick, 4)
        stores = {
            s.bank: (s.address, s.bits)
            for s in twin.stores
            if (s.cycle, s.context) == (now, context)
        }
        if (now, context) == (cycle, 2):
            stores[bank] = (stores[bank][0] % machine.depth, stores[bank][1])  # a bit is stuck
        wrong = judge.word(stores, dict.fromkeys(judge.issued, 0))
        if wrong:
            break
    assert (now, context) == (cycle, 2)
    assert wrong.signal == f"u_datapath.gen_bank[{bank}].u_bank.write_address_i"
    assert (wrong.got, wrong.want) == (address, 2 * machine.depth + address)
    length = len(program.words)
    assert wrong.context == f"step 0, cycle {cycle} of {length}, program word {cycle}, context 2"
    details = dict(wrong.details)
    assert details["stores"].endswith(f"in register {address} of bank {bank}, context 2")
    assert details["operand a"].startswith("a = 0x40600000 (3.5), but the lane got 0x0")


def test_wrong_bits(call):
    cycle, (bank, address) = home(call, "rest")

    def spoil(step, now, stores, operands):
        if step == 1 and bank in stores and now == cycle:
            stores[bank] = (address, stores[bank][1] ^ 1)

    wrong = first_wrong(call, spoil)
    assert wrong.signal == f"u_datapath.gen_bank[{bank}].u_bank.write_data_i"
    assert wrong.want == BINARY32.from_float(3.25) and wrong.got == wrong.want ^ 1
    length = len(call.program.words)
    assert wrong.context == f"step 1, cycle {cycle} of {length}, program word {cycle}"
    details = dict(wrong.details)
    assert details["value"] == "rest"
    assert details["stores"] == f"0x40500000 (3.25) in register {address} of bank {bank}"
    latency = call.program.machine.latency["add"]
    assert details["operation"] == f"add in lane {bank}, issued in cycle {cycle - latency}"
    sources = {details["operand a"], details["operand b"]}
    stored = home(call, "product")[0]
    product = f"-(product, stored in cycle {stored}) = 0x40400000 (3.0)"
    assert sources == {"c = 0x3e800000 (0.25)", product}


def test_a_wrong_operand_is_told(call):
    cycle, (bank, address) = home(call, "product")
    issued = cycle - call.program.machine.latency["mul"]

    def spoil(step, now, stores, operands):
        if now == issued + 1:
            operands.update({i: bits ^ BINARY32.sign_mask for i, bits in operands.items()})
        if now == cycle:
            stores[bank] = (address, None)

    wrong = first_wrong(call, spoil)
    assert wrong.got is None
    operands = [text for label, text in wrong.details if label.startswith("operand")]
    assert "a = 0x3fc00000 (1.5), but the lane got 0xbfc00000 (-1.5)" in operands


@pytest.mark.parametrize(
    ("port", "got", "want"), [("write_i", 0, 1), ("write_address_i", 9, None), ("write_i", 1, 0)]
)
def test_a_store_that_is_missing_elsewhere_or_too_much(call, port, got, want):
    cycle, (bank, address) = home(call, "product")

    def spoil(step, now, stores, operands):
        if want == 0 and now == 0:
            stores[bank] = (address, 0)
        elif want == 1 and now == cycle:
            del stores[bank]
        elif want is None and now == cycle:
            stores[bank] = (9, stores[bank][1])

    wrong = first_wrong(call, spoil)
    assert wrong.signal.endswith(f"gen_bank[{bank}].u_bank.{port}")
    assert (wrong.got, wrong.want) == (got, address if want is None else want)


def test_a_store_without_a_word(call):
    judge = Judge(call.program, {}, steps=1, every=0)
    wrong = judge.no_word({3: (0, 0)})
    assert wrong.signal == "u_datapath.gen_bank[3].u_bank.write_i"
    assert (wrong.got, wrong.want) == (1, 0)


GOES_ON = Sequencer(busy=1, stop=0, fault=0, steps_done=0, item=WORDS)


def behind_a_step(call, c, seen, steps=2, ran=1):
    """The judge of ``ran`` right steps, with this input, and what it says of the next cycle."""
    machine, program = call.program.machine, call.program
    inputs = {name: BINARY32.from_float(x) for name, x in (NUMBERS | {"c": c}).items()}
    registers = call.image | call.registers(inputs)
    judge, twin = Judge(program, registers, steps, every=0), Twin(machine)
    twin.load(registers)
    for _ in range(ran):
        twin.step(program.words)
        for cycle in range(len(program.words)):
            stores = {s.bank: (s.address, s.bits) for s in twin.stores if s.cycle == cycle}
            assert judge.sequencer(GOES_ON) is None
            operands = {i: s for i, s in zip(judge.issued, [0] * len(judge.issued), strict=True)}
            assert judge.word(stores, operands) is None
    return judge, judge.sequencer(seen)


def test_a_run_that_does_not_stop_is_told_by_what_stops_the_model(call):
    """1/0 is stored in the first step; the sequencer hears of it, and goes on."""
    judge, wrong = behind_a_step(call, 0.0, GOES_ON._replace(fault=1))
    assert wrong is None and judge.ends == {"u_sequencer.stop": 1}
    wrong = judge.sequencer(GOES_ON._replace(steps_done=1))
    cycle, (bank, address) = home(call, "reciprocal")
    length = len(call.program.words)
    where = f"step 0, cycle {cycle} of {length}, program word {cycle}"
    assert (wrong.signal, wrong.got, wrong.want) == ("u_sequencer.stop", 0, 1)
    assert wrong.context == f"the model had stopped in {where}"
    details = dict(wrong.details)
    assert details["stopped"] == "it ends the run behind its step, as what it stores is infinite"
    assert details["stores"] == f"0x7f800000 (inf) in register {address} of bank {bank}"
    assert details["operand a"].startswith("c = 0x0 (0.0)")
    assert details["fault_i"] == "1: it was told of a fault"
    assert details["RTL"] == (
        "a cycle later the run goes on: it executes a program word, with 1 steps done"
    )


@pytest.mark.parametrize(("fault", "said"), [(0, "0: it was told of no fault"), (None, "unknown")])
def test_a_fault_that_the_sequencer_is_not_told_of(call, fault, said):
    judge, _ = behind_a_step(call, 0.0, GOES_ON._replace(fault=fault), steps=1)
    wrong = judge.sequencer(Sequencer(busy=0, stop=0, fault=0, steps_done=1, item=None))
    assert dict(wrong.details)["fault_i"] == said
    assert dict(wrong.details)["RTL"] == "a cycle later the run has ended, with 1 steps done"


def test_a_run_that_stays_busy_after_its_stop(call):
    stops = GOES_ON._replace(stop=1, fault=1)
    judge, wrong = behind_a_step(call, 0.0, stops)
    assert wrong is None and judge.no_word({}) is None
    wrong = judge.sequencer(GOES_ON._replace(item=END))
    assert (wrong.signal, wrong.got, wrong.want) == ("u_sequencer.busy_q", 1, 0)
    assert dict(wrong.details)["RTL"] == "the run goes on: it ends, with 0 steps done"


def test_a_run_that_stops_where_the_model_goes_on(call):
    judge, wrong = behind_a_step(call, 0.25, GOES_ON._replace(stop=1, fault=1))
    assert wrong is None and judge.ends == {"u_sequencer.stop": 0}
    wrong = judge.sequencer(GOES_ON._replace(busy=0))
    assert (wrong.signal, wrong.got, wrong.want) == ("u_sequencer.stop", 1, 0)
    assert wrong.context == "behind step 0 of 2 steps, the model goes on"
    judge, wrong = behind_a_step(call, 0.25, GOES_ON)
    wrong = judge.sequencer(GOES_ON._replace(busy=0))
    assert (wrong.signal, wrong.got, wrong.want) == ("u_sequencer.busy_q", 0, 1)


def test_a_step_behind_the_last_one(call):
    judge, wrong = behind_a_step(call, 0.25, GOES_ON, steps=1)
    assert wrong is None
    wrong = judge.word({}, {})
    assert wrong.context == "the model had ended: 1 steps are done"


def test_text(monkeypatch):
    monkeypatch.setattr(times, "now_ns", lambda: 52665)
    board = Scoreboard("runs", None, "make it WAVES=1")
    text = board.mismatch("y_o[1]", None, BINARY32.one, BINARY32, details=[("value", "q[0]")])
    assert text.splitlines() == [
        "y_o[1] differs at 52665 ns",
        "            got  expected",
        "  hex       x    0x3f800000",
        "  decimal   x    1.0",
        "  s/exp/man x    0/127/0x0",
        "  value     q[0]",
        "  rerun     make it WAVES=1",
    ]
    assert board.failures["y_o[1] differs at 52665 ns"] == {
        "ns": 52665,
        "signal": "y_o[1]",
        "got": "x",
        "expected": "0x3f800000 = 1.0",
        "float": True,
        "bits": 32,
        "details": ["value: q[0]"],
    }
    assert "differs at cycle 7, 52665 ns\n" in board.mismatch("y_o", 1, 2, cycle=7)


def test_a_late_time_has_all_its_digits():
    board = Scoreboard("runs", None, "make it WAVES=1")
    assert "differs at 1180465 ns\n" in board.mismatch("y_o", 1, 2, ns=1180465.0)
    assert "differs at 20000056.001 ns\n" in board.mismatch("y_o", 1, 2, ns=20000056.001)
    assert "differs at 0 ns\n" in board.mismatch("y_o", 1, 2, ns=0.0)


@pytest.mark.parametrize(
    ("waves", "part"), [(False, r"its beginning \(0 cycles"), (True, "the run$")]
)
def test_a_look_from_inside_has_an_end(monkeypatch, waves, part):
    """A long run is watched to its end only by who debugs it."""
    monkeypatch.setattr(step_watch, "WATCH_S", -1.0)
    monkeypatch.setattr(step_watch, "RisingEdge", lambda clk: asyncio.sleep(0))
    monkeypatch.setattr(step_watch, "ReadWrite", lambda: asyncio.sleep(0))
    cycles = iter(range(100))
    run = SimpleNamespace(done=lambda: next(cycles, None) is None, cancel=lambda: None)
    wrong, found = asyncio.run(watched(None, run, lambda: None, waves))
    assert wrong is None and re.match(part, found)


def test_a_trace_with_too_many_words_is_not_looked_at_from_inside(sim_time):
    """No store can explain it, so the whole run would be watched for nothing."""

    async def run():
        async with seen_from_inside(None, None, {}, None, 1):
            raise TraceError("7, after 5 words; the run traces 11")

    with pytest.raises(TraceError, match="^read of TRACE_COUNT at .*: 7, after 5 words; the run"):
        asyncio.run(run())
