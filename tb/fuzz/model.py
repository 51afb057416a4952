"""What each top's registers must answer, access by access, in the cycle of each access."""

from collections import Counter
from typing import Any

from pymodel.algorithms import two_handles
from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.compile import latency
from pymodel.hardware import step_array as array_driver
from pymodel.hardware import step_engine as engine_driver
from pymodel.hardware.coprocessor import parameter_word
from pymodel.machine.model import START_CYCLES
from pymodel.machine.registers import (
    HDCA_COPROCESSOR,
    READ_WRITE,
    WORD_BYTES,
    Home,
    Map,
    ldup_coprocessor,
    step_array,
    step_engine,
)

WORD = 0xFFFF_FFFF
RUN, RESET = 1, 2  # of CTRL
IDLE, BUSY, DONE, ERROR = 1, 2, 4, 8  # of STATUS
FLAGS_AT, FAULT_AT, FLAGS = 8, 4, 31
IRQ = DONE | ERROR | 1 << FAULT_AT  # of IRQ_ENABLE
DISCARD = 4  # of the step array's CTRL
_DEFAULT = "no parameter of the unit: the default of the RTL, which the top's bench compares"
#: What hardware of one configuration reads as; not known here, but the same in every read; and why.
CONSTANTS = {
    "ID": "the top's bench says which letters",
    "SCRATCH_DEPTH": _DEFAULT,
    "TRACE_DEPTH": _DEFAULT,
}
UNKNOWN = None  # a word that may be anything


