"""Functions of robots and ensembles of mechanisms on the step array: every word is compared.

Settings: ``jobs``. Each is of calls, with a ``robot`` (path), ``functions``, ``rows`` (calls of
each, on random states) or ``inputs`` (path of a table), and ``floating``; with ``chained`` they
are dFD alone, in segments that repeat over columns. Or it is an ensemble, with a
``scenario`` (path), its ``steps`` and ``save``, and how many ``systems``. ``stalls``: both streams
are held back at random in this part of the cycles. ``out``: folder for what the last job of calls
hands over. ``quick``: programs are scheduled at the first try.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pymodel.algorithms.rigid_body.functions import evaluate, suited
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.fp import NOT_FINITE, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.chains import Chain
from pymodel.compile.kernel import Kernel
from pymodel.compile.native import NoCompilerError
from pymodel.compile.registry import recorded as recorded_step
from pymodel.compile.robot_kernels import chained, cheapest, recorded
from pymodel.compile.streams import first_name
from pymodel.hardware import clock
from pymodel.hardware.bench import MAX_SEED, Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim.calls import Calls
from pymodel.hardware.cosim.co_simulation import DIRECT_STEPS
from pymodel.hardware.cosim.paces import Pace, write_paces
from pymodel.hardware.handover import print_progress
from pymodel.hardware.places import ROOT
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_array import Outcome, StepArray, machine_of
from pymodel.machine.isa import Machine
from pymodel.mechanism import robot_file
from pymodel.mechanism.coordinates import displaced
from pymodel.mechanism.robot import Robot
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.scenario import Scenario
from pymodel.mechanism.scenario_file import load
from pymodel.runs.array_runs import SHOWN, Array, Ensemble, prepare_array
from pymodel.runs.robot_calls import bits_of, random_states, read_table

CONFIG = "short"  # the configuration that calls of other robots derive from
TEST = "jobs"  # its cocotb test
STREAMS = {"in_depth": 2, "out_depth": 2}  # of a machine that is to be fitted
SPREAD = 0.2  # of the masses, lengths and states of an ensemble
FAULT = "m_axis_tuser fault"
#: A call's function, and what it is given.
Given = tuple[str, Any]


class WholeWords(StepArray):
    """A step array that is given whole words and whole runs only."""

    alone = in_blocks = True


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench("cosim_array", "step_array", configs, module=module)


def test_of(bench: Bench) -> Any:
    """The cocotb test of a bench."""

    @bench.test(timeout_us=20_000_000)
    async def jobs(dut: Any, board: Scoreboard) -> None:
        """Programs are loaded once for each job, then calls stream through."""
        settings = bench.settings
        out = Path(settings["out"]) if "out" in settings else None
        await clock.hold_reset(dut)
        array = WholeWords(dut, machine_of(bench.params))
        await clock.release_reset(dut)
        stalls = settings.get("stalls")
        if stalls:
            array.stall_streams(board.rng, stalls, stalls)
        paces = []
        for job in bench.items(board, settings["jobs"]):
            if "robot" in job:
                quick = bool(settings.get("quick"))
                outcome = await _calls(board, array, job, out, quick)
            else:
                outcome = await _ensemble(board, array, job)
            paces.append(Pace(outcome.cycles, outcome.word_cycles))
        if out:
            write_paces(out, paces)

    return jobs


def robot_of(job: Mapping[str, Any], function: str) -> Robot:
    """The robot of a job, as a function needs it."""
    asked = {name: job[name] for name in ("robot", *robot_file.ASKED) if name in job}
    return suited(_robot(json.dumps({"snap": SNAP} | asked)), function)


@cache
def _robot(job: str) -> Robot:
    asked = json.loads(job)
    return robot_file.load_as(ROOT / asked["robot"], asked)


def kernels(job: dict[str, Any]) -> dict[str, Kernel | Chain]:
    """Function -> kernel, or chain of kernels, of a job of calls."""
    robots = {name: robot_of(job, name) for name in job["functions"]}
    if job.get("chained"):
        return {name: chained(robot) for name, robot in robots.items()}
    return {name: recorded(robot, name) for name, robot in robots.items()}


def scenarios(job: dict[str, Any], rng: np.random.Generator) -> list[Scenario]:
    """The mechanisms of an ensemble: parameters, and where no loop forbids it states, at random."""
    first = replace(load(ROOT / job["scenario"], job["steps"]), save=job["save"])
    return [_varied(first, rng) for _ in range(job["systems"])]


def _varied(scenario: Scenario, rng: np.random.Generator) -> Scenario:
    bodies = []
    for body in scenario.bodies:
        mass, inertia = 1 + SPREAD * rng.uniform(-1, 1, 2)
        bodies.append(replace(body, mass=mass * body.mass, inertia=inertia * body.inertia))
    found = replace(scenario, bodies=tuple(bodies))
    if found.loops:
        return found
    apart = displaced(found, found.q0, SPREAD * rng.normal(size=found.nv))
    return found.with_state(apart, found.qd0)


async def _calls(
    board: Scoreboard, engine: StepArray, job: dict[str, Any], out: Path | None, quick: bool
) -> Outcome:
    """All functions of a robot, switched between calls."""
    machine, fmt = engine.machine, engine.machine.fmt
    functions = kernels(job)
    robots = {name: robot_of(job, name) for name in functions}
    array = prepare_array(
        machine,
        functions,
        {name: robot.name for name, robot in robots.items()},
        thorough=not quick,
    )
    batches = {}
    for function in functions:
        if "inputs" in job:
            table = read_table(job["inputs"])
        else:
            seed = int(board.rng.integers(MAX_SEED))
            table = random_states(robots[function], function, job["rows"], seed)
        names = array.functions[function].inputs
        batches[function] = bits_of(fmt, {name: table[name] for name in names})
    calls = [(function, inputs) for function, batch in batches.items() for inputs in batch]
    rows, outcome = await run(engine, array, calls)
    if out:
        calls_of(rows, outcome).write(out)
    account(board, array, calls, outcome)
    compare(board, machine, functions, robots, batches, rows, outcome)
    return outcome


def compare(
    board: Scoreboard,
    machine: Machine,
    functions: Mapping[str, Kernel | Chain],
    robots: Mapping[str, Robot],
    batches: Mapping[str, Sequence[Mapping[str, int]]],
    rows: Sequence[Sequence[Mapping[str, int]]],
    outcome: Outcome,
) -> None:
    """Compare calls of functions, one function after the other, with the text.

    Parameters
    ----------
    board
        That compares.
    machine
        That has run.
    functions, robots, batches
        Of each function what was scheduled, whose it is, and bits of the inputs of its calls.
    rows, outcome
        What came.
    """
    fmt, at = machine.fmt, 0
    for function, batch in batches.items():
        found = [only for (only,) in rows[at : at + len(batch)]]
        fault = [item.fault for item in outcome.given[at : at + len(batch)]]
        at += len(batch)

        def text(arithmetic: Any, given: Mapping[str, Any], function: str = function) -> Any:
            if isinstance(functions[function], Chain):
                (only,) = functions[function].evaluate(arithmetic, given)
                return only
            robot = robots[function]
            return evaluate(function, robot, arithmetic, given, cheapest(robot, function))

        numbers = _numbers(text, fmt, batch)
        for row, results in enumerate(found):
            where = _where(machine, row, f"{function} of {robots[function].name}, call {row + 1}")
            want = {name: numbers[name][row] for name in results}
            faulty = not np.isfinite([*want.values()]).all()
            if not fault[row]:  # otherwise what it computes exactly: an array knows no NaN's sign
                for name, bits in results.items():
                    board.compare(name, bits, fmt.from_float(want[name]), fmt, context=where)
            if fault[row] or row == 0:
                exact = BitExact(fmt)
                given = {name: exact.scalar(bits) for name, bits in batch[row].items()}
                for name, x in text(exact, given).items():
                    if name in results:
                        context = f"{where}, exactly"
                        board.compare(name, results[name], x.bits, fmt, context=context)
                faulty = bool(exact.flags & NOT_FINITE)
            board.compare(FAULT, int(fault[row]), int(faulty), context=where)


def calls_of(rows: Sequence[Sequence[Mapping[str, int]]], outcome: Outcome) -> Calls:
    """What calls of one row have given."""
    results: list[Mapping[str, int] | None] = [only for (only,) in rows]
    words = sum(len(only) for (only,) in rows)
    return Calls(results, words, outcome.cycles, outcome.flags)


def _numbers(
    text: Callable[..., Any], fmt: Format, batch: Sequence[Mapping[str, int]]
) -> dict[str, list[float]]:
    """Name -> one number a call, from the text on arrays."""
    arrays = FormatArrays(fmt)
    given = {
        name: arrays.array(np.array([fmt.to_float(inputs[name]) for inputs in batch]))
        for name in batch[0]
    }
    found = text(arrays, given)
    return {name: np.broadcast_to(x.values, len(batch)).tolist() for name, x in found.items()}


async def _ensemble(board: Scoreboard, engine: StepArray, job: dict[str, Any]) -> Outcome:
    """Steps of mechanisms with parameters and states of their own."""
    machine, fmt = engine.machine, engine.machine.fmt
    found = scenarios(job, board.rng)
    function = Ensemble.of(found, fmt)
    array = prepare_array(machine, {"step": function})
    calls = [("step", function.words(scenario, fmt)) for scenario in found]
    rows, outcome = await run(engine, array, calls)
    account(board, array, calls, outcome)
    board.compare(FAULT, sum(item.fault for item in outcome.given), 0)
    for row, want in enumerate(_rows(found, calls, job, fmt)):
        for system, got in enumerate(rows):
            where = _where(machine, system, f"mechanism {system + 1}, step {row * job['save']}")
            for name, bits in got[row].items():
                board.compare(name, bits, fmt.from_float(want[name][system]), fmt, context=where)
    board.compare("rows", len(rows[0]), job["steps"] // job["save"] + 1)
    return outcome


def _rows(
    found: Sequence[Scenario], calls: Sequence[Given], job: dict[str, Any], fmt: Format
) -> Iterator[dict[str, np.ndarray]]:
    """For each row: name -> one number a mechanism, from the recorded step.

    It computes from masses and lengths what the calls have from the host, too. The first rows are
    evaluated on arrays, the others come from native code.
    """
    steps, last = [recorded_step("step", scenario) for scenario in found], job["steps"]
    kernel = steps[0]
    parameters = {
        name: np.array([step.parameters[name] for step in steps]) for name in kernel.parameters
    }
    state = {
        name: np.array([fmt.to_float(words[first_name(name)]) for _, words in calls])
        for name in kernel.carried
    }
    rest = []
    with suppress(NoCompilerError):
        code = native.build(kernel, BitExact(fmt), own_parameters=True)
        _, trace = code.advance(state, last + 1, save=job["save"], parameters=parameters)
        trace = {name if name in kernel.outputs else SHOWN + name: x for name, x in trace.items()}
        rest = [
            {name: x[row] for name, x in trace.items()} for row in range(last // job["save"] + 1)
        ]
    kept = range(0, min(last, DIRECT_STEPS) + 1 if rest else last + 1, job["save"])
    yield from _evaluated(kernel, FormatArrays(fmt), state, parameters, kept)
    yield from rest[len(kept) :]


def _evaluated(
    kernel: Kernel,
    arrays: FormatArrays,
    state: dict[str, Any],
    parameters: dict[str, Any],
    kept: range,
) -> Iterator[dict[str, np.ndarray]]:
    """Rows of the kept steps, evaluated on arrays."""
    state = {name: arrays.array(x) for name, x in state.items()}
    parameters = {name: arrays.array(x) for name, x in parameters.items()}
    for step in range(kept.stop):
        after = kernel.evaluate(arrays, state, parameters)
        if step in kept:
            row = {SHOWN + name: x for name, x in state.items()}
            row |= {name: after[name] for name in kernel.outputs}
            systems = len(next(iter(state.values())).values)
            yield {name: np.broadcast_to(x.values, systems) for name, x in row.items()}
        state = {name: after[name] for name in kernel.carried}


async def run(
    engine: StepArray,
    array: Array,
    calls: Sequence[Given],
    watch: Callable[[int, int], None] = print_progress,
) -> tuple[list[list[dict[str, int]]], Outcome]:
    """Load an array, and have it do calls: of each its rows, and what the run has left.

    ``watch`` is told how many calls have come back, and of how many.
    """
    await engine.forget()
    await engine.load(array)
    words = [(array.functions[name].number, array.words_of(name, x)) for name, x in calls]
    outcome = await engine.run(words, watch=lambda done: watch(done, len(calls)))
    done = len(calls), outcome.cycles, outcome.word_cycles
    logging.getLogger("cocotb.step_array").info("%d calls in %d cycles, %d of them words", *done)
    return array.rows([name for name, _ in calls], outcome.given), outcome


def account(
    board: Scoreboard,
    array: Array,
    calls: Sequence[Given],
    outcome: Outcome,
) -> None:
    """Nothing was dropped, and words took their cycles."""
    board.compare("DROPPED", outcome.dropped, 0)
    board.compare("STATUS.MALFORMED", int(outcome.malformed), 0)
    want = array.word_cycles([name for name, _ in calls])
    board.compare("WORD_CYCLES", outcome.word_cycles, want)


def _where(machine: Machine, call: int, what: str) -> str:
    """The system that a call ran on, as far as its own function's calls tell."""
    datapath, context = divmod(call % machine.systems, machine.contexts)
    return f"{what}: datapath {datapath}, context {context}"


BENCH = bench([Config(CONFIG)], __name__)
jobs = test_of(BENCH)
