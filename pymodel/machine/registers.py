"""Register maps of the co-processors, written once, as data.

From them :mod:`pymodel.machine.register_files` writes constants of the RTL, C headers and the
documentation.
"""

from dataclasses import dataclass

BUS_W = 32  # bits of a register
WORD_BYTES = BUS_W // 8
READ_ONLY, READ_WRITE = "RO", "RW"


@dataclass(frozen=True)
class Field:
    """Bits of a register; ``low`` is the lowest, ``width`` their number."""

    name: str
    low: int
    width: int
    text: str

    @property
    def mask(self):
        return ((1 << self.width) - 1) << self.low

    def get(self, word):
        """The field's value in a register's word."""
        return (word & self.mask) >> self.low


@dataclass(frozen=True)
class Register:
    """One register, or ``words`` consecutive ones; ``offset`` in bytes."""

    name: str
    offset: int
    access: str
    text: str
    words: int = 1
    fields: tuple = ()

    def field(self, name):
        return next(field for field in self.fields if field.name == name)


@dataclass(frozen=True)
class Map:
    """The registers of one top-level module; ``name`` is the module's."""

    name: str
    addr_w: int
    text: str
    registers: tuple

    def __getitem__(self, name):
        return next(register for register in self.registers if register.name == name)


ID, VERSION, CONFIG, CTRL, STATUS, CYCLES = range(0x000, 0x018, WORD_BYTES)
ADDR_W = 12


FAULT = ("FAULT", "sticky: a run met what spoils it (each map has its name); write 1 to clear")
SINGULAR = ("SINGULAR", "sticky: a matrix to invert was singular; write 1 to clear")


def common_registers(identity="four letters", config=(), ctrl=(), fault=FAULT):
    """The registers that every map begins with, at the same offsets with the same fields.

    Parameters
    ----------
    identity : str
        What ID reads as.
    config, ctrl : sequence of Field
        Fields of CONFIG and CTRL beside the common ones.
    fault : (str, str)
        Name and text of the fault bit of STATUS.
    """
    return (
        Register("ID", ID, READ_ONLY, f"ASCII {identity}"),
        Register("VERSION", VERSION, READ_ONLY, "major << 16 | minor"),
        Register(
            "CONFIG",
            CONFIG,
            READ_ONLY,
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
            "commands; run and reset read as 0",
            fields=(
                Field("RUN", 0, 1, "start"),
                Field("RESET", 1, 1, "stop any run, clear results and status; operands stay"),
                *ctrl,
            ),
        ),
        Register(
            "STATUS",
            STATUS,
            READ_WRITE,
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
                    "FLAGS", 8, 5, "sticky float flags of all runs, fflags order; write 1 to clear"
                ),
            ),
        ),
        Register("CYCLES", CYCLES, READ_ONLY, "length of the last run, clock cycles"),
    )


COPROCESSOR = Map(
    "coprocessor",
    addr_w=ADDR_W,
    text="What every co-processor below begins with. Floats stand in the low bits of their word.",
    registers=common_registers(),
)

HDCA_COPROCESSOR = Map(
    "hdca_coprocessor",
    addr_w=ADDR_W,
    text="Assembly and disassembly of two bodies (paper 000, 4.3). "
    "Matrices row by row: xi_11, xi_12, xi_22 (9 words each), xi_10, xi_20 (3 each).",
    registers=(
        *common_registers(
            "`HDCA`",
            fault=SINGULAR,
            config=[Field("PASSES", 12, 2, "passes of the assembly")],
            ctrl=[Field("PHASE", 2, 1, "what to run; 0: assembly, 1: disassembly")],
        ),
        Register("BODY_A", 0x100, READ_WRITE, "coefficients of body A", words=33),
        Register("BODY_B", 0x200, READ_WRITE, "coefficients of body B", words=33),
        Register("COMPOUND", 0x300, READ_ONLY, "coefficients of the compound body C", words=33),
        Register("T_1C", 0x400, READ_WRITE, "impulse on handle 1 of C, x and y", words=2),
        Register("T_2C", 0x408, READ_WRITE, "impulse on handle 2 of C, x and y", words=2),
        Register("T_1B", 0x410, READ_ONLY, "impulse on handle 1 of B, x and y", words=2),
        Register("WEIGHT_A", 0x500, READ_ONLY, "W^A of the last assembly, 2x3", words=6),
        Register("WEIGHT_B", 0x520, READ_ONLY, "W^B of the last assembly, 2x3", words=6),
        Register("BETA_HAT", 0x540, READ_ONLY, "beta_hat of the last assembly", words=2),
    ),
)

LDUP_MAX_N = 8


