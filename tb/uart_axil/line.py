"""A serial line in the simulation, and the host's own program at its other end."""

from typing import Any

import cocotb
import numpy as np
from cocotb.task import bridge, resume
from cocotb.triggers import Event, SimTimeoutError, with_timeout
from cocotb.utils import get_sim_time

from pymodel.hardware.link import DELIMITER, Link
from pymodel.hardware.serial_pins import SerialPins

FRAME_BYTES = 700  # a frame takes less on the line, and so does what is done with it


class Line:
    """The pins of a board, a port of :class:`pymodel.hardware.link.Link`.

    The host runs in a thread, which stands still while the simulation goes on.

    Parameters
    ----------
    dut
        With ``rx_i`` and ``tx_o``.
    baud
        The host's, which need not be the board's.
    rng
        Of noise.

    Attributes
    ----------
    noise
        Probability that a bit is inverted, or that a byte is lost or comes from nowhere, of each.
    pins
        The line.
    byte_s
        How long a byte takes.
    link
        The host's program.
    """

    def __init__(self, dut: Any, baud: float, rng: np.random.Generator) -> None:
        self._rng = rng
        self.pins = SerialPins(dut, baud, self._hit)
        self._queue, self._bytes = bytearray(), bytearray()
        self._some, self._came = Event(), Event()
        self.noise = 0.0
        self.byte_s = self.pins.byte_s
        self.link = Link(self, FRAME_BYTES * self.byte_s)
        cocotb.start_soon(self._send())
        cocotb.start_soon(self._listen())

    # --- the host's side, called in its thread ---------------------------------------------------

    def now(self) -> float:
        """The simulation's time in seconds."""
        return resume(self._now)()

    def write(self, data: bytes) -> None:
        """Send bytes."""
        resume(self._post)(data)

    def read(self, seconds: float) -> bytes:
        """Bytes that have come, up to a delimiter."""
        return resume(self._take)(seconds)

    # --- in the simulation -----------------------------------------------------------------------

    async def host(self, function: str, *arguments: Any) -> Any:
        """Call a function of the link."""
        return await bridge(getattr(self.link, function))(*arguments)

    async def _now(self) -> float:
        return get_sim_time("sec")

    async def _post(self, data: bytes) -> None:
        self._queue += data
        self._some.set()

    async def _take(self, seconds: float) -> bytes:
        while DELIMITER not in self._bytes:
            self._came.clear()
            try:
                await with_timeout(self._came.wait(), round(seconds * 1e12), "ps")
            except SimTimeoutError:
                break
        found = bytes(self._bytes)
        self._bytes.clear()
        return found

    async def _send(self) -> None:
        """Bytes onto the line, one after the other."""
        while True:
            if not self._queue:
                self._some.clear()
                await self._some.wait()
            for octet in self._damaged(self._queue.pop(0)):
                await self.pins.send(octet)

    def _damaged(self, octet: int) -> list[int]:
        """What becomes of a byte: nothing, itself, or itself and another one."""
        if self._hit():
            return []
        return [octet, int(self._rng.integers(256))] if self._hit() else [octet]

    def _hit(self) -> bool:
        return bool(self.noise) and self._rng.random() < self.noise

    async def _listen(self) -> None:
        while True:
            octet = await self.pins.receive()
            if octet is not None:
                self._bytes += bytes(self._damaged(octet))
                self._came.set()
