"""The step array through its bus and its streams, against its model.

After every run all that left on the stream, flags, faults, and the counters are the model's.
"""

import re
from dataclasses import replace
from functools import cached_property
from itertools import cycle, islice

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge, First, RisingEdge
from cocotb.utils import get_sim_time

from pymodel.arith.fp import FLAG_NAMES, INEXACT, INVALID, OVERFLOW, UNDERFLOW
from pymodel.hardware.bench import ROOT
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.on_bus import inside
from pymodel.hardware.programmable import COMMON
from pymodel.hardware.step_array import StepArray, machine_of
from pymodel.hardware.waiting import Deadline
from pymodel.machine.array import Function, Segment
from pymodel.machine.isa import (
    MAX_CONTEXTS,
    Location,
    Machine,
)
from pymodel.machine.program_image import on_bus
from pymodel.machine.registers import READ_WRITE, WORD_BYTES
from tb.common import coprocessor_bench
from tb.common.array_calls import Call, expected
from tb.common.array_tables import SPECIALS, Origin, Tables, array_of, origins
from tb.common.array_watch import seen_from_inside
from tb.common.coprocessor_bench import ALL_BITS
from tb.common.coverage import streams
from tb.common.coverage.engine import CONFIGS
from tb.common.stream_rules import StreamRules
from tb.step_array import tables
from tb.step_array.bench import BENCH

MOST_CALLS = {"icarus": 16, "verilator": 24}  # of a run, about
PATIENCE = 4  # times as many tables until all must be covered
MOST_REPEAT = (1 << 16) - 1
MANY_CALLS = {"icarus": 8, "verilator": 70}
MANY_SHORT_CALLS = {"icarus": 0, "verilator": 520}
BACKWARDS = {"icarus": 4, "verilator": 16}  # tables
CALLS_IN_TURN, LOOPS_IN_TURN = 60, (1, 8)
MOSTLY = 0.8  # of the cycles
REPEATS = {"icarus": (33,), "verilator": (33, 65, 129, 257)}  # of a segment: each bit by itself
MOST_REPEATS = {"icarus": 1 << 9, "verilator": MOST_REPEAT}
WAITS = 20  # cycles
AROUND_THE_END = 16  # cycles
FEW_WORDS = 4  # of a call and of its results, where only their pace matters
KINDS = SHORT, LONG, UNKNOWN = ("early", "late", "unknown")  # of malformed calls
ATTEMPTS, RESET_CYCLES = 6, 6000  # to reset in a state of the streams
LONG_RUN = {"icarus": 400, "verilator": 68_000}  # cycles
DISCARDS = {"icarus": 8, "verilator": 40}
RATES = ((0, 0.8), (0.8, 0), (0.5, 0.5), (0.1, 0.1), (0.7, 0.3))  # of stalls, in and out


