"""The step engine through its bus, against the cycle-accurate model.

After every run the whole register file, flags, cycles, steps done and trace are the model's.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

import cocotb
import pytest
from cocotb.triggers import ClockCycles, FallingEdge

from pymodel.hardware.bench import ROOT
from pymodel.hardware.on_bus import inside
from pymodel.hardware.step_engine import StepEngine, compare_end, machine_of, on_bus, rtl_parameters
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.hardware.waiting import Deadline
from pymodel.machine.isa import (
    MAX_CONTEXTS,
    Location,
    Machine,
    Operand,
    Port,
    Program,
    Word,
)
from pymodel.machine.model import START_CYCLES, Twin
from pymodel.machine.registers import READ_WRITE, WORD_BYTES
from tb.common import coprocessor_bench
from tb.common.coprocessor_bench import ALL_BITS
from tb.common.coverage import bus as accesses
from tb.common.coverage import engine as coverage
from tb.common.step_programs import Programs
from tb.step_engine.bench import BENCH

PATIENCE = 4  # times the programs, until hazards are covered
BUS_CYCLES = 10  # more than a word of the trace takes on the bus
RUN_CYCLES = 1000  # more than a run takes besides its steps
MANY_STEPS, SPECIAL_WORDS = 1100, 12  # of a run of one word a step, and of its special steps
NEAR_STEPS = 9  # of a run whose intervals are far longer
BEYOND = 4, 5  # counters that lose the high bit count these to the end
FAR_STEPS, FAR_CYCLES = 1 << 10, 100  # so many steps take more than so many cycles
MANY_HELD_STEPS = 129  # less than this are left in a run that its trace holds up
BEFORE_THE_END = 20  # cycles


@dataclass
class Run:
    """Arguments of a run, for the model and for the hardware alike."""

    program: object
    steps: int = 1
    every: int = 0
    save: int = 0
    before: tuple = ()
    after: tuple = ()
    start: int = 0
    registers: dict = field(default_factory=dict)

    @property
    def arguments(self):
        return self.program, self.steps, self.every, self.save, self.before, self.after


class Bus(coprocessor_bench.Bus):
    """The engine next to its model. A round is a short program on new registers."""

    IDENTITY = b"STEP"
    DESCRIPTION = (
        "MAIN_START",
        "MAIN_LENGTH",
        "SPECIAL_START",
        "SPECIAL_LENGTH",
        "TRACE_BEFORE",
        "TRACE_AFTER",
        "TRACE_START",
    )
    OPERANDS = ("STEPS", "SAVE", "EVERY", *DESCRIPTION, "PROGRAM_WORD")
    started = 1  # the sequencer hears of a run a cycle later
    RESULTS = ("CYCLES", "STEPS_DONE", "TRACE_COUNT")
    PARAMETERS = (
        "LANES",
        "FILE_DEPTH",
        "PROGRAM_DEPTH",
        "TRACE_DEPTH",
        "TRACE_REGISTERS",
        "PROGRAMS",
    )
    ACTIVE = (
        "PROGRAM",
        "TRACE_DATA",
        "TRACE_INDEX",
        "TRACE_ENTRY",
        "FILE_ADDRESS",
        "FILE_DATA",
        "PROGRAM_STORE",
    )

    def __init__(self, bench, dut, board):
        super().__init__(bench, dut, board)
        self.operand_w = 8 * WORD_BYTES
        self.rng = board.rng
        self.programs = Programs(self.machine, board.rng)
        self.entries = self.params["TRACE_REGISTERS"]
        self.model = Twin(self.machine)

    @cached_property
    def machine(self):
        return machine_of(self.params)

    @cached_property
    def addresses(self):
        """Registers of a bank, of all contexts."""
        return self.machine.contexts * self.machine.depth

    @property
    def setup(self):
        return 3 + self.machine.read_stages

    def driver(self, dut):
        return StepEngine(dut, self.machine)

    async def round(self, operands, context):
        await self.define_memories()
        await self.check_run(self.random_run(), context)
        return self.model.flags, self.model.stopped

    def random_operands(self):
        return None

    def latency(self):
        return ALL_BITS  # a run has any number of steps

    async def spoil(self):
        await self.define_memories()
        await self.check_run(self.stopping_run(0), "to stop")

    async def refused_run(self):
        await self.registers.write("MAIN_LENGTH", 0)
        await self.command("RUN")

    async def ready(self):
        run = self.random_run(traced=False)
        await self.define_memories()
        await self.load(run)
        await self.registers.prepare(*run.arguments, start=run.start)

    async def begin(self):
        word = await self.registers.read("STATUS")
        if not self.registers.field("STATUS", "BUSY", word):
            run = self.random_run(steps=1, length=40, apart=True, traced=False)
            run.every, run.steps = 0, ALL_BITS
            await self.load(run)
            await self.registers.prepare(*run.arguments, start=run.start)
            await self.registers.start()

    # --- runs -----------------------------------------------------------------------------------

    def random_run(self, healthy=True, steps=None, apart=False, traced=True, length=None):
        """A run of one random program, from new registers."""
        rng, machine = self.rng, self.machine
        longest = max(machine.latency.values())
        steps = int(rng.integers(1, 7)) if steps is None else steps
        every = int(rng.integers(0, 4))
        length = length or int(rng.integers(1, 2 * longest + 20))
        length = min(length, machine.program_depth - bool(every))
        special = int(rng.integers(1, 2 * longest + 10)) if every else 0
        special = min(special, machine.program_depth - length)
        shape = {"length": length, "special": special, "apart": apart}
        registers = self.programs.registers()
        if healthy:
            program = self.programs.healthy(registers, max(steps, every + 1), every, **shape)
        else:
            program = self.programs.program(**shape)
        run = Run(program, steps, every, registers=registers)
        run.start = self.random_start(len(program.words))
        if traced:
            run.save = int(rng.integers(0, 4))
            before = int(rng.integers(0, self.entries + 1))
            run.before = self.random_locations(before)
            run.after = self.random_locations(int(rng.integers(0, self.entries - before + 1)))
        return run

    def stopping_run(self, step, steps=None, every=0):
        """A run that ends in this step: each one divides by what is left to count down."""
        machine, fmt = self.machine, self.fmt
        count, one = Location(0, 1), Location(1, 0)
        reciprocal = machine.adders + machine.multipliers
        reads = {Port(0, 0): count.address, Port(1, 1): one.address}
        last = max(machine.latency["add"], machine.latency["rec"])
        words = [Word(reads) for _ in range(1 + last)]
        words[0].issues = {
            0: (Operand(0), Operand(1, True)),
            reciprocal: (Operand(0),),
        }
        words[machine.latency["add"]].writes[0] = count.address
        words[machine.latency["rec"]].writes[machine.shared_bank] = 0
        special = [Word()] if every else []
        program = Program(machine, words + special, main=len(words), registers=[])
        stops, late = int(self.rng.integers(machine.contexts)), fmt.from_float(step + 8)
        registers = {}
        for context in range(machine.contexts):
            start = fmt.from_float(step) if context == stops else late
            registers[machine.of_context(count, context)] = start
            registers[machine.of_context(one, context)] = fmt.one
        before, after = self.random_locations(1), self.random_locations(1)
        steps = steps or step + 3
        return Run(program, steps, every, 1, before, after, registers=registers)

    def run_of_one(self, index, bank):
        """A step in which one lane takes registers 0 and 1 of bank 0, for one bank alone."""
        machine, lane = self.machine, self.machine.lanes[index]
        words = [Word() for _ in range(machine.latency[lane.op] + 1)]
        words[0].reads = {Port(0, side): place for place, side in enumerate(lane.sides)}
        words[0].issues = {index: (Operand(0),) * len(lane.sides)}
        words[-1].sine = lane.op == "sincos"
        words[-1].writes[bank] = machine.depth - 1
        return Run(Program(machine, words, main=len(words), registers=[]))

    def random_start(self, length):
        """Where a program begins: often at an end of the memory."""
        last = self.machine.program_depth - length
        return int(self.rng.choice([0, last, self.rng.integers(last + 1)]))

    def random_locations(self, count):
        sizes = self.machine.banks, self.addresses
        return tuple(Location(*x) for x in self.rng.integers(sizes, size=(count, 2)).tolist())

    async def load(self, run):
        """Program and registers into the hardware, registers into the model."""
        await self.registers.load_program(run.program.encoded(), run.start)
        await self.registers.write_registers(run.registers)
        self.model.load(run.registers)

    async def check_run(self, run, context):
        """Load, run and check everything, sticky status since the last clear included."""
        await self.load(run)
        outcome = await self.registers.run(*run.arguments, start=run.start)
        await self.check(run, outcome, context)

    async def check(self, run, outcome, context):
        """Check what a run left behind."""
        found = self.model.registers
        trace = self.model.run(*run.arguments)
        coverage.cover_run(
            self.board.met,
            run.steps,
            run.every,
            run.save,
            len(run.before),
            len(run.after),
            self.model.stopped,
        )
        context = f"{context}: {len(run.program.words)} words, {run.steps} steps"
        names = ("program", "steps", "every", "save", "before", "after")
        arguments = dict(zip(names, run.arguments, strict=True)) | {"start": run.start}
        async with seen_from_inside(self.registers, self.board, found, **arguments):
            await self.check_outcome(outcome, trace, context)

    async def check_outcome(self, outcome, trace, context):
        """Check what a run left behind against the model, which has run, too."""
        compare_end(self.board, outcome, self.model, context)
        self.board.compare_all("trace", outcome.trace, trace, self.fmt, context)
        if len(trace) <= self.params["TRACE_DEPTH"]:  # otherwise the trace may have been full
            self.board.compare("CYCLES", outcome.cycles, self.model.cycles, context=context)
        await self.check_file(context)

    async def check_file(self, context):
        for b, (got, want) in enumerate(
            zip(await self.registers.read_file(), self.model.file, strict=True)
        ):
            self.board.compare_all(f"file[{b}]", got, want, self.fmt, context)

    def deadline(self, run, what):
        """The limit of a wait for something that a run does in all its steps."""
        words, traced = len(run.program.words), len(run.before) + len(run.after)
        cycles = run.steps * (self.machine.contexts * words + BUS_CYCLES * traced) + RUN_CYCLES
        return Deadline(cycles, lambda: what)

    async def clear(self):
        await self.registers.write("STATUS", ALL_BITS)
        self.model.flags, self.model.stopped = 0, False

    async def define_memories(self):
        """Write what is not reset: until then registers and trace list may be anything."""
        registers = self.programs.registers()
        await self.registers.write_registers(registers)
        self.model.load(registers)
        await self.registers.write("TRACE_INDEX", 0)
        await self.registers.write_each("TRACE_ENTRY", [0] * self.entries)


async def _start(dut, board):
    return await coprocessor_bench.start(BENCH, Bus, dut, board)


@BENCH.test(timeout_us=20_000)
async def random_programs(dut, board):
    """Every operand path, every lane, hazards, segments, traces; status accumulates until cleared.

    Under Verilator all of :class:`tb.common.step_programs.Coverage` must be met, but in random
    configurations; one of the fixed goes on until it is.
    """
    bus = await _start(dut, board)
    await bus.define_memories()
    count = BENCH.settings["programs"][BENCH.simulator]
    covers = BENCH.config.name == coverage.CONFIGS[BENCH.name] and BENCH.simulator == "verilator"
    found = bus.programs.coverage
    for number in BENCH.items(board, range(PATIENCE * count)):
        complete = not found.missing() and not found.hazards_missing()
        if number >= count and (complete or not covers):
            break
        await bus.check_run(bus.random_run(), f"program {number}")
        if number % 4 == 3:
            await bus.clear()
            await bus.status(IDLE=1, context="all cleared")
    missing = found.missing()
    if covers:
        found.cover(board, BENCH.name)
    dut._log.info(
        "coverage: %d of %d",
        len(bus.programs.coverage.wanted) - len(missing),
        len(bus.programs.coverage.wanted),
    )
    if BENCH.simulator == "verilator" and BENCH.whole and not BENCH.drawn:
        assert not missing, f"not covered after {number} programs: {missing[:20]}"


@BENCH.test(timeout_us=20_000)
async def stalled_bus(dut, board):
    """Runs with every channel of the bus held back at random; nothing is taken twice."""
    bus = await _start(dut, board)
    await bus.define_memories()
    bus.registers.stall(board.rng)
    programs = BENCH.settings["programs"][BENCH.simulator] // 20 + 1
    for number in BENCH.items(board, range(programs)):
        await bus.check_run(bus.random_run(), f"program {number}")


@BENCH.test(timeout_us=20_000)
async def stops(dut, board):
    """A run ends after the step that stores what is infinite or not a number; all else is kept."""
    bus = await _start(dut, board)
    await bus.define_memories()
    for number in BENCH.items(board, range(BENCH.settings["programs"][BENCH.simulator] // 3)):
        run = bus.random_run(healthy=False, steps=int(bus.rng.integers(1, 9)))
        await bus.clear()
        await bus.check_run(run, f"program {number}")
        await bus.status(bus.model.flags, DONE=1, STOPPED=bus.model.stopped)
    for step in range(4):
        await bus.clear()
        await bus.check_run(bus.stopping_run(step), f"to stop in step {step}")
        await bus.status(bus.model.flags, DONE=1, STOPPED=1)
        await bus.compare("STEPS_DONE", step)
    for every in range(3):
        await bus.clear()
        await bus.check_run(bus.stopping_run(0, steps=1, every=every), "to stop in the only step")
        await bus.compare("STEPS_DONE", 0)
    await bus.check_run(bus.random_run(), "after a stop")
    await bus.status(bus.model.flags, DONE=1, STOPPED=1, context="sticky")
    await bus.registers.write("STATUS", bus.registers.mask("STATUS", "STOPPED"))
    await bus.status(bus.model.flags, DONE=1, context="cleared")


@BENCH.test(timeout_us=20_000)
async def one_bank_alone(dut, board):
    """What one bank alone stores, in one context, ends a run and raises flags."""
    bus = await _start(dut, board)
    machine, fmt = bus.machine, bus.fmt
    one, largest, least = fmt.one, fmt.inf - 1, fmt.min_normal
    pairs = [
        (fmt.inf, one),
        (fmt.inf, fmt.neg(fmt.inf)),
        (largest, largest),
        (least + 1, fmt.neg(least)),
        (one + 1, one + 1),
        (0, 0),
    ]
    results = [(index, bank) for index, lane in enumerate(machine.lanes) for bank in lane.banks]
    for index, bank in BENCH.items(board, results):
        op, run = machine.lanes[index].op, bus.run_of_one(index, bank)
        quiet = 0 if op == "sincos" else one  # exact results
        await bus.registers.load_program(run.program.encoded())
        for pair in pairs if BENCH.simulator == "verilator" else pairs[:2]:
            chosen = int(bus.rng.integers(machine.contexts))
            run.registers = {
                Location(0, context * machine.depth + place): word if context == chosen else quiet
                for context in range(machine.contexts)
                for place, word in enumerate(pair)
            }
            await bus.clear()
            await bus.registers.write_registers(run.registers)
            bus.model.load(run.registers)
            outcome = await bus.registers.run(*run.arguments)
            bus.model.run(*run.arguments)
            words = [fmt.to_float(word) for word in pair]
            said = f"{op} of {words} to bank {bank}, context {chosen}"
            compare_end(board, outcome, bus.model, said)


@BENCH.test(timeout_us=20_000, inside=True)
async def full_traces(dut, board):
    """A full trace holds up the run and loses nothing, taken late or soon; CYCLES has the waits."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers, depth = bus.registers, bus.params["TRACE_DEPTH"]
    saves = depth // bus.entries  # that there is room for
    for number in range(8 if BENCH.simulator == "verilator" else 3):
        many = number in (1, 2)  # steps are left when the trace holds up the run
        run = bus.random_run(steps=1, apart=True, traced=False, length=1 if many else None)
        split = int(bus.rng.integers(bus.entries + 1)) if number else bus.entries
        run.before = bus.random_locations(split)
        run.after = bus.random_locations(bus.entries - split)
        run.save = MANY_HELD_STEPS if many else 1 + number % 2
        run.steps = run.save * (saves + 2) + int(bus.rng.integers(4))
        if many:
            run.steps = run.save * saves + MANY_HELD_STEPS - number
        await bus.load(run)
        await registers.prepare(*run.arguments, start=run.start)
        trace = _TraceWatch(depth)
        watch = cocotb.start_soon(trace.look(dut))
        await registers.start()
        limit = bus.deadline(run, "a full trace to hold up the run")
        while trace.waits < 20:
            limit.check()
            await ClockCycles(dut.clk_i, 20)
            board.compare("busy", inside(dut).busy.value, 1, context="before the trace is full")
        await bus.compare("TRACE_COUNT", depth)
        taken = await registers.read_each("TRACE_DATA", int(bus.rng.integers(1, depth + 1)))
        outcome = await registers.finish(int(bus.rng.integers(1, 60)), taken)
        watch.cancel()
        await bus.check(run, outcome, f"run {number}")
        board.compare("CYCLES besides waits", outcome.cycles - trace.waits, bus.model.cycles)
        board.compare("cycles in which full is wrong", trace.wrong, 0, context=f"run {number}")