class Model:
    """The registers of a top: those that all tops have here, the others in a subclass.

    Accesses are given in the order of their cycles, a read before a write of the same cycle.

    Parameters
    ----------
    map_
        Its registers.
    params
        Of the module.
    """

    PARAMETERS: tuple[str, ...] = ()  # registers that show parameters, besides CONFIG
    RESULTS: tuple[str, ...] = ()  # registers that :meth:`run` gives, 0 before
    OPTIONS = 0  # bits of CTRL that are kept
    NOT_COUNTED = 0  # cycles of a run that CYCLES does not count

    def __init__(self, map_: Map, params: dict[str, int]) -> None:
        self.map, self.params = map_, params
        self.fmt = Format(params["EXP_W"], params["MAN_W"])
        self.at = {
            register.offset + WORD_BYTES * i: (register, i)
            for register in map_.registers
            for i in range(register.words)
        }
        self.constant = {  # what reads as the same at all times
            name: parameter_word(map_[name], params) for name in ("CONFIG", *self.PARAMETERS)
        }
        self.constant["VERSION"] = map_.version_word
        self.seen: dict[str, int] = {}  # constants as they were read first
        self.now = 0  # cycle of the access
        self.raises = (-1, False)  # a cycle, and whether irq_o is high behind it
        self.met: Counter[str] = Counter()  # runs that were begun, ended, refused, aborted
        self.reset()

    def reset(self, pending: tuple[int, int, int] | None = None) -> None:
        """By the pin; ``pending`` is a write that may have come through in that cycle."""
        self.enabled = 0  # IRQ_ENABLE
        self.held = {
            (register.name, i): 0 for register, i in self.at.values() if register.home is Home.HELD
        }
        self.soft_reset()

    def soft_reset(self) -> None:
        """By CTRL."""
        self.options = 0
        self.sticky = 0  # ERROR, fault, flags
        self.cycles = 0
        self.started: int | None = None  # cycle of the write that began the run
        self.length = 0
        self.new_sticky = 0  # of the run that is on, or was
        self.settled = -1  # cycle in which its status comes
        self.refused = -1  # cycle of the last read that was locked
        self.done = False
        self.results: dict[tuple[str, int], int] = {}
        self.new_results: dict[tuple[str, int], int] = {}

    # --- what a subclass says --------------------

    def run(self) -> tuple[int, int, dict[tuple[str, int], int]]:
        """Length, sticky bits and results of a run that begins now."""
        raise NotImplementedError

    def runnable(self) -> bool:
        """Whether a run may begin."""
        return True

    def given(self, name: str, index: int) -> int | None:
        """What a register of the hardware reads as.

        Raises
        ------
        KeyError
            If nothing here says so.
        """
        if name in self.RESULTS:
            return self.results.get((name, index), 0)
        return self.same(name)

    def same(self, name: str) -> int | None:
        """What a register reads as at all times; raises like :meth:`given`."""
        if name in self.constant:
            return self.constant[name]
        if name not in CONSTANTS:
            raise KeyError(
                f"{name} of {self.map.name}: tb/fuzz/model.py does not say what it reads as, nor "
                "CONSTANTS there why that is not known"
            )
        return UNKNOWN

    def read_through(self, name: str) -> tuple[bool, int | None]:
        """Response and word of a register that a read acts on."""
        raise NotImplementedError

    def write_through(self, name: str, data: int, mask: int) -> bool:
        """Act on the hardware; the response."""
        raise NotImplementedError

    # --- accesses --------------------

    def advance(self, cycle: int) -> bool:
        """Let the run end if it has by this cycle; whether one is on."""
        if self.started is None:
            return False
        if cycle <= self.started + self.length:
            return True
        self.cycles = self.length - self.NOT_COUNTED
        self.sticky |= self.new_sticky
        self.results |= self.new_results
        self.started, self.done = None, True
        self.met["runs ended"] += 1
        return False

    def read(self, cycle: int, address: int) -> tuple[bool, tuple[int, ...] | None]:
        """Whether the answer is OKAY, and the words that it may have; None: any."""
        busy, self.now = self.advance(cycle), cycle
        register, index = self.at.get(address & -WORD_BYTES, (None, 0))
        if register is None:
            return False, (0,)
        name = register.name
        if register.home is Home.CONTROL:
            return True, self.control(name, cycle, busy)
        if register.locked and busy:
            self.sticky |= ERROR
            self.refused = cycle
            return False, (0,)
        if register.home is Home.HELD:
            word = self.held[name, index]
            return True, None if word is UNKNOWN else (word,)
        if register.home is Home.THROUGH:
            okay, word = self.read_through(name)
            return okay, (0,) if not okay else None if word is UNKNOWN else (word,)
        word = self.given(name, index)
        if word is UNKNOWN:
            return True, None
        if busy and (name, index) in self.new_results:
            return True, None  # it changes at some time in the run, perhaps more than once
        return True, (word,)

    def status(self, busy: bool) -> int:
        """What STATUS reads as."""
        return self.sticky | (BUSY if busy else DONE if self.done else IDLE)

    def interrupt(self, cycle: int) -> bool:
        """Whether irq_o is high in the cycle behind this one, to be asked before its accesses."""
        if self.raises[0] != cycle:  # an access of the same cycle changes nothing yet
            self.raises = cycle, self.status(self.advance(cycle)) & self.enabled != 0
        return self.raises[1]

    def control(self, name: str, cycle: int, busy: bool) -> tuple[int, ...] | None:
        """The registers that all tops have."""
        if name == "CTRL":
            return (self.options,)
        if name == "STATUS":
            return (self.status(busy),)
        if name == "IRQ_ENABLE":
            return (self.enabled,)
        if name == "CYCLES":
            counted = max(cycle - self.started - 1 - self.NOT_COUNTED, 0) if busy else self.cycles
            return (counted,)
        word = self.same(name)
        return None if word is UNKNOWN else (word,)

    def write(self, cycle: int, address: int, data: int, strobes: int) -> bool:
        """Do a write; whether the answer is OKAY."""
        busy, self.now = self.advance(cycle), cycle
        register, index = self.at.get(address & -WORD_BYTES, (None, 0))
        if register is None or register.access != READ_WRITE:
            return False
        mask = sum(0xFF << 8 * i for i in range(WORD_BYTES) if strobes >> i & 1)
        name = register.name
        if name == "CTRL":
            self.command(cycle, data & mask, mask, busy)
            return True
        if name == "STATUS":
            kept = ~(data & mask)
            if self.done and not kept & DONE and not busy:
                self.done = False
            # What a run or a read sets in the same cycle stays.
            new = self.new_sticky if cycle == self.settled else 0
            new |= ERROR if cycle == self.refused else 0
            self.sticky = (self.sticky & kept) | new
            return True
        if name == "IRQ_ENABLE":
            self.enabled = ((self.enabled & ~mask) | (data & mask)) & IRQ
            return True
        if busy:
            # A write that would be refused anyway is no access to what is locked.
            if register.home is Home.HELD or self.allowed(name, data, mask):
                self.sticky |= ERROR
            return False
        if register.home is Home.HELD:
            self.hold(name, index, data, mask)
            return True
        if not mask:  # no byte is strobed: judged like any other write, and nothing is done
            return self.allowed(name, data, mask)
        return self.write_through(name, data, mask)

    def allowed(self, name: str, data: int, mask: int) -> bool:
        """Whether a write could be, if nothing ran."""
        raise NotImplementedError

    def hold(self, name: str, index: int, data: int, mask: int) -> None:
        """Write a register that is held."""
        register = self.map[name]
        width = (1 << self.fmt.width) - 1 if register.floats else WORD
        old = self.held[name, index]
        if old is UNKNOWN:
            if mask == WORD:
                self.held[name, index] = data & width
            return
        self.held[name, index] = ((old & ~mask) | (data & mask)) & width

    def command(self, cycle: int, bits: int, mask: int, busy: bool) -> None:
        """Write CTRL."""
        if bits & RESET:
            self.soft_reset()
            return
        if not busy:
            self.options = ((self.options & ~mask) | bits) & self.OPTIONS
        if not bits & RUN:
            return
        if busy or not self.runnable():
            self.sticky |= ERROR
            self.met["runs refused"] += 1
            return
        self.met["runs"] += 1
        self.length, self.new_sticky, self.new_results = self.run()
        self.started, self.done = cycle, False
        self.settled = cycle + self.length + 1


