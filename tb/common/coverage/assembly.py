"""Points of the HDCA engine: results of each sub-design in each pass, commands in each state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pymodel.arith.fp import Format
from pymodel.hardware.coverage_point import Bin, Point

UNIT = "hdca_engine"
PASSES = (1, 2)
#: Results of an assembly and of a disassembly, paper 000's equations.
SUB_DESIGNS = (
    *("(27) xi_11", "(28) xi_12", "(30) xi_22", "(31) xi_10", "(32) xi_20"),
    *("(35) W^A", "(36) W^B", "(37) beta_hat", "disassembly"),
)
STAGES = ("none", "some")  # registers in the float units
VALUES = ("number", "zero", "not finite")
STATES = ("idle", "busy", "read")
COMMANDS = ("run assembly", "run disassembly", "clear", "reset")
JOINTS = ("regular", "singular")

RESULTS = Point(
    UNIT,
    "results",
    {"passes": PASSES, "sub-design": SUB_DESIGNS, "stages": STAGES, "a word is": VALUES},
)
OF_COMMANDS = Point(UNIT, "commands", {"state": STATES, "command": COMMANDS})
STATUS = Point(UNIT, "joint matrix", {"passes": PASSES, "stages": STAGES, "matrix": JOINTS})
POINTS = (RESULTS, OF_COMMANDS, STATUS)


def stages_of(params: Mapping[str, int]) -> str:
    """The value of `STAGES` for parameters of the engine."""
    return STAGES[any(params[name] for name in ("ADD_STAGES", "MUL_STAGES", "REC_STAGES"))]


def cover_words(
    tell: Callable[[Point, Bin], None],
    params: Mapping[str, int],
    sub_design: str,
    fmt: Format,
    words: Sequence[Any],
) -> None:
    """Tell what the words of a result are, bit-exact scalars of a format."""
    for word in words:
        magnitude = word.bits & (fmt.sign_mask - 1)
        value = VALUES[0] if 0 < magnitude < fmt.inf else VALUES[2 if magnitude else 1]
        tell(RESULTS, (params["PASSES"], sub_design, stages_of(params), value))
