"""Folding of registers into multipliers and memories: netlists before and after, side by side.

The netlists hold flip-flops, multipliers, memories and LUTs, with models of what they do here.
Whole netlists of Yosys are simulated as gates elsewhere.
"""

import copy
import random
from functools import partial

import pytest

from scripts.evidence.cost.fold import Folded, fold

CLOCK, ENABLE = 2, 3
FACTOR_W, PRODUCT_W, WORDS = 18, 36, 4
CYCLES = 40
FIXED = {"0": 0, "1": 1}


class Netlist:
    """A module in the form of Yosys' JSON, built cell by cell; nets are numbers."""

    def __init__(self):
        self.cells, self.ports, self.nets = {}, {}, ENABLE
        self.port("clk", "input", [CLOCK])
        self.port("enable", "input", [ENABLE])

    def new(self, count):
        self.nets += count
        return list(range(self.nets - count + 1, self.nets + 1))

    def port(self, name, direction, bits):
        self.ports[name] = {"direction": direction, "bits": bits}
        return bits

    def input(self, name, width):
        return self.port(name, "input", self.new(width))

    def cell(self, kind, inputs, outputs, **parameters):
        name = f"{kind}_{len(self.cells)}"
        pins = inputs | outputs
        self.cells[name] = {
            "type": kind,
            "parameters": parameters,
            "connections": {pin: [bit] for pin, bit in pins.items()},
            "port_directions": dict.fromkeys(inputs, "input") | dict.fromkeys(outputs, "output"),
        }

    def registers(self, data, enable="1", reset="0", start="RESET", clock=CLOCK):
        """A rank of flip-flops."""
        found = self.new(len(data))
        for bit, q in zip(data, found, strict=True):
            pins = {"CLK": clock, "DI": bit, "LSR": reset} | (
                {} if enable == "1" else {"CE": enable}
            )
            always = "1 " if enable == "1" else "CE"  # as Yosys writes it
            self.cell("TRELLIS_FF", pins, {"Q": q}, REGSET=start, CLKMUX="CLK", CEMUX=always)
        return found

    def multiplier(self, a, b):
        product = self.new(PRODUCT_W)
        pins = {f"A{i}": bit for i, bit in enumerate(a)} | {f"B{i}": bit for i, bit in enumerate(b)}
        self.cell("MULT18X18D", pins, {f"P{i}": bit for i, bit in enumerate(product)})
        return product

    def memory(self, address, data, write, wide=False):
        """Four words; B reads, all 36 bits through both ports' outputs."""
        found = self.new(2 * FACTOR_W if wide else FACTOR_W)
        pins = {"CLKA": CLOCK, "CLKB": CLOCK, "WEA": write, "RSTA": "0", "RSTB": "0", "OCEB": "1"}
        pins |= {"AD0": address[0], "AD1": address[1]}
        pins |= {f"DIA{i}": bit for i, bit in enumerate(data)}
        outputs = {f"DOB{i}": bit for i, bit in enumerate(found[-FACTOR_W:])}
        if wide:
            outputs |= {f"DOA{i}": bit for i, bit in enumerate(found[:FACTOR_W])}
        width = f"{36 if wide else 18:032b}"
        self.cell("DP16KD", pins, outputs, DATA_WIDTH_A=width, DATA_WIDTH_B=width)
        return found

    def inverted(self, bits):
        found = self.new(len(bits))
        for bit, out in zip(bits, found, strict=True):
            self.cell("LUT4", {"A": bit}, {"Z": out})
        return found

    def json(self):
        return {"modules": {"top": {"cells": self.cells, "ports": self.ports}}}


