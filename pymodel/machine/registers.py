"""Register maps of the co-processors, written once, as data.

Besides address and fields, a map says of each register where its value lives (:class:`Home`). From
the maps :mod:`pymodel.machine.register_files` writes constants and register blocks of the RTL, C
headers and the documentation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pymodel.arith.fp import DIV_BY_ZERO, FLAG_NAMES, INEXACT, INVALID, OVERFLOW, UNDERFLOW

BUS_W = 32  # bits of a register
WORD_BYTES = BUS_W // 8
READ_ONLY, READ_WRITE = "RO", "RW"
MAJOR_AT = 16  # in VERSION


class Home(Enum):
    """Where the value of a register lives."""

    CONTROL = "in coprocessor_control, for every top the same"
    HELD = "in the register block: software writes it, the hardware reads it"
    GIVEN = "in the hardware, which only shows it"
    THROUGH = "in the hardware, which a write, and perhaps a read, acts on"


@dataclass(frozen=True)
class Field:
    """Bits of a register; ``low`` is the lowest, ``width`` their number.

    ``bits`` has the names of single ones, the lowest first.
    """

    name: str
    low: int
    width: int
    text: str
    bits: tuple[str, ...] = ()

    @property
    def mask(self) -> int:
        """Ones where the field stands in a register's word."""
        return ((1 << self.width) - 1) << self.low

    def get(self, word: int) -> int:
        """The field's value in a register's word."""
        return (word & self.mask) >> self.low


@dataclass(frozen=True)
class Register:
    """One register, or consecutive ones.

    Attributes
    ----------
    offset : int
        Byte address of the first.
    access : str
        ``READ_ONLY`` or ``READ_WRITE``.
    words : int
        How many there are.
    size : str
        ``words`` as a formula of the map's parameters, where instances differ in it.
    per, copies : str
        Of those ``HELD`` more than once: the register, ``THROUGH`` the hardware, that says which
        one it is, and the parameter of the map that says how many there are.
    floats : bool
        Each holds a float.
    checked : bool
        Of those ``THROUGH`` the hardware: it says whether an access may be.
    whole : bool
        Likewise: a write may be that strobes all its bytes, and no other.
    read_acts : bool
        Likewise: a read acts on the hardware, too.
    locked : bool
        Cannot be read while busy.
    """

    name: str
    offset: int
    access: str
    home: Home
    text: str
    words: int = 1
    size: str = ""
    per: str = ""
    copies: str = ""
    fields: tuple[Field, ...] = ()
    floats: bool = False
    checked: bool = False
    whole: bool = False
    read_acts: bool = False
    locked: bool = False

    def field(self, name: str) -> Field:
        """The field of this name."""
        return next(field for field in self.fields if field.name == name)


@dataclass(frozen=True)
class Map:
    """The registers of one top-level module.

    Attributes
    ----------
    name : str
        The module's.
    addr_w : int
        Bits of a byte address.
    version : (int, int) or None
        Major and minor number that VERSION reads as.
    registers : tuple of Register
    parameters : tuple of (str, int, str)
        Name, value and meaning of those that tell instances of different size apart.
    decoded_ahead : bool
        The address of a write is decoded into registers in the cycle before it, for which it must
        stand.
    """

    name: str
    addr_w: int
    text: str
    registers: tuple[Register, ...]
    parameters: tuple[tuple[str, int, str], ...] = ()
    version: tuple[int, int] | None = None
    decoded_ahead: bool = False

    @property
    def version_word(self) -> int:
        """What VERSION reads as."""
        assert self.version is not None
        major, minor = self.version
        return major << MAJOR_AT | minor

    def __getitem__(self, name: str) -> Register:
        return next(register for register in self.registers if register.name == name)


def held(name: str, offset: int, text: str, **shape: Any) -> Register:
    """A register of the block: software writes it, the hardware reads it."""
    return Register(name, offset, READ_WRITE, Home.HELD, text, **shape)


def given(name: str, offset: int, text: str, **shape: Any) -> Register:
    """A register that the hardware only shows."""
    return Register(name, offset, READ_ONLY, Home.GIVEN, text, **shape)


def through(name: str, offset: int, access: str, text: str, **shape: Any) -> Register:
    """A register through which software acts on the hardware."""
    return Register(name, offset, access, Home.THROUGH, text, **shape)


