"""From the text to programs of the step engine: traced, scheduled, run cycle by cycle."""

import dataclasses

import numpy as np
import pytest

from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile import kernel
from pymodel.compile.graph import Graph, Ref
from pymodel.compile.schedule import bounds, schedule
from pymodel.machine.isa import (
    OFFERED,
    Location,
    Machine,
    Operand,
    Port,
    Program,
    ProgramError,
    Word,
)
from pymodel.machine.model import START_CYCLES, Engine
from pymodel.mechanism.scenario import ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.runs.engine_runs import fitting, prepare
from pymodel.runs.simulate import simulate
from pymodel.tests.chains import random_chain
from pymodel.tests.loops import random_loop
from pymodel.tests.places import SCENARIOS

ROOMY = Machine(depth=1024, program_depth=1 << 16)
STEPS = 8


def scenario(name, steps=STEPS, **changes):
    return dataclasses.replace(load(SCENARIOS / f"{name}.toml", steps), **changes)


def run(machine, scenarios, **options):
    """A run on the engine's model: (the prepared run, the engine, what it found)."""
    prepared = prepare(machine, scenarios, **options)
    engine = Engine(machine)
    engine.load(prepared.image)
    words = engine.run(
        prepared.program,
        prepared.steps,
        prepared.every,
        prepared.save,
        prepared.before.values(),
        prepared.after.values(),
    )
    stopped_at = engine.steps_done if engine.stopped else None
    return prepared, engine, prepared.trajectories(words, stopped_at)


def assert_same(got, want):
    """Two trajectories, bit for bit."""
    for name, column in want.columns().items():
        np.testing.assert_array_equal(got.columns()[name].view(int), column.view(int), name)


def check(machine, scenarios, base="ldl", rebase=0):
    """A run on the engine's model is that of the direct evaluation."""
    prepared, engine, found = run(machine, scenarios, base=base, rebase=rebase)
    for (got, stopped), one in zip(found, scenarios, strict=True):
        arithmetic = BitExact(machine.fmt, fold_zeros=True)
        assert stopped is None and not engine.stopped
        assert_same(got, simulate(one, arithmetic, base=base, rebase=rebase))
    assert engine.steps_done == prepared.steps
    return prepared, engine


@pytest.mark.parametrize("integrator", ["euler", "semi-implicit", "rk4"])
@pytest.mark.parametrize("name", ["double_pendulum", "general_chain_2", "compound_pendulum"])
def test_open_chains(name, integrator):
    check(ROOMY, [scenario(name, integrator=integrator)])


@pytest.mark.parametrize("n", [1, 3, 5, 32])
def test_random_chains(n):
    check(
        ROOMY, [dataclasses.replace(random_chain(np.random.default_rng(n), n), step=1e-4, end=3e-4)]
    )


@pytest.mark.parametrize("base", ["ldl", "blocks"])
@pytest.mark.parametrize("rebase", [0, 1, 3])
@pytest.mark.parametrize("name", ["four_bar", "general_four_bar", "five_bar"])
def test_loops(name, rebase, base):
    check(ROOMY, [scenario(name)], base, rebase)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_rebased_loops_with_other_integrators(integrator):
    check(ROOMY, [scenario("general_four_bar", integrator=integrator)], rebase=2)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
@pytest.mark.parametrize(
    ("name", "rebase"), [("tree", 0), ("coupled_loops", 0), ("coupled_loops", 3)]
)
def test_trees_and_coupled_loops(name, rebase, integrator):
    check(ROOMY, [scenario(name, integrator=integrator)], rebase=rebase)


def test_random_loops():
    for seed in range(3):
        loop = random_loop(np.random.default_rng(seed), 3 + seed)
        check(ROOMY, [dataclasses.replace(loop, step=1e-4, end=3e-4)], rebase=2)


