"""Robots on pinned feet: where they stand, what holds them, and how they move."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import columns, inputs
from pymodel.arith.arrays import FormatArrays
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32
from pymodel.compile.robot_kernels import recorded
from pymodel.control import standing
from pymodel.control.motion import Motion
from pymodel.control.states import States
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import HOPPER, ROBOTS

FEET = [f"{leg}_foot" for leg in ("lf", "lh", "rf", "rh")]
KNOTS, STEP = 10, 0.01


@pytest.fixture(scope="module")
def hyq():
    return robot_file.load(ROBOTS / "hyq.urdf", floating=True, gravity=(0.0, 1.0, -9.0))


@pytest.fixture(scope="module")
def hopper(tmp_path_factory):
    """A trunk on a leg whose foot is pinned, and where."""
    path = tmp_path_factory.mktemp("hopper") / "hopper.urdf"
    path.write_text(HOPPER)
    robot = robot_file.load(path, floating=True)
    q = standing.bent_legs(robot, ["foot"])
    return standing.pinned(robot, ["foot"], q, 20.0), q


def test_a_quadruped_stands(hyq):
    """Knees are bent to each other, torques hold it, and its feet bear its weight."""
    q = standing.bent_legs(hyq, FEET)
    feet = np.array([RobotModel(hyq).placement(q, name)[0] for name in FEET])
    hips = np.array([RobotModel(hyq).placement(q, f"{x[:2]}_upperleg")[0] for x in FEET])
    assert np.abs(feet[:, :2] - hips[:, :2]).max() < 0.02
    assert np.ptp(feet[:, 2]) < 1e-6 and feet[0, 2] < -0.5
    knees = np.array([RobotModel(hyq).placement(q, f"{x[:2]}_lowerleg")[0] for x in FEET])
    assert np.all((knees - feet)[:, 0] * [1, -1, 1, -1] < -0.2)
    robot = standing.pinned(hyq, FEET, q)
    assert [loop.rows for loop in robot.loops] == [(0, 1, 2)] * 4
    us, still = standing.holding_torques(robot, q), np.zeros(18)
    found = RobotModel(robot).constrained_forward_dynamics(q, still, np.r_[np.zeros(6), us])
    assert np.abs(found).max() < 1e-9
    xs = np.tile(np.concatenate([q, still]), (3, 1))
    forces = standing.contact_forces(robot, xs, np.tile(us, (2, 1)), STEP)
    mass = sum(link.mass for link in hyq.links)
    np.testing.assert_allclose(forces.sum(axis=1), [[0.0, -mass, 9.0 * mass]] * 2, atol=1e-9)
    assert np.all(forces[..., 2] > 0)
    lifted = States(robot).integrate(xs[0], 0.003 * np.eye(36)[2])
    off = standing.drift(robot, np.stack([xs[0], lifted]))  # its largest part in a leg's axes
    assert 0.003 / np.sqrt(3) < off <= 0.003


def test_motions_and_derivatives_are_the_functions(hopper):
    """On native code those of the text, to the bit; the pinned foot stays."""
    robot, q = hopper
    motion = Motion(reduced(robot), STEP, "step", "float32")
    rng, n, float32 = np.random.default_rng(9), robot.nv, FormatArrays(BINARY32)
    us = rng.uniform(-3, 3, (KNOTS, motion.nu))
    qd = RobotModel(robot).close_loops(q, rng.uniform(-1, 1, n))[1]
    none = np.full(motion.nu, np.inf)
    given = np.concatenate([q, qd]), np.ones(motion.lanes), -none, none
    xs, _ = motion.under(motion.open(us), *given)
    A, B = motion.linearised(xs[..., 0], us)

    def by_text(function, knots):
        values = np.hstack([xs[:-1, :, 0], motion.states.torques(us), np.full((KNOTS, 1), STEP)])
        names = inputs(robot, function)
        table = {x: float32.array(y) for x, y in zip(names, values.T, strict=True)}
        found = recorded(reduced(robot), function).evaluate(float32, table)
        zero = np.zeros(KNOTS)
        return [
            np.array([found[x].values if x in found else zero for x in columns(robot, kind)]).T
            for kind in knots
        ]

    after = np.hstack(by_text("stepc", ("qnext", "qdnext")))
    np.testing.assert_array_equal(xs[1:, :, 0], after)
    by_x, by_u = by_text("dstepc", ("a", "b"))
    np.testing.assert_array_equal(A, by_x.reshape(KNOTS, 2 * n, 2 * n))
    driven = by_u.reshape(KNOTS, 2 * n, n)[..., motion.states.driven]
    np.testing.assert_array_equal(B, driven)
    assert standing.drift(robot, xs[..., 0]) < 2e-3
    assert np.abs(xs[-1, 3:6, 0] - q[3:6]).max() > 0.01  # it turned


def test_derivatives_are_those_of_the_step(hopper):
    """A and B of a step with a pinned foot, by central differences in the tangent space."""
    robot, q = hopper
    motion = Motion(reduced(robot), STEP, "step")
    states, rng, far = motion.states, np.random.default_rng(4), 1e-6
    u = rng.uniform(-3, 3, motion.nu)
    x = np.concatenate([q, RobotModel(robot).close_loops(q, rng.uniform(-1, 1, robot.nv))[1]])
    none = np.full(motion.nu, np.inf)

    def after(x, u):
        given = x, np.ones(motion.lanes), -none, none
        return motion.under(motion.open(u[None]), *given)[0][1, :, 0]

    def by_differences(of, count):
        ends = [[after(*of(sign * e)) for sign in (-far, far)] for e in np.eye(count)]
        return np.array([states.difference(*pair) for pair in ends]).T / (2 * far)

    A, B = motion.linearised(x[None], u[None])
    want = by_differences(lambda e: (states.integrate(x, e), u), motion.ndx)
    np.testing.assert_allclose(A[0], want, rtol=0, atol=1e-8 * np.abs(want).max())
    want = by_differences(lambda e: (x, u + e), motion.nu)
    np.testing.assert_allclose(B[0], want, rtol=0, atol=1e-7 * np.abs(want).max())


def test_what_is_refused(hyq, hopper):
    q = standing.bent_legs(hyq, FEET)
    with pytest.raises(InputError, match="feet: no link 'hand'; there are base_link_0, "):
        standing.pinned(hyq, ["hand"], q)
    with pytest.raises(InputError, match="feet: lf_foot stands twice"):
        standing.pinned(hyq, ["lf_foot", "lf_foot"], q)
    fixed = robot_file.load(ROBOTS / "hyq.urdf")
    with pytest.raises(InputError, match="feet: link base_link_0 stands on the ground"):
        standing.pinned(fixed, ["base_link_0"], q[7:])
    with pytest.raises(InputError, match="method rk4: of a robot with loops it must be step"):
        Motion(reduced(hopper[0]), STEP, "rk4")
