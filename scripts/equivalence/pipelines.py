"""Modules that are a pipeline and nothing else: how many clocks lie between inputs and outputs.

Where all paths to a bit pass through the same number of registers, and none leads back, the bit is
a function of the inputs so many clocks ago. Two such modules behave the same if that function is
the same and each output has the same number of clocks: where the registers are does not matter.
Clocks without enable do not count, if all registers have the same enable.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Of Yosys: registers without reset, the second kind with an enable.
REGISTERS = ("$dff", "$dffe")
LOGIC = {"A", "B", "S", "Y"}  # ports of the cells that hold nothing

#: A bit (its number, or the text of a constant), or what drives some: a cell and a place in it.
_Node = int | str | tuple[str, int]


class NoPipelineError(Exception):
    """A module has a path back, paths of different lengths, or cells of another kind."""


@dataclass(frozen=True)
class Pipeline:
    """What its registers do.

    Attributes
    ----------
    clocks : frozenset
        What they take a value with, one of these at most: name of the port, and polarity, of clock
        and enable, if they have one.
    latencies : dict
        Output -> of each bit the number of clocks with enable; None if no input has a part in it.
    """

    clocks: frozenset[tuple[tuple[str, str], ...]]
    latencies: dict[str, tuple[int | None, ...]]

    def matches(self, other: "Pipeline") -> bool:
        """Whether both have the same clock and numbers of clocks, as far as they have any."""
        if len(self.clocks | other.clocks) > 1 or self.latencies.keys() != other.latencies.keys():
            return False
        pairs = (
            pair
            for name, ours in self.latencies.items()
            for pair in zip(ours, other.latencies[name], strict=True)
        )
        return all(one == two or None in (one, two) for one, two in pairs)


def pipeline(module: Mapping[str, Any]) -> Pipeline:
    """What a module's registers do.

    Parameters
    ----------
    module : mapping
        As Yosys' `write_json` has it, without instances.

    Raises
    ------
    NoPipelineError
        If it is no pipeline.
    """
    ports, clocks = module["ports"].items(), set()
    nodes: dict[_Node, tuple[int, list[_Node]]] = {}  # clocks that it takes, what it depends on
    driver: dict[_Node, _Node] = {}  # bit -> the node that drives it
    for name, cell in module["cells"].items():
        to = cell["connections"]
        if cell["type"] in REGISTERS:
            clocks.add(_clock(cell))
            for place, (bit, data) in enumerate(zip(to["Q"], to["D"], strict=True)):
                nodes[name, place] = 1, [data]
                driver[bit] = name, place
        elif to and not {"A", "Y"} <= to.keys() <= LOGIC:
            raise NoPipelineError(f"a cell {cell['type']}")
        elif to:
            nodes[name, 0] = 0, [bit for port in to.keys() - {"Y"} for bit in to[port]]
            driver |= dict.fromkeys(to["Y"], (name, 0))
    inputs = {
        bit: name for name, port in ports if port["direction"] == "input" for bit in port["bits"]
    }
    clock = {bit for one in clocks for bit, _ in one}
    if len(clocks) > 1 or not clock <= inputs.keys():
        raise NoPipelineError("two clocks or enables, or one that is no input")

    def before(node: _Node) -> list[_Node]:
        """What it depends on at once, constants left out."""
        found = nodes[node][1] if node in nodes else []
        return [driver.get(bit, bit) for bit in found if isinstance(bit, int)]

    outputs = {name: port["bits"] for name, port in ports if port["direction"] == "output"}
    ends = [driver.get(bit, bit) for bits in outputs.values() for bit in bits]
    latency: dict[_Node, int | None] = dict.fromkeys(inputs.keys() - clock, 0)
    for node in _inputs_first(before, ends, latency):
        found = {latency[one] for one in before(node)} - {None}
        if len(found) > 1:
            raise NoPipelineError("paths of different lengths")
        if node in clock:
            raise NoPipelineError("its clock or enable is read")
        latency[node] = found.pop() + nodes[node][0] if found else None
    return Pipeline(
        frozenset(tuple((inputs[bit], polarity) for bit, polarity in one) for one in clocks),
        {
            name: tuple(latency[driver.get(bit, bit)] for bit in bits)
            for name, bits in outputs.items()
        },
    )


def _clock(register: Mapping[str, Any]) -> tuple[tuple[_Node, str], ...]:
    """Bit and polarity of its clock, and of its enable if it has one."""
    to, parameters = register["connections"], register["parameters"]
    return tuple(
        (*to[port], parameters[f"{port}_POLARITY"]) for port in ("CLK", "EN") if port in to
    )


def _inputs_first(
    before: Callable[[_Node], list[_Node]], ends: Iterable[_Node], known: Iterable[_Node]
) -> Iterator[_Node]:
    """All that is not known, each behind those that it depends on."""
    done, open_, todo = set(known), set(), list(ends)
    while todo:
        node = todo[-1]
        if node in open_:
            open_.discard(node)
            done.add(node)
            yield node
        if node in done:
            todo.pop()
            continue
        open_.add(node)
        missing = [one for one in before(node) if one not in done]
        if open_.intersection(missing):
            raise NoPipelineError("a path back")
        todo += missing
