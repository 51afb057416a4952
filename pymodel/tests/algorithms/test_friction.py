"""Coulomb friction of joints: its law, the equations of motion, the same bits on all targets."""

import dataclasses

import numpy as np
import pytest

from pymodel.algorithms.friction import Friction
from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals.recursive_space import canonical_momenta
from pymodel.algorithms.step import prepare, rates
from pymodel.arith import scalars
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.registry import recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism.scenario import PRISMATIC, REVOLUTE, Body, Scenario, ScenarioError
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import engine_runs, native_runs
from pymodel.runs.conserved import conserved
from pymodel.runs.equations import friction_torque
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.lagrangian import equations_of
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.chains import random_chain
from pymodel.tests.places import SCENARIOS


def rubbing(scenario, rng=None):
    """Friction in every joint that may have it, of sizes of its own if a generator is given."""

    def size():
        return rng.uniform(0.1, 0.9) if rng else 0.3

    bodies = tuple(
        dataclasses.replace(body, friction=size(), friction_scale=0.05) if freedoms.v == 1 else body
        for body, freedoms in zip(scenario.bodies, scenario.freedoms, strict=True)
    )
    return dataclasses.replace(scenario, bodies=bodies)


def torques(rate, arithmetic, size=1.0, scale=1.0):
    rub = Friction(arithmetic, "body[0]", size, scale)
    return np.array([arithmetic.to_float(rub.torque(arithmetic.const(x))) for x in rate.tolist()])


def test_the_law():
    """Tanh to 3.2e-6, odd, never above Coulomb's; in float32 to its rounding."""
    v = np.concatenate(([0.0], np.geomspace(1e-6, 255.0, 2000)))
    got = torques(v, Float64())
    assert got[0] == 0.0 and np.array_equal(torques(-v, Float64()), -got)
    error = np.abs(got - np.tanh(v))
    assert 3.0e-6 < error.max() < 3.2e-6 and got.max() <= 1.0 + 1e-15
    single = torques(v[::20], scalars.parse("float32"))
    np.testing.assert_allclose(single, got[::20], rtol=4e-6, atol=0)
    far = torques(np.array([256.0, 2e4, 1e6, 1e30]), Float64())
    assert far[0] == 1.0 and far[1] > 0.997 and 0.06 < far[2] < 0.07 and 0.0 <= far[3] < 1e-15


def test_the_law_in_closed_form():
    v = np.concatenate((np.geomspace(1e-5, 1e5, 400), [256.0 * 0.02]))
    for rate in (v, -v):
        want = torques(rate, Float64(), 0.7, 0.02)
        np.testing.assert_allclose(friction_torque(0.7, 0.02, rate), want, rtol=1e-12, atol=0)


@pytest.mark.parametrize("spatial", [False, True])
def test_rates_are_those_of_the_equations_of_motion(spatial):
    rng = np.random.default_rng(12)
    kinds = (REVOLUTE, PRISMATIC)
    for bare in (space.random_mechanism(rng, 4, spatial, joints=kinds), random_chain(rng, 3)):
        scenario = rubbing(bare, rng)
        mechanism = prepare(Float64(), scenario)
        q, p = mechanism.initial_state(scenario)
        found = serve(Float64(), rates(mechanism, q, p))
        qd, pd = equations_of(scenario).canonical_rates(np.array(q), np.array(p))
        np.testing.assert_allclose(found.q_dot, qd, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.p_dot, pd, rtol=0, atol=1e-10)
        _, without = equations_of(bare).canonical_rates(np.array(q), np.array(p))
        assert np.abs(pd - without).max() > 0.1
        run = joint_forces(scenario, simulate(dataclasses.replace(scenario, end=scenario.step)))
        exact = equations_of(scenario).accelerations(scenario.q0, scenario.qd0)
        np.testing.assert_allclose(run.acceleration[0], exact, rtol=0, atol=1e-9)


def test_a_block_on_a_slide_stops():
    """M x-ddot = -F tanh(v / s): sinh(v / s) falls as exp(-F t / (M s)), within the law's 3e-6."""
    body = Body(2.0, 0.1, (0.0, 0.0), (0.1, 0.0), joint=PRISMATIC, axis=(1.0, 0.0), qd=0.5)
    body = dataclasses.replace(body, friction=4.0, friction_scale=0.1)
    scenario = Scenario("block", (0.0, 9.81), 1e-3, 0.4, (body,), integrator="rk4", save=40)
    run = native_runs.simulate(scenario)
    exact = 0.1 * np.arcsinh(np.sinh(5.0) * np.exp(-4.0 * run.t / (2.0 * 0.1)))
    np.testing.assert_allclose(run.qd[:, 0], exact, rtol=0, atol=2e-6)
    assert run.qd[-1, 0] < 0.01
    assert not conserved(scenario)


@pytest.mark.parametrize("name", ["double_pendulum", "slider_crank"])
@pytest.mark.nightly("double_pendulum")
def test_same_bits_on_the_model_in_native_code_and_on_the_engine(name):
    scenario = rubbing(load(SCENARIOS / f"{name}.toml", 12))
    run = simulate(scenario, BitExact(fold=True))
    engine = engine_runs.simulate(Machine(), scenario)
    float64, native = simulate(scenario), native_runs.simulate(scenario)
    for got, want in ((engine, run), (native, float64)):
        assert all(
            getattr(got, x).tobytes() == getattr(want, x).tobytes() for x in ("q", "qd", "p")
        )
    bare = simulate(load(SCENARIOS / f"{name}.toml", 12))
    assert not np.array_equal(bare.p, float64.p)


def test_native_systems_with_and_without_friction():
    base = load(SCENARIOS / "double_pendulum.toml", 10)
    scenarios = [base, *(varied(base, friction=x, friction_scale=0.05) for x in (0.1, 0.2))]
    scenarios += [varied(scenarios[1], **off) for off in ({"friction_scale": 0}, {"friction": 0})]
    runs = native_runs.simulate_many(scenarios)
    for run, scenario in zip(runs, scenarios, strict=True):
        assert run.q.tobytes() == simulate(scenario).q.tobytes()
    assert len({run.p.tobytes() for run in runs[:3]}) == 3
    assert runs[0].p.tobytes() == runs[3].p.tobytes() == runs[4].p.tobytes()


def test_operations():
    """What friction costs; a mechanism without it has none of it."""
    bare = random_chain(np.random.default_rng(3), 2)
    counts = []
    for scenario in (bare, rubbing(bare)):
        kernel = recorded("rates", scenario)
        counts.append(kernel.graph.count(kernel.results.values()))
    added = {name: n - counts[0][name] for name, n in counts[1].items()}
    assert added == {"add": 26, "mul": 44, "rec": 8, "sincos": 0}


def test_the_recursive_rivals_refuse_it():
    scenario = rubbing(load(SCENARIOS / "double_pendulum.toml", 10))
    with pytest.raises(ScenarioError, match=r"body\[0\].friction: recursive algorithms take no "):
        canonical_momenta(Float64(), scenario, [0.0, 0.0], [0.0, 0.0])
