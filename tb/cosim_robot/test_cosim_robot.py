"""Functions of robots in hardware: every word is that of the text, evaluated without a kernel."""

from pathlib import Path

from pymodel.algorithms.rigid_body.functions import evaluate
from pymodel.arith.fp import DIV_BY_ZERO, INVALID, OVERFLOW
from pymodel.arith.scalars import BitExact
from pymodel.compile.robot_kernels import cheapest, recorded
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.runs.engine_runs import prepare_call
from pymodel.runs.robot_calls import bits_of, random_states, read_table
from tb.common import clock
from tb.common.bench import MAX_SEED
from tb.common.handover import print_progress
from tb.common.places import ROOT
from tb.common.step_engine import StepEngine, machine_of
from tb.cosim_robot.bench import BENCH
from tb.cosim_robot.handover import Calls

NOT_FINITE = INVALID | DIV_BY_ZERO | OVERFLOW  # flags of what the engine stops at


@BENCH.test(timeout_us=20_000_000)
async def calls(dut, board):
    """A program is loaded once, inputs and outputs pass for every call."""
    machine = machine_of(BENCH.params)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine)
    await clock.release_reset(dut)
    for settings in BENCH.settings["calls"]:
        await _function(board, engine, settings)


async def _function(board, engine, settings):
    function, fmt = settings["function"], engine.machine.fmt
    robot = reduced(urdf.load(ROOT / settings["robot"], settings.get("floating", False)))
    method = settings.get("method") or cheapest(robot, function)
    call = prepare_call(engine.machine, recorded(robot, function, method))
    if "inputs" in settings:
        table = read_table(settings["inputs"])
    else:
        seed = int(board.rng.integers(MAX_SEED))
        table = random_states(robot, function, settings["rows"], seed)
    batch = bits_of(fmt, {name: table[name] for name in call.kernel.inputs})
    found = await _in_hardware(engine, call, batch)
    if "out" in BENCH.settings:
        found.write(Path(BENCH.settings["out"]))
    for row, (inputs, results) in enumerate(zip(batch, found.results, strict=True)):
        arithmetic = BitExact(fmt)
        given = {name: arithmetic.scalar(bits) for name, bits in inputs.items()}
        want = evaluate(function, robot, arithmetic, given, method)
        context = f"{function} of {robot.name}, call {row + 1}"
        if results is None:
            board.compare("stopped", 1, bool(arithmetic.flags & NOT_FINITE), context=context)
            continue
        for name, bits in results.items():
            board.compare(name, bits, want[name].bits, fmt, context=context)


async def _in_hardware(engine, call, batch):
    await engine.forget()
    await engine.load_program(call.program.encoded())
    await engine.write_registers(call.image)
    results, flags, outcome = [], 0, None
    for row, inputs in enumerate(batch):
        print_progress(row, len(batch))
        await engine.forget()
        await engine.write_registers(call.registers(inputs))
        outcome = await engine.run(call.program, steps=1, save=1, after=call.outputs.values())
        results.append(None if outcome.stopped else call.results(outcome.trace))
        flags |= outcome.flags
    words = sum(len(row) for row in results if row)
    return Calls(results, words, outcome.cycles, flags)


test_cosim_robot = BENCH.pytest()
