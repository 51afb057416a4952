"""The array (rtl/top/step_array.sv): what it is told to run, and its model.

Datapaths and contexts are *systems*, each of which works on one call. Calls of one function that
come one after the other make a *batch*, one for each system at most. A function is a chain of
*segments* of the program, which may repeat.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import NamedTuple

from pymodel.machine.isa import RARE, Location, Machine, ProgramError, Word
from pymodel.machine.model import CallMemory, Twin
from pymodel.machine.registers import STEP_ARRAY

SEGMENT_FLAGS = STEP_ARRAY["SEGMENT_FLAGS"]


@dataclass(frozen=True)
class Segment:
    """An entry of the table of segments.

    Attributes
    ----------
    start, length : int
        Words of the program.
    repeat : int
        How often it runs, at least once.
    in_base, in_stride, out_base, out_stride : int
        In repeat r, base + r stride is added to the numbers of the words that it loads, and of
        those that it outputs.
    quiet : bool
        It outputs nothing.
    emit : bool
        Behind its last repeat the outputs of the call are complete, and leave.
    """

    start: int
    length: int
    repeat: int = 1
    in_base: int = 0
    in_stride: int = 0
    out_base: int = 0
    out_stride: int = 0
    quiet: bool = False
    emit: bool = False

    def registers(self, machine: Machine) -> list[int]:
        """What is written to SEGMENT_START and the registers behind it, up to SEGMENT_FLAGS.

        A negative stride is written modulo 2^n, n the bits of the number of a word that is loaded
        (:attr:`Machine.in_w`) or output (:attr:`Machine.out_w`).
        """
        flags = {"QUIET": self.quiet, "EMIT": self.emit}
        return [
            self.start,
            self.length,
            self.repeat,
            self.in_base,
            self.in_stride % (1 << machine.in_w),
            self.out_base,
            self.out_stride % (1 << machine.out_w),
            sum(SEGMENT_FLAGS.field(name).mask for name, is_set in flags.items() if is_set),
        ]


@dataclass(frozen=True)
class Function:
    """An entry of the table of functions.

    Attributes
    ----------
    first, last : int
        Segments that its chain begins and ends with; behind its end the outputs leave in any case.
    loop_from, loops : int
        From this segment on the chain runs so many times.
    inputs, outputs : int
        Words of a call on the streams; each segment that emits gives all outputs.
    """

    first: int
    last: int
    loop_from: int
    loops: int
    inputs: int
    outputs: int

    @property
    def registers(self) -> list[int]:
        """What is written to FUNCTION_FIRST and the registers behind it, up to FUNCTION_OUTPUTS."""
        return [self.first, self.last, self.loop_from, self.loops, self.inputs, self.outputs]

    def numbers(self) -> Iterator[int]:
        """Numbers of its segments in the order in which they run."""
        yield from range(self.first, self.loop_from)
        for _ in range(self.loops):
            yield from range(self.loop_from, self.last + 1)

    def chain(self, segments: Sequence[Segment]) -> Iterator[Segment]:
        """Its segments in the order in which they run; the last one always emits."""
        before: int | None = None
        for number in self.numbers():
            if before is not None:
                yield segments[before]
            before = number
        if before is not None:
            yield replace(segments[before], emit=True)

    def rows(self, segments: Sequence[Segment]) -> int:
        """How many times a call gives all its outputs."""
        emitted = [segment.emit for segment in segments]
        looped = sum(emitted[self.loop_from : self.last + 1])
        once = sum(emitted[self.first : self.loop_from])
        return once + self.loops * looped + (not emitted[self.last])


class Given(NamedTuple):
    """What leaves on the stream for a call: all its outputs, once."""

    function: int
    words: tuple[int, ...]
    fault: bool  # a result was infinite, not a number or invalid


class ArrayTwin:
    """The model of an array.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine
        With streams.
    words : sequence of Word
        The program.
    segments : sequence of Segment
    functions : sequence of Function

    Attributes
    ----------
    flags : int
        Sticky float flags of all results that were stored.
    word_cycles : int
        Cycles of the last run in which a datapath executed program words.

    Raises
    ------
    ProgramError
        If a segment uses a unit again before all datapaths have used it, or stores what its
        contexts read in common.
    """

    def __init__(
        self,
        machine: Machine,
        words: Sequence[Word],
        segments: Sequence[Segment],
        functions: Sequence[Function],
    ) -> None:
        self.machine, self.words = machine, words
        self.segments, self.functions = segments, functions
        self.datapaths = [Twin(machine) for _ in range(machine.datapaths)]
        self.word_cycles = 0
        for segment in segments:
            self._check_turns(self._words(segment))
            self.datapaths[0].check_common(self._words(segment))

    @property
    def flags(self) -> int:
        """Sticky float flags."""
        found = 0
        for datapath in self.datapaths:
            found |= datapath.flags
        return found

    def load(self, registers: dict[Location, int]) -> None:
        """Store bits in all datapaths: {Location: bits}."""
        for datapath in self.datapaths:
            datapath.load(registers)

    def run(self, calls: Iterable[tuple[int, Sequence[int]]]) -> list[Given]:
        """Run calls.

        Parameters
        ----------
        calls : iterable of (int, sequence of int)
            Number of the function, and words, of each.

        Returns
        -------
        list of Given
            As they leave: of a batch each call's first outputs, then its second ones, ...

        Raises
        ------
        ProgramError
            If a call has more or fewer words than its function's inputs; if the program loads an
            input that a call does not have, or does not give all outputs whenever it emits.
        """
        self.word_cycles, given = 0, []
        for number, group in groupby(calls, key=lambda call: call[0]):
            together = [words for _, words in group]
            for at in range(0, len(together), self.machine.systems):
                given += self._batch(number, together[at : at + self.machine.systems])
        return given

    def _batch(self, number: int, calls: Sequence[Sequence[int]]) -> list[Given]:
        function, given = self.functions[number], []
        for call in calls:
            if len(call) != function.inputs:
                said = f"a call of function {number} has {len(call)} words"
                raise ProgramError(f"{said}, not {function.inputs}")
        memories = [CallMemory(words) for words in calls]
        healthy = [True] * len(calls)
        for segment in function.chain(self.segments):
            words = self._words(segment)
            for repeat in range(segment.repeat):
                self.word_cycles += self.machine.contexts * len(words)
                for system, memory in enumerate(memories):
                    memory.in_base = segment.in_base + repeat * segment.in_stride
                    memory.out_base = segment.out_base + repeat * segment.out_stride
                    memory.quiet = segment.quiet
                    healthy[system] &= self._pass(words, system, memory)
            if segment.emit:
                for memory, fine in zip(memories, healthy, strict=True):
                    missing = [k for k in range(function.outputs) if k not in memory.outputs]
                    if missing:
                        said = f"function {number} emits without output {missing[0]}"
                        raise ProgramError(f"{said} of {function.outputs}")
                    found = tuple(memory.outputs[k] for k in range(function.outputs))
                    given.append(Given(number, found, not fine))
                    memory.outputs.clear()
        return given

    def _pass(self, words: Sequence[Word], system: int, memory: CallMemory) -> bool:
        datapath, context = divmod(system, self.machine.contexts)
        return self.datapaths[datapath].run_context(words, context, memory)

    def _words(self, segment: Segment) -> Sequence[Word]:
        return self.words[segment.start : segment.start + segment.length]

    def _check_turns(self, words: Sequence[Word]) -> None:
        """Refuse a segment in which datapaths would meet at a unit that they share."""
        lanes = [index for index, lane in enumerate(self.machine.lanes) if lane.op in RARE]
        for lane in lanes:
            uses = [number for number, word in enumerate(words) if lane in word.issues]
            for one, other in pairwise([*uses, *([len(words)] if uses else [])]):
                if other - one < self.machine.datapaths:
                    raise ProgramError(f"words {one} and {other}: datapaths meet at lane {lane}")