class Hdca(Model):
    """Assembly and disassembly."""

    RESULTS = ("COMPOUND", "T_1B", "WEIGHT_A", "WEIGHT_B", "BETA_HAT")
    OPTIONS = 4
    PHASE = 4

    def __init__(self, params: dict[str, int]) -> None:
        super().__init__(HDCA_COPROCESSOR, params)

    def soft_reset(self) -> None:
        """The joint of the last assembly is gone, too."""
        super().soft_reset()
        nothing = BitExact(self.fmt).scalar(0)
        row = (nothing,) * 3
        self.joint = two_handles.Joint((row, row), (row, row), (nothing, nothing))

    def scalars(self, arithmetic: BitExact, name: str) -> list[Any]:
        """The words of an operand."""
        return [arithmetic.scalar(self.held[name, i]) for i in range(self.map[name].words)]

    def run(self) -> tuple[int, int, dict[tuple[str, int], int]]:
        """The text of the algorithm."""
        arithmetic, stages = BitExact(self.fmt), latency.Stages.of(self.params)
        if self.options & self.PHASE:
            joint = arithmetic.adopt(self.joint)
            t_1c, t_2c = self.scalars(arithmetic, "T_1C"), self.scalars(arithmetic, "T_2C")
            found = {"T_1B": two_handles.disassemble(joint, t_1c, t_2c)}
            length, fault = latency.disassembly(stages), False
        else:
            a, b = (
                two_handles.from_words(tuple(self.scalars(arithmetic, name)))
                for name in ("BODY_A", "BODY_B")
            )
            compound, self.joint, fault = two_handles.assemble(arithmetic, a, b)
            found = {
                "COMPOUND": two_handles.to_words(compound),
                "WEIGHT_A": [*self.joint.W_A[0], *self.joint.W_A[1]],
                "WEIGHT_B": [*self.joint.W_B[0], *self.joint.W_B[1]],
                "BETA_HAT": self.joint.beta_hat,
            }
            length = latency.assembly(stages, self.params["PASSES"])
        words = {(name, i): x.bits for name, xs in found.items() for i, x in enumerate(xs)}
        return length, arithmetic.flags << FLAGS_AT | int(fault) << FAULT_AT, words


