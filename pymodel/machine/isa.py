"""Instruction set of the step engine: the machine, its words, and their binary form.

The engine (rtl/step) is a very long instruction word machine without control flow: every clock
cycle one word says for each lane where its operands come from, and for each bank what it stores. A
lane is a float unit behind a register for its operands; what word t issues leaves it in word
t + latency. A bank is a part of the register file; it stores the results of its own lane only
(the shared bank those of the reciprocal and the sine).

A bank has a read port on each of two sides: those of side 0 feed the first operands and the
reciprocal, those of side 1 the second operands and sine and cosine. A port gives a register, or
what the bank is offered in this cycle: a result that leaves its lane now. What is stored in a cycle
can be read from the next one on.

The engine is a barrel: a word stands for as many cycles as there are contexts, and does the same
for one context after the other. Each has registers of its own: a register's address has the number
of its context above it. A read port may give the register of context 0 to all contexts, none of
which stores there: what is the same for all exists once. Latencies count words: deep units, and
registers behind the banks, cost little time.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

from pymodel.arith.errors import Error, require
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.numbers import whole
from pymodel.machine.registers import BUS_W, STEP_ENGINE

SIDES = 2
LOAD_STAGES = 3  # cycles from a word to what its load lane gives
SHARE_STAGES = 3  # registers between several datapaths and a unit that they share
MAX_LANES = STEP_ENGINE["LANES"].field("NUM_ADD").get(-1)  # of a kind, which a register tells
MAX_DATAPATHS = 32
MAX_CONTEXTS, MAX_READ_STAGES, MAX_OPERAND_STAGES = 16, 2, 1
MAX_STAGES, MAX_SINCOS_STAGES = 6, 16  # of an adder or a multiplier; of sine and cosine
MAX_REC_STAGES = STEP_ENGINE["CONFIG"].field("REC_STAGES").get(-1)  # which a register tells
LOGIC_STAGES = 11  # more for a reciprocal, and a sine and cosine, without multipliers
RARE = ("rec", "sincos")  # operations whose units the datapaths of an array share
MANY_CONTEXTS = 4  # from here on the operand multiplexers have a register inside

#: The least value of a parameter that has no largest one.
_LEAST = dict.fromkeys(
    ("depth", "program_depth", "trace_registers", "programs", "segments", "functions"), 2
)


class Source(Enum):
    """Where a read port takes its word from, instead of an address."""

    OFFERED = "what the bank is offered in this cycle"


OFFERED = Source.OFFERED


class ProgramError(Error, ValueError):
    """A program that the machine cannot run."""


class Lane(NamedTuple):
    """A float unit with its operand registers."""

    op: str  # add, mul, rec, sincos, load, output
    sides: tuple[int, ...]  # of the read ports that feed its operands, one each
    #: Where its results go: one bank, for sincos those of the sine and the cosine; for load these
    #: two, one of which or both take it.
    banks: tuple[int, ...]


class Location(NamedTuple):
    """A register."""

    bank: int
    address: int


class Port(NamedTuple):
    """A read port of a bank."""

    bank: int
    side: int


class Operand(NamedTuple):
    """What the bank's port on the operand's side gives, or its negative."""

    bank: int
    negative: bool = False


@dataclass
class Word:
    """One cycle of each context.

    Attributes
    ----------
    reads : dict
        :class:`Port` -> address, or ``OFFERED``.
    issues : dict
        Lane (its index) -> tuple of :class:`Operand`. A lane without an entry idles.
    writes : dict
        Bank -> address.
    sine : bool
        The bank that the reciprocal and the sine share is offered the sine.
    common : set
        :class:`Port` that gives all contexts the register of context 0.
    load, output : int
        With streams: which word of the call the load lane reads, and which one the output lane,
        if it has an operand, writes.
    loaded : set
        Rare banks that are offered what was loaded.
    from_scratch, to_scratch : bool
        The load lane reads, and the output lane writes, the scratch memory instead.
    """

    reads: dict[Port, int | Source] = field(default_factory=dict)
    issues: dict[int, Any] = field(default_factory=dict)
    writes: dict[int, Any] = field(default_factory=dict)
    sine: bool = False
    common: set[Port] = field(default_factory=set)
    load: int = 0
    output: int = 0
    loaded: set[int] = field(default_factory=set)
    from_scratch: bool = False
    to_scratch: bool = False


@dataclass(frozen=True)
class Machine:
    """Parameters of a step engine, and what follows from them.

    Parameters
    ----------
    adders, multipliers : int
        Lanes of each kind, 1 to 255; besides them there are one reciprocal and one sin/cos.
    add_stages, mul_stages, rec_stages, sincos_stages : int
        Register stages of the float units, up to 6, 6, 7 and 16.
    rare_logic : int
        1: reciprocal, sine and cosine have no multipliers of the device, and 11 stages more; 0.
    depth : int
        Registers of a bank for each context, a power of two.
    program_depth : int
        Words of the program memory.
    trace_registers : int
        Entries of the trace list.
    programs : int
        Programs that its registers can describe.
    fmt : Format
        Up to 8/23, as sine and cosine.
    contexts : int
        Contexts of the barrel, 1 to 16.
    read_stages, operand_stages : int, optional
        Registers behind the banks and inside the operand multiplexers; default: as many as the
        contexts hide.
    datapaths : int
        Of an array (rtl/top/step_array.sv), 1 to 32: each has lanes, banks and contexts of its own,
        all share the program, the reciprocal, and sine and cosine.
    in_depth, out_depth : int
        Words of a call, in and out, that an array's memories hold: powers of two. 0: not an array
        but an engine without streams.
    scratch_depth : int
        Words of a call that an array's scratch memory holds, a power of two: what a word outputs
        there, later ones load. 0: there is none.
    segments, functions : int
        Entries of an array's tables.

    Raises
    ------
    ValueError
        For what is no whole number, or no Format up to 8/23; fewer than two entries of a memory or
        table; a depth that is no power of two; lanes of a kind, contexts, stages or datapaths out
        of their range; datapaths or a scratch memory without streams.
    """

    adders: int = 2
    multipliers: int = 2
    add_stages: int = 3
    mul_stages: int = 2
    rec_stages: int = 6
    sincos_stages: int = 13
    rare_logic: int = 0
    depth: int = 64
    program_depth: int = 1024
    trace_registers: int = 128
    programs: int = 16
    fmt: Format = BINARY32
    contexts: int = 1
    # None stands for what suits the contexts, which a machine then has.
    read_stages: int = None  # type: ignore[assignment] # see above
    operand_stages: int = None  # type: ignore[assignment] # see above
    datapaths: int = 1
    in_depth: int = 0
    out_depth: int = 0
    scratch_depth: int = 0
    segments: int = 32
    functions: int = 16

    def __post_init__(self) -> None:
        if not isinstance(self.fmt, Format):
            raise ValueError(f"fmt is {self.fmt!r}, must be a Format, such as Format(8, 23)")
        if not self.fmt.has_sincos:
            raise ValueError(f"fmt is {self.fmt}, must be at most 8/23, as sine and cosine are")
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "fmt" and (value is not None or one.default is not None):
                object.__setattr__(self, one.name, whole(one.name, value))
        defaults = {
            "read_stages": min(self.contexts - 1, MAX_READ_STAGES),
            "operand_stages": int(self.contexts >= MANY_CONTEXTS),
        }
        for name, value in defaults.items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}, must be at least {least}")
        for name in ("depth", "in_depth", "out_depth", "scratch_depth"):
            depth = getattr(self, name)
            if depth & (depth - 1):
                raise ValueError(f"{name} is {depth}, must be a power of two")
        depths = (self.in_depth, self.out_depth)
        if any(depths) != all(depths) or 1 in depths:
            raise ValueError(f"in_depth and out_depth are {depths}, must be 0 or at least 2 both")
        if self.scratch_depth == 1:
            raise ValueError("scratch_depth is 1, must be 0 or at least 2")
        if self.datapaths > 1 and not self.streams:
            raise ValueError(f"{self.datapaths} datapaths need streams: in_depth and out_depth")
        if self.scratch and not self.streams:
            raise ValueError("a scratch memory needs streams: in_depth and out_depth")
        for name, least, most in (
            ("adders", 1, MAX_LANES),
            ("multipliers", 1, MAX_LANES),
            ("add_stages", 0, MAX_STAGES),
            ("mul_stages", 0, MAX_STAGES),
            ("rec_stages", 0, MAX_REC_STAGES),
            ("sincos_stages", 0, MAX_SINCOS_STAGES),
            ("rare_logic", 0, 1),
            ("contexts", 1, MAX_CONTEXTS),
            ("read_stages", 0, MAX_READ_STAGES),
            ("operand_stages", 0, MAX_OPERAND_STAGES),
            ("datapaths", 1, MAX_DATAPATHS),
        ):
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} is {getattr(self, name)}, must be {least} to {most}")

    @classmethod
    def parse(cls, lanes: str, stages: str | None = None, **parameters: Any) -> "Machine":
        """A machine from ``<adders>+<multipliers>`` and ``<add>,<mul>,<rec>,<sincos>`` stages.

        Raises
        ------
        ValueError
            If one of them is written otherwise, or as for the machine itself.
        """
        found = re.fullmatch(r"([0-9]+)\+([0-9]+)", str(lanes))
        if not found:
            raise ValueError(f"lanes {lanes!r}: must be <adders>+<multipliers>, such as 2+2")
        parameters |= {"adders": int(found[1]), "multipliers": int(found[2])}
        if stages is not None:
            depths = re.fullmatch(r"([0-9]+),([0-9]+),([0-9]+),([0-9]+)", str(stages))
            if not depths:
                raise ValueError(f"stages {stages!r}: must be four numbers, such as 3,2,6,13")
            names = ("add_stages", "mul_stages", "rec_stages", "sincos_stages")
            parameters |= zip(names, map(int, depths.groups()), strict=True)
        return cls(**parameters)

    @property
    def boundless(self) -> "Machine":
        """The machine with unlimited memories, to find out what a program needs."""
        found = replace(
            self, depth=1 << 24, program_depth=1 << 32, trace_registers=1 << 24, programs=1 << 24
        )
        if self.streams:
            found = replace(found, in_depth=1 << 24, out_depth=1 << 24, segments=1 << 24)
        if self.scratch:
            found = replace(found, scratch_depth=1 << 24)
        return found

    def holding(self, *programs: "Program") -> "Machine":
        """The machine with its memories enlarged to hold some programs at once.

        Raises
        ------
        InputError
            If one is no program.
        """
        for program in programs:
            require(program, Program, "schedule")

        def power_of_two(least: int) -> int:
            return 1 << (least - 1).bit_length()

        registers = max(max(program.registers) for program in programs)
        words = sum(len(program.words) for program in programs)
        traced = sum(len(program.carried) + len(program.outputs) for program in programs)
        traced *= self.contexts
        return replace(
            self,
            depth=max(self.depth, power_of_two(registers)),
            program_depth=max(self.program_depth, power_of_two(words)),
            trace_registers=max(self.trace_registers, power_of_two(traced)),
            programs=max(self.programs, power_of_two(len(programs))),
        )

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """All lanes: adders, multipliers, the reciprocal, sin/cos."""
        binary = ["add"] * self.adders + ["mul"] * self.multipliers
        lanes = [Lane(op, (0, 1), (bank,)) for bank, op in enumerate(binary)]
        lanes.append(Lane("rec", (0,), (self.shared_bank,)))
        lanes.append(Lane("sincos", (1,), self.rare_banks))
        if self.streams:
            lanes += [Lane("load", (), self.rare_banks), Lane("output", (0,), ())]
        return tuple(lanes)

    @property
    def streams(self) -> bool:
        """Whether inputs and outputs are streams."""
        return self.in_depth > 0

    @property
    def scratch(self) -> bool:
        """Whether there is a scratch memory."""
        return self.scratch_depth > 0

    @cached_property
    def output_lane(self) -> int:
        """Number of the lane that outputs; only with streams."""
        return next(number for number, lane in enumerate(self.lanes) if lane.op == "output")

    @property
    def scratch_words(self) -> int:
        """Words from one that outputs to the scratch memory to the first that may load it.

        A word may not load what it outputs itself.
        """
        return -(-self.operand_latency // self.contexts)

    @property
    def systems(self) -> int:
        """Systems that it works for at once: contexts of all datapaths."""
        return self.contexts * self.datapaths

    @cached_property
    def rare_banks(self) -> tuple[int, int]:
        """The banks of the reciprocal and the sine, and of the cosine."""
        return self.shared_bank, self.shared_bank + 1

    @cached_property
    def shared_bank(self) -> int:
        """The bank of the reciprocal and the sine; that of the cosine is the next and last one."""
        return self.adders + self.multipliers

    @cached_property
    def banks(self) -> int:
        """Number of banks."""
        return self.shared_bank + 2

    @cached_property
    def result_banks(self) -> dict[str, list[int]]:
        """Banks that the results of a kind of operation go to: {add, mul, rec, sin, cos: banks}."""
        banks: dict[str, list[int]] = {"add": [], "mul": [], "rec": []}
        for lane in self.lanes:
            if lane.op == "sincos":
                banks["sin"], banks["cos"] = [lane.banks[0]], [lane.banks[1]]
            elif lane.op in banks:
                banks[lane.op] += lane.banks
        return banks

    @property
    def operand_latency(self) -> int:
        """Cycles from an operation's issue to its operands at the float unit."""
        return 1 + self.read_stages + self.operand_stages

    @cached_property
    def latency(self) -> dict[str, int]:
        """Words from an operation's issue to its result: {op: words}."""
        more = SHARE_STAGES if self.datapaths > 1 else 0
        more += LOGIC_STAGES * self.rare_logic
        ahead = self.operand_latency
        cycles = {
            "add": ahead + self.add_stages,
            "mul": ahead + self.mul_stages,
            "rec": ahead + more + self.rec_stages,
            "sincos": ahead + more + self.sincos_stages,
        }
        if self.streams:
            cycles |= {"load": LOAD_STAGES, "output": 1}
        return {op: -(-n // self.contexts) for op, n in cycles.items()}

    def of_context(self, location: Location, context: int) -> Location:
        """The register of a context that stands where one of context 0 does."""
        return Location(location.bank, context * self.depth + location.address)

    # --- layout of a word, lowest bits first: reads, writes, sine, operands; with streams those of
    # --- the output lane, what the rare banks take, the load, and uses of the rare units; with a
    # --- scratch memory a bit behind emit and one behind the load's number ----------------------

    @cached_property
    def address_w(self) -> int:
        """Bits of an address in a bank."""
        return (self.depth - 1).bit_length()

    @cached_property
    def bank_w(self) -> int:
        """Bits of a bank's number."""
        return (self.banks - 1).bit_length()

    @property
    def word_w(self) -> int:
        """Bits of a program word."""
        operands = SIDES * (self.adders + self.multipliers) + 2  # of the lanes with one operand
        addresses = self.banks * (SIDES + 1)
        common = self.banks * SIDES * self.common_w
        stream = 0
        if self.streams:
            operands += 1
            stream = self.out_w + self.in_w + 1 + len(self.rare_banks) + len(RARE)
            stream += 2 * self.scratch
        return addresses * (self.address_w + 1) + common + 1 + operands * (self.bank_w + 1) + stream

    @property
    def in_w(self) -> int:
        """Bits of the number of a word that is loaded."""
        return (max(self.in_depth, self.scratch_depth) - 1).bit_length()

    @property
    def out_w(self) -> int:
        """Bits of the number of a word that is output."""
        return (max(self.out_depth, self.scratch_depth) - 1).bit_length()

    @property
    def common_w(self) -> int:
        """Bits of a read port that tell a register of context 0 from one of each context."""
        return int(self.contexts > 1)

    @property
    def bus_words(self) -> int:
        """Bus words that a program word takes."""
        return -(-self.word_w // BUS_W)

    def encode(self, word: Word) -> int:
        """The bits of a :class:`Word`, as an int."""
        fields = []
        for bank in range(self.banks):
            for side in range(SIDES):
                port = Port(bank, side)
                address = word.reads.get(port, 0)
                fields.append((0 if address is OFFERED else address, self.address_w))
                fields.append((address is OFFERED, 1))
                fields.append((port in word.common, self.common_w))
        for bank in range(self.banks):
            fields.append((word.writes.get(bank, 0), self.address_w))
            fields.append((bank in word.writes, 1))
        fields.append((word.sine, 1))
        for index, lane in enumerate(self.lanes):
            idle = (Operand(0),) * len(lane.sides)
            for operand in word.issues.get(index, idle):
                fields.append((operand.bank, self.bank_w))
                fields.append((operand.negative, 1))
            if lane.op == "output":
                fields.append((index in word.issues, 1))
                fields.append((word.to_scratch, int(self.scratch)))
                fields.append((word.output, self.out_w))
        if self.streams:
            fields += [(bank in word.loaded, 1) for bank in self.rare_banks]
            fields.append((word.load, self.in_w))
            fields.append((word.from_scratch, int(self.scratch)))
            used = {self.lanes[index].op for index in word.issues}
            fields += [(op in used, 1) for op in RARE]
        bits = shift = 0
        for value, width in fields:
            if not 0 <= value < 1 << width:
                raise ProgramError(f"field of {width} bits cannot hold {value}")
            bits |= int(value) << shift
            shift += width
        return bits


@dataclass
class Program:
    """A kernel as words, and where its data stands.

    Attributes
    ----------
    machine : Machine
    words : list of Word
        The main segment, after it the re-basing segment and the prologue if there are any.
    main : int
        Length of the main segment, words. The re-basing segment runs instead of it every so
        many evaluations.
    prologue : int
        Length of the prologue, words; 0 = there is none. It runs once before each run, and finds
        the early values of the first evaluation.
    inputs, carried, outputs, parameters : dict
        Name -> :class:`Location`, of context 0; parameters exist there only. Inputs and parameters
        stay; a carried value is there before an evaluation and its successor after it; an output is
        there after the evaluation. Inputs are at consecutive locations: the same address of bank
        after bank, then the next address.
    early : dict
        Name -> :class:`Location` of what an evaluation computes for the next one, of context 0.
    data : dict
        Name -> bits of the parameters, as recorded: not part of what the program is.
    registers : list of int
        Registers in use of each bank.
    """

    machine: Machine
    words: list[Word]
    main: int
    registers: list[int]
    inputs: dict[str, Location] = field(default_factory=dict)
    carried: dict[str, Location] = field(default_factory=dict)
    outputs: dict[str, Location] = field(default_factory=dict)
    parameters: dict[str, Location] = field(default_factory=dict)
    prologue: int = 0
    early: dict[str, Location] = field(default_factory=dict)
    data: dict[str, int] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        lanes = f"{self.machine.adders}+{self.machine.multipliers}"
        return f"<Program: {len(self.words)} words for {lanes} lanes>"

    @property
    def special(self) -> int:
        """Length of the re-basing segment, words; 0 = there is none."""
        return len(self.words) - self.main - self.prologue

    @property
    def opening(self) -> "Program | None":
        """The prologue as a program that runs for one step; None if there is none."""
        if not self.prologue:
            return None
        words = self.words[len(self.words) - self.prologue :]
        return Program(self.machine, words, main=self.prologue, registers=self.registers)

    def at(self, name: str, context: int) -> Location:
        """Where an output stands for a context: one that is a parameter is common to all."""
        location = self.outputs[name]
        common = location in self.parameters.values()
        return location if common else self.machine.of_context(location, context)

    def segment(self, step: int, every: int) -> list[Word]:
        """Words of a step; the special segment runs in steps every, 2 every, ...; 0: never."""
        special = bool(every and step and step % every == 0)
        end = self.main + self.special
        return self.words[self.main : end] if special else self.words[: self.main]

    def encoded(self) -> list[int]:
        """The words' bits."""
        return [self.machine.encode(word) for word in self.words]

    def image(self, values: Mapping[str, int]) -> dict[Location, int]:
        """Registers to load: {Location: bits}.

        Parameters
        ----------
        values : dict
            Name -> bits of inputs and carried values, and of parameters that differ from
            :attr:`data`.
        """
        homes = self.parameters | self.inputs | self.carried
        return {homes[name]: bits for name, bits in (self.data | dict(values)).items()}
