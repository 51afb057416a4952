"""Registers and memories that have another name in the other version.

A proof takes a register of one version for the register of the other that has its name. Here those
of the later version whose names are new get the names that have gone, where it is plain which is
which. A wrong guess makes a proof fail, and nothing else: what is shown holds for any pairs. So it
is with memories.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TypeVar

from scripts.equivalence.memories import quoted

#: A port of a register that was cut out: `q` is what it holds, `d` what it holds next.
_PORT = re.compile(r"^  wire (?:width (\d+) )?(?:input|output) \d+ (\\\S+)\.(\w+)$", re.M)
#: A signal, and where it is declared.
_SIGNAL = re.compile(
    r'^  attribute \\src "[^"]*?:(\d+)\.(\d+)[^"]*"\n  wire (?:[^\\\n]* )?(\\\S+)$', re.M
)
_MEMORY = re.compile(
    r'^  attribute \\src "[^"]*?:(\d+)\.(\d+)[^"]*"\n  memory ([^\\\n]*)(\\\S+)$', re.M
)
_AnyKind = TypeVar("_AnyKind")
_Kind = tuple[tuple[str, str], ...]  # of a register: width and name of each port


def renamed(before: str, now: str) -> str:
    """The later version's netlist, its renamed registers called as they were.

    The n-th register that is new is taken for the n-th that has gone, in the order of the source,
    among those with the same width and the same kind of reset. Nothing is renamed if there is not
    the same number of each.

    Parameters
    ----------
    before, now : str
        Either version in RTLIL, its registers cut out by `expose -evert-dff`.
    """
    old, new = _registers(before), _registers(now)
    names = {}
    for is_, was in _renamed(_ordered(old, before), _ordered(new, now)).items():
        names |= {f"{is_}.{port}": f"{was}.{port}" for _, port in new[is_]}
    return re.sub(r"\\\S+", lambda found: names.get(found[0], found[0]), now)


def with_memories_renamed(before: str, now: str) -> str:
    """The later version's netlist, its renamed memories called as they were: as for registers.

    Parameters
    ----------
    before, now : str
        Either version in RTLIL, with its memories. Those with the same width and size are of the
        same kind.
    """
    old, new = (
        {name: shape for _, _, shape, name in sorted(_MEMORY.findall(text), key=_place)}
        for text in (before, now)
    )
    names = _renamed(old, new)
    names |= {quoted(is_): quoted(was) for is_, was in names.items()}
    return re.sub(r'"?\\[^\s"]+"?', lambda found: names.get(found[0], found[0]), now)


def _place(found: tuple[str, ...]) -> tuple[int, int]:
    return int(found[0]), int(found[1])


def _renamed(old: Mapping[str, _AnyKind], new: Mapping[str, _AnyKind]) -> dict[str, str]:
    """New names -> those that they stand for; the names of either version in order."""
    gone, come = defaultdict(list), defaultdict(list)
    for ours, others, found in ((old, new, gone), (new, old, come)):
        for name, kind in ours.items():
            if name not in others:
                found[kind].append(name)
    if {kind: len(names) for kind, names in gone.items()} != {
        kind: len(names) for kind, names in come.items()
    }:
        return {}
    return {is_: was for kind in come for was, is_ in zip(gone[kind], come[kind], strict=True)}


def _registers(netlist: str) -> dict[str, _Kind]:
    ports: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for width, name, port in _PORT.findall(netlist):
        ports[name].append((width, port))
    return {
        name: tuple(sorted(some))
        for name, some in ports.items()
        if {"d", "q"} <= {port for _, port in some}
    }


def _ordered(registers: Mapping[str, _Kind], netlist: str) -> dict[str, _Kind]:
    """In the order in which they are declared."""
    places = {name: (int(line), int(column)) for line, column, name in _SIGNAL.findall(netlist)}
    names = sorted(registers, key=lambda name: places.get(name, ()))
    return {name: registers[name] for name in names}