class Ldup(Model):
    """Inverses."""

    RESULTS = ("INVERSE",)

    def __init__(self, params: dict[str, int]) -> None:
        super().__init__(ldup_coprocessor(params["N"]), params)

    def run(self) -> tuple[int, int, dict[tuple[str, int], int]]:
        """The text of the algorithm."""
        arithmetic, n = BitExact(self.fmt), self.params["N"]
        words = [arithmetic.scalar(self.held["MATRIX", i]) for i in range(n * n)]
        rows = tuple(tuple(words[n * i : n * i + n]) for i in range(n))
        inverse, fault = inv_ldup(arithmetic, rows)
        length = latency.inversion(n, bool(self.params["PARALLEL"]), latency.Stages.of(self.params))
        entries = [x for row in inverse for x in row]
        found = {("INVERSE", i): x.bits for i, x in enumerate(entries)}
        return length, arithmetic.flags << FLAGS_AT | int(fault) << FAULT_AT, found


class Programmable(Model):
    """What step engine and step array share: a program that is stored, a register file."""

    READS_FILE = True

    def __init__(self, map_: Map, params: dict[str, int]) -> None:
        self.file: dict[int, int | None] = {}
        super().__init__(map_, params)

    def reset(self, pending: tuple[int, int, int] | None = None) -> None:
        """The file stays; a write of it in that cycle may have come through."""
        if pending and self.at.get(pending[0] & -WORD_BYTES, (None,))[0] == self.map["FILE_DATA"]:
            self.file[self.position["FILE_ADDRESS"]] = UNKNOWN
        super().reset()
        self.position = dict.fromkeys(self.POSITIONS, 0)
        self.read_at: dict[str, tuple[int, int]] = {}  # cycle of the last read of each, and where

    POSITIONS: tuple[str, ...] = ("FILE_ADDRESS", "PROGRAM_STORE")

    def is_location(self, word: int) -> bool:
        """Whether there is such a register."""
        return word >> 16 < self.banks and word & 0xFFFF < self.addresses

    def following(self, name: str, at: int) -> int:
        """The position behind another."""
        bank, address = divmod(at, 1 << 16)
        if bank != self.banks - 1:
            return bank + 1 << 16 | address
        return (address + 1) % self.addresses

    def accessed(self, name: str, is_read: bool) -> int:
        """Where an access is that moves this position, which it does.

        A read and a write in the same cycle are of the same place, and move on once.
        """
        at = self.standing(name)
        if is_read:
            self.read_at[name] = self.now, at
        self.position[name] = self.following(name, at)
        return at

    def standing(self, name: str) -> int:
        """A position as it was before a read in the same cycle moved it."""
        cycle, at = self.read_at.get(name, (-1, 0))
        return at if cycle == self.now else self.position[name]

    def merged(self, old: int, data: int, mask: int) -> int:
        """What a write makes of a word."""
        return (old & ~mask) | (data & mask)

    def possible(self, name: str, word: int) -> bool:
        """Whether a position can be that."""
        if name == "FILE_ADDRESS":
            return self.is_location(word)
        return word < self.params[{"PROGRAM_STORE": "PROGRAM_DEPTH"}[name]]

    def allowed(self, name: str, data: int, mask: int) -> bool:
        """Whether a write could be, if nothing ran."""
        if name not in self.position:
            return True
        return self.possible(name, self.merged(self.standing(name), data, mask))

    def read_through(self, name: str) -> tuple[bool, int | None]:
        """A position, or the register there."""
        if name == "FILE_DATA":
            if not self.READS_FILE:
                return True, 0
            return True, self.file.get(self.accessed("FILE_ADDRESS", True), UNKNOWN)
        return True, self.position[name]

    def write_through(self, name: str, data: int, mask: int) -> bool:
        """Move a position, or write the register there."""
        if not self.allowed(name, data, mask):
            return False
        if name == "FILE_DATA":
            at, width = self.accessed("FILE_ADDRESS", False), (1 << self.fmt.width) - 1
            old = self.file.get(at, UNKNOWN)
            if old is not UNKNOWN:
                self.file[at] = self.merged(old, data, mask) & width
            elif mask == WORD:
                self.file[at] = data & width
            return True
        self.position[name] = self.merged(self.standing(name), data, mask)
        return True


