"""The tests that every co-processor must pass: results, status, errors, stalls, strobes, resets.

A bench says in a subclass of :class:`Bus` what its co-processor does, and names the tests::

    of_bus = coprocessor_bench.tests_of(BENCH, MyBus)
    identity = of_bus(coprocessor_bench.identity)
"""

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge

from pymodel.arith.fp import Format
from pymodel.hardware import clock
from pymodel.hardware.axil import ACCESS_CYCLES, limit_of, okay
from pymodel.hardware.batch import REFUSED
from pymodel.hardware.bench import Bench
from pymodel.hardware.coprocessor import RUN_CYCLES, Coprocessor, parameter_word
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.waiting import AnswerError, Deadline, within
from pymodel.machine.registers import READ_WRITE, WORD_BYTES, Home, Map
from tb.common.coverage import bus as coverage

ALL_BITS = 0xFFFF_FFFF
BUS_CYCLES = 30  # a run longer than this meets the accesses that follow it on the bus
RESETS = 48  # about so many, spread over the cycles of a run
OPTIONS_IN = 8  # two of so many runs have the options of CTRL, the others none
COMMAND_CYCLES = 3  # from a write, over the wait for it, to the next one
CTRL_READS = 3  # in even and in odd cycles, however many a read takes
CONSTANTS = ("ID", "VERSION", "CONFIG")  # registers
#: Lists of a bench's :class:`Bus`, by where a register's value lives; one of them names it.
JUDGED = {
    Home.HELD: ("OPERANDS",),
    Home.GIVEN: ("RESULTS", "PARAMETERS"),
    Home.THROUGH: ("ACTIVE",),
}
UNREADY_ROUNDS, UNREADY_ACCESSES = 6, 4
RATE_ACCESSES = 12  # one behind the other
BVALID = 5  # of handshakes_o
IRQ_CYCLES = 4  # that irq_o is watched for behind a write
UNREADY_CYCLES = 8  # that responses wait in: more than the set-up of the next accesses
FEW_NUMBERS = 64  # of segments or functions: all are stored
ICARUS_TAKES = 8  # one in so many numbers of one bit