@dataclass
class _TraceWatch:
    """Looks at an empty trace from now on.

    ``words`` are in it; cycles in which the run ``waits`` for room, in which full is ``wrong``.
    """

    depth: int
    words: int = 0
    waits: int = 0
    wrong: int = 0

    async def look(self, dut):
        signals = [getattr(inside(dut), name) for name in ("push", "full", "pop_q")]
        while True:
            await FallingEdge(dut.clk_i)
            push, full, pop = (int(signal.value) for signal in signals)
            self.waits += push and full
            self.wrong += full != (self.words == self.depth)
            self.words += (push and not full) - pop


@BENCH.test(timeout_us=20_000, inside=True)
async def eager_reads(dut, board):
    """Reads of TRACE_DATA without asking for TRACE_COUNT: SLVERR, or the word that is next."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers = bus.registers
    for number in range(6 if BENCH.simulator == "verilator" else 2):
        run = bus.random_run(steps=1, apart=True, traced=False, length=12 + number)
        run.every, run.save, run.steps = 0, 1, 60
        run.before, run.after = bus.random_locations(1), bus.random_locations(number % 2)
        await bus.load(run)
        await registers.prepare(*run.arguments, start=run.start)
        await registers.start()
        await ClockCycles(dut.clk_i, bus.started)
        trace, refused = [], 0
        limit = bus.deadline(run, "a run to end while its trace is read")
        while int(inside(dut).busy.value):
            limit.check()
            words = await registers.try_each("TRACE_DATA", 10)
            refused += words.count(None)
            trace += [word for word in words if word is not None]
        assert refused > 10 and len(trace) > 10, (refused, len(trace))
        await bus.check(run, await registers.finish(trace=trace), f"run {number}")


@BENCH.test(timeout_us=20_000)
async def resets(dut, board):
    """Reset by CTRL and by the pin, in the cycles of a run: idle, clean, the next run right.

    That may follow at once, while lanes still hold results of the run before: they are not stored.
    """
    bus = await _start(dut, board)
    await bus.define_memories()
    registers = bus.registers
    run = bus.random_run(steps=3, apart=True, length=max(bus.machine.latency.values()) + 12)
    # The trace is that of a whole run again, whatever the broken one has stored: one segment, and
    # before a step only registers from the half that is not stored.
    run.every, run.save = 0, 1
    half = bus.machine.depth // 2
    run.before, run.after = (bus.random_locations(bus.entries // 2) for _ in range(2))
    run.before = tuple(x._replace(address=x.address % half) for x in run.before)
    await bus.check_run(run, "before all resets")
    span = bus.model.cycles + 4
    count = 45 if BENCH.simulator == "verilator" else 9
    for i, when in enumerate(range(0, span, -(-span // count))):
        context = f"reset {when} cycles after a run"
        await registers.prepare(*run.arguments, start=run.start)
        held = await bus.read_all(bus.OPERANDS)
        await registers.start()
        await ClockCycles(dut.clk_i, when)
        if i % 3 == 0:
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 0
            await ClockCycles(dut.clk_i, 1 + i % 2)
            await FallingEdge(dut.clk_i)
            dut.rst_ni.value = 1
            held = {name: 0 for name in held if name != "PROGRAM_WORD"}
        elif i % 3 == 1:
            await _reset_and_look(bus, context)
        else:
            await bus.command("RESET", "RUN")  # reset wins
        bus.model.flags, bus.model.stopped = 0, False
        if i % 3 == 2:  # at once
            await registers.start()
        else:
            await bus.status(IDLE=1, context=context)
            for name in bus.RESULTS:
                await bus.compare(name, 0, context=context)
            _, readable = await registers.read_bytes(registers.map["TRACE_DATA"].offset, WORD_BYTES)
            board.compare("read of TRACE_DATA is OKAY", int(readable), 0, context=context)
            await bus.compare_all(held, context)
            await registers.prepare(*run.arguments, start=run.start)
            await registers.start()
        await bus.check(run, await registers.finish(1), context)
    await bus.check_reset_when_done()


async def _reset_and_look(bus, context):
    """Reset by CTRL, which wins; reads that wait for it already find the trace empty."""
    registers = bus.registers
    reset = registers.begin_write("CTRL", registers.mask("CTRL", "RESET", "RUN"))
    names = ("ID", "TRACE_COUNT", "TRACE_DATA")  # the first one is read in the cycle of the reset
    reads = [registers.begin_read(name) for name in names]
    await registers.written("CTRL", [reset])
    _, count, word = await registers.answers("several registers", reads)
    bus.board.compare("TRACE_COUNT", count, 0, context=f"{context}, at once")
    bus.board.compare("read of TRACE_DATA is OKAY", int(word is not None), 0, context=context)


@BENCH.test(timeout_us=20_000)
async def access_while_busy(dut, board):
    """While busy memories and registers are locked; status and trace are not, nor is the run."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers = bus.registers
    run = bus.random_run(steps=1, length=40, apart=True)
    run.save, run.before, run.after = 50, bus.random_locations(1), bus.random_locations(1)
    run.every, run.steps = 0, 12_000 // (bus.machine.contexts * run.program.main)
    await bus.load(run)
    await registers.prepare(*run.arguments, start=run.start)
    await registers.write("TRACE_INDEX", 1)
    await registers.write("FILE_ADDRESS", 1)
    held = await bus.read_all((*bus.OPERANDS, "TRACE_INDEX", "FILE_ADDRESS", "PROGRAM_STORE"))
    error = registers.mask("STATUS", "ERROR")
    await registers.start()

    async def expect_error(want, context):
        word = await registers.read("STATUS")
        board.compare("BUSY", registers.field("STATUS", "BUSY", word), 1, context=context)
        board.compare("ERROR", registers.field("STATUS", "ERROR", word), want, context=context)
        await registers.write("STATUS", error)

    trace = []
    limit = bus.deadline(run, "the first word of the trace")
    while not await registers.take(trace):
        limit.check()
    for register in registers.map.registers:
        name = register.name
        if name in ("CTRL", "STATUS", "IRQ_ENABLE", "TRACE_DATA"):
            continue
        _, done = await registers.read_bytes(register.offset, WORD_BYTES)
        locked = name in ("FILE_DATA", "TRACE_ENTRY")
        board.compare(f"read of {name} is OKAY", int(done), int(not locked))
        await expect_error(int(locked), f"read of {name}")
        done = await registers.write_bytes(register.offset, bytes(WORD_BYTES))
        board.compare(f"write of {name} is OKAY", int(done), 0)
        await expect_error(int(register.access == READ_WRITE), f"write of {name}")
    await bus.command("RUN")
    await expect_error(1, "run")
    clear, read = registers.begin_write("STATUS", error), registers.begin_read("FILE_DATA")
    await registers.written("STATUS", [clear])
    (word,) = await registers.answers("FILE_DATA", [read])
    board.compare("read of FILE_DATA is OKAY", int(word is not None), 0)
    await expect_error(1, "read of FILE_DATA in the cycle in which ERROR is cleared")
    outcome = await registers.finish(trace=trace)
    await bus.compare_all(held, "after refused accesses")
    await bus.check(run, outcome, "with refused accesses")
    await bus.status(bus.model.flags, DONE=1)


