"""Open two-body chains with the HDCA co-processor: assembly and disassembly in RTL, every step.

Settings: those of :mod:`pymodel.hardware.cosim.co_simulation`.
"""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms import two_handles
from pymodel.algorithms.requests import JOINT_SINGULAR, Assemble, Disassemble, singular_error
from pymodel.arith.scalars import BitExact
from pymodel.compile import count
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import co_simulation as cosim
from pymodel.hardware.hdca_coprocessor import HdcaCoprocessor
from pymodel.hardware.scoreboard import Scoreboard

IN_HARDWARE = "assembly, disassembly"
FLOAT_UNITS = {op: row["two_passes"] for op, row in count.pool(count.subdesigns()).items()}
CONFIG = "double_pendulum"  # the configuration that runs of other scenarios derive from


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench("cosim_hdca", "hdca_coprocessor", configs, module=module)


class Hardware(cosim.Hardware):
    """Assemblies and disassemblies go to the co-processor."""

    ANSWERS = (Assemble, Disassemble)
    bodies: Sequence[int] = ()  # words of those whose joint the hardware holds

    @staticmethod
    def words_to_send(request: Assemble | Disassemble) -> Sequence:
        """Both bodies, or the impulses on both handles."""
        if isinstance(request, Assemble):
            return [*two_handles.to_words(request.a), *two_handles.to_words(request.b)]
        return [*request.t_1c, *request.t_2c]

    @staticmethod
    def words_of_answer(request: Assemble | Disassemble) -> int:
        """A compound body, or an impulse."""
        return len(two_handles.WORD_NAMES) if isinstance(request, Assemble) else len("xy")

    @staticmethod
    def reply(request: Assemble | Disassemble, words: tuple) -> Any:
        """The compound body without its joint, which stays in the hardware, or the impulse."""
        if isinstance(request, Assemble):
            return two_handles.from_words(words), None
        return words

    async def exchange(self, kind: type, words: list[int]) -> list[int]:
        """As of the base class."""
        first, second = words[: len(words) // 2], words[len(words) // 2 :]
        if kind is Assemble:
            got = await self.coprocessor.assemble(first, second)
            self.check("COMPOUND", got, self.model_answer(kind, words), two_handles.WORD_NAMES)
        else:
            got = await self.coprocessor.disassemble(first, second)
            self.check("T_1B", got, self.model_answer(kind, words))
        if kind is Assemble and self.coprocessor.is_singular:
            a, b = (two_handles.from_words(self.scalars(body)) for body in (first, second))
            raise singular_error(self.processor, JOINT_SINGULAR, a.xi_22, b.xi_11)
        return got

    def model_answer(self, kind: type, words: Sequence[int]) -> list[int]:
        """As of the base class."""
        if kind is Assemble:
            self.bodies = words
            return self.expected(compound, words)
        return self.expected(inner_impulse, [*self.bodies, *words])


def compound(model: BitExact, words: Sequence) -> list:
    """Words of the compound body of two."""
    return two_handles.to_words(_assembled(model, words)[0])


def inner_impulse(model: BitExact, words: Sequence) -> Sequence:
    """Impulse on handle 1 of body B: words of two bodies, impulses on the handles of C."""
    _, joint, _ = _assembled(model, words[:-4])
    return two_handles.disassemble(joint, words[-4:-2], words[-2:])


def _assembled(model: BitExact, words: Sequence) -> tuple:
    half = len(words) // 2
    a, b = (two_handles.from_words(tuple(body)) for body in (words[:half], words[half:]))
    return two_handles.assemble(model, a, b)


def test_of(bench: Bench) -> Any:
    """The cocotb test of a bench."""

    @bench.test(timeout_us=60_000_000)
    async def co_simulation(dut: Any, board: Scoreboard) -> None:
        """A whole run; the trajectory is that of the model, bit for bit."""
        await cosim.co_simulate(bench, dut, board, Hardware, HdcaCoprocessor)

    return co_simulation


BENCH = bench([Config(CONFIG, long=True)], __name__)
co_simulation = test_of(BENCH)
