"""Joints that are moved in a given way: the hybrid equations, what it takes, and all targets."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

from pymodel.algorithms.projection import projected
from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals.recursive_space import canonical_momenta
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism import formula
from pymodel.mechanism.scenario import PRISMATIC, REVOLUTE, ScenarioError
from pymodel.mechanism.scenario_file import load, parse
from pymodel.mechanism.scenario_writer import tables, varied
from pymodel.runs import engine_runs, lagrangian, native_runs
from pymodel.runs.conserved import conserved
from pymodel.runs.joint_forces import joint_forces, read_forces, write_forces
from pymodel.runs.recorder import NonFiniteError
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.places import SCENARIOS

CRANK = SCENARIOS / "driven_crank.toml"
SWING = "0.4*sin(7*t + 0.3) + t**2/(1 + t)"
INTEGRATORS = ("euler", "semi-implicit", "rk4", "implicit-midpoint")


def moved(scenario, *motions):
    """A scenario whose first joints with one coordinate are moved."""
    bodies, left = list(scenario.bodies), list(motions)
    for k, size in enumerate(scenario.freedoms):
        if size.v == 1 and left and (motion := left.pop(0)) is not None:
            place = formula.parse(motion)
            q, qd = (formula.value(x, 0.0) for x in (place, formula.derivative(place)))
            bodies[k] = dataclasses.replace(bodies[k], motion=motion, torque=0.0, q=q, qd=qd)
    return dataclasses.replace(scenario, bodies=tuple(bodies))


def unmoved(scenario):
    """The same mechanism, all of whose joints move freely."""
    bodies = tuple(dataclasses.replace(body, motion=None) for body in scenario.bodies)
    return dataclasses.replace(scenario, bodies=bodies)


def random_tree(seed, spatial, *motions, n=5):
    rng = np.random.default_rng([seed, 57])
    tree = space.random_mechanism(rng, n, spatial, joints=(REVOLUTE, PRISMATIC))
    return moved(tree, *motions)


def pendulum(**values):
    """The shipped one on a rod that is turned."""
    return varied(moved(load(SCENARIOS / "double_pendulum.toml"), SWING), **values)


def same(run, other):
    for name, column in other.columns().items():
        assert np.array_equal(run.columns()[name].view(np.uint64), column.view(np.uint64)), name


def motor_by_gauss(scenario, q, qd, t):
    """Torques of motions: the least change of the free accelerations that gives the wanted ones.

    In the coordinates of the whole tree, of which all move freely: M qdd = f + E tau, E^T qdd = a.
    """
    equations = lagrangian.NewtonEuler(unmoved(scenario))
    held = [scenario.v_slices[k].start for k in scenario.moved]
    wanted = []
    for k in scenario.moved:
        tree = formula.parse(scenario.bodies[k].motion)
        wanted.append(formula.value(formula.derivative(formula.derivative(tree)), t))
    inverse = np.linalg.inv(equations.mass_matrix(q))
    lacking = np.array(wanted) - equations.accelerations(q, qd, t)[held]
    tau = np.linalg.solve(inverse[np.ix_(held, held)], lacking)
    return tau, equations.accelerations(q, qd, t) + inverse[:, held] @ tau


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rates_and_torques_at_a_time(spatial, seed):
    scenario = random_tree(seed, spatial, SWING, None, "0.2*cos(3*t)")
    mechanism, t = prepare(Float64(), scenario), 0.7
    q, p = mechanism.initial_state(scenario)
    q = mechanism.placed(q, t)
    found = serve(Float64(), rates(mechanism, q, p, time=t))
    qd, pd = lagrangian.canonical_rates(scenario, q, p, t)
    np.testing.assert_allclose(found.q_dot, qd, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.p_dot, pd, rtol=0, atol=1e-9)
    for momenta in (found.p, found.p_dot):
        assert [momenta[scenario.v_slices[k].start] for k in scenario.moved] == [0.0, 0.0]
    run = simulate(dataclasses.replace(scenario, end=scenario.step))
    forces = joint_forces(scenario, run)
    tau, qdd = motor_by_gauss(scenario, run.q[0], run.qd[0], 0.0)
    np.testing.assert_allclose(forces.motor[0], tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forces.acceleration[0], qdd, rtol=1e-9, atol=1e-9)
    assert np.abs(tau).min() > 1e-3


def test_the_motion_is_kept_and_the_energy_balanced():
    """Energy changes by the motion's power: d(energy)/dt = tau qd, with nothing else at work."""
    scenario = pendulum(step=1e-3, end=1.0, integrator="rk4")
    run = native_runs.simulate(scenario)
    place = np.array([formula.value(formula.parse(SWING), t) for t in run.t])
    np.testing.assert_allclose(run.q[:, 0], place, rtol=0, atol=2e-15)
    exact = lagrangian.simulate(scenario, scenario.times[::100])
    for name in ("q", "qd", "p"):
        got, want = getattr(run, name)[::100], getattr(exact, name)
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-9)
    motor = joint_forces(scenario, run).motor[:, 0]
    energy = run.kinetic + run.potential
    work = cumulative_simpson(motor * run.qd[:, 0], x=run.t, initial=0.0)
    assert np.ptp(energy) > 1.0
    np.testing.assert_allclose(energy - energy[0], work, rtol=0, atol=1e-8)
    assert not conserved(scenario)


