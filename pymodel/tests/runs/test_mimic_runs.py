"""Joints of scenarios that mimic others: reduced equations, robots with them, and all targets."""

import dataclasses

import numpy as np
import pytest

from pymodel.algorithms.requests import serve
from pymodel.algorithms.rivals.recursive_space import canonical_momenta
from pymodel.algorithms.step import prepare, rates
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism.robot import FIXED_BASE
from pymodel.mechanism.robot import Mimic as RobotMimic
from pymodel.mechanism.robot_file import load as load_robot
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.mechanism.scenario import PRISMATIC, REVOLUTE, Mimic, ScenarioError
from pymodel.mechanism.scenario_file import load, parse
from pymodel.mechanism.scenario_writer import tables, write_scenario
from pymodel.runs import adaptive, engine_runs, lagrangian, native_runs
from pymodel.runs.conserved import conserved
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.robot_model import RobotModel
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.places import SCENARIOS
from pymodel.tests.robots import ROBOTS

GRIPPER = ROBOTS / "gripper.urdf"
#: A joint that follows one further in, and one that follows one further out; two of one leader.
GEARS = [{3: Mimic(1, -0.7, 0.2), 0: Mimic(4, 1.3, 0.0)}, {2: Mimic(0, 0.5), 4: Mimic(0, -2.0)}]


def geared(scenario, mimics):
    bodies = list(scenario.bodies)
    for k, mimic in mimics.items():
        of = bodies[mimic.body]
        starts = {"q": mimic.multiplier * of.q + mimic.offset, "qd": mimic.multiplier * of.qd}
        bodies[k] = dataclasses.replace(bodies[k], mimic=mimic, **starts)
    return dataclasses.replace(scenario, bodies=tuple(bodies))


def pendulum(**changes):
    """The lower bar stands half as far against the upper one as that from the vertical."""
    scenario = geared(load(SCENARIOS / "double_pendulum.toml"), {1: Mimic(0, -0.5, 0.3)})
    return dataclasses.replace(scenario, **changes)


def same(run, other):
    for name, column in other.columns().items():
        assert np.array_equal(run.columns()[name].view(np.uint64), column.view(np.uint64)), name


@pytest.mark.parametrize("spatial", [False, True])
@pytest.mark.parametrize("mimics", GEARS)
def test_rates_are_those_of_the_reduced_equations(spatial, mimics):
    rng = np.random.default_rng([3, 57])
    tree = space.random_mechanism(rng, 5, spatial, joints=(REVOLUTE, PRISMATIC))
    scenario = geared(tree, mimics)
    mechanism = prepare(Float64(), scenario)
    q, p = mechanism.initial_state(scenario)
    found = serve(Float64(), rates(mechanism, q, p))
    qd, pd = lagrangian.canonical_rates(scenario, q, p)
    np.testing.assert_allclose(found.q_dot, qd, rtol=0, atol=1e-11)
    np.testing.assert_allclose(qd, scenario.qd0, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.p_dot, pd, rtol=0, atol=1e-10 * np.abs(pd).max())
    assert [found.p[k] for k in mimics] == [found.p_dot[k] for k in mimics] == [0.0, 0.0]


def test_the_gear_holds_and_the_energy_stays():
    scenario = pendulum(step=1e-3, end=1.0, integrator="rk4", save=10)
    run = native_runs.simulate(scenario)
    assert np.array_equal(run.q[:, 1], -0.5 * run.q[:, 0] + 0.3)
    assert np.array_equal(run.qd[:, 1], -0.5 * run.qd[:, 0])
    exact = lagrangian.simulate(scenario, run.t)
    for name in ("q", "qd", "p"):
        np.testing.assert_allclose(getattr(run, name), getattr(exact, name), rtol=0, atol=1e-8)
    (energy,) = conserved(scenario)
    assert np.abs(energy.change(run)).max() < 1e-9 < 1.0 < run.kinetic.max()
    solved = adaptive.simulate(dataclasses.replace(scenario, integrator="DOP853", end=0.2))
    np.testing.assert_allclose(solved.q, exact.q[: len(solved)], rtol=0, atol=1e-7)
    assert np.array_equal(solved.q[:, 1], -0.5 * solved.q[:, 0] + 0.3)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_the_same_bits_on_model_native_code_and_engine(integrator):
    scenario = pendulum(step=1e-2, end=0.05, integrator=integrator)
    run = simulate(scenario)
    same(native_runs.simulate(scenario), run)
    same(engine_runs.simulate(Machine(), scenario), simulate(scenario, BitExact(fold=True)))


