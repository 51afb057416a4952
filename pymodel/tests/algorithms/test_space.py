"""HDCA in space, and with joints other than pins, against Pinocchio and by what is conserved."""

import re
from dataclasses import replace

import numpy as np
import pytest

import pymodel
from pymodel.algorithms.requests import serve
from pymodel.algorithms.step import Mechanism, rates
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact, Float64
from pymodel.machine.isa import Machine
from pymodel.mechanism import kinematics, urdf
from pymodel.mechanism.coordinates import coordinate_rates
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.mechanism.scenario import (
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    ScenarioError,
)
from pymodel.mechanism.scenario_file import parse
from pymodel.mechanism.topology import SHAPES
from pymodel.runs import engine_runs, native_runs
from pymodel.runs.simulate import simulate
from pymodel.tests import space
from pymodel.tests.pinocchio_scenario import PinocchioTree
from pymodel.tests.robots import NAMES, ROBOTS

SEEDS = range(6)
#: Relative, float64; worst seen: 6e-13 of the random trees, 5e-10 of the robots.
BOUND, BOUND_ROBOTS = 1e-11, 1e-9


def evaluated(scenario, q, p, **options):
    """q-dot, p-dot, dq/dt and the impulses of the loops."""
    now = serve(Float64(), rates(Mechanism(Float64(), scenario, **options), list(q), list(p)))
    return tuple(np.array(x, dtype=float) for x in (now.q_dot, now.p_dot, now.q_rate, now.t_cut))


def drives(scenario, q, qd):
    """Torques and forces of the joints with one coordinate, shape (nv,)."""
    found = np.zeros(scenario.nv)
    for body, own, rate in zip(scenario.bodies, scenario.q_slices, scenario.v_slices, strict=True):
        if rate.stop - rate.start == 1:
            x, v = q[own][0], qd[rate][0]
            found[rate] = body.torque - body.spring * (x - body.rest) - body.damping * v
    return found


def difference(found, expected):
    return np.abs(found - expected).max() / max(1.0, np.abs(expected).max())


def assert_like_pinocchio(scenario, bound, **options):
    """p = M qd; p-dot = C^T qd - g + tau."""
    tree, q, qd = PinocchioTree(scenario), scenario.q0, scenario.qd0
    q_dot, p_dot, q_rate, _ = evaluated(scenario, q, tree.mass_matrix(q, qd) @ qd, **options)
    assert difference(q_dot, qd) < bound
    assert difference(p_dot, tree.momentum_rates(q, qd) + drives(scenario, q, qd)) < bound
    assert difference(q_rate, coordinate_rates(scenario, q, qd)) < bound


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", SEEDS)
def test_trees_of_all_joints(seed, spatial):
    rng = np.random.default_rng(seed)
    scenario = space.random_mechanism(rng, 1 + seed, spatial)
    for shape in SHAPES:
        assert_like_pinocchio(scenario, BOUND, shape=shape)


def at_tips(scenario):
    """The same bodies, all children of one at one point."""
    bodies = [
        body if body.parent == GROUND else replace(body, attach=scenario.bodies[body.parent].tip)
        for body in scenario.bodies
    ]
    return replace(scenario, bodies=tuple(bodies))


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
@pytest.mark.parametrize("seed", SEEDS)
def test_different_joints_at_one_point_of_a_body(seed, spatial):
    rng, parents = np.random.default_rng(seed), [GROUND, 0, 0, 0, 1, 1, 2, 2]
    scenario = at_tips(space.random_mechanism(rng, 8, spatial, parents=parents))
    assert len({body.joint for body in scenario.bodies[1:]}) > 1
    assert_like_pinocchio(scenario, BOUND)


def test_native_code_of_different_joints_at_one_point():
    rng = np.random.default_rng(1)
    joints = [REVOLUTE, SPHERICAL, PRISMATIC]
    scenario = at_tips(space.random_mechanism(rng, 3, joints=joints, parents=[GROUND, 0, 0]))
    runs = simulate(scenario), native_runs.simulate(scenario)
    assert runs[0].q.tobytes() == runs[1].q.tobytes()


@pytest.mark.parametrize("joint", [REVOLUTE, PRISMATIC, SPHERICAL, FREE])
def test_each_joint_alone_on_the_ground_and_on_another_body(joint):
    rng = np.random.default_rng(1)
    for parents in ([GROUND], [GROUND, GROUND], [GROUND, 0]):
        if joint == FREE and parents == [GROUND, 0]:
            continue
        assert_like_pinocchio(
            space.random_mechanism(rng, len(parents), joints=[joint], parents=parents), BOUND
        )


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.nightly("hyq-floating", "iiwa14-fixed")
def test_robots(name, floating):
    robot = urdf.load(ROBOTS / f"{name}.urdf", floating=floating, mimic=False)
    scenario = scenario_of_robot(robot)
    rng = np.random.default_rng(2)
    q, qd = rng.uniform(-1, 1, scenario.nq), rng.normal(size=scenario.nv)
    if floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    assert_like_pinocchio(scenario.with_state(q, qd), BOUND_ROBOTS)


@pytest.mark.parametrize("name", ["q", "qd"])
@pytest.mark.parametrize("shape", [(2,), (9,), (7, 1), ()])
def test_a_state_of_another_shape_is_refused(name, shape):
    with pytest.raises(ScenarioError, match=re.escape(f"{name}: shape {shape}, must be (7,)")):
        scenario_of_robot(urdf.load(ROBOTS / "iiwa14.urdf"), **{name: np.zeros(shape)})


