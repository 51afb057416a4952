"""`make sweep`: variations of a scenario on the model, as compiled C, or on simulated RTL.

It is `python -m pymodel sweep` with one target more, the step engine. Exit status: 0 done, 1 some
variations failed, 2 bad input, 130 Ctrl-C.
"""

import argparse

from pymodel.algorithms.requests import RECORDED_BASES
from pymodel.app.options import AUTO, LANES, OptionParser, either, lanes_of, one_of, refuse_unused
from pymodel.app.sweep import sweep, sweep_options
from pymodel.hardware.simulators import SIMULATORS
from pymodel.runs.backends import BACKENDS
from pymodel.runs.input_error import InputError
from scripts.hardware_run import usable_simulator
from scripts.run import status_of
from scripts.sweeps.engine import backend

ENGINE = "engine"
USED_BY = {"simulator": ("SIM", (ENGINE,)), "lanes": ("LANES", (ENGINE,))}


def run(arguments: argparse.Namespace) -> int:
    """Run a sweep to its exit status.

    Raises
    ------
    ValueError, OSError
        If what is asked for cannot be done, or a file cannot be read or written.
    """
    targets = (*BACKENDS, ENGINE)
    if arguments.target not in targets:
        raise InputError(f"TARGET={arguments.target}: must be {either(targets)}")
    refuse_unused(arguments, USED_BY)
    if arguments.target != ENGINE:
        return sweep(arguments)
    if arguments.base not in (None, *RECORDED_BASES):
        raise InputError(f"BASE={arguments.base}: must be {' or '.join(RECORDED_BASES)}")
    simulator = usable_simulator(arguments.simulator or AUTO)
    on = backend(arguments.arith, arguments.lanes or LANES, simulator)
    return sweep(arguments, {ENGINE: on})


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = OptionParser(prog="scripts.sweeps.variations", description=__doc__.splitlines()[0])
    sweep_options(parser)
    parser.add_argument("--sim", dest="simulator", type=one_of("SIM", AUTO, *SIMULATORS))
    parser.add_argument("--lanes", type=lanes_of, help="adders + multipliers of the step engine")
    return status_of(lambda: run(parser.parse_args(arguments)))
