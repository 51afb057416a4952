"""Co-simulation: Python plays the processor, a co-processor answers what it can.

Everything that the co-processor does not do runs in the bit-exact arithmetic: as native code, or on
the model where there is no C compiler. Each of its answers is compared word by word with the model,
in a long run soon as native code, and at the end the whole trajectory with an all-model run.

A bench's settings: ``scenario`` (path), ``steps`` (default: the scenario's), ``rebase``, ``out``
(folder for what :mod:`pymodel.hardware.handover` writes).
"""

import math
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pymodel.algorithms.requests import SingularError, answer
from pymodel.algorithms.step import Chain
from pymodel.arith.c_build import compiler
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.native import NoCompilerError
from pymodel.hardware import clock
from pymodel.hardware.bench import Bench
from pymodel.hardware.coprocessor import Coprocessor
from pymodel.hardware.handover import Handover, folder_of, print_progress
from pymodel.hardware.native_function import Function, NativeFunction
from pymodel.hardware.places import ROOT
from pymodel.hardware.processor import NativeProcessor, Sent
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs import native_runs, simulate
from pymodel.runs.columns import blocks
from pymodel.runs.recorder import NonFiniteError, Recorder
from pymodel.runs.trajectory import Trajectory

BINARY64 = Format(11, 52)
BASE = "ldup"  # how the co-processors' runs connect a closed base: the inverse that is in hardware
TEST = "co_simulation"  # the cocotb test of every co-simulation bench
DIRECT_STEPS = 100  # of a long run, in which native answers are compared with the model's own


class Hardware:
    """Answers the algorithm's requests; a subclass sends some of them to its co-processor.

    Attributes
    ----------
    ANSWERS : tuple of type
        Requests that go to the co-processor.
    processor : BitExact
        What Python computes in, and what the answers are scalars of.
    model : BitExact
        What the hardware must do; its flags are those that the hardware must have.
    """

    ANSWERS: tuple[type, ...] = ()

    def __init__(self, board: Scoreboard, coprocessor: Any, fmt: Format) -> None:
        self.board = board
        self.coprocessor = coprocessor  # None if only its model is asked
        self.fmt = fmt
        self.processor = BitExact(fmt)
        self.model = BitExact(fmt)
        self.recorder: Any = None  # that of the run
        self.is_native = False
        self._functions: dict[Function, NativeFunction] = {}

    async def answer(self, request: Any) -> Any:
        """The answer to a request of :mod:`pymodel.algorithms.step`; bits to words as bits."""
        if isinstance(request, Sent):
            return await self.exchange(*request)
        if isinstance(request, self.ANSWERS):
            got = await self.exchange(type(request), bits(self.words_to_send(request)))
            return self.reply(request, self.scalars(got))
        return answer(self.processor, request)

    async def exchange(self, kind: type, words: list[int]) -> list[int]:
        """Send the words of a request, and check and return those that come back."""
        raise TypeError(f"{type(self).__name__} answers no {kind.__name__}")

    def model_answer(self, kind: type, words: Sequence[int]) -> list[int]:
        """The words with which the model answers a request."""
        raise TypeError(f"{type(self).__name__} answers no {kind.__name__}")

    def expected(self, function: Function, words: Sequence[int]) -> list[int]:
        """What a function of words gives, as bits; in long runs as native code.

        That must give what the model itself gives in the first steps.

        Parameters
        ----------
        function
            Maps an arithmetic and its scalars to scalars.
        words
            Bits of the scalars.
        """
        evaluation = self._functions.setdefault(function, NativeFunction(function, self.model))
        if not self.is_native:
            return evaluation.direct(words)
        found = evaluation(words)
        if self.recorder.step < DIRECT_STEPS:
            self.check(f"native {function.__name__}", found, evaluation.direct(words))
        return found

    @staticmethod
    def words_to_send(request: Any) -> Sequence[Any]:
        """Scalars that a request sends."""
        raise TypeError(f"no words of {type(request).__name__}")

    @staticmethod
    def words_of_answer(request: Any) -> int:
        """How many words come back."""
        raise TypeError(f"no words of {type(request).__name__}")

    @staticmethod
    def reply(request: Any, words: tuple[Any, ...]) -> Any:
        """The algorithm's answer, from the scalars that came back."""
        raise TypeError(f"no reply to {type(request).__name__}")

    def scalars(self, words: Iterable[int]) -> tuple[Any, ...]:
        """Words from the hardware, as the processor's scalars."""
        return tuple(self.processor.scalar(word) for word in words)

    def check(
        self, name: str, got: Sequence[int], want: Sequence[int], names: Sequence[str] = ()
    ) -> None:
        """Compare words from the hardware with the model's."""
        context = f"step {self.recorder.step}"
        self.board.compare_all(name, got, want, self.fmt, context, names)


def bits(scalars: Iterable[Any]) -> list[int]:
    """Words to send."""
    return [scalar.bits for scalar in scalars]


