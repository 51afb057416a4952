"""Discrete steps and their sensitivities, against numpy, Pinocchio, differences and themselves."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import STEPS, evaluate, inputs, suited
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism import robot_file
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import ROBOTS, random_urdf, relative_error

STATES = 20
SAME = 1e-11  # relative to the largest entry of all states


SLANTED = (1.0, -2.0, 3.0)
TURNING = [("gripper.urdf", True), ("tethered.urdf", False)]  # with quaternions


@pytest.mark.parametrize(
    ("file", "floating", "name"),
    [(file, False, name) for file in ("iiwa14.urdf", "gripper.urdf") for name in STEPS]
    + [(*case, name) for case in TURNING for name in ("step", "dstep")],
)
@pytest.mark.nightly(
    "iiwa14.urdf-False-step",
    "iiwa14.urdf-False-dstep",
    "gripper.urdf-False-rk4",
    "gripper.urdf-True-dstep",
    "tethered.urdf-False-step",
)
def test_steps_as_with_pinocchios_accelerations(file, floating, name):
    """Joints that mimic others among them, floating bases, ball and floating joints."""
    robot = robot_file.load(ROBOTS / file, floating, gravity=SLANTED)
    table = robot_calls.random_states(robot, name, STATES, seed=9)
    found = robot_calls.call(robot, name, table).table
    assert relative_error(found, pinocchio_reference.call(robot, name, table)) < SAME


@pytest.mark.parametrize("method", ["step", "rk4_step"])
def test_derivatives_are_what_differences_tend_to(tmp_path, method):
    path = tmp_path / "random.urdf"
    resisting = "<dynamics damping='0.2' friction='0.3'/></joint>"
    path.write_text(random_urdf(np.random.default_rng(20)).replace("</joint>", resisting))
    robot = RobotModel(robot_file.load(path, damping=True, friction=0.5, armature=0.1))
    assert {link.friction for link in robot.robot.links} == {0.3}
    rng = np.random.default_rng(9)
    n, near = robot.nv, 1e-5
    state = rng.uniform(-1, 1, 3 * n)
    ways = np.eye(3 * n)

    def after(states):
        q, qd, tau = np.split(states, 3, axis=-1)
        return np.concatenate(getattr(robot, method)(q, qd, tau, 0.02), axis=-1)

    slopes = (after(state + near * ways) - after(state - near * ways)).T / (2 * near)
    q, qd, tau = np.split(state, 3)
    A, B = getattr(robot, f"{method}_derivatives")(q, qd, tau, 0.02)
    np.testing.assert_allclose(np.hstack([A, B]), slopes, atol=1e-8)


def test_orders_of_the_methods():
    """A step of half the length is so much nearer to many small ones."""
    robot = RobotModel(robot_file.load(ROBOTS / "iiwa14.urdf"), target="native")
    rng = np.random.default_rng(9)
    q, qd, tau = rng.uniform(-1, 1, (3, robot.nv))

    def error(method, count, h=0.04):
        return np.abs(np.concatenate(many(method, count, h)) - exact).max()

    def many(method, count, h):
        x = q, qd
        for _ in range(count):
            x = getattr(robot, method)(*x, tau, h / count)
        return x

    exact = np.concatenate(many("rk4_step", 64, 0.04))
    assert error("step", 1) / error("step", 2) == pytest.approx(2.0, abs=0.4)
    assert error("rk4_step", 1) / error("rk4_step", 2) == pytest.approx(16.0, abs=4.0)


@pytest.mark.parametrize(
    ("name", "floating"), [*((name, False) for name in STEPS), ("dstep", True)]
)
def test_text_and_kernel_agree_bit_for_bit(name, floating):
    robot, rng = robot_file.load(ROBOTS / "gripper.urdf", floating), np.random.default_rng(7)
    state = {column: rng.uniform(-1, 1) for column in inputs(robot, name)}
    direct, by_graph = BitExact(BINARY32), BitExact(BINARY32)
    given = {column: direct.const(x) for column, x in state.items()}
    found = evaluate(name, suited(robot, name), direct, given)
    kernel = recorded(suited(robot, name), name)
    again = kernel.evaluate(by_graph, {column: by_graph.const(x) for column, x in state.items()})
    assert {column: x.bits for column, x in found.items()} == {
        column: again[column].bits for column in found
    }


@pytest.mark.parametrize(("file", "floating"), TURNING)
def test_stages_of_quaternions_are_refused(file, floating):
    robot = RobotModel(robot_file.load(ROBOTS / file, floating))
    rows = np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv)
    with pytest.raises(InputError, match="rk4 of .*: takes coordinates that add; quaternions"):
        robot.rk4_step(*rows, 0.01)
