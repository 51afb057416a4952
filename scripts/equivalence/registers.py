"""Registers that have another name in the other version.

A proof takes a register of one version for the register of the other that has its name. Here those
of the later version whose names are new get the names that have gone, where it is plain which is
which. A wrong guess makes a proof fail, and nothing else: what is shown holds for any pairs.
"""

import re
from collections import defaultdict

#: A port of a register that was cut out: `q` is what it holds, `d` what it holds next.
_PORT = re.compile(r"^  wire (?:width (\d+) )?(?:input|output) \d+ (\\\S+)\.(\w+)$", re.M)
#: A signal, and where it is declared.
_SIGNAL = re.compile(
    r'^  attribute \\src "[^"]*?:(\d+)\.(\d+)[^"]*"\n  wire (?:[^\\\n]* )?(\\\S+)$', re.M
)
_Kind = tuple[tuple[str, str], ...]  # width and name of each port


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
    gone, come = (
        _by_kind({name: kind for name, kind in ours.items() if name not in others}, text)
        for ours, others, text in ((old, new, before), (new, old, now))
    )
    if {kind: len(names) for kind, names in gone.items()} != {
        kind: len(names) for kind, names in come.items()
    }:
        return now
    names = {}
    for kind in come:
        for was, is_ in zip(gone[kind], come[kind], strict=True):
            names |= {f"{is_}.{port}": f"{was}.{port}" for _, port in kind}
    return re.sub(r"\\\S+", lambda found: names.get(found[0], found[0]), now)


def _registers(netlist: str) -> dict[str, _Kind]:
    ports: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for width, name, port in _PORT.findall(netlist):
        ports[name].append((width, port))
    return {
        name: tuple(sorted(some))
        for name, some in ports.items()
        if {"d", "q"} <= {port for _, port in some}
    }


def _by_kind(registers: dict[str, _Kind], netlist: str) -> dict[_Kind, list[str]]:
    """Names by kind, in the order in which they are declared."""
    places = {name: (int(line), int(column)) for line, column, name in _SIGNAL.findall(netlist)}
    found: dict[_Kind, list[str]] = defaultdict(list)
    for name in sorted(registers, key=lambda name: places.get(name, ())):
        found[registers[name]].append(name)
    return found
