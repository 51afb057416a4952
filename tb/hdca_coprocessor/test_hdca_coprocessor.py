"""The HDCA co-processor through its bus: the tests of every co-processor, on both phases."""

from pymodel.algorithms import two_handles
from pymodel.arith.scalars import BitExact
from pymodel.compile import latency
from pymodel.hardware.hdca_coprocessor import HdcaCoprocessor
from tb.common import bodies, coprocessor_bench
from tb.hdca_coprocessor.bench import BENCH


class Bus(coprocessor_bench.Bus):
    """A round is an assembly and the disassembly of its joint."""

    IDENTITY = b"HDCA"
    OPERANDS = ("BODY_A", "BODY_B", "T_1C", "T_2C")
    RESULTS = ("COMPOUND", "T_1B", "WEIGHT_A", "WEIGHT_B", "BETA_HAT")

    def driver(self, dut):
        return HdcaCoprocessor(dut)

    def random_operands(self):
        arithmetic = BitExact(self.fmt)
        rng = self.board.rng
        a, b = (bodies.any_body(arithmetic, rng) for _ in range(2))
        t_1c, t_2c = (tuple(map(arithmetic.const, rng.normal(size=2))) for _ in range(2))
        return a, b, t_1c, t_2c

    def singular_operands(self):
        arithmetic = BitExact(self.fmt)
        is_singular = True
        while is_singular:  # by chance, in a small format
            regular = [bodies.physical(arithmetic, self.board.rng) for _ in range(2)]
            *_, is_singular = two_handles.assemble(arithmetic, *regular)
        a, b = map(two_handles.to_words, regular)
        for i in (0, 1, 3, 4):  # D^T xi_22^A D and D^T xi_11^B D
            a[18 + i] = b[i] = arithmetic.const(0.0)
        impulses = [(arithmetic.const(1.0), arithmetic.const(-1.0))] * 2
        singular = two_handles.from_words(a), two_handles.from_words(b)
        return (*singular, *impulses), (*regular, *impulses)

    async def round(self, operands, context):
        arithmetic = BitExact(self.fmt)
        a, b, t_1c, t_2c = arithmetic.adopt(tuple(operands))
        compound, joint, singular = two_handles.assemble(arithmetic, a, b)
        got = await self.registers.assemble(
            _bits(two_handles.to_words(a)), _bits(two_handles.to_words(b))
        )
        self.check("COMPOUND", got, two_handles.to_words(compound), context)
        await self.compare("WEIGHT_A", _bits([*joint.W_A[0], *joint.W_A[1]]), self.fmt, context)
        await self.compare("WEIGHT_B", _bits([*joint.W_B[0], *joint.W_B[1]]), self.fmt, context)
        await self.compare("BETA_HAT", _bits(joint.beta_hat), self.fmt, context)
        got = await self.registers.disassemble(_bits(t_1c), _bits(t_2c))
        self.check("T_1B", got, two_handles.disassemble(joint, t_1c, t_2c), context)
        return arithmetic.flags, singular

    def latency(self):
        return latency.assembly(latency.Stages.of(self.params), self.params["PASSES"])

    def last_latency(self):
        return latency.disassembly(latency.Stages.of(self.params))


def _bits(scalars):
    return [scalar.bits for scalar in scalars]


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

test_hdca_coprocessor = BENCH.pytest()