def ldup_coprocessor(n):
    """The map of an instance for n x n matrices; that of the largest is the documented one."""
    return Map(
        "ldup_coprocessor",
        addr_w=ADDR_W,
        text="Inverse of an N x N matrix by LDUP factorisation (paper 000, 3.2). CONFIG tells N, "
        f"up to {LDUP_MAX_N}. Matrices row by row; words after the first N * N are not mapped.",
        registers=(
            *common_registers(
                "`LDUP`",
                fault=SINGULAR,
                config=[
                    Field("PARALLEL", 12, 1, "1: a float unit for each operation; 0: shared"),
                    Field("N", 28, 4, "size of the matrix"),
                ],
            ),
            Register("MATRIX", 0x100, READ_WRITE, "matrix to invert", words=n * n),
            Register("INVERSE", 0x300, READ_ONLY, "its inverse, when done", words=n * n),
        ),
    )


LDUP_COPROCESSOR = ldup_coprocessor(LDUP_MAX_N)

STEP_MAX_WORD = 64  # bus words of a program word


def step_engine(bus_words):
    """The map of an instance whose program words take so many bus words."""
    return Map(
        "step_engine",
        addr_w=ADDR_W,
        text="Runs a program for whole steps (pymodel/machine/isa.py). A location is "
        "bank << 16 | address. A segment of length 0, one that does not lie in the program memory, "
        "and a trace longer than its list refuse a run. While busy, register file, trace list, and "
        "program can neither be written nor read (`STATUS.ERROR`), and registers not be written. "
        "A location, index or program address that is out of range answers SLVERR and changes "
        f"nothing. PROGRAM_WORD has the words that a program word takes, up to {STEP_MAX_WORD}. "
        "A reset by CTRL empties the trace; memories and the registers written here stay.",
        registers=(
            *common_registers(
                "`STEP`",
                fault=(
                    "STOPPED",
                    "sticky: a stored result was infinite, not a number or invalid, and the run "
                    "ended after its step; write 1 to clear",
                ),
            ),
            Register(
                "LANES",
                0x040,
                READ_ONLY,
                "parameters of this instance",
                fields=(
                    Field("NUM_ADD", 0, 8, "adders"),
                    Field("NUM_MUL", 8, 8, "multipliers"),
                    Field("SINCOS_STAGES", 16, 8, "register stages of the sine and cosine"),
                ),
            ),
            Register("FILE_DEPTH", 0x044, READ_ONLY, "registers of a bank"),
            Register("PROGRAM_DEPTH", 0x048, READ_ONLY, "words of the program memory"),
            Register("TRACE_DEPTH", 0x04C, READ_ONLY, "words that the trace holds"),
            Register("TRACE_REGISTERS", 0x050, READ_ONLY, "entries of the trace list"),
            Register("STEPS", 0x060, READ_WRITE, "steps of a run"),
            Register(
                "STEPS_DONE",
                0x064,
                READ_ONLY,
                "steps that this or the last run finished; the number of the step that stopped it",
            ),
            Register("SAVE", 0x068, READ_WRITE, "trace steps 0, SAVE, 2 SAVE, ...; 0: none"),
            Register(
                "EVERY",
                0x06C,
                READ_WRITE,
                "the special segment runs in steps EVERY, 2 EVERY, ...; 0: in none",
            ),
            Register("MAIN_START", 0x070, READ_WRITE, "address of the main segment"),
            Register("MAIN_LENGTH", 0x074, READ_WRITE, "its words"),
            Register("SPECIAL_START", 0x078, READ_WRITE, "address of the special segment"),
            Register("SPECIAL_LENGTH", 0x07C, READ_WRITE, "its words"),
            Register(
                "TRACE_BEFORE",
                0x080,
                READ_WRITE,
                "entries of the trace list, from the first on, traced before such a step",
            ),
            Register("TRACE_AFTER", 0x084, READ_WRITE, "entries following them, traced after it"),
            Register("TRACE_COUNT", 0x088, READ_ONLY, "words that can be read from TRACE_DATA"),
            Register(
                "TRACE_DATA",
                0x08C,
                READ_ONLY,
                "the oldest word of the trace; a read takes it away, SLVERR if there is none",
            ),
            Register("TRACE_INDEX", 0x090, READ_WRITE, "entry of the trace list that comes next"),
            Register(
                "TRACE_ENTRY",
                0x094,
                READ_WRITE,
                "a location to trace; an access moves TRACE_INDEX to the next entry",
            ),
            Register("FILE_ADDRESS", 0x0A0, READ_WRITE, "location that comes next"),
            Register(
                "FILE_DATA",
                0x0A4,
                READ_WRITE,
                "the register there; an access moves FILE_ADDRESS to the next location, bank "
                "by bank",
            ),
            Register(
                "PROGRAM_STORE",
                0x0B0,
                READ_WRITE,
                "a write stores PROGRAM_WORD at this address of the program",
            ),
            Register(
                "PROGRAM_WORD",
                0x100,
                READ_WRITE,
                "program word, lowest bits first",
                words=bus_words,
            ),
        ),
    )


STEP_ENGINE = step_engine(STEP_MAX_WORD)

MAPS = (COPROCESSOR, HDCA_COPROCESSOR, LDUP_COPROCESSOR, STEP_ENGINE)
