"""The signals of a counterexample, read from its waveform (VCD)."""

import re
from pathlib import Path

from pymodel.arith.fp import Format


def read_vcd(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Signals of the top of a VCD and their values.

    Parameters
    ----------
    text : str
        The file.

    Returns
    -------
    names : dict
        Code of a signal -> its name; only those of the outermost scope.
    steps : list of dict
        Of each step, code -> bits, of all that have a value by then.
    """
    names: dict[str, str] = {}
    depth = 0
    steps: list[dict[str, str]] = []
    marks: list[int] = []
    now: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            depth += 1
        elif words[0] == "$upscope":
            depth -= 1
        elif words[0] == "$var" and depth == 1:
            names[words[3]] = words[4]
        elif line[0] == "#":
            if marks:
                steps.append(dict(now))
            marks.append(int(line[1:]))
        elif line[0] == "b":
            now[words[1]] = words[0][1:]
        elif line[0] in "01xz":
            now[line[1:].strip()] = line[0]
    # A step takes 10 units, with a falling edge in the middle.
    return names, [step for mark, step in zip(marks, steps, strict=False) if mark % 10 == 0]


def as_text(bits: str, fmt: Format | None = None) -> str:
    """A value as hex, and as a float if it is one of a format."""
    if not set(bits) <= {"0", "1"}:
        return bits
    value = int(bits, 2)
    if fmt is None:
        return f"{value:x}"
    return f"{value:0{-(-(1 + fmt.exp_w + fmt.man_w) // 4)}x} = {fmt.to_float(value):.9g}"


def show(trace: Path, step: int, floats: tuple[str, ...], fmt: Format | None) -> list[str]:
    """Lines with the harness's signals in a step, and in the one before it where they differ.

    Parameters
    ----------
    trace : Path
        A waveform.
    step : int
        The step in which a property does not hold.
    floats : tuple of str
        Names of signals that are floats of `fmt`.
    fmt : Format or None
    """
    names, steps = read_vcd(trace.read_text())
    now = steps[min(step, len(steps) - 1)]
    last = steps[max(min(step, len(steps)) - 1, 0)]
    lines = []
    for code, name in sorted(names.items(), key=lambda item: item[1]):
        if name == "smt_clock" or name.startswith("smt_") or code not in now:
            continue
        kind = fmt if name in floats else None
        line = f"{re.sub(r'^.*[.]', '', name)} = {as_text(now[code], kind)}"
        if last.get(code, now[code]) != now[code]:
            line += f" (step before: {as_text(last[code], kind)})"
        lines.append(line)
    return lines
