"""All injections of a simulation: a bit is flipped, and what the host has seen is judged."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, Timer

from pymodel.hardware.clock import PERIOD_NS
from pymodel.hardware.simulation import Task
from pymodel.hardware.waiting import BusHangError, HangError
from tb.faults.registers import flip
from tb.faults.verdicts import (
    CRASH,
    DETECTED,
    DONE,
    HANG,
    MASKED,
    SILENT,
    STOPPED,
    THRESHOLD,
    Place,
)
from tb.faults.workloads import Seen, Workload

IDENTITY = ("ID", "VERSION", "ID")  # what is read at the end
LIMIT_S = 300  # of a process: far more than any session takes


class Injections:
    """All injections of a simulation; the arguments are those of the test."""

    def __init__(self, dut: Any, task: Task, workload: Workload, registers: dict[Any, Any]) -> None:
        self.dut, self.task, self.workload = dut, task, workload
        self.registers = {x.path: (x, handle) for x, handle in registers.items()}
        listing = json.loads(Path(task.settings["listing"]).read_text())
        self.identity = listing["identity"]
        self.clean = Seen(**listing["seen"])
        self.threshold = THRESHOLD * listing["residual"]
        self.running: list[tuple[int, Place]] = []
        self.file = os.open(task.settings["rows"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def run(self) -> None:
        """One session, and at each cycle that is asked for the processes that differ from it."""
        orders = json.loads(Path(self.task.settings["orders"]).read_text())
        if not self.task.waves:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # of all processes that are forked, too
        session, cycle = cocotb.start_soon(self.workload.session()), 0
        for place in sorted((Place(*order) for order in orders), key=lambda x: x.cycle):
            if place.cycle > cycle:
                await Timer((place.cycle - cycle) * PERIOD_NS, "ns")
                cycle = place.cycle
            if self.task.waves:
                await self.one(place, session)
                return
            await self.forked(place, session)
        while self.running:
            self.reap()
        assert await session == self.clean, "the session without a flip differs from the listing"

    async def forked(self, place: Place, session: Any) -> None:
        """Do an injection in a process of its own.

        It leaves past the simulator's exit, which would wait for threads that only this one has.
        """
        while len(self.running) >= self.task.settings["workers"]:
            self.reap()
        process = os.fork()
        if process:
            self.running.append((process, place))
            return
        try:
            signal.alarm(LIMIT_S)
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            await self.one(place, session)
            os._exit(0)
        finally:  # another task's failure, or a $finish, has cancelled this one
            os._exit(1)

    def reap(self) -> None:
        """Wait for the process that was started first."""
        process, place = self.running.pop(0)
        _, status = os.waitpid(process, 0)
        if status:
            self.write(place, CRASH, why=f"status {os.waitstatus_to_exitcode(status)}")
        print(DONE, flush=True)

    def write(self, place: Place, verdict: str, **more: Any) -> None:
        """Add a row."""
        register, _ = self.registers[place.path]
        row = place._asdict() | {"kind": register.kind, "verdict": verdict} | more
        row["digest"] = self.task.settings["digest"]  # of all that the verdict depends on
        os.write(self.file, f"{json.dumps(row)}\n".encode())

    async def one(self, place: Place, session: Any) -> None:
        """Flip a bit, and see what comes of it."""
        flip(*self.registers[place.path], place.number)
        try:
            await self.judge(place, session)
        except BusHangError as error:
            self.write(place, HANG, why=str(error))
        except Exception as error:  # of the bench's own: to be looked at
            self.write(place, CRASH, why=f"{type(error).__name__}: {error}"[:500])

    async def judge(self, place: Place, session: Any) -> None:
        """Wait for the end of the session, and compare it with that without a flip."""
        try:
            seen = await session
        except BusHangError:
            raise
        except HangError as error:
            self.write(place, STOPPED, why=str(error), recovered=await self.recovered())
            return
        except AssertionError as error:  # SLVERR, or more words than there should be
            await self.answers()
            self.write(place, DETECTED, why=str(error), differs=True)
            return
        alive = await self.answers()
        differs = seen.words != self.clean.words
        signs = self.signs(seen)
        if not alive:
            signs.append("ID reads otherwise")
        if signs:
            self.write(place, DETECTED, why=", ".join(signs), differs=differs)
        elif not differs:
            self.write(place, MASKED)
        else:
            residual = self.workload.residual(seen.words)
            found = not residual <= self.threshold  # a NaN is found
            self.write(place, SILENT, residual=residual, found=found)

    def signs(self, seen: Seen) -> list[str]:
        """What tells the host that something is wrong."""
        more = seen.status & ~self.clean.status
        found = [f"STATUS {more:#x}"] if more else []
        if seen.numbers != self.clean.numbers or len(seen.words) != len(self.clean.words):
            found.append("numbers of words, steps or calls")
        if not self.workload.is_finite(seen.words):
            found.append("a result that is not finite")
        return found

    async def answers(self) -> bool:
        """Whether the bus still answers, and right; a hang raises."""
        host = self.workload.host
        await host.write("STATUS", 0)
        return [await host.read(name) for name in IDENTITY] == self.identity

    async def recovered(self) -> str:
        """What makes the next session right, once a run does not end."""
        for how in ("CTRL.RESET", "rst_ni"):
            try:
                if how == "rst_ni":
                    await self.reset()
                await self.workload.recover()
                await self.workload.load()
                if await self.workload.session() == self.clean:
                    return how
            except BusHangError:
                raise
            except AssertionError:
                pass
        return ""

    async def reset(self) -> None:
        """Hold the pin for two cycles."""
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