class Bus:
    """A co-processor, the model's expectation of it, and the scoreboard.

    Attributes that a subclass gives: ``IDENTITY`` (four bytes), names of registers, and the methods
    that raise NotImplementedError here. Every register of the map but those that all tops have is
    named once: in ``OPERANDS`` what software writes; in ``RESULTS`` what the hardware gives and the
    bench compares with its model; in ``PARAMETERS`` what shows parameters of the instance
    (:func:`identity` compares it); in ``ACTIVE`` what acts, which tests of its own judge.
    """

    IDENTITY = b"????"
    OPERANDS = ()
    RESULTS = ()
    PARAMETERS = ()
    ACTIVE = ()
    setup = 0  # cycles that address and data stand for before an access
    started = 0  # cycles from the command of a run to the first that CYCLES counts

    def __init__(self, bench: Bench, dut: Any, board: Scoreboard) -> None:
        self.bench, self.dut, self.board = bench, dut, board
        self.params = bench.params
        self.fmt = Format(self.params["EXP_W"], self.params["MAN_W"])
        self.operand_w = self.fmt.width  # bits of an operand register that hold
        self.registers = self.driver(dut)
        self.registers.fill(board.rng)

    def driver(self, dut: Any) -> Coprocessor:
        """What drives the registers of this DUT."""
        raise NotImplementedError

    def random_operands(self) -> Any:
        """Operands of one round."""
        raise NotImplementedError

    def singular_operands(self) -> tuple[Any, Any]:
        """Operands that the model calls singular, and operands that it does not."""
        raise NotImplementedError

    async def clear(self) -> None:
        """Clear all of STATUS, and what the model has of it."""
        await self.registers.write("STATUS", ALL_BITS)

    async def spoil(self) -> None:
        """A run that sets the fault bit of STATUS."""
        singular, _ = self.singular_operands()
        await self.round(singular, "singular")

    async def refused_run(self) -> None:
        """A run that is refused: while another one is on, straight behind its command."""
        run = self.registers.mask("CTRL", "RUN")
        await self.registers.written(
            "CTRL", [self.registers.begin_write("CTRL", run) for _ in range(8)]
        )
        await self.registers.wait_until_idle(self.latency() + BUS_CYCLES)

    async def ready(self) -> None:
        """Prepare a run that needs nothing but its command."""

    async def reset_by_pin(self) -> None:
        """Reset by the pin for two cycles, and what the model has of STATUS."""
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        await clock.release_reset(self.dut)
        await self.clear()

    async def begin(self) -> None:
        """Have a run that the next two accesses find busy: a new one."""
        await self.registers.wait_until_idle(self.latency() + BUS_CYCLES)
        await self.command("RUN")

    async def round(self, operands: Any, context: str) -> tuple[int, bool]:
        """All that the co-processor does, once, checked; (flags, singular) of the model."""
        raise NotImplementedError

    def latency(self) -> int:
        """CYCLES of a run with no option of CTRL set."""
        raise NotImplementedError

    def last_latency(self) -> int:
        """CYCLES of the last run of a round."""
        return self.latency()

    # --- checks ---------------------------------------------------------------------------------

    async def compare(
        self, name: str, want: int | list[int], fmt: Format | None = None, context: str = ""
    ) -> None:
        """Read a register and check all its words."""
        self._same(name, await self.registers.read(name), want, fmt, context)

    def _same(
        self,
        name: str,
        got: int | list[int],
        want: int | list[int],
        fmt: Format | None,
        context: str,
    ) -> None:
        got, want = ([x] if isinstance(x, int) else list(x) for x in (got, want))
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            self.board.compare(f"{name}[{i}]", g, w, fmt, context=context)

    def check(self, name: str, got: Iterable[int], want: Iterable, context: str) -> None:
        """Check words against the model's scalars."""
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            self.board.compare(f"{name}[{i}]", g, w.bits, self.fmt, context=context)

    async def status(self, flags: int = 0, context: str = "", **fields: int) -> None:
        """Check STATUS: the flags, and the fields given (all others 0); and irq_o."""
        want = flags << self.registers.map["STATUS"].field("FLAGS").low
        for name, value in fields.items():
            want |= self.registers.mask("STATUS", name) if value else 0
        await self.compare("STATUS", want, context=context)
        enabled = await self.registers.read("IRQ_ENABLE")
        self.interrupt(want & enabled != 0, f"{context}, IRQ_ENABLE {enabled:#x}")

    def interrupt(self, want: bool, context: str) -> None:
        """Check irq_o as it is now."""
        self.board.compare("irq_o", int(self.dut.irq_o.value), int(want), context=context)

    async def read_all(self, names: Iterable[str]) -> dict[str, int | list[int]]:
        """What registers read as, by name."""
        batch, names = self.registers.batch(), list(names)
        for name in names:
            batch.read(name)
        found = dict(zip(names, await batch.run(), strict=True))
        return {name: words if len(words) > 1 else words[0] for name, words in found.items()}

    async def compare_all(self, words: dict[str, int | list[int]], context: str) -> None:
        """Check that registers still read as :meth:`read_all` found them."""
        for name, got in (await self.read_all(words)).items():
            self._same(name, got, words[name], None, context)

    async def check_held(self, names: Iterable[str], context: str) -> None:
        """Registers do not change when nothing runs, in an odd or even number of cycles."""
        held = await self.read_all(names)
        for pause in range(1, 3):
            await ClockCycles(self.dut.clk_i, pause)
            await self.compare_all(held, context)

    async def check_number(self, name: str, end: int) -> None:
        """A register that takes numbers below ``end`` reads as the last one, and that stands.

        Bytes of a number are checked likewise. Of many numbers those of one bit, and the last one.
        """
        bits = [1 << bit for bit in range((end - 1).bit_length())]
        numbers = range(end) if end <= FEW_NUMBERS else [0, *bits, end - 1]
        for number in (*numbers, 0):
            await self.registers.write(name, number)
            await self.compare(name, number)
            await self.check_held([name], f"after {number}")
        await self.check_bytes(name, numbers, lambda number: number < end)

    async def check_bytes(
        self, name: str, words: Sequence[int], fits: Callable[[int], bool]
    ) -> None:
        """A write of some bytes of a register keeps the others; it is refused unless that fits."""
        rng, offset = self.board.rng, self.registers.map[name].offset
        held = await self.registers.read(name)
        for low, high in itertools.combinations(range(WORD_BYTES + 1), 2):
            word = words[int(rng.integers(len(words)))]
            data = word.to_bytes(WORD_BYTES, "little")[low:high]
            mask = (1 << 8 * high) - (1 << 8 * low)
            new = held & ~mask | word & mask
            okay = await self.registers.write_bytes(offset + low, data)
            context = f"bytes {low} to {high - 1} of {word:#x}, onto {held:#x}"
            what = f"write of {name} is OKAY"
            self.board.compare(what, int(okay), int(fits(new)), context=context)
            held = new if okay else held
            await self.compare(name, held, context=context)

    async def write_no_byte(self, name: str) -> None:
        """A write that strobes no byte is taken; what it must not do is for the caller to see."""
        okay = await self.registers.write_no_byte(name)
        self.board.compare(f"write of no byte of {name} is OKAY", int(okay), 1)

    def too_large(self, end: int) -> list[int]:
        """Numbers of one bit that are ``end`` or larger; under Icarus some of them, by chance."""
        numbers = [1 << bit for bit in range((end - 1).bit_length(), 8 * WORD_BYTES)]
        if self.bench.simulator == "verilator":
            return numbers
        return numbers[int(self.board.rng.integers(ICARUS_TAKES)) :: ICARUS_TAKES]

    async def check_reset_when_done(self) -> None:
        """RESET alone, after a run: nothing is done."""
        done = self.registers.mask("STATUS", "DONE")
        self.board.compare("DONE", await self.registers.read("STATUS") & done, done)
        await self.command("RESET")
        await self.status(IDLE=1, context="RESET when done")
        await self.compare("CTRL", 0, context="RESET when done")

    def options(self) -> list[str]:
        """Fields of CTRL that are kept."""
        commands = self.registers.mask("CTRL", "RUN", "RESET")
        fields = self.registers.map["CTRL"].fields
        return [field.name for field in fields if not field.mask & commands]

    async def command(self, *fields: str) -> None:
        """Write CTRL with these fields set."""
        await self.registers.write("CTRL", self.registers.mask("CTRL", *fields))


