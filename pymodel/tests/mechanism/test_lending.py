"""Inertia lent over joints: it changes no motion, and what rounding makes of thin bodies."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals import recursive
from pymodel.algorithms.rivals.acceleration_dca import accelerations
from pymodel.algorithms.step import Mechanism, prepare, rates
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays
from pymodel.compile import count
from pymodel.machine.isa import Machine
from pymodel.mechanism import lending
from pymodel.mechanism.kinematics import joint_momenta
from pymodel.mechanism.lending import lent
from pymodel.mechanism.scenario import (
    GROUND,
    LEND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    ScenarioError,
)
from pymodel.mechanism.scenario_file import load
from pymodel.mechanism.scenario_writer import varied
from pymodel.runs import engine_runs, lagrangian, native_runs
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.pinocchio_scenario import PinocchioTree
from pymodel.tests.places import SCENARIOS
from pymodel.tests.thin import (
    HELD,
    error,
    evaluated,
    lends,
    point_pendulum,
    shaft_and_arm,
    thin,
)

SHIPPED = sorted(path.stem for path in SCENARIOS.glob("*.toml"))
FLOAT32 = BitExact(fold=True)


@pytest.mark.parametrize("name", SHIPPED)
def test_bodies_that_need_nothing_keep_their_bits(name):
    scenario = load(SCENARIOS / f"{name}.toml")
    assert lent(scenario).bodies == scenario.bodies and not lends(scenario)


# --- it changes no equation -----------------------------------------------------------------------


class Exact:
    """Fractions; of an angle in quarter turns sine and cosine are 3/5 and 4/5, or the like."""

    name, flags = "exact", 0
    const = staticmethod(Fraction)

    def parameter(self, name, x):
        return Fraction(x)

    structural = parameter

    def recip(self, x):
        return 1 / x

    def sincos(self, x):
        half = Fraction(x)  # the tangent of half the angle
        square = 1 + half * half
        return 2 * half / square, (1 - half * half) / square

    def is_zero(self, x):
        return x == 0

    def is_finite(self, x):
        return True

    to_float = staticmethod(float)


def these(masses, moments):
    """Within, bodies lend each other these amounts, kg and kg m^2, whatever they need."""

    def amounts(search):
        return [masses[u.body] if u.own.mass else moments[u.body] for u in search.units]

    return lending.chosen_by(amounts)


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
def test_equations_of_motion_stay_in_exact_arithmetic(spatial):
    """Of pins, hinges and sliders, at rational postures: only numbers of bodies are rounded."""
    rng = np.random.default_rng(4)
    drawn = space.random_mechanism(rng, 4, spatial, HELD, [GROUND, 0, 1, 0])
    bodies = [
        replace(
            body,
            joint=REVOLUTE if k != 2 else PRISMATIC,
            rotation=(0.0, 0.0, 0.0) if spatial else 0.0,
            axis=None if not spatial and k != 2 else body.axis or (0.6, 0.8),
        )
        for k, body in enumerate(drawn.bodies)
    ]
    scenario = replace(drawn, bodies=tuple(bodies))
    q, p = ([Fraction(int(x), 16) for x in rng.integers(-20, 20, 4)] for _ in range(2))
    before = evaluated(Exact(), scenario, q, p)
    assert not lends(scenario)
    with these([0.7, -0.4, 0.0, 0.3], [0.2, -0.3, 0.6, 0.1]):
        assert lends(scenario)
        after = evaluated(Exact(), scenario, q, p)
    for found, expected in zip(after, before, strict=True):
        assert error(found, expected) < 1e-14


@pytest.mark.parametrize("seed", range(3))
def test_all_algorithms_and_joint_forces_stay(seed):
    """DCA and Naudet share the bodies; forces are those of the mechanism as written."""
    rng = np.random.default_rng(seed)
    tree = space.random_mechanism(rng, 4, joints=(REVOLUTE, PRISMATIC, SPHERICAL, "fixed"))
    pins = load(SCENARIOS / "tree.toml", steps=3)
    linked = load(SCENARIOS / "coupled_loops.toml", steps=3)
    masses, moments = rng.uniform(-0.2, 0.2, (2, 6)).tolist()

    def everything(scenario):
        arithmetic, q, qd = Float64(), scenario.q0, scenario.qd0
        p = joint_momenta(scenario, q, qd)
        found = evaluated(arithmetic, scenario, q, p)
        mechanism = Mechanism(arithmetic, scenario)
        found.append(serve(arithmetic, accelerations(mechanism, list(q), list(qd))).q_ddot)
        if scenario is pins:
            found += recursive.canonical_momenta(recursive.Linkage(arithmetic, scenario), q, p)
        forces = joint_forces(scenario, simulate(replace(scenario, end=2 * scenario.step)))
        return [
            *found,
            *(x.ravel() for x in (forces.of_joints("force"), forces.of_joints("moment"))),
        ]

    scenarios = tree, pins, linked
    before = [everything(scenario) for scenario in scenarios]
    with these(masses, moments):
        assert all(map(lends, scenarios))
        after = [everything(scenario) for scenario in scenarios]
    for found, expected in zip(after, before, strict=True):
        for now, then in zip(found, expected, strict=True):
            assert np.abs(np.array(now) - then).max() < 1e-10 * max(1.0, np.abs(then).max())


# --- what it is for -------------------------------------------------------------------------------


@pytest.mark.parametrize("about_axis", [1e-6, 1e-9, 0.0])
@pytest.mark.parametrize(("arithmetic", "bound"), [(FLOAT32, 1e-5), (Float64(), 1e-13)])
def test_a_shaft_and_an_arm(about_axis, arithmetic, bound):
    scenario = shaft_and_arm(about_axis)
    for angle in (0.4, -1.0, 2.5):
        q = np.array([0.3, angle])
        p = joint_momenta(scenario, q, scenario.qd0)
        q_dot, _ = evaluated(arithmetic, scenario, q, p)
        assert error(q_dot, scenario.qd0) < bound


@pytest.mark.parametrize(
    ("points", "bounds"), [(1, (1e-10, 1e-5)), (2, (2e-10, 2e-5))], ids=["single", "double"]
)
@pytest.mark.nightly("single")
def test_point_masses(points, bounds):
    """The step of rk4 gives the double pendulum's 1.4e-10 rad; plain float32 has 0.8e-5."""
    scenario = point_pendulum(points)
    exact = lagrangian.simulate(scenario, scenario.times)
    runs = simulate(scenario), native_runs.simulate(scenario, "float32")
    for run, bound in zip(runs, bounds, strict=True):
        assert np.abs(run.q - exact.q).max() < bound
        assert np.abs(run.kinetic + run.potential).max() < bound * 100
    short = replace(scenario, end=0.02, save=1)
    engine = engine_runs.simulate(Machine(), short)
    twin = simulate(short, BitExact(fold=True))
    assert engine.q.tobytes() == twin.q.tobytes() and engine.p.tobytes() == twin.p.tobytes()


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.nightly(every=5)
def test_thin_trees_against_pinocchio(seed, spatial):
    rng = np.random.default_rng(seed)
    scenario = thin(rng, 2 + seed % 4, spatial)
    tree, q, qd = PinocchioTree(scenario), scenario.q0, scenario.qd0
    p = tree.mass_matrix(q, qd) @ qd
    expected = qd, tree.momentum_rates(q, qd)
    for arithmetic, bound in ((Float64(), 1e-12), (FLOAT32, 1e-3)):
        for found, right in zip(evaluated(arithmetic, scenario, q, p), expected, strict=True):
            assert error(found, right) < bound


