"""Registers into the multipliers and block RAMs of a finished ECP5 netlist.

Yosys leaves every register in the fabric, although MULT18X18D has registers at its inputs, between
its stages and at its outputs, and DP16KD one behind each read port. :func:`fold` moves them there,
in the netlist that Yosys writes as JSON and nextpnr reads. Nothing else changes, in no cycle:

- Output of a multiplier or memory: all bits that are used go to flip-flops and nowhere else. These
  become its register. Behind a multiplier a second rank of them becomes the pipeline register.
- Input of a multiplier: all bits of both factors come from flip-flops, or are constant. It gets
  registers of its own for what stands before these; the flip-flops stay where others read them.

All these flip-flops have the clock of the cell, rising, one enable or none, no set or reset, and
start at 0, as those inside do. A constant 1 at an input arrives there with the first clock edge:
with an enable it is left outside. What does not fit is left as it was. A memory's port has one
clock for its own register and the one behind it; of a memory of 36 bits both ports do.

nextpnr tells apart the timing of input and output registers, not that of the pipeline register.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLIP_FLOP, MULTIPLIER, MEMORY = "TRELLIS_FF", "MULT18X18D", "DP16KD"
FACTOR_W, PRODUCT_W, MEMORY_W = 18, 36, 18
#: DATA_WIDTH_A of a memory whose one read port are the outputs of both.
WIDE = 36
LOW, HIGH = "0", "1"
REGISTERS = ("INPUTA", "INPUTB", "INPUTC", "PIPELINE", "OUTPUT")  # of a multiplier

#: A net of the netlist: its number, or a constant "0", "1", "x", "z".
Bit = int | str
Cell = dict[str, Any]


@dataclass(frozen=True)
class Control:
    """What makes registers change: clock and enable."""

    clock: Bit
    enable: Bit = HIGH


@dataclass
class Folded:
    """What was moved: multipliers and memories by register, flip-flops that are gone."""

    inputs: int = 0
    outputs: int = 0
    pipelines: int = 0
    memories: int = 0
    flip_flops: int = 0


class _Netlist:
    """A flat module with who drives and who reads each net."""

    def __init__(self, module: dict[str, Any]) -> None:
        self.cells: dict[str, Cell] = module["cells"]
        self.driver: dict[Bit, str] = {}
        self.readers: dict[Bit, set[str]] = defaultdict(set)
        for port, bits in ((name, port["bits"]) for name, port in module["ports"].items()):
            for bit in bits:
                self.readers[bit].add(f"port {port}")  # an output reads
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"][port] == "output":
                        self.driver[bit] = name
                    else:
                        self.readers[bit].add(name)

    def of_type(self, kind: str) -> Iterator[tuple[str, Cell]]:
        """Cells of a type."""
        return ((name, cell) for name, cell in self.cells.items() if cell["type"] == kind)

    def remove(self, name: str) -> None:
        """Take a cell out."""
        cell = self.cells.pop(name)
        for port, bits in cell["connections"].items():
            for bit in bits:
                if cell["port_directions"][port] == "output":
                    self.driver.pop(bit, None)
                else:
                    self.readers[bit].discard(name)

    def connect(self, name: str, port: str, bit: Bit, direction: str = "input") -> None:
        """Connect a port of one bit."""
        cell = self.cells[name]
        for old in cell["connections"].get(port, ()):
            if direction == "input" and not self._reads_elsewhere(cell, port, old):
                self.readers[old].discard(name)
        cell["connections"][port] = [bit]
        cell["port_directions"][port] = direction
        if direction == "input":
            self.readers[bit].add(name)
        else:
            self.driver[bit] = name

    @staticmethod
    def _reads_elsewhere(cell: Cell, port: str, bit: Bit) -> bool:
        return any(
            bit in bits
            for other, bits in cell["connections"].items()
            if other != port and cell["port_directions"][other] == "input"
        )


def _one(cell: Cell, port: str, default: Bit) -> Bit:
    """The net at a port of one bit; `default` where nothing is connected."""
    bits = cell["connections"].get(port, ())
    return bits[0] if bits else default


def _enable_of(parameters: Mapping[str, str]) -> str:
    """Where the enable of a flip-flop comes from; Yosys ends a text that looks like a number so."""
    return parameters.get("CEMUX", "CE").rstrip()


def _is_plain(cell: Cell) -> bool:
    """Whether a cell is a flip-flop that a register inside can replace."""
    if cell["type"] != FLIP_FLOP:
        return False
    value: Mapping[str, str] = cell["parameters"]
    rising = value.get("CLKMUX", "CLK") == "CLK"
    starts_low = value.get("REGSET", "RESET") == "RESET"
    enabled = _enable_of(value) in ("CE", HIGH)
    straight = not cell["connections"].get("M")
    never_reset = _one(cell, "LSR", LOW) == LOW and value.get("LSRMUX", "LSR") == "LSR"
    return rising and starts_low and enabled and straight and never_reset


def _control(cell: Cell) -> Control:
    """Clock and enable of a plain flip-flop."""
    always = _enable_of(cell["parameters"]) == HIGH
    return Control(_one(cell, "CLK", LOW), HIGH if always else _one(cell, "CE", HIGH))


def _same_control(cells: Iterable[Cell]) -> Control | None:
    """What all of these flip-flops have in common; None if that is not so, or there are none."""
    found = {_control(cell) for cell in cells}
    return found.pop() if len(found) == 1 else None


def _rank_behind(net: _Netlist, ports: Mapping[str, Bit]) -> tuple[Control, dict[str, str]] | None:
    """The flip-flops that take all outputs of a cell that are used, and nobody else does.

    Returns
    -------
    control : Control
        What they have in common.
    registers : dict
        Port of the cell -> name of the flip-flop.
    """
    registers = {}
    for port, bit in ports.items():
        readers = net.readers[bit]
        if not readers:
            continue
        (name,) = readers if len(readers) == 1 else ("",)
        cell = net.cells.get(name)
        if cell is None or not _is_plain(cell) or _one(cell, "DI", LOW) != bit:
            return None
        if bit in (_one(cell, "CE", HIGH), _one(cell, "CLK", LOW)):
            return None
        registers[port] = name
    control = _same_control(net.cells[name] for name in registers.values())
    return None if control is None else (control, registers)


def _take(net: _Netlist, name: str, registers: Mapping[str, str]) -> None:
    """Have the outputs of a cell drive what flip-flops behind them did, which go."""
    for port, register in registers.items():
        output = _one(net.cells[register], "Q", LOW)
        net.remove(register)
        net.connect(name, port, output, "output")


def _outputs(cell: Cell, bus: str, width: int) -> dict[str, Bit]:
    """Ports of one bit of a bus -> nets."""
    ports = (f"{bus}{i}" for i in range(width))
    return {port: _one(cell, port, LOW) for port in ports if cell["connections"].get(port)}


def _rank_before(net: _Netlist, ports: Mapping[str, Bit]) -> tuple[Control, dict[str, Bit]] | None:
    """What stands before the flip-flops that drive a cell's inputs, unless these are constant.

    Returns
    -------
    control : Control
        What the flip-flops have in common.
    data : dict
        Port of the cell -> the net at the flip-flop's data input.
    """
    driven = {port: net.driver[bit] for port, bit in ports.items() if bit in net.driver}
    constants = {bit for port, bit in ports.items() if port not in driven}
    cells = {port: net.cells[name] for port, name in driven.items()}
    if not constants <= {LOW, HIGH} or not all(map(_is_plain, cells.values())):
        return None
    control = _same_control(cells.values())
    if control is None or (HIGH in constants and control.enable != HIGH):
        return None
    return control, {port: _one(cell, "DI", LOW) for port, cell in cells.items()}


def _fold_multiplier(net: _Netlist, name: str, folded: Folded) -> None:
    cell = net.cells[name]
    value = cell["parameters"]
    if any(value.get(f"REG_{place}_CLK", "NONE") != "NONE" for place in REGISTERS):
        return
    all_of: Control | None = None  # the registers of a multiplier here have one clock and enable
    for place in ("OUTPUT", "PIPELINE"):
        behind = _rank_behind(net, _outputs(cell, "P", PRODUCT_W))
        if behind is None or all_of not in (None, behind[0]):
            break
        all_of = behind[0]
        _take(net, name, behind[1])
        value[f"REG_{place}_CLK"] = "CLK0"
        folded.flip_flops += len(behind[1])
        folded.outputs += place == "OUTPUT"
        folded.pipelines += place == "PIPELINE"
    before = _rank_before(net, _outputs(cell, "A", FACTOR_W) | _outputs(cell, "B", FACTOR_W))
    if before is not None and all_of in (None, before[0]):
        all_of = before[0]
        for port, bit in before[1].items():
            net.connect(name, port, bit)
        value["REG_INPUTA_CLK"] = value["REG_INPUTB_CLK"] = "CLK0"
        folded.inputs += 1
    if all_of is not None:
        net.connect(name, "CLK0", all_of.clock)
        net.connect(name, "CE0", all_of.enable)
        net.connect(name, "RST0", LOW)


def _width(cell: Cell, port: str) -> int:
    value = cell["parameters"][f"DATA_WIDTH_{port}"]
    return int(value, 2) if isinstance(value, str) else int(value)


def _fold_memory(net: _Netlist, name: str, folded: Folded) -> None:
    """A register behind each read port of a memory."""
    cell = net.cells[name]
    wide = _width(cell, "A") == WIDE
    for sides in (("A", "B"),) if wide else (("A",), ("B",)):
        ports: dict[str, Bit] = {}
        for side in sides:
            ports |= _outputs(cell, f"DO{side}", MEMORY_W)
        clocks = {_one(cell, f"CLK{side}", LOW) for side in sides}
        rising = all(
            cell["parameters"].get(f"CLK{side}MUX", f"CLK{side}") == f"CLK{side}" for side in sides
        )
        resets = {_one(cell, f"RST{side}", LOW) for side in sides}
        if len(clocks) != 1 or not rising or resets != {LOW}:
            continue
        if any(cell["parameters"].get(f"REGMODE_{side}", "NOREG") != "NOREG" for side in sides):
            continue
        behind = _rank_behind(net, ports)
        if behind is None or {behind[0].clock} != clocks:
            continue
        _take(net, name, behind[1])
        folded.flip_flops += len(behind[1])
        folded.memories += 1
        for side in sides:
            cell["parameters"][f"REGMODE_{side}"] = "OUTREG"
            net.connect(name, f"OCE{side}", behind[0].enable)


def _drop_unread(net: _Netlist) -> int:
    """Take out flip-flops that nobody reads any more; how many there were."""
    dead = [name for name, cell in net.of_type(FLIP_FLOP) if not net.readers[_one(cell, "Q", LOW)]]
    for name in dead:
        net.remove(name)
    return len(dead)


def fold(netlist: dict[str, Any]) -> Folded:
    """Move registers into multipliers and memories.

    Parameters
    ----------
    netlist : dict
        What Yosys' `write_json` writes behind `synth_ecp5`, flat; it is changed.

    Returns
    -------
    Folded
        What was moved.
    """
    folded = Folded()
    for module in netlist["modules"].values():
        if module.get("attributes", {}).get("blackbox") or not module["cells"]:
            continue
        net = _Netlist(module)
        for name in [name for name, _ in net.of_type(MULTIPLIER)]:
            _fold_multiplier(net, name, folded)
        for name in [name for name, _ in net.of_type(MEMORY)]:
            _fold_memory(net, name, folded)
        folded.flip_flops += _drop_unread(net)
    return folded


def fold_file(source: Path, target: Path) -> Folded:
    """The same from one file to another."""
    netlist = json.loads(source.read_text())
    folded = fold(netlist)
    target.write_text(json.dumps(netlist))
    return folded