BusTest = Callable[[Bus], Awaitable[None]]


async def start(bench: Bench, bus_type: type[Bus], dut: Any, board: Scoreboard) -> Bus:
    """Clock, reset, and the bus, an instance of ``bus_type``; some interrupts are enabled."""
    await clock.hold_reset(dut)
    bus = bus_type(bench, dut, board)
    await clock.release_reset(dut)
    enabled = int(board.rng.spawn(1)[0].integers(ALL_BITS))  # the tests' numbers stay
    await bus.registers.write("IRQ_ENABLE", enabled)
    return bus


async def back_to_back_runs(bus: Bus) -> None:
    """Runs without a pause or a clear; results, CYCLES, and flags that accumulate until cleared."""
    await bus.status(IDLE=1)
    flags, singular = 0, False
    runs = bus.bench.settings["runs"][bus.bench.simulator]
    for run in bus.bench.items(bus.board, range(runs)):
        new_flags, new_singular = await bus.round(bus.random_operands(), f"run {run}")
        flags, singular = flags | new_flags, singular or new_singular
        await bus.status(flags, DONE=1, SINGULAR=singular, context=f"run {run}")
        await bus.compare("CYCLES", bus.last_latency())
        if run % 8 == 7:  # clear one flag, then everything
            inexact = 1 << bus.registers.map["STATUS"].field("FLAGS").low
            await bus.registers.write("STATUS", inexact)
            await bus.status(flags & ~1, DONE=1, SINGULAR=singular, context="inexact cleared")
            await bus.registers.write("STATUS", ALL_BITS)
            await bus.status(IDLE=1, context="all cleared")
            flags, singular = 0, False


async def stalled_runs(bus: Bus) -> None:
    """Runs with every channel held back at random."""
    bus.registers.stall(bus.board.rng)
    flags, singular = 0, False
    runs = bus.bench.settings["runs"][bus.bench.simulator] // 4
    for run in bus.bench.items(bus.board, range(runs)):
        new_flags, new_singular = await bus.round(bus.random_operands(), f"run {run}")
        flags, singular = flags | new_flags, singular or new_singular
    await bus.status(flags, DONE=1, SINGULAR=singular)


async def interrupts(bus: Bus) -> None:
    """irq_o is high while STATUS has a bit that IRQ_ENABLE has: each bit, all masks, each cycle.

    The pin masks all; a reset by CTRL keeps what is enabled.
    """
    registers, board, map_ = bus.registers, bus.board, bus.registers.map
    names = [field.name for field in map_["IRQ_ENABLE"].fields]
    every, offset = registers.mask("IRQ_ENABLE", *names), map_["IRQ_ENABLE"].offset
    board.compare("IRQ_ENABLE has bits of STATUS", every, registers.mask("STATUS", *names))
    await bus.round(bus.random_operands(), "first")
    await bus.reset_by_pin()
    await bus.compare("IRQ_ENABLE", 0, context="after the pin")
    await registers.write("IRQ_ENABLE", ALL_BITS)
    await bus.compare("IRQ_ENABLE", every, context="all bits were written")
    await bus.write_no_byte("IRQ_ENABLE")
    await registers.write_bytes(offset + 1, bytes(WORD_BYTES - 1))
    await bus.compare("IRQ_ENABLE", every, context="the other bytes were written")
    await registers.write_bytes(offset, bytes(1))
    await bus.compare("IRQ_ENABLE", 0, context="its byte was written")
    bits = [registers.mask("STATUS", name) for name in names]
    masks = [sum(bit for i, bit in enumerate(bits) if k >> i & 1) for k in range(1 << len(bits))]
    for name, bit in zip(names, bits, strict=True):
        await bus.round(bus.random_operands(), f"before {name}")
        await {"DONE": _nothing, "ERROR": bus.refused_run}.get(name, bus.spoil)()
        await registers.write("STATUS", every & ~bit)  # FLAGS stay, as the model has them
        alone = await registers.read("STATUS") & every
        board.compare(f"STATUS.{name} alone", alone, bit)
        for mask in masks:
            await registers.write("IRQ_ENABLE", mask)
            await bus.compare("IRQ_ENABLE", mask)
            bus.interrupt(mask & bit != 0, f"STATUS.{name}, IRQ_ENABLE {mask:#x}")
        await _moves(bus, "masked", "IRQ_ENABLE", every & ~bit, falls=True)
        await _moves(bus, "enabled", "IRQ_ENABLE", bit, falls=False)
        await _moves(bus, f"STATUS.{name} cleared", "STATUS", bit, falls=True)
    done = registers.mask("IRQ_ENABLE", "DONE")
    await registers.write("IRQ_ENABLE", done)
    await bus.clear()
    await _rises_with_done(bus)
    await bus.command("RESET")
    await bus.status(IDLE=1, context="RESET")
    await bus.compare("IRQ_ENABLE", done, context="RESET")
    await bus.clear()
    await bus.round(bus.random_operands(), "before the pin")
    bus.interrupt(True, "before the pin")
    await bus.reset_by_pin()
    await bus.status(IDLE=1, context="after the pin")
    await bus.compare("IRQ_ENABLE", 0, context="after the pin")


