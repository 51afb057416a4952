"""`make board-sim`: the host's real program against the simulated pins of a board.

The program (`hdca run`, or sw/step_host.c with HOST=c) runs the double pendulum (STEPS=, default
200) over a pseudo-terminal, on whose other side the design of the bitstream is simulated at 3
Mbaud. With TOP=array that is the array, through which `hdca robot` streams calls of a function of
the iiwa (ROWS=, default 20, FUNCTION=, default FD). What it prints is printed. Exit status 1 if
anything differs, 2 for bad input.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from pymodel.algorithms.rigid_body.functions import ALL
from pymodel.app.hardware_run import usable_simulator
from pymodel.app.options import OptionParser, one_of, whole
from pymodel.arith.errors import Error
from pymodel.hardware.cosim import board, board_array
from pymodel.hardware.names import SIMULATORS
from pymodel.hardware.places import BUILD
from pymodel.machine.c_driver import compiler
from pymodel.runs.input_error import InputError

STEPS, MOST_STEPS, MOST_ROWS = 200, 100_000, 100_000
HDCA, C = HOSTS = ("hdca", "c")
ENGINE, ARRAY = TOPS = ("engine", "array")
OF_ENGINE, OF_ARRAY = ("steps", "host"), ("rows", "function")  # options
DONE, DIFFERS, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = OptionParser(prog="scripts.evidence.board_sim", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--top", type=one_of("TOP", *TOPS), default=ENGINE, help="engine (default), array")
    add("--sim", type=one_of("SIM", "auto", *SIMULATORS), default="auto", help="simulator")
    steps = whole("STEPS", 1, MOST_STEPS)
    add("--steps", type=steps, help=f"of the pendulum, on the engine (default {STEPS})")
    add("--host", type=one_of("HOST", *HOSTS), help="of the engine, in Python or in C: hdca, c")
    rows = whole("ROWS", 1, MOST_ROWS)
    add("--rows", type=rows, help=f"calls, on the array (default {board_array.ROWS})")
    function = one_of("FUNCTION", *ALL)
    add("--function", type=function, help=f"on the array (default {board_array.FUNCTION})")
    log = BUILD / "board-sim" / "host.log"
    try:
        asked = parser.parse_args(arguments)
        for name in OF_ARRAY if asked.top == ENGINE else OF_ENGINE:
            if getattr(asked, name) is not None:
                raise InputError(f"{name.upper()}={getattr(asked, name)}: not of TOP={asked.top}")
        simulator = usable_simulator(asked.sim)
        if asked.host == C and compiler() is None:
            raise InputError("HOST=c: no C compiler")
        log.unlink(missing_ok=True)
        bench, job = board.BENCH, _of_engine(asked)
        if asked.top == ARRAY:
            bench, job = board_array.BENCH, _of_array(asked)
        row = bench.run(simulator, board.USB, settings={**job, "out": str(log)})
    except Error as error:
        print(f"board-sim: {error}", file=sys.stderr)
        return BAD_INPUT
    if log.exists():
        print(log.read_text(), end="")
    if row["result"] == "pass":
        return DONE
    print(row["message"], file=sys.stderr)
    return DIFFERS


def _of_engine(asked: argparse.Namespace) -> dict[str, Any]:
    steps = asked.steps or STEPS
    return {"c_steps": steps} if asked.host == C else {"command": board.command(steps)}


def _of_array(asked: argparse.Namespace) -> dict[str, Any]:
    rows, function = asked.rows or board_array.ROWS, asked.function or board_array.FUNCTION
    return {"command": board_array.command(rows, function)}
