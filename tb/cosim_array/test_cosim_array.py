"""Whole jobs through the array's streams: every word is that of the direct evaluation."""

from contextlib import suppress
from pathlib import Path

import numpy as np

from pymodel.algorithms.rigid_body.functions import evaluate
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.fp import NOT_FINITE
from pymodel.arith.scalars import BitExact
from pymodel.compile import native
from pymodel.compile.chains import Chain
from pymodel.compile.native import NoCompilerError
from pymodel.compile.registry import recorded
from pymodel.compile.robot_kernels import cheapest
from pymodel.compile.streams import first_name
from pymodel.hardware import clock
from pymodel.hardware.bench import MAX_SEED
from pymodel.hardware.cosim import DIRECT_STEPS
from pymodel.hardware.handover import print_progress
from pymodel.hardware.step_array import StepArray, machine_of
from pymodel.runs.array_runs import SHOWN, Ensemble, prepare_array
from pymodel.runs.robot_calls import bits_of, random_states, read_table
from tb.cosim_array.bench import BENCH, kernels, robot_of, scenarios
from tb.cosim_array.handover import Pace, write_paces
from tb.cosim_robot.handover import Calls

StepArray.alone = StepArray.in_blocks = True  # whole words and whole runs only

FAULT = "m_axis_tuser fault"


@BENCH.test(timeout_us=20_000_000)
async def jobs(dut, board):
    """Programs are loaded once for each job, then calls stream through."""
    machine = machine_of(BENCH.params)
    await clock.hold_reset(dut)
    array = StepArray(dut, machine)
    await clock.release_reset(dut)
    stalls = BENCH.settings.get("stalls")
    if stalls:
        array.stall_streams(board.rng, stalls, stalls)
    paces = []
    for job in BENCH.items(board, BENCH.settings["jobs"]):
        outcome = await (_calls if "robot" in job else _ensemble)(board, array, job)
        paces.append(Pace(outcome.cycles, outcome.word_cycles))
    if "out" in BENCH.settings:
        write_paces(Path(BENCH.settings["out"]), paces)


async def _calls(board, engine, job):
    """All functions of a robot, switched between calls."""
    machine, fmt = engine.machine, engine.machine.fmt
    robot, functions = robot_of(job["robot"], job["floating"]), kernels(job)
    array = prepare_array(
        machine,
        functions,
        dict.fromkeys(functions, robot.name),
        thorough=not BENCH.settings.get("quick"),
    )
    batches = {}
    for function in functions:
        if "inputs" in job:
            table = read_table(job["inputs"])
        else:
            seed = int(board.rng.integers(MAX_SEED))
            table = random_states(robot, function, job["rows"], seed)
        names = array.functions[function].inputs
        batches[function] = bits_of(fmt, {name: table[name] for name in names})
    calls = [(function, inputs) for function, batch in batches.items() for inputs in batch]
    rows, outcome = await _run(engine, array, calls)
    if "out" in BENCH.settings:
        _hand_over(rows, outcome)
    _account(board, engine, array, calls, outcome)
    at = 0
    for function, batch in batches.items():
        found = [only for (only,) in rows[at : at + len(batch)]]
        fault = [item.fault for item in outcome.given[at : at + len(batch)]]
        at += len(batch)

        def text(arithmetic, given, function=function):
            if isinstance(functions[function], Chain):
                (only,) = functions[function].evaluate(arithmetic, given)
                return only
            return evaluate(function, robot, arithmetic, given, cheapest(robot, function))

        numbers = _numbers(text, fmt, batch)
        for row, results in enumerate(found):
            where = _where(machine, row, f"{function} of {robot.name}, call {row + 1}")
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
    return outcome


def _hand_over(rows, outcome):
    results = [only for (only,) in rows]
    found = Calls(results, sum(map(len, results)), outcome.cycles, outcome.flags)
    found.write(Path(BENCH.settings["out"]))


def _numbers(text, fmt, batch):
    """Name -> one number a call, from the text on arrays."""
    arrays = FormatArrays(fmt)
    given = {
        name: arrays.array(np.array([fmt.to_float(inputs[name]) for inputs in batch]))
        for name in batch[0]
    }
    found = text(arrays, given)
    return {name: np.broadcast_to(x.values, len(batch)).tolist() for name, x in found.items()}


async def _ensemble(board, engine, job):
    """Steps of mechanisms with parameters and states of their own."""
    machine, fmt = engine.machine, engine.machine.fmt
    found = scenarios(job, board.rng)
    function = Ensemble.of(found, fmt)
    array = prepare_array(machine, {"step": function})
    calls = [("step", function.words(scenario, fmt)) for scenario in found]
    rows, outcome = await _run(engine, array, calls)
    _account(board, engine, array, calls, outcome)
    board.compare(FAULT, sum(item.fault for item in outcome.given), 0)
    for row, want in enumerate(_rows(found, calls, job, fmt)):
        for system, got in enumerate(rows):
            where = _where(machine, system, f"mechanism {system + 1}, step {row * job['save']}")
            for name, bits in got[row].items():
                board.compare(name, bits, fmt.from_float(want[name][system]), fmt, context=where)
    board.compare("rows", len(rows[0]), job["steps"] // job["save"] + 1)
    return outcome


def _rows(found, calls, job, fmt):
    """For each row: name -> one number a mechanism, from the recorded step.

    It computes from masses and lengths what the calls have from the host, too. The first rows are
    evaluated on arrays, the others come from native code.
    """
    steps, last = [recorded("step", scenario) for scenario in found], job["steps"]
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


def _evaluated(kernel, arrays, state, parameters, kept):
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


async def _run(engine, array, calls):
    await engine.forget()
    await engine.load(array)
    words = [(array.functions[name].number, array.words_of(name, x)) for name, x in calls]
    outcome = await engine.run(words, watch=lambda done: print_progress(done, len(calls)))
    return array.rows([name for name, _ in calls], outcome.given), outcome


def _account(board, engine, array, calls, outcome):
    """Nothing was dropped, and words took their cycles."""
    board.compare("DROPPED", outcome.dropped, 0)
    board.compare("STATUS.MALFORMED", int(outcome.malformed), 0)
    want = array.word_cycles([name for name, _ in calls])
    board.compare("WORD_CYCLES", outcome.word_cycles, want)
    engine.dut._log.info(
        "%d calls in %d cycles, %d of them words", len(calls), outcome.cycles, outcome.word_cycles
    )


def _where(machine, call, what):
    """The system that a call ran on, as far as its own function's calls tell."""
    datapath, context = divmod(call % machine.systems, machine.contexts)
    return f"{what}: datapath {datapath}, context {context}"


test_cosim_array = BENCH.pytest()
