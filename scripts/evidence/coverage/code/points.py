r"""What Verilator counted: its points, merged over the parameters of a module.

A line of its files is ``C '<key>' <count>``; a key is fields, each ``\x01<name>\x02<value>``:

====  ===========================================================================================
f     file
l, n  line and column
page  ``v_line/<module>``, ``v_branch/<module>`` or ``v_toggle/<module>``; parameters are part of
      the module's name
o     ``block``, ``if``, ``else``, ``cond_then`` ..., or ``<signal>:0->1``
S     the lines that it stands for: ``12-14,17``; what has none counts for no line
====  ===========================================================================================
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

LINE, BRANCH, TOGGLE = KINDS = ("line", "branch", "toggle")
_PAGES = {f"v_{kind}": kind for kind in KINDS}
#: A declaration with a dimension behind the name.
_MEMORY = re.compile(r"(\w+)\[[^\[\]]+\];")


class Place(NamedTuple):
    """A line, a branch or the edge of a bit, whatever the parameters of its module are.

    Attributes
    ----------
    file : str
        Relative to the repository.
    line, column : int
        The column of a line is 0.
    kind : str
        One of `KINDS`.
    what : str
        Of a branch: which; of a toggle: ``<signal>:0->1``, a bit with its indices; of a line empty.
        All words of a memory are one, ``<memory>[*][<bit>]``.
    """

    file: str
    line: int
    column: int
    kind: str
    what: str


def read(path: Path, root: Path) -> Iterator[tuple[Place, int]]:
    """The places of a file of Verilator below a root, with their counts; some more than once."""
    with open(path, encoding="utf-8") as lines:
        for text in lines:
            if not text.startswith("C '"):
                continue
            key, _, count = text[len("C '") :].rpartition("' ")
            fields = dict(field.split("\x02") for field in key.split("\x01")[1:])
            yield from ((place, int(count)) for place in _places(fields, root))


def _places(fields: Mapping[str, str], root: Path) -> Iterator[Place]:
    kind = _PAGES[fields["page"].partition("/")[0]]
    file = Path(fields["f"])
    if not file.is_relative_to(root):
        return
    name = file.relative_to(root).as_posix()
    if kind != LINE:
        line, what = int(fields["l"]), fields["o"]
        memory = _memories(file).get(line) if kind == TOGGLE else None
        if memory:
            what = re.sub(rf"\b{memory}\[\d+\]", f"{memory}[*]", what, count=1)
        yield Place(name, line, int(fields["n"]), kind, what)
    if kind != TOGGLE:
        yield from (Place(name, line, 0, LINE, "") for line in lines_of(fields.get("S", "")))


@cache
def _memories(file: Path) -> dict[int, str]:
    """The memories of a file, by the line that declares them."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return {number: found[1] for number, text in lines if (found := _MEMORY.search(text))}


def lines_of(text: str) -> Iterator[int]:
    """The lines of ``12-14,17``."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def merged(some: Iterable[tuple[Place, int]]) -> Counter[Place]:
    """How often each place was met, whatever instance met it; 0 for a hole."""
    found: Counter[Place] = Counter()
    for place, count in some:
        found[place] += count
    return found
