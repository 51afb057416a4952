"""Runs and calls on the model of the step engine, against direct evaluation."""

import dataclasses
import re

import numpy as np
import pytest

from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32, Format
from pymodel.arith.scalars import BitExact
from pymodel.compile.kernel import record
from pymodel.compile.registry import REGISTRY, recorded
from pymodel.compile.schedule import bounds
from pymodel.machine.isa import Location, Machine, ProgramError
from pymodel.machine.model import START_CYCLES, Twin
from pymodel.mechanism.scenario import INTEGRATORS, ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.runs import engine_runs
from pymodel.runs.engine_calls import changed, prepare_call, prepare_library
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
    found, engine = prepared.on_twin()
    return prepared, engine, found


def assert_same(got, want):
    """Two trajectories, bit for bit."""
    for name, column in want.columns().items():
        np.testing.assert_array_equal(got.columns()[name].view(int), column.view(int), name)


def check(machine, scenarios, base="ldl", rebase=0, project=0):
    """A run on the engine's model is that of the direct evaluation."""
    options = {"base": base, "rebase": rebase, "project": project}
    prepared, engine, found = run(machine, scenarios, **options)
    for (got, stopped), one in zip(found, scenarios, strict=True):
        arithmetic = BitExact(machine.fmt, fold=True)
        assert stopped is None and not engine.stopped
        own = options if one.loops else {"base": base}
        assert_same(got, simulate(one, arithmetic, **own))
    assert engine.steps_done == prepared.steps
    return prepared, engine


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["double_pendulum", "general_chain_2", "compound_pendulum"])
@pytest.mark.nightly(every=3)
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
@pytest.mark.nightly(every=4)
def test_loops(name, rebase, base):
    check(ROOMY, [scenario(name)], base, rebase)


@pytest.mark.parametrize("base", ["ldl", "blocks"])
@pytest.mark.parametrize("project", [1, 3])
@pytest.mark.parametrize("name", ["four_bar", "general_four_bar", "coupled_loops", "bennett"])
@pytest.mark.nightly("four_bar-1-ldl", "general_four_bar-3-blocks")
def test_projected_loops(name, project, base):
    chain = base if name.endswith("four_bar") else "ldl"
    prepared, _ = check(ROOMY, [scenario(name)], chain, project=project)
    # Neither the impulses of the loops nor other momenta are carried or traced.
    plain = prepare(ROOMY, [scenario(name)], chain, project=0)
    assert prepared.program.carried.keys() == plain.program.carried.keys()
    assert prepared.before.keys() == plain.before.keys()
    assert prepared.program.special > prepared.program.main


def test_projection_beside_an_open_chain():
    check(ROOMY, [scenario("general_chain_2"), scenario("four_bar")], project=2)


def test_projected_by_default():
    """Every 10 steps; together with the re-basing that is asked for; never without loops."""
    loop, chain = scenario("four_bar"), scenario("general_chain_2")
    for options, every in (({}, 10), ({"rebase": 4}, 4), ({"project": 0}, 0), ({"project": 7}, 7)):
        assert prepare(ROOMY, [loop], **options).every == every
    ways = [prepare(ROOMY, [loop], **x).program.words for x in ({"rebase": 4}, {"project": 4})]
    assert ways[0] == ways[1]
    assert prepare(ROOMY, [chain]).every == 0
    with pytest.raises(InputError, match="^rebase 3: a projection re-bases as well"):
        prepare(ROOMY, [loop], rebase=3, project=4)


@pytest.mark.parametrize("integrator", INTEGRATORS[1:])
def test_rebased_loops_with_other_integrators(integrator):
    check(ROOMY, [scenario("general_four_bar", integrator=integrator)], rebase=2)


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize(
    ("name", "rebase", "integrator"),
    [
        *(("tree", 0, name) for name in ("euler", "rk4", "implicit-midpoint")),
        *(("coupled_loops", rebase, name) for rebase in (0, 3) for name in ("euler", "rk4")),
    ],
)
def test_trees_and_coupled_loops(name, rebase, integrator):
    check(ROOMY, [scenario(name, integrator=integrator)], rebase=rebase)