ID, VERSION, CONFIG, CTRL, STATUS, CYCLES, IRQ_ENABLE = range(0x000, 0x01C, WORD_BYTES)
ADDR_W = 12

FLAGS_AT = 8  # in STATUS
_FLAG_TEXTS = {
    INEXACT: "inexact",
    UNDERFLOW: "underflow",
    OVERFLOW: "overflow",
    DIV_BY_ZERO: "divide by zero",
    INVALID: "invalid",
}
_FLAGS = ", ".join(
    f"{FLAGS_AT + flag.bit_length() - 1} {text} ({FLAG_NAMES[flag]})"
    for flag, text in _FLAG_TEXTS.items()
)

FAULT = ("FAULT", "sticky: a run met what spoils it (each map has its name); write 1 to clear")
SINGULAR = ("SINGULAR", "sticky: a matrix to invert was singular; write 1 to clear")


def common_registers(
    identity: str = "four letters",
    config: Sequence[Field] = (),
    ctrl: Sequence[Field] = (),
    fault: tuple[str, str] = FAULT,
) -> tuple[Register, ...]:
    """The registers that every map begins with, at the same offsets with the same fields.

    Parameters
    ----------
    identity : str
        What ID reads as.
    config, ctrl : sequence of Field
        Fields of CONFIG and CTRL besides the common ones.
    fault : (str, str)
        Name and text of the fault bit of STATUS.
    """
    return (
        Register("ID", ID, READ_ONLY, Home.CONTROL, f"ASCII {identity}"),
        Register("VERSION", VERSION, READ_ONLY, Home.CONTROL, "major << 16 | minor"),
        Register(
            "CONFIG",
            CONFIG,
            READ_ONLY,
            Home.CONTROL,
            "parameters of this instance",
            fields=(
                Field("EXP_W", 0, 4, "exponent bits of the float format"),
                Field("MAN_W", 4, 6, "mantissa bits of the float format"),
                *(field for field in config if field.low < 16),
                Field("ADD_STAGES", 16, 3, "register stages of an adder"),
                Field("MUL_STAGES", 20, 3, "register stages of a multiplier"),
                Field("REC_STAGES", 24, 3, "register stages of a reciprocal"),
                *(field for field in config if field.low >= 16),
            ),
        ),
        Register(
            "CTRL",
            CTRL,
            READ_WRITE,
            Home.CONTROL,
            "commands; run and reset read as 0",
            fields=(
                Field("RUN", 0, 1, "start"),
                Field(
                    "RESET",
                    1,
                    1,
                    "stop any run, clear results, status and what this register keeps; operands "
                    "stay",
                ),
                *ctrl,
            ),
        ),
        Register(
            "STATUS",
            STATUS,
            READ_WRITE,
            Home.CONTROL,
            "state and sticky status",
            fields=(
                Field("IDLE", 0, 1, "waiting for operands"),
                Field("BUSY", 1, 1, "a run is going on"),
                Field("DONE", 2, 1, "results can be read; write 1 to return to idle"),
                Field(
                    "ERROR",
                    3,
                    1,
                    "sticky: a run was refused, or an access to what is locked while busy; "
                    "write 1 to clear",
                ),
                Field(fault[0], 4, 1, fault[1]),
                Field(
                    "FLAGS",
                    FLAGS_AT,
                    len(FLAG_NAMES),
                    f"sticky float flags of all runs, as in RISC-V fflags: bit {_FLAGS}; write 1 "
                    "to clear",
                    bits=tuple(FLAG_NAMES[1 << k] for k in range(len(FLAG_NAMES))),
                ),
            ),
        ),
        Register(
            "CYCLES",
            CYCLES,
            READ_ONLY,
            Home.CONTROL,
            "length of the last run, clock cycles, modulo 2^32",
        ),
        Register(
            "IRQ_ENABLE",
            IRQ_ENABLE,
            READ_WRITE,
            Home.CONTROL,
            "what raises irq_o: it is high while a bit of STATUS is set whose bit here is; can be "
            "written at any time, and a reset by CTRL keeps it",
            fields=(
                Field("DONE", 2, 1, "STATUS.DONE raises irq_o"),
                Field("ERROR", 3, 1, "STATUS.ERROR raises irq_o"),
                Field(fault[0], 4, 1, f"STATUS.{fault[0]} raises irq_o"),
            ),
        ),
    )


