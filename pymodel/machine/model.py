"""Cycle-accurate model of the step engine (rtl/step): runs programs word by word.

It is the twin of the hardware: registers, flags, trace, cycles and the reason to stop are equal
after every run. It also is the judge of a schedule: a program that stores what no lane gives, or
reads what was never stored, is refused.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pymodel.arith.fp import INVALID
from pymodel.machine.isa import (
    OFFERED,
    Location,
    Machine,
    Port,
    Program,
    ProgramError,
    Word,
)

#: Cycles of a run besides its words and its trace: the first word passes the registers behind the
#: sequencer and the program memory, and after the last one its results are judged.
START_CYCLES = 3
KEPT_CODES = 64  # segments that a twin keeps decoded
OPERATIONS = {"add": "add", "mul": "mul", "rec": "recip"}  # of a lane -> of a format


class Result(NamedTuple):
    """What comes out of a lane: one word for each of its banks, the flags, what went in."""

    words: tuple
    flags: int
    operands: tuple


class Origin(NamedTuple):
    """Where a word finds what leaves a lane: which one issued it, and which of the results."""

    issue: tuple[int, int]  # lane, number of the word that issued
    part: int


class Store(NamedTuple):
    """What a word stores in a bank, and the operands that it was computed from.

    ``cycle`` counts the words of the step; ``address`` is that in the bank, with the context.
    """

    cycle: int
    bank: int
    address: int
    bits: int
    operands: tuple
    context: int = 0


@dataclass
class CallMemory:
    """What the load lane and the output lane of a context reach: the words of one call.

    Attributes
    ----------
    inputs : sequence of int
    outputs, scratch : dict
        Number of a word -> bits.
    in_base, out_base : int
        Added to the numbers in a program word.
    quiet : bool
        Nothing is output but to the scratch memory.
    clock : int
        Program words so far.
    """

    inputs: Sequence[int]
    outputs: dict = field(default_factory=dict)
    scratch: dict = field(default_factory=dict)
    in_base: int = 0
    out_base: int = 0
    quiet: bool = False
    clock: int = 0
    _written: dict = field(default_factory=dict)  # number of a scratch word -> clock

    def load(self, word: Word, machine: Machine) -> int | None:
        """Give what a word loads; None: nothing is there, not yet, or it is just overwritten.

        In hardware the stages decide whether a word loads what it outputs to the same place, or
        what was there before.
        """
        number = self.in_base + word.load
        if not word.from_scratch:
            return self.inputs[number]
        there = self.clock - self._written.get(number, self.clock) >= machine.scratch_words
        overwritten = (
            word.to_scratch
            and self.out_base + word.output == number
            and machine.output_lane in word.issues
        )
        return self.scratch[number] if there and not overwritten else None

    def output(self, word: Word, bits: int) -> None:
        """Take what a word outputs."""
        number = self.out_base + word.output
        if word.to_scratch:
            self.scratch[number], self._written[number] = bits, self.clock
        elif not self.quiet:
            self.outputs[number] = bits


class Twin:
    """The model of a step engine.

    Parameters
    ----------
    machine : pymodel.machine.isa.Machine

    Attributes
    ----------
    file : list of list of int
        Registers: bits, or None where nothing was ever stored.
    flags : int
        Sticky float flags of all results that were stored.
    stopped : bool
        Sticky: a stored result was invalid, infinite or not a number; the run ended after its step.
    steps_done : int
        Steps that the last run finished; those with a stored result as above do not count.
    cycles : int
        Length of the last run, without its prologue, which is a run of its own.
    stores : list of Store
        What the last step stored.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.file = [[None] * (machine.contexts * machine.depth) for _ in range(machine.banks)]
        self.flags = 0
        self.stopped = False
        self.steps_done = 0
        self.cycles = 0
        self.stores: list[Store] = []
        self._settled = True  # all that was stored can be traced
        self._codes: dict[tuple[int, ...], tuple[Sequence[Word], list]] = {}  # see _decoded

    def load(self, registers: Mapping[Location, int]) -> None:
        """Store bits: {Location: bits}."""
        for (bank, address), bits in registers.items():
            self.file[bank][address] = bits

    @property
    def registers(self) -> dict[Location, int]:
        """Bits of all registers where something was stored: {Location: bits}."""
        return {
            Location(bank, address): bits
            for bank, words in enumerate(self.file)
            for address, bits in enumerate(words)
            if bits is not None
        }

    def read(self, location: Location) -> int | None:
        """Bits of a register."""
        return self.file[location.bank][location.address]

    def run(
        self,
        program: Program,
        steps: int,
        every: int = 0,
        save: int = 0,
        before: Iterable[Location] = (),
        after: Iterable[Location] = (),
    ) -> list[int]:
        """Run a program for some steps: evaluations of its kernel, one after the other.

        A program with a prologue runs that before; what it stores stops the run, too.

        Parameters
        ----------
        program : Program
        steps : int
        every : int
            The re-basing segment runs in steps every, 2 every, ... instead of the main one; 0:
            never.
        save : int
            Trace steps 0, save, 2 save, ...; 0: none.
        before, after : sequence of Location
            Registers to trace before and after such a step.

        Returns
        -------
        list of int
            The trace. What stands after a step that stops the run is not traced.
        """
        trace = []
        if program.opening is not None:
            self.run(program.opening, 1)
            if not self.steps_done:
                return trace
        self.steps_done, self.cycles, self._settled = 0, START_CYCLES, True
        self._codes.clear()
        for step in range(steps):
            saved = save and step % save == 0
            if saved:
                self._trace(before, trace)
            healthy = self.step(program.segment(step, every))
            if not healthy:
                self.stopped = True
                break
            if saved:
                self._trace(after, trace)
            self.steps_done += 1
        return trace

    def _trace(self, locations: Iterable[Location], trace: list[int]) -> None:
        trace += [self.read(location) for location in locations]
        self.cycles += len(locations)
        if locations and not self._settled:  # the last store is still on its way
            self.cycles += self.machine.contexts > 1
            self._settled = True

    def step(self, words: Sequence[Word]) -> bool:
        """One pass through a segment; whether all that it stored is finite and valid."""
        self._check_common(words)
        self.stores, self._settled = [], False
        contexts = [self.run_context(words, context) for context in range(self.machine.contexts)]
        self.cycles += self.machine.contexts * len(words)
        return all(contexts)

    def _check_common(self, words: Sequence[Word]) -> None:
        """Refuse a segment that stores what its contexts have in common."""
        stored = {item for word in words for item in word.writes.items()}
        for number, word in enumerate(words):
            for port in word.common:
                if (port.bank, word.reads[port]) in stored:
                    raise ProgramError(f"word {number}: {port} reads in common what is stored")

    def run_context(
        self, words: Sequence[Word], context: int, memory: CallMemory | None = None
    ) -> bool:
        """Make a pass of one context, which has nothing to do with the others.

        Parameters
        ----------
        words : sequence of Word
        context : int
        memory : CallMemory, optional
            With streams: the words of its call.

        Returns
        -------
        bool
            Whether all that it stored is finite and valid.

        Raises
        ------
        ProgramError
            If the words store what no lane gives, read what was never stored, or leave results
            behind.
        """
        fmt, file, healthy = self.machine.fmt, self.file, True
        base = context * self.machine.depth
        results: dict[tuple[int, int], Result] = {}  # (lane, number of the word that issued)
        for number, (word, issues, writes) in enumerate(self._decoded(words)):
            where = context, number
            for lane, operands in issues:
                values = []
                for port, address, origin, own, flip in operands:
                    if origin:
                        bits = results[origin.issue].words[origin.part]
                    else:
                        bits = file[port.bank][own * base + address] if address >= 0 else None
                    if bits is None:
                        raise ProgramError(f"{_at(*where)}: lane {lane} reads nothing at {port}")
                    values.append(bits ^ flip)
                result = self._operate(lane, word, values, memory, where)
                if result:
                    results[lane, number] = result
            for bank, address, origin in writes:
                if not origin:
                    raise ProgramError(f"{_at(*where)}: nothing to store in bank {bank}")
                stored, flags, operands = results[origin.issue]
                bits = stored[origin.part]
                file[bank][base + address] = bits
                self.stores.append(Store(number, bank, base + address, bits, operands, context))
                self.flags |= flags
                found = bits & ~fmt.sign_mask < fmt.inf and not flags & INVALID
                healthy &= found or bank in word.loaded
            if memory is not None:
                memory.clock += 1
        lanes, latency = self.machine.lanes, self.machine.latency
        if any(number + latency[lanes[lane].op] >= len(words) for lane, number in results):
            raise ProgramError(f"context {context}: the step ends with results in the lanes")
        return healthy

    def _decoded(self, words: Sequence[Word]) -> list[tuple[Word, list, list]]:
        """What each word does, the same in every context and step.

        That is the lanes that issue, each with its operands, and the banks that store. Where an
        operand or what is stored comes from a lane, its origin says from which result.
        """
        key = tuple(map(id, words))  # of words that are kept, so that nothing else gets their ids
        if key in self._codes:
            return self._codes[key][1]
        sign_mask = self.machine.fmt.sign_mask
        code = []
        for number, word in enumerate(words):
            offered, issues = self._offered(words, number), []
            for lane in sorted(word.issues):
                operands = []
                sides = self.machine.lanes[lane].sides
                for (bank, negative), side in zip(word.issues[lane], sides, strict=True):
                    port = Port(bank, side)
                    address = word.reads[port]
                    origin, own = None, port not in word.common
                    if address is OFFERED:
                        origin, address = offered[bank], -1
                    operands.append((port, address, origin, own, sign_mask if negative else 0))
                issues.append((lane, operands))
            writes = [(bank, address, offered[bank]) for bank, address in word.writes.items()]
            code.append((word, issues, writes))
        if len(self._codes) == KEPT_CODES:
            self._codes.clear()
        self._codes[key] = words, code
        return code

    def _offered(self, words: Sequence[Word], number: int) -> list[Origin | None]:
        """What each bank is offered while a word executes; None where nothing leaves a lane."""
        machine, word = self.machine, words[number]
        lanes, latency = machine.lanes, machine.latency

        def of(lane: int, part: int = 0) -> Origin | None:
            issued = number - latency[lanes[lane].op]
            there = issued >= 0 and lane in words[issued].issues
            return Origin((lane, issued), part) if there else None

        shared = machine.shared_bank
        reciprocal, sincos, load = range(shared, shared + 3)
        offered = [*map(of, range(shared)), of(sincos if word.sine else reciprocal), of(sincos, 1)]
        assert len(offered) == machine.banks
        for bank in word.loaded:
            offered[bank] = of(load)
        return offered

    def _operate(
        self,
        lane: int,
        word: Word,
        values: list[int],
        memory: CallMemory | None,
        where: tuple[int, int],
    ) -> Result | None:
        machine, fmt = self.machine, self.machine.fmt
        op = machine.lanes[lane].op
        if op == "load":
            bits = memory.load(word, machine)
            if bits is None:
                number = memory.in_base + word.load
                raise ProgramError(f"{_at(*where)}: scratch word {number} not there")
            return Result((bits,), 0, ())
        if op == "output":
            memory.output(word, values[0])
            return None
        if op == "sincos":
            sine, cosine, flags = fmt.sincos(*values)
            return Result((sine, cosine), flags, tuple(values))
        bits, flags = getattr(fmt, OPERATIONS[op])(*values)
        return Result((bits,), flags, tuple(values))


def _at(context: int, number: int) -> str:
    return f"context {context}, word {number}"
