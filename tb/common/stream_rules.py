"""Rules of AXI4-Stream, watched on the wires."""

from typing import Any

import cocotb
from cocotb.triggers import Event, FallingEdge, ValueChange
from cocotb.utils import get_sim_time

from pymodel.arith.fp import Format
from pymodel.hardware import times
from pymodel.hardware.on_bus import inside
from pymodel.hardware.scoreboard import reading

HANDSHAKE, PAYLOAD = ("tvalid", "tready"), ("tdata", "tuser", "tlast")
IDLE = "00", "01"  # valid and ready where no rule can be broken between packets


class StreamRules:
    """Watches the stream that a module gives, until a rule is broken.

    That is cycle by cycle within a packet; between packets it waits for TVALID to change.

    - the handshake has no unknown bits, nor has the payload of a valid beat
    - what is valid and not taken stays, valid and unchanged
    - TUSER is the same in all beats of a packet

    Parameters
    ----------
    dut
        With ``clk_i``, ``rst_ni``.
    prefix
        Of the stream's ports.
    reset
        Signal of the module that is low in a reset of a run, which may end a packet.
    fmt
        Of the float in the low bits of TDATA.

    Attributes
    ----------
    refused
        Cycles in which a beat was not taken.
    broken, error
        Set when a rule is broken; which one, and when.
    """

    def __init__(self, dut: Any, prefix: str, reset: str, fmt: Format) -> None:
        self._fmt = fmt
        self._dut, self._prefix, self._reset = dut, prefix, getattr(inside(dut), reset)
        self._wires = {name: getattr(dut, f"{prefix}_{name}") for name in ("tvalid", *PAYLOAD)}
        self.refused = 0
        self.broken, self.error = Event(), ""
        self._held: tuple | None = None  # the payload that was not taken
        self._user: int | None = None  # of the packet that has begun
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        edge, change = FallingEdge(self._dut.clk_i), ValueChange(self._wires["tvalid"])
        handshakes, pin = self._dut.stream_handshakes_o, self._dut.rst_ni
        while not self.error:
            await edge
            levels = str(handshakes.value)[-len(HANDSHAKE) :]
            if levels in IDLE and self._held is None and self._user is None:
                await change
            elif str(pin.value) == "1" and str(self._reset.value) == "1":
                self._cycle(*map(self._known, HANDSHAKE, levels))
            else:
                self._held = self._user = None

    def _cycle(self, valid: int, ready: int) -> None:
        payload = ((name, str(self._wires[name].value)) for name in PAYLOAD)
        beat = tuple(self._known(name, bits) for name, bits in payload) if valid else None
        if self._held and not valid:
            self._fail("tvalid fell before its beat was taken")
        elif self._held and beat != self._held:
            self._fail("; ".join(map(self._change, PAYLOAD, beat or (), self._held)))
        if not beat:
            return
        _, user, last = beat
        if self._user is not None and user != self._user:
            said = f"tuser {reading(user)}, {reading(self._user)} in the same packet before"
            self._fail(said)
        self._held = None if ready else beat
        self.refused += not ready
        if ready:
            self._user = None if last else user

    def _change(self, name: str, now: int, before: int) -> str:
        """How a wire of a beat that was not taken has changed."""
        fmt = self._fmt if name == "tdata" and not (now | before) >> self._fmt.width else None
        if now == before:
            return f"{name} {reading(now, fmt)}"
        return f"{name} {reading(now, fmt)}, {reading(before, fmt)} before it was taken"

    def _known(self, name: str, bits: str) -> int:
        if bits.strip("01"):
            self._fail(f"{name} has unknown bits, {bits}")
            return 0
        return int(bits, 2)

    def _fail(self, what: str) -> None:
        at = times.text(get_sim_time("ns"))
        self.error = self.error or f"{self._prefix} at {at}: {what}"
        self.broken.set()
