"""A robot under control on the step engine: every state and torque is that of the model.

Settings: ``robot`` (path), ``steps``, and ``out`` (folder for what the run hands over), if wanted.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock, step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim.loop_handover import LoopHandover
from pymodel.hardware.handover import print_progress
from pymodel.hardware.places import ROOT
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.runs.closed_loop import ClosedLoop, LoopRun, bent, prepare, simulate

CONFIG = "second"  # the configuration that runs of other robots derive from
TEST = "closed_loop"  # the cocotb test
MOON = 1.62  # m/s^2
FEW = 20  # steps


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench(
        "cosim_loop",
        "step_engine",
        configs,
        module=module,
        signals=step_watch.SIGNALS,
        modelled=step_watch.modelled,
    )


def tests_of(bench: Bench) -> tuple[Any, Any]:
    """The cocotb tests of a bench."""

    @bench.test(timeout_us=60_000_000)
    async def closed_loop(dut: Any, board: Scoreboard) -> None:
        """A motion from bent joints to the mirrored posture."""
        engine = await _started(bench, dut)
        loop = _loop(bench, bench.settings["steps"])
        run = prepare(engine.machine, loop)
        await engine.load_program(run.program.encoded())
        await _motion(engine, board, run, bench.settings.get("out"))

    @bench.test(timeout_us=1_000_000)
    async def other_parameters(dut: Any, board: Scoreboard) -> None:
        """Gravity, gains, target and step change between runs: data, no program is loaded."""
        engine = await _started(bench, dut)
        loop = _loop(bench, min(FEW, bench.settings["steps"]))
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

    return closed_loop, other_parameters


async def _started(bench: Bench, dut: Any) -> StepEngine:
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine_of(bench.params))
    await clock.release_reset(dut)
    return engine


def _loop(bench: Bench, steps: int) -> ClosedLoop:
    snap = bench.settings.get("snap", SNAP)
    gravity, mimic = bench.settings.get("gravity"), bench.settings.get("mimic", True)
    path = ROOT / bench.settings["robot"]
    return bent(robot_file.load(path, snap=snap, gravity=gravity, mimic=mimic), steps)


async def _motion(
    engine: StepEngine, board: Scoreboard, run: LoopRun, out: str | None = None
) -> None:
    """Load what a run starts with, run it, and compare every word."""
    loop, fmt = run.loop, engine.machine.fmt
    size = len(loop.columns)
    await engine.forget()
    await engine.write_registers(run.image)
    arguments: dict[str, Any] = {
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


BENCH = bench([Config(CONFIG)], __name__)
closed_loop, other_parameters = tests_of(BENCH)
