"""Rules between parameters that need the model: functions that records in units/ name."""

from collections.abc import Mapping

from pymodel.hardware import step_array, step_engine
from pymodel.machine.registers import STEP_MAX_WORD


def step_engine_word(given: Mapping[str, int]) -> bool:
    """Whether a program word of the step engine fits its register."""
    return step_engine.machine_of(given).bus_words <= STEP_MAX_WORD


def board_engine_word(given: Mapping[str, int]) -> bool:
    """The same of the engine behind a serial line, which has one context."""
    fixed = {"CONTEXTS": 1, "READ_STAGES": 0, "OPERAND_STAGES": 0, "RARE_LOGIC": 0}
    return step_engine_word(dict(given) | fixed)


def step_array_word(given: Mapping[str, int]) -> bool:
    """Whether a program word of the step array fits its register."""
    return step_array.machine_of(given).bus_words <= STEP_MAX_WORD
