"""Cycle-accurate model of the step engine (rtl/step): runs programs word by word.

It is the twin of the hardware: registers, flags, trace, cycles and the reason to stop are equal
after every run. It also is the judge of a schedule: a program that stores what no lane gives, or
reads what was never stored, is refused.
"""

from collections.abc import Collection, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pymodel.arith.errors import InputError, require
from pymodel.arith.fp import INVALID
from pymodel.arith.numbers import whole
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
OPERATIONS = {"add": "add", "mul": "mul", "rec": "recip", "sincos": "sincos"}  # lane -> format


class Origin(NamedTuple):
    """Where a word finds what leaves a lane: which one issued it, and which of the results."""

    issue: tuple[int, int]  # lane, number of the word that issued
    part: int


class Action(NamedTuple):
    """What a word does.

    Attributes
    ----------
    word : Word
    issues : list
        Of each lane that issues: the lane and the number of the word; the operation of its unit,
        None without one; the operands. An operand is the port; the address there, or -1; where what
        is offered comes from, if that is read; whether a context reads registers of its own; what
        flips its sign.
    writes : list
        (bank, address, :class:`Origin`).
    """

    word: Word
    issues: list[Any]
    writes: list[Any]


class Store(NamedTuple):
    """What a word stores in a bank, and the operands that it was computed from.

    ``cycle`` counts the words of the step; ``address`` is that in the bank, with the context.
    ``spoils``: it is infinite, not a number or invalid, which stops a run.
    """

    cycle: int
    bank: int
    address: int
    bits: int
    operands: tuple[int, ...]
    context: int = 0
    spoils: bool = False


@dataclass
class CallMemory:
    """What the load lane and the output lane of a context reach: the words of one call.

    Attributes
    ----------
    inputs : sequence of int
    outputs, scratch : dict
        Number of a word -> bits.
    in_base, out_base : int
        Added to the numbers in a program word, modulo the depth of the memory.
    quiet : bool
        Nothing is output but to the scratch memory.
    clock : int
        Program words so far.
    """

    inputs: Sequence[int]
    outputs: dict[int, int] = field(default_factory=dict)
    scratch: dict[int, int] = field(default_factory=dict)
    in_base: int = 0
    out_base: int = 0
    quiet: bool = False
    clock: int = 0
    _written: dict[int, int] = field(default_factory=dict)  # number of a scratch word -> clock

    def load(self, word: Word, machine: Machine) -> int | None:
        """Give what a word loads; None: nothing is there, not yet, or it is just overwritten.

        In hardware the stages decide whether a word loads what it outputs to the same place, or
        what was there before.

        Raises
        ------
        ProgramError
            For an input that the call does not have: in hardware, what an earlier call left there.
        """
        number = self.in_base + word.load
        if not word.from_scratch:
            number %= machine.in_depth
            if number >= len(self.inputs):
                raise ProgramError(f"input {number} of a call that has {len(self.inputs)}")
            return self.inputs[number]
        number %= machine.scratch_depth
        there = self.clock - self._written.get(number, self.clock) >= machine.scratch_words
        overwritten = (
            word.to_scratch
            and (self.out_base + word.output) % machine.scratch_depth == number
            and machine.output_lane in word.issues
        )
        return self.scratch[number] if there and not overwritten else None

    def output(self, word: Word, bits: int, machine: Machine) -> None:
        """Take what a word outputs."""
        number = self.out_base + word.output
        if word.to_scratch:
            number %= machine.scratch_depth
            self.scratch[number], self._written[number] = bits, self.clock
        elif not self.quiet:
            self.outputs[number % machine.out_depth] = bits


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
        What the last step stored, or the last pass of a context that was made by itself.
    """

    def __init__(self, machine: Machine) -> None:
        require(machine, Machine, "Machine")
        self.machine = machine
        size = machine.contexts * machine.depth
        self.file: list[list[int | None]] = [[None] * size for _ in range(machine.banks)]
        self.flags = 0
        self.stopped = False
        self.steps_done = 0
        self.cycles = 0
        self._stored: list[tuple[Any, ...]] = []  # the stores: most runs make many, and show none
        self._settled = True  # all that was stored can be traced
        self._codes: dict[tuple[int, ...], tuple[Sequence[Word], list[Any]]] = {}  # see _decoded

    def load(self, registers: Mapping[Location, int]) -> None:
        """Store bits: {Location: bits}; an InputError if it is something else."""
        if not isinstance(registers, Mapping):
            found = type(registers).__name__
            raise InputError(f"registers: must be a dict, Location -> bits, got {found}")
        for location, bits in registers.items():
            bank, address = _location(location)
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

    @property
    def stores(self) -> list[Store]:
        """See above."""
        return list(map(Store._make, self._stored))

    def read(self, location: Location) -> int | None:
        """Bits of a register; an InputError if it is no location."""
        bank, address = _location(location)
        return self.file[bank][address]

    def run(
        self,
        program: Program,
        steps: int,
        every: int = 0,
        save: int = 0,
        before: Collection[Location] = (),
        after: Collection[Location] = (),
        trace: MutableSequence[Any] | None = None,
    ) -> Any:
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
        trace : list or array of int, optional
            What the trace is added to; by default a new list.

        Returns
        -------
        list or array of int
            The trace. What stands after a step that stops the run is not traced.

        Raises
        ------
        ProgramError
            If the re-basing segment is to run, and there is none.
        InputError
            If it is no program.
        ValueError
            If a number of steps is no whole number, or negative.
        """
        require(program, Program, "schedule")
        for name, number in (("steps", steps), ("every", every), ("save", save)):
            if whole(name, number) < 0:
                raise ValueError(f"{name}: must be 0 or more, got {number}")
        if every and not program.special:
            raise ProgramError("no re-basing segment to run every so many steps")
        trace = [] if trace is None else trace  # bits; None where nothing was stored
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

    def _trace(self, locations: Collection[Location], trace: MutableSequence[Any]) -> None:
        trace.extend([self.read(location) for location in locations])
        self.cycles += len(locations)
        if locations and not self._settled:  # the last store is still on its way
            self.cycles += self.machine.contexts > 1
            self._settled = True

    def step(self, words: Sequence[Word]) -> bool:
        """One pass through a segment; whether all that it stored is finite and valid."""
        self.check_common(words)
        stored, healthy, self._settled = [], True, False
        for context in range(self.machine.contexts):
            healthy &= self.run_context(words, context)
            stored += self._stored
        self._stored = stored
        self.cycles += self.machine.contexts * len(words)
        return healthy

    def check_common(self, words: Sequence[Word]) -> None:
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
        base, magnitude_mask, inf = context * self.machine.depth, ~fmt.sign_mask, fmt.inf
        stored = self._stored = []
        # (lane, number of the word that issued) -> what its unit gave, operands
        results: dict[tuple[int, int], tuple[Any, tuple[int, ...]]] = {}
        call: Any = memory  # with streams there is one
        for number, (word, issues, writes) in enumerate(self._decoded(words)):
            for issue, operate, operands in issues:
                values = []
                for port, address, origin, own, flip in operands:
                    if origin:
                        source, part = origin
                        bits = results[source][0][part]
                    else:
                        bits = file[port.bank][own * base + address] if address >= 0 else None
                    if bits is None:
                        where = _at(context, number)
                        raise ProgramError(f"{where}: lane {issue[0]} reads nothing at {port}")
                    values.append(bits ^ flip)
                if operate:
                    results[issue] = operate(*values), tuple(values)
                elif values:
                    call.output(word, values[0], self.machine)
                else:
                    bits = call.load(word, self.machine)
                    if bits is None:
                        where = f"{_at(context, number)}: scratch word"
                        raise ProgramError(f"{where} {call.in_base + word.load} not there")
                    results[issue] = (bits, 0), ()
            for bank, address, origin in writes:
                if not origin:
                    raise ProgramError(f"{_at(context, number)}: nothing to store in bank {bank}")
                source, part = origin
                given, operands = results[source]
                bits, flags = given[part], given[-1]
                file[bank][base + address] = bits
                self.flags |= flags
                spoils = bits & magnitude_mask >= inf or flags & INVALID
                spoils = bool(spoils) and bank not in word.loaded
                stored.append((number, bank, base + address, bits, operands, context, spoils))
                if spoils:
                    healthy = False
            if memory is not None:
                memory.clock += 1
        lanes, latency = self.machine.lanes, self.machine.latency
        if any(number + latency[lanes[lane].op] >= len(words) for lane, number in results):
            raise ProgramError(f"context {context}: the step ends with results in the lanes")
        return healthy

    def _decoded(self, words: Sequence[Word]) -> list[Action]:
        """What each word does; kept, as it is the same in every context and step."""
        key = tuple(map(id, words))  # of words that are kept, so that nothing else gets their ids
        if key in self._codes:
            return self._codes[key][1]
        if len(self._codes) == KEPT_CODES:
            self._codes.clear()
        code = decoded(self.machine, words)
        self._codes[key] = words, code
        return code