class Simulation:
    """What a netlist gives, clock by clock. All registers start at 0, as in the device."""

    def __init__(self, netlist):
        (self.module,) = netlist["modules"].values()
        self.state = {name: {} for name in self.module["cells"]}
        self.drivers = {}
        for name, cell in self.module["cells"].items():
            for pin, (bit,) in cell["connections"].items():
                if cell["port_directions"][pin] == "output":
                    self.drivers[bit] = name, pin

    def value(self, bit):
        """Of a net, now."""
        if bit in FIXED or bit in self.known:
            return FIXED.get(bit, self.known.get(bit))
        name, pin = self.drivers[bit]
        cell, state = self.module["cells"][name], self.state[name]
        if cell["type"] == "LUT4":
            found = 1 - self.pin(cell, "A")
        elif cell["type"] == "TRELLIS_FF":
            found = state.get("q", cell["parameters"]["REGSET"] == "SET")
        elif cell["type"] == "MULT18X18D":
            found = self.product(cell, state) >> int(pin[1:]) & 1
        else:
            inside = cell["parameters"].get(f"REGMODE_{pin[2]}", "NOREG") == "OUTREG"
            found = state.get(("out" if inside else "read") + pin[2], 0) >> int(pin[3:]) & 1
        self.known[bit] = found
        return found

    def pin(self, cell, pin):
        (bit,) = cell["connections"].get(pin, ("0",))
        return self.value(bit)

    def bus(self, cell, bus, width=FACTOR_W):
        return sum(self.pin(cell, f"{bus}{i}") << i for i in range(width))

    def stage(self, cell, state, place, value):
        """What stands behind a register of a multiplier that it may have."""
        has = cell["parameters"].get(f"REG_{place}_CLK", "NONE") == "CLK0"
        return state.get(place, 0) if has else value()

    def ranks(self, cell, state):
        """What goes into the registers of a multiplier, by place."""
        a, b = (partial(self.bus, cell, factor) for factor in "AB")
        product = self.stage(cell, state, "INPUTA", a) * self.stage(cell, state, "INPUTB", b)
        piped = self.stage(cell, state, "PIPELINE", lambda: product)
        return {"INPUTA": a, "INPUTB": b, "PIPELINE": lambda: product, "OUTPUT": lambda: piped}

    def product(self, cell, state):
        return self.stage(cell, state, "OUTPUT", lambda: self.ranks(cell, state)["OUTPUT"]())

    def clock(self, inputs):
        """The outputs before an edge of the clock, and that edge."""
        self.known = {}
        for name, port in self.module["ports"].items():
            if port["direction"] == "input":
                for i, bit in enumerate(port["bits"]):
                    self.known[bit] = inputs.get(name, 0) >> i & 1
        found = {
            name: [self.value(bit) for bit in port["bits"]]
            for name, port in self.module["ports"].items()
            if port["direction"] == "output"
        }
        after = {name: self.next(cell, self.state[name]) for name, cell in self.cells()}
        self.state = after
        return found

    def cells(self):
        return self.module["cells"].items()

    def next(self, cell, state):
        """The state of a cell behind the edge."""
        if cell["type"] == "TRELLIS_FF":
            if self.pin(cell, "LSR"):
                return {"q": 0}
            enabled = cell["parameters"]["CEMUX"] == "1 " or self.pin(cell, "CE")
            return {"q": self.pin(cell, "DI")} if enabled else state
        if cell["type"] == "MULT18X18D":
            places = [
                place
                for place in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
                if f"REG_{place}_CLK" in cell["parameters"]
            ]
            if not places or not self.pin(cell, "CE0"):
                return state
            ranks = self.ranks(cell, state)
            return {place: ranks[place]() for place in places}
        if cell["type"] == "DP16KD":
            words = state.get("words", (0,) * WORDS)
            at, new = self.bus(cell, "AD", 2), dict(state)
            word = words[at]
            for side, read in (("A", word >> FACTOR_W), ("B", word & (1 << FACTOR_W) - 1)):
                if self.pin(cell, f"OCE{side}"):
                    new[f"out{side}"] = state.get(f"read{side}", 0)
                new[f"read{side}"] = read
            if self.pin(cell, "WEA"):
                data = self.bus(cell, "DIA", 2 * FACTOR_W)
                new["words"] = words[:at] + (data,) + words[at + 1 :]
            return new
        return state