@pytest.mark.parametrize("lanes", [(1, 1), (1, 3), (3, 1), (8, 8)])
@pytest.mark.parametrize("stages", [(0, 0, 0, 0), (2, 2, 7, 15), (6, 1, 3, 0), (1, 6, 6, 16)])
def test_machines(lanes, stages):
    names = ("adders", "multipliers", "add_stages", "mul_stages", "rec_stages", "sincos_stages")
    machine = dataclasses.replace(ROOMY, **dict(zip(names, (*lanes, *stages), strict=True)))
    prepared, engine = check(machine, [scenario("general_four_bar", 2)])
    low = max(bounds(machine, kernel.trace(scenario("general_four_bar"), base="ldl")).values())
    assert low < prepared.program.main
    assert engine.cycles - START_CYCLES == prepared.steps * (prepared.program.main + 9)


@pytest.mark.parametrize("fmt", [Format(5, 10), Format(8, 7), Format(6, 17)])
def test_formats(fmt):
    slow = scenario("general_chain_2", step=1e-2, end=0.03)
    check(dataclasses.replace(ROOMY, fmt=fmt), [slow])


def test_interleaved_systems_are_independent():
    systems = [scenario("double_pendulum"), scenario("five_bar"), scenario("general_chain_2")]
    mixed, _ = check(ROOMY, systems, rebase=2)
    alone = [check(ROOMY, [one], rebase=2)[0].program.main for one in systems]
    assert max(alone) <= mixed.program.main < sum(alone)


def test_the_program_is_the_topology_only():
    """Another mechanism with the same zeros runs the same words; only the registers differ."""
    one, other = (scenario("general_chain_2", gravity=(0.3, g)) for g in (-9.8, 3.7))
    first, second = (prepare(ROOMY, [x]) for x in (one, other))
    assert first.program == second.program and first.image != second.image


def test_every_k_th_step_is_kept():
    prepared, engine = check(ROOMY, [scenario("double_pendulum", save=3)])
    assert engine.cycles == START_CYCLES + 9 * prepared.program.main + 3 * 6


def test_scenarios_that_do_not_fit_together():
    pair = [scenario("double_pendulum"), scenario("general_chain_2", 5)]
    with pytest.raises(ScenarioError, match="steps: not that of .*double_pendulum"):
        prepare(ROOMY, pair)


def test_a_machine_that_is_too_small():
    with pytest.raises(ProgramError, match=r"needs \d+ registers a bank, the engine has 8"):
        prepare(dataclasses.replace(ROOMY, depth=8), [scenario("five_bar")])
    with pytest.raises(ProgramError, match=r"has \d+ words, the engine holds 64"):
        prepare(dataclasses.replace(ROOMY, program_depth=64), [scenario("five_bar")])


def test_memories_as_large_as_a_run_needs():
    long = dataclasses.replace(random_chain(np.random.default_rng(1), 48), step=1e-4, end=1e-4)
    with pytest.raises(ProgramError, match=r"traces 144 registers, the engine's list has 128"):
        prepare(ROOMY, [long])
    machine = fitting(Machine(), [long])
    assert machine.trace_registers == 256 and machine.depth > 64 and machine.program_depth > 1024
    check(machine, [long])
    assert fitting(Machine(), [scenario("double_pendulum")]) == Machine()


def test_a_run_that_cannot_go_on():
    """It stops in the step that gives the infinity, with everything before it."""
    heavy = scenario("double_pendulum", 60, gravity=(0.0, -3e38))
    _, engine, [(got, stopped)] = run(ROOMY, [heavy])
    with pytest.raises(ArithmeticError) as error:
        simulate(heavy, BitExact(fold_zeros=True))
    want = error.value.trajectory
    assert engine.stopped and f"step {engine.steps_done}: a result is infinite" in stopped
    assert np.isfinite(np.array([*got.columns().values()])).all()
    assert len(want) - 1 <= len(got) <= len(want)
    for name, column in got.columns().items():
        np.testing.assert_array_equal(column, want.columns()[name][: len(got)])


def test_a_singular_posture_ends_the_run():
    flat = scenario("four_bar", gravity=(0.0, -9.80665), step=1e-3, end=0.28)
    _, _, [(got, stopped)] = run(ROOMY, [flat], base="ldl")
    assert "singular posture" in stopped and got.t[-1] < 0.263 and got.condition > 1e5


