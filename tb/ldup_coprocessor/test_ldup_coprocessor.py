"""The LDUP co-processor through its bus: the tests of every co-processor, on matrices."""

import numpy as np

from pymodel.algorithms.linalg import inv_ldup
from pymodel.arith.scalars import BitExact
from pymodel.compile import latency
from pymodel.hardware.ldup_coprocessor import LdupCoprocessor
from tb.common import coprocessor_bench, matrices
from tb.ldup_coprocessor.bench import BENCH


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
        stages = latency.Stages.of(self.params)
        return latency.inversion(self.params["N"], self.params["PARALLEL"], stages)


of_bus = coprocessor_bench.tests_of(BENCH, Bus)
back_to_back_runs = of_bus(coprocessor_bench.back_to_back_runs)
stalled_runs = of_bus(coprocessor_bench.stalled_runs)
masters = of_bus(coprocessor_bench.masters)
interrupts = of_bus(coprocessor_bench.interrupts)
identity = of_bus(coprocessor_bench.identity)
byte_strobes = of_bus(coprocessor_bench.byte_strobes)
unready_master = of_bus(coprocessor_bench.unready_master)
full_rate = of_bus(coprocessor_bench.full_rate)
every_access = of_bus(coprocessor_bench.every_access)
bad_addresses = of_bus(coprocessor_bench.bad_addresses)
access_while_busy = of_bus(coprocessor_bench.access_while_busy)
resets = of_bus(coprocessor_bench.resets)
singular_status = of_bus(coprocessor_bench.singular_status)

test_ldup_coprocessor = BENCH.pytest()
