"""Runs with torques in time: the reference's motion, and the same bits wherever they run."""

import numpy as np
import pytest

from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.registry import recorded
from pymodel.compile.rivals import recorded as rival
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import engine_runs, lagrangian, native_runs
from pymodel.runs.compiled import compile_scenario
from pymodel.runs.ensemble import ensemble
from pymodel.runs.simulate import simulate
from pymodel.runs.summary import is_conservative
from pymodel.runs.sweep import sweep
from pymodel.tests.places import SCENARIOS

WAVE = "3*sin(2*pi*2*t) + t**2/(1 + t)"
TABLE = {"times": [0.02, 0.05, 0.06], "values": [0.0, 2.0, -1.0]}
INTEGRATORS = ("euler", "semi-implicit", "rk4")
#: Mechanisms with drives: torques of their joints.
TORQUES = {
    "double_pendulum": [WAVE, TABLE],
    "four_bar": [WAVE, 0.0, 0.0],
    "tree": ["0.2*cos(9*t)", *4 * [0.0]],
    "coupled_loops": [TABLE, "t", *3 * [0.0]],
}


def driven(name, steps, **values):
    scenario = load(SCENARIOS / f"{name}.toml", steps)
    torques = TORQUES[name] + (len(scenario.bodies) - len(TORQUES[name])) * [0.0]
    return varied(scenario, **{"torque": torques} | values)


def same(run, other):
    for name, column in other.columns().items():
        assert np.array_equal(run.columns()[name].view(np.uint64), column.view(np.uint64)), name


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_the_motion_is_that_of_lagranges_equations(name):
    """A step of order 4 meets the corners of the table, which are whole steps.

    Native code runs it, with the model's bits, which the tests below compare.
    """
    scenario = driven(name, 1000, step=1e-4, end=0.1, integrator="rk4", save=10)
    run = native_runs.simulate(scenario)
    exact = lagrangian.simulate(scenario, scenario.times)
    without = native_runs.simulate(varied(scenario, torque=0.0))
    assert abs(run.q - without.q).max() > 1e-2
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=2e-12)
    np.testing.assert_allclose(run.p, exact.p, rtol=0, atol=2e-12)
    assert not is_conservative(scenario)


@pytest.mark.parametrize("name", TORQUES)
def test_rates_at_a_time(name):
    scenario = driven(name, 10)
    mechanism, t = prepare(Float64(), scenario), 0.055
    q, p = mechanism.initial_state(scenario)
    found = serve(Float64(), rates(mechanism, q, p, time=t))
    qd, pd = lagrangian.canonical_rates(scenario, q, p, t)
    np.testing.assert_allclose(found.q_dot, qd, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.p_dot, pd, rtol=0, atol=1e-10)
    state = {f"{kind}[{k}]": x for kind, v in (("q", q), ("p", p)) for k, x in enumerate(v)}
    kernel = recorded("rates", scenario)
    assert list(kernel.inputs) == [*state, "t"]
    values = kernel.evaluate(Float64(), state | {"t": t})
    assert [values[f"pd[{k}]"] for k in range(len(q))] == pytest.approx(found.p_dot, abs=1e-13)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("arithmetic", ["float64", "float32", "5/10"])
def test_native_code_has_the_bits_of_the_model(integrator, arithmetic):
    scenario = driven("double_pendulum", 120, step=1e-3, end=0.12, integrator=integrator)
    want, got = simulate(scenario, arithmetic), native_runs.simulate(scenario, arithmetic)
    same(got, want)
    assert got.flags == want.flags


def test_native_code_with_re_based_loops(monkeypatch):
    monkeypatch.setattr(native_runs, "CHUNK", 2000)
    scenario = driven("coupled_loops", 100, step=1e-3, end=0.1)
    for options in ({"rebase": 3}, {"project": 3}):
        want = simulate(scenario, "float32", **options)
        same(native_runs.simulate(scenario, "float32", **options), want)


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("double_pendulum", {}),
        ("four_bar", {"rebase": 2, "project": 0}),
        ("four_bar", {"project": 3}),
    ],
)
def test_the_engine_has_the_bits_of_the_model(name, options, integrator):
    scenario = driven(name, 8, step=1e-2, end=0.08, integrator=integrator)
    got = engine_runs.simulate(Machine(), scenario, **options)
    same(got, simulate(scenario, BitExact(fold=True), **options))


