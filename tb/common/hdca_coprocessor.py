"""What the processor does with an hdca_coprocessor: one driver for the bench and co-simulation."""

from collections import Counter

from cocotb.utils import get_sim_time

from pymodel.regs import HDCA_COPROCESSOR
from tb.common.axil import Registers
from tb.common.clock import PERIOD_NS

ASSEMBLY, DISASSEMBLY = 0, 1


class HdcaCoprocessor(Registers):
    """Runs assemblies and disassemblies through the registers.

    Attributes
    ----------
    cycles : Counter
        Clock cycles spent so far in ``write``, ``run`` and ``read`` (bus accesses included),
        separately for both phases: ``assembly write``, ...
    engine_cycles : Counter
        What the CYCLES register said, summed for ``assembly`` and ``disassembly``.
    """

    def __init__(self, dut):
        super().__init__(dut, HDCA_COPROCESSOR)
        self.cycles = Counter()
        self.engine_cycles = Counter()
        self._since = 0

    def _spent(self, what):
        now = round(get_sim_time("ns") / PERIOD_NS)
        if what:
            self.cycles[what] += now - self._since
        self._since = now

    async def run(self, phase):
        """Start a phase and poll until it is done."""
        run = self.mask("CTRL", "RUN")
        await self.write("CTRL", run | (self.mask("CTRL", "PHASE") if phase else 0))
        while self.field("STATUS", "BUSY", await self.read("STATUS")):
            pass

    async def assemble(self, a, b):
        """Words of body A and B in (33 each), words of the compound body out (33)."""
        self._spent(None)
        await self.write("BODY_A", *a)
        await self.write("BODY_B", *b)
        self._spent("assembly write")
        await self.run(ASSEMBLY)
        self._spent("assembly run")
        compound = await self.read("COMPOUND")
        self._spent("assembly read")
        self.engine_cycles["assembly"] += await self.read("CYCLES")
        return compound

    async def disassemble(self, t_1c, t_2c):
        """Impulses on the handles of C in (2 words each), impulse on handle 1 of B out."""
        self._spent(None)
        await self.write("T_1C", *t_1c, *t_2c)
        self._spent("disassembly write")
        await self.run(DISASSEMBLY)
        self._spent("disassembly run")
        t_1b = await self.read("T_1B")
        self._spent("disassembly read")
        self.engine_cycles["disassembly"] += await self.read("CYCLES")
        return t_1b
