"""Functions other than time steps: every output of every call is that of the function itself."""

from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.runs.engine_calls import prepare_call
from tb.cosim_call.bench import BENCH, kernel_of


@BENCH.test(timeout_us=5_000_000)
async def calls(dut, board):
    """Program and parameters are loaded once, inputs and outputs pass for every call."""
    machine = machine_of(BENCH.params)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine)
    await clock.release_reset(dut)
    for settings in BENCH.items(board, BENCH.settings["calls"]):
        kernel = kernel_of(settings)
        call = prepare_call(machine, kernel)
        await engine.forget()
        await engine.load_program(call.program.encoded())
        await engine.write_registers(call.image)
        for index in range(settings["batch"]):
            await _one(board, engine, kernel, call, f"{settings['function']}, call {index}")


async def _one(board, engine, kernel, call, context):
    fmt = engine.machine.fmt
    inputs = {name: fmt.from_float(float(board.rng.normal())) for name in kernel.inputs}
    registers = call.registers(inputs)
    await engine.write_registers(registers)
    direct = BitExact(fmt, fold=True)
    given = {name: direct.scalar(bits) for name, bits in inputs.items()}
    want = {name: x.bits for name, x in kernel.evaluate(direct, given).items()}
    arguments = {"program": call.program, "steps": 1, "save": 1, "after": call.outputs.values()}
    async with seen_from_inside(engine, board, call.image | registers, **arguments):
        outcome = await engine.run(**arguments)
        assert not outcome.stopped, f"{context}: a result is not finite: {want}"
        for name, bits in call.results(outcome.trace).items():
            board.compare(name, bits, want[name], fmt, context=context)


test_cosim_call = BENCH.pytest()