def test_random_loops():
    for seed in range(3):
        loop = random_loop(np.random.default_rng(seed), 3 + seed)
        check(ROOMY, [dataclasses.replace(loop, step=1e-4, end=3e-4)], rebase=2)


@pytest.mark.parametrize("lanes", [(1, 1), (1, 3), (3, 1), (8, 8)])
@pytest.mark.parametrize("stages", [(0, 0, 0, 0), (2, 2, 7, 15), (6, 1, 3, 0), (1, 6, 6, 16)])
@pytest.mark.nightly(every=4)
def test_machines(lanes, stages):
    names = ("adders", "multipliers", "add_stages", "mul_stages", "rec_stages", "sincos_stages")
    machine = dataclasses.replace(ROOMY, **dict(zip(names, (*lanes, *stages), strict=True)))
    prepared, engine = check(machine, [scenario("general_four_bar", 2)])
    low = max(bounds(machine, recorded("step", scenario("general_four_bar"))).values())
    assert low < prepared.program.main
    assert engine.cycles - START_CYCLES == prepared.steps * (prepared.program.main + 9)


@pytest.mark.parametrize(("contexts", "systems"), [(2, 2), (3, 2), (8, 8)])
@pytest.mark.parametrize(("name", "rebase"), [("double_pendulum", 0), ("five_bar", 2)])
def test_a_barrel_runs_systems_that_differ_in_their_states(contexts, systems, name, rebase):
    machine = Machine(depth=256, program_depth=4096, trace_registers=1024, contexts=contexts)
    first = scenario(name, 3)
    head, *rest = first.bodies
    turned = [
        dataclasses.replace(first, bodies=(dataclasses.replace(head, q=head.q + 0.1 * k), *rest))
        for k in range(systems)
    ]
    prepared, engine = check(machine, turned, rebase=rebase)
    traced = prepared.steps * (len(prepared.before) + len(prepared.after))
    words = sum(len(prepared.program.segment(k, prepared.every)) for k in range(prepared.steps))
    settling = prepared.steps  # what follows a step and is traced waits for it
    assert engine.cycles == START_CYCLES + contexts * words + traced + settling


def test_systems_that_differ_in_more_cannot_share_a_barrel():
    machine = dataclasses.replace(ROOMY, contexts=2)
    first = scenario("double_pendulum")
    head, *rest = first.bodies
    other = dataclasses.replace(first, bodies=(dataclasses.replace(head, mass=2.0), *rest))
    with pytest.raises(ScenarioError, match="not the mechanism of"):
        prepare(machine, [first, other])
    with pytest.raises(ProgramError, match="3 systems, the engine has 2 contexts"):
        prepare(machine, [first] * 3)


def test_a_barrel_takes_as_many_calls_at_a_time_as_it_has_contexts():
    def function(arithmetic, values):
        a, b = values["a"], values["b"]
        return {"y": a * b + values["c"], "c": values["c"], "same": a}

    kernel = record(function, inputs="ab", parameters={"c": 0.25})
    call = prepare_call(Machine(contexts=3), kernel)
    batch = [
        {"a": BINARY32.from_float(k), "b": BINARY32.from_float(0.5)} for k in (1.0, 2.0, 3.0, 4.0)
    ]
    results, twin = call.on_twin(batch)
    assert [BINARY32.to_float(row["y"]) for row in results] == [0.75, 1.25, 1.75, 2.25]
    assert {row["c"] for row in results} == {BINARY32.from_float(0.25)}
    assert [row["same"] for row in results] == [one["a"] for one in batch]
    settled = 1
    assert twin.cycles == START_CYCLES + 3 * call.program.main + 3 * 3 + settled


