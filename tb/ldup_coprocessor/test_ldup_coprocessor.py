"""The LDUP co-processor through its bus: the tests of every co-processor, on matrices."""

import numpy as np

from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.scalars import BitExact
from tb.common import coprocessor_bench, matrices
from tb.common.bench import SIMULATORS, Bench, Config
from tb.common.ldup_coprocessor import LdupCoprocessor


def _config(name, n=4, parallel=False, stages=(0, 0, 0), fmt=(8, 23), sims=SIMULATORS, runs=80):
    params = {"N": n, "PARALLEL": int(parallel), "EXP_W": fmt[0], "MAN_W": fmt[1]}
    params |= dict(zip(("ADD_STAGES", "MUL_STAGES", "REC_STAGES"), stages, strict=True))
    return Config(name, params, {"runs": {"icarus": runs // 4, "verilator": runs}}, sims)


BENCH = Bench(
    __file__,
    toplevel="ldup_coprocessor",
    configs=[
        _config("serial"),
        _config("parallel", parallel=True),
        _config("half-2-parallel-pipelined", n=2, parallel=True, stages=(3, 3, 6), fmt=(5, 10)),
        _config("serial-8-pipelined", n=8, stages=(1, 2, 3), sims=("verilator",), runs=20),
    ],
)


class Bus(coprocessor_bench.Bus):
    """A round is an inversion."""

    IDENTITY = b"LDUP"
    OPERANDS = ("MATRIX",)
    RESULTS = ("INVERSE",)

    @property
    def n(self):
        return self.params["N"]

    def driver(self, dut):
        return LdupCoprocessor(dut, self.n)

    def random_operands(self):
        kind = str(self.board.rng.choice(matrices.KINDS))
        return matrices.random_matrix(self.fmt, self.n, kind, self.board.rng)

    def singular_operands(self):
        zero, regular = np.zeros((self.n, self.n)), np.eye(self.n) + 1
        return ([self.fmt.from_float(x) for x in m.flat] for m in (zero, regular))

    async def round(self, operands, context):
        arithmetic = BitExact(self.fmt)
        scalars = [arithmetic.scalar(x) for x in operands]
        rows = [scalars[self.n * i : self.n * (i + 1)] for i in range(self.n)]
        inverse, singular = inv_ldup(arithmetic, rows)
        got = await self.registers.invert(operands)
        want = [entry for row in inverse for entry in row]
        self.check("INVERSE", got, want, f"{context}: {[hex(x) for x in operands]}")
        return arithmetic.flags, singular

    def latency(self):
        return matrices.inversion_latency(self.params)


globals().update(coprocessor_bench.register(BENCH, Bus))
test_ldup_coprocessor = BENCH.pytest()
