"""The step engine runs the programs of scenarios, Python takes the traces: whole runs."""

from dataclasses import replace

from pymodel.arith.scalars import BitExact
from pymodel.hardware import clock, cosim
from pymodel.hardware.handover import Handover, folder_of, print_progress
from pymodel.hardware.step_engine import StepEngine, machine_of
from pymodel.hardware.step_watch import seen_from_inside
from pymodel.hardware.waiting import HangError
from pymodel.runs import engine_runs
from pymodel.runs.outcome import Outcome
from tb.cosim_step.bench import BENCH, systems
from tb.cosim_step.variations import Variations


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """Whole runs; the trajectories are those of the model, bit for bit."""
    machine = machine_of(BENCH.params)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine)
    await clock.release_reset(dut)
    done = []
    for settings in BENCH.items(board, BENCH.settings["runs"]):
        await _one(board, engine, settings, done)


@BENCH.test(timeout_us=60_000_000)
async def variations(dut, board):
    """Scenarios one after the other, as a sweep has them: a program is loaded where it differs."""
    asked = Variations.asked(BENCH)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine_of(BENCH.params))
    await clock.release_reset(dut)
    loaded, wrong = None, []
    for scenario in asked.scenarios:
        run = engine_runs.prepare(engine.machine, [scenario], **asked.options)
        await engine.forget()
        if (words := run.program.encoded()) != loaded:
            await engine.load_program(words)
            loaded = words
        try:
            outcome, ((trajectory, stopped),) = await _compared(board, engine, run, asked.options)
            trajectory = trajectory and replace(trajectory, flags=outcome.flags)
            arithmetic = BitExact(engine.machine.fmt).name
            asked.answer(
                Outcome.of(scenario, trajectory, stopped, outcome.cycles, arithmetic=arithmetic)
            )
        except HangError:
            raise
        except AssertionError as error:
            wrong.append(error)
            asked.answer(Outcome.failure(error))
    if wrong:
        raise wrong[0]


async def _one(board, engine, settings, done):
    """One run; what it cost is added to ``done``."""
    scenarios = systems(settings)
    options = {
        "base": settings.get("base") or engine_runs.BASE,
        "rebase": settings.get("rebase") or 0,
    }
    run = engine_runs.prepare(engine.machine, scenarios, **options)
    await engine.forget()
    await engine.load_program(run.program.encoded())

    def hand_over(outcome, found):
        _hand_over(engine, scenarios, outcome, found[0], done)

    await _compared(board, engine, run, options, hand_over)


async def _compared(board, engine, run, options, before=lambda outcome, found: None):
    """Run what is loaded, and compare it with the model; ``before`` that, it is told what came."""
    arguments = {
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
            watch=lambda taken: print_progress(run.steps_traced(taken), run.scenarios[0].steps),
        )
        assert outcome.stopped or outcome.steps_done == run.steps, "the engine refused the run"
        outcome = await _completed(engine, run, outcome)
        found = run.trajectories(outcome.trace, outcome.steps_done if outcome.stopped else None)
        before(outcome, found)
        for scenario, (got, stopped) in zip(run.scenarios, found, strict=True):
            _check(board, engine.machine.fmt, scenario, outcome, got, stopped, options)
    return outcome, found


async def _completed(engine, run, outcome):
    """The outcome of a run; if what the next step begins with has stopped it, with that step."""
    if not outcome.stopped or not outcome.trace:  # no row is there yet that could lack a word
        return outcome
    results = await engine.read_registers(run.results)
    if run.may_lack(outcome.trace, results.values()) and not await engine.opens(run.program):
        rest, number = run.lacking(outcome.steps_done), outcome.steps_done + 1
        found = await engine.read_registers(rest)
        last = await engine.step(run.program, number, run.every)
        trace = [*outcome.trace, *(found[x] for x in rest)]
        return replace(outcome, trace=trace, steps_done=number, flags=last.flags)
    return outcome


def _hand_over(engine, scenarios, outcome, first, done):
    """Leave what a run was for the one who started the simulation."""
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
    Handover.of(
        engine,
        steps=scenarios[0].steps,
        trajectory=trajectory and replace(trajectory, flags=outcome.flags),
        stopped=stopped,
        evaluations=outcome.steps_done,
        words_compared=len(outcome.trace),
        runs=done,
    ).write(folder_of(BENCH))


def _check(board, fmt, scenario, outcome, got, stopped, options):
    """Compare one trajectory with that of the model."""
    arithmetic = BitExact(fmt, fold=True)
    model, model_stopped = cosim.all_model(scenario, arithmetic, **options)
    board.compare(f"{scenario.name}: whether it stops", bool(stopped), bool(model_stopped))
    if model is None:  # stopped in its first step
        assert got is None, f"{scenario.name}: {len(got)} rows, the model has none"
    else:
        # The engine's last row needs a whole step; the model keeps it before the step's end.
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


test_cosim_step = BENCH.pytest()
