"""Random accesses of a top: any address, any strobes, values that runs can begin with."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.machine.isa import Machine, Word
from pymodel.machine.registers import READ_WRITE, WORD_BYTES
from tb.common.step_engine import machine_of
from tb.fuzz.model import RESET, RUN, WORD, Model, Programmable

MAX_DELAY = 15


class Write(NamedTuple):
    """A write; delays in cycles."""

    address: int
    data: int
    strobes: int = 15
    aw: int = 0
    w: int = 0
    b: int = 0

    @property
    def packed(self) -> int:
        """As ``axil_fuzz.sv`` takes it."""
        head = self.b << 24 | self.w << 20 | self.aw << 16 | self.strobes << 12 | self.address
        return head << 32 | self.data


class Read(NamedTuple):
    """A read; delays in cycles."""

    address: int
    ar: int = 0
    r: int = 0

    @property
    def packed(self) -> int:
        """As ``axil_fuzz.sv`` takes it."""
        return self.r << 16 | self.ar << 12 | self.address


Value = Callable[[random.Random], int]


def small(most: int, sure: float = 0.9) -> Value:
    """Numbers up to ``most``, sometimes with high bits besides: too large."""

    def draw(rng: random.Random) -> int:
        high = 0 if rng.random() < sure else rng.getrandbits(16) << 16
        return high | rng.randint(0, most)

    return draw


def high(rng: random.Random) -> int:
    """Zero, or too large for any trace: nothing is ever traced."""
    return 0 if rng.random() < 0.8 else rng.getrandbits(16) << 16


def anything(rng: random.Random) -> int:
    """Any word."""
    return rng.getrandbits(32)


@dataclass
class Stimulus:
    """Draws accesses for a top.

    Attributes
    ----------
    model
        Of its registers.
    rng
    """

    model: Model
    rng: random.Random

    def __post_init__(self) -> None:
        map_, words = self.model.map, self.model.at
        self.addresses = list(words)
        self.often = [map_[name].offset for name in ("CTRL", "STATUS", "STATUS", "CYCLES")]
        self.writable = [a for a, (x, _) in words.items() if x.access == READ_WRITE]
        singles = [x for x in map_.registers if x.words == 1 and x.access == READ_WRITE]
        self.acting = [x.offset for x in singles[2:]] or self.writable  # without CTRL, STATUS
        self.values = self._values()

    def _values(self) -> dict[str, Value]:
        params, model = self.model.params, self.model
        if not isinstance(model, Programmable):
            return {}
        machine_like = small(max(model.addresses - 1, 1))

        def location(rng: random.Random) -> int:
            return rng.randint(0, model.banks) << 16 | machine_like(rng) % (1 << 16)

        found: dict[str, Value] = {"FILE_ADDRESS": location, "TRACE_ENTRY": location}
        half = params["PROGRAM_DEPTH"] // 2
        # Only words behind those that run are stored anew.
        found["PROGRAM_STORE"] = lambda rng: half | rng.randrange(half) | high(rng)
        names = [register.name for register in model.map.registers]
        for name in names:
            if name.startswith(("MAIN_", "SPECIAL_")):
                found[name] = small(half // 2 - 1)
            elif name.startswith(("SEGMENT_", "FUNCTION_")):
                found[name] = small(6)
        found |= {name: small(3) for name in ("STEPS", "EVERY", "SAVE", "CALLS", "PROGRAM")}
        found |= {"TRACE_BEFORE": high, "TRACE_AFTER": high}
        found |= {name: small(17) for name in ("TRACE_START", "TRACE_INDEX")}
        return found

    def address(self, choices: list[int]) -> int:
        """Mostly of a register; sometimes of a byte in it, or anywhere."""
        kind = self.rng.random()
        if kind < 0.1:
            return self.rng.getrandbits(self.model.map.addr_w)
        at = self.rng.choice(self.often if kind < 0.25 else choices)
        return at + self.rng.randrange(WORD_BYTES) if kind > 0.9 else at

    def delay(self, busy: float) -> int:
        """Of a channel that is held back in this part of its accesses."""
        return self.rng.randint(1, MAX_DELAY) if self.rng.random() < busy else 0

    def write(self, share: float) -> Write:
        """A write; ``share``: of the accesses that a channel is held back in."""
        rng = self.rng
        choices = (self.writable, self.acting, self.addresses)[rng.choice((0, 1, 1, 2))]
        address = self.address(choices)
        register, _ = self.model.at.get(address & -WORD_BYTES, (None, 0))
        strobes = 15 if rng.random() < 0.6 else rng.getrandbits(4)
        data = anything(rng)
        if register is not None:
            name = register.name
            if name == "CTRL":
                data = data & ~(RUN | RESET) | (RUN if rng.random() < 0.7 else 0)
                data |= RESET if rng.random() < 0.15 else 0
            elif name in self.values:
                data = self.values[name](rng)
            elif register.floats and rng.random() < 0.7:
                data = self.model.fmt.from_float(rng.gauss(0, 1))
            if name == "PROGRAM_STORE":
                strobes |= 2  # that byte keeps it behind the words that run
        return Write(address, data, strobes, *(self.delay(share) for _ in range(3)))

    def read(self, share: float) -> Read:
        """A read, likewise."""
        return Read(self.address(self.addresses), *(self.delay(share) for _ in range(2)))

    def preamble(self) -> list[Write]:
        """Fill the memories that can be read, and the program with words that store nothing."""
        model = self.model
        if not isinstance(model, Programmable):
            return []
        at = {register.name: register.offset for register in model.map.registers}
        found = []
        if "TRACE_ENTRY" in at:
            machine: Machine = machine_of(model.params)
            nothing = machine.encode(Word())
            for i in range(machine.bus_words):
                word = nothing >> 32 * i & WORD
                found.append(Write(at["PROGRAM_WORD"] + WORD_BYTES * i, word))
            depth = model.params["PROGRAM_DEPTH"]
            found += [Write(at["PROGRAM_STORE"], address) for address in range(depth)]
            found += [Write(at["TRACE_INDEX"], 0)]
            found += [Write(at["TRACE_ENTRY"], 0)] * model.params["TRACE_REGISTERS"]
        found += [Write(at["FILE_ADDRESS"], 0)]
        found += [Write(at["FILE_DATA"], anything(self.rng))] * (model.banks * model.addresses)
        return found

    def repair(self) -> list[Write]:
        """Write again what a reset has left unknown in the trace list."""
        listed = getattr(self.model, "listed", {})
        at = {register.name: register.offset for register in self.model.map.registers}
        return [
            write
            for entry, word in listed.items()
            if word is None
            for write in (Write(at["TRACE_INDEX"], entry), Write(at["TRACE_ENTRY"], 0))
        ]

    def everything(self) -> list[Read]:
        """All that can be read, once."""
        found = [Read(address) for address in self.addresses]
        if getattr(self.model, "READS_FILE", False):
            at = self.model.map["FILE_DATA"].offset
            found += [Read(at)] * (self.model.banks * self.model.addresses)
        return found
