"""Waivers: why a place of the RTL need not be met.

``waivers.toml`` is a list of them, ``[[waiver]]`` with

``file``
    Of the RTL, relative to the repository; or several. ``*`` stands for any text.
``kind``
    ``line``, ``branch`` or ``toggle``, or several of them.
``at``
    Which: of lines their text; of branches ``<branch>: <text of the line>``, with `` #2`` behind
    the branch if it is the second one of this name in the line; of toggles the bit, with ``:0->1``
    if only that edge is meant. ``*`` stands for any text, ``[7:4]`` for four indices.
``lines``
    Text of the first and of the last line of the part of the file that it holds for, by default all
    of it. Without ``at`` all of the part's places of these kinds.
``group``
    The short form of the reason, by which waivers are counted; one of `GROUPS`.
``reason``
    Why nothing can meet it, or why nobody needs to.

A waiver holds for holes only: one that fits a place that was met, or none at all, is wrong. One of
a constant may fit the edge with which a 1 begins: before a simulation begins all bits are 0.
"""

import fnmatch
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.evidence.coverage.code.points import BRANCH, KINDS, LINE, TOGGLE, Place
from scripts.evidence.coverage.functional import CoverageError

FILE = Path(__file__).with_name("waivers.toml")
CONSTANT = "constant"
#: Short form of a reason -> what it means.
GROUPS = {
    CONSTANT: "a bit that is the same in every state that can be reached",
    "elaboration": "runs while the design is built, before anything is counted",
    "impossible": "a combination that the surrounding logic rules out",
    "size": "counts or addresses further than a simulation of seconds can go",
    "ignored": "an input that nothing depends on, and that its driver leaves as it is",
}
_KEYS = {"file", "kind", "at", "lines", "group", "reason"}
_EDGE = re.compile(r":[01]->[01]$")
_PART = re.compile(r"(\*|\[\d+:\d+\])")


@dataclass(frozen=True)
class Waiver:
    """See the module's docstring."""

    files: tuple[str, ...]
    kinds: tuple[str, ...]
    at: tuple[str, ...]
    lines: tuple[str, str] | None
    group: str
    reason: str

    def __str__(self) -> str:
        where = f" from {self.lines[0]!r}" if self.lines else ""
        return f"{', '.join(self.files)}, {'/'.join(self.kinds)}{where}"


class Sources:
    """The text of the RTL, and what places are called in waivers."""

    def __init__(self, root: Path, places: Iterable[Place]) -> None:
        self.root = root
        self.files: dict[str, list[str]] = {}
        alike = defaultdict(list)
        for place in sorted(places):
            if place.kind == BRANCH:
                alike[place.file, place.line, place.what].append(place)
        self._number = {place: i for some in alike.values() for i, place in enumerate(some, 1)}

    def line(self, file: str, number: int) -> str:
        """The text of a line, without the spaces around it."""
        return self._lines(file)[number - 1]

    def name(self, place: Place) -> str:
        """What ``at`` is compared with."""
        if place.kind == TOGGLE:
            return place.what
        text = self.line(place.file, place.line)
        if place.kind == LINE:
            return text
        number = self._number[place]
        return f"{place.what}{f' #{number}' if number > 1 else ''}: {text}"

    def part(self, file: str, waiver: Waiver) -> range:
        """The numbers of the lines of a file that a waiver holds for.

        Raises
        ------
        CoverageError
            If it names a line that is not there.
        """
        lines = self._lines(file)
        if waiver.lines is None:
            return range(1, len(lines) + 1)
        first, last = waiver.lines
        try:
            begin = lines.index(first)
            return range(begin + 1, lines.index(last, begin) + 2)
        except ValueError:
            raise CoverageError(f"{waiver}: no such lines in the file") from None

    def _lines(self, file: str) -> list[str]:
        if file not in self.files:
            text = (self.root / file).read_text(encoding="utf-8")
            self.files[file] = [line.strip() for line in text.splitlines()]
        return self.files[file]


