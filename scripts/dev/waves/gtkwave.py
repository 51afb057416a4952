"""The save file of GTKWave."""

from collections.abc import Sequence

from scripts.dev.waves.failure import window
from scripts.dev.waves.filters import filter_arguments, filter_name
from scripts.dev.waves.lines import Group, Line
from scripts.dev.waves.waveform import Waveform

# Flags of a line in a save file.
HEX, DECIMAL, BINARY, RIGHT = 0x2, 0x4, 0x8, 0x20
BLANK, SIGNED, COLLAPSED, PROCESS = 0x200, 0x400, 0x1000, 0x4000
CLOSED, GROUP_BEGIN, GROUP_END = 0x400000, 0x800000, 0x1000000
FLAGS = {
    "bin": BINARY | RIGHT,
    "hex": HEX | RIGHT,
    "decimal": DECIMAL | RIGHT,
    "signed": DECIMAL | SIGNED | RIGHT,
}
FILTERED = HEX | PROCESS | RIGHT
ZOOM = -14.1  # 2^14.1 ps are 200 pixels: a clock cycle of 10 ns is 114 wide, room for a number
MARKERS = 26  # besides the primary one


def gtkwave_save(groups: Sequence[Group], wave: Waveform) -> str:
    """The text of the save file. Its filters are named relative to the waveform's folder."""
    start, failed, _ = window(wave) or (0, 0, 0)
    marker = failed or -1  # a failure has marker A, too, which a click does not move
    lines = [
        f"[*] {wave.path.name}, written by scripts/dev/waves",
        f"[timestart] {start}",
        "[size] 1600 1000",
        "[pos] -1 -1",
        f"*{ZOOM:f} {failed} {marker}" + " -1" * (MARKERS - 1),
        "[sst_width] 60",
        "[signals_width] 420",
        "[sst_expanded] 0",
    ]
    for group in groups:
        begin = CLOSED if group.closed else 0
        lines += [f"@{GROUP_BEGIN | BLANK | begin:x}", f"-{group.name}"]
        for line in group.lines:
            lines += _line(line, wave.float_format)
        for remark in group.remarks:
            lines += [f"@{BLANK:x}", f"-{remark}"]
        end = CLOSED | COLLAPSED if group.closed else 0
        lines += [f"@{GROUP_END | BLANK | end:x}", f"-{group.name}"]
    return "\n".join(lines) + "\n"


def _line(line: Line, float_format: tuple[int, int] | None) -> list[str]:
    """Flags, filter if there is one, and name."""
    arguments = filter_arguments(line.radix, float_format)
    if arguments:
        return [f"@{FILTERED:x}", f"^>1 {filter_name(arguments)}", _name(line)]
    radix = line.radix
    if radix == "auto":
        radix = "bin" if line.width == 1 else "hex"
    return [f"@{FLAGS.get(radix, FLAGS['hex']):x}", _name(line)]


def _name(line: Line) -> str:
    """A signal, under another name if the line has one, or some of its bits put together."""
    signal = line.signal
    if line.whole and line.name == signal.last_name:
        return signal.name
    if line.whole:
        return f"+{{{line.name}}} {signal.name}"
    bits = range(line.low + line.width - 1, line.low - 1, -1)
    parts = (f"({signal.width - 1 - bit}){signal.name}" for bit in bits)
    return " ".join([f"#{{{line.name}}}", *parts])
