"""What the processor does with an hdca_coprocessor: one driver for the bench and co-simulation."""

from collections.abc import Sequence
from typing import Any

from pymodel.hardware.coprocessor import Coprocessor
from pymodel.machine.registers import HDCA_COPROCESSOR


class HdcaCoprocessor(Coprocessor):
    """Runs assemblies and disassemblies, accounted as ``assembly`` and ``disassembly``."""

    def __init__(self, dut: Any) -> None:
        super().__init__(dut, HDCA_COPROCESSOR)

    async def assemble(self, a: Sequence[int], b: Sequence[int]) -> list[int]:
        """Words of body A and B in (33 each), words of the compound body out (33)."""
        return await self.perform("assembly", (), {"BODY_A": a, "BODY_B": b}, "COMPOUND")

    async def disassemble(self, t_1c: Sequence[int], t_2c: Sequence[int]) -> list[int]:
        """Impulses on the handles of C in (2 words each), impulse on handle 1 of B out."""
        operands = {"T_1C": [*t_1c, *t_2c]}
        return await self.perform("disassembly", ("PHASE",), operands, "T_1B")
