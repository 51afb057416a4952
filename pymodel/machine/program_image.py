"""Program images: all that a step engine is loaded with, as the bytes of a file.

The format is that of :mod:`pymodel.machine.image_format`; docs/program_image.md describes it. The
driver (sw/step_engine.c) reads what is written here.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pymodel.arith.fp import Format
from pymodel.machine.image_format import (
    HEADER,
    MAGIC,
    PROGRAM,
    VALUE,
    VERSION,
    WORD_BYTES,
    Record,
)
from pymodel.machine.isa import Location, Machine, ProgramError
from pymodel.machine.registers import BUS_W, STEP_ENGINE, STEP_MAX_WORD

BANK_AT = 16  # of a location on the bus: bank << 16 | address
ADDRESS_MASK = (1 << BANK_AT) - 1
CHECKED_FROM = WORD_BYTES * (HEADER.place("CHECK") + 1)

#: Value records: name, location, bits.
Value = tuple[str, Location, int]


class ImageError(ValueError):
    """Bytes that are no program image, or a damaged one."""


@dataclass(frozen=True)
class StoredProgram:
    """A program of an image.

    Attributes
    ----------
    name : str
    start, main, special, prologue : int
        Its first word, and the words of its segments and of its prologue.
    every, steps, save : int
        The run that it was compiled for, as for :meth:`pymodel.machine.model.Twin.run`.
    entry : int
        Its first entry of the trace list.
    inputs, carried, before, after : dict
        Name -> Location; ``before`` and ``after`` are what it traces, ``after`` its outputs.
    initial : dict
        Name -> bits of the carried values to begin with.
    """

    name: str
    start: int
    main: int
    special: int = 0
    prologue: int = 0
    every: int = 0
    steps: int = 1
    save: int = 1
    entry: int = 0
    inputs: dict[str, Location] = field(default_factory=dict)
    carried: dict[str, Location] = field(default_factory=dict)
    before: dict[str, Location] = field(default_factory=dict)
    after: dict[str, Location] = field(default_factory=dict)
    initial: dict[str, int] = field(default_factory=dict)

    @property
    def values(self) -> list[Value]:
        """Its value records."""
        groups = (self.inputs, self.carried, self.before, self.after)
        return [
            (name, location, self.initial[name] if group is self.carried else 0)
            for group in groups
            for name, location in group.items()
        ]

    @property
    def traced(self) -> int:
        """Its entries of the trace list."""
        return len(self.before) + len(self.after)


@dataclass(frozen=True)
class ProgramImage:
    """What a step engine is loaded with.

    Attributes
    ----------
    config, lanes, depth : int
        What CONFIG, LANES and FILE_DEPTH of the engine read as.
    word_w : int
        Bits of a program word.
    words : tuple of int
        All program words, from address 0 on.
    programs : tuple of StoredProgram
        In the order of their numbers.
    parameters : dict
        Name -> Location.
    bits : dict
        Name -> bits of the parameters.
    """

    config: int
    lanes: int
    depth: int
    word_w: int
    words: tuple[int, ...]
    programs: tuple[StoredProgram, ...]
    parameters: dict[str, Location]
    bits: dict[str, int]

    @property
    def entries(self) -> int:
        """Entries of the trace list of all programs."""
        return sum(program.traced for program in self.programs)

    @property
    def machine(self) -> Machine:
        """The usual machine of this kind, its memories enlarged where the image needs more."""
        config, lanes = (
            {part.name: part.get(word) for part in STEP_ENGINE[name].fields}
            for name, word in (("CONFIG", self.config), ("LANES", self.lanes))
        )
        usual = Machine()
        return Machine(
            adders=lanes["NUM_ADD"],
            multipliers=lanes["NUM_MUL"],
            add_stages=config["ADD_STAGES"],
            mul_stages=config["MUL_STAGES"],
            rec_stages=config["REC_STAGES"],
            sincos_stages=lanes["SINCOS_STAGES"],
            rare_logic=lanes["RARE_LOGIC"],
            depth=self.depth,
            program_depth=max(usual.program_depth, _power_of_two(len(self.words))),
            trace_registers=max(usual.trace_registers, _power_of_two(self.entries)),
            programs=max(usual.programs, _power_of_two(len(self.programs))),
            fmt=Format(config["EXP_W"], config["MAN_W"]),
            contexts=config["CONTEXTS"],
            read_stages=lanes["READ_STAGES"],
            operand_stages=lanes["OPERAND_STAGES"],
        )

    def encode(self) -> bytes:
        """The bytes of the file.

        Raises
        ------
        ProgramError
            If a program word is wider than the engine's registers for it.
        """
        if _bus_words(self.word_w) > STEP_MAX_WORD:
            widest = BUS_W * STEP_MAX_WORD
            raise ProgramError(f"program words of {self.word_w} bits; an engine takes {widest}")
        names = _Names()
        parameters = [(name, at, self.bits[name]) for name, at in self.parameters.items()]
        values, programs = parameters.copy(), []
        for program in self.programs:
            programs += [
                names.place(program.name),
                *(program.start, program.main, program.special, program.prologue),
                *(program.every, program.steps, program.save),
                *(program.entry, len(values)),
                *map(len, (program.inputs, program.carried, program.before, program.after)),
            ]
            values += program.values
        body = [*programs]
        for name, location, bits in values:
            body += [names.place(name), on_bus(location), bits]
        for word in self.words:
            body += _parts(word, _bus_words(self.word_w))
        text = names.text
        checked = [self.config, self.lanes, self.depth, self.word_w, len(self.words), self.entries]
        checked += [len(self.programs), len(parameters), len(values), len(text), *body]
        behind = struct.pack(f"<{len(checked)}I", *checked) + text
        head = (MAGIC, VERSION, CHECKED_FROM + len(behind), zlib.crc32(behind))
        return struct.pack("<4I", *head) + behind

    @classmethod
    def decode(cls, data: bytes) -> ProgramImage:
        """Read the bytes of a file.

        Raises
        ------
        ImageError
            If they are no program image, of another version, cut short or damaged.
        """
        return _Reader(data).image()


def identity(machine: Machine) -> tuple[int, int, int]:
    """CONFIG, LANES and FILE_DEPTH of an engine that is this machine."""
    config = {
        "EXP_W": machine.fmt.exp_w,
        "MAN_W": machine.fmt.man_w,
        "ADD_STAGES": machine.add_stages,
        "MUL_STAGES": machine.mul_stages,
        "REC_STAGES": machine.rec_stages,
        "CONTEXTS": machine.contexts,
    }
    lanes = {
        "NUM_ADD": machine.adders,
        "NUM_MUL": machine.multipliers,
        "SINCOS_STAGES": machine.sincos_stages,
        "READ_STAGES": machine.read_stages,
        "OPERAND_STAGES": machine.operand_stages,
        "RARE_LOGIC": machine.rare_logic,
    }

    def word(register: str, values: dict[str, int]) -> int:
        found = 0
        for name, value in values.items():
            found |= value << STEP_ENGINE[register].field(name).low
        return found

    return word("CONFIG", config), word("LANES", lanes), machine.depth


def on_bus(location: Location) -> int:
    """A location as registers hold it."""
    return location.bank << BANK_AT | location.address


def _bus_words(word_w: int) -> int:
    return -(-word_w // BUS_W)


def _parts(word: int, count: int) -> list[int]:
    """A program word as words of the bus, lowest bits first."""
    return [word >> BUS_W * k & ((1 << BUS_W) - 1) for k in range(count)]


def _power_of_two(least: int) -> int:
    return 1 << max(least - 1, 0).bit_length()


class _Names:
    """The section of names, each name in it once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._bytes = b""

    def place(self, name: str) -> int:
        """Where a name begins."""
        if name not in self._places:
            self._places[name] = len(self._bytes)
            self._bytes += name.encode() + b"\0"
        return self._places[name]

    @property
    def text(self) -> bytes:
        """The bytes, filled up with zeros to whole words."""
        return self._bytes + bytes(-len(self._bytes) % WORD_BYTES)


