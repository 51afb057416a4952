"""Memories of a netlist as ports: what they are told, and what they answer.

Two modules that have the same memories, and tell them the same in every cycle, get the same
answers. So a memory can be compared without its words: its answers become inputs, which are the
same on both sides, and what it is told becomes outputs. A port's name holds a digest of all that
decides how the memory behaves, and of its name; where that differs, the ports do not match.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

#: Cells of Yosys: what a port reads, what a port writes, what stands there at the start.
READ, WRITE = "$memrd_v2", "$memwr_v2"
STARTS = ("$meminit_v2", "$meminit")
ANSWER = "DATA"  # the one output, of a cell that reads
FIRST_PORT = 100_000  # behind all ports that a module has already

_MEMORY = re.compile(r"^  memory .*? (\S+)\n", re.M)
_CELL = re.compile(
    rf"((?:^  attribute .*\n)*)^  cell ({'|'.join(map(re.escape, (READ, WRITE, *STARTS)))}) .*\n"
    r"((?:^    .*\n)*)^  end\n",
    re.M,
)
_PARAMETER = re.compile(r"^    parameter (.*)$", re.M)
_CONNECT = re.compile(r"^    connect \\(\w+) (.*)$", re.M)
_PLACE = re.compile(r'\\src ".*?:(\d+)\.(\d+)-')
_NUMBER = re.compile(r"\\(\w+) (\d+)$")


@dataclass(frozen=True)
class _Cell:
    kind: str
    parameters: tuple[str, ...]
    connections: tuple[tuple[str, str], ...]  # port, what it is connected to
    place: tuple[int, ...]  # line and column of the source

    @classmethod
    def read(cls, attributes: str, kind: str, body: str) -> "_Cell":
        found = _PLACE.search(attributes)
        place = tuple(map(int, found.groups())) if found else ()
        parameters, connections = _PARAMETER.findall(body), _CONNECT.findall(body)
        return cls(kind, tuple(sorted(parameters)), tuple(sorted(connections)), place)

    @property
    def memory(self) -> str:
        """The name of its memory, in the quotes of RTLIL."""
        (name,) = (one.split(" ", 1)[1] for one in self.parameters if one.startswith(r"\MEMID "))
        return name

    def width(self, port: str) -> int:
        numbers = dict(found.groups() for one in self.parameters if (found := _NUMBER.match(one)))
        if port == "ADDR":
            return int(numbers["ABITS"])
        words = port == "DATA" or (port == "EN" and self.kind == WRITE)
        return int(numbers["WIDTH"]) if words else 1


def as_ports(netlist: str) -> str:
    """A module in RTLIL, its memories replaced by ports.

    Parameters
    ----------
    netlist : str
        What Yosys' `write_rtlil` writes of one module, before its memories are collected.
    """
    # In the order of the source: that of the netlist is any.
    cells = [_Cell.read(*found.groups()) for found in _CELL.finditer(netlist)]
    cells.sort(key=lambda cell: (cell.place, cell.parameters, cell.connections))
    if not cells:
        return netlist
    decided: dict[str, list[str]] = defaultdict(list)  # by memory: how it behaves
    for found in _MEMORY.finditer(netlist):
        decided[quoted(found[1])].append(found[0].replace(found[1], ""))
    for cell in cells:
        words = [cell.kind, *cell.parameters]
        if cell.kind in STARTS:
            words += [f"{port} {value}" for port, value in cell.connections]
        decided[cell.memory].append(" ".join(words).replace(cell.memory, ""))
    lines = []
    for number, (cell, name) in enumerate(zip(cells, _names(cells, decided), strict=True)):
        if cell.kind not in STARTS:
            lines += _ports(cell, name, FIRST_PORT + 10 * number)
    rest = _MEMORY.sub("", _CELL.sub("", netlist))
    before, _, after = rest.rpartition("end\n")
    return f"{before}{''.join(lines)}end\n{after}"


def _names(cells: list[_Cell], decided: dict[str, list[str]]) -> Iterator[str]:
    """What the ports of each cell are called after: memory, its digest, kind and number.

    A memory that Yosys has made, of a function that is a table, has no name of its own.
    """
    counts: dict[str, int] = defaultdict(int)
    for cell in cells:
        own = "" if cell.memory.startswith('"$') else cell.memory
        words = [own, *sorted(decided[cell.memory])]
        digest = hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
        word = re.sub(r"\W", "", own)
        name = f"\\{word}.{digest}.{cell.kind[1:]}"
        yield f"{name}.{counts[name]}"
        counts[name] += 1


def _ports(cell: _Cell, name: str, number: int) -> Iterator[str]:
    for place, (port, value) in enumerate(cell.connections):
        wire, answer = f"{name}.{port}", cell.kind == READ and port == ANSWER
        direction = "input" if answer else "output"
        yield f"  wire width {cell.width(port)} {direction} {number + place} {wire}\n"
        left, right = (value, wire) if answer else (wire, value)
        yield f"  connect {left} {right}\n"


def quoted(name: str) -> str:
    """The name of a memory as the parameter MEMID of its cells has it."""
    return '"' + name.replace("\\", "\\\\") + '"'
