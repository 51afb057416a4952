"""Plant and controller on the step engine: every state and torque is that of the model."""

from pathlib import Path

from pymodel.arith.scalars import BitExact
from pymodel.mechanism import urdf
from pymodel.runs.closed_loop import bent, prepare, simulate
from tb.common import clock
from tb.common.handover import print_progress
from tb.common.places import ROOT
from tb.common.step_engine import StepEngine, machine_of
from tb.common.step_watch import seen_from_inside
from tb.cosim_loop.bench import BENCH
from tb.cosim_loop.handover import LoopHandover


@BENCH.test(timeout_us=60_000_000)
async def closed_loop(dut, board):
    """A motion from bent joints to the mirrored posture."""
    machine, settings = machine_of(BENCH.params), BENCH.settings
    loop = bent(urdf.load(ROOT / settings["robot"]), settings["steps"])
    run = prepare(machine, loop)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine)
    await clock.release_reset(dut)
    await engine.load_program(run.program.encoded())
    await engine.write_registers(run.image)
    arguments = {
        "program": run.program,
        "steps": run.steps,
        "every": 0,
        "save": 1,
        "before": run.before.values(),
        "after": run.after.values(),
    }
    size = len(loop.columns)
    async with seen_from_inside(engine, board, run.image, **arguments):
        outcome = await engine.run(
            **arguments, watch=lambda taken: print_progress(taken // size, run.steps)
        )
        rows = run.rows(outcome.trace)
        if "out" in settings:
            found = LoopHandover(rows, outcome.cycles, outcome.steps_done, outcome.flags)
            found.write(Path(settings["out"]))
        assert len(rows) == run.steps, f"{len(rows)} steps of {run.steps}"
        arithmetic = BitExact(machine.fmt)
        for step, want in enumerate(simulate(loop, arithmetic)):
            for name, got, x in zip(loop.columns, rows[step], want, strict=True):
                board.compare(name, got, x.bits, machine.fmt, context=f"step {step}")
        board.compare(
            "flags of the model that are not the engine's", arithmetic.flags & ~outcome.flags, 0
        )


test_cosim_loop = BENCH.pytest()
