"""A host's whole program on one side of a pseudo-terminal, the pins of a board on the other.

Settings: ``command``, the arguments of ``python -m pymodel`` besides the port; or ``c_steps``, how
many steps of the double pendulum the host in C runs (sw/step_host.c); and ``out``, a file for what
it prints. The simulation goes on until the program has ended.
"""

import os
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from pymodel.hardware import clock
from pymodel.hardware.bench import Bench
from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.configs import Config
from pymodel.hardware.places import BUILD, PACKAGE, ROOT, scenario_file
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.serial_pins import SerialPins
from pymodel.hardware.simulation import TASK_ENV
from pymodel.hardware.step_engine import machine_of, rtl_parameters
from pymodel.hardware.waiting import HangError
from pymodel.machine.c_driver import build_host
from pymodel.machine.isa import Machine
from pymodel.machine.model import Twin
from pymodel.mechanism.scenario_file import load
from pymodel.runs.compiled import run_image
from pymodel.runs.engine_runs import prepare

NAME = "cosim_board"
CLOCK_HZ = 1_000_000_000 // PERIOD_NS
USB, USB_BAUD = "usb", 3_000_000  # a configuration
SCENARIO = "double_pendulum"
TEST = "host_program"  # the cocotb test
SAME = "bit-identical to the model"  # what the host says
WAIT_S = 60  # of the host, which a simulation keeps waiting
LOOK_US, IDLE_LOOKS, IDLE_S = 10, 100, 1e-3
SILENT_LOOKS = 2000  # the link answers a frame far sooner, whatever stands behind it
MOST_BYTES = 4096  # taken from the terminal at once
#: The host's environment has nothing of the simulator's: it is a program of its own.
OURS = (TASK_ENV, "COCOTB_", "PYGPI_", "TOPLEVEL", "LIBPYTHON_LOC", "GPI_", "LD_PRELOAD")


def command(steps: int) -> list[str]:
    """The host's command: a run of the double pendulum."""
    return ["run", SCENARIO, "--steps", str(steps), "--no-reference"]


def c_files(folder: Path, machine: Machine, steps: int) -> list[str]:
    """What the host in C runs: an image of the double pendulum, and the words of its trace.

    Parameters
    ----------
    folder
        For both.
    machine
        That the image is for.
    steps
        Of the pendulum.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run = prepare(machine, [load(scenario_file(SCENARIO), steps)])
    twin = Twin(machine)
    twin.load(run.image)
    places = run.before.values(), run.after.values()
    words = twin.run(run.program, run.steps, run.every, run.save, *places)
    image, wanted = folder / f"{SCENARIO}.image", folder / f"{SCENARIO}.words"
    image.write_bytes(run_image(run).encode())
    wanted.write_text("".join(f"{word:08x}\n" for word in words))
    return [str(image), str(wanted)]


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench(NAME, "board_engine", configs, module=module)


def test_of(bench: Bench) -> Any:
    """The cocotb test of a bench."""

    @bench.test(timeout_us=60_000_000)
    async def host_program(dut: Any, board: Scoreboard) -> None:
        """The host's program finds the board, runs, and compares every word with the model."""
        pins = SerialPins(dut, bench.params["BAUD"] * CLOCK_HZ / bench.params["CLOCK_HZ"])
        await clock.start(dut)
        default = BUILD / bench.name / f"{bench.config.name}-{bench.simulator}.log"
        log = Path(bench.settings.get("out") or default)
        log.parent.mkdir(parents=True, exist_ok=True)
        host = _c_host if "c_steps" in bench.settings else _hdca
        status = await _Host(pins, partial(host, bench, log), log).served()
        said = log.read_text()
        board.compare("exit status", status, 0, context=said[-400:])
        board.compare(SAME, int(SAME in said), 1, context=said[-400:])

    return host_program


def _hdca(bench: Bench, log: Path, port: str) -> list[str]:
    """The host in Python."""
    command = bench.settings["command"]
    target = [] if command[0] == "board" else ["--target", "board"]
    out = ["--out", str(log.with_suffix(""))] if command[0] in ("run", "robot") else []
    ours = [sys.executable, "-m", "pymodel", *command, *target]
    return [*ours, "--port", port, "--wait", str(WAIT_S), *out]


def _c_host(bench: Bench, log: Path, port: str) -> list[str]:
    """The host in C, compiled as it ships."""
    folder = log.with_suffix("")
    machine = machine_of(rtl_parameters(Machine()) | bench.params)
    image, words = c_files(folder, machine, bench.settings["c_steps"])
    wait = str(1000 * WAIT_S)
    return [str(build_host(ROOT / "sw", folder)), port, str(USB_BAUD), image, words, wait]


class _Host:
    """A host's program, and the terminal between it and the pins.

    ``command_of`` gives its command for the name of a port.
    """

    def __init__(self, pins: SerialPins, command_of: Callable[[str], list[str]], log: Path) -> None:
        self._pins, self._moved = pins, 0
        self._owed = False  # whether the last byte was the host's
        self._board, host = os.openpty()
        tty.setraw(host)
        os.set_blocking(self._board, False)
        names = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        names["PYTHONPATH"] = str(PACKAGE.parent)
        line = command_of(os.ttyname(host))
        self._terminal = host  # kept open: the name is the host's program's
        with log.open("w") as file:
            self._program = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=names
            )

    async def served(self) -> int:
        """Move bytes until the program has ended; its exit status.

        Raises
        ------
        HangError
            If the board leaves the program without an answer, which would wait for half an hour.
        """
        tasks = [cocotb.start_soon(self._in()), cocotb.start_soon(self._out())]
        idle, moved = 0, 0
        while (status := self._program.poll()) is None:
            await Timer(LOOK_US, "us")
            idle, moved = (idle + 1 if moved == self._moved else 0), self._moved
            if self._owed and idle > SILENT_LOOKS:
                self._program.kill()
                self._program.wait()
                cycles = SILENT_LOOKS * LOOK_US * 1000 // PERIOD_NS
                raise HangError("an answer of the board to the host", cycles)
            if idle > IDLE_LOOKS:  # the host computes
                time.sleep(IDLE_S)
        for task in tasks:
            task.cancel()
        os.close(self._board)
        os.close(self._terminal)
        return status

    async def _in(self) -> None:
        while True:
            try:
                data = os.read(self._board, MOST_BYTES)
            except BlockingIOError:
                data = b""
            for octet in data:
                await self._pins.send(octet)
                self._moved += 1
                self._owed = True
            if not data:
                await Timer(LOOK_US, "us")

    async def _out(self) -> None:
        while True:
            octet = await self._pins.receive()
            self._moved += 1
            self._owed = False
            if octet is not None:
                os.write(self._board, bytes([octet]))


_USB = {"CLOCK_HZ": CLOCK_HZ, "BAUD": USB_BAUD}
BENCH = bench([Config(USB, _USB, {"command": command(200)}, long=True)], __name__)
host_program = test_of(BENCH)
