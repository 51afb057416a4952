"""The two pins of a serial line in a simulation, and what is at their other end."""

from collections.abc import Callable
from typing import Any

from cocotb.triggers import FallingEdge, Timer

BITS = 8
BYTE_BITS = BITS + 2  # with start and stop


class SerialPins:
    """A line of 8N1 at the pins ``rx_i`` and ``tx_o`` of a device.

    Parameters
    ----------
    dut
        The device.
    baud
        Bits a second, which need not be the device's own.
    flip
        Says of each bit whether noise inverts it.

    Attributes
    ----------
    byte_s
        How long a byte takes.
    """

    def __init__(self, dut: Any, baud: float, flip: Callable[[], bool] = lambda: False) -> None:
        self._dut, self._flip = dut, flip
        self._bit_ps = round(1e12 / baud)
        self.byte_s = BYTE_BITS / baud
        dut.rx_i.value = 1

    async def send(self, octet: int, stop: int = 1) -> None:
        """Send a byte; with ``stop`` 0, what is none."""
        for bit in (0, *(octet >> i & 1 for i in range(BITS)), stop):
            self._dut.rx_i.value = bit ^ self._flip()
            await Timer(self._bit_ps, "ps")
        self._dut.rx_i.value = 1

    async def receive(self) -> int | None:
        """The next byte; None for what has no stop bit."""
        tx = self._dut.tx_o
        await FallingEdge(tx)
        await Timer(self._bit_ps * 3 // 2, "ps")
        octet = 0
        for i in range(BITS):
            octet |= (int(tx.value) ^ self._flip()) << i
            await Timer(self._bit_ps, "ps")
        return octet if int(tx.value) else None
