"""Random accesses of a top: any address, any strobes, values that runs can begin with."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.hardware.step_engine import machine_of
from pymodel.machine.isa import Machine, Word
from pymodel.machine.registers import READ_WRITE, WORD_BYTES, Home
from tb.fuzz.model import DISCARD, RESET, RUN, WORD, Array, Model, Programmable

MAX_DELAY = 15
LONG = 64  # steps: the run is still on when the next write comes
AT_BOUNDS = 32  # writes of a batch, or some more


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


def near(rng: random.Random, most: int) -> int:
    """A number at a bound, beside it, or far from it."""
    return rng.choice((0, 1, most - 1, most, most + 1, WORD)) & WORD


def span(rng: random.Random, depth: int) -> tuple[int, int]:
    """Start and length of what ends behind a memory, or seems to end in it in 32 bits.

    Only a memory's last word, alone, fits it.
    """
    start = rng.choice((0, 1, rng.randrange(depth), depth - 1, depth, depth + 1, WORD))
    length = rng.choice((0, 1, depth, depth + 1)) - start & WORD
    return (start, length) if start + length > depth else (depth - 1, 1)


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
        often = ("CTRL", "STATUS", "STATUS", "CYCLES", "IRQ_ENABLE")
        self.often = [map_[name].offset for name in often]
        self.writable = [a for a, (x, _) in words.items() if x.access == READ_WRITE]
        own = (x for x in map_.registers if x.home is not Home.CONTROL)
        singles = [x.offset for x in own if x.words == 1 and x.access == READ_WRITE]
        self.acting = singles or self.writable
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
        # Only words behind those that run are stored anew, and not the last one, which runs, too.
        found["PROGRAM_STORE"] = lambda rng: half | rng.randrange(half - 1) | high(rng)
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

    def batch(self, count: int, share: float) -> list[Write]:
        """So many writes, among them what is at bounds."""
        found: list[Write] = []
        if isinstance(self.model, Programmable):
            while len(found) < AT_BOUNDS:
                found += self.at_bounds(share)
        others = [self.write(share) for _ in range(count - len(found))]
        place = self.rng.randint(0, len(others))
        return others[:place] + found + others[place:]

    def at_bounds(self, share: float) -> list[Write]:
        """Numbers that are at a bound, and what takes or refuses them; nothing runs before.

        Random numbers alone seldom meet one bound while all others are kept.
        """
        is_array = isinstance(self.model, Array)
        kinds = (self._segment, self._function, self._abort) if is_array else (self._run,)
        listed = self.rng.choice(kinds)()
        return [
            Write(self.model.map[name].offset, data, 15, *(self.delay(share) for _ in range(3)))
            for name, data in [("CTRL", RESET), *listed]
        ]

    def _run(self) -> list[tuple[str, int]]:
        """A run; behind it numbers that any run may have."""
        rng, params = self.rng, self.model.params
        depth, entries = params["PROGRAM_DEPTH"], params["TRACE_REGISTERS"]
        kind = rng.choice(("MAIN", "SPECIAL", "TRACE"))

        def segments() -> list[tuple[str, int]]:
            return [
                (f"{which}_{name}", rng.randint(1, depth // 4 - 1))
                for which in ("MAIN", "SPECIAL")
                for name in ("START", "LENGTH")
            ]

        values = dict(segments()) | {"STEPS": LONG, "EVERY": int(kind == "SPECIAL")}
        traced = [0, 0, 0]
        if kind == "TRACE":
            start, length = span(rng, entries)
            if start + length <= entries:
                start, length = entries, 0  # nothing is ever traced
            before = rng.choice((0, length // 2, length))
            traced = [start, before, length - before]
        else:
            values[f"{kind}_START"], values[f"{kind}_LENGTH"] = span(rng, depth)
        names = ("TRACE_START", "TRACE_BEFORE", "TRACE_AFTER")
        values |= dict(zip(names, traced, strict=True)) | {"SAVE": int(kind == "TRACE")}
        # A write behind the command is refused while a run is on.
        tried = [("CTRL", RUN), ("STEPS", rng.randint(0, 3)), ("CTRL", RESET)]
        return [*values.items(), *tried, *segments(), *((name, 0) for name in names)]

    def _segment(self) -> list[tuple[str, int]]:
        """A segment that is stored."""
        rng, params = self.rng, self.model.params
        start, length = span(rng, params["PROGRAM_DEPTH"])
        values = {"SEGMENT_START": start, "SEGMENT_LENGTH": length, "SEGMENT_REPEAT": 1}
        values["SEGMENT_STORE"] = min(self.model.segments, params["SEGMENTS"] - 1)
        if rng.random() < 0.5:
            values["SEGMENT_STORE"] = rng.randrange(params["SEGMENTS"])
        if rng.random() < 0.5:
            values |= {"SEGMENT_START": 0, "SEGMENT_LENGTH": params["PROGRAM_DEPTH"]}
            most = {"SEGMENT_REPEAT": Array.MOST, "SEGMENT_STORE": params["SEGMENTS"]}
            name = rng.choice(list(most))
            values[name] = near(rng, most[name])
        return list(values.items())

    def _abort(self) -> list[tuple[str, int]]:
        """A reset somewhere in a call, perhaps another one soon, and a run at once.

        Writes behind its command are refused as long as it is on: they tell when it ends.
        """
        rng = self.rng
        found = [("CALLS", rng.randint(1, 2)), ("CTRL", RUN)]
        for _ in range(rng.randint(1, 2)):
            found += [("CALLS", 1)] * rng.choice((0, 0, 1, 2, 6))
            found.append(("CTRL", RESET | rng.choice((0, DISCARD, DISCARD))))
        found += [("CALLS", 1)] * rng.choice((0, 0, 1, 2))
        return [*found, ("CTRL", RUN), *[("CALLS", 1)] * 12]

    def _function(self) -> list[tuple[str, int]]:
        """A function that is stored: all its numbers fit, or all but one."""
        rng, params = self.rng, self.model.params
        segments = max(self.model.segments, 1)
        first, loop_from, last = sorted(rng.randrange(segments) for _ in range(3))
        most = {
            "FIRST": loop_from,
            "LOOP_FROM": last,
            "LAST": segments,
            "LOOPS": Array.MOST,
            "INPUTS": params["IN_DEPTH"],
            "OUTPUTS": params["OUT_DEPTH"],
            "STORE": params["FUNCTIONS"],
        }
        values = {"FIRST": first, "LOOP_FROM": loop_from, "LAST": last}
        values |= {name: rng.randint(1, most[name]) for name in ("LOOPS", "INPUTS", "OUTPUTS")}
        values["STORE"] = rng.randrange(most["STORE"])
        name = rng.choice(list(most))
        values[name] = near(rng, most[name])
        return [(f"FUNCTION_{name}", value) for name, value in values.items()]

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
            # Address 0 last: a byte of the address that is not strobed is never the last word's.
            found += [Write(at["PROGRAM_STORE"], address) for address in reversed(range(depth))]
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