@BENCH.test(timeout_us=20_000)
async def accesses_at_the_end(dut, board):
    """Reads of a memory are refused or find what the run left; DONE cleared before is set."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers, listed = bus.registers, on_bus(Location(bus.machine.banks - 1, 1))
    run = bus.random_run(steps=1, apart=True, traced=False, length=BEFORE_THE_END)
    run.every = 0
    await bus.check_run(run, "before")
    await registers.prepare(*run.arguments, start=run.start)
    await registers.write("TRACE_INDEX", 1)
    await registers.write("TRACE_ENTRY", listed)
    span, done = bus.model.cycles, registers.mask("STATUS", "DONE")
    for name in ("FILE_DATA", "TRACE_ENTRY", "STATUS"):
        met = set()
        for when in range(max(0, span - BEFORE_THE_END), span):
            context = f"{when} cycles after a run began"
            (place,) = bus.random_locations(1)
            await registers.write("FILE_ADDRESS", on_bus(place))
            await registers.write("TRACE_INDEX", 1)
            await registers.start()
            bus.model.run(*run.arguments)
            await ClockCycles(dut.clk_i, when)
            read = registers.begin_read(name)
            if name == "STATUS":  # the read tells the cycle of the write
                await registers.written(name, [registers.begin_write(name, done)])
            (word,) = await registers.answers(name, [read])
            await registers.wait_until_idle(RUN_CYCLES)
            busy = word is None
            if name == "STATUS":
                busy = bool(registers.field(name, "BUSY", word))
                is_done = registers.field(name, "DONE", registers.status)
                board.compare("DONE", is_done, int(busy), context=context)
            elif not busy:
                want = bus.model.read(place) if name == "FILE_DATA" else listed
                board.compare(name, word, want, context=context)
            met.add(busy)
        assert len(met) == 2, f"{name}: the end was not met"


@BENCH.test(timeout_us=20_000)
async def refused_runs(dut, board):
    """A run with a segment or a trace that cannot be is refused; one without steps is not."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers, depth = bus.registers, bus.machine.program_depth
    run = bus.random_run(steps=2, traced=False)
    run.every = 0
    await bus.check_run(run, "before")
    cycles = bus.model.cycles
    fits, tail = (0, 1), (0, depth)
    beyond = [
        (0, 0),
        (depth - 1, 0),
        (depth, 1),
        (depth - 1, 2),
        (0, depth + 1),
        (1, depth),
        (2**32 - 1, 1),
        (2**31, 2**31),
        *((0, length) for length in bus.too_large(depth + 1)),
        *((start, 1) for start in bus.too_large(depth)),
    ]
    many = bus.too_large(bus.entries + 1)
    # save, every, main, special, traced before and after
    configurations = [
        *((0, 0, segment, fits, 0, 0) for segment in beyond),
        *((0, 5, fits, segment, 0, 0) for segment in beyond),
        *(
            (3, 0, tail, fits, *traced)
            for traced in (
                (bus.entries, 1),
                (1, bus.entries),
                (bus.entries + 1, 0),
                (2**32 - 1, 1),
                (2**31,) * 2,
                *((number, 0) for number in many),
                *((0, number) for number in many),
            )
        ),
    ]
    for save, every, main, special, before, after in configurations:
        context = f"{save}, {every}, {main}, {special}, {before}, {after}"
        await registers.write("SAVE", save, every, *main, *special, before, after)
        await bus.command("RUN")
        stopped = bus.model.stopped
        await bus.status(bus.model.flags, DONE=1, ERROR=1, STOPPED=stopped, context=context)
        await bus.compare("CYCLES", cycles)
        await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    for start, before, after in (
        (bus.entries, 1, 0),
        (1, bus.entries, 0),
        (1, 1, bus.entries - 1),
        (2**32 - 1, 1, 0),
        (2**31, 2**31 - 1, 1),
        (2**32 - 1, 2**32 - 1, 2),
        *((number, 0, 0) for number in many),
    ):
        await registers.write("SAVE", 3, 0, *tail, *fits, before, after)
        await registers.write("TRACE_START", start)
        await bus.command("RUN")
        stopped, context = bus.model.stopped, f"trace from {start}: {before}, {after}"
        await bus.status(bus.model.flags, DONE=1, ERROR=1, STOPPED=stopped, context=context)
        await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    # What is not asked for need not be possible.
    run.steps = 0
    await registers.prepare(*run.arguments, start=run.start)
    await registers.write("SPECIAL_START", depth, 0)
    await registers.write("TRACE_BEFORE", bus.entries, 1)
    await registers.start()
    await bus.check(run, await registers.finish(), "no steps")
    await bus.compare("CYCLES", START_CYCLES)
    await bus.status(bus.model.flags, DONE=1, STOPPED=bus.model.stopped)


