"""What the processor does with the step engine: loads a program, runs it, takes its trace."""

from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from pymodel.hardware.programmable import (
    COMMON,
    Programmable,
    machine_from,
    neighbours,
    parameters_of,
)
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.waiting import HangError, TraceError
from pymodel.machine.isa import Location, Machine, Program
from pymodel.machine.model import START_CYCLES, Twin
from pymodel.machine.program_image import on_bus
from pymodel.machine.registers import step_engine
from pymodel.runs.engine_calls import Call, Library

MARGIN_CYCLES = 100  # between a run's word in the trace, or its end, and what the bus shows of it


#: Parameters of the module step_engine -> fields of the machine that they make.
PARAMETERS = COMMON | {"TRACE_REGISTERS": "trace_registers", "PROGRAMS": "programs"}


def rtl_parameters(machine: Machine) -> dict[str, int]:
    """Parameters of the module step_engine that make it this machine."""
    return parameters_of(machine, PARAMETERS)


def machine_of(parameters: Mapping[str, int]) -> Machine:
    """The machine that these parameters make; the inverse of :func:`rtl_parameters`."""
    return machine_from(parameters, PARAMETERS)


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    trace
        As :meth:`pymodel.machine.model.Twin.run` returns it.
    cycles, steps_done
        Registers CYCLES and STEPS_DONE.
    status
        STATUS after the run; see :meth:`pymodel.hardware.axil.Registers.field`.
    stopped
        Whether a result that was not finite ended it.
    flags
        Sticky float flags, those of earlier runs included unless cleared.
    """

    trace: MutableSequence[int]
    cycles: int
    steps_done: int
    status: int
    stopped: bool
    flags: int


def compare_end(board: Scoreboard, outcome: Outcome, model: Twin, context: str) -> None:
    """Check how a run ended, and what flags it raised, against the model, which has run, too."""
    compare = board.compare
    compare("STEPS_DONE", outcome.steps_done, model.steps_done, context=context)
    compare("STOPPED", int(outcome.stopped), int(model.stopped), context=context)
    compare("FLAGS", outcome.flags, model.flags, context=context)


class StepEngine(Programmable):
    """A step engine behind its bus.

    Parameters
    ----------
    dut
        The module step_engine.
    machine
        What it is.
    """

    def __init__(self, dut: Any, machine: Machine) -> None:
        super().__init__(dut, step_engine(machine.bus_words), machine)
        self.trace_depth = 0  # read from the hardware when first needed
        self._lists: tuple[tuple[Location, ...], ...] | None = ((), ())  # None: those of a library
        self._pace = 0  # cycles in which the run that was prepared traces something, or ends
        self._words = 0  # that it traces at most

    async def read_registers(self, locations: Iterable[Location]) -> dict[Location, int]:
        """Bits of registers: {Location: bits}."""
        self._start_watch()
        groups = neighbours(locations, self.machine.banks)
        batch = self.batch()
        for group in groups:
            batch.write("FILE_ADDRESS", on_bus(group[0])).read_each("FILE_DATA", len(group))
        found = await batch.run()
        self._account("registers", "read", sum(1 + len(group) for group in groups))
        return dict(zip(chain(*groups), chain(*found), strict=True))

    async def read_file(self) -> list[list[int]]:
        """All registers, as :attr:`pymodel.machine.model.Twin.file` has them."""
        machine = self.machine
        depth = machine.contexts * machine.depth
        every = [Location(b, a) for b in range(machine.banks) for a in range(depth)]
        found = await self.read_registers(every)
        words = [found[location] for location in every]
        return [words[i : i + depth] for i in range(0, len(words), depth)]

    # --- libraries -------------------------------------------------------------------------------

    async def load_library(self, library: Library) -> None:
        """Load all programs and their parameters, and describe them for runs of one step."""
        await self.load_program(library.encoded())
        await self.write_registers(library.image)
        await self.write("STEPS", 1)
        for call in library.calls.values():
            length, outputs = len(call.program.words), call.traced
            await self.write("PROGRAM", call.number)
            await self.write("SAVE", 1, 0, call.start, length, 0, 0, 0, len(outputs))
            await self.write("TRACE_START", call.entry)
            if outputs:
                await self.write("TRACE_INDEX", call.entry)
                await self.write_each("TRACE_ENTRY", map(on_bus, outputs))
        self._lists = None

    async def call(self, call: Call, *inputs: Mapping[str, int]) -> Outcome:
        """Write inputs of each context, and run the program of a call of the loaded library."""
        await self.write_registers(call.registers(*inputs))
        await self.write("PROGRAM", call.number)
        self._pace = self.machine.contexts * len(call.program.words)
        self._words = len(call.traced)
        await self.start()
        return await self.finish(self._pace)

    # --- runs ------------------------------------------------------------------------------------

    async def prepare(
        self,
        program: Program,
        steps: int,
        every: int = 0,
        save: int = 0,
        before: Collection[Location] = (),
        after: Collection[Location] = (),
        start: int = 0,
    ) -> None:
        """Write the registers of a run; the arguments are those of the model's engine.

        ``start`` is where the program was loaded. The trace list is written when it changed.
        """
        self._start_watch()
        segments = (start, program.main, start + program.main, program.special)
        lists = (tuple(before), tuple(after))
        batch = self.batch().write("STEPS", steps)
        batch.write("SAVE", save, every, *segments, len(before), len(after))
        if lists != self._lists:
            batch.write("TRACE_INDEX", 0)
            batch.write_each("TRACE_ENTRY", map(on_bus, (*before, *after)))
            self._lists = lists
        await batch.run()
        self._account("run", "write", 10 + len(before) + len(after))
        traced = save and len(before) + len(after)
        self._pace = (min(steps, save) if traced else steps) * max(self._lengths(program))
        self._words = -(-steps // save) * traced if traced else 0

    async def start(self) -> None:
        """Start the run that was prepared."""
        await self.write("CTRL", self.mask("CTRL", "RUN"))

    async def take(self, trace: MutableSequence[int]) -> int:
        """Take what the trace holds, onto the end of another; returns the number of words.

        Raises
        ------
        TraceError
            If that are more than the run traces.
        """
        count = await self.read("TRACE_COUNT")
        if len(trace) + count > self._words:
            taken = len(trace)
            raise TraceError(f"{count}, after {taken} words; the run traces {self._words}")
        trace.extend(await self.read_each("TRACE_DATA", count))
        return count

    async def finish(
        self,
        interval: int = 64,
        trace: MutableSequence[int] | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Outcome:
        """Wait for the end of a run, taking its trace meanwhile.

        Parameters
        ----------
        interval
            Cycles between looking; the fewer, the slower the simulation.
        trace
            What was taken before.
        watch
            Called with the number of words taken so far, now and then.

        Raises
        ------
        HangError
            If it neither ends nor traces a word when it should.
        """
        self._start_watch()
        trace = [] if trace is None else trace
        accesses = 1
        limit = self._pace + START_CYCLES + MARGIN_CYCLES
        last = self.now()
        while True:
            self.status = await self.read("STATUS")
            taken = await self.take(trace)
            accesses += 2 + taken
            if watch:
                watch(len(trace))
            if not self.field("STATUS", "BUSY", self.status):
                break
            if taken:
                last = self.now()
            if self.now() - last > limit:
                raise HangError(f"a run to end, {len(trace)} words traced, {self.state()}", limit)
            await self.pause(interval)
        while await self.take(trace):  # the last word was seen a cycle after it came
            pass
        (cycles,), (steps_done,) = await self.batch().read("CYCLES").read("STEPS_DONE").run()
        self._account("run", "run", accesses + 2)
        self.engine_cycles["run"] += cycles
        self.runs["run"] += 1
        stopped = bool(self.field("STATUS", "STOPPED", self.status))
        flags = self.field("STATUS", "FLAGS", self.status)
        return Outcome(trace, cycles, steps_done, self.status, stopped, flags)

    async def run(  # type: ignore[override] # a run takes a program, not fields of CTRL
        self,
        program: Program,
        steps: int,
        every: int = 0,
        save: int = 0,
        before: Collection[Location] = (),
        after: Collection[Location] = (),
        start: int = 0,
        watch: Callable[[int], None] | None = None,
        trace: MutableSequence[int] | None = None,
    ) -> Outcome:
        """Prepare, start and finish a run; the arguments are those of the model's engine.

        A program with a prologue runs that before. It must have been loaded. The trace is taken
        often enough not to hold up the run.
        """
        self.trace_depth = self.trace_depth or await self.read("TRACE_DEPTH")
        if program.opening is not None:
            opened = await self._open(program, start)
            if not opened.steps_done:
                return opened
        await self.prepare(program, steps, every, save, before, after, start)
        await self.start()
        interval = self.interval(program, steps, save, len(before) + len(after))
        return await self.finish(interval, trace, watch)

    async def opens(self, program: Program) -> bool:
        """Whether the prologue of a program at the beginning of the memory runs to its end."""
        return bool((await self._open(program, 0)).steps_done)

    async def step(self, program: Program, number: int, every: int) -> Outcome:
        """Run the segment of one step of a program at the beginning of the memory, as it stands."""
        words = program.segment(number, every)
        start = 0 if words[0] is program.words[0] else program.main
        segment = replace(program, words=words, main=len(words), prologue=0)
        await self.prepare(segment, 1, start=start)
        await self.start()
        return await self.finish(len(words))

    async def _open(self, program: Program, start: int) -> Outcome:
        """Run the prologue of a program that was loaded at ``start``."""
        assert program.opening is not None
        await self.prepare(program.opening, 1, start=start + program.main + program.special)
        await self.start()
        return await self.finish(program.prologue)

    def interval(self, program: Program, steps: int, save: int, traced: int) -> int:
        """Cycles between looking: in which half of the trace fills, or half of the run passes."""
        lengths = self._lengths(program)
        cycles = steps * max(lengths) // 2
        if save and traced:
            cycles = min(cycles, self.trace_depth // (2 * traced) * save * min(lengths))
        return max(cycles, 1)

    def _lengths(self, program: Program) -> list[int]:
        """Cycles of the segments that a program has."""
        words = (program.main, program.special)
        return [self.machine.contexts * n for n in words if n]
