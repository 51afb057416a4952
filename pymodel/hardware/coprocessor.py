"""What the processor does with a co-processor: runs, and what they cost it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pymodel.hardware.axil import Registers
from pymodel.machine.registers import Map, Register

RUN_CYCLES = 20_000  # more than any run of a co-processor takes
#: Registers that show a parameter of another name, and its name.
OF_OTHER_NAME = {"FILE_DEPTH": "DEPTH"}


def parameter_word(register: Register, params: Mapping[str, int]) -> int:
    """What a register reads as that shows parameters: one in each field, or the one of its name."""
    if not register.fields:
        return params[OF_OTHER_NAME.get(register.name, register.name)]
    return sum(int(params[field.name]) << field.low for field in register.fields)


class Coprocessor(Registers):
    """Operands in, run, results out, through the registers.

    Attributes
    ----------
    cycles : Counter
        Clock cycles spent so far, bus accesses included, by what was run: ``<phase> write``,
        ``<phase> run``, ``<phase> read``.
    words : Counter
        Register words moved, by the same keys (polls of STATUS count as ``run``).
    engine_cycles, runs : Counter
        Sum of what CYCLES said, and number of runs, by phase.
    status : int
        STATUS as it was when the last run had ended.
    """

    def __init__(self, dut: Any, map_: Map) -> None:
        super().__init__(dut, map_)
        self.cycles: Counter[str] = Counter()
        self.words: Counter[str] = Counter()
        self.engine_cycles: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()
        self.status = 0
        self._since = 0

    def _start_watch(self) -> None:
        self._since = self.now()

    def _account(self, phase: str, what: str, words: int, until: int | None = None) -> None:
        before, self._since = self._since, self.now() if until is None else until
        self.cycles[f"{phase} {what}"] += self._since - before
        self.words[f"{phase} {what}"] += words

    async def run(self, *options: str) -> int:
        """Start a run with these fields of CTRL set, poll until done; returns the polls."""
        await self.write("CTRL", self.mask("CTRL", "RUN", *options))
        return await self.wait_until_idle(RUN_CYCLES)

    async def wait_until_idle(self, cycles: int) -> int:
        """Poll STATUS until it is no longer BUSY; returns the polls.

        Raises
        ------
        HangError
            If that takes more than so many clock cycles.
        """
        batch = self.batch().poll("STATUS", "BUSY", cycles)
        ((self.status,),) = await batch.run()
        return batch.polls

    def unfinished(self, name: str, word: int) -> str:
        """What a poll of STATUS waits for."""
        self.status = word
        return f"a run to end, {self.state()}"

    @property
    def is_singular(self) -> bool:
        """STATUS.SINGULAR as it was read last."""
        return bool(self.field("STATUS", "SINGULAR", self.status))

    def state(self) -> str:
        """STATUS as it was read last, in words."""
        fields = self.map["STATUS"].fields
        return "STATUS " + ", ".join(f"{f.name} {f.get(self.status)}" for f in fields)

    async def perform(
        self, phase: str, options: Sequence[str], operands: Mapping[str, Sequence[int]], result: str
    ) -> list[int]:
        """One accounted run.

        Parameters
        ----------
        phase
            What it counts as.
        options
            Fields of CTRL to set.
        operands
            Register -> words, written first.
        result
            Register that is read and returned.
        """
        self._start_watch()
        batch = self.batch()
        for name, words in operands.items():
            batch.write(name, *words)
        batch.write("CTRL", self.mask("CTRL", "RUN", *options)).poll("STATUS", "BUSY", RUN_CYCLES)
        (self.status,), words, (cycles,) = await batch.read(result).read("CYCLES").run(timed=True)
        *_, written, _, idle, read, _ = batch.ends
        moved = sum(map(len, operands.values()))
        self._account(phase, "write", moved, written)
        self._account(phase, "run", 1 + batch.polls, idle)
        self._account(phase, "read", len(words), read)
        self.engine_cycles[phase] += cycles
        self.runs[phase] += 1
        return words