async def _nothing() -> None:
    """After a run STATUS.DONE is set."""


async def _levels(dut: Any, levels: list[tuple[int, int]]) -> None:
    """Keep bvalid and irq_o, cycle by cycle."""
    while True:
        await FallingEdge(dut.clk_i)
        levels.append((int(dut.handshakes_o.value) >> BVALID & 1, int(dut.irq_o.value)))


async def _moves(bus: Bus, context: str, name: str, word: int, falls: bool) -> None:
    """A write moves irq_o in the cycle behind the first of its response: not before, not later."""
    levels: list[tuple[int, int]] = []
    watch = cocotb.start_soon(_levels(bus.dut, levels))
    await bus.registers.write(name, word)
    await ClockCycles(bus.dut.clk_i, IRQ_CYCLES)
    watch.cancel()
    answered = [bvalid for bvalid, _ in levels].index(1)
    want = [int((cycle > answered) != falls) for cycle in range(len(levels))]
    bus.board.compare_all("irq_o in cycle", [irq for _, irq in levels], want, context=context)


async def _rises_with_done(bus: Bus) -> None:
    """At the end of a run irq_o rises a cycle behind STATUS.DONE."""
    levels: list[tuple[int, int]] = []
    await bus.ready()
    watch = cocotb.start_soon(_levels(bus.dut, levels))
    await bus.command("RUN")
    await bus.registers.wait_until_idle(RUN_CYCLES)
    await ClockCycles(bus.dut.clk_i, IRQ_CYCLES)
    watch.cancel()
    run = await bus.registers.read("CYCLES")
    rises = [bvalid for bvalid, _ in levels].index(1) + bus.started + run + 1
    want = [int(cycle >= rises) for cycle in range(len(levels))]
    bus.board.compare_all("irq_o in cycle", [irq for _, irq in levels], want, context="a run")


async def masters(bus: Bus) -> None:
    """Batches drive the bus as cocotbext-axi's master does, cycle for cycle; words are the same."""
    registers, board, rng = bus.registers, bus.board, bus.board.rng
    await bus.round(bus.random_operands(), "before")
    for number in range(8):
        names = [str(name) for name in rng.choice(bus.OPERANDS, size=3)]
        operands = {
            name: [int(x) for x in rng.integers(1 << 32, size=registers.map[name].words)]
            for name in names
        }
        count, seen = int(rng.integers(1, 9)), []
        for registers.batches in (False, True):
            batch = registers.batch()
            for name, words in operands.items():
                batch.write(name, *words).read(name)
            batch.poll("STATUS", "BUSY", RUN_CYCLES).read_each("CYCLES", count)
            levels: list[int] = []
            watch = cocotb.start_soon(_handshakes(bus.dut, levels))
            words = await batch.run(timed=True)
            watch.cancel()
            seen.append((words, levels, [end - batch.ends[0] for end in batch.ends]))
        context = f"batch {number}: {', '.join(operands)}"
        for got, want in zip(seen[1][0], seen[0][0], strict=True):
            board.compare_all("words", got, want, context=context)
        board.compare_all("valid and ready in cycle", seen[1][1], seen[0][1], context=context)
        board.compare_all("ends of groups", seen[1][2], seen[0][2], context=context)


async def _handshakes(dut: Any, levels: list[int]) -> None:
    """Keep valid and ready of all channels, cycle by cycle."""
    while True:
        await FallingEdge(dut.clk_i)
        levels.append(int(dut.handshakes_o.value))


def not_judged(map_: Map, bus_type: type[Bus]) -> list[str]:
    """What is wrong with the names of registers that a kind of bus gives; each in a few words."""
    named: dict[str, list[str]] = {}
    for list_ in itertools.chain(*JUDGED.values()):
        for name in getattr(bus_type, list_):
            named.setdefault(name, []).append(list_)
    wrong = []
    for register in map_.registers:
        lists = named.pop(register.name, [])
        if register.home in JUDGED and (len(lists) != 1 or lists[0] not in JUDGED[register.home]):
            where = " or ".join(JUDGED[register.home])
            wrong.append(
                f"{register.name}: must be in {where}, is in {' and '.join(lists) or 'none'}"
            )
    return wrong + [f"{name}: no register of {map_.name}" for name in named]