class Step(Programmable):
    """The step engine, with a program of words that store nothing; runs trace nothing."""

    PARAMETERS = ("LANES", "FILE_DEPTH", "PROGRAM_DEPTH", "TRACE_REGISTERS", "PROGRAMS")
    NOT_COUNTED = 1  # until the sequencer hears of a run
    POSITIONS = ("FILE_ADDRESS", "PROGRAM_STORE", "PROGRAM", "TRACE_INDEX")
    PER_PROGRAM = (
        "MAIN_START",
        "MAIN_LENGTH",
        "SPECIAL_START",
        "SPECIAL_LENGTH",
        "TRACE_BEFORE",
        "TRACE_AFTER",
        "TRACE_START",
    )

    def __init__(self, params: dict[str, int]) -> None:
        machine = engine_driver.machine_of(params)
        self.banks, self.addresses = machine.banks, machine.contexts * machine.depth
        self.listed: dict[int, int | None] = {}
        super().__init__(step_engine(machine.bus_words), params)

    def reset(self, pending: tuple[int, int, int] | None = None) -> None:
        """The trace list stays, too."""
        at = pending and self.at.get(pending[0] & -WORD_BYTES, (None,))[0]
        if at == self.map["TRACE_ENTRY"]:
            self.listed[self.position["TRACE_INDEX"]] = UNKNOWN
        super().reset(pending)
        self.shown, self.rows = 0, {}  # the program whose registers are shown, those of others

    def possible(self, name: str, word: int) -> bool:
        """Whether a position can be that."""
        most = {"PROGRAM": "PROGRAMS", "TRACE_INDEX": "TRACE_REGISTERS"}
        return word < self.params[most[name]] if name in most else super().possible(name, word)

    def allowed(self, name: str, data: int, mask: int) -> bool:
        """A location for the trace list may be written, too."""
        if name != "TRACE_ENTRY":
            return super().allowed(name, data, mask)
        old = self.listed.get(self.standing("TRACE_INDEX")) or 0
        # The fuzzer writes one that is unknown as a whole first.
        return self.is_location(self.merged(old, data, mask))

    def following(self, name: str, at: int) -> int:
        """The position behind another."""
        if name == "TRACE_INDEX":
            return (at + 1) % self.params["TRACE_REGISTERS"]
        return super().following(name, at)

    def read_through(self, name: str) -> tuple[bool, int | None]:
        """The trace is empty."""
        if name == "TRACE_DATA":
            return False, 0
        if name == "TRACE_ENTRY":
            return True, self.listed.get(self.accessed("TRACE_INDEX", True), UNKNOWN)
        return super().read_through(name)

    def write_through(self, name: str, data: int, mask: int) -> bool:
        """PROGRAM shows the registers of another program."""
        if name == "TRACE_ENTRY":
            if not self.allowed(name, data, mask):
                return False
            at = self.accessed("TRACE_INDEX", False)
            self.listed[at] = self.merged(self.listed.get(at) or 0, data, mask)
            return True
        if not super().write_through(name, data, mask):
            return False
        if name == "PROGRAM":
            self.rows[self.shown] = {x: self.held[x, 0] for x in self.PER_PROGRAM}
            self.shown = self.position["PROGRAM"]
            row = self.rows.get(self.shown, {})
            self.held |= {(x, 0): row.get(x, 0) for x in self.PER_PROGRAM}
        return True

    def soft_reset(self) -> None:
        """Nothing is counted."""
        super().soft_reset()
        self.steps_done = 0

    def runnable(self) -> bool:
        """Segments lie in the program memory, the trace in its list."""
        value = {name: self.held[name, 0] for name in (*self.PER_PROGRAM, "SAVE", "EVERY")}
        depth = self.params["PROGRAM_DEPTH"]

        def fits(which: str) -> bool:
            start, length = value[f"{which}_START"], value[f"{which}_LENGTH"]
            return length != 0 and start + length <= depth

        traced = value["TRACE_START"] + value["TRACE_BEFORE"] + value["TRACE_AFTER"]
        return (
            fits("MAIN")
            and (value["EVERY"] == 0 or fits("SPECIAL"))
            and (value["SAVE"] == 0 or traced <= self.params["TRACE_REGISTERS"])
        )

    def run(self) -> tuple[int, int, dict[tuple[str, int], int]]:
        """The words of all steps."""
        steps, every = self.held["STEPS", 0], self.held["EVERY", 0]
        special = (steps - 1) // every if every and steps else 0
        words = (steps - special) * self.held["MAIN_LENGTH", 0]
        words += special * self.held["SPECIAL_LENGTH", 0]
        self.steps_done = UNKNOWN if steps else 0
        cycles = self.NOT_COUNTED + START_CYCLES + self.params["CONTEXTS"] * words
        return cycles, 0, {("STEPS_DONE", 0): steps}

    def advance(self, cycle: int) -> bool:
        """At the end all steps are done."""
        on = super().advance(cycle)
        if not on and self.results:
            self.steps_done = self.results["STEPS_DONE", 0]
        return on

    def given(self, name: str, index: int) -> int | None:
        """No word is traced."""
        if name == "STEPS_DONE":
            return self.steps_done
        return 0 if name == "TRACE_COUNT" else super().given(name, index)