#: First joints that are no unrotated planar pins, whose text runs on terms.
OTHER_JOINTS = {
    "slider": {"joint": "prismatic", "axis": [1.0, 0.0]},
    "rotated": {"rotation": 0.5},
    "hinge": {"axis": [0.0, 1.0, 0.0]},
}


def one_joint(first, torque, steps):
    """One body on a joint, in the plane or in space, with a torque."""
    spatial = len(first.get("axis", [])) == 3
    more = [0.0] if spatial else []
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1] if spatial else 0.1}
    body |= {"com": [0.2, 0.1, *more], "tip": [0.4, 0.0, *more], "torque": torque}
    time = {"step": 1e-3, "end": steps * 1e-3, "integrator": "rk4"}
    return {"name": "one", "gravity": [0.0, *more, -9.81], "time": time, "body": [body | first]}


@pytest.mark.parametrize("first", OTHER_JOINTS.values(), ids=OTHER_JOINTS)
@pytest.mark.nightly("slider", "rotated")
def test_tables_on_other_joints_than_planar_pins(first):
    scenario = load(one_joint(first, TABLE, 80))
    run = simulate(scenario)
    exact = lagrangian.simulate(scenario, scenario.times)  # it misses corners by some 1e-11
    assert abs(run.p - simulate(varied(scenario, torque=0.0)).p).max() > 1e-2
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.p, exact.p, rtol=0, atol=1e-10)
    for arithmetic in ("float64", "float32", "5/10"):
        want, got = simulate(scenario, arithmetic), native_runs.simulate(scenario, arithmetic)
        same(got, want)
        assert got.flags == want.flags
    few = load(one_joint(first, {"times": [0.0, 0.002], "values": [1.0, 2.0]}, 5))
    same(engine_runs.simulate(Machine(), few), simulate(few, BitExact(fold=True)))


def test_a_sweep_of_tables_on_a_slider():
    data = one_joint(OTHER_JOINTS["slider"], TABLE, 30)
    found = sweep(data, {"body[0].mass": "1,2"}, target="native", workers=0)
    for k, mass in enumerate((1.0, 2.0)):
        run = simulate(varied(load(data), mass=mass))
        assert (found["q0"][k], found["p0"][k]) == (run.q[-1, 0], run.p[-1, 0])


def test_systems_interleaved_on_the_engine():
    scenarios = [driven("double_pendulum", 8), load(SCENARIOS / "tree.toml", 8)]
    machine = engine_runs.fitting(Machine(), scenarios)
    found, _ = engine_runs.prepare(machine, scenarios).on_twin()
    for scenario, (run, _) in zip(scenarios, found, strict=True):
        same(run, simulate(scenario, BitExact(fold=True)))


def test_program_images_begin_with_step_0():
    scenario = driven("double_pendulum", 10)
    (program,) = compile_scenario(Machine(), scenario, ["step"]).programs
    assert list(program.carried)[-1] == "step_number" and program.initial["step_number"] == 0
    programs = compile_scenario(Machine(), scenario, ["step", "rates"]).programs
    assert programs[0].initial["step_number"] == 0 and list(programs[1].inputs)[-1] == "t"


def test_a_sweep_over_formulas():
    """Native code runs those of one structure at once."""
    data = {
        "name": "swept",
        "gravity": [0.0, -9.8],
        "time": {"step": 1e-3, "end": 0.02},
        "body": [{"mass": 1.0, "inertia": 0.02, "com": [0.2, 0.0], "tip": [0.4, 0.0]}],
    }
    vary = {"body[0].torque": "1.5,sin(t),2*sin(3*t),4*sin(5*t),2*cos(3*t),exp(t)"}
    table = sweep(data, vary, target="native", workers=0)
    assert table["status"].tolist() == [*5 * ["done"], "failed"]
    assert table["reason"][-1].startswith("<scenario>: body[0].torque: unknown function exp")
    for k, torque in enumerate([1.5, "sin(t)", "2*sin(3*t)", "4*sin(5*t)", "2*cos(3*t)"]):
        run = simulate(varied(load(data), torque=torque))
        assert (table["q0"][k], table["p0"][k]) == (run.q[-1, 0], run.p[-1, 0]), torque
    drawn = ensemble(data, "x", {"body[0].torque": "random(-1,1)"}, count=3).columns()
    assert drawn["body[0].torque"].dtype == float


def test_rivals_take_no_torques_in_time():
    with pytest.raises(ScenarioError, match="body: torques in time cannot be compared"):
        rival("hdca", driven("double_pendulum", 10))
