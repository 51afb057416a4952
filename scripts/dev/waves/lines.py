"""Lines of a viewer: what a waveform has of a layout."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scripts.dev.waves.fst import Signal
from scripts.dev.waves.layout import Item, expand, sections
from scripts.dev.waves.problem import Problem
from scripts.dev.waves.waveform import Waveform

MODEL = "model"  # name of a line: what the model says of the one above it
PORT = re.compile(r"(_i|_ni|_o)$|^[sm]_axi")


@dataclass(frozen=True)
class Line:
    """One line: a signal, or `width` of its bits from `low` on."""

    name: str
    signal: Signal
    radix: str
    low: int
    width: int

    @property
    def whole(self) -> bool:
        """Whether it has all bits of its signal."""
        return self.width == self.signal.width


def whole(signal: Signal, radix: str = "auto", name: str = "") -> Line:
    """The line of all bits of a signal."""
    return Line(name or signal.last_name, signal, radix, 0, signal.width)


@dataclass
class Group:
    """Lines under a heading, folded at first or not, and remarks below them."""

    name: str
    closed: bool = False
    lines: list[Line] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def arrange(layout: Mapping[str, Any], wave: Waveform) -> tuple[list[Group], list[str]]:
    """The layout's groups for a waveform, and the paths that it does not have.

    A repetition of a group without any signal of its own is left out: the configuration lacks it.

    Raises
    ------
    Problem
        If the layout is wrong.
    """
    groups, missing = [], []
    for section in sections(layout):
        group = Group(section.name, section.closed)
        found = [(item, _lines(item, wave)) for item in section.items]
        own = [lines for item, lines in found if item.numbered]
        if own and not any(own):
            continue
        for item, lines in found:
            group.lines += lines
            missing += [] if lines else [item.path]
        groups += [group] if group.lines else []
    return groups, missing


def _lines(item: Item, wave: Waveform) -> list[Line]:
    """The lines of a signal, each with the model's below it; none if there is no such signal."""
    lines = _lines_at(f"{wave.top}.{item.path}", item, wave)
    paths = wave.modelled(item.path) if lines else None
    if not paths:
        return lines
    said = [replace(line, name=MODEL) for line in _lines_at(paths[0], item, wave)]
    return list(itertools.chain(*zip(lines, said, strict=True))) if said else lines


def _lines_at(path: str, item: Item, wave: Waveform) -> list[Line]:
    """The lines of the signal of a path, shown as an item says."""
    signal = wave.signals.get(path)
    if item.words:
        names = expand(item.words, wave.params)
        return _cut(item, signal, names) if signal else _parts(item, wave, path, names)
    if not signal:
        return []
    line = whole(signal, item.radix, item.name)
    if item.radix == "float" and wave.float_format:
        # a float lies in the low bits of a wider word
        width = min(signal.width, 1 + sum(wave.float_format))
        return [Line(line.name, signal, item.radix, 0, width)]
    return [line]


def _cut(item: Item, signal: Signal, names: list[str]) -> list[Line]:
    """A signal cut into words."""
    width, rest = divmod(signal.width, len(names) or 1)
    if rest or not names:
        raise Problem(f"{item.path}: {signal.width} bits are not {len(names)} words")
    return [Line(name, signal, item.radix, width * i, width) for i, name in enumerate(names)]


def _parts(item: Item, wave: Waveform, path: str, names: list[str]) -> list[Line]:
    """Verilator splits packed arrays: word i is the signal <path>.<last name>[i]."""
    last = path.rpartition(".")[2]
    parts = {name: wave.signals.get(f"{path}.{last}[{i}]") for i, name in enumerate(names)}
    return [whole(part, item.radix, name) for name, part in parts.items() if part]


def ports(wave: Waveform) -> list[Group]:
    """Groups of a bench without a layout: the top level's ports, or all its signals."""
    # Verilator splits a packed array `a_i` into `a_i.a_i[0]`, `a_i.a_i[1]`, ...
    below = re.compile(re.escape(wave.top) + r"\.(?:(\w+)\.(?=\1\[))?(\w+)(\[\d+\])*")
    found = [(match, s) for path, s in wave.signals.items() if (match := below.fullmatch(path))]
    named = [(match, s) for match, s in found if PORT.search(match[2])]
    return [Group(wave.top, False, [whole(signal) for _, signal in named or found])]
