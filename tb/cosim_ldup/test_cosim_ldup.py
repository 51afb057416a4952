"""Co-simulation of closed chains: the RTL inverts the matrix eta of the base, every step."""

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import BASE_SINGULAR, ConnectBase, singular_error
from pymodel.hardware import cosim
from pymodel.hardware.ldup_coprocessor import LdupCoprocessor
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
        names = [f"eta^-1[{i}][{j}]" for i in range(SIZE) for j in range(SIZE)]
        self.check("INVERSE", got, self.model_answer(kind, words), names)
        if self.coprocessor.is_singular:
            raise singular_error(self.processor, BASE_SINGULAR, _rows(self.scalars(words)))
        return got

    def model_answer(self, kind, words):
        return self.expected(inverse, words)


def inverse(model, words):
    """Words of the inverse of a matrix."""
    rows, _ = linalg.inv_ldup(model, _rows(words))
    return [x for row in rows for x in row]


def _rows(words):
    return tuple(words[SIZE * i : SIZE * (i + 1)] for i in range(SIZE))


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, LdupCoprocessor)


test_cosim_ldup = BENCH.pytest()