@pytest.mark.parametrize("seed", range(4))
def test_thin_trees_of_all_joints_against_newton_and_euler(seed):
    """A thin body on a ball, or free, still turns about its own axis by what rounding leaves."""
    rng = np.random.default_rng(seed)
    scenario = thin(rng, 5, True, (*HELD, SPHERICAL, "fixed"), thinnest=1e-3)
    q, qd = scenario.q0, scenario.qd0
    equations = NewtonEuler(scenario)
    p = equations.momenta(q, qd)
    expected = equations.canonical_rates(q, p)
    for found, right in zip(evaluated(Float64(), scenario, q, p), expected, strict=True):
        assert error(found, right) < 1e-8


def thin_four_bar(share):
    scenario = load(SCENARIOS / "general_four_bar.toml")
    bodies = [replace(body, inertia=body.inertia * share) for body in scenario.bodies]
    return replace(scenario, bodies=tuple(bodies), integrator="rk4", end=0.05, step=1e-3)


@pytest.mark.parametrize("share", [1e-6, 1e-12, 0.0])
def test_thin_loops(share):
    """Nothing is lent over the cut joint, so that the augmented momenta stay."""
    scenario = thin_four_bar(share)
    exact = lagrangian.simulate(scenario, scenario.times)
    for run, bound in ((simulate(scenario), 1e-9), (simulate(scenario, "float32"), 1e-4)):
        for name in ("q", "qd", "p"):
            assert np.abs(getattr(run, name) - getattr(exact, name)).max() < bound