@pytest.mark.parametrize(
    ("name", "adders", "contexts", "most"),
    [("double_pendulum", 2, 1, 130), ("four_bar", 2, 1, 260), ("double_pendulum", 4, 8, 8 * 26)],
)
def test_cycles_of_the_demos(name, adders, contexts, most):
    """With units of 2, 2, 7 and 15 stages, as the longest paths of the model are quoted."""
    machine = dataclasses.replace(
        ROOMY, adders=adders, multipliers=adders, add_stages=2, rec_stages=7, sincos_stages=15
    )
    step = kernel.interleave([kernel.trace(scenario(name), base="ldl")] * contexts)
    program, low = schedule(machine, step), bounds(machine, step)
    assert max(low.values()) == low["both"] < program.main <= most
    assert program.main <= 1.1 * low["both"]


def test_cycles_grow_with_the_logarithm_of_bodies():
    """While lanes suffice."""
    machine = dataclasses.replace(ROOMY, adders=64, multipliers=64)
    rng = np.random.default_rng(1)
    cycles = [schedule(machine, kernel.trace(random_chain(rng, n))).main for n in (2, 4, 8, 16, 32)]
    growth = np.diff(cycles)
    assert (growth > 0).all() and growth.max() < 1.5 * growth.min() + 20, cycles


# --- the tracer -----------------------------------------------------------------------------------


def test_parameters_alone_are_computed_before():
    graph = Graph()
    x, a, b = graph.input("x"), graph.parameter("a", 3.0), graph.parameter("b", 0.1)
    new = x + graph.recip(a * b)
    step = kernel.Step(graph, {"x": kernel.Transition(x, new)}, {}, {})
    assert [graph.nodes[i].op for i in step.operations()] == ["add"]
    ar = BitExact()
    product = ar.recip(ar.const(3.0) * ar.const(0.1))
    values = step.values(BINARY32)
    assert product.bits in values.values() and values["a"] == ar.const(3.0).bits
    program = schedule(Machine(), step)
    engine = Engine(Machine())
    engine.load(program.image(values | {"x": ar.const(1.0).bits}))
    engine.run(program, 2)
    want = ar.const(1.0) + product + product
    assert engine.read(program.state["x"]) == want.bits


def random_step(rng, inputs=3, size=40):
    """Any graph: states that swap, copy and mix, outputs that are leaves or constant."""
    graph = Graph(fold=False)
    old = [graph.input(f"x{k}") for k in range(inputs)]
    values = [*old, graph.parameter("a", 0.75), graph.parameter("b", -1.25)]
    for _ in range(size):
        x, y = (values[rng.integers(len(values))] for _ in range(2))
        kind = rng.integers(5)
        if kind < 2:
            values.append(x + y if rng.random() < 0.5 else x - y)
        elif kind == 2:
            values.append(-(x * y))
        elif kind == 3:
            values += graph.sincos(x)
        else:
            values.append(graph.recip(x))
    pick = rng.integers(len(values), size=2 * inputs)
    sign = rng.random(2 * inputs) < 0.3
    chosen = [-values[i] if s else values[i] for i, s in zip(pick, sign, strict=True)]
    state = {f"x{k}": kernel.Transition(old[k], chosen[k]) for k in range(inputs)}
    observables = {f"y{k}": chosen[inputs + k] for k in range(inputs)}
    return kernel.Step(graph, state, observables, {})


def evaluate(step, fmt, state):
    """One step directly: {name of a state or observable: bits}."""
    ar = BitExact(fmt)
    given = {name: ar.scalar(bits) for name, bits in (step.values(fmt) | state).items()}
    found = {}

    def value(node, negative):
        return -found[node] if negative else found[node]

    for index, node in enumerate(step.graph.nodes):
        if node.op in ("sin", "cos"):
            found[index] = found[node.args[0][0]][node.op == "cos"]
        elif node.op in ("input", "parameter"):
            found[index] = given.get(node.args[0], ar.const(0.0))
        elif node.op == "const":
            found[index] = ar.const(node.args[0])
        else:
            args = [value(*arg) for arg in node.args]
            operate = {
                "add": lambda x, y: x + y,
                "mul": lambda x, y: x * y,
                "rec": ar.recip,
                "sincos": ar.sincos,
            }[node.op]
            found[index] = operate(*args)
    outputs = {name: new for name, (_, new) in step.state.items()} | step.observables
    return {name: value(ref.node, ref.negative).bits for name, ref in outputs.items()}


