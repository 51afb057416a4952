"""Springs and dampers between points: against Lagrange's equations, and the same on all targets."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from pymodel.algorithms.requests import serve
from pymodel.algorithms.springs import HERON_STEPS, length_error
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.registry import recorded
from pymodel.machine.isa import Machine
from pymodel.mechanism import kinematics
from pymodel.mechanism.scenario import GROUND, STRETCH, Body, Scenario, Spring
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import engine_runs, lagrangian, native_runs
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.judgement import warnings_of
from pymodel.runs.simulate import simulate
from pymodel.runs.summary import is_conservative
from pymodel.tests.chains import difference, random_chain
from pymodel.tests.mechanisms import random_mechanism, random_tree
from pymodel.tests.places import SCENARIOS

KINDS = {
    "plain": {"stiffness": 40.0},
    "natural_length": {"stiffness": 40.0, "length": 0.5},
    "damper": {"damping": 3.0},
    "damper_with_a_length": {"damping": 3.0, "length": 0.5},
    "damped": {"stiffness": 40.0, "damping": 3.0},
    "all": {"stiffness": 40.0, "length": 0.5, "damping": 3.0},
}


def sprung(rng, scenario, **keys):
    """Join any bodies of a mechanism, and body 0 with the ground, by springs."""
    n, springs = len(scenario.bodies), []
    for _ in range(3):
        body, to = rng.choice(n, 2, replace=False).tolist() if n > 1 else (0, GROUND)
        springs.append((body, to))
    springs.append((n - 1, GROUND))
    points = rng.uniform(-0.5, 0.5, (len(springs), 2, 2)).tolist()
    return dataclasses.replace(
        scenario,
        springs=tuple(
            Spring(body, tuple(point), to, tuple(at), **keys)
            for (body, to), (point, at) in zip(springs, points, strict=True)
        ),
    )


def state(rng, scenario):
    qd = rng.uniform(-2, 2, len(scenario.bodies))
    q = rng.uniform(-3, 3, len(scenario.bodies))
    if scenario.loops:
        q, qd = scenario.q0, scenario.qd0
    return q, lagrangian.momenta(scenario, q, qd)


def text(scenario, q, p):
    """q-dot and p-dot of the algorithm text in float64."""
    found = serve(Float64(), rates(prepare(Float64(), scenario), list(q), list(p)))
    return np.array(found.q_dot), np.array(found.p_dot)


MAKERS = {
    "body": lambda rng: random_chain(rng, 1),
    "chain": lambda rng: random_chain(rng, 5),
    "tree": lambda rng: random_tree(rng, 9),
    "loops": lambda rng: random_mechanism(rng, 6, 2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.nightly(every=3)
def test_rates_are_those_of_lagranges_equations(maker, kind):
    for seed in range(3):
        rng = np.random.default_rng([seed, 31])
        bare = MAKERS[maker](rng)
        scenario = sprung(rng, bare, **KINDS[kind])
        q, p = state(rng, scenario)
        got, exact = text(scenario, q, p), lagrangian.canonical_rates(scenario, q, p)
        assert difference(got[0], exact[0]) < 1e-11
        assert difference(got[1], exact[1]) < 1e-11
        change = exact[1] - lagrangian.canonical_rates(bare, q, p)[1]
        assert np.abs(change).max() > 0.1
        without = text(bare, q, p)
        assert got[0].tobytes() == without[0].tobytes()
        np.testing.assert_allclose(got[1] - without[1], change, rtol=0, atol=1e-10)


def test_the_reference_takes_what_the_springs_gain_and_dampers_lose():
    """Power of its forces, by lengths at two times: no Jacobian and no velocity of a point."""
    for kind in KINDS.values():
        rng = np.random.default_rng(5)
        bare = random_tree(rng, 6)
        scenario = sprung(rng, bare, **kind)
        q, qd = rng.uniform(-2, 2, (2, 6))
        forces = (lagrangian.Lagrangian(x).forces(q, qd) for x in (scenario, bare))
        power = qd @ (next(forces) - next(forces))
        h = 1e-5
        ends = [kinematics.spring_lengths(scenario, q + sign * h * qd) for sign in (-1, 1)]
        rate = (ends[1] - ends[0]) / (2 * h)
        force = kind.get("stiffness", 0.0) * (sum(ends) / 2 - kind.get("length", 0.0))
        force = force + kind.get("damping", 0.0) * rate
        assert power == pytest.approx(-force @ rate, rel=1e-7)
        potentials = (kinematics.potential_energy(x, q) for x in (scenario, bare))
        stored = 0.5 * (sum(ends) / 2 - kind.get("length", 0.0)) ** 2 * kind.get("stiffness", 0.0)
        assert next(potentials) - next(potentials) == pytest.approx(stored.sum(), rel=1e-7)


@pytest.mark.parametrize("ratio", [1 / STRETCH, 0.3, 1.0, 5.0, STRETCH])
def test_lengths_by_herons_method(ratio):
    """Far from the natural length, too: what a scenario may start with."""
    body = Body(mass=1.0, inertia=0.1, com=(0.1, 0.0), tip=(1.0, 0.0), q=0.4)
    spring = Spring(0, (1.0, 0.0), GROUND, (0.3, 0.2), 10.0)
    scenario = Scenario("s", (0.0, 0.0), 1e-3, 1e-3, (body,), springs=(spring,))
    (length,) = kinematics.spring_lengths(scenario, scenario.q0)
    natural = dataclasses.replace(spring, length=length / ratio)
    scenario = dataclasses.replace(scenario, springs=(natural,))
    got, exact = text(scenario, [0.4], [0.0])[1], lagrangian.canonical_rates(scenario, [0.4], [0.0])
    scale = abs(10.0 * (length - natural.length)) + 10.0 * length
    assert got[0] == pytest.approx(exact[1][0], abs=1e-13 * scale)


@pytest.mark.filterwarnings("error")
def test_the_error_of_a_length_is_that_of_herons_method():
    stretches = np.array([1 / 500, 1 / 60, 1 / 30, 1.0, 1.5, 30.0, 60.0, 500.0])
    lengths = 1.0
    for _ in range(HERON_STEPS):
        lengths = (lengths + stretches**2 / lengths) / 2
    errors = length_error(stretches)
    np.testing.assert_allclose(errors, lengths / stretches - 1, rtol=1e-6, atol=1e-15)
    assert length_error(1 / STRETCH) == pytest.approx(2.4e-14, rel=0.1)
    assert length_error(np.array([0.0])) == np.inf
    assert length_error(1.0) == 0.0


def test_a_spring_that_keeps_its_natural_length_is_no_warning():
    """Its force is zero all the time, its length right."""
    scenario = load(
        {
            "name": "slack",
            "gravity": [0, 0],
            "time": {"step": 1e-2, "end": 0.1},
            "body": [{"mass": 1, "inertia": 1, "com": [0, 0], "tip": [1, 0]}],
            "spring": [
                {"body": 0, "point": [1, 0], "to": -1, "at": [1, 0.5], "stiffness": 10}
                | {"length": 0.5}
            ],
        }
    )
    trajectory = simulate(scenario, Float64())
    assert not [*warnings_of(scenario, trajectory, "float64")]
    assert abs(trajectory.q[-1][0]) < 1e-12


def test_lengths_that_no_spring_has_at_the_start_are_refused():
    data = {
        "name": "s",
        "gravity": [0, 0],
        "time": {"step": 1e-3, "end": 1.0},
        "body": [{"mass": 1, "inertia": 1, "com": [0, 0], "tip": [1, 0]}],
    }
    end = {"body": 0, "point": [1, 0], "to": -1, "at": [1, 1], "stiffness": 1}
    said = (
        r"^<scenario>: spring\[0\].length: the ends are 1 m apart at the start, "
        r"must be 1.06 to 272 m \(16 times shorter or longer\)$"
    )
    with pytest.raises(ValueError, match=said):
        load(data | {"spring": [end | {"length": 17}]})
    with pytest.raises(ValueError, match=r"spring\[0\].damping: has no direction: the ends are in"):
        load(data | {"spring": [end | {"damping": 1, "at": [1, 0]}]})
    with pytest.raises(ValueError, match=r"spring\[0\]: where its ends are overflows float64"):
        load(data | {"spring": [end | {"at": [1.7e308, 1.7e308]}]})
    assert load(data | {"spring": [end | {"at": [1, 0]}]}).springs[0].length == 0.0


@pytest.mark.parametrize("keys", [KINDS["damper"], KINDS["all"]], ids=["damper", "all"])
@pytest.mark.parametrize("to", [0, GROUND])
def test_a_damper_whose_ends_keep_their_distance_exerts_nothing(to, keys):
    """The body that carries it is welded to the other one, or to the ground."""
    bar = {"mass": 1.0, "inertia": 0.1, "com": [0.2, 0.0], "tip": [0.4, 0.0]}
    welded = bar | {"joint": "fixed", "parent": to}
    data = {
        "name": "welded",
        "gravity": [0.0, -9.8],
        "time": {"step": 1e-3, "end": 0.02},
        "body": [bar, welded | ({"attach": [1.0, 0.0]} if to == GROUND else {})],
    }
    ends = {"body": 1, "point": [0.3, 0.1], "to": to, "at": [0.1, 0.0]}
    without = simulate(load(data))
    damped, undamped = (load(data | {"spring": [ends | x]}) for x in (keys, keys | {"damping": 0}))
    for run in (simulate(damped), native_runs.simulate(damped), simulate(undamped)):
        assert run.q.tobytes() == without.q.tobytes() and run.p.tobytes() == without.p.tobytes()
    found, expected = (joint_forces(x, without).columns() for x in (damped, undamped))
    assert all(np.array_equal(column, expected[name]) for name, column in found.items())


def test_a_swing_keeps_its_energy():
    """A four-bar with springs across it, one of them slack at 0.3 m, by RK4."""
    keys = {"step": 1e-3, "end": 0.1, "integrator": "rk4"}
    scenario = varied(load(SCENARIOS / "general_four_bar.toml"), **keys)
    springs = (
        Spring(0, (0.1, 0.0), 2, (0.2, 0.0), stiffness=50.0, length=0.3),
        Spring(1, (0.2, 0.1), GROUND, (0.0, 1.0), stiffness=20.0),
    )
    scenario = dataclasses.replace(scenario, springs=springs)
    run = simulate(scenario)
    energy = run.kinetic + run.potential
    assert np.ptp(run.potential) > 0.1
    assert np.abs(energy - energy[0]).max() < 1e-6
    assert is_conservative(scenario)
    exact = lagrangian.simulate(scenario, scenario.times[-1:])
    np.testing.assert_allclose(run.q[-1], exact.q[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize("maker", ["chain", "loops"])
@pytest.mark.nightly("chain")
def test_same_bits_on_the_model_in_native_code_and_on_the_engine(maker):
    rng = np.random.default_rng(8)
    scenario = sprung(rng, MAKERS[maker](rng), **KINDS["all"])
    scenario = dataclasses.replace(scenario, end=20 * scenario.step)
    options = {"project": 7} if scenario.loops else {}
    run = simulate(scenario, BitExact(fold=True), **options)
    engine = engine_runs.simulate(Machine(), scenario, **options)
    float64, native = (each(scenario, **options) for each in (simulate, native_runs.simulate))
    assert not is_conservative(scenario)
    for got, want in ((engine, run), (native, float64)):
        assert all(
            getattr(got, x).tobytes() == getattr(want, x).tobytes() for x in ("q", "qd", "p")
        )
    np.testing.assert_allclose(run.q, float64.q, rtol=0, atol=1e-3)


def test_native_systems_of_one_structure_have_the_same_springs():
    rng = np.random.default_rng(8)
    base = sprung(rng, MAKERS["chain"](rng), **KINDS["all"])
    base = dataclasses.replace(base, end=10 * base.step)

    def changed(**keys):
        springs = tuple(dataclasses.replace(spring, **keys) for spring in base.springs)
        return dataclasses.replace(base, springs=springs)

    scenarios = [base, changed(stiffness=20.0), changed(damping=0.0), changed(length=0.0), base]
    for run, scenario in zip(native_runs.simulate_many(scenarios), scenarios, strict=True):
        assert run.q.tobytes() == simulate(scenario).q.tobytes()
    ends = [simulate(scenario).q[-1, 0] for scenario in scenarios[:-1]]
    assert all(a != b for a, b in pairwise(sorted(ends)))


def test_operations():
    """What a spring costs; a mechanism without one has none of it."""
    rng = np.random.default_rng(3)
    bare = random_chain(rng, 2)
    counts = {}
    for name, keys in {"none": None, **KINDS}.items():
        scenario = bare
        if keys is not None:
            spring = Spring(1, (0.3, 0.1), GROUND, (0.2, 0.5), **keys)
            scenario = dataclasses.replace(bare, springs=(spring,))
        kernel = recorded("rates", scenario)
        counts[name] = kernel.graph.count(kernel.results.values())
    added = {
        name: {op: n - counts["none"][op] for op, n in x.items()} for name, x in counts.items()
    }
    assert added["plain"] == {"add": 10, "mul": 10, "rec": 0, "sincos": 0}
    assert added["natural_length"]["rec"] == 8
    assert added["damper"]["rec"] == 1