def test_a_thin_loop_in_space():
    scenario = load(SCENARIOS / "bennett.toml")
    bodies = [
        replace(body, inertia=(body.inertia[0] * 1e-6, *body.inertia[1:]))
        for body in scenario.bodies
    ]
    scenario = replace(scenario, bodies=tuple(bodies))
    assert lends(scenario)
    q, qd = scenario.q0, scenario.qd0
    equations = NewtonEuler(scenario)
    p = equations.momenta(q, qd)
    for found, right in zip(
        evaluated(Float64(), scenario, q, p), equations.canonical_rates(q, p), strict=True
    ):
        assert error(found, right) < 1e-11


# --- what cannot be lent --------------------------------------------------------------------------


def test_a_point_on_a_ball_is_refused_by_its_name():
    point = {"joint": "spherical", "mass": 1.0, "inertia": [0.0] * 3, "com": [0.0, 0.0, 1.0]}
    data = {"name": "p", "gravity": [0.0, 0.0, -9.81], "time": {"step": 1e-3, "end": 1e-2}}
    data |= {"body": [point | {"tip": [0.0, 0.0, 1.0]}]}
    with pytest.raises(ScenarioError, match=r"<scenario>: body\[0\].inertia: 0 about an axis .*"):
        load(data)
    data["body"][0] |= {"joint": "revolute", "axis": [1.0, 0.0, 0.0]}
    assert load(data).bodies[0].inertia == (0.0,) * 6


def test_a_point_at_its_own_pin_is_refused():
    point = {"mass": 1.0, "inertia": 0.0, "com": [0.0, 0.0], "tip": [1.0, 0.0]}
    data = {"name": "p", "gravity": [0.0, -9.81], "time": {"step": 1e-3, "end": 1e-2}}
    with pytest.raises(ScenarioError, match=r"body\[0\].inertia: 0 at its pin: no joint can lend"):
        load(data | {"body": [point]})


# --- fewer operations -----------------------------------------------------------------------------

#: Shipped scenarios whose step gets shorter: additions and multiplications as written and centred.
SHORTER = {
    "double_pendulum": (145, 98),
    "driven_arm": (707, 527),
    "four_bar": (430, 326),
    "slider_crank": (1194, 974),
    "tree": (744, 697),
}


def hung(*bodies):
    """A planar tree of slender bars: each is (parent, place on it in m, length in m)."""
    made = [
        {"mass": 1.0, "inertia": length**2 / 12.0, "com": [length / 2, 0.0], "tip": [length, 0.0]}
        | {"parent": parent, "attach": [at, 0.0]}
        for parent, at, length in bodies
    ]
    time = {"step": 1e-3, "end": 1e-2}
    return load(
        {"name": "t", "gravity": [0.0, -9.81], "lend": "centred", "time": time, "body": made}
    )


