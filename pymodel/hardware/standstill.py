"""Simulated time that stands still: a loop of signals without delay, in which Icarus never ends.

All other limits count simulated time. So a simulation leaves its pulse in a file, and who started
it looks there. Verilator finds such a loop by itself.
"""

import threading
import time
from pathlib import Path

import cocotb
from cocotb.triggers import Timer
from cocotb.utils import get_sim_time

from pymodel.hardware.clock import PERIOD_NS

FILE = "pulse"
LIMIT = 15  # looks, a second each, at a pulse that stands
BEAT_S = 0.5  # between two stamps, at least
MOST_CYCLES = 10_000  # of the clock, between two looks at the time
STANDS = "simulated time stands still"


class Pulse:
    """Of a simulation: it beats while simulated time goes on, and while Python computes.

    Parameters
    ----------
    file
        Where it is left: a number that grows, and the simulated time in ns.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._count, self._last, self._on = 0, 0.0, False

    def start(self) -> None:
        """Beat until :meth:`stop`, or the end of the test."""
        if not self._count:  # the one thread; it runs while Python does
            threading.Thread(target=self._beat_in_python, daemon=True).start()
        self._on = True
        self._stamp()
        cocotb.start_soon(self._beat_in_time())

    def stop(self) -> None:
        """Beat no more: what follows may take as long as it likes."""
        self._on = False
        self._file.unlink(missing_ok=True)

    async def _beat_in_time(self) -> None:
        cycles = 1  # as many as a simulator does in a part of BEAT_S, be it fast or slow
        while self._on:
            before = time.monotonic()
            await Timer(cycles * PERIOD_NS, "ns")
            fast = time.monotonic() - before < BEAT_S / 4
            begins = fast and cycles < MOST_CYCLES  # the time is known from the first cycles on
            cycles = min(2 * cycles, MOST_CYCLES) if fast else max(cycles // 2, 1)
            if begins or time.monotonic() - self._last > BEAT_S:
                self._stamp()

    def _beat_in_python(self) -> None:
        while True:
            time.sleep(BEAT_S)
            if self._on:
                self._stamp()

    def _stamp(self) -> None:
        self._count, self._last = self._count + 1, time.monotonic()
        self._file.write_text(f"{self._count} {get_sim_time('ns')}")


class Watch:
    """Looks at the pulse of a simulation, once a second.

    Parameters
    ----------
    file
        Where it is left.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._text, self._looks = "", 0
        file.unlink(missing_ok=True)

    def stands(self) -> bool:
        """Whether the simulation has no pulse any more; looks, not time, as a machine may pause."""
        try:
            text = self._file.read_text().strip()
        except FileNotFoundError:
            text = ""
        self._looks = self._looks + 1 if text and text == self._text else 0
        self._text = text
        return self._looks >= LIMIT

    def __str__(self) -> str:
        since = self._text.partition(" ")[2] or "0"
        return f"{STANDS} for {LIMIT} s, at {since} ns or soon behind"
