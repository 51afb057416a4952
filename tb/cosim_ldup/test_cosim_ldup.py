"""Co-simulation of closed chains: the RTL inverts the matrix eta of the base, every step."""

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import ConnectBase, SingularError
from tb.common import cosim
from tb.common.ldup_coprocessor import LdupCoprocessor
from tb.cosim_ldup.bench import BENCH, SIZE


class Hardware(cosim.Hardware):
    """The inverse of eta comes from the co-processor; the processor multiplies by it."""

    ANSWERS = (ConnectBase,)

    @staticmethod
    def words_to_send(request):
        return [x for row in request.matrix for x in row]

    @staticmethod
    def words_of_answer(request):
        return SIZE * SIZE

    @staticmethod
    def reply(request, words):
        return linalg.product(_rows(words), request.rhs)

    async def exchange(self, kind, words):
        got = await self.coprocessor.invert(words)
        inverse, _ = linalg.inv_ldup(self.model, _rows(tuple(map(self.model.scalar, words))))
        names = [f"eta^-1[{i}][{j}]" for i in range(SIZE) for j in range(SIZE)]
        self.check("INVERSE", got, [x for row in inverse for x in row], names)
        if self.coprocessor.field("STATUS", "SINGULAR", self.coprocessor.status):
            raise SingularError("the matrix of the base connection is singular")
        return got


def _rows(words):
    return tuple(words[SIZE * i : SIZE * (i + 1)] for i in range(SIZE))


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, LdupCoprocessor)


test_cosim_ldup = BENCH.pytest()
