"""Co-simulation of open two-body chains: assembly and disassembly in the RTL, every step."""

from pymodel.algorithms import two_handles
from pymodel.algorithms.requests import JOINT_SINGULAR, Assemble, Disassemble, singular_error
from pymodel.hardware import cosim
from pymodel.hardware.hdca_coprocessor import HdcaCoprocessor
from tb.cosim_hdca.bench import BENCH


class Hardware(cosim.Hardware):
    """Assemblies and disassemblies go to the co-processor."""

    ANSWERS = (Assemble, Disassemble)
    bodies = None  # words of those whose joint the hardware holds

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

    def model_answer(self, kind, words):
        if kind is Assemble:
            self.bodies = words
            return self.expected(compound, words)
        return self.expected(inner_impulse, [*self.bodies, *words])


def compound(model, words):
    """Words of the compound body of two."""
    return two_handles.to_words(assembled(model, words)[0])


def inner_impulse(model, words):
    """Impulse on handle 1 of body B: words of two bodies, impulses on the handles of C."""
    _, joint, _ = assembled(model, words[:-4])
    return two_handles.disassemble(joint, words[-4:-2], words[-2:])


def assembled(model, words):
    half = len(words) // 2
    a, b = (two_handles.from_words(tuple(body)) for body in (words[:half], words[half:]))
    return two_handles.assemble(model, a, b)


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """A whole run; the trajectory is that of the model, bit for bit."""
    await cosim.co_simulate(BENCH, dut, board, Hardware, HdcaCoprocessor)


test_cosim_hdca = BENCH.pytest()