async def identity(bus: Bus) -> None:
    """What shows parameters says what this instance is; no command of CTRL stays.

    Every register of the map is one that the bench judges.
    """
    wrong = not_judged(bus.registers.map, type(bus))
    assert not wrong, f"no list of {type(bus).__module__}.Bus judges {'; '.join(wrong)}"
    await bus.compare("ID", int.from_bytes(bus.IDENTITY, "big"))
    await bus.compare("VERSION", bus.registers.map.version_word)
    for name in ("CONFIG", *bus.PARAMETERS):
        register, word = bus.registers.map[name], await bus.registers.read(name)
        want = parameter_word(register, bus.params)
        for field in register.fields:
            bus.board.compare(f"{name}.{field.name}", field.get(word), field.get(want))
        bus.board.compare(name, word, want)
    for cycles in range(1, CTRL_READS + 1):
        await bus.compare("CTRL", 0)
        await ClockCycles(bus.dut.clk_i, cycles)


async def every_access(bus: Bus) -> None:
    """Read, write and half-write every register, and no register, in every state.

    The answer is what the map says; a register is written with what it holds, and where the
    hardware judges the value with one that cannot be, too.
    """
    registers = bus.registers
    point = coverage.point(registers.map)
    for state in coverage.STATES:
        if state == coverage.BUSY and bus.latency() < BUS_CYCLES:
            continue  # the bus is slower than the run
        await bus.round(bus.random_operands(), f"before {state}")
        if state == coverage.IDLE:
            await bus.clear()
        for name in point.parts["register"]:
            for access in coverage.ACCESSES:
                for response in coverage.responses(registers.map, name, access, state):
                    if access == "read" and name in coverage.EMPTY:
                        continue  # its bench has a test of its own
                    if state == coverage.BUSY:
                        await bus.begin()
                    bin_ = (name, access, response, state)
                    okay = await _access(bus, name, access, response, state)
                    want = response == coverage.OKAY
                    bus.board.compare(point.text(bin_), int(okay), int(want))
                    word = await registers.read("STATUS")
                    field = state.upper()
                    shown = registers.field("STATUS", field, word)
                    bus.board.compare(f"STATUS.{field}", shown, 1, context=point.text(bin_))
                    bus.board.met(point, bin_)
        if state == coverage.BUSY:
            await bus.command("RESET")
            await bus.clear()


async def _access(bus: Bus, name: str, access: str, response: str, state: str) -> bool:
    """One access; whether it was OKAY."""
    registers = bus.registers
    if name == coverage.NOTHING:
        offset, held = (1 << registers.map.addr_w) - WORD_BYTES, bytes(WORD_BYTES)
    else:
        offset = registers.map[name].offset
        held = bytes(WORD_BYTES)
        if state != coverage.BUSY and name not in (*coverage.EMPTY, "CTRL", "STATUS"):
            held, _ = await registers.read_bytes(offset, WORD_BYTES)
    if access == "read":
        _, okay = await registers.read_bytes(offset, WORD_BYTES)
        return okay
    refused = response == coverage.SLVERR and state != coverage.BUSY
    data = b"\xff" * WORD_BYTES if refused else held
    if access == "write":
        return await registers.write_bytes(offset, data)
    last = WORD_BYTES - 1
    return await registers.write_bytes(offset + last, data[last:])


async def byte_strobes(bus: Bus) -> None:
    """Writes of one to four bytes at every offset change those bytes of operands, and no other."""
    rng = bus.board.rng
    await _commands(bus)
    await _half_words(bus)
    await _other_words(bus)
    bus.registers.stall(rng, 0.2)
    mask = (1 << bus.operand_w) - 1
    held = {}
    for name in bus.OPERANDS:
        register = bus.registers.map[name]
        words = [int(x) for x in rng.integers(1 << 32, size=register.words)]
        await bus.registers.write(name, *words)
        data = bytearray(b"".join(word.to_bytes(WORD_BYTES, "little") for word in words))
        for _ in range(12):
            offset = int(rng.integers(len(data)))
            length = int(rng.integers(1, min(WORD_BYTES + 1, len(data) - offset + 1)))
            patch = rng.bytes(length)
            await bus.registers.write_bytes(register.offset + offset, patch)
            data[offset : offset + length] = patch
        want = [
            int.from_bytes(data[i : i + WORD_BYTES], "little") & mask
            for i in range(0, len(data), WORD_BYTES)
        ]
        await bus.compare(name, want)
        held[name] = want
    await bus.compare_all(held, "after writes of all operands")


async def _commands(bus: Bus) -> None:
    """CTRL and STATUS heed the bytes that are strobed, and no other."""
    registers = bus.registers
    await bus.round(bus.random_operands(), "before commands")
    held = await bus.read_all(("CTRL", "STATUS", "CYCLES"))
    for name, first in (("CTRL", 1), ("STATUS", 0)):  # the first byte of CTRL has options
        for low, high in itertools.combinations(range(first, WORD_BYTES + 1), 2):
            if (low, high) != (0, WORD_BYTES):
                await registers.write_bytes(registers.map[name].offset + low, bytes(high - low))
                context = f"zeros in bytes {low} to {high - 1} of {name}"
                await bus.compare_all(held, context)
    flags = registers.mask("STATUS", "FLAGS")
    low = registers.map["STATUS"].field("FLAGS").low // 8
    await registers.write_bytes(registers.map["STATUS"].offset + low, b"\xff")
    await bus.compare("STATUS", held["STATUS"] & ~flags, context="flags cleared by one byte")
    reset = bytes([registers.mask("CTRL", "RESET")])
    await registers.write_bytes(registers.map["CTRL"].offset, reset)
    await bus.status(IDLE=1, context="RESET by one byte")


