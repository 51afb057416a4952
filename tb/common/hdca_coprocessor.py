"""What the processor does with an hdca_coprocessor: one driver for the bench and co-simulation."""

from collections import Counter

from cocotb.utils import get_sim_time

from pymodel.regs import HDCA_COPROCESSOR
from tb.common.axil import Registers
from tb.common.clock import PERIOD_NS

PHASES = ("assembly", "disassembly")
ASSEMBLY, DISASSEMBLY = range(2)


class HdcaCoprocessor(Registers):
    """Runs assemblies and disassemblies through the registers.

    Attributes
    ----------
    cycles : Counter
        Clock cycles spent so far, bus accesses included: ``assembly write``, ``assembly run``,
        ``assembly read``, ``disassembly write``, ...
    words : Counter
        Register words moved, by the same keys (polls of STATUS count as ``run``).
    engine_cycles, runs : Counter
        Sum of what CYCLES said, and number of runs, of ``assembly`` and ``disassembly``.
    status : int
        STATUS as it was when the last run had ended.
    """

    def __init__(self, dut):
        super().__init__(dut, HDCA_COPROCESSOR)
        self.cycles = Counter()
        self.words = Counter()
        self.engine_cycles = Counter()
        self.runs = Counter()
        self.status = 0
        self._since = 0

    def _start_watch(self):
        self._since = round(get_sim_time("ns") / PERIOD_NS)

    def _account(self, phase, what, words):
        before = self._since
        self._start_watch()
        self.cycles[f"{PHASES[phase]} {what}"] += self._since - before
        self.words[f"{PHASES[phase]} {what}"] += words

    async def run(self, phase):
        """Start a phase and poll until it is done; returns the number of polls."""
        command = self.mask("CTRL", "RUN") | (self.mask("CTRL", "PHASE") if phase else 0)
        await self.write("CTRL", command)
        polls = 0
        while not polls or self.field("STATUS", "BUSY", self.status):
            self.status = await self.read("STATUS")
            polls += 1
        return polls

    async def _phase(self, phase, operands, result):
        self._start_watch()
        for name, words in operands.items():
            await self.write(name, *words)
        self._account(phase, "write", sum(map(len, operands.values())))
        polls = await self.run(phase)
        self._account(phase, "run", 1 + polls)
        words = await self.read(result)
        self._account(phase, "read", len(words))
        self.engine_cycles[PHASES[phase]] += await self.read("CYCLES")
        self.runs[PHASES[phase]] += 1
        return words

    async def assemble(self, a, b):
        """Words of body A and B in (33 each), words of the compound body out (33)."""
        return await self._phase(ASSEMBLY, {"BODY_A": a, "BODY_B": b}, "COMPOUND")

    async def disassemble(self, t_1c, t_2c):
        """Impulses on the handles of C in (2 words each), impulse on handle 1 of B out."""
        return await self._phase(DISASSEMBLY, {"T_1C": [*t_1c, *t_2c]}, "T_1B")
