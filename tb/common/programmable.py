"""What the processor loads into whatever runs programs: their words, and registers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymodel.arith.fp import Format
from pymodel.machine.isa import Location, Machine
from pymodel.machine.program_image import on_bus
from pymodel.machine.registers import WORD_BYTES, Map
from tb.common.coprocessor import Coprocessor

#: Parameters of all such modules -> fields of the machine that they make.
COMMON = {
    "NUM_ADD": "adders",
    "NUM_MUL": "multipliers",
    "ADD_STAGES": "add_stages",
    "MUL_STAGES": "mul_stages",
    "REC_STAGES": "rec_stages",
    "SINCOS_STAGES": "sincos_stages",
    "DEPTH": "depth",
    "PROGRAM_DEPTH": "program_depth",
    "CONTEXTS": "contexts",
    "READ_STAGES": "read_stages",
    "OPERAND_STAGES": "operand_stages",
}


def parameters_of(machine: Machine, names: Mapping[str, str]) -> dict[str, int]:
    """Parameters of a module that make it this machine; ``names`` is parameter -> field."""
    fmt = {"EXP_W": machine.fmt.exp_w, "MAN_W": machine.fmt.man_w}
    return {name: getattr(machine, field) for name, field in names.items()} | fmt


def machine_from(parameters: Mapping[str, int], names: Mapping[str, str]) -> Machine:
    """The machine that these parameters make; the inverse of :func:`parameters_of`."""
    fmt = Format(parameters["EXP_W"], parameters["MAN_W"])
    return Machine(**{field: parameters[name] for name, field in names.items()}, fmt=fmt)


class Programmable(Coprocessor):
    """An engine with a program memory and a register file behind its bus.

    Parameters
    ----------
    dut, map_
        Its module and registers.
    machine
        What it is.
    """

    def __init__(self, dut: Any, map_: Map, machine: Machine) -> None:
        super().__init__(dut, map_)
        self.machine = machine

    # --- many accesses to one register -----------------------------------------------------------

    async def write_each(self, name: str, words: Iterable[int]) -> None:
        """Write words to one register, one after the other, as fast as the bus takes them."""
        offset = self.map[name].offset
        pending = [
            self.master.init_write(offset, word.to_bytes(WORD_BYTES, "little")) for word in words
        ]
        await self.written(name, pending)

    async def read_each(self, name: str, count: int) -> list[int]:
        """Read one register so many times."""
        offset = self.map[name].offset
        pending = [self.master.init_read(offset, WORD_BYTES) for _ in range(count)]
        words = await self.answers(name, pending)
        assert None not in words, f"read of {name}: SLVERR"
        return words

    # --- memories --------------------------------------------------------------------------------

    async def load_program(self, words: Sequence[int], start: int = 0) -> None:
        """Store program words (ints, see :meth:`pymodel.machine.isa.Program.encoded`)."""
        self._start_watch()
        size = self.machine.bus_words * WORD_BYTES
        offset = self.map["PROGRAM_WORD"].offset
        store = self.map["PROGRAM_STORE"].offset
        pending = []
        for address, word in enumerate(words, start):
            pending.append(self.master.init_write(offset, word.to_bytes(size, "little")))
            pending.append(self.master.init_write(store, address.to_bytes(WORD_BYTES, "little")))
        await self.written("PROGRAM_WORD", pending)
        self._account("program", "write", len(words) * (self.machine.bus_words + 1))

    async def write_registers(self, registers: Mapping[Location, int]) -> None:
        """Store bits: {Location: bits}."""
        self._start_watch()
        accesses = 0
        for locations in neighbours(registers, self.machine.banks):
            await self.write("FILE_ADDRESS", on_bus(locations[0]))
            await self.write_each("FILE_DATA", [registers[x] for x in locations])
            accesses += 1 + len(locations)
        self._account("registers", "write", accesses)

    async def forget(self) -> None:
        """Clear sticky status and what was accounted so far."""
        await self.write("STATUS", (1 << 8 * WORD_BYTES) - 1)
        for account in (self.cycles, self.words, self.engine_cycles, self.runs):
            account.clear()


def neighbours(locations: Iterable[Location], banks: int) -> list[list[Location]]:
    """Put locations into groups that FILE_ADDRESS passes without being written: bank after bank."""
    groups, expected = [], None
    for position in sorted({x.address * banks + x.bank for x in locations}):
        if position != expected:
            groups.append([])
        groups[-1].append(Location(position % banks, position // banks))
        expected = position + 1
    return groups