@pytest.mark.parametrize("fmt", [Format(5, 10), Format(8, 7), Format(6, 17)])
def test_formats(fmt):
    slow = scenario("general_chain_2", step=1e-2, end=0.03)
    check(dataclasses.replace(ROOMY, fmt=fmt), [slow])


@pytest.mark.nightly
def test_interleaved_systems_are_independent():
    systems = [scenario("double_pendulum"), scenario("five_bar"), scenario("general_chain_2")]
    mixed, _ = check(ROOMY, systems, rebase=2)
    alone = []
    for one in systems:
        prepared, _ = check(ROOMY, [one], rebase=2 if one.loops else 0)
        alone.append(prepared.program.main)
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
    small, said = (
        dataclasses.replace(ROOMY, program_depth=64),
        r"has \d+ words, the engine holds 64",
    )
    with pytest.raises(ProgramError, match=rf"{said}; without projection \(project 0\)"):
        prepare(small, [scenario("five_bar")])
    for project in (0, 5):
        with pytest.raises(ProgramError, match=f"{said}$"):
            prepare(small, [scenario("five_bar")], project=project)


@pytest.mark.nightly
def test_memories_as_large_as_a_run_needs():
    long = dataclasses.replace(random_chain(np.random.default_rng(1), 48), step=1e-4, end=1e-4)
    with pytest.raises(ProgramError, match=r"144 registers are traced, the engine's list has 128"):
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
        simulate(heavy, BitExact(fold=True))
    want = error.value.trajectory
    # what the next step begins with is computed, and judged, with this one
    assert engine.stopped and engine.steps_done == len(want) - 1
    assert f"step {len(want)}: a result is infinite" in stopped
    assert np.isfinite(np.array([*got.columns().values()])).all()
    assert len(want) - 1 <= len(got) <= len(want)
    for name, column in got.columns().items():
        np.testing.assert_array_equal(column, want.columns()[name][: len(got)])


def test_a_singular_posture_ends_the_run():
    flat = scenario("four_bar", gravity=(0.0, -9.80665), step=1e-3, end=0.28)
    _, _, [(got, stopped)] = run(ROOMY, [flat], base="ldl")
    assert "singular posture" in stopped and got.t[-1] < 0.263 and got.condition > 1e5


@pytest.mark.parametrize("at_once", [7, 4096])
@pytest.mark.parametrize(("names", "end"), [(["four_bar"], 0.28), (["four_bar", "five_bar"], 0.02)])
@pytest.mark.nightly("names0-0.28-7")
def test_rows_looked_at_together_are_those_looked_at_one_by_one(monkeypatch, names, end, at_once):
    """To a singular posture among them, and to the end of a run of two mechanisms."""
    changes = {"gravity": (0.0, -9.80665), "step": 1e-3, "end": end, "save": 2}
    prepared = prepare(ROOMY, [scenario(name, **changes) for name in names])
    monkeypatch.setattr(engine_runs, "ROWS_AT_ONCE", at_once)
    together, _ = prepared.on_twin()
    monkeypatch.setattr(engine_runs, "_keep_right", lambda *rows: 0)
    alone, _ = prepared.on_twin()
    for (got, got_stopped), (want, want_stopped) in zip(together, alone, strict=True):
        assert_same(got, want)
        assert got_stopped == want_stopped
        np.testing.assert_allclose(got.condition, want.condition, rtol=1e-9)
        assert got.condition_time == want.condition_time


# --- calls ----------------------------------------------------------------------------------------


def three(arithmetic, values):
    """A function that is not a time step: a product, a sum that shares it, a reciprocal."""
    a, b, c = (values[name] for name in "abc")
    product = a * b
    return {"product": product, "sum": product + c, "reciprocal": arithmetic.recip(a + c)}


