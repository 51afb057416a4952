"""A red run of the step engine, seen from inside: where it first leaves the model.

A run is judged by what the bus shows of it: trace, registers, status. Where that is wrong, the
same run is done once more in the same simulation, and compared with the model cycle by cycle, up to
the first that differs: every store of every bank, and behind every step whether the run goes on. A
green run pays nothing for it.

A waveform shows the model's stores beside the banks' own meanwhile,
:mod:`pymodel.hardware.model_signals`.
"""

import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, ReadWrite, RisingEdge
from cocotb.utils import get_sim_time

from pymodel.arith.fp import Format
from pymodel.hardware import clock
from pymodel.hardware.model_signals import ModelSignals
from pymodel.hardware.on_bus import inside
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.waiting import HangError, TraceError
from pymodel.machine.isa import OFFERED, Location, Machine, Operand, Port, Program, Word
from pymodel.machine.model import Store, Twin

#: What is read below the top level.
SIGNALS = (
    "step_sequencer.busy_q",
    "step_sequencer.stop",
    "step_sequencer.fault_i",
    "step_sequencer.steps_done_q",
    "step_sequencer.executed_valid_q",
    "step_sequencer.executed_q",
    "step_datapath.operand_q",
    "step_bank.write_i",
    "step_bank.write_address_i",
    "step_bank.write_data_i",
)
BEFORE, WORDS, AFTER, END = range(4)  # executed_q: a traced register, a program word, ..., the end
STOP, BUSY = "u_sequencer.stop", "u_sequencer.busy_q"
WATCH_S = 15.0  # wall-clock seconds for the look from inside, where nobody asked for waves
SEEN_CYCLES = 50  # that a waveform shows after a wrong store

#: Bits of a signal; None if they are not all known.
Bits = int | None


def modelled(params: Mapping[str, Any]) -> dict[str, int]:
    """What is compared, with widths, by parameters of the module step_engine."""
    machine = machine_of(params)
    ports = write_ports(map(_bank_path, range(machine.banks)), machine, machine.depth)
    return {STOP: 1, BUSY: 1} | ports


def write_ports(memories: Iterable[str], machine: Machine, depth: int) -> dict[str, int]:
    """The write ports of memories with their widths, by path.

    Parameters
    ----------
    memories
        Their paths.
    machine
        What they are part of.
    depth
        Words of a context in each.
    """
    address_w = (machine.contexts * depth - 1).bit_length()
    widths = {"write_i": 1, "write_address_i": address_w, "write_data_i": machine.fmt.width}
    return {f"{memory}.{port}": width for memory in memories for port, width in widths.items()}


def said(path: Callable[[int], str], stores: Mapping[int, Store], banks: int) -> dict[str, int]:
    """What stands on the write ports of banks where they store just this, by path.

    Address and data of a bank that stores nothing are left out: anything may stand there.
    """
    values = {f"{path(bank)}.write_i": int(bank in stores) for bank in range(banks)}
    for bank, store in stores.items():
        values[f"{path(bank)}.write_address_i"] = store.address
        values[f"{path(bank)}.write_data_i"] = store.bits
    return values


@dataclass(frozen=True)
class Wrong:
    """What is not as in the model, such as a store: arguments of :meth:`Scoreboard.mismatch`."""

    signal: str
    got: Bits
    want: int
    fmt: Format | None
    context: str
    details: Sequence[tuple[str, str]] = ()
    ns: float | None = None

    def told(self, board: Scoreboard, seen_as: str) -> str:
        """The text of the mismatch; ``seen_as`` says how the run showed it."""
        return board.mismatch(
            self.signal,
            self.got,
            self.want,
            self.fmt,
            context=self.context,
            details=self.details,
            seen_as=seen_as,
            ns=self.ns,
        )


class Sequencer(NamedTuple):
    """What stands in the sequencer in a cycle.

    Attributes
    ----------
    busy, stop, fault, steps_done
        ``busy_q``; ``stop``, by which a run ends behind a step that is spoiled; ``fault_i``;
        ``steps_done_q``.
    item
        What is executed: :data:`WORDS` and the like; None for nothing.
    """

    busy: Bits
    stop: Bits
    fault: Bits
    steps_done: Bits
    item: Bits

    @property
    def does(self) -> str:
        """What the run does."""
        if not self.busy:
            return f"the run has ended, with {self.steps_done} steps done"
        items = ("traces a register", "executes a program word", "traces a register", "ends")
        does = "fetches" if self.item is None else items[self.item]
        return f"the run goes on: it {does}, with {self.steps_done} steps done"


