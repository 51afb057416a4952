"""Points of the step array's streams: handshakes, packets, resets, and the chain of segments.

What stands on the wires is sampled cycle by cycle (:class:`Watch`), in one configuration.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from pymodel.hardware.coverage_point import Bin, Point
from pymodel.hardware.on_bus import inside
from pymodel.runs.array_runs import Array
from tb.common.array_calls import Call, batches_of
from tb.common.array_tables import passes
from tb.common.coverage.bus import BUSY, DONE, IDLE, STATES

UNIT = "step_array"
CALLS, RESULTS = STREAMS = ("calls", "results")
PREFIXES = {CALLS: "s_axis", RESULTS: "m_axis"}
#: Cycles by (valid, ready).
MOVES, HELD, STARVED, QUIET = CYCLES = (
    "a beat moves",
    "a beat is held back",
    "ready without a beat",
    "neither valid nor ready",
)
BEATS = ("first", "inside", "last", "last word of the memory")
ONLY_IN_RUNS = "a stream moves in a run only"
RIGHT, SHORT, LONG, UNKNOWN = LENGTHS = (
    "with its last input",
    "early",
    "late",
    "of a function that is not stored",
)
#: Two registers follow the stream, and only a call's first beat waits behind them.
HOLDS_EARLY = "the loader holds back no later beat of a call than the third one"
PLACES = ("first", "inside", "last")
RESETS = ("CTRL", "pin")
PACKETS = ("between packets", "inside a packet")
REPEAT, NEXT, LOOP, SAME, OTHER = SWITCHES = (
    "its next repeat",
    "the next segment",
    "back to the loop's first",
    "the same function's next batch",
    "another function's batch",
)
KINDS = ("loud", "quiet")


def _no_handshake(bin_: Bin) -> str:
    stream, cycle, state = bin_
    if state == BUSY or cycle == QUIET:
        return ""
    possible = {CALLS: (HELD,), RESULTS: (STARVED,)}[stream]
    return "" if cycle in possible else ONLY_IN_RUNS


def _no_switch(bin_: Bin) -> str:
    switch, _, row_ends = bin_
    if switch == REPEAT and row_ends:
        return "a row ends with a segment's last repeat"
    if switch in (SAME, OTHER) and not row_ends:
        return "a row ends with a function's last segment"
    return ""


HANDSHAKES = Point(
    UNIT, "handshakes", {"stream": STREAMS, "cycle": CYCLES, "state": STATES}, _no_handshake
)
STALLS = Point(
    UNIT,
    "beats held back",
    {"stream": STREAMS, "beat": BEATS, "held": (False, True)},
    lambda bin_: HOLDS_EARLY if bin_ == (CALLS, BEATS[3], True) else "",
)
TLASTS = Point(UNIT, "packets", {"TLAST": LENGTHS, "place in the run": PLACES})
IN_PACKETS = Point(UNIT, "resets", {"by": RESETS, CALLS: PACKETS, RESULTS: PACKETS})
CHAIN = Point(
    UNIT,
    "chain of segments",
    {"then": SWITCHES, "segment": KINDS, "row ends": (False, True)},
    _no_switch,
)
POINTS = (HANDSHAKES, STALLS, TLASTS, IN_PACKETS, CHAIN)


def cover_calls(
    tell: Callable[[Point, Bin], None],
    array: Array,
    calls: Sequence[Call],
    stored: Collection[int],
) -> None:
    """Tell what a run's calls are, and which segments follow each other."""
    for number, call in enumerate(calls):
        place = PLACES[0 if number == 0 else 2 if number == len(calls) - 1 else 1]
        tell(TLASTS, (_length(array, call, stored), place))
    ran = [function for function, _ in batches_of(array, calls, stored)]
    for function, following in pairwise([*ran, None]):
        _cover_chain(tell, array, function, following)