def decoded(machine: Machine, words: Sequence[Word]) -> list[Action]:
    """What each word of a segment does.

    Raises
    ------
    KeyError
        If an operand comes from a port that reads nothing.
    """
    lanes, fmt = machine.lanes, machine.fmt
    sign_mask = fmt.sign_mask
    units = [getattr(fmt, OPERATIONS.get(lane.op, ""), None) for lane in lanes]
    code = []
    for number, word in enumerate(words):
        issues = []
        for lane in sorted(word.issues):
            operands, sides = [], lanes[lane].sides
            for (bank, negative), side in zip(word.issues[lane], sides, strict=True):
                port = Port(bank, side)
                address = word.reads[port]
                origin, own = None, port not in word.common
                if address is OFFERED:
                    origin, address = _offered(machine, words, number, bank), -1
                operands.append((port, address, origin, own, sign_mask * negative))
            issues.append(((lane, number), units[lane], operands))
        writes = [
            (bank, address, _offered(machine, words, number, bank))
            for bank, address in word.writes.items()
        ]
        code.append(Action(word, issues, writes))
    return code


def _offered(machine: Machine, words: Sequence[Word], number: int, bank: int) -> Origin | None:
    """What a bank is offered while a word executes; None where nothing leaves a lane."""
    word = words[number]
    lane, part = bank, 0  # of an adder or a multiplier
    reciprocal, sincos, load = range(machine.shared_bank, machine.shared_bank + 3)
    if bank in word.loaded:
        lane = load
    elif bank == machine.shared_bank:
        lane = sincos if word.sine else reciprocal
    elif bank > machine.shared_bank:
        lane, part = sincos, 1
    issued = number - machine.latency[machine.lanes[lane].op]
    there = issued >= 0 and lane in words[issued].issues
    return Origin((lane, issued), part) if there else None


def _location(given: Location) -> Location:
    if not (isinstance(given, tuple) and len(given) == len(Location._fields)):
        raise InputError(f"must be the Location of a register, got {given!r}")
    return given


def _at(context: int, number: int) -> str:
    return f"context {context}, word {number}"
