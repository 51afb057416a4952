"""What the processor and the streams do with the step array: load it, send calls, take results."""

import itertools
import logging
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # cocotbext-axi under cocotb 2
    from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from pymodel.hardware.on_bus import PAUSES
from pymodel.hardware.programmable import COMMON, Programmable, machine_from, parameters_of
from pymodel.hardware.scoreboard import reading
from pymodel.hardware.stream_blocks import DATA_MASK, USER_AT, USER_MASK, StreamBlocks
from pymodel.hardware.waiting import within
from pymodel.machine.array import Function, Given, Segment
from pymodel.machine.isa import Machine
from pymodel.machine.registers import step_array
from pymodel.runs.array_runs import Array

#: Parameters of the module step_array -> fields of the machine that they make.
PARAMETERS = COMMON | {
    "DATAPATHS": "datapaths",
    "IN_DEPTH": "in_depth",
    "OUT_DEPTH": "out_depth",
    "SCRATCH_DEPTH": "scratch_depth",
    "SEGMENTS": "segments",
    "FUNCTIONS": "functions",
}
STALLED = 16  # cycles that a word takes at most, both streams held back at random
RESULTS = "results of a call"
IN_FLIGHT = 4  # batches, more than are loaded, run and drained at once
IDLE_CYCLES = 200  # from the last result to the end of a run, on the bus


def rtl_parameters(machine: Machine) -> dict[str, int]:
    """Parameters of the module step_array that make it this machine."""
    return parameters_of(machine, PARAMETERS)