COPROCESSOR = Map(
    "coprocessor",
    addr_w=ADDR_W,
    text="What every map below begins with. Floats stand in the low bits of their word.",
    registers=common_registers(),
)

HDCA_COPROCESSOR = Map(
    "hdca_coprocessor",
    addr_w=ADDR_W,
    version=(1, 1),
    text="Assembly and disassembly of two bodies (Turno and Malczyk, 2022, 4.3). "
    "Matrices row by row: xi_11, xi_12, xi_22 (9 words each), xi_10, xi_20 (3 each).",
    registers=(
        *common_registers(
            "`HDCA`",
            fault=SINGULAR,
            config=[Field("PASSES", 12, 2, "passes of the assembly")],
            ctrl=[
                Field(
                    "PHASE",
                    2,
                    1,
                    "what to run; 0: assembly, 1: disassembly; no write while busy changes it",
                )
            ],
        ),
        held("BODY_A", 0x100, "coefficients of body A", words=33, floats=True),
        held("BODY_B", 0x200, "coefficients of body B", words=33, floats=True),
        given("COMPOUND", 0x300, "coefficients of the compound body C", words=33, floats=True),
        held("T_1C", 0x400, "impulse on handle 1 of C, x and y", words=2, floats=True),
        held("T_2C", 0x408, "impulse on handle 2 of C, x and y", words=2, floats=True),
        given("T_1B", 0x410, "impulse on handle 1 of B, x and y", words=2, floats=True),
        given("WEIGHT_A", 0x500, "W^A of the last assembly, 2x3", words=6, floats=True),
        given("WEIGHT_B", 0x520, "W^B of the last assembly, 2x3", words=6, floats=True),
        given("BETA_HAT", 0x540, "beta_hat of the last assembly", words=2, floats=True),
    ),
)

LDUP_MAX_N = 8


def ldup_coprocessor(n: int) -> Map:
    """The map of an instance for n x n matrices; that of the largest is the documented one."""
    return Map(
        "ldup_coprocessor",
        addr_w=ADDR_W,
        version=(1, 1),
        text="Inverse of an N x N matrix by LDUP factorisation (Turno and Malczyk, 2022, 3.2). "
        f"CONFIG holds N, up to {LDUP_MAX_N}. Matrices row by row; words after the first N * N are "
        "not mapped.",
        parameters=(("N", n, "size of the matrix"),),
        registers=(
            *common_registers(
                "`LDUP`",
                fault=SINGULAR,
                config=[
                    Field("PARALLEL", 12, 1, "1: a float unit for each operation; 0: shared"),
                    Field("N", 28, 4, "size of the matrix"),
                ],
            ),
            held("MATRIX", 0x100, "matrix to invert", words=n * n, size="N*N", floats=True),
            given("INVERSE", 0x300, "its inverse, when done", words=n * n, size="N*N", floats=True),
        ),
    )


LDUP_COPROCESSOR = ldup_coprocessor(LDUP_MAX_N)

STEP_MAX_WORD = 64  # bus words of a program word
STEP_PROGRAMS = 16
STEP_MAX_REPEAT = (1 << 16) - 1  # repeats of a segment, loops of a function

#: Of a register that each program of the step engine has.
_PER_PROGRAM = {"per": "PROGRAM", "copies": "NUM_PROGRAMS"}


