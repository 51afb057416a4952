"""The layout of a bench, `tb/<bench>/waves.toml`: which signals to show, and how to read them.

docs/waveforms.md describes the file.
"""

import importlib
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from scripts.dev.waves.problem import Problem
from scripts.kernel.places import ROOT

FILE = "waves.toml"
NUMBER = "{i}"  # of a repetition
KINDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}
RADIXES = ("auto", "bin", "hex", "decimal", "signed", "float", "flags")
T = TypeVar("T")


@dataclass(frozen=True)
class Item:
    """A signal that a layout names.

    Attributes
    ----------
    path : str
        Below the top level.
    radix : str
        One of `RADIXES`.
    name : str
        What it is called; empty: the last part of its path.
    words : tuple of str
        Shapes of the words that it is cut into, the lowest first; none: it is shown whole.
    numbered : bool
        Whether its path has the number of its repetition of a group.
    """

    path: str
    radix: str = "auto"
    name: str = ""
    words: tuple[str, ...] = ()
    numbered: bool = False


@dataclass(frozen=True)
class Section:
    """Signals under a heading, folded at first or not."""

    name: str
    closed: bool
    items: tuple[Item, ...]


def layout_file(bench: str, toplevel: str = "") -> Path | None:
    """A bench's own, else that of the bench of the same top level that is named so, else None."""
    for name in (bench, toplevel):
        path = ROOT / "tb" / name / FILE
        if name and path.exists() and (name == bench or is_of(name, toplevel)):
            return path
    return None


def is_of(bench: str, toplevel: str) -> bool:
    """Whether that is the top level of a bench: that of fp_add holds several fp_add."""
    return importlib.import_module(f"tb.{bench}.bench").BENCH.device.toplevel == toplevel


def read_layout(path: Path) -> dict[str, Any]:
    """What a file says.

    Raises
    ------
    Problem
        If it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise Problem(str(error)) from error


def sections(layout: Mapping[str, Any]) -> Iterator[Section]:
    """The groups of a layout, repetitions written out.

    Raises
    ------
    Problem
        For what is missing or not of its kind, a radix or words that there are not.
    """
    shapes = _value(layout, "words", dict, "layout", {})
    for number, entry in enumerate(_value(layout, "group", list, "layout", []), 1):
        where = f"group {number}"
        name, signals = _value(entry, "name", str, where), _value(entry, "signals", list, where)
        for i in range(_value(entry, "repeat", int, where, 1)):
            items = tuple(_item(item, shapes, i, where) for item in signals)
            yield Section(_number(name, i), entry.get("closed", False), items)


def _value(table: Any, key: str, kind: type[T], where: str, default: T | None = None) -> T:
    """The value of a key of a table; where it is, for who is told that it is wrong."""
    if not isinstance(table, dict):
        raise Problem(f"{where}: must be a table, not {table!r}")
    value = table.get(key, default)
    if not isinstance(value, kind):
        said = f"{key} = {value!r}" if key in table else f"no {key}"
        raise Problem(f"{where}: {said}, must be {KINDS[kind]}")
    return value


def _item(entry: Any, shapes: Mapping[str, Sequence[str]], i: int, where: str) -> Item:
    if isinstance(entry, str):
        return Item(_number(entry, i), numbered=NUMBER in entry)
    plain = _value(entry, "path", str, f"{where}, a signal")
    words, radix, path = entry.get("words", ()), entry.get("radix", "auto"), _number(plain, i)
    if isinstance(words, str):
        words = _value(shapes, words, list, f"{path}, words")
    if radix not in RADIXES:
        raise Problem(f"{path}: no radix {radix!r}; there are {', '.join(RADIXES)}")
    name = _value(entry, "name", str, path, "")
    return Item(path, radix, name, tuple(words), NUMBER in plain)


def _number(text: str, i: int) -> str:
    return text.replace(NUMBER, str(i))


def expand(shapes: Sequence[str], params: Mapping[str, int]) -> list[str]:
    """`["xi_10[3]", "e"]` is xi_10[0], xi_10[1], xi_10[2], e; a size may be a parameter.

    Raises
    ------
    Problem
        If a size is neither a number nor a parameter.
    """
    names = []
    for shape in shapes:
        name, *sizes = re.findall(r"[^\[\]]+", shape)
        for size in sizes:
            if not (size.isdecimal() or size in params):
                raise Problem(f"words, {shape}: {size} is no parameter of the top level")
        counts = [int(params.get(size, size)) for size in sizes]
        for index in itertools.product(*map(range, counts)):
            names.append(name + "".join(f"[{i}]" for i in index))
    return names