def operations(scenario):
    counts = count.step(scenario)["operations"]
    return counts["add"] + counts["mul"]


@pytest.mark.parametrize("name", SHORTER)
def test_centred_bodies_take_fewer_operations(name):
    scenario = load(SCENARIOS / f"{name}.toml")
    found = operations(scenario), operations(varied(scenario, lend="centred"))
    assert found == SHORTER[name]


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "coupled_loops", "driven_arm"])
def test_centred_bodies_move_the_same(name):
    scenario = load(SCENARIOS / f"{name}.toml", steps=20)
    scenario = replace(scenario, save=1)
    changed = replace(scenario, lend="centred")
    assert lends(changed) and not lends(scenario)
    runs = simulate(scenario), simulate(changed)
    for column in ("q", "qd", "p", "kinetic", "potential"):
        before, after = (getattr(run, column) for run in runs)
        assert np.abs(after - before).max() < 1e-11 * max(1.0, np.abs(before).max())
    forces = [
        joint_forces(one, run).of_joints("force")
        for one, run in zip((scenario, changed), runs, strict=True)
    ]
    assert np.abs(forces[1] - forces[0]).max() < 1e-9 * np.abs(forces[0]).max()


@pytest.mark.parametrize(
    "scenario",
    [
        hung((GROUND, 0.0, 1.0), (0, 1.0, 0.6), (1, 0.6, 1.0), (2, 1.0, 0.5)),
        hung((GROUND, 0.0, 1.0), (0, 1.0, 1.0), (1, 1.0, 1.0), (1, 1.0, 0.7), (1, 0.5, 0.7)),
        varied(load(SCENARIOS / "tree.toml"), lend="centred"),
        varied(load(SCENARIOS / "coupled_loops.toml"), lend="centred"),
        varied(load(SCENARIOS / "andrews.toml"), lend="centred"),
    ],
    ids=["chain", "fork", "tree", "coupled_loops", "andrews"],
)
def test_no_posture_is_singular_for_centred_bodies(scenario):
    """Lent inertias are indefinite, and errors stay those of the bodies as written."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-np.pi, np.pi, (300, scenario.nq))
    p = joint_momenta(scenario, q, rng.normal(size=q.shape))
    equations = NewtonEuler(scenario)
    right = np.array([equations.canonical_rates(*state)[0] for state in zip(q, p, strict=True)])
    conditioned = replace(scenario, lend=LEND[0])
    assert lends(scenario) and not lends(conditioned)
    centred, written = (
        error(np.transpose(serve(one.arithmetic, rates(one, *states)).q_dot), right, axis=1)
        for one in (prepare(Float64Arrays(), x) for x in (scenario, conditioned))
        for states in [(list(q.T), list(p.T))]
    )
    assert (centred < 10 * written + 1e-11).all()


def test_a_fork_keeps_its_mass_centres():
    """With one of its two bodies it may be singular, depending on the posture."""
    assert not lends(hung((GROUND, 0.0, 1.0), (0, 1.0, 1.0), (0, 1.0, 1.0)))


def test_centred_bodies_on_the_engine():
    scenario = varied(load(SCENARIOS / "double_pendulum.toml", steps=5), lend="centred", save=1)
    engine = engine_runs.simulate(Machine(), scenario)
    twin = simulate(scenario, BitExact(fold=True))
    assert engine.q.tobytes() == twin.q.tobytes() and engine.p.tobytes() == twin.p.tobytes()


def test_thin_bodies_are_conditioned_first():
    scenario = replace(point_pendulum(2), lend="centred")
    assert lent(scenario).bodies == lent(point_pendulum(2)).bodies


def test_another_rule_is_refused():
    with pytest.raises(ScenarioError, match='lend: must be one of conditioned, centred, got "all"'):
        varied(load(SCENARIOS / "tree.toml"), lend="all")