def test_float32_does_not_drift():
    """After 10 000 steps the coordinate is the formula's, to the rounding of its time and terms."""
    scenario = varied(load(CRANK), step=1e-3, end=10.0, integrator="euler", save=100)
    run = native_runs.simulate(scenario, "float32", project=10)
    np.testing.assert_allclose(run.q[:, 0], 0.8 + 15 * run.t, rtol=2e-7, atol=0)
    assert np.array_equal(run.qd[:, 0], np.full(len(run), 15.0))


def test_a_driven_crank_in_closed_form():
    """The loop leaves nothing free: rod and slider follow, and so does what the crank takes."""
    scenario = load(CRANK, steps=1000)
    run = native_runs.simulate(scenario)
    theta = 0.8 + 15 * run.t
    rod = -np.arcsin(np.sin(theta) / 3)
    x = 0.1 * np.cos(theta) + 0.3 * np.cos(rod)
    np.testing.assert_allclose(run.q, np.transpose([theta, rod - theta, x]), rtol=0, atol=1e-13)
    exact = lagrangian.simulate(scenario, scenario.times[:5])
    np.testing.assert_allclose(run.p[:5], exact.p, rtol=0, atol=1e-11)
    forces = joint_forces(scenario, run)
    energy, speed = run.kinetic + run.potential, run.qd[:, 2]
    lost = 2.0 * np.tanh(speed / 0.05) * speed
    power = np.gradient(energy, run.t, edge_order=2) + lost
    np.testing.assert_allclose(forces.motor[1:-1, 0] * 15, power[1:-1], rtol=0, atol=0.02)
    planar = forces.moment[:, 0, 0]
    np.testing.assert_allclose(forces.motor[:, 0], planar, rtol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_same_bits_on_model_native_code_and_engine(integrator):
    scenario = pendulum(step=1e-2, end=0.08, integrator=integrator)
    run = simulate(scenario)
    same(native_runs.simulate(scenario), run)
    same(engine_runs.simulate(Machine(), scenario), simulate(scenario, BitExact(fold=True)))


@pytest.mark.parametrize("options", [{"project": 3}, {"rebase": 2, "project": 0}])
def test_the_same_bits_with_loops(options):
    scenario = varied(load(CRANK, steps=8), integrator="euler")
    want = simulate(scenario, "float32", **options)
    same(native_runs.simulate(scenario, "float32", **options), want)
    engine = engine_runs.simulate(Machine(), scenario, **options)
    same(engine, simulate(scenario, BitExact(fold=True), **options))


def test_a_projection_leaves_what_is_moved():
    scenario = varied(load(CRANK), step=1e-3, end=0.2, integrator="euler", save=1)
    plain, run = (native_runs.simulate(scenario, project=x) for x in (0, 5))
    assert np.array_equal(plain.q[:, 0], run.q[:, 0])
    assert run.loop_position[6::5].max() < 1e-5 < 1e-3 < plain.loop_position.max()


def test_a_projection_leaves_a_coordinate_of_zero():
    """Not even rounding is added to it."""
    scenario = parse(crank(motion="15*t", q=0.0))
    mechanism = prepare(Float64(), scenario, project=1)
    q, p = mechanism.initial_state(scenario)
    q_new, _ = serve(Float64(), projected(mechanism, [q[0], q[1] + 1e-3, q[2] - 1e-3], p, 0.0))
    assert q_new[0] == 0.0
    np.testing.assert_allclose(q_new, q, rtol=0, atol=1e-6)


def test_a_projection_leaves_a_joint_that_is_moved_inside():
    """The rod against the crank, which follows; momenta that are not augmented stay as they are."""
    data = tables(load(CRANK))
    crank, rod = data["body"][:2]
    crank.pop("motion")
    rod |= {"motion": f"{rod['q']!r} + {rod['qd']!r}*t", "guess": False}
    scenario = parse(data)
    mechanism = prepare(Float64(), scenario, project=1)
    q, p = mechanism.initial_state(scenario)
    rng = np.random.default_rng(2)
    for _ in range(20):
        off = [x + y for x, y in zip(q, rng.uniform(-1e-4, 1e-4, 3), strict=True)]
        off[1] = q[1]
        q_new, p_new = serve(Float64(), projected(mechanism, off, p, 0.0))
        assert q_new[1] == q[1]
        np.testing.assert_allclose(q_new, q, rtol=0, atol=1e-3)
    _, p_new = serve(Float64(), projected(mechanism, q, p, 0.0))
    np.testing.assert_allclose(p_new, p, rtol=0, atol=1e-12)
    assert p_new[1] == 0.0 < min(map(abs, (p[0], p[2])))


def test_an_angle_without_a_sine_is_named():
    scenario = moved(load(SCENARIOS / "double_pendulum.toml", steps=200), "1e-12*sin(1e8*t)")
    with pytest.raises(NonFiniteError, match=r"body\[0\].motion: an angle of its formula is [12]"):
        simulate(scenario, "float32")


def test_the_same_bits_in_space():
    scenario = dataclasses.replace(random_tree(1, True, SWING, "t", n=3), end=4e-3)
    run = simulate(scenario)
    same(native_runs.simulate(scenario), run)
    same(engine_runs.simulate(Machine(), scenario), simulate(scenario, BitExact(fold=True)))


def test_an_adaptive_integrator():
    scenario = pendulum(step=1e-2, end=0.3, integrator="DOP853", tolerance=1e-11)
    run, exact = simulate(scenario), lagrangian.simulate(scenario, scenario.times)
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.qd, exact.qd, rtol=0, atol=1e-8)


