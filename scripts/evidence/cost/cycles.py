"""Clock cycles of a time step, from models alone: the scheduler's, and that of the register bus.

The benches measure the same: tables of docs/results.md.
"""

import functools

from pymodel.algorithms import two_handles
from pymodel.compile import latency
from pymodel.compile.kernel import Kernel
from pymodel.compile.latency import Stages
from pymodel.compile.registry import recorded
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from scripts.kernel.places import scenario_file

#: The simulated bus: a block of words takes so many cycles more, an access alone so many.
BLOCK, ACCESS = 3, 4
BODY_WORDS = len(two_handles.WORD_NAMES)
IMPULSE_WORDS = 2
ETA_SIZE = 4  # rows of eta of a planar chain with both ends on the ground


@functools.cache
def step_of(scenario: str) -> Kernel:
    """The step of a shipped scenario, by its name."""
    return recorded("step", load(scenario_file(scenario)))


@functools.cache
def on_engine(scenario: str, machine: Machine) -> int:
    """Cycles of a shipped scenario on the step engine: untraced registers, one system.

    The sizes of the machine's memories do not matter.
    """
    return schedule(machine.boundless, step_of(scenario)).main


def on_hdca_coprocessor(stages: Stages) -> int:
    """Assembly and disassembly of two bodies, bus included."""
    moved = 3 * _move(BODY_WORDS) + _move(2 * IMPULSE_WORDS) + _move(IMPULSE_WORDS)
    return moved + _run(latency.assembly(stages)) + _run(latency.disassembly(stages))


def on_ldup_coprocessor(parallel: bool, stages: Stages) -> int:
    """The inverse of the four-bar's eta, bus included."""
    return 2 * _move(ETA_SIZE**2) + _run(latency.inversion(ETA_SIZE, parallel, stages))


def _run(cycles: int) -> int:
    """A run: the write of CTRL, and reads of STATUS until it is not busy any more."""
    return ACCESS * (2 + cycles // ACCESS)


def _move(words: int) -> int:
    return words + BLOCK