class _Reader:
    """Reads an image; what leads outside of it is refused."""

    def __init__(self, data: bytes) -> None:
        def word(name: str) -> int | None:
            found = data[WORD_BYTES * HEADER.place(name) :][:WORD_BYTES]
            return int.from_bytes(found, "little") if len(found) == WORD_BYTES else None

        if word("MAGIC") not in (MAGIC, None):
            raise ImageError("no program image")
        if word("VERSION") not in (VERSION, None):
            raise ImageError(f"version {word('VERSION')} of the format; must be {VERSION}")
        if len(data) < HEADER.size or word("SIZE") != len(data):
            size = word("SIZE")
            when = f"{HEADER.size} or more" if size is None else str(size)
            raise ImageError(f"cut short: {len(data)} bytes, {when} when written")
        if zlib.crc32(data[CHECKED_FROM:]) != word("CHECK"):
            raise ImageError("damaged: its checksum is wrong")
        self._data = data
        self._head = self._record(HEADER, 0)
        head = self._head
        self._bus_words = _bus_words(head["WORD_W"])
        self._values_at = HEADER.size + PROGRAM.size * head["PROGRAMS"]
        self._words_at = self._values_at + VALUE.size * head["VALUES"]
        self._names_at = self._words_at + WORD_BYTES * self._bus_words * head["WORDS"]
        adders, multipliers = (
            STEP_ENGINE["LANES"].field(name).get(head["LANES"]) for name in ("NUM_ADD", "NUM_MUL")
        )
        self._banks = adders + multipliers + 2
        self._check(self._names_at + head["NAMES"] == len(data))
        self._check(head["NAMES"] > 0 and head["NAMES"] % WORD_BYTES == 0 and data[-1] == 0)
        self._check(0 < self._bus_words <= STEP_MAX_WORD)
        self._check(head["PARAMETERS"] <= head["VALUES"])

    @staticmethod
    def _check(sound: bool) -> None:
        if not sound:
            raise ImageError("damaged: what it says leads outside")

    def _record(self, record: Record, at: int) -> dict[str, int]:
        numbers = struct.unpack_from(f"<{len(record.fields)}I", self._data, at)
        return {part.name: number for part, number in zip(record.fields, numbers, strict=True)}

    def _name(self, place: int) -> str:
        self._check(place < self._head["NAMES"])
        start = self._names_at + place
        try:
            return self._data[start : self._data.index(b"\0", start)].decode()
        except UnicodeDecodeError:
            raise ImageError("damaged: a name is not UTF-8") from None

    def _values(self, first: int, count: int) -> Iterator[Value]:
        self._check(first + count <= self._head["VALUES"])
        for number in range(first, first + count):
            value = self._record(VALUE, self._values_at + VALUE.size * number)
            location = Location(value["LOCATION"] >> BANK_AT, value["LOCATION"] & ADDRESS_MASK)
            self._check(location.bank < self._banks and location.address < self._head["FILE_DEPTH"])
            yield self._name(value["NAME"]), location, value["BITS"]

    def _program(self, number: int) -> StoredProgram:
        found = self._record(PROGRAM, HEADER.size + PROGRAM.size * number)
        words = sum(found[name] for name in ("START", "MAIN", "SPECIAL", "PROLOGUE"))
        self._check(words <= self._head["WORDS"])
        self._check(found["ENTRY"] + found["BEFORE"] + found["AFTER"] <= self._head["ENTRIES"])
        first, groups = found["FIRST"], []
        for count in ("INPUTS", "CARRIED", "BEFORE", "AFTER"):
            groups.append([*self._values(first, found[count])])
            first += found[count]
        inputs, carried, before, after = (
            {name: location for name, location, _ in group} for group in groups
        )
        initial = {name: bits for name, _, bits in groups[1]}
        numbers = {name: found[name.upper()] for name in _NUMBERS}
        return StoredProgram(
            self._name(found["NAME"]),
            inputs=inputs,
            carried=carried,
            before=before,
            after=after,
            initial=initial,
            **numbers,
        )

    def image(self) -> ProgramImage:
        """All of it."""
        head, step = self._head, WORD_BYTES * self._bus_words
        parameters = [*self._values(0, head["VALUES"])][: head["PARAMETERS"]]
        starts: Sequence[int] = range(self._words_at, self._names_at, step)
        words = (int.from_bytes(self._data[at : at + step], "little") for at in starts)
        return ProgramImage(
            config=head["CONFIG"],
            lanes=head["LANES"],
            depth=head["FILE_DEPTH"],
            word_w=head["WORD_W"],
            words=tuple(words),
            programs=tuple(self._program(number) for number in range(head["PROGRAMS"])),
            parameters={name: location for name, location, _ in parameters},
            bits={name: bits for name, _, bits in parameters},
        )


#: The numbers of a program, in the order of :class:`StoredProgram`.
_NUMBERS = ("start", "main", "special", "prologue", "every", "steps", "save", "entry")
