"""What a waveform shows first when its test failed: the signal that was wrong, what it must be."""

import textwrap

from pymodel.hardware import times
from pymodel.hardware.model_signals import WORD
from scripts.dev.waves.lines import MODEL, Group, Line, whole
from scripts.dev.waves.waveform import Waveform

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
    ``signal``, ``got``, ``expected``, whether it is a ``float``, its ``bits``, and ``details``.
    """
    failure = wave.about.get("failure")
    if not failure:
        return []
    group = Group(f"failed at {times.text(failure['ns'])}")
    names = [CLOCK] if "signal" in failure else []
    line = failing_line(wave)
    if not line and names:
        names += BUS_READ
    found = (wave.signals.get(f"{wave.top}.{name}") for name in names)
    group.lines = [whole(signal) for signal in found if signal]
    group.lines += [*beside(wave), line, *model_lines(wave)] if line else []
    group.remarks = [f"{key} {failure[key]}" for key in ("expected", "got") if key in failure]
    for text in (failure["why"], *failure.get("details", ())):
        group.remarks += textwrap.wrap(text, REMARK_WIDTH)
    return [group]


def failing_line(wave: Waveform) -> Line | None:
    """The signal that differed, or the word of it; None if the waveform does not have it."""
    name = wave.about["failure"].get("signal")
    if name is None:
        return None
    path, word = f"{wave.top}.{name}", WORD.fullmatch(name)
    if path in wave.signals or not word:
        return _line(wave, path, None)
    return _line(wave, f"{wave.top}.{word[1]}", int(word[2]), name)


def model_lines(wave: Waveform) -> list[Line]:
    """What the model says of that signal, and when the two differ; none if it says nothing."""
    name = wave.about["failure"]["signal"]
    word = None if wave.modelled(name) else WORD.fullmatch(name)
    index, paths = (int(word[2]), wave.modelled(word[1])) if word else (None, wave.modelled(name))
    if not paths:
        return []
    said, differs = paths
    bit = wave.signals.get(differs)
    found = (_line(wave, said, index, MODEL), whole(bit, name="differs") if bit else None)
    return [line for line in found if line]


def beside(wave: Waveform) -> list[Line]:
    """The other signals of its scope that the model speaks of: of a store, whether and where."""
    name = wave.about["failure"]["signal"]
    scope = name.rpartition(".")[0]
    paths = [path for path in wave.about.get("model", ()) if path.rpartition(".")[0] == scope]
    lines = []
    for path in paths if scope else ():
        said, _ = wave.modelled(path) or ("", "")
        signals = wave.signals.get(f"{wave.top}.{path}"), wave.signals.get(said)
        if path != name and all(signals):
            lines += [whole(signals[0]), whole(signals[1], name=MODEL)]
    return lines


def _line(wave: Waveform, path: str, index: int | None, name: str = "") -> Line | None:
    """A signal, or the word of an index; None if the waveform does not have it."""
    failure, signal = wave.about["failure"], wave.signals.get(path)
    radix, bits = "float" if failure.get("float") else "auto", failure.get("bits")
    if index is None:
        return whole(signal, radix, name) if signal else None
    # Verilator splits packed arrays.
    part = wave.signals.get(f"{path}.{path.rpartition('.')[2]}[{index}]")
    if part:
        return whole(part, radix, name)
    if signal and bits and bits * (index + 1) <= signal.width:
        return Line(name, signal, radix, bits * index, bits)
    return whole(signal) if signal else None
