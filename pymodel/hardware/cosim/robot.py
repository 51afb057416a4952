"""Rigid-body functions of robots on the step engine: every word is that of the text itself.

Settings: ``calls``, each with a ``robot`` (path), a ``function`` and ``rows`` (how many calls, on
random states), and as wanted ``method`` and the options of
:func:`pymodel.mechanism.robot_file.load_as`; ``inputs`` (path of a table) instead of ``rows``; and
``out`` (folder for what the last function hands over).

The text is evaluated twice, without a kernel: for all calls at once in float64, each operation
rounded to the format, and for the first call, as for those that are not finite, in the integers of
the specification.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import evaluate, suited
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.fp import NOT_FINITE, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.robot_kernels import cheapest, recorded
from pymodel.hardware import clock
from pymodel.hardware.bench import MAX_SEED, Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim.calls import Calls
from pymodel.hardware.handover import print_progress
from pymodel.hardware.places import ROOT
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.runs.engine_calls import Call, batched, prepare_call
from pymodel.runs.robot_calls import bits_of, random_states, read_table

CONFIG = "narrow"  # the configuration that calls of other robots derive from
TEST = "calls"  # its cocotb test


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench("cosim_robot", "step_engine", configs, module=module)


def test_of(bench: Bench) -> Any:
    """The cocotb test of a bench."""

    @bench.test(timeout_us=20_000_000)
    async def calls(dut: Any, board: Scoreboard) -> None:
        """A program is loaded once, inputs and outputs pass for every call."""
        machine = machine_of(bench.params)
        await clock.hold_reset(dut)
        engine = StepEngine(dut, machine)
        await clock.release_reset(dut)
        for settings in bench.items(board, bench.settings["calls"]):
            await _function(board, engine, settings, bench.settings.get("out"))

    return calls


async def _function(
    board: Scoreboard, engine: StepEngine, settings: dict[str, Any], out: str | None
) -> None:
    function, fmt = settings["function"], engine.machine.fmt
    read = robot_file.load_as(ROOT / settings["robot"], {"snap": SNAP} | settings)
    robot = suited(read, function)
    method = settings.get("method") or cheapest(robot, function)
    call = prepare_call(engine.machine, recorded(robot, function, method))
    if "inputs" in settings:
        table = read_table(settings["inputs"])
    else:
        seed = int(board.rng.integers(MAX_SEED))
        table = random_states(robot, function, settings["rows"], seed)
    batch = bits_of(fmt, {name: table[name] for name in call.kernel.inputs})
    found = await in_hardware(engine, call, batch)
    if out:
        found.write(Path(out))
    compare(board, fmt, robot, function, batch, found, method)


def compare(
    board: Scoreboard,
    fmt: Format,
    robot: Robot,
    function: str,
    batch: Sequence[Mapping[str, int]],
    found: Calls,
    method: str,
) -> None:
    """Compare calls in hardware with the text.

    Raises
    ------
    AssertionError
        If a word differs.
    """
    numbers = _numbers(function, robot, fmt, batch, method)
    for row, (inputs, results) in enumerate(zip(batch, found.results, strict=True)):
        context = f"{function} of {robot.name}, call {row + 1}"
        if row == 0 or results is None:
            arithmetic = BitExact(fmt)
            given = {name: arithmetic.scalar(bits) for name, bits in inputs.items()}
            want = evaluate(function, robot, arithmetic, given, method)
            stopped = bool(arithmetic.flags & NOT_FINITE)
            board.compare("stopped", int(results is None), int(stopped), context=context)
        if results is None:
            continue
        for name, bits in results.items():
            board.compare(name, bits, fmt.from_float(numbers[name][row]), fmt, context=context)
            if row == 0:
                board.compare(name, bits, want[name].bits, fmt, context=context)


def _numbers(
    function: str, robot: Robot, fmt: Format, batch: Sequence[Mapping[str, int]], method: str
) -> dict[str, list[float]]:
    """Name -> one number a call, from the text on arrays."""
    arrays = FormatArrays(fmt)
    given = {
        name: arrays.array(np.array([fmt.to_float(inputs[name]) for inputs in batch]))
        for name in batch[0]
    }
    found = evaluate(function, robot, arrays, given, method)
    return {name: np.broadcast_to(x.values, len(batch)).tolist() for name, x in found.items()}


async def in_hardware(
    engine: StepEngine,
    call: Call,
    batch: Sequence[Mapping[str, int]],
    tell: Callable[[int, int], None] = print_progress,
) -> Calls:
    """Load a program, and call it with each row of inputs.

    Parameters
    ----------
    engine
        Simulated or not.
    call, batch
        The program; name -> bits of each call's inputs.
    tell
        Is told how many calls are done, and all.
    """
    await engine.forget()
    await engine.load_program(call.program.encoded())
    await engine.write_registers(call.image)
    results: list[Mapping[str, int] | None] = []
    flags = cycles = 0
    for together in batched(batch, engine.machine.contexts):
        tell(len(results), len(batch))
        await engine.forget()
        await engine.write_registers(call.registers(*together))
        outcome = await engine.run(call.program, steps=1, save=1, after=call.traced)
        if outcome.stopped:
            results += [None] * len(together)
        else:
            results += call.results_of_contexts(outcome.trace)[: len(together)]
        flags, cycles = flags | outcome.flags, outcome.cycles
    words = sum(len(row) for row in results if row)
    return Calls(results, words, cycles, flags)


BENCH = bench([Config(CONFIG)], __name__)
calls = test_of(BENCH)