async def co_simulate(
    bench: Bench,
    dut: Any,
    board: Scoreboard,
    hardware_type: type[Hardware],
    coprocessor_type: Callable[[Any], Coprocessor],
) -> None:
    """The body of a co-simulation test: a whole run, compared with that of the model."""
    settings = bench.settings
    scenario = load(ROOT / settings["scenario"], settings.get("steps"))
    options: dict[str, Any] = {"rebase": settings.get("rebase") or 0, "base": BASE}
    fmt = Format(bench.params.get("EXP_W", 8), bench.params.get("MAN_W", 23))
    await clock.hold_reset(dut)
    coprocessor = coprocessor_type(dut)
    await clock.release_reset(dut)

    hardware = hardware_type(board, coprocessor, fmt)
    recorder = hardware.recorder = Recorder(scenario, hardware.processor)
    chain = Chain(hardware.processor, scenario, **options)
    stopped = None
    steps: dict[str, Any] = {}
    with suppress(NoCompilerError):
        compiler()
        processor = NativeProcessor(scenario, hardware.processor, hardware_type, options)
        steps["integrate"] = processor.integrate
        hardware.is_native = scenario.steps >= native_runs.WORTH_BUILDING
    try:
        await _drive(simulate.run(chain, scenario, recorder, print_progress, **steps), hardware)
    except SingularError as error:
        stopped = recorder.where(error)
    except NonFiniteError as error:
        stopped = str(error)
    run = recorder.trajectory() if recorder.rows else None
    flags = hardware.processor.flags | hardware.model.flags
    Handover.of(
        coprocessor,
        steps=scenario.steps,
        trajectory=run and replace(run, flags=flags),
        stopped=stopped,
        evaluations=max(coprocessor.runs.values()),
        words_compared=board.transactions,
    ).write(folder_of(bench))

    flags = coprocessor.field("STATUS", "FLAGS", await coprocessor.read("STATUS"))
    board.compare("STATUS.FLAGS", flags, hardware.model.flags)
    if hardware.is_native and not native_runs.possible(scenario, BitExact(fmt), BASE):
        model, model_stopped = _native_model(scenario, hardware_type(board, None, fmt), options)
    else:
        model, model_stopped = all_model(scenario, BitExact(fmt), **options)
    assert stopped == model_stopped, f"hardware: {stopped}; all-model run: {model_stopped}"
    if model is not None:
        assert run is not None
        compare(board, run, model, fmt)
        board.compare("float flags of the run", hardware.processor.flags | flags, model.flags)


async def _drive(generator: Generator, hardware: Hardware) -> None:
    """Like serve, with the hardware answering."""
    reply = None
    while True:
        try:
            request = generator.send(reply)
        except StopIteration:
            return
        reply = await hardware.answer(request)


def _native_model(
    scenario: Scenario, model: Hardware, options: dict[str, Any]
) -> tuple[Trajectory | None, str | None]:
    """The run on the model alone, as native code but for the requests that choose pivots."""
    model.is_native = True
    recorder = model.recorder = Recorder(scenario, model.processor, math.inf)
    chain = Chain(model.processor, scenario, **options)
    processor = NativeProcessor(scenario, model.processor, type(model), options)
    steps = simulate.run(chain, scenario, recorder, integrate=processor.integrate)
    reply = None
    with suppress(StopIteration):
        while True:
            request = steps.send(reply)
            if isinstance(request, Sent):
                reply = model.model_answer(*request)
            elif isinstance(request, model.ANSWERS):
                words = model.model_answer(type(request), bits(model.words_to_send(request)))
                reply = model.reply(request, model.scalars(words))
            else:
                reply = answer(model.processor, request)
    flags = model.processor.flags | model.model.flags
    return replace(recorder.trajectory(), flags=flags), None


def all_model(
    scenario: Scenario, arithmetic: BitExact, **options: Any
) -> tuple[Trajectory | None, str | None]:
    """The run on the model alone: its trajectory, and the reason to stop."""
    try:
        # Hardware does not watch its joint matrices: the float64 twin of a finished run does.
        return native_runs.fastest(scenario, arithmetic, limit=math.inf, **options), None
    except (SingularError, NonFiniteError) as error:
        return error.trajectory, str(error)


def compare(
    board: Scoreboard, run: Trajectory, model: Trajectory, fmt: Format, rows: int | None = None
) -> None:
    """Every value of every kept step, exactly; of the first ``rows`` steps only if given.

    Coordinates, velocities and momenta are floats of ``fmt``, all else is computed in float64.
    """
    for name, column in run.columns().items():
        want = model.columns()[name][:rows]
        assert len(column) == len(want), f"{len(column)} rows, all-model run {len(want)}"
        bits = column.view(np.uint64), want.view(np.uint64)
        found = [
            here.start + np.flatnonzero(np.not_equal(*(x[here] for x in bits)))
            for here in blocks(len(column))
        ]
        differ = np.concatenate([*found, []]).astype(int)
        first = int(differ[0]) if len(differ) else 0
        own = fmt if re.fullmatch(r"(q|qd|p)\d+", name) else BINARY64
        board.transactions += len(column) - 1  # and one more by the comparison
        got, expected = (own.from_float(float(values[first])) for values in (column, want))
        context = f"row {first} of run.csv, the first of {len(differ)} rows"
        board.compare(name, got, expected, own, context=context)
