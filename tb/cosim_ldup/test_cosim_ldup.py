"""Co-simulation of closed chains: the RTL inverts the matrix eta of the base, every step."""

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import ConnectBase, SingularError
from tb.common import cosim
from tb.common.ldup_coprocessor import LdupCoprocessor
from tb.cosim_ldup.bench import BENCH, SIZE


class Hardware(cosim.Hardware):
    """The inverse of eta comes from the co-processor; the processor multiplies by it."""

    async def answer(self, request):
        if not isinstance(request, ConnectBase):
            return await super().answer(request)
        eta = self.model.adopt(request.matrix)
        got = await self.coprocessor.invert(cosim.bits(x for row in eta for x in row))
        inverse, _ = linalg.inv_ldup(self.model, eta)
        names = [f"eta^-1[{i}][{j}]" for i in range(SIZE) for j in range(SIZE)]
        self.check("INVERSE", got, [x for row in inverse for x in row], names)
        if self.coprocessor.field("STATUS", "SINGULAR", self.coprocessor.status):
            raise SingularError("the matrix of the base connection is singular")
        words = self.scalars(got)
        rows = tuple(words[SIZE * i : SIZE * (i + 1)] for i in range(SIZE))
        return linalg.product(rows, request.rhs)


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, LdupCoprocessor)


test_cosim_ldup = BENCH.pytest()
