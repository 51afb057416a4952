"""Counts of RTL whose comments or layout have changed since: the same places, where they are now.

Verilator counts by line and column. Its counts are those of the tokens that stand there; so a file
is kept with them, and its tokens are looked up in the file of today.
"""

import re
import shutil
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from scripts.evidence.coverage.code.points import lines_of
from scripts.kernel.digest import bytes_digest, tokens
from scripts.kernel.places import ROOT

_FIELD = re.compile("\x01(f|l|n|S)\x02([^\x01']*)")


def keep(files: Iterable[str], folder: Path) -> dict[str, str]:
    """Copy files into a folder; file -> name of its copy."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {file: f"{bytes_digest(file)[:16]}.sv" for file in files}
    for file, name in kept.items():
        if not (folder / name).exists():
            shutil.copyfile(ROOT / file, folder / name)
    return kept


class Moved:
    """Where the tokens of a file stand now.

    Parameters
    ----------
    before, now
        Two texts of the same tokens.
    """

    def __init__(self, before: str, now: str) -> None:
        self._at: dict[tuple[int, int], tuple[int, int]] = {}
        self._lines: dict[int, list[int]] = defaultdict(list)
        for old, new in zip(_places(before), _places(now), strict=True):
            self._at[old] = new
            if new[0] not in self._lines[old[0]]:
                self._lines[old[0]].append(new[0])

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Line and column of what stood at these."""
        return self._at.get((line, column), (self.lines(line)[0], column))

    def lines(self, line: int) -> list[int]:
        """The lines of what stood in a line."""
        return self._lines.get(line, [line])


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Line and column of every token, both from 1."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    for token in tokens(text):
        line = bisect_right(starts, token.at)
        yield line, token.at - starts[line - 1] + 1


def moved_counts(text: str, moves: Mapping[str, Moved]) -> str:
    """A file of Verilator's counts, its places where they are now.

    Parameters
    ----------
    text
    moves
        By the files' absolute paths; places of others stay.
    """
    return "".join(_moved_line(line, moves) for line in text.splitlines(keepends=True))


def _moved_line(line: str, moves: Mapping[str, Moved]) -> str:
    fields = dict(_FIELD.findall(line))
    move = moves.get(fields.get("f", ""))
    if move is None:
        return line
    number, column = move.place(int(fields["l"]), int(fields["n"]))
    new = {"l": str(number), "n": str(column)}
    if "S" in fields:
        stands_for = {now for old in lines_of(fields["S"]) for now in move.lines(old)}
        new["S"] = ",".join(map(str, sorted(stands_for)))
    return _FIELD.sub(lambda m: f"\x01{m[1]}\x02{new.get(m[1], m[2])}", line)