def machine_of(parameters: Mapping[str, int]) -> Machine:
    """The machine that these parameters make; the inverse of :func:`rtl_parameters`."""
    return machine_from(parameters, PARAMETERS)


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    given
        What left on the stream, in order.
    cycles, word_cycles, dropped
        Registers CYCLES, WORD_CYCLES and DROPPED.
    malformed
        Whether a call was dropped.
    flags
        Sticky float flags, those of earlier runs included unless cleared.
    """

    given: list[Given]
    cycles: int
    word_cycles: int
    dropped: int
    malformed: bool
    flags: int


class StepArray(Programmable):
    """A step array behind its bus and its streams.

    Parameters
    ----------
    dut
        The module step_array.
    machine
        What it is.

    Attributes
    ----------
    in_blocks : bool
        Of the class: whole runs only, whose streams a device in the simulation moves in blocks of
        beats, without cocotbext-axi's ends, which look at every clock edge.
    """

    in_blocks = False

    def __init__(self, dut: Any, machine: Machine) -> None:
        super().__init__(dut, step_array(machine.bus_words), machine)
        self.rows: list[int] = []  # of each function
        self._longest = 0  # cycles of a batch of the function that takes longest
        self.outputs: list[int] = []  # of a row of each function
        if self.in_blocks:
            self.blocks = self.streams()
            return
        for name in ("s_axis", "m_axis"):
            logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
        ends = (dut.clk_i, dut.rst_ni)
        options = {"reset_active_level": False, "byte_lanes": 1}  # a word is a "byte"
        self.source = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), *ends, **options)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), *ends, **options)

    def streams(self) -> Any:
        """What moves blocks of beats."""
        return StreamBlocks(self.dut)

    def stall_streams(
        self, rng: np.random.Generator, source: float = 0.5, sink: float = 0.5
    ) -> None:
        """Hold back both streams at random from now on, in these parts of the cycles."""
        stalls = [rng.random(PAUSES) < probability for probability in (source, sink)]
        if self.in_blocks:
            self.blocks.stall(*stalls)
            return
        for end, pauses in zip((self.source, self.sink), stalls, strict=True):
            if pauses.any():
                end.set_pause_generator(itertools.cycle(map(bool, pauses)))
            else:
                end.clear_pause_generator()
                end.pause = False

    async def load(self, array: Array) -> None:
        """Load program, parameters and tables."""
        await self.load_program(array.encoded)
        await self.write_registers(array.image)
        await self.store_tables(array)
        self.rows = [entry.rows(array.segments) for entry in array.table]
        self.outputs = [entry.outputs for entry in array.table]
        self._longest = self.machine.contexts * max(
            sum(s.length * s.repeat for s in entry.chain(array.segments)) for entry in array.table
        )

    async def store_tables(self, array: Array) -> None:
        """Store segments and functions; after the reset pin there are none."""
        await self.store_segments(array.segments)
        await self.store_functions(array.table)

    async def store_segments(self, segments: Sequence[Segment]) -> None:
        """Store the segments 0, 1, ... of the table."""
        self._start_watch()
        for number, segment in enumerate(segments):
            await self.describe_segment(segment)
            await self.write("SEGMENT_STORE", number)
        self._account("tables", "write", 9 * len(segments))

    async def store_functions(self, functions: Sequence[Function]) -> None:
        """Store the functions 0, 1, ... of the table."""
        self._start_watch()
        for number, function in enumerate(functions):
            await self.describe_function(function)
            await self.write("FUNCTION_STORE", number)
        self._account("tables", "write", 7 * len(functions))

    async def describe_segment(self, segment: Segment) -> None:
        """Write what SEGMENT_STORE stores."""
        await self.write("SEGMENT_START", *segment.registers(self.machine))

    async def describe_function(self, function: Function) -> None:
        """Write what FUNCTION_STORE stores."""
        await self.write("FUNCTION_FIRST", *function.registers)

    async def start(self, calls: int) -> None:
        """Start a run of so many calls."""
        await self.write("CALLS", calls)
        await self.write("CTRL", self.mask("CTRL", "RUN"))

    def send(self, function: int | Sequence[int], words: Sequence[int]) -> None:
        """Put a call in line; ``function``: TUSER, of all beats or of each."""
        if self.in_blocks:
            users = [function] * len(words) if isinstance(function, int) else function
            self.blocks.send(users, words)
            return
        self.source.send_nowait(AxiStreamFrame(list(words), tuser=function))

    def drop(self, calls: bool = True) -> None:
        """Forget what came, after a reset by CTRL; ``calls``: also what is in line or half sent."""
        for end in (self.source, self.sink) if calls else (self.sink,):
            end.clear()
            end.assert_reset()

    async def abort(self, discard: bool = False) -> None:
        """End a run by CTRL.RESET, and forget what came.

        Parameters
        ----------
        discard
            With CTRL.DISCARD: the source goes on, the array drops what is left of a call that has
            begun. Otherwise all calls in line are forgotten, too.
        """
        fields = ("RESET", "DISCARD") if discard else ("RESET",)
        await self.write("CTRL", self.mask("CTRL", *fields))
        self.drop(calls=not discard)

    async def take(self, limit: int, what: str = RESULTS) -> Given:
        """Take what leaves next; ``what`` says what that should be.

        Raises
        ------
        HangError
            If it does not come in so many cycles.
        """
        frame = await within(limit, self.sink.recv(), lambda: f"{what} ({self._levels()})")
        return self._given(map(int, np.atleast_1d(frame.tuser)), map(int, frame.tdata))

    def _given(self, users: Iterable[int], words: Iterable[int]) -> Given:
        """What left, from TUSER and TDATA of its beats."""
        found = set(users)
        said = ", ".join(map(reading, sorted(found)))
        assert len(found) == 1, f"m_axis_tuser changes within a call: {said}"
        (user,) = found
        faults = 1 << (self.machine.functions - 1).bit_length()  # above the function's number
        return Given(user & (faults - 1), tuple(words), bool(user & faults))

    async def run(  # type: ignore[override] # a run takes calls, not fields of CTRL
        self,
        calls: Sequence[tuple[int, Sequence[int]]],
        watch: Callable[[int], None] = lambda done: None,
    ) -> Outcome:
        """Send calls, each the number of its function and its words, and take all that leaves.

        ``watch`` is told how many calls have come back.
        """
        await self.start(len(calls))
        for function, words in calls:
            self.send(function, words)
        rows = sum(self.rows[function] for function, _ in calls)
        limit = self.batch_cycles(max(len(words) for _, words in calls))
        given: list[Given] = []
        watch(0)
        while len(given) < rows:
            some = await self._take_some(rows - len(given), limit)
            for row in range(len(given) + 1, len(given) + len(some) + 1):
                watch(row * len(calls) // rows)
            given += some
        return await self.finish(given)

    async def _take_some(self, most: int, limit: int) -> list[Given]:
        """Take what leaves next: one, or those that end in a block of beats."""
        if not self.in_blocks:
            return [await self.take(limit)]
        return [
            self._given(
                (beat >> USER_AT & USER_MASK for beat in beats),
                (beat & DATA_MASK for beat in beats),
            )
            for beats in await self.blocks.take(most, limit, RESULTS)
        ]

    def batch_cycles(self, inputs: int) -> int:
        """More cycles than the streams stand still, calls having so many words."""
        words = self.machine.systems * (inputs + max(self.outputs, default=0))
        return STALLED * words + IN_FLIGHT * self._longest + IDLE_CYCLES

    async def finish(self, given: list[Given]) -> Outcome:
        """Wait for the end of a run whose results have been taken."""
        await self.wait_until_idle(IDLE_CYCLES)
        if self.in_blocks:
            self.blocks.check_over()
        else:
            assert self.sink.empty() and self.source.empty(), "more came, or less was taken"
        batch = self.batch().read("CYCLES").read("WORD_CYCLES").read("DROPPED")
        (cycles,), (word_cycles,), (dropped,) = await batch.run()
        self.engine_cycles["run"] += cycles
        self.runs["run"] += 1
        return Outcome(
            given,
            cycles,
            word_cycles,
            dropped,
            bool(self.field("STATUS", "MALFORMED", self.status)),
            self.field("STATUS", "FLAGS", self.status),
        )

    def _levels(self) -> str:
        names = ("s_axis_tvalid", "s_axis_tready", "m_axis_tvalid", "m_axis_tready")
        return ", ".join(f"{name} {getattr(self.dut, name).value}" for name in names)
