"""The legal parameter values of every module that a user instantiates.

They are what the RTL's checks allow (``$fatal`` at the start of elaborated hardware);
:mod:`scripts.evidence.parameters.elaborate` compares both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pymodel.hardware import step_array, step_engine
from pymodel.hardware.configs import (
    FORMATS,
    MAX_REC_STAGES,
    MAX_STAGES,
    RECIP_MAX_STAGES,
    WORD_W,
)
from pymodel.machine.isa import MAX_CONTEXTS, MAX_DATAPATHS, MAX_SINCOS_STAGES
from pymodel.machine.registers import STEP_MAX_WORD

Parameters = Mapping[str, int]
UNBOUNDED = 1 << 30  # where no check has an upper limit
SINCOS_FORMATS = ((4, 8), (2, 23))
MAX_LANES, MAX_SEGMENTS, MAX_FUNCTIONS = 255, 4095, 255  # what fields of registers hold
LOCATIONS = 1 << 16  # addresses of a bank that a location on the bus can name
STREAM_WORDS = 1 << 16  # of a context, in each of its memories: array_pkg
TABLE, TABLE_MAX_MAN_W = 1, 23  # METHOD of fp_recip, and its widest significand


class Values(NamedTuple):
    """The values that a parameter may have by itself.

    Attributes
    ----------
    least, most
        Limits; :data:`UNBOUNDED` is none.
    power
        Only powers of two from 2 on, and zero where that is in the limits.
    places
        Of a memory: none at all is an illegal value of its own.
    bit
        A parameter of one bit: what is beyond has no meaning, and nothing refuses it.
    """

    least: int
    most: int
    power: bool = False
    places: bool = False
    bit: bool = False

    def __contains__(self, value: object) -> bool:
        power = isinstance(value, int) and value > 1 and value & (value - 1) == 0
        inside = isinstance(value, int) and self.least <= value <= self.most
        return inside and (not self.power or power or (value == 0 and self.least == 0))

    @property
    def text(self) -> str:
        """In words."""
        least = max(self.least, 2) if self.power else self.least
        words = f"{least} to {self.most}" if self.most < UNBOUNDED else f"from {least}"
        if not self.power:
            return words
        zero = "0, or " if self.least == 0 else ""
        return f"{zero}powers of two, {words}"


@dataclass(frozen=True)
class Rule:
    """What parameters that are legal by themselves must obey together.

    Attributes
    ----------
    text
        In words.
    holds
        Whether they do.
    """

    text: str
    holds: Callable[[Parameters], bool]


@dataclass(frozen=True)
class Space:
    """All legal values of a module's parameters.

    Attributes
    ----------
    module
    values
        Parameter -> its values.
    rules
        Between them.
    small
        Values with which it elaborates soon, for the parameters that a check is not about.
    """

    module: str
    values: dict[str, Values]
    rules: tuple[Rule, ...] = ()
    small: tuple[tuple[str, int], ...] = ()

    def is_legal(self, given: Parameters) -> bool:
        """Whether the RTL must take them."""
        inside = all(given[name] in values for name, values in self.values.items())
        return inside and all(rule.holds(given) for rule in self.rules)


FLOAT = {name: Values(range_[0], range_[-1]) for name, range_ in FORMATS.items()}
STAGES = Values(0, MAX_STAGES)
LINKED = FLOAT | {"ADD_STAGES": STAGES, "MUL_STAGES": STAGES}
LINKED |= {"REC_STAGES": Values(0, RECIP_MAX_STAGES)}
REGISTER = {"REC_STAGES": Values(0, MAX_REC_STAGES)}  # of a module with a register for them
WORD = Rule(
    f"1 + EXP_W + MAN_W at most {WORD_W}, a word of the bus",
    lambda p: 1 + p["EXP_W"] + p["MAN_W"] <= WORD_W,
)
ROWS = Values(2, UNBOUNDED, places=True)
ENGINE = {
    "NUM_ADD": Values(1, MAX_LANES),
    "NUM_MUL": Values(1, MAX_LANES),
    "EXP_W": Values(*SINCOS_FORMATS[0]),
    "MAN_W": Values(*SINCOS_FORMATS[1]),
    "ADD_STAGES": STAGES,
    "MUL_STAGES": STAGES,
    **REGISTER,
    "SINCOS_STAGES": Values(0, MAX_SINCOS_STAGES),
    "DEPTH": Values(2, LOCATIONS, power=True, places=True),
    "PROGRAM_DEPTH": ROWS,
    "CONTEXTS": Values(1, MAX_CONTEXTS),
    "READ_STAGES": Values(0, 2),
    "OPERAND_STAGES": Values(0, 1),
    "BLOCK_RAM": Values(0, 1),
}
BLOCK = Rule("BLOCK_RAM 1 needs READ_STAGES", lambda p: not p["BLOCK_RAM"] or p["READ_STAGES"] > 0)
LOCATION = Rule(
    f"CONTEXTS * DEPTH at most {LOCATIONS}", lambda p: p["CONTEXTS"] * p["DEPTH"] <= LOCATIONS
)
SMALL = (("NUM_ADD", 1), ("NUM_MUL", 1), ("DEPTH", 4), ("PROGRAM_DEPTH", 16), ("CONTEXTS", 1))


def _word(machine_of: Callable[[Parameters], step_engine.Machine]) -> Rule:
    """A rule of the lanes, depths and contexts together, which the model knows."""
    return Rule(
        f"a program word has at most {STEP_MAX_WORD * WORD_W} bits",
        lambda p: machine_of(p).bus_words <= STEP_MAX_WORD,
    )


STREAM_DEPTH = Values(2, STREAM_WORDS, power=True, places=True)
INVERSE = LINKED | {"N": Values(2, 8), "PARALLEL": Values(0, 1, bit=True)}
ASSEMBLY = LINKED | {"PASSES": Values(1, 2)}
DSP_W = Values(17, UNBOUNDED)  # what a multiplier's wide factor takes
HAS_TABLE = Rule(
    f"METHOD {TABLE} (table) up to MAN_W {TABLE_MAX_MAN_W}",
    lambda p: p["METHOD"] != TABLE or p["MAN_W"] <= TABLE_MAX_MAN_W,
)

SPACES = {
    space.module: space
    for space in (
        Space("fp_add", FLOAT | {"STAGES": STAGES}),
        Space(
            "fp_mul", FLOAT | {"STAGES": STAGES, "SPECIALS": Values(0, 1, bit=True), "DSP_W": DSP_W}
        ),
        Space(
            "fp_recip",
            FLOAT | {"STAGES": Values(0, RECIP_MAX_STAGES), "METHOD": Values(0, 1), "DSP_W": DSP_W},
            (HAS_TABLE,),
        ),
        Space(
            "fp_recip_stream",
            FLOAT | {"STAGES": Values(0, RECIP_MAX_STAGES), "METHOD": Values(0, 2)},
            (HAS_TABLE,),
        ),
        Space(
            "fp_sincos",
            {
                "EXP_W": ENGINE["EXP_W"],
                "MAN_W": ENGINE["MAN_W"],
                "STAGES": ENGINE["SINCOS_STAGES"],
                "DSP_W": Values(18, UNBOUNDED),
            },
        ),
        Space("hdca_engine", ASSEMBLY),
        Space("ldup_engine", INVERSE, small=(("N", 2),)),
        Space("hdca_coprocessor", ASSEMBLY | REGISTER, (WORD,)),
        Space("ldup_coprocessor", INVERSE | REGISTER, (WORD,), (("N", 2),)),
        Space(
            "step_engine",
            ENGINE
            | {
                "TRACE_DEPTH": Values(2, UNBOUNDED, power=True, places=True),
                "TRACE_REGISTERS": ROWS,
                "PROGRAMS": ROWS,
            },
            (BLOCK, LOCATION, _word(step_engine.machine_of)),
            (*SMALL, ("TRACE_DEPTH", 4), ("TRACE_REGISTERS", 4), ("PROGRAMS", 2)),
        ),
        Space(
            "step_array",
            ENGINE
            | {
                "DATAPATHS": Values(1, MAX_DATAPATHS),
                "IN_DEPTH": STREAM_DEPTH,
                "OUT_DEPTH": STREAM_DEPTH,
                "SCRATCH_DEPTH": Values(0, STREAM_WORDS, power=True, places=True),
                "SEGMENTS": Values(2, MAX_SEGMENTS, places=True),
                "FUNCTIONS": Values(2, MAX_FUNCTIONS, places=True),
            },
            (BLOCK, LOCATION, _word(step_array.machine_of)),
            (*SMALL, ("DATAPATHS", 1), ("IN_DEPTH", 4), ("OUT_DEPTH", 4), ("SEGMENTS", 2))
            + (("FUNCTIONS", 2), ("SCRATCH_DEPTH", 0)),
        ),
    )
}

LANES_LATER = "Icarus takes minutes for more lanes"
MEMORY = "only the width of addresses and counts differs; fixed configurations have some"
SYSTEMS = "Icarus takes minutes for more systems; a fixed configuration of Verilator's has 64"
WORDS = "no random program is shorter; longer ones differ in the width of addresses only"
SPLIT = "nothing is cut any more: no significand is wider"
#: (module, parameter) -> why no seed draws all of its legal values.
NOT_RUN: dict[tuple[str, str], str] = {
    ("fp_mul", "DSP_W"): SPLIT,
    ("fp_recip", "DSP_W"): SPLIT,
    ("fp_sincos", "DSP_W"): SPLIT,
    ("step_engine", "NUM_ADD"): LANES_LATER,
    ("step_engine", "NUM_MUL"): LANES_LATER,
    ("step_array", "NUM_ADD"): LANES_LATER,
    ("step_array", "NUM_MUL"): LANES_LATER,
    ("step_array", "CONTEXTS"): SYSTEMS,
    ("step_array", "DATAPATHS"): SYSTEMS,
    **{
        ("step_engine", name): MEMORY
        for name in ("DEPTH", "TRACE_DEPTH", "TRACE_REGISTERS", "PROGRAMS")
    },
    **{
        ("step_array", name): MEMORY for name in ("DEPTH", "IN_DEPTH", "OUT_DEPTH", "SCRATCH_DEPTH")
    },
    **{("step_array", name): MEMORY for name in ("SEGMENTS", "FUNCTIONS")},
    **{(module, "PROGRAM_DEPTH"): WORDS for module in ("step_engine", "step_array")},
}
