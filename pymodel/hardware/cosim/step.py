"""Whole runs on the step engine: it runs the programs of scenarios, Python takes the traces.

Settings: ``runs``, each with a ``scenario`` (path), and as wanted ``steps``, ``step`` (s),
``save``, ``integrator`` (default: the scenario's), ``contexts`` (copies that run interleaved),
``base``, ``rebase`` and ``project``; ``out`` (folder for what the last run hands over);
``variations`` (folder of :class:`pymodel.hardware.cosim.variations.Variations`).
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from pymodel.algorithms.requests import BASE
from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock, step_watch
from pymodel.hardware.bench import Bench
from pymodel.hardware.configs import Config
from pymodel.hardware.cosim import co_simulation as cosim
from pymodel.hardware.cosim.variations import Variations, systems
from pymodel.hardware.handover import Handover, folder_of, print_progress
from pymodel.hardware.scoreboard import Scoreboard
from pymodel.hardware.step_engine import Outcome, StepEngine, machine_of
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.hardware.waiting import HangError
from pymodel.mechanism.scenario import Scenario
from pymodel.runs import columns, engine_runs
from pymodel.runs import outcome as outcomes
from pymodel.runs.trajectory import Trajectory

IN_HARDWARE = "the whole step"
CONFIG = "programs"  # the configuration that runs of other scenarios derive from
#: A trajectory, and why it ended early.
Found = tuple[Trajectory | None, str | None]


def bench(configs: Sequence[Config], module: str = "") -> Bench:
    """The bench of some configurations, whose tests are in a module: in tb/ unless given."""
    return Bench(
        "cosim_step",
        "step_engine",
        configs,
        module=module,
        signals=step_watch.SIGNALS,
        modelled=step_watch.modelled,
    )


def tests_of(bench: Bench) -> tuple[Any, Any]:
    """The cocotb tests of a bench."""

    @bench.test(timeout_us=60_000_000)
    async def co_simulation(dut: Any, board: Scoreboard) -> None:
        """Whole runs; the trajectories are those of the model, bit for bit."""
        engine = await _started(bench, dut)
        done: list[dict[str, Any]] = []
        for settings in bench.items(board, bench.settings["runs"]):
            await _one(bench, board, engine, settings, done)

    @bench.test(timeout_us=60_000_000)
    async def variations(dut: Any, board: Scoreboard) -> None:
        """Scenarios one after the other, as a sweep has them: a program is loaded if it differs."""
        await _variations(Variations.asked(bench), await _started(bench, dut), board)

    return co_simulation, variations


async def _started(bench: Bench, dut: Any) -> StepEngine:
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine_of(bench.params))
    await clock.release_reset(dut)
    return engine


async def _variations(asked: Variations, engine: StepEngine, board: Scoreboard) -> None:
    loaded, wrong = None, []
    for scenario in asked.scenarios:
        run = engine_runs.prepare(engine.machine, [scenario], **asked.options)
        await engine.forget()
        if (words := run.program.encoded()) != loaded:
            await engine.load_program(words)
            loaded = words
        try:
            outcome, ((trajectory, stopped),) = await compared(board, engine, run, asked.options)
            trajectory = trajectory and replace(trajectory, flags=outcome.flags)
            arithmetic = BitExact(engine.machine.fmt).name
            found = (scenario, trajectory, stopped, outcome.cycles)
            asked.answer(outcomes.Outcome.of(*found, arithmetic=arithmetic))
        except HangError:
            raise
        except AssertionError as error:
            wrong.append(error)
            asked.answer(outcomes.Outcome.failure(error))
    if wrong:
        raise wrong[0]


async def _one(
    bench: Bench,
    board: Scoreboard,
    engine: StepEngine,
    settings: dict[str, Any],
    done: list[dict[str, Any]],
) -> None:
    """One run; what it cost is added to ``done``."""
    scenarios = systems(settings)
    options: dict[str, Any] = {
        "base": settings.get("base") or BASE,
        "rebase": settings.get("rebase") or 0,
        "project": settings.get("project") or 0,
    }
    run = engine_runs.prepare(engine.machine, scenarios, **options)
    await engine.forget()
    await engine.load_program(run.program.encoded())

    def hand_over(outcome: Outcome, found: list[Found]) -> None:
        handover = _handover(engine, scenarios, outcome, found[0], done)
        handover.write(folder)

    folder = folder_of(bench)
    folder.mkdir(parents=True, exist_ok=True)
    with columns.on_disk(folder):
        await compared(board, engine, run, options, hand_over)


async def compared(
    board: Scoreboard,
    engine: StepEngine,
    run: engine_runs.Run,
    options: dict[str, Any],
    before: Callable[[Outcome, list[Found]], None] = lambda outcome, found: None,
    tell: Callable[[int, int], None] = print_progress,
) -> tuple[Outcome, list[Found]]:
    """Run what is loaded, and compare it with the model.

    Parameters
    ----------
    board, engine
        The scoreboard and the engine, simulated or not.
    run, options
        What was prepared, and with which options.
    before
        Is told what came, before it is compared.
    tell
        Is told steps done and all steps, now and then.

    Raises
    ------
    AssertionError
        If anything differs.
    """
    arguments: dict[str, Any] = {
        "program": run.program,
        "steps": run.steps,
        "every": run.every,
        "save": run.save,
        "before": run.before.values(),
        "after": run.after.values(),
    }
    await engine.write_registers(run.image)
    async with seen_from_inside(engine, board, run.image, **arguments):
        outcome = await engine.run(
            **arguments,
            watch=lambda taken: tell(run.steps_traced(taken), run.scenarios[0].steps),
            trace=array("Q"),  # of a long run: it takes less memory than a list
        )
        assert outcome.stopped or outcome.steps_done == run.steps, "the engine refused the run"
        outcome = await _completed(engine, run, outcome)
        found = run.trajectories(outcome.trace, outcome.steps_done if outcome.stopped else None)
        before(outcome, found)
        for scenario, (got, stopped) in zip(run.scenarios, found, strict=True):
            _check(board, engine.machine.fmt, scenario, outcome, got, stopped, options)
    return outcome, found


async def _completed(engine: StepEngine, run: engine_runs.Run, outcome: Outcome) -> Outcome:
    """The outcome of a run; if what the next step begins with has stopped it, with that step."""
    if not outcome.stopped or not outcome.trace:  # no row is there yet that could lack a word
        return outcome
    results = await engine.read_registers(run.results)
    if run.may_lack(outcome.trace, results.values()) and not await engine.opens(run.program):
        rest, number = run.lacking(outcome.steps_done), outcome.steps_done + 1
        found = await engine.read_registers(rest)
        last = await engine.step(run.program, number, run.every)
        outcome.trace.extend(found[x] for x in rest)
        return replace(outcome, steps_done=number, flags=last.flags)
    return outcome


def _handover(
    engine: StepEngine,
    scenarios: Sequence[Scenario],
    outcome: Outcome,
    first: Found,
    done: list[dict[str, Any]],
) -> Handover:
    """What a run was, for the one who started the simulation; its cost is added to ``done``."""
    trajectory, stopped = first
    done.append(
        {
            "scenario": scenarios[0].name,
            "contexts": len(scenarios),
            "cycles": outcome.cycles,
            "steps": outcome.steps_done,
            "traced": len(outcome.trace),
        }
    )
    return Handover.of(
        engine,
        steps=scenarios[0].steps,
        trajectory=trajectory and replace(trajectory, flags=outcome.flags),
        stopped=stopped,
        evaluations=outcome.steps_done,
        words_compared=len(outcome.trace),
        runs=done,
    )


def _check(
    board: Scoreboard,
    fmt: Format,
    scenario: Scenario,
    outcome: Outcome,
    got: Trajectory | None,
    stopped: str | None,
    options: dict[str, Any],
) -> None:
    """Compare one trajectory with that of the model."""
    arithmetic = BitExact(fmt, fold=True)
    model, model_stopped = cosim.all_model(scenario, arithmetic, **options)
    board.compare(f"{scenario.name}: whether it stops", bool(stopped), bool(model_stopped))
    if model is None:  # stopped in its first step
        assert got is None, f"{scenario.name}: {len(got)} rows, the model has none"
    else:
        # The engine's last row needs a whole step; the model keeps it before the step's end.
        assert got is not None, f"{scenario.name}: no rows"
        missing = len(model) - len(got)
        allowed = (0, 1) if stopped else (0,)
        assert missing in allowed, f"{scenario.name}: {missing} rows missing"
        cosim.compare(board, got, model, fmt, rows=len(got))
    if stopped and not outcome.trace:  # in the prologue: the model's flags are of a whole step
        return
    board.compare(
        f"{scenario.name}: flags of the model that are not the engine's",
        arithmetic.flags & ~outcome.flags,
        0,
    )


BENCH = bench([Config(CONFIG, long=True)], __name__)
co_simulation, variations = tests_of(BENCH)
