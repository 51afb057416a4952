"""Planning where coordinates do not add: balls and floating joints, floating bases."""

import numpy as np
import pytest

from pymodel.control import ddp
from pymodel.control.costs import Link, Reach
from pymodel.control.motion import Motion
from pymodel.control.receding import Plant, drive
from pymodel.control.states import States
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import ROBOTS

KNOTS, STEP = 10, 0.05
BODY = """<robot name="body"><link name="ground"/>
<link name="slide"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0"
izz="1"/></inertial></link>
<link name="bob"><inertial><origin xyz="0.1 0.2 -0.4"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial></link>
<joint name="rail" type="prismatic"><axis xyz="1 0 0"/><parent link="ground"/><child link="slide"/>
<limit effort="9" velocity="9" lower="-9" upper="9"/></joint>
<joint name="joint" type="KIND"><parent link="slide"/><child link="bob"/></joint></robot>
"""


@pytest.fixture(scope="module", params=["ball", "floating"])
def robot(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "body.urdf"
    path.write_text(BODY.replace("KIND", request.param))
    return robot_file.load(path)


@pytest.fixture(scope="module")
def motion(robot):
    return Motion(reduced(robot), STEP, "step")


@pytest.fixture(scope="module")
def reach(robot, motion):
    link, states = Link(robot, "bob"), motion.states
    goal, rest = (states.integrate(states.neutral, x) for x in random(motion, 2, seed=3))
    weights = np.linspace(0.1, 0.4, motion.ndx)
    placement = link.placement(goal[: robot.nq])
    return Reach(link, *placement, rest[: robot.nq], STEP, 2.0, 5.0, weights, 1e-3)


def random(motion, *shape, seed=9):
    """Displacements with turns of less than half a one."""
    return 0.7 * np.random.default_rng(seed).uniform(-1, 1, (*shape, motion.ndx))


def test_states_differ_and_move_on_as_with_pinocchio(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    path = tmp_path / "robot.urdf"
    heavy = BODY[BODY.index("<inertial>") : BODY.index('</link>\n<link name="bob"')]
    based = BODY.replace('name="ground"/>', f'name="ground">{heavy}</link>')
    path.write_text(based.replace("KIND", "ball"))
    robot = robot_file.load(path, floating=True)
    states, rng = States(robot), np.random.default_rng(9)
    assert states.driven == list(range(6, robot.nv))
    assert [len(own) for own in robot.coordinates if own] == [7, 1, 4]
    groups = {7: pinocchio.liegroups.SE3(), 4: pinocchio.liegroups.SO3()}
    a = states.integrate(states.neutral, rng.normal(size=(20, states.ndx)))
    for size in (1.0, 0.02, 1e-7):
        way = size * rng.uniform(-1, 1, (20, states.ndx))
        b = states.integrate(a, way)
        np.testing.assert_allclose(states.difference(a, b), way, rtol=0, atol=1e-13)
        first = 0
        for own in robot.coordinates:
            dofs = slice(first, first + len(own) - (len(own) > 1))
            first = dofs.stop
            for x, y, z in zip(a[:, own], way[:, dofs], b[:, own], strict=True):
                wanted = groups[len(own)].integrate(x, y) if len(own) > 1 else x + y
                np.testing.assert_allclose(z, wanted, rtol=0, atol=1e-14)
        np.testing.assert_array_equal(b[:, robot.nq :], a[:, robot.nq :] + way[:, robot.nv :])
    for own in robot.quaternions:  # of any length, afterwards of length 1
        a[:, own] *= 1.001
    moved = states.integrate(a, way)
    for own in robot.quaternions:
        np.testing.assert_allclose(np.linalg.norm(moved[:, own], axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(states.difference(a, moved), way, rtol=0, atol=1e-13)


def test_motions_and_derivatives_are_the_functions(robot, motion):
    """All knots of a motion by the robot's functions one after the other."""
    model, rng = RobotModel(robot), np.random.default_rng(9)
    start = motion.states.integrate(motion.states.neutral, random(motion))
    us, none = rng.uniform(-1, 1, (KNOTS, motion.nu)), np.full(motion.nu, np.inf)
    xs, _ = motion.under(motion.open(us), start, np.ones(motion.lanes), -none, none)
    A, B = motion.linearised(xs[..., 0], us)
    x = start
    for k, u in enumerate(us):
        np.testing.assert_allclose(xs[k, :, -1], x, atol=1e-12)
        parts = x[: robot.nq], x[robot.nq :]
        by_x, by_u = model.step_derivatives(*parts, u, STEP)
        np.testing.assert_allclose(A[k], by_x, atol=1e-11)
        np.testing.assert_allclose(B[k], by_u, atol=1e-11)
        x = np.concatenate(model.step(*parts, u, STEP))


def test_feedback_acts_on_what_differs_in_the_tangent_space(motion):
    states, rng = motion.states, np.random.default_rng(9)
    us, none = rng.uniform(-1, 1, (1, motion.nu)), np.full(motion.nu, np.inf)
    before, start = (states.integrate(states.neutral, x) for x in random(motion, 2))
    K = rng.uniform(-1, 1, (1, motion.nu, motion.ndx))
    policy = motion.open(us)._replace(xs=np.array([before, before]), K=K)
    _, taken = motion.under(policy, start, np.ones(motion.lanes), -none, none)
    wanted = us[0] + K[0] @ states.difference(before, start)
    np.testing.assert_allclose(taken[0, :, 0], wanted, rtol=1e-13)


def test_reach_is_differentiated_as_differences_tend_to(motion, reach):
    """Slopes by those of the cost in the tangent space; curvature of the state by its Jacobian."""
    states, rng = motion.states, np.random.default_rng(9)
    xs = states.integrate(states.neutral, random(motion, KNOTS + 1))
    us, by_u = rng.uniform(-1, 1, (2, KNOTS, motion.nu))
    found, by_x, near = reach.approximated(xs, us), random(motion, KNOTS + 1, seed=2), 1e-6

    def cost(share):
        moved = states.integrate(xs, share * by_x)
        return reach.value(moved[..., None], (us + share * by_u)[..., None])[0]

    slope = (cost(near) - cost(-near)) / (2 * near)
    assert (found.lx * by_x).sum() + (found.lu * by_u).sum() == pytest.approx(slope, rel=1e-7)
    goal = states.integrate(states.neutral, random(motion, 2, seed=3)[1])
    goal[states.nq :] = 0.0
    ways = np.eye(motion.ndx)[:, None]
    ahead, behind = (states.integrate(xs, x * ways) for x in (near, -near))

    def slopes(of):
        return (of(ahead) - of(behind)) / (2 * near)

    away = slopes(lambda x: states.difference(np.broadcast_to(goal, x.shape), x))
    place = slopes(lambda x: np.array([reach.missing(some) for some in x]))
    wanted = np.einsum("ika,a,jka->kij", away, np.linspace(0.1, 0.4, motion.ndx), away)
    wanted[:-1] *= STEP
    weights = np.append(np.full(KNOTS, 2.0 * STEP), 5.0)
    wanted += weights[:, None, None] * np.einsum("ika,jka->kij", place, place)
    np.testing.assert_allclose(found.lxx, wanted, atol=1e-7)


@pytest.mark.parametrize("limit", [np.inf, 2.0])
def test_at_the_least_cost_no_torque_has_a_slope_that_a_limit_does_not_hold(motion, reach, limit):
    """Slopes by the recursion of the costates, which differences of the cost confirm."""
    most = np.full(motion.nu, limit)
    problem, x = ddp.Problem(motion, reach, -most, most), motion.states.neutral

    def cost(us):
        ones = np.ones(motion.lanes)
        return float(reach.value(*motion.under(motion.open(us), x, ones, -most, most))[0])

    def slopes(us):
        xs, _ = motion.under(motion.open(us), x, np.ones(motion.lanes), -most, most)
        A, B = motion.linearised(xs[..., 0], us)
        found = reach.approximated(xs[..., 0], us)
        costate, lu = found.lx[-1], found.lu.copy()
        for k in reversed(range(KNOTS)):
            lu[k] += B[k].T @ costate
            costate = found.lx[k] + A[k].T @ costate
        return lu

    us, way = 0.5 * np.random.default_rng(9).uniform(-1, 1, (2, KNOTS, motion.nu))
    slope = (cost(us + 1e-5 * way) - cost(us - 1e-5 * way)) / 2e-5
    assert (slopes(us) * way).sum() == pytest.approx(slope, rel=1e-6)
    found = ddp.solve(problem, x, motion.open(np.zeros((KNOTS, motion.nu))), tolerance=1e-14)
    us = found.policy.us
    assert found.converged and np.all(np.diff(found.costs) < 0)
    at, left = np.abs(us) >= limit, slopes(us)
    assert np.abs(us).max() <= limit and at.any() == np.isfinite(limit)
    assert np.abs(left[~at]).max() < 1e-5 * np.abs(slopes(0 * us)).max()
    assert np.all(left[at] * np.sign(us[at]) < 0)


def test_a_horizon_recedes_with_noise_on_the_manifold(motion, reach):
    most = np.full(motion.nu, np.inf)
    problem, x = ddp.Problem(motion, reach, -most, most), motion.states.neutral
    plan = ddp.solve(problem, x, motion.open(np.zeros((KNOTS, motion.nu))))
    driven = drive(problem, Plant(motion, 1), plan.policy, 40, noise=1e-4, seed=3)
    for own in motion.robot.quaternions:
        np.testing.assert_allclose(np.linalg.norm(driven.xs[:, own], axis=1), 1.0, atol=1e-9)
    left = np.linalg.norm(reach.missing(driven.xs), axis=1)
    assert left[-1] < 0.3 * left[0]


def test_torques_act_on_what_is_driven():
    """Three of a leg's five joints: columns of B, and motions, of these alone; loops are kept."""
    robot = robot_file.load(ROBOTS / "closed_leg.urdf")
    motion, rng = Motion(reduced(robot), STEP, "step"), np.random.default_rng(9)
    driven = motion.states.driven
    assert len(driven) == motion.nu == 3 and robot.nv == 5
    x, us = rng.uniform(-1, 1, (2, motion.nx)), rng.uniform(-1, 1, (1, 3))
    tau, model, free = motion.states.torques(us)[0], RobotModel(robot), np.full(3, np.inf)
    A, B = motion.linearised(x, us)
    by_x, by_u = model.constrained_step_derivatives(*np.split(x[0], 2), tau, STEP)
    np.testing.assert_array_equal(A[0], by_x)
    np.testing.assert_array_equal(B[0], by_u[:, driven])
    xs, _ = motion.under(motion.open(us), x[0], np.ones(motion.lanes), -free, free)
    after = np.concatenate(model.constrained_step(*np.split(x[0], 2), tau, STEP))
    np.testing.assert_array_equal(xs[1, :, 0], after)