def test_a_robot_moves_as_its_forward_dynamics_says(tmp_path):
    """A gripper: three joints follow, one of them a chain; the file of its scenario is the same."""
    model = RobotModel(load_robot(GRIPPER))
    q, qd = np.random.default_rng(1).uniform(-0.5, 0.5, (2, model.nv))
    scenario = scenario_of_robot(model, q=q, qd=qd)
    leading = [k for k in range(5) if k not in scenario.mimics]
    assert len(leading) == 2
    found = lagrangian.equations_of(scenario).accelerations(scenario.q0, scenario.qd0)
    want = model.forward_dynamics(q, qd, np.zeros(2))
    np.testing.assert_allclose(found[leading], want, rtol=1e-11, atol=1e-11)
    write_scenario(tmp_path / "gripper.toml", scenario)
    assert load(tmp_path / "gripper.toml").bodies == scenario.bodies
    run = simulate(dataclasses.replace(scenario, step=1e-5, end=1e-5), "float64")
    np.testing.assert_allclose((run.qd[1] - run.qd[0])[leading] / 1e-5, want, rtol=0, atol=0.01)


def test_a_joint_that_stands_at_its_offset_is_held():
    robot = load_robot(GRIPPER, mimic=False)
    held = dataclasses.replace(robot, mimics={2: RobotMimic(FIXED_BASE, 0.0, 0.25)})
    scenario = scenario_of_robot(held)
    assert scenario.bodies[2].motion == scenario.q0[2] == 0.25 and not scenario.mimics


def bars(**lower):
    data = tables(load(SCENARIOS / "double_pendulum.toml"))
    data["body"][1] |= {"mimic": {"body": 0}, **lower}
    for key in {"q", "qd"} - lower.keys():
        del data["body"][1][key]
    return data


def both(**more):
    return bars() | more


PIN = {"body": 1, "point": [0.4, 0.0], "to": -1, "at": [0.4, 0.0]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (bars(q=0.7), "body[1].q: must be as its joint mimics, "),
        (bars(qd=0.7), "body[1].qd: must be as its joint mimics, "),
        (bars(mimic=0), "body[1].mimic: must be a table, as { body = 0, multiplier = -1.0 }, got"),
        (bars(mimic={"body": 7}), "body[1].mimic: no body 7: bodies are 0 to 1"),
        (bars(mimic={"body": 1}), "body[1].mimic: body 1 must have a revolute or prismatic joint"),
        (bars(mimic={}), "body[1].mimic.body: required key is missing"),
        (bars(mimic={"body": 0, "gain": 2}), "body[1].mimic.gain: unknown key"),
        (bars(motion="t"), "body[1].motion: its joint mimics another one"),
        (bars(guess=True), "body[1].guess: its joint mimics another one"),
        (both(loop=[PIN]), "body[1].mimic: not beside loops"),
    ],
)
def test_what_makes_no_sense_is_refused(data, said):
    with pytest.raises(ScenarioError) as caught:
        parse(data)
    assert said in str(caught.value)


def test_who_takes_no_mimic_joint_says_so():
    scenario = pendulum(end=1e-3, step=1e-3)
    with pytest.raises(ScenarioError, match=r"body\[1\].mimic: a recursive algorithm takes no jo"):
        canonical_momenta(Float64(), scenario, [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(ScenarioError, match=r"body\[1\].mimic: what computes joint forces takes"):
        joint_forces(scenario, simulate(scenario))
