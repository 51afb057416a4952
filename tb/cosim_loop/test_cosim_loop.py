"""Plant and controller on the step engine: every state and torque is that of the model."""

from dataclasses import replace
from pathlib import Path

from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock
from pymodel.hardware.handover import print_progress
from pymodel.hardware.places import ROOT
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.mechanism import urdf
from pymodel.runs.closed_loop import bent, prepare, simulate
from tb.cosim_loop.bench import BENCH
from tb.cosim_loop.handover import LoopHandover

MOON = 1.62  # m/s^2
FEW = 20  # steps


@BENCH.test(timeout_us=60_000_000)
async def closed_loop(dut, board):
    """A motion from bent joints to the mirrored posture."""
    engine = await _started(dut)
    loop = _loop(BENCH.settings["steps"])
    run = prepare(engine.machine, loop)
    await engine.load_program(run.program.encoded())
    await _motion(engine, board, run, BENCH.settings.get("out"))


@BENCH.test(timeout_us=1_000_000)
async def other_parameters(dut, board):
    """Gravity, gains, target and step change between runs: data, no program is loaded."""
    engine = await _started(dut)
    loop = _loop(min(FEW, BENCH.settings["steps"]))
    moon = replace(
        loop,
        robot=replace(loop.robot, gravity=MOON),
        target=loop.target / 3,
        kp=loop.kp / 2,
        kd=loop.kd / 4,
        step=loop.step / 2,
    )
    first, *others = (prepare(engine.machine, it) for it in (loop, moon, loop))
    await engine.load_program(first.program.encoded())
    for run in (first, *others):
        assert run.program == first.program, "other parameters need another program"
        await _motion(engine, board, run)


async def _started(dut):
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine_of(BENCH.params))
    await clock.release_reset(dut)
    return engine


def _loop(steps):
    return bent(urdf.load(ROOT / BENCH.settings["robot"]), steps)


async def _motion(engine, board, run, out=None):
    """Load what a run starts with, run it, and compare every word."""
    loop, fmt = run.loop, engine.machine.fmt
    size = len(loop.columns)
    await engine.forget()
    await engine.write_registers(run.image)
    arguments = {
        "program": run.program,
        "steps": run.steps,
        "every": 0,
        "save": 1,
        "before": run.before.values(),
        "after": run.after.values(),
    }
    async with seen_from_inside(engine, board, run.image, **arguments):
        outcome = await engine.run(
            **arguments, watch=lambda taken: print_progress(taken // size, run.steps)
        )
        rows = run.rows(outcome.trace)
        if out:
            LoopHandover(rows, outcome.cycles, outcome.steps_done, outcome.flags).write(Path(out))
        assert len(rows) == run.steps, f"{len(rows)} steps of {run.steps}"
        arithmetic = BitExact(fmt)
        for step, want in enumerate(simulate(loop, arithmetic)):
            for name, got, x in zip(loop.columns, rows[step], want, strict=True):
                board.compare(name, got, x.bits, fmt, context=f"step {step}")
        board.compare(
            "flags of the model that are not the engine's", arithmetic.flags & ~outcome.flags, 0
        )


test_cosim_loop = BENCH.pytest()