async def _half_words(bus: Bus) -> None:
    """Every bit of every operand is written and kept, as 0 and as 1, by writes of half a word.

    In ascending order and in descending order: a write to a second word shows in one of them. Last,
    zeros beside a half that is all 0 or all 1: what this half adds to them shows.
    """
    registers, mask, half = bus.registers, (1 << bus.operand_w) - 1, WORD_BYTES // 2
    for name in bus.OPERANDS:
        first = registers.map[name].offset
        words = [int(x) for x in bus.board.rng.integers(1 << 32, size=registers.map[name].words)]
        for offset in (0, half):
            written = ((1 << 8 * half) - 1) << 8 * offset
            for order, held in (
                (1, words),
                (-1, [word ^ ALL_BITS for word in words]),
                (1, [written] * len(words)),
                (1, [ALL_BITS] * len(words)),
            ):
                await registers.write(name, *held)
                want = [word ^ written for word in held]
                pending = []
                for i, word in list(enumerate(want))[::order]:
                    data = word.to_bytes(WORD_BYTES, "little")[offset : offset + half]
                    pending.append(
                        registers.master.init_write(first + WORD_BYTES * i + offset, data)
                    )
                await registers.written(name, pending)
                context = f"bytes from {offset} on were inverted"
                await bus.compare(name, [word & mask for word in want], context=context)


async def _other_words(bus: Bus) -> None:
    """A write changes no other word of any operand: seen after odd and even numbers of writes."""
    registers, mask = bus.registers, (1 << bus.operand_w) - 1
    sizes = {name: registers.map[name].words for name in bus.OPERANDS}
    words = {
        name: [int(x) for x in bus.board.rng.integers(1 << 32, size=size)]
        for name, size in sizes.items()
    }
    first, last = bus.OPERANDS[0], bus.OPERANDS[-1]
    for flip in (0, ALL_BITS):
        held = {name: [(word ^ flip) & mask for word in some] for name, some in words.items()}
        for name, some in held.items():
            await registers.write(name, *some)
        for name, place in ((first, 0), (last, sizes[last] - 1)):
            offset = registers.map[name].offset + WORD_BYTES * place
            await registers.write_bytes(offset, held[name][place].to_bytes(WORD_BYTES, "little"))
            await bus.compare_all(held, f"after word {place} of {name} was written once more")


async def unready_master(bus: Bus) -> None:
    """Responses come with no one ready for them, and stand while the next accesses wait."""
    registers, board, rng = bus.registers, bus.board, bus.board.rng
    nothing = (1 << registers.map.addr_w) - WORD_BYTES
    words = {registers.map[name].offset: await registers.read(name) for name in CONSTANTS}
    words[nothing] = None
    operand = registers.map[bus.OPERANDS[0]].offset
    for number in range(UNREADY_ROUNDS):
        to = [int(x) for x in rng.choice([operand, nothing], size=UNREADY_ACCESSES)]
        of = [int(x) for x in rng.choice(list(words), size=UNREADY_ACCESSES)]
        waits = {
            "bvalid": registers.waiting("write", registers.name(to[0])),
            "rvalid": registers.waiting("read", registers.name(of[0])),
        }
        registers.refuse(True)
        await FallingEdge(bus.dut.clk_i)
        writes = [registers.master.init_write(address, bytes(WORD_BYTES)) for address in to]
        reads = [registers.master.init_read(address, WORD_BYTES) for address in of]
        for valid, what in waits.items():
            limit = Deadline(ACCESS_CYCLES, what)
            while not int(getattr(bus.dut, f"s_axil_{valid}").value):
                limit.check()
                await FallingEdge(bus.dut.clk_i)
        await ClockCycles(bus.dut.clk_i, UNREADY_CYCLES)
        registers.refuse(False)
        for i, (address, write) in enumerate(zip(to, writes, strict=True)):
            await within(limit_of(WORD_BYTES), write.wait(), waits["bvalid"])
            response = registers.answered(registers.name(address), "write", write.data)
            what = f"write {i} of round {number}, of {registers.name(address)}, is OKAY"
            board.compare(what, int(okay(response.resp)), int(address == operand))
        for i, (address, word) in enumerate(
            zip(of, await registers.answers("several registers", reads), strict=True)
        ):
            what, want = f"read {i} of round {number}, of {registers.name(address)}", words[address]
            board.compare(f"{what}, is OKAY", int(word is not None), int(want is not None))
            if want is not None:
                board.compare(what, word, want)