def same_behaviour(netlist, seed, settle=0):
    """Fold a copy; outputs of both must be the same for random inputs, from a cycle on."""
    rng = random.Random(seed)
    after = copy.deepcopy(netlist)
    folded = fold(after)
    sides = Simulation(netlist), Simulation(after)
    (ports,) = (module["ports"] for module in netlist["modules"].values())
    moved = False
    for cycle in range(CYCLES):
        given = {name: rng.getrandbits(len(port["bits"])) for name, port in ports.items()}
        before, now = (side.clock(given) for side in sides)
        assert cycle < settle or before == now, f"cycle {cycle}"
        moved |= any(any(bits) for bits in before.values())
    assert moved, "nothing ever came out"
    return folded, after["modules"]["top"]


def of_type(module, kind):
    return [cell for cell in module["cells"].values() if cell["type"] == kind]


@pytest.mark.parametrize("before", range(3))
@pytest.mark.parametrize("behind", range(4))
@pytest.mark.parametrize("enable", ["1", ENABLE])
def test_ranks_around_a_multiplier(before, behind, enable):
    """One rank of registers goes in before it, two behind; with a rank more outside."""
    net = Netlist()
    bits = net.input("a", FACTOR_W) + net.input("b", FACTOR_W)
    for _ in range(before):
        bits = net.registers(bits, enable)
    product = net.multiplier(bits[:FACTOR_W], bits[FACTOR_W:])
    for _ in range(behind):
        product = net.registers(product, enable)
    net.port("p", "output", product)
    folded, module = same_behaviour(net.json(), before)
    inside = min(before, 1) + min(behind, 2)
    assert folded.inputs == min(before, 1)
    assert (folded.outputs, folded.pipelines) == (min(behind, 1), int(behind > 1))
    assert folded.flip_flops == PRODUCT_W * inside
    assert len(of_type(module, "TRELLIS_FF")) == PRODUCT_W * (before + behind - inside)


def test_registers_that_others_read_stay():
    """At inputs the multiplier gets copies; what is read elsewhere behind it is not moved."""
    net = Netlist()
    a = net.registers(net.input("a", FACTOR_W))
    product = net.multiplier(a, net.registers(net.input("b", FACTOR_W)))
    net.port("p", "output", net.registers(product))
    net.port("a_again", "output", a)
    net.port("p_again", "output", net.inverted(product[3:4]))
    folded, module = same_behaviour(net.json(), 1)
    assert folded == Folded(inputs=1, flip_flops=FACTOR_W)
    assert len(of_type(module, "TRELLIS_FF")) == FACTOR_W + PRODUCT_W


def test_constant_factor():
    """A constant 1 arrives with the first edge; with an enable it would come later."""
    for enable, inputs in (("1", 1), (ENABLE, 0)):
        net = Netlist()
        a = net.registers(net.input("a", FACTOR_W - 1), enable)
        b = net.registers(net.input("b", FACTOR_W - 1), enable)
        net.port("p", "output", net.registers(net.multiplier([*a, "1"], [*b, "0"]), enable))
        folded, _ = same_behaviour(net.json(), 2, settle=2)
        assert (folded.inputs, folded.outputs) == (inputs, 1)


@pytest.mark.parametrize(
    "odd",
    [{"reset": ENABLE}, {"start": "SET"}, {"enable": ENABLE}, {"clock": ENABLE}],
    ids=lambda odd: next(iter(odd)),
)
def test_what_differs_in_one_register_stays_outside(odd):
    """One bit with a reset, another start, enable or clock keeps its whole rank outside."""
    net = Netlist()
    a, b = net.input("a", FACTOR_W), net.input("b", FACTOR_W)
    a = net.registers(a[:1], **odd) + net.registers(a[1:])
    product = net.multiplier(a, net.registers(b))
    net.port("p", "output", net.registers(product[:1], **odd) + net.registers(product[1:]))
    netlist = net.json()
    after = copy.deepcopy(netlist)
    assert fold(after) == Folded()
    assert after == netlist


