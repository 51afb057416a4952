"""Co-simulation of open two-body chains: assembly and disassembly in the RTL, every step."""

from pymodel.algorithms import two_handles
from pymodel.algorithms.requests import Assemble, Disassemble, SingularError
from tb.common import cosim
from tb.common.hdca_coprocessor import HdcaCoprocessor
from tb.cosim_hdca.bench import BENCH


class Hardware(cosim.Hardware):
    """Assemblies and disassemblies go to the co-processor."""

    joint = None  # the model's idea of the joint that the hardware holds

    async def answer(self, request):
        if isinstance(request, Assemble):
            return await self._assemble(*self.model.adopt(request))
        if isinstance(request, Disassemble):
            return await self._disassemble(*self.model.adopt((request.t_1c, request.t_2c)))
        return await super().answer(request)

    async def _assemble(self, a, b):
        words = [cosim.bits(two_handles.to_words(body)) for body in (a, b)]
        got = await self.coprocessor.assemble(*words)
        compound, self.joint, _ = two_handles.assemble(self.model, a, b)
        self.check("COMPOUND", got, two_handles.to_words(compound), two_handles.WORD_NAMES)
        if self.coprocessor.field("STATUS", "SINGULAR", self.coprocessor.status):
            raise SingularError("joint matrix (33) is singular")
        return two_handles.from_words(self.scalars(got)), None  # the joint stays in the hardware

    async def _disassemble(self, t_1c, t_2c):
        got = await self.coprocessor.disassemble(cosim.bits(t_1c), cosim.bits(t_2c))
        self.check("T_1B", got, two_handles.disassemble(self.joint, t_1c, t_2c))
        return self.scalars(got)


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, HdcaCoprocessor)


test_cosim_hdca = BENCH.pytest()