@pytest.mark.parametrize("fmt", [BINARY32, Format(5, 10)], ids=str)
def test_a_function_that_is_no_time_step(fmt):
    """Recorded, scheduled, and run on the engine's model: the bits of the function itself."""
    kernel = record(three, inputs="ab", parameters={"c": 0.75})
    call = prepare_call(dataclasses.replace(Machine(), fmt=fmt), kernel)
    batch = [{"a": fmt.from_float(k / 3), "b": fmt.from_float(1.7 - k)} for k in range(20)]
    results, twin = call.on_twin(batch)
    assert not twin.stopped and len(results) == len(batch)
    for inputs, got in zip(batch, results, strict=True):
        direct = BitExact(fmt)
        given = {name: direct.scalar(bits) for name, bits in inputs.items()}
        want = three(direct, given | {"c": direct.const(0.75)})
        assert got == {name: x.bits for name, x in want.items()}
    assert sorted(op.op for op in kernel.graph.nodes if op.op in ("add", "mul", "rec")) == [
        "add",
        "add",
        "mul",
        "rec",
    ], "an output costs nothing besides its operation"


def test_inputs_are_filled_in_one_sweep():
    """They stand one after the other in the order of the bus, whatever else there is."""
    call = prepare_call(ROOMY, recorded("rates", scenario("chain_8")))
    locations = list(call.program.inputs.values())
    assert [*call.program.inputs] == [f"{x}[{k}]" for x in "qp" for k in range(8)]
    banks = ROOMY.banks
    assert locations == [Location(k % banks, k // banks) for k in range(16)]
    others = {*call.program.parameters.values(), *call.program.outputs.values()}
    assert not others & set(locations)


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "coupled_loops"])
def test_calls_of_the_rates(name):
    """Every call of a batch is one direct evaluation; nothing is left over from the one before."""
    one = scenario(name)
    kernel = recorded("rates", one)
    call = prepare_call(ROOMY, kernel)
    rng, fmt = np.random.default_rng(3), ROOMY.fmt
    batch = []
    for _ in range(3):
        q = one.q0 + rng.normal(scale=0.1, size=len(one.bodies))
        p = rng.normal(size=len(one.bodies))
        values = [*q, *p]
        names = REGISTRY["rates"].signature(one).inputs
        batch.append({n: fmt.from_float(float(x)) for n, x in zip(names, values, strict=True)})
    results, twin = call.on_twin(batch)
    assert twin.cycles == START_CYCLES + call.program.main + len(call.outputs)
    for inputs, got in zip(batch, results, strict=True):
        direct = BitExact(fmt)
        want = kernel.evaluate(direct, {n: direct.scalar(bits) for n, bits in inputs.items()})
        assert got == {n: x.bits for n, x in want.items()}


def test_a_call_that_is_not_finite_ends_the_batch():
    call = prepare_call(Machine(), record(three, inputs="abc"))
    one, zero = BINARY32.one, 0
    batch = [{"a": one, "b": one, "c": one}, {"a": zero, "b": one, "c": zero}] * 2
    results, twin = call.on_twin(batch)
    assert twin.stopped and len(results) == 1


def test_calls_that_make_no_sense():
    call = prepare_call(Machine(), record(three, inputs="abc"))
    with pytest.raises(ValueError, match="inputs must be a, b, c; missing or unknown: c"):
        call.registers({"a": 0, "b": 0})
    with pytest.raises(ValueError, match=r"carries nothing, this kernel q\[0\], "):
        prepare_call(Machine(), recorded("step", scenario("double_pendulum")))
    with pytest.raises(ProgramError, match="3 registers are traced, the engine's list has 2"):
        prepare_call(Machine(trace_registers=2), record(three, inputs="abc"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "inputs must be a, b, c; missing or unknown: a, b, c"),
        ({"a": []}, "inputs must be a, b, c; missing or unknown: b, c"),
        ({"zzz": []}, "inputs must be a, b, c; missing or unknown: a, b, c, zzz"),
        (
            {"a": 1.0, "b": [1.0, 2.0], "c": np.ones(3)},
            "length, shapes are a (), b (2,), c (3,)",
        ),
        (
            {"a": np.ones((2, 2)), "b": 1.0, "c": 1.0},
            "length, shapes are a (2, 2), b (), c ()",
        ),
        ({"a": None, "b": 1.0, "c": 1.0}, "a: must be a number, or an array of numbers"),
    ],
)
def test_inputs_that_make_no_evaluation(given, said):
    call = prepare_call(Machine(), record(three, inputs="abc"))
    with pytest.raises(ValueError, match=re.escape(said)):
        call.evaluate(given)


