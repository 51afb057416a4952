"""The layout of a bench, `tb/<bench>/waves.toml`: which signals to show, and how to read them.

docs/waveforms.md describes the file.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.places import ROOT
from scripts.waves.problem import Problem

FILE = "waves.toml"
NUMBER = "{i}"  # of a repetition
RADIXES = ("auto", "bin", "hex", "decimal", "signed", "float", "flags")


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


def read_layout(bench: str, toplevel: str = "", root: Path = ROOT) -> dict[str, Any] | None:
    """What the file says: a bench's own, else that of the bench of its top level, else None.

    Raises
    ------
    Problem
        If the file is not TOML.
    """
    for name in (bench, toplevel):
        path = root / "tb" / name / FILE
        if name and path.exists():
            try:
                return tomllib.loads(path.read_text())
            except tomllib.TOMLDecodeError as error:
                raise Problem(f"{path.relative_to(root)}: {error}") from error
    return None


def sections(layout: Mapping[str, Any]) -> Iterator[Section]:
    """The groups of a layout, repetitions written out.

    Raises
    ------
    Problem
        For a radix that there is not.
    """
    shapes = layout.get("words", {})
    for entry in layout.get("group", []):
        for i in range(int(entry.get("repeat", 1))):
            items = tuple(_item(item, shapes, i) for item in entry["signals"])
            yield Section(_number(entry["name"], i), entry.get("closed", False), items)


def _item(entry: str | Mapping[str, Any], shapes: Mapping[str, Sequence[str]], i: int) -> Item:
    if isinstance(entry, str):
        return Item(_number(entry, i), numbered=NUMBER in entry)
    words = entry.get("words", ())
    words = shapes[words] if isinstance(words, str) else words
    path, radix = _number(entry["path"], i), entry.get("radix", "auto")
    if radix not in RADIXES:
        raise Problem(f"{path}: no radix {radix!r}; there are {', '.join(RADIXES)}")
    return Item(path, radix, entry.get("name", ""), tuple(words), NUMBER in entry["path"])


def _number(text: str, i: int) -> str:
    return text.replace(NUMBER, str(i))


def expand(shapes: Sequence[str], params: Mapping[str, int]) -> list[str]:
    """`["xi_10[3]", "e"]` is xi_10[0], xi_10[1], xi_10[2], e; a size may be a parameter."""
    names = []
    for shape in shapes:
        name, *sizes = re.findall(r"[^\[\]]+", shape)
        counts = [int(params.get(size, size)) for size in sizes]
        for index in itertools.product(*map(range, counts)):
            names.append(name + "".join(f"[{i}]" for i in index))
    return names
