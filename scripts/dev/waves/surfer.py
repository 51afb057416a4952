"""The command file of Surfer."""

import re
from collections.abc import Sequence

from scripts.dev.waves.failure import window
from scripts.dev.waves.lines import Group, Line
from scripts.dev.waves.waveform import Waveform

#: Its float formats that are ours too; its 8-bit (E4M3) one has finite numbers where ours has inf.
FLOATS = {
    (8, 23): "FP: 32-bit IEEE 754",
    (11, 52): "FP: 64-bit IEEE 754",
    (5, 10): "FP: 16-bit IEEE 754",
    (8, 7): "FP: bfloat16",
    (5, 2): "FP: 8-bit (E5M2)",
}
FORMATS = {
    "bin": "Binary",
    "hex": "Hexadecimal",
    "decimal": "Unsigned",
    "signed": "Signed",
    "flags": "Binary",
}


def surfer_commands(groups: Sequence[Group], wave: Waveform) -> str:
    """The text of the command file. Surfer cannot cut a vector into words: it shows it whole."""
    commands, count = [], 0
    for group in groups:
        commands.append(_divider(group.name))
        count += 1
        by_path = {}
        for line in group.lines:
            by_path.setdefault(line.signal.path, line)
        for path, line in by_path.items():
            commands.append(f"variable_add {path}")
            count += 1
            surfer_format = _format(line, wave.float_format)
            if surfer_format:
                commands.append(f"item_focus {item_number(count - 1, count)}_{path}")
                commands.append(f"item_set_format {surfer_format}")
        commands += map(_divider, group.remarks)
        count += len(group.remarks)
    commands.append("item_unfocus")
    shown = window(wave)
    if shown:
        start, failed, end = shown
        commands += [f"cursor_set {failed}", f"marker_set failure {failed}"]
        commands += [f"goto_time {failed}", f"zoom_to {start} {end}"]
    return "\n".join(commands) + "\n"


def _divider(text: str) -> str:
    """A line of text: one word for Surfer."""
    return f"divider_add {re.sub(r'[^A-Za-z0-9_.+-]+', '_', text)}"


def _format(line: Line, float_format: tuple[int, int] | None) -> str | None:
    """Surfer's name of the line's radix; None for its own choice."""
    if line.radix == "float":
        known = FLOATS.get(float_format) if line.whole else None
        return known or FORMATS["hex"]
    return FORMATS.get(line.radix)


def item_number(index: int, count: int) -> str:
    """Surfer's number of an item: hexadecimal, as wide as the count's, with the digits a to p."""
    digits = f"{index:0{len(f'{count:x}')}x}"
    return digits.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))
