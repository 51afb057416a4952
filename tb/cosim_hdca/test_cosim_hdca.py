"""Co-simulation of open two-body chains: assembly and disassembly in the RTL, every step."""

from pymodel.algorithms import two_handles
from pymodel.algorithms.requests import Assemble, Disassemble, SingularError
from tb.common import cosim
from tb.common.hdca_coprocessor import HdcaCoprocessor
from tb.cosim_hdca.bench import BENCH


class Hardware(cosim.Hardware):
    """Assemblies and disassemblies go to the co-processor."""

    ANSWERS = (Assemble, Disassemble)
    joint = None  # the model's idea of the joint that the hardware holds

    @staticmethod
    def words_to_send(request):
        if isinstance(request, Assemble):
            return [*two_handles.to_words(request.a), *two_handles.to_words(request.b)]
        return [*request.t_1c, *request.t_2c]

    @staticmethod
    def words_of_answer(request):
        return len(two_handles.WORD_NAMES) if isinstance(request, Assemble) else len("xy")

    @staticmethod
    def reply(request, words):
        if isinstance(request, Assemble):
            return two_handles.from_words(words), None  # the joint stays in the hardware
        return words

    async def exchange(self, kind, words):
        first, second = words[: len(words) // 2], words[len(words) // 2 :]
        return await (self._assemble if kind is Assemble else self._disassemble)(first, second)

    async def _assemble(self, *words):
        got = await self.coprocessor.assemble(*words)
        a, b = (two_handles.from_words(tuple(map(self.model.scalar, body))) for body in words)
        compound, self.joint, _ = two_handles.assemble(self.model, a, b)
        self.check("COMPOUND", got, two_handles.to_words(compound), two_handles.WORD_NAMES)
        if self.coprocessor.field("STATUS", "SINGULAR", self.coprocessor.status):
            raise SingularError("joint matrix (33) is singular")
        return got

    async def _disassemble(self, *words):
        got = await self.coprocessor.disassemble(*words)
        t_1c, t_2c = (tuple(map(self.model.scalar, impulse)) for impulse in words)
        self.check("T_1B", got, two_handles.disassemble(self.joint, t_1c, t_2c))
        return got


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, HdcaCoprocessor)


test_cosim_hdca = BENCH.pytest()
