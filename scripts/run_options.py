"""What a run is asked for: the options of ``make run`` and of the demos."""

import argparse
from dataclasses import dataclass

from pymodel.algorithms.requests import BASE, RECORDED_BASES
from tb.common.bench import DEFAULT_SEED
from tb.common.simulators import SIMULATORS

AUTO = "auto"  # the fastest simulator that is there


@dataclass(frozen=True)
class RunOptions:
    """A run of a scenario.

    Attributes
    ----------
    scenario, out
        Scenario file, and folder for the results.
    target
        Where it runs: ``model``, ``coprocessor`` or ``step``.
    simulator
        ``auto``, ``icarus`` or ``verilator``.
    arithmetic
        ``float32``, ``float64`` (on the model only) or ``<EXP_W>/<MAN_W>``.
    steps
        So many instead of until the end.
    rebase
        Re-base the momenta of a mechanism with loops every so many steps; 0 never.
    base, lanes
        How the step engine solves the base of a closed chain, and its adders + multipliers.
    seed
        Start values of the simulator.
    waves
        Write an FST into build/waves.
    results
        Folder for the bench's result row.
    reference
        Compare with the reference solver.
    """

    scenario: str
    out: str
    target: str = "model"
    simulator: str = AUTO
    arithmetic: str = "float32"
    steps: int | None = None
    rebase: int = 0
    base: str = BASE
    lanes: str = "2+2"
    seed: int = DEFAULT_SEED
    waves: bool = False
    results: str | None = None
    reference: bool = True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add everything but scenario, target and folder; each argument is named as its option."""
    add = parser.add_argument
    simulators = (AUTO, *SIMULATORS)
    add("--sim", dest="simulator", choices=simulators, default=RunOptions.simulator)
    text = "float32, float64 or <EXP_W>/<MAN_W>"
    add("--arith", dest="arithmetic", default=RunOptions.arithmetic, help=text)
    add("--steps", type=int, help="run this many steps instead of until the end")
    text = "re-base the momenta of a mechanism with loops every so many steps"
    add("--rebase", type=int, default=RunOptions.rebase, help=text)
    text = "how the step engine solves the base of a closed chain"
    add("--base", choices=RECORDED_BASES, default=RunOptions.base, help=text)
    text = "adders + multipliers of the step engine"
    add("--lanes", default=RunOptions.lanes, help=text)
    add("--seed", type=int, default=RunOptions.seed, help="start values of the simulator")
    text = "folder for the bench's result row (the regression's)"
    add("--results", help=text)
    text = "skip the reference solver and comparison"
    add("--no-reference", dest="reference", action="store_false", help=text)
    add("--waves", action="store_true", help="FST into build/waves/cosim_*")
