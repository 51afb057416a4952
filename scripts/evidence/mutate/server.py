"""Runs inside a simulator, before its clock starts: one process a mutant, forked from this one.

A cocotb test module without tests, in front of the bench's. What takes a second, importing and
elaborating, is done once; each mutant then runs the bench's own tests from the start.

Takes numbers of mutants from standard input, one a line. Answers each with a line on standard
output: :data:`ANSWER`, and JSON with ``number``, ``by`` (what found it, empty if nothing did) and
``seconds``.
"""

import importlib
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from pymodel.hardware.results import read_notes
from pymodel.hardware.simulation import TASK_ENV

#: What a server is to do, as JSON, see :class:`Orders`.
ORDERS_ENV = "MUTATE_ORDERS"
ANSWER = "mutant: "
#: File in the folder of a mutant's process that the netlist reads its number from.
NUMBER_FILE = "mutant"
POLL_S = 0.01
RESULTS_END = "</testsuites>"  # of cocotb's results


def serve(orders: dict[str, Any]) -> None:
    """Fork for each number; only the new processes return, to go on with the simulation.

    Parameters
    ----------
    orders
        ``folder``: that of the mutants' processes. ``imports``: modules of the bench that it
        shares with others, so that they are imported once. ``tests``: names of the bench's tests.
        ``limit_s``: a mutant that takes longer is stopped, and found.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an exit of a new process would not end, either
    for module in orders["imports"]:
        importlib.import_module(module)
    folder = Path(orders["folder"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    notes, results = folder / "notes.jsonl", Path(os.environ["COCOTB_RESULTS_FILE"])
    for line in sys.stdin:
        number, start = int(line), time.monotonic()
        for stale in (notes, results):
            stale.unlink(missing_ok=True)
        sys.stdout.flush()
        process = os.fork()
        if process == 0:
            _become(number, folder, notes)
            return
        end = _end_of(process, results, orders["limit_s"])
        answer = {
            "number": number,
            "by": found_by(notes, orders["tests"], end),
            "seconds": round(time.monotonic() - start, 2),
        }
        os.write(1, f"{ANSWER}{json.dumps(answer)}\n".encode())
    os._exit(0)


def _become(number: int, folder: Path, notes: Path) -> None:
    """What a new process is before the bench's modules are imported."""
    os.chdir(folder)
    Path(NUMBER_FILE).write_text(str(number))
    log = os.open("sim.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, file in ((0, nothing), (1, log), (2, log)):
        os.dup2(file, stream)
    os.environ[TASK_ENV] = json.dumps(json.loads(os.environ[TASK_ENV]) | {"notes": str(notes)})


def _end_of(process: int, results: Path, limit_s: float) -> str:
    """Wait for a process to write its results; what went wrong instead, empty if nothing.

    It is then killed: its exit would wait for threads of the process that it was forked from.
    """
    limit, wrong = time.monotonic() + limit_s, f"the simulation took more than {limit_s} s"
    while time.monotonic() < limit:
        ended, status = os.waitpid(process, os.WNOHANG)
        if results.exists() and results.read_text().rstrip().endswith(RESULTS_END):
            wrong = ""
            break
        if ended:
            return f"the simulation ended with status {os.waitstatus_to_exitcode(status)}"
        time.sleep(POLL_S)
    if not ended:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return wrong


def found_by(notes: Path, tests: list[str], end: str) -> str:
    """The test that failed and why, or what else is wrong; empty if nothing is."""
    found = read_notes(notes)
    for test, note in found.items():
        if note["failure"]:
            return f"{test}: {note['failure']['why']}"
    missing = [test for test in tests if test not in found]
    return end or (f"{missing[0]} did not end" if missing else "")


if ORDERS_ENV in os.environ:
    serve(json.loads(os.environ[ORDERS_ENV]))
