"""Co-simulation of open two-body chains: assembly and disassembly in the RTL, every step."""

import pytest

from pymodel.algorithms import two_handles
from pymodel.algorithms.requests import Assemble, Disassemble, SingularError
from pymodel.compile import count
from tb.common import cosim, demo
from tb.common.bench import Bench, Config
from tb.common.hdca_coprocessor import HdcaCoprocessor

IN_HARDWARE = "assembly, disassembly"
FLOAT_UNITS = {op: row["two_passes"] for op, row in count.pool(count.subdesigns()).items()}
CONFIG = "double_pendulum"  # the configuration that runs of other scenarios derive from


def _config(name, scenario, steps=None, sims=("icarus", "verilator"), params=None):
    settings = {"scenario": f"scenarios/{scenario}.toml", "steps": steps}
    return Config(name, params or {}, settings, sims)


PIPELINED = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}
BENCH = Bench(
    __file__,
    toplevel="hdca_coprocessor",
    configs=[
        _config(CONFIG, "double_pendulum", sims=()),  # whole: see test_demo
        _config("double_pendulum-short", "double_pendulum", steps=100, sims=("icarus",)),
        _config("general_chain_2", "general_chain_2", steps=20),
        _config("pipelined", "double_pendulum", steps=100, params=PIPELINED, sims=("verilator",)),
        _config("half", "double_pendulum", steps=100, params={"EXP_W": 5, "MAN_W": 10}),
    ],
)


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


@pytest.mark.parametrize(("simulator", "config"), [("verilator", CONFIG)])
def test_demo(simulator, config, bench_options):
    """What `make pendulum` does: 9.1 mJ is Euler's truncation error, rounding adds about 1 %."""
    demo.judge("pendulum", simulator, bench_options, 9.1e-3, 9.1e-3, 0.1e-3)
