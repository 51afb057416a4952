"""Whole runs in hardware: the step engine runs the program of a scenario, Python takes the trace.

Settings: ``runs``, each with a ``scenario`` (path), and as wanted ``steps``, ``step`` (s),
``save``, ``integrator`` (default: the scenario's), ``contexts`` (copies that run interleaved),
``base`` and ``rebase``; ``out`` (folder for run.csv and cosim.json of the last run).
"""

from dataclasses import replace

from pymodel.arith.fp import Format
from pymodel.arith.scalars import BitExact
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs
from tb.common import clock, cosim
from tb.common.bench import ROOT, Bench, Config
from tb.common.step_engine import StepEngine, machine_of, rtl_parameters

IN_HARDWARE = "the whole step"
CONFIG = "programs"  # the configuration that runs of other scenarios derive from


def _run(name, **settings):
    return {"scenario": f"scenarios/{name}.toml"} | settings


DEFAULT = Machine()
ROOMY = replace(DEFAULT, depth=512, program_depth=4096)
COMBINATIONAL = replace(
    ROOMY, adders=1, multipliers=3, add_stages=0, mul_stages=0, rec_stages=0, sincos_stages=0
)
VERILATOR, ICARUS = ("verilator",), ("icarus",)
COARSE = 1e-3  # s: ten times the step of most scenarios
SHIPPED = [  # the whole motion of what scenarios/ has, in 1000 steps; test_demo has the two demos
    _run("general_four_bar", step=COARSE, rebase=1),
    _run("five_bar", step=COARSE, rebase=7, base="blocks", save=5),
    _run("compound_pendulum", step=COARSE),
    _run("general_chain_2"),
    _run("chain_8", step=COARSE, save=10),
    _run("tree", step=COARSE, save=10),
    _run("coupled_loops", step=COARSE, save=10, rebase=5),
]
OTHER = [
    _run("general_four_bar", steps=200, integrator="rk4"),
    _run("general_chain_2", steps=300, integrator="semi-implicit"),
    _run("double_pendulum", steps=200, contexts=8),
    _run("four_bar", steps=100, contexts=3, rebase=2),
]
MIXED = [_run("general_chain_2", steps=200), _run("four_bar", steps=100)]
SHORT = [_run("double_pendulum", steps=4), _run("four_bar", steps=3, rebase=2)]
BENCH = Bench(
    __file__,
    toplevel="step_engine",
    configs=[
        Config(CONFIG, rtl_parameters(ROOMY), {"runs": SHIPPED + OTHER}, VERILATOR),
        Config("short", rtl_parameters(DEFAULT), {"runs": SHORT}, ICARUS),
        Config(
            "half", rtl_parameters(replace(ROOMY, fmt=Format(5, 10))), {"runs": MIXED}, VERILATOR
        ),
        Config("combinational", rtl_parameters(COMBINATIONAL), {"runs": MIXED}, VERILATOR),
    ],
)

#: Systems of one run start this far apart, rad: each has a trajectory of its own.
APART = 0.01


def systems(settings):
    """The scenarios of a run: copies of one, the first joint turned a little in each."""
    first = load(ROOT / settings["scenario"], settings.get("steps"))
    given = {key: settings[key] for key in ("step", "save", "integrator") if settings.get(key)}
    first = replace(first, **given)
    head, *rest = first.bodies
    return [
        replace(first, bodies=(replace(head, q=head.q + APART * context), *rest))
        for context in range(settings.get("contexts") or 1)
    ]


@BENCH.test(timeout_us=60_000_000)
async def co_simulation(dut, board):
    """Whole runs; the trajectories are those of the model, bit for bit."""
    machine = machine_of(BENCH.params)
    await clock.hold_reset(dut)
    engine = StepEngine(dut, machine)
    await clock.release_reset(dut)
    done = []
    for settings in BENCH.settings["runs"]:
        await _one(board, engine, settings, done)


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
    await engine.write_registers(run.image)
    outcome = await engine.run(
        run.program,
        run.steps,
        run.every,
        run.save,
        run.before.values(),
        run.after.values(),
        watch=lambda taken: cosim.progress(run.steps_traced(taken), scenarios[0].steps),
    )
    assert outcome.stopped or outcome.steps_done == run.steps, "the engine refused the run"
    found = run.trajectories(outcome.trace, outcome.steps_done if outcome.stopped else None)
    (first, stopped), *_ = found
    done.append(
        {
            "scenario": scenarios[0].name,
            "contexts": len(scenarios),
            "cycles": outcome.cycles,
            "steps": outcome.steps_done,
            "traced": len(outcome.trace),
        }
    )
    cosim.leave_behind(
        BENCH,
        scenarios[0],
        first,
        stopped,
        engine,
        flags=outcome.flags,
        evaluations=outcome.steps_done,
        compared=len(outcome.trace),
        runs=done,
    )

    for scenario, (got, stopped) in zip(scenarios, found, strict=True):
        arithmetic = BitExact(engine.machine.fmt, fold=True)
        model, model_stopped = cosim.all_model(scenario, arithmetic, **options)
        assert bool(stopped) == bool(model_stopped), f"hardware: {stopped}; model: {model_stopped}"
        # The engine's last row needs a whole step; the model keeps it before the step's end.
        missing = len(model) - len(got)
        assert missing in ((0, 1) if stopped else (0,)), f"{scenario.name}: {missing} rows missing"
        cosim.compare(board, got, model, engine.machine.fmt, rows=len(got))
        board.compare(
            f"{scenario.name}: flags of the model that are not the engine's",
            arithmetic.flags & ~outcome.flags,
            0,
        )


test_cosim_step = BENCH.pytest()