def step_engine(bus_words: int) -> Map:
    """The map of an instance whose program words take so many bus words."""
    return Map(
        "step_engine",
        addr_w=ADDR_W,
        version=(1, 4),
        text="Runs a program for whole steps (pymodel/machine/isa.py). A location is bank << 16 | "
        "context * FILE_DEPTH + address. A segment of length 0, one that does not lie in the "
        "program memory, and a trace longer than its list refuse a run: the re-basing segment with "
        "EVERY only, the trace with SAVE only. While busy, register file and trace list can be "
        "neither read nor written; of the other registers only CTRL, STATUS and IRQ_ENABLE can be "
        "written. A run begins a cycle after the write of CTRL, which CYCLES does not count. "
        "Words of the trace that are not read stay for the next run, which waits for their "
        "places. A location, index, program address or program number that is out of range "
        "answers SLVERR and changes nothing. PROGRAM_WORD has as many"
        f" bus words as a program word, up to {STEP_MAX_WORD}. MAIN_START, MAIN_LENGTH, "
        "SPECIAL_START, SPECIAL_LENGTH, TRACE_BEFORE, TRACE_AFTER and TRACE_START are those of "
        "the program that PROGRAM names. A reset by CTRL empties the trace; memories and the "
        "registers written here stay.",
        parameters=(
            ("BUS_WORDS", bus_words, "bus words of a program word"),
            ("NUM_PROGRAMS", STEP_PROGRAMS, "programs that registers describe"),
        ),
        registers=(
            *common_registers(
                "`STEP`",
                config=[Field("CONTEXTS", 27, 5, "contexts of the barrel")],
                fault=(
                    "STOPPED",
                    "sticky: a stored result was infinite, not a number or invalid, and the run "
                    "ended after its step; write 1 to clear",
                ),
            ),
            given(
                "LANES",
                0x040,
                "parameters of this instance",
                fields=(
                    Field("NUM_ADD", 0, 8, "adders"),
                    Field("NUM_MUL", 8, 8, "multipliers"),
                    Field("SINCOS_STAGES", 16, 8, "register stages of the sine and cosine"),
                    Field("READ_STAGES", 24, 2, "registers behind the banks"),
                    Field("OPERAND_STAGES", 26, 1, "registers inside the operand multiplexers"),
                    Field("RARE_LOGIC", 27, 1, "reciprocal, sine and cosine without multipliers"),
                ),
            ),
            given("FILE_DEPTH", 0x044, "registers of a bank, for each context"),
            given("PROGRAM_DEPTH", 0x048, "words of the program memory"),
            given("TRACE_DEPTH", 0x04C, "words that the trace holds"),
            given("TRACE_REGISTERS", 0x050, "entries of the trace list"),
            given("PROGRAMS", 0x054, "programs that registers describe"),
            through(
                "PROGRAM",
                0x05C,
                READ_WRITE,
                "number of the program that runs and whose registers are shown; 0 after a reset by "
                "the pin",
                checked=True,
            ),
            held("STEPS", 0x060, "steps of a run"),
            given(
                "STEPS_DONE",
                0x064,
                "steps that this or the last run finished; the number of the step that stopped it",
            ),
            held("SAVE", 0x068, "trace steps 0, SAVE, 2 SAVE, ...; 0: none"),
            held(
                "EVERY", 0x06C, "the re-basing segment runs in steps EVERY, 2 EVERY, ...; 0: never"
            ),
            held("MAIN_START", 0x070, "address of the main segment", **_PER_PROGRAM),
            held("MAIN_LENGTH", 0x074, "its words", **_PER_PROGRAM),
            held("SPECIAL_START", 0x078, "address of the re-basing segment", **_PER_PROGRAM),
            held("SPECIAL_LENGTH", 0x07C, "its words", **_PER_PROGRAM),
            held(
                "TRACE_BEFORE",
                0x080,
                "entries of the trace list, from TRACE_START on, traced before such a step",
                **_PER_PROGRAM,
            ),
            held("TRACE_AFTER", 0x084, "entries following them, traced after it", **_PER_PROGRAM),
            given("TRACE_COUNT", 0x088, "words that can be read from TRACE_DATA"),
            through(
                "TRACE_DATA",
                0x08C,
                READ_ONLY,
                "the oldest word of the trace; a read takes it away, SLVERR if there is none",
                floats=True,
                checked=True,
                read_acts=True,
            ),
            through(
                "TRACE_INDEX",
                0x090,
                READ_WRITE,
                "entry of the trace list that comes next",
                checked=True,
            ),
            through(
                "TRACE_ENTRY",
                0x094,
                READ_WRITE,
                "a location to trace; an access moves TRACE_INDEX to the next entry, a read and a "
                "write in the same cycle together",
                checked=True,
                read_acts=True,
                locked=True,
            ),
            held(
                "TRACE_START",
                0x098,
                "first entry of the trace list that a run traces",
                **_PER_PROGRAM,
            ),
            through("FILE_ADDRESS", 0x0A0, READ_WRITE, "location that comes next", checked=True),
            through(
                "FILE_DATA",
                0x0A4,
                READ_WRITE,
                "the register there; an access moves FILE_ADDRESS to the same address of the next "
                "bank, after the last bank to the next address of bank 0; a read and a write in "
                "the same cycle move it once",
                floats=True,
                read_acts=True,
                locked=True,
            ),
            through(
                "PROGRAM_STORE",
                0x0B0,
                READ_WRITE,
                "a write stores PROGRAM_WORD at this address of the program",
                checked=True,
            ),
            held(
                "PROGRAM_WORD",
                0x100,
                "program word, lowest bits first",
                words=bus_words,
                size="BUS_WORDS",
            ),
        ),
    )