@dataclass(frozen=True)
class Stopped:
    """How the model stopped.

    Attributes
    ----------
    where
        Step, cycle and program word of what stopped it.
    why
        What was stored, and where it comes from: lines as of :meth:`Scoreboard.mismatch`.
    """

    where: str
    why: Sequence[tuple[str, str]]


class Judge:
    """Compares with the model what the banks store, and where the run ends.

    Parameters
    ----------
    program
        What runs.
    registers
        What it finds in the register file.
    steps, every
        As for :meth:`pymodel.machine.model.Twin.run`.

    Attributes
    ----------
    wanted : dict
        Bank -> Store of the model in the last cycle that was judged.
    stopped : Stopped or None
        How the model stopped, if it has.
    missed : Sequencer or None
        What stood there in the cycle of a decision that was not the model's.
    """

    def __init__(
        self, program: Program, registers: Mapping[Location, int], steps: int, every: int
    ) -> None:
        self.program, self.steps, self.every = program, steps, every
        self.machine = program.machine
        self._twin = Twin(self.machine)
        self._twin.load(registers)
        self._names: defaultdict[Location, dict[str, None]] = defaultdict(dict)
        self._numbers = {id(word): number for number, word in enumerate(program.words)}
        for homes in (
            *(program.carried, program.early, program.outputs),
            *(program.inputs, program.parameters),
        ):
            for name, location in homes.items():
                self._names[location][name] = None
        self._step = -1 if program.opening is None else -2  # the prologue counts as step -1
        self._tick, self._healthy = 0, True  # tick: cycle of the step
        self._words: list[Word] = []
        self.wanted: Mapping[int, Store] = {}
        self.stopped: Stopped | None = None
        self._behind = False  # the last cycle was a step's last one
        self._step_behind = ""  # the last step that ended
        self.missed: Sequencer | None = None
        self._wanted: dict[int, dict[int, Store]] = {}
        self._operands: list[Mapping[int, Bits]] = []
        counts = [len(lane.sides) for lane in self.machine.lanes]
        self._first = list(accumulate(counts, initial=0))  # operand register of each lane

    @property
    def issued(self) -> list[int]:
        """The operand registers that the last word to reach them has filled."""
        tick = self._tick - self.machine.operand_latency
        lanes = self._words[tick // self.machine.contexts].issues if tick >= 0 else ()
        return [i for lane in lanes for i in range(self._first[lane], self._first[lane + 1])]

    @property
    def ends(self) -> dict[str, int]:
        """What the model says of the end of the run in the cycle that :meth:`sequencer` judges."""
        return {STOP: int((self._behind or self.missed is not None) and self.stopped is not None)}

    def sequencer(self, seen: Sequencer) -> Wrong | None:
        """Judge whether the run goes on; before :meth:`word` or :meth:`no_word` of the cycle.

        A wrong decision behind a step is told a cycle later, with what came of it.
        """
        if self.missed is not None:
            return self._decided(self.missed, seen)
        behind, self._behind = self._behind, False
        if behind:
            if seen.stop != (self.stopped is not None):
                self.missed = seen
        elif self.stopped and seen.busy:
            where = f"the model had stopped in {self.stopped.where}"
            return Wrong(BUSY, seen.busy, 0, None, where, self._told(("RTL", seen.does)))
        elif not self.stopped and not seen.busy and self._under_way:
            where = f"in {self._where}, cycle {self._tick // self.machine.contexts}"
            where += f" of {len(self._words)}, the model goes on"
            return Wrong(BUSY, seen.busy, 1, None, where, [("RTL", seen.does)])
        return None

    @property
    def _under_way(self) -> bool:
        """Whether the model is inside a step, or between two."""
        inside = 0 < self._tick < self.machine.contexts * len(self._words)
        return inside or 0 <= self._step < self.steps - 1

    def _decided(self, then: Sequencer, now: Sequencer) -> Wrong:
        """A decision behind a step that is not the model's: what was seen then, and what next."""
        told = {0: "0: it was told of no fault", 1: "1: it was told of a fault", None: "unknown"}
        rtl = [("fault_i", told[then.fault]), ("RTL", f"a cycle later {now.does}")]
        if self.stopped:
            where = f"the model had stopped in {self.stopped.where}"
            return Wrong(STOP, then.stop, 1, None, where, self._told(*rtl))
        where = f"behind {self._step_behind} of {self.steps} steps, the model goes on"
        return Wrong(STOP, then.stop, 0, None, where, rtl)

    def _told(self, *rtl: tuple[str, str]) -> list[tuple[str, str]]:
        """Why the model stopped, and what the RTL did."""
        return [*(self.stopped.why if self.stopped else ()), *rtl]

    def word(
        self, stores: Mapping[int, tuple[Bits, Bits]], operands: Mapping[int, Bits]
    ) -> Wrong | None:
        """Judge the cycle of a program word.

        Parameters
        ----------
        stores
            Bank -> address and bits that it stores.
        operands
            What stands in the registers :attr:`issued`.
        """
        if self._tick == self.machine.contexts * len(self._words):
            self._next_step()
            if self._step >= self.steps and not self.stopped:
                where = f"the model had ended: {self.steps} steps are done"
                return Wrong(BUSY, 1, 0, None, where, [("RTL", "it executes a program word")])
        self._operands.append(operands)
        self.wanted = wanted = self._wanted[self._tick]
        found = (
            self._bank(bank, stores.get(bank), wanted.get(bank))
            for bank in sorted(stores.keys() | wanted.keys())
        )
        wrong = next(filter(None, found), None)
        self._tick += 1
        if self._tick == self.machine.contexts * len(self._words) and not self.stopped:
            self._behind, self._step_behind = True, self._where
            if not self._healthy:
                self.stopped = self._stop()
        return wrong

    def _stop(self) -> Stopped:
        """How the model stops behind the step whose operands were seen."""
        spoils = (store for store in self._twin.stores if store.spoils)
        store = min(spoils, key=lambda store: (store.cycle, store.context, store.bank))
        fmt = self.machine.fmt
        infinite = store.bits & ~fmt.sign_mask == fmt.inf
        what = "not a number" if fmt.is_nan(store.bits) else "infinite" if infinite else "invalid"
        return Stopped(
            self._place(store.cycle, store.context),
            [("stopped", f"it ends the run behind its step, as what it stores is {what}")]
            + self._details(store),
        )

    def _place(self, cycle: int, context: int) -> str:
        """Step, cycle and program word."""
        first = self._numbers[id(self._words[0])]
        text = f"{self._where}, cycle {cycle} of {len(self._words)}, program word {first + cycle}"
        return f"{text}, context {context}" if self.machine.contexts > 1 else text

    def no_word(self, stores: Mapping[int, tuple[Bits, Bits]]) -> Wrong | None:
        """Judge a cycle without one: nothing may be stored."""
        self.wanted = {}
        where = f"after {self._where}, no program word is executed"
        return next((Wrong(_port(bank, "write_i"), 1, 0, None, where) for bank in stores), None)

    def _next_step(self) -> None:
        self._step, self._tick = self._step + 1, 0
        if self._step < 0 and self.program.opening is not None:
            self._words = self.program.opening.words
        else:
            self._words = self.program.segment(self._step, self.every)
        self._wanted, self._operands = defaultdict(dict), []
        # Behind the end of a run its next word may be there for a cycle: it stores nothing.
        if self._healthy and self._step < self.steps:
            self._healthy = self._twin.step(self._words)
            for store in self._twin.stores:
                tick = self.machine.contexts * store.cycle + store.context
                self._wanted[tick][store.bank] = store

    @property
    def _where(self) -> str:
        return f"step {self._step}" if self._step >= 0 else "the prologue"

    def _bank(self, bank: int, got: tuple[Bits, Bits] | None, want: Store | None) -> Wrong | None:
        """What is wrong with what a bank does in this cycle."""
        context = self._place(*divmod(self._tick, self.machine.contexts))
        details = self._details(want) if want else ()

        def wrong(port: str, got: Bits, want: int, fmt: Format | None = None) -> Wrong:
            return Wrong(_port(bank, port), got, want, fmt, context, details)

        if got is None or want is None:
            neither = got is None and want is None
            return None if neither else wrong("write_i", int(want is None), int(got is None))
        address, bits = got
        if address != want.address:
            return wrong("write_address_i", address, want.address)
        if bits != want.bits:
            return wrong("write_data_i", bits, want.bits, self.machine.fmt)
        return None

    def _details(self, store: Store) -> list[tuple[str, str]]:
        """The operation that gives what is to be stored, and its operands."""
        machine, fmt = self.machine, self.machine.fmt
        sine = self._words[store.cycle].sine
        index, lane = next(
            (i, lane)
            for i, lane in enumerate(machine.lanes)
            if store.bank in lane.banks
            and (store.bank != machine.shared_bank or sine == (lane.op == "sincos"))
        )
        issued = store.cycle - machine.latency[lane.op]
        location = Location(store.bank, store.address)
        names = self._names_of(location)
        lines = [
            ("stores", f"{value_text(fmt, store.bits)} in {self._register(location)}"),
            ("value", names or "a temporary"),
            ("operation", f"{lane.op} in lane {index}, issued in cycle {issued}"),
        ]
        operands = self._words[issued].issues[index]
        for i, (want, operand, side) in enumerate(
            zip(store.operands, operands, lane.sides, strict=True)
        ):
            tick = machine.contexts * issued + store.context + machine.operand_latency
            got = self._operands[tick][self._first[index] + i]
            source = self._source(issued, operand, side, store.context)
            text = f"{source} = {value_text(fmt, want)}"
            differs = "" if got == want else f", but the lane got {value_text(fmt, got)}"
            lines.append((f"operand {'ab'[i]}", text + differs))
        return lines

    def _source(self, cycle: int, operand: Operand, side: int, context: int) -> str:
        """Where an operand comes from."""
        bank, negative = operand
        word, port = self._words[cycle], Port(bank, side)
        address: Any = word.reads[port]
        fresh = address is OFFERED
        if fresh and bank not in word.writes:
            return f"what bank {bank} is offered"
        location = Location(bank, word.writes[bank] if fresh else address)
        location = self.machine.of_context(location, 0 if port in word.common else context)
        stored = [
            store.cycle
            for store in self._twin.stores
            if (store.bank, store.address) == location and store.cycle < cycle + fresh
        ]
        text = self._names_of(location) or self._register(location)
        if stored:
            text += f", stored in cycle {stored[-1]}"
        return f"-({text})" if negative else text

    def _names_of(self, location: Location) -> str:
        """What stands in a register, the same in all contexts; empty if that has no name."""
        bank, address = location
        return ", ".join(self._names.get(Location(bank, address % self.machine.depth), ()))

    def _register(self, location: Location) -> str:
        context, address = divmod(location.address, self.machine.depth)
        text = f"register {address} of bank {location.bank}"
        return f"{text}, context {context}" if self.machine.contexts > 1 else text


def _port(bank: int, name: str) -> str:
    return f"{_bank_path(bank)}.{name}"


def _bank_path(bank: int) -> str:
    return f"u_datapath.gen_bank[{bank}].u_bank"


def value_text(fmt: Format, bits: Bits) -> str:
    """Bits in hexadecimal and as a number."""
    return "unknown bits" if bits is None else f"{bits:#x} ({fmt.to_float(bits)!r})"


class _Probe:
    """What stands in the engine in a cycle."""

    def __init__(self, engine: StepEngine) -> None:
        dut, machine = inside(engine.dut), engine.machine
        self._sequencer = dut.u_sequencer
        self._banks = [dut.u_datapath.gen_bank[i].u_bank for i in range(machine.banks)]
        operands = range(sum(len(lane.sides) for lane in machine.lanes))
        self._operands = [dut.u_datapath.gen_operand[i].operand_q for i in operands]

    @property
    def sequencer(self) -> Sequencer:
        """What stands in the sequencer."""
        it = self._sequencer
        item = bits_of(it.executed_q) if bits_of(it.executed_valid_q) == 1 else None
        busy, stop, fault, done = map(bits_of, (it.busy_q, it.stop, it.fault_i, it.steps_done_q))
        return Sequencer(busy, stop, fault, done, item)

    @property
    def stores(self) -> dict[int, tuple[Bits, Bits]]:
        """Bank -> address and bits that it stores."""
        return {
            i: (bits_of(bank.write_address_i), bits_of(bank.write_data_i))
            for i, bank in enumerate(self._banks)
            if bits_of(bank.write_i) != 0
        }

    def operands(self, registers: Sequence[int]) -> dict[int, Bits]:
        """What stands in some of the operand registers."""
        return {i: bits_of(self._operands[i]) for i in registers}


def bits_of(handle: Any) -> Bits:
    """What stands on a signal."""
    try:
        return int(handle.value)
    except ValueError:
        return None


@asynccontextmanager
async def seen_from_inside(
    engine: StepEngine,
    board: Scoreboard,
    registers: Mapping[Location, int],
    program: Program,
    steps: int,
    every: int = 0,
    **arguments: Any,
) -> AsyncIterator[None]:
    """Around a run and its checks: where they fail, report what is wrong first.

    Parameters
    ----------
    engine, board
        The engine, with the program loaded; the scoreboard.
    registers
        What the run finds in the register file.
    program, steps, every, arguments
        Those of :meth:`StepEngine.run`.
    """
    try:
        yield
    except (HangError, TraceError):
        raise
    except AssertionError as error:
        if engine.dut is None or not hasattr(inside(engine.dut), "u_sequencer"):
            raise  # a board, or a netlist in the engine's place
        judge = Judge(program, registers, steps, every)
        await engine.write("CTRL", engine.mask("CTRL", "RESET"))
        await engine.write_registers(registers)
        run = cocotb.start_soon(_end_of(engine.run(program, steps, every, **arguments)))
        wrong, part = await _first_wrong(engine, judge, run, board.model)
        first, *rest = str(error).splitlines()
        if wrong is None:
            text = (
                f"done once more, {part} stores nothing wrong and ends right: look at trace and bus"
            )
            rest = rest or [f"  rerun     {board.rerun}"]
            await _end_in_reset(engine.dut)
            raise AssertionError("\n".join([first, f"  inside    {text}", *rest])) from None
        text = wrong.told(board, first)
        await _end_in_reset(engine.dut)
        raise AssertionError(text) from None


async def _end_in_reset(dut: Any) -> None:
    """Reset what was cut short, so that it answers to nothing that the test may do next."""
    await ClockCycles(dut.clk_i, SEEN_CYCLES)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    await clock.release_reset(dut)


async def _end_of(run: Awaitable[Any]) -> None:
    """The end of a run, wrong or not."""
    with suppress(AssertionError):
        await run


async def _first_wrong(
    engine: StepEngine, judge: Judge, run: Any, model: ModelSignals
) -> tuple[Wrong | None, str]:
    """Watch a run, until it ends or does what is wrong."""
    probe, banks = _Probe(engine), engine.machine.banks
    missed_at = None

    def cycle() -> Wrong | None:
        nonlocal missed_at
        stores, sequencer = probe.stores, probe.sequencer
        model.show(judge.ends)
        wrong = judge.sequencer(sequencer)
        if wrong:
            return replace(wrong, ns=missed_at)
        if judge.missed:
            missed_at = get_sim_time("ns")
            model.differs([STOP])
        if sequencer.item == WORDS:
            wrong = judge.word(stores, probe.operands(judge.issued))
        else:
            wrong = judge.no_word(stores)
        model.show(said(_bank_path, judge.wanted, banks))
        return wrong

    return await watched(engine.dut.clk_i, run, cycle, model)


async def watched(
    clk: Any, run: Any, cycle: Callable[[], Wrong | None], model: ModelSignals
) -> tuple[Wrong | None, str]:
    """Watch a run, until it ends or does what is wrong; without waves for :data:`WATCH_S`.

    Parameters
    ----------
    clk, run
        The clock; the task that does the run.
    cycle
        Judges a clock cycle, and shows the model's: called right behind the rising edge that
        begins it, so that both change at the same time.
    model
        Shows where they differ.

    Returns
    -------
    wrong : Wrong or None
        Returned in the middle of the cycle that it is in.
    part : str
        What was watched.
    """
    wrong, part, cycles, end = None, "the run", 0, time.monotonic() + WATCH_S
    while wrong is None and not run.done():
        if not model and time.monotonic() > end:
            part = f"its beginning ({cycles} cycles; with WAVES=1 all of it is watched)"
            break
        cycles += 1
        await RisingEdge(clk)
        await ReadWrite()
        wrong = cycle()
    run.cancel()
    if wrong:
        model.differs([wrong.signal])
        await FallingEdge(clk)
    return wrong, part
