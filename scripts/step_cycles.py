"""Clock cycles of a time step, from models alone: the scheduler's, and that of the register bus.

The benches measure the same: tables of docs/results.md.
"""

from pathlib import Path

from pymodel.algorithms import two_handles
from pymodel.compile.registry import compiled
from pymodel.compile.schedule import schedule
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load

ROOT = Path(__file__).resolve().parents[1]

#: The simulated bus: a block of words takes so many cycles more, an access alone so many.
BLOCK, ACCESS = 3, 4
BODY_WORDS = len(two_handles.WORD_NAMES)
IMPULSE_WORDS = 2
ETA_SIZE = 4  # of a planar chain with both ends on the ground


def traced(scenario):
    """The step of a shipped scenario, by its name."""
    return compiled("step", load(ROOT / "scenarios" / f"{scenario}.toml"))


def on_engine(step, **parameters):
    """Cycles of a traced step on the step engine, untraced registers, one system."""
    return schedule(Machine(**parameters).boundless, step).main


def _run(latency):
    """A run: the write of CTRL, and reads of STATUS until it is not busy any more."""
    return ACCESS * (2 + latency // ACCESS)


def _move(words):
    return words + BLOCK


def on_hdca_coprocessor(add, mul, rec):
    """Assembly and disassembly of two bodies, units with these stages, bus included."""
    assembly = (5 * add + 4 * mul + rec + 1) + (2 * add + mul + 1)  # see hdca_assembly.sv
    disassembly = 3 * add + mul + 1
    moved = 3 * _move(BODY_WORDS) + _move(2 * IMPULSE_WORDS) + _move(IMPULSE_WORDS)
    return moved + _run(assembly) + _run(disassembly)


def on_ldup_coprocessor(parallel, add, mul, rec):
    """The inverse of the four-bar's eta, units with these stages, bus included."""
    from tb.common.matrices import inversion_latency

    parameters = {"N": ETA_SIZE, "PARALLEL": parallel}
    parameters |= {"ADD_STAGES": add, "MUL_STAGES": mul, "REC_STAGES": rec}
    return 2 * _move(ETA_SIZE**2) + _run(inversion_latency(parameters))
