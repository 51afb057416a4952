"""What a waveform shows first when its test failed: the signal that was wrong, what it must be."""

import re
import textwrap

from scripts.waves.lines import Group, Line, whole
from scripts.waves.waveform import Waveform

INDEXED = re.compile(r"(.+)\[(\d+)\]")
#: What shows a value that was read over the bus.
BUS_READ = ("s_axil_araddr", "s_axil_rvalid", "s_axil_rdata")
CLOCK = "clk_i"
PS = 1000  # in a nanosecond: the benches' waveforms count picoseconds
BEFORE_NS, AFTER_NS = 50, 40  # that are shown around a failure: what there is room for
REMARK_WIDTH = 60  # characters; the widest line makes the room of all names


def window(wave: Waveform) -> tuple[int, int, int] | None:
    """First time to show, time of the failure, last time to show, ps; None if the test passed."""
    failure = wave.about.get("failure")
    if not failure:
        return None
    start, failed, end = (round((failure["ns"] + ns) * PS) for ns in (-BEFORE_NS, 0, AFTER_NS))
    return max(0, start), failed, end


def failure_group(wave: Waveform) -> list[Group]:
    """The group that stands above the layout; none if the test passed.

    The bench leaves in ``failure`` when the test failed and why; where a value differed also its
    ``signal``, ``got``, ``expected``, whether it is a ``float``, and its ``bits``.
    """
    failure = wave.about.get("failure")
    if not failure:
        return []
    group = Group(f"failed at {failure['ns']:g} ns")
    names = [CLOCK] if "signal" in failure else []
    line = failing_line(wave)
    if not line and names:
        names += BUS_READ
    found = (wave.signals.get(f"{wave.top}.{name}") for name in names)
    group.lines = [whole(signal) for signal in found if signal]
    group.lines += [line] if line else []
    group.remarks = [f"{key} {failure[key]}" for key in ("expected", "got") if key in failure]
    group.remarks += textwrap.wrap(failure["why"], REMARK_WIDTH)
    return [group]


def failing_line(wave: Waveform) -> Line | None:
    """The signal that differed, or the word of it; None if the waveform does not have it."""
    failure = wave.about["failure"]
    name, radix = failure.get("signal"), "float" if failure.get("float") else "auto"
    if name is None:
        return None
    path = f"{wave.top}.{name}"
    if path in wave.signals:
        return whole(wave.signals[path], radix)
    indexed = INDEXED.fullmatch(name)
    if not indexed:
        return None
    base, index = f"{wave.top}.{indexed[1]}", int(indexed[2])
    # Verilator splits packed arrays.
    part = wave.signals.get(f"{base}.{base.rpartition('.')[2]}[{index}]")
    if part:
        return whole(part, radix, name)
    signal, bits = wave.signals.get(base), failure.get("bits")
    if signal and bits and bits * (index + 1) <= signal.width:
        return Line(name, signal, radix, bits * index, bits)
    return whole(signal) if signal else None