def test_ranks_of_two_enables():
    """A multiplier has one enable here: the rank with the other one stays outside."""
    net = Netlist()
    a, b = (net.registers(net.input(name, FACTOR_W)) for name in "ab")
    net.port("p", "output", net.registers(net.multiplier(a, b), ENABLE))
    folded, _ = same_behaviour(net.json(), 3)
    assert folded == Folded(outputs=1, flip_flops=PRODUCT_W)


def test_second_rank_with_an_enable_of_its_own():
    """It stays outside: only the rank next to the multiplier moves."""
    net = Netlist()
    product = net.multiplier(net.input("a", FACTOR_W), net.input("b", FACTOR_W))
    net.port("p", "output", net.registers(net.registers(product), ENABLE))
    folded, _ = same_behaviour(net.json(), 6)
    assert folded == Folded(outputs=1, flip_flops=PRODUCT_W)


def test_chain_of_multipliers():
    """A rank between two of them goes into one."""
    net = Netlist()
    a, b, c = (net.registers(net.input(name, FACTOR_W)) for name in "abc")
    middle = net.registers(net.multiplier(a, b))[:FACTOR_W]
    c = net.registers(c)
    net.port("p", "output", net.registers(net.multiplier(middle, c)))
    folded, _ = same_behaviour(net.json(), 4)
    assert (folded.inputs, folded.outputs) in ((1, 2), (2, 1))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("enable", ["1", ENABLE])
def test_register_behind_a_memory(wide, enable):
    """One rank goes in, with its enable; a wide memory has it at both ports."""
    net = Netlist()
    address, write = net.input("address", 2), net.input("write", 1)[0]
    read = net.memory(address, net.input("data", 2 * FACTOR_W), write, wide)
    net.port("q", "output", net.registers(net.registers(read, enable), enable))
    folded, module = same_behaviour(net.json(), 5)
    assert folded == Folded(memories=1, flip_flops=len(read))
    (memory,) = of_type(module, "DP16KD")
    modes = [memory["parameters"].get(f"REGMODE_{side}", "NOREG") for side in "AB"]
    assert modes == (["OUTREG", "OUTREG"] if wide else ["NOREG", "OUTREG"])


def test_register_of_another_clock_behind_a_memory():
    """The register inside has the clock of the memory's port."""
    net = Netlist()
    read = net.memory(net.input("address", 2), net.input("data", FACTOR_W), "1")
    net.port("q", "output", net.registers(read, clock=ENABLE))
    assert fold(net.json()) == Folded()


def test_memory_that_is_read_past_its_register():
    """One bit that goes elsewhere, too, keeps all of them outside."""
    net = Netlist()
    read = net.memory(net.input("address", 2), net.input("data", FACTOR_W), "1")
    net.port("q", "output", [*net.registers(read), *net.inverted(read[5:6])])
    netlist = net.json()
    assert fold(netlist) == Folded()


def test_product_that_is_its_own_enable():
    """A flip-flop that a bit feeds and enables is not moved: the bit would be gone."""
    net = Netlist()
    product = net.multiplier(net.input("a", FACTOR_W), net.input("b", FACTOR_W))
    net.port("p", "output", net.registers(product[:1], product[0]))
    assert fold(net.json()) == Folded()


def test_output_port_is_a_reader():
    """A product that leaves the module past its register is not moved."""
    net = Netlist()
    product = net.multiplier(net.input("a", FACTOR_W), net.input("b", FACTOR_W))
    net.port("p", "output", product)
    net.port("q", "output", net.registers(product))
    assert fold(net.json()) == Folded()