def test_as_many_evaluations_as_there_are_inputs():
    call = prepare_call(Machine(), record(three, inputs="abc"))
    for count in (0, 1, 2):
        found = call.evaluate({"a": np.ones(count), "b": 2.0, "c": [0.5]})
        assert found["sum"].tolist() == [2.5] * count
    constant = prepare_call(Machine(), record(lambda ar, _: {"x": ar.const(2.0)}))
    assert constant.evaluate({})["x"].tolist() == [2.0]


# --- libraries ------------------------------------------------------------------------------------


def _scaled(power):
    """A function of parameters that fold before the run, and of one that does not."""

    def function(arithmetic, values):
        gain = values["gain"]
        fixed = gain * gain if power == 2 else gain + gain
        return {"result": values["a"] * fixed + values["offset"], "sum": values["a"] + values["b"]}

    return function


def _low_pass(arithmetic, values):
    x = values["x"]
    return {"x": x * values["gain"] + values["a"], "shown": x * x}


def _library_kernels(gain=0.75, offset=0.5):
    parameters = {"gain": gain, "offset": offset}
    return {
        "square": record(_scaled(2), "ab", parameters=parameters),
        "double": record(_scaled(1), "ab", parameters=parameters),
        "low pass": record(_low_pass, "a", "x", {"gain": gain}),
    }


def _stays(call):
    program = call.program
    return {*program.inputs.values(), *program.carried.values(), *program.parameters.values()}


def test_programs_of_a_library_share_what_has_one_name():
    library = prepare_library(Machine(), _library_kernels())
    square, double, low_pass = (call.program for call in library.calls.values())
    assert square.inputs == double.inputs and low_pass.inputs == {"a": square.inputs["a"]}
    common = square.parameters.keys() & double.parameters.keys()
    assert {"gain", "offset"} <= common and not any("node" in name for name in common)
    assert all(square.parameters[name] == double.parameters[name] for name in common)
    assert square.parameters["gain"] == low_pass.parameters["gain"]
    stays = {location for call in library.calls.values() for location in _stays(call)}
    for call in library.calls.values():
        written = {Location(*store) for word in call.program.words for store in word.writes.items()}
        assert written & stays == set(call.program.carried.values())
    assert [call.number for call in library.calls.values()] == [0, 1, 2]
    assert library.encoded()[library.call(1).start :][: len(double.words)] == double.encoded()
    assert [call.entry for call in library.calls.values()] == [0, 2, 4]


def test_owners_have_parameters_and_states_of_their_own():
    kernels = _library_kernels() | {"other": _library_kernels(0.25)["low pass"]}
    with pytest.raises(ValueError, match="other: parameter gain is shared and has another value"):
        prepare_library(Machine(), kernels)
    owners = dict.fromkeys(kernels, "one") | {"other": "two"}
    library = prepare_library(Machine(), kernels, owners)
    one, two = library.call("low pass").program, library.call("other").program
    assert one.inputs == two.inputs and one.carried["x"] != two.carried["x"]
    assert one.parameters["one: gain"] != two.parameters["two: gain"]