class Bus(coprocessor_bench.Bus):
    """The array next to its model. A round is a random program with its tables, and a run."""

    IDENTITY = b"SARR"
    SEGMENT = (
        "SEGMENT_START",
        "SEGMENT_LENGTH",
        "SEGMENT_REPEAT",
        "SEGMENT_IN_BASE",
        "SEGMENT_IN_STRIDE",
        "SEGMENT_OUT_BASE",
        "SEGMENT_OUT_STRIDE",
        "SEGMENT_FLAGS",
    )
    FUNCTION = (
        "FUNCTION_FIRST",
        "FUNCTION_LAST",
        "FUNCTION_LOOP_FROM",
        "FUNCTION_LOOPS",
        "FUNCTION_INPUTS",
        "FUNCTION_OUTPUTS",
    )
    OPERANDS = ("CALLS", *SEGMENT, *FUNCTION, "PROGRAM_WORD")
    setup = 3
    started = 1  # the parts hear of a run a cycle later
    RESULTS = ("CYCLES", "CALLS_TAKEN", "CALLS_GIVEN", "DROPPED", "WORD_CYCLES")
    PARAMETERS = (
        "LANES",
        "FILE_DEPTH",
        "PROGRAM_DEPTH",
        "IN_DEPTH",
        "OUT_DEPTH",
        "SCRATCH_DEPTH",
        "ARRAY",
    )
    ACTIVE = ("SEGMENT_STORE", "FUNCTION_STORE", "FILE_ADDRESS", "FILE_DATA", "PROGRAM_STORE")

    def __init__(self, bench, dut, board):
        super().__init__(bench, dut, board)
        self.operand_w = 8 * WORD_BYTES
        self.rng = board.rng
        self.tables = Tables(self.machine, board.rng)
        self.rules = StreamRules(dut, "m_axis", "parts_rst_n", self.fmt)
        self.array = self.twin = None
        self.flags = 0  # sticky, since the last clear
        self.stored = set()  # functions
        self.covers = BENCH.config.name == CONFIGS[BENCH.name]
        self.watch = None
        self.busy_cycles = 0  # of the last run
        cocotb.start_soon(self._time_runs(inside(dut).busy))

    async def _time_runs(self, busy):
        while True:
            await RisingEdge(busy)
            begin = get_sim_time("ns")
            await FallingEdge(busy)
            self.busy_cycles = round((get_sim_time("ns") - begin) / PERIOD_NS)

    @cached_property
    def machine(self):
        return machine_of(self.params)

    def driver(self, dut):
        return StepArray(dut, self.machine)

    def random_operands(self):
        return None

    def latency(self):
        return ALL_BITS  # a run has any number of calls

    async def spoil(self):
        await self.check_run([self.bad_call()], "malformed")

    async def refused_run(self):
        await self.registers.write("CALLS", 0)
        await self.command("RUN")

    async def ready(self):
        await self.load(apart=False)
        call = self.call(0)
        self.send([call])
        await self.registers.write("CALLS", 1)
        rows = self.registers.rows[0]
        cocotb.start_soon(self._take_all(rows, self.registers.batch_cycles(len(call.words))))

    async def _take_all(self, rows, limit):
        for _ in range(rows):
            await self.registers.take(limit)

    async def reset_by_pin(self):
        await super().reset_by_pin()
        self.stored = set()

    async def begin(self):
        word = await self.registers.read("STATUS")
        if not self.registers.field("STATUS", "BUSY", word):
            await self.registers.write("CALLS", 1)  # that does not come
            await self.command("RUN")

    async def round(self, operands, context):
        await self.load(apart=False)
        faults = await self.check_run(self.calls(), context)
        return self.flags, faults

    # --- what is run ----------------------------------------------------------------------------

    async def load(self, apart, array=None):
        """A program with its tables and registers, by default a new one."""
        self.array = array or self.tables.array(apart)
        self.apart = apart
        await self.registers.load(self.array)
        self.stored |= set(range(len(self.array.table)))
        self.twin = self.array.twin()

    def call(self, function=None, specials=SPECIALS):
        """A random call."""
        if function is None:
            function = int(self.rng.integers(len(self.array.table)))
        return Call(function, self.tables.call(self.array, function, specials))

    def calls(self, most=0):
        """Calls of a run.

        Systems without a call compute something, too. Unless the program is ``apart`` the next
        call of the same run would read that: only the last batch may be a partial one.
        """
        rng, systems = self.rng, self.machine.systems
        most = most or max(MOST_CALLS[self.bench.simulator], systems + 2)
        count = int(rng.integers(1, most))
        found = []
        while len(found) < count:
            length = int(rng.integers(1, count - len(found) + 1))
            if not self.apart and len(found) + length < count:
                length = -(-length // systems) * systems
            function = int(rng.integers(len(self.array.table)))
            found += [self.call(function) for _ in range(length)]
        return found

    def bad_call(self, kind=None):
        """A call that is dropped: too short, too long, or of a function that is not stored.

        ``kind``: which of these, where the tables allow it.
        """
        rng, numbers = self.rng, 1 << len(self.dut.s_axis_tuser)
        unknown = sorted(set(range(numbers)) - self.stored)
        call = self.call()
        length = len(call.words)
        if unknown and (kind == UNKNOWN if kind else rng.random() < 0.4):
            words = self.beats(int(rng.integers(1, 2 * length + 2)))
            return Call(int(rng.choice(unknown)), words)
        if length > 1 and (kind == SHORT if kind else rng.random() < 0.5):
            return replace(call, words=call.words[: int(rng.integers(1, length))])
        more = int(rng.integers(1, 2 * self.machine.in_depth + 2))
        return replace(call, words=[*call.words, *self.beats(more)])

    def beats(self, count):
        return [int(x) for x in self.rng.integers(1 << 32, size=count)]

    # --- runs -----------------------------------------------------------------------------------

    async def check_run(self, calls, context, given=None):
        """Run and check everything, sticky status since the last clear included.

        ``given``: the run was started elsewhere; so many rows have been taken and checked.
        """
        want = self.expected(calls)

        async def again():
            await self.go(calls, [None] * len(want.rows), context)

        inside = seen_from_inside(
            self.registers, self.board, self.array, calls, sorted(self.stored), again
        )
        async with inside:
            outcome = await self.go(calls, want.rows, context)
            compare = self.board.compare
            compare("DROPPED", outcome.dropped, want.dropped, context=context)
            malformed = self.registers.field("STATUS", "MALFORMED", self.registers.status)
            if want.dropped:
                compare("MALFORMED", malformed, 1, context=context)
            compare("CYCLES", outcome.cycles, self.busy_cycles, context=context)
            compare("WORD_CYCLES", outcome.word_cycles, want.word_cycles, context=context)
            await self.compare("CALLS_TAKEN", len(calls), context=context)
            await self.compare("CALLS_GIVEN", len(want.rows), context=context)
            compare("FLAGS", outcome.flags, self.flags, context=context)
        return any(row.given.fault for row in want.rows)

    def expected(self, calls):
        """What a run of these calls must give; its flags are sticky."""
        want = expected(self.array, self.twin, calls, self.stored)
        self.flags |= self.twin.flags
        if self.covers:
            streams.cover_calls(self.board.met, self.array, calls, self.stored)
        return want

    async def go(self, calls, rows, context):
        """Start, send calls, take so many rows; those that are not None are checked."""
        registers = self.registers
        await registers.start(len(calls))
        return await self.proceed(calls, rows, context)

    async def proceed(self, calls, rows, context, waiting=()):
        """The same of a run that has been started; calls that are ``waiting`` have been sent."""
        registers = self.registers
        self.send(calls)
        calls = [*waiting, *calls]
        limit = registers.batch_cycles(max(len(call.words) for call in calls))
        limit *= len(calls) // self.machine.systems + 1  # so many may be dropped one after another
        given = []
        for row in rows:
            if row is None:
                given.append(await registers.take(limit))
            else:
                given.append(await self.take(limit, f"{context}: {self.where(row)}"))
                self.check_row(given[-1], row, context)
        await registers.wait_until_idle(limit)
        return await registers.finish(given)

    def send(self, calls):
        """Put calls in line."""
        for call in calls:
            self.registers.send(call.users or call.function, call.words)

    async def take(self, limit, what):
        """Take what leaves next, unless a rule of the stream is broken before."""
        take = cocotb.start_soon(self.registers.take(limit, what))
        await First(take, self.rules.broken.wait())
        if self.rules.error:
            take.cancel()
            self.registers.sink.assert_reset(True)  # unknown bits would end it
            rerun = f"  rerun     {self.board.rerun}"
            raise AssertionError(f"{what}: {self.rules.error}\n{rerun}")
        return take.result()

    def check_row(self, got, row, context):
        """Check what left for a call."""
        want, context = row.given, f"{context}: {self.where(row)}"
        compare = self.board.compare
        compare("m_axis_tuser function", got.function, want.function, context=context)
        compare("beats", len(got.words), len(want.words), context=context)
        for k, (one, other) in enumerate(zip(got.words, want.words, strict=True)):
            if one != other:
                origin = origins(self.array, self.array.table[want.function])[row.number][k]
                where = f"{context}, output {k} of {len(want.words)}, {self.text(origin)}"
                compare("m_axis_tdata", one, other, self.fmt, context=where)
        self.board.transactions += len(want.words)
        compare("m_axis_tuser fault", int(got.fault), int(want.fault), context=context)

    def where(self, row):
        """Call and system of what leaves."""
        datapath, context = divmod(row.system, self.machine.contexts)
        return (
            f"call {row.call}, row {row.number}, function {row.given.function}, "
            f"batch {row.batch}, datapath {datapath}, context {context}"
        )

    def text(self, origin: Origin):
        """The program word that gave an output."""
        segment = self.array.segments[origin.segment]
        return (
            f"given by program word {segment.start + origin.cycle}, word {origin.cycle} of "
            f"segment {origin.segment}, repeat {origin.repeat}"
        )

    async def clear(self):
        await self.registers.write("STATUS", ALL_BITS)
        self.flags = 0
        for datapath in self.twin.datapaths:
            datapath.flags = 0

    async def refuse(self, name, word, context=""):
        """A write that answers SLVERR, sets ERROR and changes nothing."""
        registers, compare = self.registers, self.board.compare
        before = await registers.read(name)
        data = word.to_bytes(WORD_BYTES, "little")
        done = await registers.write_bytes(registers.map[name].offset, data)
        context = f"{word:#x} to {name} {context}"
        compare("write is OKAY", int(done), 0, context=context)
        await self.compare(name, before, context=context)


async def _start(dut, board, watched=False):
    """``watched``: what streams meet is covered, which costs a look at them in every cycle."""
    bus = await coprocessor_bench.start(BENCH, Bus, dut, board)
    if watched and bus.covers:
        depths = bus.machine.in_depth, bus.machine.out_depth
        bus.watch = streams.Watch(dut, depths, board.met)
    return bus


def _tables(part=1.0):
    return max(1, round(part * BENCH.settings["tables"][BENCH.simulator]))


@BENCH.test(timeout_us=40_000)
async def random_tables(dut, board):
    """Every operand path, lane, hazard; segments, repeats, strides, loops, rows, functions.

    Under Verilator until all of :class:`tb.common.array_tables.StreamCoverage` is met, but for
    random configurations.
    """
    bus = await _start(dut, board)
    coverage, count = bus.tables.coverage, _tables()
    until_covered = BENCH.simulator == "verilator" and not BENCH.drawn
    for number in BENCH.items(board, range(PATIENCE * count)):
        if number >= count and not (until_covered and coverage.missing()):
            break
        await bus.load(apart=number % 3 == 2)
        await bus.check_run(bus.calls(), f"tables {number}")
        if number % 4:  # otherwise flags gather
            await bus.clear()
            await bus.status(IDLE=1, context="all cleared")
    missing = coverage.missing()
    if BENCH.config.name == CONFIGS[BENCH.name]:
        coverage.cover(board, BENCH.name)
    covered = len(coverage.wanted) - len(missing)
    dut._log.info("coverage after %d: %d of %d", number, covered, len(coverage.wanted))
    if until_covered and BENCH.whole:
        assert not missing, f"not covered: {missing[:20]}"


@BENCH.test(timeout_us=40_000)
async def full_tables(dut, board):
    """Every entry of both tables: any part of the program, bases, strides, loops.

    Under Verilator one chain is of more cycles than 16 bits count.
    """
    bus = await _start(dut, board)
    machine, rng = bus.machine, bus.rng
    await bus.load(True, tables.full(bus.tables, LONG_RUN[BENCH.simulator] // machine.contexts))
    for number in BENCH.items(board, range(machine.functions)):
        calls = int(rng.integers(1, machine.systems + 1)) if number else 1
        await bus.check_run([bus.call(number) for _ in range(calls)], f"function {number}")
    turns = 2 * [*range(1, machine.functions)]
    await bus.check_run([bus.call(int(k)) for k in rng.permutation(turns)], "functions in turn")


@BENCH.test(timeout_us=40_000)
async def stalls(dut, board):
    """Both streams held back at random, seldom and often; runs follow each other at once."""
    bus = await _start(dut, board, watched=True)
    for rates in BENCH.items(board, RATES if BENCH.simulator == "verilator" else RATES[::2]):
        bus.registers.stall_streams(board.rng, *rates)
        if rates == RATES[-1]:
            bus.registers.stall(board.rng)
        await bus.load(apart=True)
        await bus.check_run(bus.calls(), f"stalls {rates}")
        await bus.check_run([bus.call()], f"stalls {rates}, one call")
        await bus.check_run(bus.calls(), f"stalls {rates}, again")
    written = {"full memories": tables.filling, "quiet ends": tables.quiet_end}
    written |= {"through scratch": tables.through_scratch} if bus.machine.scratch else {}
    for context, table in written.items():
        await bus.load(True, table(bus.tables))
        calls = [bus.call(0) for _ in range(bus.machine.systems + 1)]
        await bus.check_run(calls, context)
    assert bus.rules.refused or not BENCH.whole, "no beat was held back"


@BENCH.test(timeout_us=40_000)
async def many_calls(dut, board):
    """Counters of calls count beyond six bits; beyond nine where calls are short."""
    bus = await _start(dut, board)
    await bus.load(apart=True)
    await bus.check_run([bus.call() for _ in range(MANY_CALLS[BENCH.simulator])], "many")
    short = [Call(1, [bus.fmt.one])] * MANY_SHORT_CALLS[BENCH.simulator]
    if short:
        await bus.load(True, tables.doubling(bus.tables))
        await bus.check_run(short, "many short ones")
    await bus.check_held(bus.RESULTS, "after the calls")


@BENCH.test(timeout_us=40_000)
async def functions_in_turn(dut, board):
    """Batches of a call or a few, any function behind any other: half by half each is named.

    Every second function loops: batches of the others wait for the end of its walk.
    """
    bus = await _start(dut, board)
    bus.registers.stall_streams(board.rng, 0.0, MOSTLY)
    words = tables.doubling_words(bus.machine)
    loops = islice(cycle(LOOPS_IN_TURN), bus.machine.functions)
    table = [Function(0, 0, 0, count, 1, 1) for count in loops]
    registers = bus.tables.programs.registers()
    one = Segment(0, len(words))
    await bus.load(True, array_of(bus.machine, words, [one], table, registers))
    await bus.check_run([bus.call() for _ in range(CALLS_IN_TURN)], "in turn")


@BENCH.test(timeout_us=40_000)
async def places_after_a_wait(dut, board):
    """Calls that come slowly: the first word behind a wait reads and writes at any place."""
    bus = await _start(dut, board)
    bus.registers.stall_streams(board.rng, MOSTLY, 0.0)
    for number in BENCH.items(board, range(BACKWARDS[BENCH.simulator])):
        await bus.load(True, tables.backwards(bus.tables))
        await bus.check_run([bus.call(0) for _ in range(2)], f"backwards {number}")


@BENCH.test(timeout_us=40_000)
async def many_repeats(dut, board):
    """Counters of repeats count beyond five bits."""
    bus = await _start(dut, board)
    words = tables.doubling_words(bus.machine)
    registers = bus.tables.programs.registers()
    for repeat in BENCH.items(board, REPEATS[BENCH.simulator]):
        segments = [Segment(0, len(words), repeat, emit=True)]
        table = [Function(0, 0, 0, 1, 1, 1)]
        await bus.load(True, array_of(bus.machine, words, segments, table, registers))
        await bus.check_run([bus.call()], f"{repeat} times")


@BENCH.test(timeout_us=40_000)
async def most_repeats(dut, board):
    """As many repeats of a segment, and loops of a function, as their registers hold."""
    bus, most = await _start(dut, board), MOST_REPEATS[BENCH.simulator]
    for repeat, loops in BENCH.items(board, ((most, 1), (1, most))):
        await bus.load(True, tables.most_repeats(bus.tables, repeat, loops))
        await bus.check_run([bus.call(k) for k in (0, 1, 0)], f"{repeat} repeats, {loops} loops")


@BENCH.test(timeout_us=40_000)
async def calls_that_wait(dut, board):
    """A call before a run waits for it; one that a run does not ask for waits for the next one."""
    bus = await _start(dut, board, watched=True)
    await bus.load(apart=True)
    calls, more = bus.calls(), [bus.call()]
    bus.send(calls[:1])
    await ClockCycles(dut.clk_i, WAITS)
    await bus.status(IDLE=1, context="a call waits")
    await bus.registers.start(len(calls))
    want = bus.expected(calls)
    await bus.proceed([*calls[1:], *more], want.rows, "a call too many", waiting=calls[:1])
    await ClockCycles(dut.clk_i, WAITS)
    await bus.status(bus.flags, DONE=1, context="a call waits")
    await bus.compare("CALLS_TAKEN", len(calls), context="a call waits")
    await bus.registers.start(len(more))
    want = bus.expected(more)
    await bus.proceed([], want.rows, "the call that waited", waiting=more)
    await bus.compare("CALLS_TAKEN", len(more), context="the call that waited")


@BENCH.test(timeout_us=40_000)
async def malformed_calls(dut, board):
    """Calls that are too short, too long, of unknown functions are dropped; the others are right.

    TUSER of a call's beats but the first does not matter.
    """
    bus = await _start(dut, board, watched=True)
    rng, dropped = bus.rng, 0
    bus.registers.stall_streams(rng, 0.2, 0.2)
    for number in BENCH.items(board, range(_tables(0.3) + 1)):
        await bus.load(apart=True)
        for share in (0.1, 0.5):
            calls = [bus.bad_call() if rng.random() < share else call for call in bus.calls()]
            for place in (0, len(calls) - 1):
                if rng.random() < 0.5:
                    calls[place] = bus.bad_call()
            numbers = 1 << len(dut.s_axis_tuser)
            calls = [
                replace(
                    call,
                    users=[
                        call.function,
                        *(int(x) for x in rng.integers(numbers, size=len(call.words) - 1)),
                    ],
                )
                for call in calls
            ]
            await bus.check_run(calls, f"tables {number}, {share} malformed")
            dropped += await bus.registers.read("DROPPED")
    assert dropped or not BENCH.whole, "no call was malformed"
    await bus.clear()
    await bus.status(IDLE=1)
    await _reset_behind_a_dropped_call(bus)
    calls = [bus.bad_call(kind) for kind in KINDS]
    await bus.check_run(calls, "nothing but malformed calls")
    await bus.status(DONE=1, MALFORMED=1)
    await bus.check_run([bus.call()], "after malformed calls")
    await bus.status(bus.flags, DONE=1, MALFORMED=1, context="sticky")
    await bus.registers.write("STATUS", bus.registers.mask("STATUS", "MALFORMED"))
    await bus.status(bus.flags, DONE=1, context="cleared")
    for kind in KINDS:
        calls = [bus.bad_call(kind), bus.call(), bus.bad_call(kind), bus.bad_call(kind)]
        await bus.check_run(calls, f"first and last {kind}")


async def _reset_behind_a_dropped_call(bus):
    """MALFORMED tells it at the end of a run, so not at all of one that a reset ends."""
    registers = bus.registers
    await registers.start(2)
    bus.send([bus.bad_call(SHORT if bus.array.table[0].inputs > 1 else LONG)])
    await ClockCycles(bus.dut.clk_i, registers.batch_cycles(bus.machine.in_depth))
    await bus.compare("DROPPED", 1, context="in a run")
    await bus.status(BUSY=1, context="a call was dropped")
    await bus.command("RESET")
    registers.drop()
    await bus.status(IDLE=1, context="reset behind a dropped call")
    await bus.compare("DROPPED", 0, context="reset behind a dropped call")
    bus.flags = 0
    for datapath in bus.twin.datapaths:
        datapath.flags = 0
    await bus.check_run([bus.call()], "behind a reset")
    await bus.clear()


@BENCH.test(timeout_us=40_000)
async def flags_of_one_system(dut, board):
    """Flags that one call alone raises, in each datapath."""
    bus = await _start(dut, board)
    fmt, machine = bus.fmt, bus.machine
    exact, largest, least = fmt.one, fmt.inf - 1, fmt.min_normal
    pairs = {
        INVALID: [fmt.inf, fmt.neg(fmt.inf)],
        OVERFLOW: [largest, largest],
        UNDERFLOW: [least + 1, fmt.neg(least)],
        INEXACT: [exact, exact + 1],
    }
    await bus.load(True, tables.adding(bus.tables))
    for datapath in range(machine.datapaths):
        for flag, pair in pairs.items():
            system = datapath * machine.contexts + int(bus.rng.integers(machine.contexts))
            calls = [Call(0, [exact, exact]) for _ in range(machine.systems)]
            calls[system] = Call(0, pair)
            await bus.check_run(calls, f"{FLAG_NAMES[flag]} in datapath {datapath}")
            board.compare("raised", bus.flags & flag, flag)
            await bus.clear()


@BENCH.test(timeout_us=40_000)
async def partial_batches(dut, board):
    """Systems without a call raise no flags, although they compute with what they have left."""
    bus = await _start(dut, board)
    systems, largest = bus.machine.systems, bus.fmt.inf - 1
    await bus.load(True, tables.doubling(bus.tables))
    for count in {1, systems - 1, int(bus.rng.integers(1, systems + 1))} - {0}:
        overflow = [Call(1, [largest])] * (2 * systems)
        await bus.check_run(overflow, "all systems overflow")
        await bus.clear()
        calls = [Call(1, [bus.fmt.one])] * (systems + count)
        await bus.check_run(calls, f"{systems} calls and {count}")
        board.compare("FLAGS", bus.flags, 0)
        await bus.clear()


@BENCH.test(timeout_us=40_000)
async def streams_at_full_rate(dut, board):
    """Nothing held back, a beat a cycle: the calls of two batches, the results of the first."""
    bus = await _start(dut, board)
    await bus.load(True, tables.filling(bus.tables, FEW_WORDS))
    systems = bus.machine.systems
    calls = [bus.call(0) for _ in range(2 * systems)]
    taken = cocotb.start_soon(_cycles_of(dut, 0, sum(len(call.words) for call in calls)))
    given = cocotb.start_soon(_cycles_of(dut, 1, systems * bus.array.table[0].outputs))
    await bus.check_run(calls, "full rate")
    for task, what in ((taken, "calls of two batches"), (given, "results of a batch")):
        beats, cycles = await task
        board.compare(f"cycles from first to last beat, {what}", cycles, beats - 1)


async def _cycles_of(dut, stream, beats):
    """So many beats of a stream, 0 in, 1 out, and the cycles from the first to the last."""
    edge, moved = FallingEdge(dut.clk_i), []  # when
    while len(moved) < beats:
        await edge
        if str(dut.stream_handshakes_o.value)[2 * stream :][:2] == "11":
            moved.append(get_sim_time("ns"))
    return beats, round((moved[-1] - moved[0]) / PERIOD_NS)


@BENCH.test(timeout_us=40_000)
async def faults(dut, board):
    """A call's fault bit tells of what was stored up to the last word of a row, and of no other."""
    bus = await _start(dut, board)
    fmt, rng, array = bus.fmt, bus.rng, tables.doubling(bus.tables)
    numbers = [fmt.one, fmt.inf, fmt.inf - 1]  # twice the last one is infinite
    await bus.load(True, array)
    for run in range(4):
        calls = []
        for function in map(int, rng.integers(2, size=2 * bus.machine.systems + 3)):
            inputs = rng.choice(numbers, array.table[function].inputs, p=(0.6, 0.2, 0.2))
            calls.append(Call(function, [int(x) for x in inputs]))
        await bus.check_run(calls, f"run {run}")


@BENCH.test(timeout_us=40_000)
async def resets(dut, board):
    """Reset by CTRL and by the pin, in the cycles of a run: idle, clean, the next run right.

    That may follow at once. After the pin no function is stored, and no segment.
    """
    bus = await _start(dut, board, watched=True)
    registers, rng = bus.registers, bus.rng
    await bus.load(apart=True)
    calls = bus.calls(bus.machine.systems + 3)
    await bus.check_run(calls, "before all resets")
    span = await registers.read("CYCLES")
    registers.stall_streams(rng, 0.1, 0.1)
    for number in range(15 if BENCH.simulator == "verilator" else 6):
        when = int(rng.integers(span + 8))
        context = f"reset {number}, {when} cycles after a run"
        held = await bus.read_all(bus.OPERANDS)
        await registers.start(len(calls))
        held["CALLS"] = len(calls)
        for call in calls:
            registers.send(call.function, call.words)
        await ClockCycles(dut.clk_i, when)
        bus.flags = 0
        for datapath in bus.twin.datapaths:
            datapath.flags = 0
        if number % 3 == 0:
            await _pin_reset(dut, 1 + number % 2)
            held = {name: 0 for name in held if name != "PROGRAM_WORD"}
            bus.stored = set()
        else:
            await bus.command("RESET", "RUN")  # reset wins
        registers.drop()
        if number % 3 < 2:
            await bus.status(IDLE=1, context=context)
            for name in bus.RESULTS:
                await bus.compare(name, 0, context=context)
            await bus.compare_all(held, context)
        if number % 3 == 0:
            await bus.check_run([bus.call()], f"{context}, no function is stored")
            await registers.describe_function(bus.array.table[0])
            await bus.refuse("FUNCTION_STORE", 0, f"{context}, no segment is stored")
            await registers.store_tables(bus.array)
            bus.stored = set(range(len(bus.array.table)))
        await bus.check_run(calls, context)
    await _resets_behind_writes(bus)
    if bus.watch:
        await _resets_in_packets(bus)
    await bus.check_reset_when_done()


async def _resets_behind_writes(bus):
    """A reset by CTRL does not stop a register that is on its way to the last datapath."""
    registers, machine, programs = bus.registers, bus.machine, bus.tables.programs
    array, reset = tables.telling(bus.tables, programs.registers()), registers.mask("CTRL", "RESET")
    await bus.load(True, array)
    soonest = bus.setup + 1
    apart = range(soonest, max(soonest, machine.datapaths) + 1)  # cycles between the writes
    for cycles, word in zip(apart, programs.numbers(len(apart)), strict=True):
        place = Location(machine.shared_bank, cycles % machine.contexts * machine.depth)
        await registers.write("FILE_ADDRESS", on_bus(place))
        stored = registers.begin_write("FILE_DATA", word)
        await ClockCycles(bus.dut.clk_i, cycles)
        await registers.written("CTRL", [stored, registers.begin_write("CTRL", reset)])
        array.image[place] = word
        bus.twin, bus.flags = array.twin(), 0
        calls = [bus.call(0) for _ in range(machine.systems)]
        await bus.check_run(calls, f"reset {cycles} cycles behind a write of {place}")


async def _resets_in_packets(bus):
    """Either reset in every state of both streams: the next run is right."""
    registers, dut = bus.registers, bus.dut
    await bus.load(True, tables.filling(bus.tables))
    calls = [bus.call(0) for _ in range(3 * bus.machine.systems)]  # sent while results leave
    registers.stall_streams(bus.rng, 0.6, 0.6)  # so that a packet lasts while the bus is written
    for bin_ in streams.IN_PACKETS.bins:
        by, *packets = bin_
        for attempt in range(ATTEMPTS):
            await registers.start(len(calls))
            # With calls for a first batch only, no packet begins while its results leave.
            bus.send(calls if packets[0] == streams.PACKETS[1] else calls[: bus.machine.systems])
            await bus.watch.until(*packets, RESET_CYCLES)
            if by == streams.RESETS[0]:
                await bus.command("RESET")
            else:
                await _pin_reset(dut, 1)
                await registers.store_tables(bus.array)
            registers.drop()
            bus.flags = 0
            for datapath in bus.twin.datapaths:
                datapath.flags = 0
            await bus.check_run(calls[:1], f"{streams.IN_PACKETS.text(bin_)}, attempt {attempt}")
            if bin_ in bus.watch.met[streams.IN_PACKETS.name]:
                break


class _Packets:
    """Counts the packets that begin at the pins, and the beats that were taken of one."""

    def __init__(self, dut):
        self.begun = self.taken = 0
        self.end = lambda: f"the end of a packet, {self.taken} beats taken"
        cocotb.start_soon(self._count(dut))

    async def _count(self, dut):
        while True:
            await FallingEdge(dut.clk_i)
            if str(dut.stream_handshakes_o.value)[:2] == "11":
                self.begun += not self.taken
                self.taken = 0 if int(dut.s_axis_tlast.value) else self.taken + 1


@BENCH.test(timeout_us=40_000)
async def discards(dut, board):
    """CTRL.DISCARD drops what is left of a packet that RESET cut, and no other; RESET alone none.

    The source goes on all the time. The next run begins at once, or when all has been dropped.
    """
    bus = await _start(dut, board)
    registers, rng, packets = bus.registers, bus.rng, _Packets(dut)
    await bus.load(True, tables.filling(bus.tables))
    cut = {True: 0, False: 0}  # attempts, by whether a packet was cut
    attempts = DISCARDS[BENCH.simulator]
    for number in BENCH.items(board, range(attempts)):
        context = f"discard {number}"
        registers.stall_streams(rng, float(rng.choice((0, 0.3, 0.8))), 0.3)
        calls = [bus.call(0) for _ in range(bus.machine.systems + 3)]
        await registers.start(len(calls))
        packets.begun = 0
        bus.send(calls)
        words = len(calls) * len(calls[0].words)
        await ClockCycles(dut.clk_i, int(rng.integers(words)))
        await registers.abort(discard=True)
        cut[bool(packets.taken)] += 1
        await bus.status(IDLE=1, context=context)
        if rng.random() < 0.5:
            limit = Deadline(registers.batch_cycles(bus.machine.in_depth), packets.end)
            while packets.taken:
                limit.check()
                await FallingEdge(dut.clk_i)
        await _go_on(bus, calls[packets.begun :], context)
    assert all(cut.values()) or not BENCH.whole, f"cut, not cut: {cut}"
    for resets in (["RESET"], ["DISCARD"], ["RESET", "DISCARD"], ["DISCARD", "RESET"]):
        await _reset_in_a_packet(bus, packets, resets)
    await bus.clear()
    await bus.check_run(bus.calls(), "after all discards")


async def _go_on(bus, calls, context):
    """A run of calls that the source has in line, and one more."""
    more = [bus.call(0)]
    bus.flags = 0
    for datapath in bus.twin.datapaths:
        datapath.flags = 0
    await bus.registers.start(len(calls) + 1)
    want = bus.expected([*calls, *more])
    outcome = await bus.proceed(more, want.rows, context, waiting=calls)
    compare = bus.board.compare
    compare("DROPPED", outcome.dropped, want.dropped, context=context)
    compare("FLAGS", outcome.flags, bus.flags, context=context)
    await bus.compare("CALLS_TAKEN", len(calls) + 1, context=context)


async def _reset_in_a_packet(bus, packets, resets):
    """Resets while the source waits in a packet, and a run.

    The last of them decides whether what is left of it is dropped, or is a call of its own.
    """
    registers, dut, context = bus.registers, bus.dut, f"in a packet: {', '.join(resets)}"
    for _ in range(ATTEMPTS):
        registers.stall_streams(bus.rng, 0.9, 0)
        calls = [bus.call(0), bus.call(0)]
        await registers.start(len(calls))
        packets.begun = 0
        bus.send(calls)
        limit = Deadline(registers.batch_cycles(1), lambda: "a packet to begin")
        while not packets.begun:
            limit.check()
            await FallingEdge(dut.clk_i)
        registers.source.clear_pause_generator()
        registers.source.pause = True
        await ClockCycles(dut.clk_i, WAITS)
        if packets.taken:
            break
        await registers.abort()
    bus.board.compare("a packet is under way", int(packets.taken > 0), 1, context=context)
    rest = replace(calls[0], words=calls[0].words[packets.taken :])
    for reset in resets:
        await bus.command(*dict.fromkeys(["RESET", reset]))
    registers.drop(calls=False)
    registers.source.pause = False
    dropped = resets[-1] == "DISCARD"
    await _go_on(bus, calls[1:] if dropped else [rest, calls[1]], context)


async def _pin_reset(dut, cycles):
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, cycles)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@BENCH.test(timeout_us=40_000)
async def access_while_busy(dut, board):
    """While busy all but CTRL and STATUS is locked, and the run is not disturbed."""
    bus = await _start(dut, board)
    registers = bus.registers
    await bus.load(apart=True)
    calls = bus.calls(bus.machine.systems + 1)
    await registers.write("FILE_ADDRESS", 1)
    await registers.start(len(calls))
    names = (*bus.OPERANDS, "FILE_ADDRESS", "PROGRAM_STORE", "SEGMENT_STORE", "FUNCTION_STORE")
    held = await bus.read_all(names)

    async def expect_error(want, context):
        word = await registers.read("STATUS")
        board.compare("BUSY", registers.field("STATUS", "BUSY", word), 1, context=context)
        board.compare("ERROR", registers.field("STATUS", "ERROR", word), want, context=context)
        await registers.write("STATUS", registers.mask("STATUS", "ERROR"))

    for register in registers.map.registers:
        name = register.name
        if name in ("CTRL", "STATUS", "IRQ_ENABLE"):
            continue
        _, done = await registers.read_bytes(register.offset, WORD_BYTES)
        board.compare(f"read of {name} is OKAY", int(done), 1)
        await expect_error(0, f"read of {name}")
        done = await registers.write_bytes(register.offset, bytes(WORD_BYTES))
        board.compare(f"write of {name} is OKAY", int(done), 0)
        await expect_error(int(register.access == READ_WRITE), f"write of {name}")
    await bus.command("RUN")
    await expect_error(1, "run")
    await bus.compare_all(held, "after refused accesses")
    want = expected(bus.array, bus.twin, calls)
    bus.flags |= bus.twin.flags
    outcome = await bus.proceed(calls, want.rows, "with refused accesses")
    board.compare("WORD_CYCLES", outcome.word_cycles, want.word_cycles)
    await bus.status(bus.flags, DONE=1)
    await bus.check_run(bus.calls(), "after refused accesses")


@BENCH.test(timeout_us=40_000)
async def runs_at_the_end(dut, board):
    """A RUN in one of the last busy cycles is refused, and none begins; behind them one does."""
    bus = await _start(dut, board)
    registers, calls = bus.registers, [Call(1, [bus.fmt.one])]
    await bus.load(True, tables.doubling(bus.tables))
    await bus.check_run(calls, "before")
    span, refused = bus.busy_cycles, []
    limit = registers.batch_cycles(1)
    for after in BENCH.items(board, range(max(0, span - AROUND_THE_END), span + AROUND_THE_END)):
        context = f"RUN {after} cycles after a call"
        await registers.start(len(calls))
        bus.send(calls)
        await ClockCycles(dut.clk_i, after)
        await bus.command("RUN")
        await ClockCycles(dut.clk_i, WAITS + span)
        error = registers.field("STATUS", "ERROR", await registers.read("STATUS"))
        refused.append(error)
        if not error:
            bus.send(calls)
        for run in range(2 - error):
            for row in bus.expected(calls).rows:
                bus.check_row(await bus.take(limit, context), row, f"{context}, run {run}")
        await registers.wait_until_idle(limit)
        await bus.status(bus.flags, DONE=1, ERROR=error, context=context)
        await bus.compare("CALLS_GIVEN", 2, context=context)
        await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    assert len(set(refused)) == 2 or not BENCH.whole, "the end was not met"


@BENCH.test(timeout_us=40_000)
async def resets_at_the_end(dut, board):
    """A RESET around the end of a run that dropped a call leaves nothing in STATUS."""
    bus = await _start(dut, board)
    registers, reset = bus.registers, bus.registers.mask("CTRL", "RESET")
    await bus.load(True, tables.doubling(bus.tables))
    calls = [Call(1, [bus.fmt.one]), Call(1, [bus.fmt.one] * FEW_WORDS)]
    await bus.check_run(calls, "before")
    span, met = bus.busy_cycles, set()
    for after in BENCH.items(board, range(max(0, span - AROUND_THE_END), span)):
        await registers.start(len(calls))
        bus.send(calls)
        await ClockCycles(dut.clk_i, after)
        write, read = registers.begin_write("CTRL", reset), registers.begin_read("STATUS")
        await registers.written("CTRL", [write])
        met.add(registers.field("STATUS", "BUSY", *await registers.answers("STATUS", [read])))
        registers.drop()
        await bus.status(IDLE=1, context=f"RESET {after} cycles after calls")
    await bus.check_run(calls, "behind all resets")
    assert len(met) == 2 or not BENCH.whole, "the end was not met"


@BENCH.test(timeout_us=40_000)
async def refused_tables(dut, board):
    """What cannot be stored is refused, and so is a run of no calls; what is at the edge is not."""
    bus = await _start(dut, board)
    registers, machine = bus.registers, bus.machine
    await bus.load(apart=True)
    last_segment, last_function = machine.segments - 1, machine.functions - 1
    depth = machine.program_depth
    # --- segments: the number of one that runs, so that a wrong store is seen
    number = bus.array.table[0].last
    fine = Segment(0, 1)
    for bad in (
        replace(fine, length=0),
        replace(fine, length=depth + 1),
        replace(fine, start=depth),
        replace(fine, start=depth - 1, length=2),
        replace(fine, start=1 << 31, length=1 << 31),
        replace(fine, start=ALL_BITS, length=1),
        replace(fine, start=1, length=ALL_BITS),
        replace(fine, repeat=0),
        *(replace(fine, start=number) for number in bus.too_large(depth)),
        *(replace(fine, length=number) for number in bus.too_large(depth + 1)),
        *(replace(fine, repeat=number) for number in bus.too_large(MOST_REPEAT + 1)),
    ):
        await registers.describe_segment(bad)
        await bus.refuse("SEGMENT_STORE", number, str(bad))
    await registers.describe_segment(fine)
    memory = 1 << last_segment.bit_length()
    beyond_all = (last_segment + 1, memory + number, ALL_BITS)
    for beyond in (*beyond_all, *bus.too_large(machine.segments)):
        await bus.refuse("SEGMENT_STORE", beyond, "number")
    # --- functions
    fine = bus.array.table[0]
    for bad in (
        replace(fine, first=fine.loop_from + 1),
        replace(fine, loop_from=fine.last + 1),
        replace(fine, last=machine.segments),
        replace(fine, last=ALL_BITS),
        replace(fine, loops=0),
        replace(fine, inputs=0),
        replace(fine, inputs=machine.in_depth + 1),
        replace(fine, outputs=0),
        replace(fine, outputs=machine.out_depth + 1),
        *(replace(fine, first=number) for number in bus.too_large(fine.loop_from + 1)),
        *(replace(fine, loop_from=number) for number in bus.too_large(fine.last + 1)),
        *(replace(fine, last=number) for number in bus.too_large(machine.segments)),
        *(replace(fine, loops=number) for number in bus.too_large(MOST_REPEAT + 1)),
        *(replace(fine, inputs=number) for number in bus.too_large(machine.in_depth + 1)),
        *(replace(fine, outputs=number) for number in bus.too_large(machine.out_depth + 1)),
    ):
        await registers.describe_function(bad)
        await bus.refuse("FUNCTION_STORE", 0, str(bad))
    await registers.describe_function(fine)
    memory = 1 << last_function.bit_length()
    for beyond in (last_function + 1, memory, ALL_BITS, *bus.too_large(machine.functions)):
        await bus.refuse("FUNCTION_STORE", beyond, "number")
    # --- locations, program addresses
    last = Location(machine.banks - 1, machine.contexts * machine.depth - 1)
    for location in (
        Location(machine.banks, 0),
        last._replace(address=last.address + 1),
        Location(0, (1 << 16) - 1),
        *(Location(number, 0) for number in bus.too_large(machine.banks) if number < 1 << 16),
        *(Location(0, number) for number in bus.too_large(last.address + 1) if number < 1 << 16),
    ):
        await bus.refuse("FILE_ADDRESS", on_bus(location), str(location))
    for beyond in (depth, ALL_BITS, *bus.too_large(depth)):
        await bus.refuse("PROGRAM_STORE", beyond, "address")
    await bus.check_run(bus.calls(), "after refused stores")
    # --- a run without calls
    await registers.start(0)
    await bus.status(bus.flags, DONE=1, ERROR=1, context="no calls")
    await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    await bus.check_run(bus.calls(), "after a refused run")
    # --- the segments of a function are stored, one after the other
    await registers.describe_segment(Segment(0, 1))
    for stored in range(len(bus.array.segments), machine.segments):
        await registers.describe_function(replace(fine, first=0, loop_from=0, last=stored))
        for number in {stored - 1, last_segment} - {stored}:  # again, and too early
            await registers.write("SEGMENT_STORE", number)
        await bus.refuse("FUNCTION_STORE", 0, f"{stored} segments are stored")
        await registers.write("SEGMENT_STORE", stored)
        await registers.write("FUNCTION_STORE", last_function)
    # --- what was stored last is read back
    await registers.describe_segment(Segment(0, 1))
    await bus.check_number("SEGMENT_STORE", machine.segments)
    await registers.describe_function(Function(0, 0, 0, 1, 1, 1))
    await bus.check_number("FUNCTION_STORE", machine.functions)
    # --- the edges: the whole program in one segment, all tables full
    await registers.describe_segment(Segment(0, depth, MOST_REPEAT))
    await registers.write("SEGMENT_STORE", last_segment)
    await registers.describe_segment(Segment(depth - 1, 1))
    await registers.write("SEGMENT_STORE", last_segment)
    full = Function(0, last_segment, last_segment, MOST_REPEAT, machine.in_depth, machine.out_depth)
    await registers.describe_function(full)
    await registers.write("FUNCTION_STORE", last_function)


@BENCH.test(timeout_us=40_000)
async def registers_of_the_host(dut, board):
    """FILE_ADDRESS moves bank after bank and wraps; FILE_DATA reads as 0, and is written whole."""
    bus = await _start(dut, board)
    registers, machine = bus.registers, bus.machine
    await bus.load(apart=True)
    addresses = machine.contexts * machine.depth
    for bank, address in ((0, 0), (machine.banks - 1, addresses - 1), (machine.banks - 1, 0)):
        here = Location(bank, address)
        after = Location((bank + 1) % machine.banks, (address + (bank == machine.banks - 1)))
        await registers.write("FILE_ADDRESS", on_bus(here))
        await bus.compare("FILE_DATA", 0)
        await bus.compare("FILE_ADDRESS", on_bus(here))
        await registers.write("FILE_DATA", bus.array.image[here])
        await bus.compare("FILE_ADDRESS", on_bus(after._replace(address=after.address % addresses)))
        await registers.write("FILE_ADDRESS", on_bus(here))
        parts = [(1, b"\xff" * (WORD_BYTES - 1))]
        if machine.fmt.width > 8:  # bits of a byte
            parts.append((0, b"\xff"))
        for first, data in parts:
            okay = await registers.write_bytes(registers.map["FILE_DATA"].offset + first, data)
            board.compare(f"write of {len(data)} bytes of FILE_DATA is OKAY", int(okay), 0)
        await bus.compare("FILE_ADDRESS", on_bus(here))
    places = bus.rng.integers((machine.banks, addresses), size=(WORD_BYTES, 2)).tolist()
    words = [on_bus(Location(*place)) for place in places]
    await bus.check_bytes("FILE_ADDRESS", words, registers.is_location)
    # a write that strobes no byte stores nothing where the last one did
    await registers.describe_segment(Segment(0, 1))
    await registers.describe_function(Function(0, 0, 0, 1, 1, 1))
    await registers.write("PROGRAM_WORD", *[0] * machine.bus_words)
    for name in ("SEGMENT_STORE", "FUNCTION_STORE", "PROGRAM_STORE"):
        await bus.write_no_byte(name)
    await bus.check_run(bus.calls(), "after writes of the host")
    await bus.check_number("PROGRAM_STORE", machine.program_depth)


of_bus = coprocessor_bench.tests_of(BENCH, Bus)
masters = of_bus(coprocessor_bench.masters)
interrupts = of_bus(coprocessor_bench.interrupts)
identity = of_bus(coprocessor_bench.identity)
byte_strobes = of_bus(coprocessor_bench.byte_strobes)
unready_master = of_bus(coprocessor_bench.unready_master)
full_rate = of_bus(coprocessor_bench.full_rate)
every_access = of_bus(coprocessor_bench.every_access)
bad_addresses = of_bus(coprocessor_bench.bad_addresses)

test_step_array = BENCH.pytest()


@pytest.mark.parametrize("contexts", range(1, MAX_CONTEXTS + 1))
def test_the_defaults_of_the_rtl_are_those_of_the_model(contexts):
    """Those that follow from CONTEXTS are written ``condition ? value : value``, or plainly."""
    text = (ROOT / "rtl" / "top" / "step_array.sv").read_text()
    defaults = dict(re.findall(r"parameter int (\w+) = (.+),", text)) | {"CONTEXTS": str(contexts)}
    machine = Machine(contexts=contexts)
    for name in COMMON:
        python = re.sub(r"(.+) \? (.+) : (.+)", r"(\2) if (\1) else (\3)", defaults[name])
        assert eval(python, {"CONTEXTS": contexts}) == getattr(machine, COMMON[name]), name
