"""A step engine on a board, at the other end of a serial port (docs/board.md).

What drives the simulated engine drives this one: accesses go over the link instead of a simulated
bus, and nothing waits for a simulator.
"""

import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import serial

from pymodel.hardware.batch import (
    ADDRESS_AT,
    ADDRESS_MASK,
    REFUSED,
    WORD_MASK,
    WRITE,
    Batch,
)
from pymodel.hardware.link import Link, LinkError, Operation, bursts
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.waiting import AnswerError
from pymodel.machine.isa import Machine
from pymodel.machine.registers import STEP_ENGINE
from pymodel.runs.input_error import InputError

BAUD = 3_000_000
BYTE_BITS = 10  # with start and stop bit
ID, MAJOR_AT = int.from_bytes(b"STEP", "big"), 16
FIRST = ("ID", "VERSION", "CONFIG")  # registers that stand behind one another
#: Registers with a parameter of the module each, and its name.
SIZES = {
    "FILE_DEPTH": "DEPTH",
    "PROGRAM_DEPTH": "PROGRAM_DEPTH",
    "TRACE_REGISTERS": "TRACE_REGISTERS",
    "PROGRAMS": "PROGRAMS",
}
TICK_S = 1e-3  # what waits count in: the line takes longer than a run's steps
PAUSE_S = 2e-3
Value = TypeVar("Value")


class SerialPort:
    """A serial port, as a port of :class:`pymodel.hardware.link.Link`.

    Parameters
    ----------
    name, baud
        Of the port.

    Attributes
    ----------
    byte_s
        How long a byte takes.

    Raises
    ------
    InputError
        If it cannot be opened.
    """

    def __init__(self, name: str, baud: int) -> None:
        self.name = name
        self.byte_s = BYTE_BITS / baud
        try:
            self._serial = serial.Serial(name, baud, exclusive=True)
        except (OSError, ValueError) as error:  # serial's own are both
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"--port {name}: cannot be opened: {reason}") from None

    def now(self) -> float:
        """The time in seconds."""
        return time.monotonic()

    def write(self, data: bytes) -> None:
        """Send bytes."""
        try:
            self._serial.write(data)
        except OSError as error:
            raise LinkError(f"{self.name}: {error}") from None

    def read(self, seconds: float) -> bytes:
        """Bytes that have come; none if there are none within so many seconds."""
        try:
            self._serial.timeout = seconds
            first = self._serial.read()
            return first + self._serial.read(self._serial.in_waiting) if first else first
        except OSError as error:
            raise LinkError(f"{self.name}: {error}") from None

    def close(self) -> None:
        """Close it."""
        self._serial.close()


class _LinkBatch(Batch):
    """A batch of accesses that go over the link."""

    async def run(self, timed: bool = False) -> list[list[Any]]:
        """Do all of them, in as few frames as there can be.

        Raises
        ------
        AnswerError
            If a response is not OKAY.
        """
        assert not any(group.poll_cycles or group.may_fail for group in self._groups)
        accesses = [
            (operation >> ADDRESS_AT & ADDRESS_MASK, _written(operation))
            for group in self._groups
            for operation in group.operations
        ]
        answer = self._registers.link.do(bursts(accesses))
        number, words, found = 0, iter(answer.words), []
        for group in self._groups:
            number += len(group.operations)
            if answer.failed is not None and answer.failed < number:
                raise AnswerError("read" if group.is_read else "write", group.name, REFUSED)
            if group.is_read:
                found.append([next(words) for _ in group.operations])
        return found


def _written(operation: int) -> int | None:
    return operation & WORD_MASK if operation & WRITE else None


class BoardEngine(StepEngine):
    """A step engine behind a link.

    Parameters
    ----------
    link
        That has been greeted.
    machine
        What the engine is.
    """

    def __init__(self, link: Link, machine: Machine) -> None:
        super().__init__(None, machine)
        self.link = link

    def attach(self, dut: Any) -> None:
        """There is no simulated bus."""

    def batch(self) -> Batch:
        """A batch of accesses, none yet."""
        return _LinkBatch(self)

    def now(self) -> int:
        """Ticks, far longer than clock cycles: no wait that a simulation has ends too soon."""
        return round(time.monotonic() / TICK_S)

    async def pause(self, cycles: int) -> None:
        """Let time pass where a run is long."""
        time.sleep(PAUSE_S)


def done(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """The result of what waits for no simulator."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise AssertionError("waits for a simulator")


@contextmanager
def connected(port: str | None, baud: int, wait_s: float) -> Iterator[BoardEngine]:
    """The engine at the other end of a serial port.

    Parameters
    ----------
    port
        Its name, such as ``/dev/ttyUSB0``.
    baud
        Bits a second.
    wait_s
        Of the link.

    Raises
    ------
    InputError
        If there is no such port, nothing answers there, or no step engine.
    """
    if not port:
        raise InputError("--target board: needs --port, as --port /dev/ttyUSB0")
    line = SerialPort(port, baud)
    try:
        link = Link(line, wait_s)
        try:
            machine = _machine(link)
        except LinkError as error:
            raise InputError(f"--port {port}: {error}") from None
        engine = BoardEngine(link, machine)
        done(engine.write("CTRL", engine.mask("CTRL", "RESET")))  # whatever another host left
        yield engine
    finally:
        line.close()


def _machine(link: Link) -> Machine:
    """Greet a board: what its engine is."""
    map_ = STEP_ENGINE
    id_, version, config = link.hello([Operation(map_["ID"].offset, len(FIRST))]).words
    if id_ != ID:
        raise LinkError(f"no step engine answers, ID is {id_:#010x}")
    assert map_.version is not None
    if version >> MAJOR_AT != map_.version[0]:
        major, minor = version >> MAJOR_AT, version & 0xFFFF
        raise LinkError(f"the engine has registers of version {major}.{minor}")
    names = ("LANES", *SIZES)
    lanes, *sizes = link.do(Operation(map_[name].offset, 1) for name in names).words
    parameters = dict(zip(SIZES.values(), sizes, strict=True))
    for name, word in (("CONFIG", config), ("LANES", lanes)):
        parameters |= {field.name: field.get(word) for field in map_[name].fields}
    return machine_of(parameters)