def _length(array: Array, call: Call, stored: Collection[int]) -> str:
    """Where the TLAST of a call is."""
    if call.function not in stored:
        return UNKNOWN
    wanted = array.table[call.function].inputs
    return RIGHT if len(call.words) == wanted else SHORT if len(call.words) < wanted else LONG


def _cover_chain(
    tell: Callable[[Point, Bin], None], array: Array, function: int, following: int | None
) -> None:
    entry = array.table[function]
    chain = [*passes(array.segments, entry)]
    for item, after in pairwise([*chain, None]):
        kind, row_ends = KINDS[item.segment.quiet], item.segment.emit and item.last
        if after is None:
            if following is not None:
                tell(CHAIN, (SAME if following == function else OTHER, kind, row_ends))
        elif not item.last:
            tell(CHAIN, (REPEAT, kind, row_ends))
        else:
            tell(CHAIN, (NEXT if after.number == item.number + 1 else LOOP, kind, row_ends))


class Watch:
    """Watches both streams of an array, cycle by cycle.

    Parameters
    ----------
    dut
        The module step_array.
    depths
        Of the memories of calls and of results, in words of a call.
    tell
        Takes what was met.
    """

    def __init__(
        self, dut: Any, depths: tuple[int, int], tell: Callable[[Point, Bin], None]
    ) -> None:
        core = inside(dut)
        self._clock, self._pin, self._reset = dut.clk_i, dut.rst_ni, core.parts_rst_n
        self._busy, self._done = core.busy, core.done_state
        names = ("tvalid", "tready", "tlast")
        self._wires = [[getattr(dut, f"{PREFIXES[s]}_{name}") for name in names] for s in STREAMS]
        self._depths, self._tell = depths, tell
        self._beats = [0, 0]  # that have moved of the packet
        self.met: dict[str, set[Bin]] = defaultdict(set)  # by the point's name
        self._was_held = [False, False]
        self._resets = False
        cocotb.start_soon(self._run())

    async def until(self, calls: str, results: str, cycles: int) -> None:
        """Wait until both streams are so, each of :data:`PACKETS`, or for so many cycles."""
        for _ in range(cycles):
            await FallingEdge(self._clock)
            if [PACKETS[beats > 0] for beats in self._beats] == [calls, results]:
                return

    async def _run(self) -> None:
        edge = FallingEdge(self._clock)
        while True:
            await edge
            pin = str(self._pin.value) == "0"
            resets = pin or str(self._reset.value) == "0"
            if not resets:
                self._cycle()
            elif not self._resets:  # its first cycle
                packets = (PACKETS[beats > 0] for beats in self._beats)
                self._once(IN_PACKETS, (RESETS[pin], *packets))
                self._beats, self._was_held = [0, 0], [False, False]
            self._resets = resets

    def _cycle(self) -> None:
        state = BUSY if int(self._busy.value) else DONE if int(self._done.value) else IDLE
        for i, (valid, ready, last) in enumerate(self._wires):
            offered, taken = int(valid.value), int(ready.value)
            cycle = CYCLES[(0 if taken else 1) if offered else (2 if taken else 3)]
            self._once(HANDSHAKES, (STREAMS[i], cycle, state))
            if not offered:
                continue
            if not taken:
                self._was_held[i] = True
                continue
            ends = bool(int(last.value))
            self._once(STALLS, (STREAMS[i], self._beat(i, ends), self._was_held[i]))
            self._beats[i] = 0 if ends else self._beats[i] + 1
            self._was_held[i] = False

    def _beat(self, stream: int, ends: bool) -> str:
        """Which beat of its packet is on the wires."""
        if self._beats[stream] == self._depths[stream] - 1:
            return BEATS[3]
        return BEATS[2] if ends else BEATS[self._beats[stream] > 0]

    def _once(self, point: Point, bin_: Bin) -> None:
        """Tell, what was told before left out: most cycles are alike."""
        if bin_ not in self.met[point.name]:
            self.met[point.name].add(bin_)
            self._tell(point, bin_)