@BENCH.test(timeout_us=20_000)
async def positions(dut, board):
    """Positions move, wrap and keep their range; bytes are written one by one."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers, machine, rng = bus.registers, bus.machine, bus.rng
    banks, depth, entries = machine.banks, bus.addresses, bus.entries
    last = Location(banks - 1, depth - 1)

    async def refuse(name, *words):
        before = await registers.read(name)
        for word in words:
            done = await registers.write_bytes(
                registers.map[name].offset, word.to_bytes(WORD_BYTES, "little")
            )
            board.compare(f"write of {word:#x} to {name} is OKAY", int(done), 0)
            await bus.compare(name, before)

    # register file: the end, the range, bytes
    await registers.write("FILE_ADDRESS", on_bus(last))
    got = await registers.read_each("FILE_DATA", 2)
    for location, word in zip((last, Location(0, 0)), got, strict=True):
        board.compare(f"{location}", word, bus.model.read(location), bus.fmt)
    await bus.compare("FILE_ADDRESS", on_bus(Location(1, 0)))
    await registers.write("FILE_ADDRESS", on_bus(Location(banks - 1, 0)))
    await registers.read("FILE_DATA")
    await bus.compare("FILE_ADDRESS", on_bus(Location(0, 1)))
    bits = (1 << bit for bit in range(8 * WORD_BYTES))
    out = [banks << 16, depth, on_bus(last) + 1, *bits, (255 << 16) | 1, ALL_BITS]
    out = [word for word in out if not registers.is_location(word)]
    await refuse("FILE_ADDRESS", *out)
    words = [on_bus(location) for location in bus.random_locations(WORD_BYTES)]
    await bus.check_bytes("FILE_ADDRESS", words, registers.is_location)
    for _ in range(40):
        location = bus.random_locations(1)[0]
        await registers.write("FILE_ADDRESS", on_bus(location))
        low = int(rng.integers(WORD_BYTES))
        patch = rng.bytes(int(rng.integers(1, WORD_BYTES - low + 1)))
        await registers.write_bytes(registers.map["FILE_DATA"].offset + low, patch)
        data = bytearray(bus.model.read(location).to_bytes(WORD_BYTES, "little"))
        data[low : low + len(patch)] = patch
        word = int.from_bytes(data, "little") & ((1 << bus.fmt.width) - 1)
        bus.model.load({location: word})
    await bus.check_file("after single bytes")

    # trace list
    listed = [on_bus(location) for location in bus.random_locations(entries)]
    await registers.write("TRACE_INDEX", entries - 1)
    await registers.write_each("TRACE_ENTRY", [listed[-1], *listed[:-1]])
    await bus.compare("TRACE_INDEX", entries - 1)
    beyond = (1 << bit for bit in range(entries.bit_length(), 8 * WORD_BYTES))
    await refuse("TRACE_INDEX", entries, ALL_BITS, *beyond)
    await bus.check_number("TRACE_INDEX", entries)
    await registers.write("TRACE_INDEX", 0)
    for word in out:
        done = await registers.write_bytes(
            registers.map["TRACE_ENTRY"].offset, word.to_bytes(WORD_BYTES, "little")
        )
        board.compare(f"write of {word:#x} to TRACE_ENTRY is OKAY", int(done), 0)
    await registers.write_bytes(registers.map["TRACE_ENTRY"].offset, b"\x01")
    listed[0] = listed[0] & ~0xFF | 1
    await bus.compare("TRACE_INDEX", 1)
    await registers.write("TRACE_INDEX", 0)
    for i, (g, w) in enumerate(
        zip(await registers.read_each("TRACE_ENTRY", entries), listed, strict=True)
    ):
        board.compare(f"trace list[{i}]", g, w)
    await bus.compare("TRACE_INDEX", 0)

    # a write that strobes no byte moves nothing
    for name, position in (("FILE_DATA", "FILE_ADDRESS"), ("TRACE_ENTRY", "TRACE_INDEX")):
        before = await registers.read(position)
        await bus.write_no_byte(name)
        await bus.compare(position, before, context=f"after a write of no byte of {name}")

    # a read in the cycle of a write of its position is of the old one, then of the new one
    places = [on_bus(x) for x in (*bus.random_locations(1), last)]
    for name, position, (old, new) in (
        ("FILE_DATA", "FILE_ADDRESS", places),
        ("TRACE_ENTRY", "TRACE_INDEX", (0, entries - 1)),
    ):
        words = []
        for at in (old, new):
            await registers.write(position, at)
            words.append(await registers.read(name))
        for later in range(bus.setup + 2):
            await registers.write(position, old)
            write = registers.begin_write(position, new)
            if later:
                await ClockCycles(dut.clk_i, later)
            read = registers.begin_read(name)
            await registers.written(position, [write])
            (word,) = await registers.answers(name, [read])
            context = f"{later} cycles after a write of {position}"
            board.compare(name, word, words[later > 0], context=context)
            await bus.compare(position, 0 if later else new, context=context)
    # a byte that is written behind a read joins those of the next place
    for later in range(1, bus.setup + 2):
        await registers.write("FILE_ADDRESS", on_bus(last))
        read, byte = registers.begin_read("FILE_DATA"), rng.bytes(1)
        await ClockCycles(dut.clk_i, later)
        await registers.write_bytes(registers.map["FILE_DATA"].offset, byte)
        await registers.answers("FILE_DATA", [read])
        word = bus.model.read(Location(0, 0)) & ~0xFF | byte[0]
        bus.model.load({Location(0, 0): word})
        await registers.write("FILE_ADDRESS", 0)
        await bus.compare("FILE_DATA", word, context=f"a byte {later} cycles after a read")

    # program
    run = bus.random_run(steps=2, traced=False)
    await bus.load(run)
    size = WORD_BYTES * machine.bus_words
    for address, word in enumerate(run.program.encoded(), run.start):
        data, at = word.to_bytes(size, "little"), 0
        while at < size:
            length = int(rng.integers(1, 7))
            await registers.write_bytes(
                registers.map["PROGRAM_WORD"].offset + at, data[at : at + length]
            )
            at += length
        if address >> 8 == (await registers.read("PROGRAM_STORE")) >> 8:
            await registers.write_bytes(
                registers.map["PROGRAM_STORE"].offset, bytes([address & 0xFF])
            )
        else:
            await registers.write("PROGRAM_STORE", address)
        await registers.write("PROGRAM_WORD", *[ALL_BITS] * machine.bus_words)
    await bus.write_no_byte("PROGRAM_STORE")
    beyond = machine.program_depth
    memory = 1 << (beyond - 1).bit_length()
    far = (memory + run.start, (1 << 31) + run.start, ALL_BITS, *bus.too_large(beyond))
    await refuse("PROGRAM_STORE", beyond, *far)
    outcome = await registers.run(*run.arguments, start=run.start)
    await bus.check(run, outcome, "program written in bytes")
    await bus.status(bus.model.flags, DONE=1)
    await bus.check_number("PROGRAM_STORE", machine.program_depth)


@BENCH.test(timeout_us=20_000)
async def descriptions(dut, board):
    """Each program has a description of its own; PROGRAM keeps its range, resets are as ever."""
    bus = await _start(dut, board)
    registers, rng, count = bus.registers, bus.rng, bus.machine.programs
    size = WORD_BYTES * len(bus.DESCRIPTION)
    want = {number: bytearray(size) for number in range(count)}

    async def check(context):
        for number in map(int, rng.permutation(count)):
            await registers.write("PROGRAM", number)
            await bus.compare("PROGRAM", number)
            for i, name in enumerate(bus.DESCRIPTION):
                word = int.from_bytes(want[number][WORD_BYTES * i :][:WORD_BYTES], "little")
                await bus.compare(name, word, context=f"program {number}, {context}")

    await bus.compare("PROGRAM", 0)
    await check("before any write")
    for _ in range(8 * count):
        number, i = int(rng.integers(count)), int(rng.integers(len(bus.DESCRIPTION)))
        low = int(rng.integers(WORD_BYTES))
        patch = rng.bytes(int(rng.integers(1, WORD_BYTES - low + 1)))
        await registers.write("PROGRAM", number)
        await registers.write_bytes(registers.map[bus.DESCRIPTION[i]].offset + low, patch)
        at = WORD_BYTES * i + low
        want[number][at : at + len(patch)] = patch
    await check("written")
    words = rng.integers(1 << 32, size=(count, len(bus.DESCRIPTION)))
    for mask in (0, ALL_BITS):  # each bit is both
        for number, row in enumerate(words ^ mask):
            await registers.write("PROGRAM", number)
            for name, word in zip(bus.DESCRIPTION, row, strict=True):
                await registers.write(name, int(word))
            want[number] = row.astype("<u4").tobytes()
        await check("whole words")
    await bus.check_bytes("PROGRAM", range(count), lambda number: number < count)
    await registers.write("PROGRAM", count - 1)
    memory = 1 << (count - 1).bit_length()
    for word in (count, memory + count - 1, ALL_BITS, *bus.too_large(count)):
        data = word.to_bytes(WORD_BYTES, "little")
        done = await registers.write_bytes(registers.map["PROGRAM"].offset, data)
        board.compare(f"write of {word:#x} to PROGRAM is OKAY", int(done), 0)
        await bus.compare("PROGRAM", count - 1)
    await bus.command("RESET")
    await bus.compare("PROGRAM", count - 1, context="after RESET")
    await check("after RESET")
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await bus.compare("PROGRAM", 0, context="after a reset by the pin")
    want = {number: bytes(size) for number in range(count)}
    await check("after a reset by the pin")


@BENCH.test(timeout_us=20_000)
async def numbered_programs(dut, board):
    """Any program of the table runs as the first one does, its trace list anywhere in the list."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers = bus.registers
    for _ in range(10 if BENCH.simulator == "verilator" else 4):
        run, number = bus.random_run(), int(bus.rng.integers(bus.machine.programs))
        first = int(bus.rng.integers(bus.entries + 1 - len(run.before) - len(run.after)))
        await registers.write("PROGRAM", number)
        await bus.load(run)
        await registers.prepare(*run.arguments, start=run.start)
        await registers.write("TRACE_START", first)
        if first < bus.entries:
            await registers.write("TRACE_INDEX", first)
            await registers.write_each("TRACE_ENTRY", map(on_bus, (*run.before, *run.after)))
        await registers.start()
        await bus.check(run, await registers.finish(1), f"program {number}, entry {first}")


