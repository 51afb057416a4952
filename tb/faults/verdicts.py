"""Words that the injections and who starts them share."""

from typing import NamedTuple

HANG, STOPPED, DETECTED, SILENT, MASKED = "hang", "stopped", "detected", "silent", "masked"
CRASH = "crash"  # of the bench itself
DONE = "fault: one done"  # what the simulation prints for each
#: Times the residual without a flip, which is rounding: what is more is taken for a fault.
THRESHOLD = 16


class Place(NamedTuple):
    """One bit of a register in one cycle of a session.

    Attributes
    ----------
    path
        Of the register, below the top.
    number
        Of the bit, of all bits of the register.
    cycle
        Since the session began.
    """

    path: str
    number: int
    cycle: int
