"""What the processor loads into whatever runs programs: their words, and registers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pymodel.arith.fp import Format
from pymodel.hardware.coprocessor import Coprocessor
from pymodel.machine.isa import Location, Machine
from pymodel.machine.program_image import BANK_AT, on_bus
from pymodel.machine.registers import WORD_BYTES, Map

WORD_BITS = 8 * WORD_BYTES
ALL_BITS = (1 << WORD_BITS) - 1

#: Parameters of all such modules -> fields of the machine that they make.
COMMON = {
    "NUM_ADD": "adders",
    "NUM_MUL": "multipliers",
    "ADD_STAGES": "add_stages",
    "MUL_STAGES": "mul_stages",
    "REC_STAGES": "rec_stages",
    "SINCOS_STAGES": "sincos_stages",
    "RARE_LOGIC": "rare_logic",
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

    def is_location(self, word: int) -> bool:
        """Whether a word of the bus is the location of a register."""
        bank, address = word >> BANK_AT, word & (1 << BANK_AT) - 1
        return bank < self.machine.banks and address < self.machine.contexts * self.machine.depth

    # --- memories --------------------------------------------------------------------------------

    async def load_program(self, words: Sequence[int], start: int = 0) -> None:
        """Store program words (ints, see :meth:`pymodel.machine.isa.Program.encoded`)."""
        self._start_watch()
        size = self.machine.bus_words
        writes = []
        for address, word in enumerate(words, start):
            parts = [word >> WORD_BITS * i & ALL_BITS for i in range(size)]
            writes += [("PROGRAM_WORD", parts), ("PROGRAM_STORE", [address])]
        await self.batch().write_all(writes).run()
        self._account("program", "write", len(words) * (self.machine.bus_words + 1))

    async def write_registers(self, registers: Mapping[Location, int]) -> None:
        """Store bits: {Location: bits}."""
        self._start_watch()
        batch, accesses = self.batch(), 0
        for locations in neighbours(registers, self.machine.banks):
            batch.write("FILE_ADDRESS", on_bus(locations[0]))
            batch.write_each("FILE_DATA", [registers[x] for x in locations])
            accesses += 1 + len(locations)
        await batch.run()
        self._account("registers", "write", accesses)

    async def forget(self) -> None:
        """Clear sticky status and what was accounted so far."""
        await self.write("STATUS", ALL_BITS)
        for account in (self.cycles, self.words, self.engine_cycles, self.runs):
            account.clear()


def neighbours(locations: Iterable[Location], banks: int) -> list[list[Location]]:
    """Put locations into groups that FILE_ADDRESS passes without being written: bank after bank."""
    groups: list[list[Location]] = []
    expected: int | None = None
    for position in sorted({x.address * banks + x.bank for x in locations}):
        if position != expected:
            groups.append([])
        groups[-1].append(Location(position % banks, position // banks))
        expected = position + 1
    return groups