@pytest.mark.parametrize("seed", range(40))
def test_any_graph(seed):
    """Whatever the states do, three steps of the program are three evaluations of the graph."""
    rng = np.random.default_rng(seed)
    step = kernel.with_copies(random_step(rng))
    machine = dataclasses.replace(
        ROOMY,
        adders=int(rng.integers(1, 4)),
        multipliers=int(rng.integers(1, 3)),
        add_stages=int(rng.integers(0, 4)),
    )
    program, engine = schedule(machine, step), Engine(machine)
    fmt = machine.fmt
    state = {name: fmt.from_float(float(rng.normal())) for name in step.state}
    engine.load(program.image(step.values(fmt) | state))
    for _ in range(3):
        want = evaluate(step, fmt, state)
        engine.run(program, 1)
        if engine.stopped:
            break
        for name, home in (program.state | program.observables).items():
            got = engine.read(home)
            assert fmt.fields(got) == fmt.fields(want[name]), name
        state = {name: want[name] for name in step.state}


def test_a_copy_is_made_only_where_it_is_needed():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    simple, early = x + y, y + y
    late = simple * early + x
    state = {
        "x": kernel.Transition(x, early),  # `simple` and `late` read x, but not before `early`
        "y": kernel.Transition(y, late),
    }
    step = kernel.with_copies(kernel.Step(graph, state, {"seen": Ref(graph, x.node)}, {}))
    assert step.state["y"].new.key == late.key
    assert step.state["x"].new.key != early.key, "x is read by what depends on its successor"
    assert graph.nodes[step.observables["seen"].node].op == "add"


# --- the machine and its model --------------------------------------------------------------------


def test_words_are_packed_without_gaps():
    machine = Machine(adders=1, multipliers=2, depth=32)
    every = Word(
        reads={Port(b, side): OFFERED if b == 4 else 31 for b in range(5) for side in range(2)},
        issues={k: (Operand(4, True),) * len(lane.sides) for k, lane in enumerate(machine.lanes)},
        writes={b: 31 for b in range(5)},
        sine=True,
    )
    assert machine.word_w == 15 * 6 + 1 + 8 * (3 + 1)
    bits = machine.encode(every)
    ports = [bits >> 6 * k & 63 for k in range(10)]
    assert ports == [31] * 8 + [32] * 2
    assert [bits >> 60 + 6 * k & 63 for k in range(5)] == [31 | 32] * 5
    assert bits >> 90 & 1
    assert [bits >> 91 + 4 * k & 15 for k in range(8)] == [4 | 8] * 8
    assert bits >> machine.word_w == 0
    assert machine.encode(Word()) == 0


@pytest.mark.parametrize("bad", [{"adders": 0}, {"multipliers": 0}, {"depth": 48}])
def test_machines_that_make_no_sense(bad):
    with pytest.raises(ValueError, match=f"^{next(iter(bad))} is "):
        Machine(**bad)


def test_the_model_refuses_programs_that_make_no_sense():
    machine = Machine()

    def attempt(*words):
        program = Program(machine, list(words), len(words), {}, {}, {}, [])
        engine = Engine(machine)
        engine.load({Location(0, 0): BINARY32.one})
        engine.run(program, 1)

    read = {Port(0, 0): 0, Port(0, 1): 0}
    twice = (Operand(0),) * 2
    with pytest.raises(ProgramError, match="nothing to store in bank 1"):
        attempt(Word(writes={1: 0}))
    with pytest.raises(ProgramError, match="reads nothing at"):
        attempt(Word({Port(0, 0): 0, Port(0, 1): 1}, {0: twice}))
    with pytest.raises(ProgramError, match="reads nothing at"):
        attempt(Word({Port(0, 0): 0, Port(0, 1): OFFERED}, {0: twice}))
    with pytest.raises(ProgramError, match="ends with results in the lanes"):
        attempt(Word(read, {0: twice}))
    attempt(Word(read, {0: twice}), *[Word()] * machine.add_stages, Word(writes={0: 1}))
