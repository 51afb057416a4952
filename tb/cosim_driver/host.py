"""A host of the simulated engine: the driver in C, with accesses that go over the bus."""

from pathlib import Path
from typing import Any

from cocotb.task import bridge, resume

from pymodel.hardware.places import ROOT
from pymodel.hardware.step_engine import StepEngine
from pymodel.hardware.waiting import AnswerError
from pymodel.machine.c_driver import Driver, build
from pymodel.machine.registers import WORD_BYTES

STATUS = "STATUS"
POSTED = 256  # writes that may be on their way


class Host:
    """The driver behind the bus of an engine.

    It runs in a thread of its own, which stands still while the simulation does an access. Writes
    are posted: they go in their order, and are done before a read begins and before a call of the
    driver returns.

    Parameters
    ----------
    engine
        Whose bus it uses.
    folder
        Where the driver is compiled.

    Attributes
    ----------
    busy : int or None
        STATUS as the driver has last found it of an engine that runs.
    """

    def __init__(self, engine: StepEngine, folder: Path) -> None:
        self._engine = engine
        self._posted: list[tuple[int, int]] = []
        self.busy: int | None = None
        self._driver = Driver(build(ROOT / "sw", folder), self._read, self._write)

    async def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of :class:`pymodel.machine.c_driver.Driver`."""
        return await bridge(self._perform)(function, *arguments)

    def _perform(self, function: str, *arguments: Any) -> Any:
        found = getattr(self._driver, function)(*arguments)
        resume(self._finish_writes)()
        return found

    def _write(self, offset: int, word: int) -> None:
        self._posted.append((offset, word))
        if len(self._posted) >= POSTED:
            resume(self._finish_writes)()

    def _read(self, offset: int) -> int:
        return resume(self._read_word)(offset)

    async def _read_word(self, offset: int) -> int:
        await self._finish_writes()
        data, okay = await self._engine.read_bytes(offset, WORD_BYTES)
        if not okay:
            raise AnswerError("read", self._engine.name(offset), "SLVERR")
        word = int.from_bytes(data, "little")
        if self._engine.name(offset) == STATUS and self._engine.field(STATUS, "BUSY", word):
            self.busy = word
        return word

    async def _finish_writes(self) -> None:
        posted, self._posted = self._posted, []
        init = self._engine.master.init_write
        pending = [
            (offset, init(offset, word.to_bytes(WORD_BYTES, "little"))) for offset, word in posted
        ]
        for offset, write in pending:
            await self._engine.written(self._engine.name(offset), [write])