async def full_rate(bus: Bus) -> None:
    """A master that never waits gets one write, and one read, every 1 + set-up cycles."""
    registers, offset = bus.registers, bus.registers.map[bus.OPERANDS[0]].offset
    for access, channel in (("write", "b"), ("read", "r")):
        ends: list[int] = []
        watch = cocotb.start_soon(_ends(bus.dut, channel, ends))
        if access == "write":
            word = bytes(WORD_BYTES)
            pending = [registers.master.init_write(offset, word) for _ in range(RATE_ACCESSES)]
        else:
            pending = [registers.master.init_read(offset, WORD_BYTES) for _ in range(RATE_ACCESSES)]
        for event in pending:
            what = registers.waiting(access, bus.OPERANDS[0])
            await within(limit_of(WORD_BYTES * RATE_ACCESSES), event.wait(), what)
            if not okay(registers.answered(bus.OPERANDS[0], access, event.data).resp):
                raise AnswerError(access, bus.OPERANDS[0], REFUSED)
        watch.cancel()
        took = [end - before for before, end in itertools.pairwise(ends)]
        want = [1 + bus.setup] * (RATE_ACCESSES - 1)
        bus.board.compare_all(f"cycles between {access}s", took, want, context=bus.OPERANDS[0])


async def _ends(dut: Any, channel: str, ends: list[int]) -> None:
    """Keep in which cycles a response is taken."""
    valid, ready = (getattr(dut, f"s_axil_{channel}{name}") for name in ("valid", "ready"))
    for cycle in itertools.count():
        await FallingEdge(dut.clk_i)
        if int(valid.value) and int(ready.value):
            ends.append(cycle)


async def bad_addresses(bus: Bus) -> None:
    """Every word of the address space answers as the map says; errors change nothing.

    The channels are held back at random: an error stays one for as long as it is not taken.
    """
    await bus.round(bus.random_operands(), "first")
    registers, board = bus.registers, bus.board
    mapped = {
        register.offset + WORD_BYTES * word: register
        for register in registers.map.registers
        for word in range(register.words)
    }
    before = await bus.read_all((*bus.OPERANDS, *bus.RESULTS, "STATUS"))
    registers.stall(board.rng, 0.2)
    for address in range(0, 1 << registers.map.addr_w, WORD_BYTES):
        register = mapped.get(address)
        _, okay = await registers.read_bytes(address, WORD_BYTES)
        readable = register is not None and register.name not in coverage.EMPTY
        board.compare(f"read of {address:#x} is OKAY", int(okay), int(readable))
        if register is None or register.access != READ_WRITE:
            okay = await registers.write_bytes(address, b"\xff\xff\xff\xff")
            board.compare(f"write of {address:#x} is OKAY", int(okay), 0)
    await bus.compare_all(before, "after all erroneous accesses")


async def access_while_busy(bus: Bus) -> None:
    """A run while busy is refused and sets error; operands are locked; the run is not disturbed."""
    registers, board = bus.registers, bus.board
    singular, _ = bus.singular_operands()
    await bus.round(singular, "for flags that no other run raises")
    await registers.write("STATUS", registers.mask("STATUS", "SINGULAR"))
    await bus.round(bus.random_operands(), "before")
    before = await bus.read_all((*bus.OPERANDS, *bus.RESULTS))
    status, error = await registers.read("STATUS"), registers.mask("STATUS", "ERROR")
    if bus.latency() < BUS_CYCLES:
        # the bus is slower than the run: writes straight after one another, so that one meets it
        run = registers.mask("CTRL", "RUN")
        await registers.written("CTRL", [registers.begin_write("CTRL", run) for _ in range(8)])
        word = await registers.read("STATUS")
    else:
        await bus.command("RUN")
        await bus.command("RUN", *bus.options())
        await bus.compare("CTRL", 0, context="after a refused run")
        name = bus.OPERANDS[0]
        okay = await registers.write_bytes(registers.map[name].offset, bytes(WORD_BYTES))
        board.compare(f"write of {name} while busy is OKAY", int(okay), 0)
        word = await registers.read("STATUS")
        board.compare("BUSY", registers.field("STATUS", "BUSY", word), 1)
        await registers.wait_until_idle(bus.latency() + BUS_CYCLES)
        await bus.compare("STATUS", status | error, context="after a refused run")
        await _locked(bus, name)
    board.compare("ERROR", registers.field("STATUS", "ERROR", word), 1)
    await registers.wait_until_idle(bus.latency() + BUS_CYCLES)
    await bus.compare_all(before, "after refused accesses")
    await bus.compare("CTRL", 0)
    await bus.compare("CYCLES", bus.latency())
    await bus.compare("STATUS", status | error, context="after refused accesses")
    await registers.write("STATUS", error)
    await bus.compare("STATUS", status, context="ERROR cleared")