@BENCH.test(timeout_us=20_000)
async def long_run(dut, board):
    """Hundreds of steps, with many cycles between the looks at them."""
    bus = await _start(dut, board)
    await bus.define_memories()
    run = bus.random_run(steps=2, apart=True, length=60)
    run.steps = 400 if BENCH.simulator == "verilator" else 20
    run.save, run.before, run.after = 3, bus.random_locations(1), bus.random_locations(1)
    await bus.check_run(run, "long")


@BENCH.test(timeout_us=20_000)
async def many_steps(dut, board):
    """Counters of steps, of both intervals and of cycles count beyond ten bits."""
    bus = await _start(dut, board)
    await bus.define_memories()
    run = bus.random_run(steps=1, apart=True, length=1, traced=False)
    shape = {"length": 1, "special": SPECIAL_WORDS, "apart": True}
    run.program = bus.programs.healthy(run.registers, 2, 1, **shape)
    run.start = bus.random_start(len(run.program.words))
    run.steps, run.save, run.every = MANY_STEPS, MANY_STEPS - 20, MANY_STEPS - 40
    run.before = bus.random_locations(1)  # once: CYCLES can be told where no trace is full
    await bus.check_run(run, "many")


@BENCH.test(timeout_us=20_000)
async def far_ends(dut, board):
    """Of steps and of both intervals every bit counts: what is far away does not come at once."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers, rng = bus.registers, bus.rng
    bits = range(2, 8 * WORD_BYTES)
    far = [1 << bit for bit in bits if BENCH.simulator == "verilator" or not bit % 5]
    for number, distance in BENCH.items(board, enumerate(far)):
        run = bus.random_run(steps=1, apart=True, length=1, traced=False)
        shape = {"length": 1, "special": SPECIAL_WORDS, "apart": True}
        run.program = bus.programs.healthy(run.registers, 2, 1, **shape)
        run.start = bus.random_start(len(run.program.words))
        run.steps = NEAR_STEPS
        run.save, run.every = (distance + int(x) for x in rng.permutation(BEYOND))
        run.before = bus.random_locations(1)
        await bus.check_run(run, f"run {number}, intervals of {distance:#x} and a little")
    await bus.clear()
    for distance in far:
        run.steps = distance + BEYOND[-1]
        if run.steps < FAR_STEPS:
            continue
        await registers.prepare(*run.arguments, start=run.start)
        await registers.start()
        await ClockCycles(dut.clk_i, FAR_CYCLES)
        await bus.status(BUSY=1, context=f"of {run.steps} steps")
        await bus.command("RESET")


@BENCH.test(timeout_us=20_000)
async def trace_data_in_every_state(dut, board):
    """TRACE_DATA answers SLVERR exactly where no word is there, be it idle, busy or done."""
    bus = await _start(dut, board)
    await bus.define_memories()
    registers = bus.registers
    point = accesses.point(registers.map)
    offset = registers.map["TRACE_DATA"].offset

    async def read(state, there):
        response = accesses.OKAY if there else accesses.SLVERR
        bin_ = ("TRACE_DATA", "read", response, state)
        word = await registers.read("STATUS")
        shown = registers.field("STATUS", state.upper(), word)
        board.compare(f"STATUS.{state.upper()}", shown, 1, context=point.text(bin_))
        _, okay = await registers.read_bytes(offset, WORD_BYTES)
        board.compare(point.text(bin_), int(okay), int(there))
        board.met(point, bin_)

    async def traced_run(steps):
        run = bus.random_run(steps=1, length=40, apart=True, traced=False)
        run.every, run.steps, run.save = 0, steps, 1
        run.before = bus.random_locations(2)
        await bus.load(run)
        await registers.prepare(*run.arguments, start=run.start)
        await registers.start()
        return run

    await read(accesses.IDLE, False)
    run = await traced_run(steps=1)
    await registers.wait_until_idle(run.steps * RUN_CYCLES)
    await read(accesses.DONE, True)
    await registers.write("STATUS", ALL_BITS)
    await read(accesses.IDLE, True)
    run = await traced_run(steps=ALL_BITS)
    limit = Deadline(RUN_CYCLES, lambda: "a word of the trace")
    while not await registers.read("TRACE_COUNT"):
        limit.check()
    await read(accesses.BUSY, True)
    await bus.command("RESET")
    await bus.begin()
    await read(accesses.BUSY, False)
    await bus.command("RESET")
    run = bus.random_run(steps=1, traced=False)
    await bus.check_run(run, "without a trace")
    await read(accesses.DONE, False)


of_bus = coprocessor_bench.tests_of(BENCH, Bus)
masters = of_bus(coprocessor_bench.masters)
interrupts = of_bus(coprocessor_bench.interrupts)
identity = of_bus(coprocessor_bench.identity)
byte_strobes = of_bus(coprocessor_bench.byte_strobes)
unready_master = of_bus(coprocessor_bench.unready_master)
full_rate = of_bus(coprocessor_bench.full_rate)
every_access = of_bus(coprocessor_bench.every_access)
bad_addresses = of_bus(coprocessor_bench.bad_addresses)

test_step_engine = BENCH.pytest()


@pytest.mark.parametrize("contexts", range(1, MAX_CONTEXTS + 1))
def test_the_defaults_of_the_rtl_are_those_of_the_model(contexts):
    """Those that follow from CONTEXTS are written ``condition ? value : value``, or plainly."""
    text = (ROOT / "rtl" / "top" / "step_engine.sv").read_text()
    defaults = dict(re.findall(r"parameter int (\w+) = (.+),", text)) | {"CONTEXTS": str(contexts)}
    for name, value in rtl_parameters(Machine(contexts=contexts)).items():
        python = re.sub(r"(.+) \? (.+) : (.+)", r"(\2) if (\1) else (\3)", defaults[name])
        assert eval(python, {"CONTEXTS": contexts}) == value, name
