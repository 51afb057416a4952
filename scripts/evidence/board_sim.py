"""`make board-sim`: the host's real program against the simulated pins of a board.

The program (`hdca run`, or sw/step_host.c with HOST=c) runs the double pendulum (STEPS=, default
200) over a pseudo-terminal, on whose other side the design of the bitstream is simulated at 3
Mbaud. What it prints is printed. Exit status 1 if anything differs, 2 for bad input.
"""

import sys
from collections.abc import Sequence

from pymodel.app.hardware_run import usable_simulator
from pymodel.app.options import OptionParser, one_of, whole
from pymodel.arith.errors import Error
from pymodel.hardware.cosim.board import BENCH, USB, command
from pymodel.hardware.names import SIMULATORS
from pymodel.hardware.places import BUILD
from pymodel.machine.c_driver import compiler
from pymodel.runs.input_error import InputError

STEPS, MOST_STEPS = 200, 100_000
HDCA, C = HOSTS = ("hdca", "c")
DONE, DIFFERS, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.board_sim", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--sim", type=one_of("SIM", "auto", *SIMULATORS), default="auto", help="simulator")
    steps = whole("STEPS", 1, MOST_STEPS)
    add("--steps", type=steps, default=STEPS, help=f"of the pendulum (default {STEPS})")
    add("--host", type=one_of("HOST", *HOSTS), default=HDCA, help="in Python or in C: hdca, c")
    log = BUILD / "board-sim" / "host.log"
    try:
        asked = parser.parse_args(arguments)
        simulator = usable_simulator(asked.sim)
        if asked.host == C and compiler() is None:
            raise InputError("HOST=c: no C compiler")
        job = {"c_steps": asked.steps} if asked.host == C else {"command": command(asked.steps)}
        log.unlink(missing_ok=True)
        row = BENCH.run(simulator, USB, settings={**job, "out": str(log)})
    except Error as error:
        print(f"board-sim: {error}", file=sys.stderr)
        return BAD_INPUT
    if log.exists():
        print(log.read_text(), end="")
    if row["result"] == "pass":
        return DONE
    print(row["message"], file=sys.stderr)
    return DIFFERS