STEP_ENGINE = step_engine(STEP_MAX_WORD)


def step_array(bus_words: int) -> Map:
    """The map of an instance whose program words take so many bus words."""
    return Map(
        "step_array",
        addr_w=ADDR_W,
        version=(1, 2),
        decoded_ahead=True,
        text="Runs recorded kernels for streams of calls: DATAPATHS datapaths of several contexts "
        "each execute one program, every context for a call of its own. A run begins a cycle after "
        "the write of CTRL, which CYCLES does not count. A location is bank << "
        "16 | context * FILE_DEPTH + address, in every datapath. SEGMENT_START to "
        "SEGMENT_FLAGS describe a segment, and a write of SEGMENT_STORE stores it; likewise "
        "FUNCTION_FIRST to FUNCTION_OUTPUTS and FUNCTION_STORE a function, which is called by "
        "its number. Refused are a segment of length 0 or one that does not lie in the "
        "program memory, and a function unless FUNCTION_FIRST <= FUNCTION_LOOP_FROM <= "
        "FUNCTION_LAST, the segments 0 to FUNCTION_LAST were stored in this order since rst_ni "
        "(others between them do no harm), and its inputs and outputs fit the memories of the "
        "streams; repeats, loops, inputs and outputs are at least 1, repeats and loops at most "
        f"{STEP_MAX_REPEAT}. What is refused answers SLVERR and changes nothing, and so does a "
        "location, program address, segment or function number that is out of range. CALLS = "
        "0 refuses a run. While busy only CTRL, STATUS and IRQ_ENABLE can be written. "
        f"PROGRAM_WORD has as many bus words as a program word, up to {STEP_MAX_WORD}. A reset by "
        "CTRL resets the streams as rst_ni does: a result that is offered is withdrawn, a packet "
        "of results that has begun gets no TLAST, and the rest of a call that has begun counts as "
        "a call of the next run. So reset both ends of the streams with it; or, where the source "
        "of the calls goes on, write CTRL.DISCARD with it: the rest of that call is then taken at "
        "once and dropped, up to its TLAST, and counted nowhere. Memories, segments, functions and "
        "the registers written here stay. FLAGS are those of stored results, set at the end of a "
        "run; whether one of a call was infinite, not a number or invalid, TUSER of its results "
        "says.",
        parameters=(("BUS_WORDS", bus_words, "bus words of a program word"),),
        registers=(
            *common_registers(
                "`SARR`",
                config=[Field("CONTEXTS", 27, 5, "contexts of a datapath")],
                ctrl=[
                    Field(
                        "DISCARD",
                        2,
                        1,
                        "with RESET: drop what is left of a call that has begun on the stream, up "
                        "to its TLAST; a RESET without it ends that, too; reads as 0",
                    )
                ],
                fault=(
                    "MALFORMED",
                    "sticky: a call was dropped, of a function that is not stored or with its "
                    "TLAST elsewhere than at its last input; set at the end of a run; write 1 to "
                    "clear",
                ),
            ),
            given(
                "LANES",
                0x040,
                "parameters of this instance",
                fields=(
                    Field("NUM_ADD", 0, 8, "adders of a datapath"),
                    Field("NUM_MUL", 8, 8, "multipliers of a datapath"),
                    Field("SINCOS_STAGES", 16, 8, "register stages of the sine and cosine"),
                    Field("READ_STAGES", 24, 2, "registers behind the banks"),
                    Field("OPERAND_STAGES", 26, 1, "registers inside the operand multiplexers"),
                    Field("RARE_LOGIC", 27, 1, "reciprocal, sine and cosine without multipliers"),
                ),
            ),
            given("FILE_DEPTH", 0x044, "registers of a bank, for each context"),
            given("PROGRAM_DEPTH", 0x048, "words of the program memory"),
            given("IN_DEPTH", 0x04C, "inputs that a call can have"),
            given("OUT_DEPTH", 0x050, "outputs that a call can have"),
            given("SCRATCH_DEPTH", 0x058, "words that a call can pass from segment to segment"),
            given(
                "ARRAY",
                0x054,
                "parameters of this instance",
                fields=(
                    Field("DATAPATHS", 0, 8, "datapaths"),
                    Field("SEGMENTS", 8, 12, "segments that can be stored"),
                    Field("FUNCTIONS", 20, 8, "functions that can be stored"),
                ),
            ),
            held("CALLS", 0x060, "calls that a run takes"),
            given("CALLS_TAKEN", 0x064, "calls that this or the last run took, dropped ones too"),
            given("CALLS_GIVEN", 0x068, "packets of results that this or the last run gave"),
            given("DROPPED", 0x06C, "calls that this or the last run dropped"),
            given(
                "WORD_CYCLES",
                0x070,
                "cycles of this or the last run in which the first datapath executed a program "
                "word, modulo 2^32",
            ),
            held("SEGMENT_START", 0x080, "program address of a segment's first word"),
            held("SEGMENT_LENGTH", 0x084, "its words"),
            held("SEGMENT_REPEAT", 0x088, "how many times it is run"),
            held(
                "SEGMENT_IN_BASE",
                0x08C,
                "added to its words' input indices, modulo IN_DEPTH; to those of the scratch "
                "memory modulo its depth",
            ),
            held("SEGMENT_IN_STRIDE", 0x090, "added besides with each repeat"),
            held(
                "SEGMENT_OUT_BASE",
                0x094,
                "added to its output indices, modulo OUT_DEPTH; to those of the scratch memory "
                "modulo its depth",
            ),
            held("SEGMENT_OUT_STRIDE", 0x098, "added besides with each repeat"),
            held(
                "SEGMENT_FLAGS",
                0x09C,
                "what else a segment is",
                fields=(
                    Field("QUIET", 0, 1, "it gives out nothing but to the scratch memory"),
                    Field("EMIT", 1, 1, "behind it the outputs are complete and are given"),
                ),
            ),
            through(
                "SEGMENT_STORE",
                0x0A0,
                READ_WRITE,
                "a write stores the segment described above as that of this number",
                checked=True,
            ),
            held("FUNCTION_FIRST", 0x0A4, "number of a function's first segment"),
            held("FUNCTION_LAST", 0x0A8, "number of its last segment; its last pass always emits"),
            held("FUNCTION_LOOP_FROM", 0x0AC, "first segment of all loops but the first one"),
            held("FUNCTION_LOOPS", 0x0B0, "how many times it comes to its last segment"),
            held("FUNCTION_INPUTS", 0x0B4, "beats of a call"),
            held("FUNCTION_OUTPUTS", 0x0B8, "beats of a packet of results"),
            through(
                "FUNCTION_STORE",
                0x0BC,
                READ_WRITE,
                "a write stores the function described above as that of this number",
                checked=True,
            ),
            through("FILE_ADDRESS", 0x0C0, READ_WRITE, "location that comes next", checked=True),
            through(
                "FILE_DATA",
                0x0C4,
                READ_WRITE,
                "a write stores in the register there, in all datapaths, and moves FILE_ADDRESS to "
                "the same address of the next bank, after the last bank to the next address of "
                "bank 0; reads as 0, so a write that does not strobe all bytes of a float is "
                "refused",
                floats=True,
                checked=True,
                whole=True,
            ),
            through(
                "PROGRAM_STORE",
                0x0C8,
                READ_WRITE,
                "a write stores PROGRAM_WORD at this address of the program",
                checked=True,
            ),
            held(
                "PROGRAM_WORD",
                0x100,
                "program word, lowest bits first",
                words=bus_words,
                size="BUS_WORDS",
            ),
        ),
    )


STEP_ARRAY = step_array(STEP_MAX_WORD)

MAPS = (COPROCESSOR, HDCA_COPROCESSOR, LDUP_COPROCESSOR, STEP_ENGINE, STEP_ARRAY)