def load(path: Path) -> list[Waiver]:
    """Read a file of waivers.

    Raises
    ------
    CoverageError
        If it is not written as the module's docstring says.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise CoverageError(f"{path.name}: {error}") from error
    if data.keys() != {"waiver"}:
        raise CoverageError(f"{path.name}: [[waiver]] must stand here, and nothing else")
    return [_waiver(path.name, number, one) for number, one in enumerate(data["waiver"], 1)]


def _waiver(name: str, number: int, data: Mapping[str, Any]) -> Waiver:
    where = f"{name}, waiver {number} ({data.get('file', 'of no file')})"
    missing = _KEYS - {"at", "lines"} - data.keys()
    wrong = [f"no {key}" for key in sorted(missing)]
    wrong += [f"unknown key {key!r}" for key in sorted(data.keys() - _KEYS)]
    files, kinds, at = (_several(data.get(key, ())) for key in ("file", "kind", "at"))
    wrong += [f"no such kind: {kind!r}" for kind in kinds if kind not in KINDS]
    if data.get("group") not in GROUPS:
        wrong.append(f"group must be one of {', '.join(GROUPS)}")
    if not at and not data.get("lines"):
        wrong.append("neither at nor lines")
    if len(data.get("lines", ("", ""))) != 2:
        wrong.append("lines must be the first and the last")
    if wrong:
        raise CoverageError(f"{where}: {'; '.join(wrong)}")
    lines = tuple(data["lines"]) if "lines" in data else None
    return Waiver(files, kinds, at, lines, data["group"], data["reason"])


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def pattern(text: str, kind: str) -> re.Pattern[str]:
    """What a text of ``at`` fits."""
    parts = []
    for part in _PART.split(text):
        if part == "*":
            parts.append(".*")
        elif _PART.fullmatch(part) and kind == TOGGLE:
            ends = sorted(int(end) for end in part[1:-1].split(":"))
            parts.append(rf"\[(?:{'|'.join(map(str, range(ends[0], ends[1] + 1)))})\]")
        else:
            parts.append(re.escape(part))
    edge = "(?::[01]->[01])?" if kind == TOGGLE and not _EDGE.search(text) else ""
    return re.compile("".join(parts) + edge)


@dataclass(frozen=True)
class Judged:
    """Places with their waivers.

    Attributes
    ----------
    waived : dict
        Hole -> the waiver that it has.
    holes : list of Place
        Those without one.
    wrong : list of str
        What is wrong with waivers.
    """

    waived: dict[Place, Waiver]
    holes: list[Place]
    wrong: list[str]


def judge(counts: Counter[Place], waivers: Iterable[Waiver], sources: Sources) -> Judged:
    """Find the waiver of every hole, and the waivers that are wrong.

    Raises
    ------
    CoverageError
        If a waiver names lines that are not there.
    """
    by_file: dict[tuple[str, str], list[Place]] = defaultdict(list)
    for place in sorted(counts):
        by_file[place.file, place.kind].append(place)
    waived: dict[Place, Waiver] = {}
    wrong = []
    for waiver in waivers:
        for what, fitting in _fitting(waiver, by_file, sources):
            met = [place for place in fitting if counts[place]]
            if waiver.group == CONSTANT:
                met = [place for place in met if not _begins(place, counts)]
            if not fitting:
                wrong.append(f"{waiver}: {what} fits nothing")
            if met:
                first = f"{sources.name(met[0])} ({met[0].file}:{met[0].line})"
                wrong.append(f"{waiver}: {what} fits {len(met)} that were met, such as {first}")
            for place in fitting:
                if place in waived and waived[place] is not waiver:
                    wrong.append(f"{waiver}: {sources.name(place)} has another waiver already")
                waived[place] = waiver
    waived = {place: waiver for place, waiver in waived.items() if not counts[place]}
    holes = [place for place in sorted(counts) if not counts[place] and place not in waived]
    return Judged(waived, holes, wrong)


def _begins(place: Place, counts: Counter[Place]) -> bool:
    """Whether a bit is 1 and stays it."""
    bit, _, edge = place.what.partition(":")
    back = place._replace(what=f"{bit}:1->0")
    return place.kind == TOGGLE and edge == "0->1" and back in counts and not counts[back]


def _fitting(
    waiver: Waiver, by_file: Mapping[tuple[str, str], list[Place]], sources: Sources
) -> Iterable[tuple[str, list[Place]]]:
    """Of each text of ``at`` the places that it fits, or of a part of a file all places."""
    known, files = {file for file, _ in by_file}, set()
    for name in waiver.files:
        found = set(fnmatch.filter(known, name))
        if not found:
            raise CoverageError(f"{waiver}: no such file: {name}")
        files |= found
    parts = {file: sources.part(file, waiver) for file in files}
    for kind in waiver.kinds:
        places = [place for file in sorted(files) for place in by_file.get((file, kind), ())]
        inside = [place for place in places if place.line in parts[place.file]]
        if not waiver.at:
            yield kind, inside
        for text in waiver.at:
            fits = pattern(text, kind)
            yield repr(text), [p for p in inside if fits.fullmatch(sources.name(p))]
