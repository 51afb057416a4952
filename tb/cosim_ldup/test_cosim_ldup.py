"""Co-simulation of closed chains: the RTL inverts the matrix eta of the base, every step."""

import pytest

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import ConnectBase, SingularError
from tb.common import cosim, demo
from tb.common.bench import SIMULATORS, Bench, Config
from tb.common.ldup_coprocessor import LdupCoprocessor

CONFIG = "four_bar"  # the configuration that runs of other scenarios derive from
SIZE = 4  # eta of a planar chain with both ends on the ground
IN_HARDWARE = "inverse of eta"
FLOAT_UNITS = {"add": SIZE - 1, "mul": SIZE, "rec": 1}  # of one elimination row
PIPELINED = {"ADD_STAGES": 3, "MUL_STAGES": 3, "REC_STAGES": 6}


def _config(name, scenario, steps=None, sims=SIMULATORS, params=None, rebase=0):
    settings = {"scenario": f"scenarios/{scenario}.toml", "steps": steps, "rebase": rebase}
    return Config(name, {"N": SIZE} | (params or {}), settings, sims)


BENCH = Bench(
    __file__,
    toplevel="ldup_coprocessor",
    configs=[
        _config(CONFIG, "four_bar", sims=()),  # whole: see test_demo
        _config("four_bar-short", "four_bar", steps=150, sims=("icarus",)),
        _config("general_four_bar", "general_four_bar", steps=150),
        _config("five_bar-rebased", "five_bar", steps=150, rebase=10),
        _config("pipelined", "four_bar", steps=100, params=PIPELINED, sims=("verilator",)),
        _config(
            "parallel-pipelined",
            "four_bar",
            steps=100,
            params=PIPELINED | {"PARALLEL": 1},
            sims=("verilator",),
        ),
    ],
)


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


@pytest.mark.parametrize(("simulator", "config"), [("verilator", CONFIG)])
def test_demo(simulator, config, bench_options):
    """What `make fourbar` does: Euler's truncation is 5.8 mJ, rounding adds less than 0.1 mJ."""
    demo.judge("fourbar", simulator, bench_options, 5.8e-3, 5.8e-3, 0.1e-3)