def test_a_state_of_no_numbers_is_refused():
    for q in ("x", [None] * 7, np.ma.masked_less(np.zeros(7), 1.0)):
        with pytest.raises(ScenarioError, match=r"iiwa14.urdf: q: (must be a number|has masked)"):
            scenario_of_robot(urdf.load(ROBOTS / "iiwa14.urdf"), q=q)


def test_armature_is_refused():
    robot = urdf.load(ROBOTS / "iiwa14.urdf", armature=0.1)
    with pytest.raises(ScenarioError, match="a scenario has no armature"):
        scenario_of_robot(robot)


@pytest.mark.parametrize("seed", range(10))
def test_points_are_refused_whatever_rounding_leaves_of_their_moments(seed, tmp_path):
    mass, *com = np.random.default_rng(seed).uniform(-1, 1, 4)
    (tmp_path / "point.urdf").write_text(
        "<robot name='point'><link name='base'/><link name='bob'><inertial>"
        f"<origin xyz='{com[0]} {com[1]} {com[2]}'/><mass value='{abs(mass)}'/>"
        "<inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' izz='0'/></inertial></link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='bob'/></joint></robot>"
    )
    with pytest.raises(ScenarioError, match="link bob: its inertia must not be singular"):
        scenario_of_robot(urdf.load(tmp_path / "point.urdf"))


def test_a_robot_is_taken_with_its_functions_or_without():
    path = ROBOTS / "iiwa14.urdf"
    assert scenario_of_robot(pymodel.load_robot(path)) == scenario_of_robot(urdf.load(path))
    with pytest.raises(InputError, match="robot: must be a Robot or a RobotModel, got 'x'"):
        scenario_of_robot("x")


def test_quaternions_of_any_length():
    scenario = space.random_mechanism(np.random.default_rng(4), 3, joints=[SPHERICAL])
    q, qd = scenario.q0, scenario.qd0
    p = kinematics.joint_momenta(scenario, q, qd)
    q_dot, p_dot, q_rate, _ = evaluated(scenario, q, p)
    longer = evaluated(scenario, 1.5 * q, p)
    for found, expected in zip(longer, (q_dot, p_dot, 1.5 * q_rate), strict=False):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_a_planar_mechanism_moves_in_space_as_in_the_plane():
    """In the plane z = 0, hinges in place of pins; the text differs, the motion does not."""
    planar = space.slider_crank()
    spatial = space.in_space(planar)
    found = []
    for scenario in (planar, spatial):
        p = kinematics.joint_momenta(scenario, scenario.q0, scenario.qd0)
        found.append(evaluated(scenario, scenario.q0, p))
    for plane, other in zip(found[0][:3], found[1][:3], strict=True):
        np.testing.assert_allclose(other, plane, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("spatial", [False, True], ids=["plane", "space"])
def test_a_floating_system_keeps_energy_and_momentum(spatial):
    """10 s without gravity, Runge-Kutta in native code; 1e-10 of the largest values."""
    rng = np.random.default_rng(7)
    joints = [REVOLUTE, SPHERICAL] if spatial else [REVOLUTE]
    scenario = space.random_mechanism(
        rng, 3, spatial, joints=joints, parents=[GROUND, 0, 0], loads=False
    )
    base = space.random_mechanism(rng, 1, spatial, joints=[FREE]).bodies[0]
    scenario = replace(
        scenario,
        bodies=(base, *scenario.bodies[1:]),
        gravity=(0.0,) * (3 if spatial else 2),
        step=5e-4,
        end=10.0,
        save=200,
        integrator="rk4",
    )
    run = native_runs.simulate(scenario, Float64())
    linear, angular = kinematics.total_momenta(scenario, run.q, run.qd)
    for values in (run.kinetic[:, None], linear, angular):
        assert np.abs(values - values[0]).max() < 1e-10 * np.abs(values).max()
    assert np.abs(run.q - run.q[0]).max() > 1.0


def test_a_door_with_a_second_hinge_moves_as_with_one():
    """All that the second hinge takes follows from the first: the loop has no constraint left."""
    door = {
        "name": "door",
        "gravity": [0.0, -9.80665, 0.0],
        "time": {"step": 1e-3, "end": 0.05},
        "body": [
            {
                "mass": 2.0,
                "inertia": [0.1, 0.2, 0.3],
                "com": [0.4, 0.1, 0.5],
                "tip": [0.8, 0.0, 1.0],
                "axis": [0.0, 0.0, 1.0],
                "q": 0.3,
                "qd": 1.0,
            }
        ],
    }
    hinge = {"body": 0, "point": [0.0, 0.0, 1.0], "axis": [0.0, 0.0, 1.0], "to": -1}
    hinge |= {"at": [0.0, 0.0, 1.0], "to_axis": [0.0, 0.0, 1.0]}
    one, two = parse(door), parse(door | {"loop": [hinge]})
    assert two.loops[0].kept == ()
    runs = [simulate(one), simulate(two), simulate(two, rebase=3), native_runs.simulate(two)]
    runs += [each(two, project=3) for each in (simulate, native_runs.simulate)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.q, runs[0].q)
        assert run.loop_position.max() < 1e-15
    for every in (0, 3):
        on_engine = engine_runs.simulate(Machine(), two, project=every)
        want = simulate(two, BitExact(BINARY32, fold=True), project=every)
        assert on_engine.q.tobytes() == want.q.tobytes()
