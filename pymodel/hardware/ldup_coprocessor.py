"""What the processor does with an ldup_coprocessor: one driver for the bench and co-simulation."""

from collections.abc import Sequence
from typing import Any

from pymodel.hardware.coprocessor import Coprocessor
from pymodel.machine.registers import ldup_coprocessor


class LdupCoprocessor(Coprocessor):
    """Inverts matrices, accounted as ``inversion``.

    Parameters
    ----------
    dut
        The top level.
    n
        Size of its matrices.
    """

    def __init__(self, dut: Any, n: int = 4) -> None:
        super().__init__(dut, ldup_coprocessor(n))

    async def invert(self, words: Sequence[int]) -> list[int]:
        """Words of a matrix in, row by row, words of its inverse out (n * n each)."""
        return await self.perform("inversion", (), {"MATRIX": words}, "INVERSE")