def test_calls_of_a_library_do_not_disturb_each_other():
    """Each is a direct evaluation, in any order, and after an exchange of parameters."""
    library, fmt = prepare_library(Machine(), _library_kernels()), Machine().fmt
    rng, twin, x = np.random.default_rng(8), Twin(Machine()), fmt.one
    twin.load(library.image | library.call("low pass").state({"x": x}))
    for index in range(60):
        if index in (20, 40):
            exchanged = library.with_parameters(_library_kernels(0.1 * index, 0.5))
            new = changed(library.image, exchanged.image)
            assert len(new) == 3  # the gain, its square, and twice of it
            twin.load(new)
            library = exchanged
        call = library.call(int(rng.integers(3)))
        inputs = {name: fmt.from_float(float(rng.normal())) for name in call.program.inputs}
        direct = BitExact(fmt)
        given = {name: direct.scalar(bits) for name, bits in (inputs | {"x": x}).items()}
        want = {name: y.bits for name, y in call.kernel.evaluate(direct, given).items()}
        x = want.pop("x", x)
        assert call.evaluate_on(twin, inputs) == want
        assert twin.read(library.call("low pass").program.carried["x"]) == x


def test_parameters_are_exchanged_for_those_of_the_same_structure_only():
    library = prepare_library(Machine(), _library_kernels())
    with pytest.raises(ValueError, match="parameters of another structure"):
        library.with_parameters({"square": _library_kernels(offset=0.0)["square"]})
    with pytest.raises(ValueError, match="parameters of another structure"):
        library.with_parameters({"square": _library_kernels()["double"]})
    with pytest.raises(ValueError, match="double: parameter gain is shared"):
        library.with_parameters({"square": _library_kernels(0.25)["square"]})


def test_a_call_takes_the_parameters_of_another_scenario():
    """The masses of another pendulum, without a new program."""
    one = scenario("double_pendulum")
    bodies = [dataclasses.replace(body, mass=2 * body.mass) for body in one.bodies]
    heavy = dataclasses.replace(one, bodies=bodies)
    call, kernel = prepare_call(ROOMY, recorded("rates", one)), recorded("rates", heavy)
    exchanged = call.with_parameters(kernel)
    assert exchanged.program is call.program
    assert 0 < len(changed(call.image, exchanged.image)) < len(call.image)
    fmt = ROOMY.fmt
    inputs = {name: fmt.from_float(0.3) for name in kernel.inputs}
    results, _ = exchanged.on_twin([inputs])
    assert results == prepare_call(ROOMY, kernel).on_twin([inputs])[0]


def test_libraries_that_do_not_fit():
    kernels = _library_kernels()
    words = len(prepare_library(Machine(), kernels).encoded())
    for small, message in (
        (Machine(programs=2), "3 programs, the engine has 2"),
        (Machine(program_depth=words - 1), f"has {words} words, the engine holds {words - 1}"),
        (Machine(depth=2), "the engine has 2"),
        (Machine(trace_registers=4), "5 registers are traced, the engine's list has 4"),
    ):
        with pytest.raises(ProgramError, match=message):
            prepare_library(small, kernels)
    boundless = prepare_library(Machine().boundless, kernels)
    holding = Machine(depth=2, program_depth=2, trace_registers=2, programs=2).holding(
        *(call.program for call in boundless.calls.values())
    )
    assert prepare_library(holding, kernels).call(2).number == 2


def test_an_input_is_not_what_another_program_carries_under_its_name():
    def counting(arithmetic, values):
        return {"x": values["x"] + values["a"]}

    def doubled(arithmetic, values):
        return {"y": values["x"] + values["x"]}

    kernels = {
        "count": record(counting, inputs="a", carried="x"),
        "double": record(doubled, inputs="x"),
    }
    library = prepare_library(ROOMY, kernels)
    twin, number = Twin(ROOMY), BINARY32.from_float
    twin.load(library.image | library.call("count").state({"x": number(1.0)}))
    assert library.call("count").evaluate_on(twin, {"a": number(2.0)}) == {}
    assert library.call("double").evaluate_on(twin, {"x": number(5.0)}) == {"y": number(10.0)}
    assert twin.read(library.call("count").program.carried["x"]) == number(3.0)