class Array(Programmable):
    """The step array with calls that are too long for any function: all are dropped."""

    PARAMETERS = ("LANES", "FILE_DEPTH", "PROGRAM_DEPTH", "IN_DEPTH", "OUT_DEPTH", "ARRAY")
    RESULTS = ("CALLS_TAKEN", "DROPPED")
    READS_FILE = False
    NOT_COUNTED = 1  # until the array hears of a run
    AROUND_CALLS = 6  # cycles of a run, the last one counts the last call that is dropped
    FIRST_BEAT = 2  # cycles from its command on
    POSITIONS = ("FILE_ADDRESS", "PROGRAM_STORE", "SEGMENT_STORE", "FUNCTION_STORE")
    MOST = 65535  # repeats, loops

    def __init__(self, params: dict[str, int]) -> None:
        machine = array_driver.machine_of(params)
        self.banks, self.addresses = machine.banks, machine.contexts * machine.depth
        self.segments = 0  # stored one after the other, from 0 on
        self.beats = 2 * params["IN_DEPTH"]  # of a call
        super().__init__(step_array(machine.bus_words), params)

    def reset(self, pending: tuple[int, int, int] | None = None) -> None:
        """No segment is stored any more, no packet has begun."""
        super().reset(pending)
        self.segments = 0
        self.in_packet = False  # the last beat that was taken was no packet's last one
        self.first_beat = 0  # cycle, of this or the last run
        self.discarded = -1  # cycle of the last beat that is, or was, discarded

    def command(self, cycle: int, bits: int, mask: int, busy: bool) -> None:
        """A reset may cut a packet."""
        if bits & RESET:
            self.cut(cycle + 1, bool(bits & DISCARD), busy)
        super().command(cycle, bits, mask, busy)

    def cut(self, last: int, discard: bool, busy: bool) -> None:
        """End the run and what is discarded behind this cycle, the last one that takes a beat.

        The source begins a packet anew when it is not asked for beats.
        """
        left = self.beats
        taken = min(last - self.first_beat + 1, self.beats * self.held["CALLS", 0]) if busy else 0
        if self.discarded > last:
            self.in_packet, left = True, self.discarded - last
        elif taken > 0:
            self.in_packet = taken % self.beats != 0
            left = self.beats - taken % self.beats
        self.discarded = -1
        if discard and self.in_packet:
            self.in_packet, self.discarded = False, last + left
            self.met["packets discarded"] += 1

    def write_through(self, name: str, data: int, mask: int) -> bool:
        """Count the segments that are stored."""
        done = super().write_through(name, data, mask)
        if done and mask and name == "SEGMENT_STORE":
            self.segments += self.position[name] == self.segments
        return done

    def allowed(self, name: str, data: int, mask: int) -> bool:
        """Whether a write could be, if nothing ran."""
        if self.map[name].whole:
            width = (1 << self.fmt.width) - 1
            return mask & width == width
        return super().allowed(name, data, mask)

    def possible(self, name: str, word: int) -> bool:
        """Whether a position can be that, and what would be stored there."""
        if name == "SEGMENT_STORE":
            return word < self.params["SEGMENTS"] and self.segment_fits()
        if name == "FUNCTION_STORE":
            return word < self.params["FUNCTIONS"] and self.function_fits()
        return super().possible(name, word)

    def segment_fits(self) -> bool:
        """Whether the segment that is described can be stored."""
        start, length, repeat = (
            self.held[f"SEGMENT_{name}", 0] for name in ("START", "LENGTH", "REPEAT")
        )
        depth = self.params["PROGRAM_DEPTH"]
        return (
            start < depth and 1 <= length and start + length <= depth and 1 <= repeat <= self.MOST
        )

    def function_fits(self) -> bool:
        """Whether the function that is described can be stored."""
        first, last, loop_from, loops, inputs, outputs = (
            self.held[f"FUNCTION_{name}", 0]
            for name in ("FIRST", "LAST", "LOOP_FROM", "LOOPS", "INPUTS", "OUTPUTS")
        )
        return (
            first <= loop_from <= last < self.segments
            and 1 <= loops <= self.MOST
            and 1 <= inputs <= self.params["IN_DEPTH"]
            and 1 <= outputs <= self.params["OUT_DEPTH"]
        )

    def runnable(self) -> bool:
        """With calls."""
        return self.held["CALLS", 0] != 0

    def run(self) -> tuple[int, int, dict[tuple[str, int], int]]:
        """All calls are taken, a beat a cycle, and dropped."""
        calls = self.held["CALLS", 0]
        opened = self.now + self.FIRST_BEAT
        self.first_beat = max(opened, self.discarded + 1)
        self.in_packet = False  # at the end
        length = self.first_beat - opened + self.beats * calls + self.AROUND_CALLS
        return length, 1 << FAULT_AT, {("CALLS_TAKEN", 0): calls, ("DROPPED", 0): calls}

    def control(self, name: str, cycle: int, busy: bool) -> tuple[int, ...] | None:
        """A run begins a few cycles behind its command, so long as nothing is on its way."""
        if name == "CYCLES" and busy:
            return None
        return super().control(name, cycle, busy)

    def given(self, name: str, index: int) -> int | None:
        """Calls were taken and dropped, none was given, no word executed."""
        return 0 if name in ("CALLS_GIVEN", "WORD_CYCLES") else super().given(name, index)
