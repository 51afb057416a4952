"""The engine that options describe: its format and lanes, and what it cannot be."""

from pymodel.arith import scalars
from pymodel.arith.fp import Format
from pymodel.machine.isa import Machine
from pymodel.machine.registers import BUS_W, STEP_MAX_WORD
from pymodel.runs.input_error import InputError


def engine(arithmetic: str, lanes: str) -> Machine:
    """The step engine of a format and lanes, its memories the usual ones.

    Raises
    ------
    InputError, ValueError
        If it cannot compute in this format or on these lanes.
    """
    machine = Machine.parse(lanes, fmt=Format(*format_parameters(arithmetic).values()))
    check_word(machine, lanes)  # before a schedule on that many lanes
    return machine


def check_word(machine: Machine, lanes: str) -> None:
    """Refuse lanes and banks that make program words wider than the registers for one."""
    if machine.bus_words > STEP_MAX_WORD:
        most = STEP_MAX_WORD * BUS_W
        raise InputError(
            f"--lanes {lanes}: a program word of {machine.word_w} bits, of at most {most}: "
            "must be fewer lanes"
        )


def format_parameters(arithmetic: str) -> dict[str, int]:
    """The RTL parameters of a format; refuses what has no place in a co-simulation."""
    parsed = scalars.parse(arithmetic)
    if not isinstance(parsed, scalars.BitExact):
        raise InputError("--arith float64: not in hardware")
    if parsed.fmt.width > BUS_W:
        raise InputError(f"--arith {arithmetic}: wider than the {BUS_W}-bit registers")
    if not parsed.fmt.has_sincos:  # neither the engine nor the native code beside a co-processor
        raise InputError(f"--arith {arithmetic}: sine and cosine end at binary32")
    return {"EXP_W": parsed.fmt.exp_w, "MAN_W": parsed.fmt.man_w}