def test_a_joint_that_is_held():
    """A constant motion holds its joint as a fixed one does."""
    data = tables(load(SCENARIOS / "double_pendulum.toml", steps=50))
    q = data["body"][1]["q"]
    held = parse(data | {"body": [data["body"][0], data["body"][1] | {"motion": q}]})
    welded = {x: y for x, y in data["body"][1].items() if x not in ("q", "qd", "guess")}
    drives = ("torque", "spring", "rest", "damping", "friction", "friction_scale")
    welded = {x: y for x, y in welded.items() if x not in drives}
    fixed = parse(data | {"body": [data["body"][0], welded | {"joint": "fixed", "rotation": q}]})
    one, other = simulate(held), simulate(fixed)
    np.testing.assert_allclose(one.q[:, 0], other.q[:, 0], rtol=0, atol=1e-13)
    assert np.array_equal(one.q[:, 1], np.full(len(one), q))


def test_forces_are_written_and_read_back(tmp_path):
    scenario = load(CRANK, steps=20)
    forces = joint_forces(scenario, simulate(scenario))
    write_forces(tmp_path / "forces.csv", forces)
    assert [*forces.columns()][-1] == "motor0"
    assert read_forces(tmp_path / "forces.csv") == forces
    largest = forces.largest(scenario)["joint 0 (crank)"]["motor"]
    assert largest["max"] == np.abs(forces.motor).max() and largest["unit"] == "N m"


def crank(**keys):
    data = tables(load(CRANK))
    body = data["body"][0]
    for key, value in keys.items():
        body[key] = value
    return data


def two_cranks():
    data = tables(load(CRANK))
    rod = data["body"][1]
    rod |= {"motion": f"{rod['q']!r} + {rod['qd']!r}*t", "guess": False}
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (crank(q=0.7), "body[0].q: must be as its motion starts, 0.8, or be left out, got 0.7"),
        (crank(qd=0.0), "body[0].qd: must be as its motion starts, 15.0, or be left out, got 0.0"),
        (crank(torque=1.0), "body[0].torque: its joint has a motion, and the torque that this t"),
        (crank(guess=True), "body[0].guess: its joint has a motion, and the torque that this ta"),
        (
            crank(motion=True),
            "body[0].motion: must be a number, a formula or a curve in ti",
        ),
        (crank(motion="2*x"), "body[0].motion: unknown name x in a formula"),
        (crank(motion="1/(t - 1)/t"), "body[0].motion: the formula is not finite at t = 0"),
        (two_cranks(), "body[1].motion: the loops leave this joint no motion of its own"),
    ],
)
def test_what_makes_no_sense_is_refused(data, said):
    with pytest.raises(ScenarioError) as caught:
        parse(data)
    assert said in str(caught.value)


def test_who_takes_no_motion_says_who_does():
    scenario = pendulum()
    with pytest.raises(ScenarioError, match=r"body\[0\].motion: a recursive algorithm takes no mo"):
        canonical_momenta(Float64(), scenario, [0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize(
    "text", [SWING, "3", "t", "-t", "2*t - 3", "sin(t)**3*cos(2*t)", "1/(2 + t)**2", "t - -sin(t)"]
)
def test_derivatives_of_formulas(text):
    tree = formula.parse(text)
    rate = formula.derivative(tree)
    for t in (0.1, 0.9, 2.3):
        ends = [formula.value(tree, t + h) for h in (-1e-5, 1e-5)]
        slope = (ends[1] - ends[0]) / 2e-5
        assert formula.value(rate, t) == pytest.approx(slope, rel=1e-8, abs=1e-9)