async def _locked(bus: Bus, name: str) -> None:
    """A write of an operand while busy sets error, with nothing else that does."""
    registers = bus.registers
    await registers.write("STATUS", registers.mask("STATUS", "ERROR"))
    await bus.command("RUN")
    await registers.write_bytes(registers.map[name].offset, bytes(WORD_BYTES))
    word = await registers.read("STATUS")
    bus.board.compare("BUSY", registers.field("STATUS", "BUSY", word), 1)
    error = registers.field("STATUS", "ERROR", word)
    bus.board.compare("ERROR", error, 1, context=f"after a write of {name}")


async def resets(bus: Bus) -> None:
    """Reset by CTRL and by the pin, in the cycles of a run: idle, clean, the next run right."""
    operands = bus.random_operands()
    span = bus.latency() + 8
    for i, when in enumerate(range(0, span, -(-span // RESETS))):
        context = f"reset {when} cycles after a run"
        await bus.round(operands, f"before reset {when}")
        held = await bus.read_all(bus.OPERANDS)
        await bus.command("RUN", *(bus.options() if i % OPTIONS_IN < 2 else ()))
        await ClockCycles(bus.dut.clk_i, when)
        if i % 2:
            await bus.command("RESET", "RUN", *bus.options())  # reset wins
        else:
            held = {name: [0] * len(words) for name, words in held.items()}
            await _reset_by_pin(bus.dut)
        await bus.compare_all(held, context)
        await bus.status(IDLE=1, context=context)
        for name in ("CTRL", "CYCLES", *bus.RESULTS):
            words = bus.registers.map[name].words
            await bus.compare(name, [0] * words if words > 1 else 0, context=context)
    await bus.round(operands, "after all resets")
    await _reset_within_accesses(bus)
    await bus.round(operands, "after a reset within accesses")
    await bus.check_reset_when_done()


async def _reset_by_pin(dut: Any) -> None:
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def _reset_within_accesses(bus: Bus) -> None:
    """The pin ends accesses whose responses are not taken yet: who waits for them is told."""
    registers, name = bus.registers, bus.OPERANDS[0]
    registers.refuse(True)
    await FallingEdge(bus.dut.clk_i)
    write, read = registers.begin_write(name, ALL_BITS), registers.begin_read(name)
    await ClockCycles(bus.dut.clk_i, UNREADY_CYCLES)
    await _reset_by_pin(bus.dut)
    registers.refuse(False)
    for access, answer in (
        ("write", registers.written(name, [write])),
        ("read", registers.answers(name, [read])),
    ):
        try:
            await answer
            told = ""
        except AnswerError as error:
            told = f"{error}"
        bus.board.compare(f"{access}s that a reset has ended", "rst_ni fell" in told, True)


async def singular_status(bus: Bus) -> None:
    """A singular matrix sets the sticky status and the float flags; a regular run keeps it set."""
    singular, regular = bus.singular_operands()
    flags, is_singular = await bus.round(singular, "singular")
    bus.board.compare("the model agrees", int(is_singular), 1)
    await bus.status(flags, DONE=1, SINGULAR=1)
    more_flags, is_singular = await bus.round(regular, "regular")
    bus.board.compare("the model agrees", int(is_singular), 0)
    await bus.status(flags | more_flags, DONE=1, SINGULAR=1)
    clear = bus.registers.mask("STATUS", "SINGULAR")
    await bus.registers.write("STATUS", clear)
    await bus.status(flags | more_flags, DONE=1)
    await bus.round(singular, "singular again")
    await _cleared_at_the_end(bus)


async def _cleared_at_the_end(bus: Bus) -> None:
    """Sticky status is set although it is cleared in the very cycle, one behind the run."""
    registers = bus.registers
    await bus.clear()
    await registers.run()
    status = await registers.read("STATUS")
    await bus.clear()
    done, idle = registers.mask("STATUS", "DONE"), registers.mask("STATUS", "IDLE")
    wants = {"before": status, "when": status ^ done ^ idle, "after": idle}
    for cycles, (when, want) in enumerate(wants.items(), bus.latency() - 1):
        if cycles < BUS_CYCLES:
            writes = [("CTRL", [registers.mask("CTRL", "RUN")]), *[("STATUS", [0])] * cycles]
        else:
            writes = []
            await bus.command("RUN")
            await ClockCycles(bus.dut.clk_i, cycles - COMMAND_CYCLES)
        await registers.batch().write_all([*writes, ("STATUS", [ALL_BITS])]).run()
        await registers.wait_until_idle(BUS_CYCLES)
        await bus.compare("STATUS", want, context=f"all cleared {when} it is set")
        await bus.clear()


def tests_of(bench: Bench, bus_type: type[Bus]) -> Callable[[BusTest], Any]:
    """What makes a cocotb test of one of the functions above, for a bench and its kind of bus."""

    def test(function: BusTest) -> Any:
        async def body(dut: Any, board: Scoreboard) -> None:
            bus = await start(bench, bus_type, dut, board)
            await function(bus)
            for access in ("write", "read"):
                bus.registers.check_passed("a register", access)

        body.__name__ = body.__qualname__ = function.__name__
        body.__doc__, body.__module__ = function.__doc__, bus_type.__module__
        return bench.test(timeout_us=20_000)(body)

    return test
