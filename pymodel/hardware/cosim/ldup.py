"""Closed chains with the LDUP co-processor: the matrix eta of the base is inverted in RTL.

Settings: those of :mod:`pymodel.hardware.cosim.co_simulation`.
"""

from collections.abc import Sequence
from typing import Any

from pymodel.algorithms import linalg
from pymodel.algorithms.requests import BASE_SINGULAR, ConnectBase, singular_error
from pymodel.arith.scalars import BitExact
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import co_simulation as cosim
from pymodel.hardware.ldup_coprocessor import LdupCoprocessor
from pymodel.hardware.scoreboard import Scoreboard

CONFIG = "four_bar"  # the configuration that runs of other scenarios derive from
SIZE = 4  # eta of a planar chain with both ends on the ground
PARAMS = {"N": SIZE}
IN_HARDWARE = "inverse of eta"
FLOAT_UNITS = {"add": SIZE - 1, "mul": SIZE, "rec": 1}  # of one elimination row


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench("cosim_ldup", "ldup_coprocessor", configs, module=module)


class Hardware(cosim.Hardware):
    """The inverse of eta comes from the co-processor; the processor multiplies by it."""

    ANSWERS = (ConnectBase,)

    @staticmethod
    def words_to_send(request: ConnectBase) -> Sequence:
        """The matrix, row by row."""
        return [x for row in request.matrix for x in row]

    @staticmethod
    def words_of_answer(request: ConnectBase) -> int:
        """Those of the inverse."""
        return SIZE * SIZE

    @staticmethod
    def reply(request: ConnectBase, words: tuple) -> Any:
        """The inverse times the right-hand side."""
        return linalg.product(_rows(words), request.rhs)

    async def exchange(self, kind: type, words: list[int]) -> list[int]:
        """As of the base class."""
        got = await self.coprocessor.invert(words)
        names = [f"eta^-1[{i}][{j}]" for i in range(SIZE) for j in range(SIZE)]
        self.check("INVERSE", got, self.model_answer(kind, words), names)
        if self.coprocessor.is_singular:
            raise singular_error(self.processor, BASE_SINGULAR, _rows(self.scalars(words)))
        return got

    def model_answer(self, kind: type, words: Sequence[int]) -> list[int]:
        """As of the base class."""
        return self.expected(inverse, words)


def inverse(model: BitExact, words: Sequence) -> list:
    """Words of the inverse of a matrix."""
    rows, _ = linalg.inv_ldup(model, _rows(words))
    return [x for row in rows for x in row]


def _rows(words: Sequence) -> tuple:
    return tuple(words[SIZE * i : SIZE * (i + 1)] for i in range(SIZE))


def test_of(bench: Bench) -> Any:
    """The cocotb test of a bench."""

    @bench.test(timeout_us=60_000_000)
    async def co_simulation(dut: Any, board: Scoreboard) -> None:
        """A whole run; the trajectory is that of the model, bit for bit."""
        await cosim.co_simulate(bench, dut, board, Hardware, LdupCoprocessor)

    return co_simulation


BENCH = bench([Config(CONFIG, PARAMS, long=True)], __name__)
co_simulation = test_of(BENCH)
