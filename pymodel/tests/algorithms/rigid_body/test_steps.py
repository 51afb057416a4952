"""Discrete steps and their sensitivities, against numpy, Pinocchio, differences and themselves."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import STEPS, evaluate, inputs, suited
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
    + [(*case, name) for case in TURNING for name in STEPS],
)
@pytest.mark.nightly(
    "iiwa14.urdf-False-step",
    "iiwa14.urdf-False-dstep",
    "gripper.urdf-False-rk4",
    "gripper.urdf-True-dstep",
    "tethered.urdf-False-step",
    "tethered.urdf-False-drk4",
)
def test_steps_as_with_pinocchios_accelerations(file, floating, name):
    """Joints that mimic others among them, floating bases, ball and floating joints."""
    robot = robot_file.load(ROBOTS / file, floating, gravity=SLANTED)
    table = robot_calls.random_states(robot, name, STATES if name != "drk4" else 3, seed=9)
    found = robot_calls.call(robot, name, table).table
    assert relative_error(found, pinocchio_reference.call(robot, name, table)) < SAME


@pytest.mark.nightly("step")
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


@pytest.mark.parametrize(
    ("file", "floating"), [("iiwa14.urdf", False), ("gripper.urdf", True), ("tethered.urdf", False)]
)
@pytest.mark.nightly("iiwa14.urdf-False", "tethered.urdf-False")
def test_orders_of_the_methods(file, floating):
    """A step of half the length is so much nearer to many small ones."""
    robot = RobotModel(robot_file.load(ROBOTS / file, floating), target="native")
    rng, length = np.random.default_rng(9), 0.04
    qd, tau = rng.uniform(-1, 1, (2, robot.nv))
    q = rng.uniform(-1, 1, robot.nq)
    for own in robot.robot.quaternions:
        q[own] /= np.linalg.norm(q[own])
    if robot.nq != robot.nv:
        tau *= 0.0  # torques that throw light bodies about leave no order to see

    def error(method, count):
        return np.abs(np.concatenate(many(method, count)) - exact).max()

    def many(method, count):
        x = q, qd
        for _ in range(count):
            x = getattr(robot, method)(*x, tau, length / count)
        return x

    exact = np.concatenate(many("rk4_step", 64))
    assert error("step", 1) / error("step", 2) == pytest.approx(2.0, abs=0.4)
    assert error("rk4_step", 1) / error("rk4_step", 2) == pytest.approx(16.0, abs=4.0)


@pytest.mark.nightly("step-False", "dstep-False", "rk4-False", "drk4-False")
@pytest.mark.parametrize(
    ("name", "floating"), [*((name, False) for name in STEPS), ("dstep", True), ("rk4", True)]
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


PENDULUM = """<robot name="pendulum"><link name="ground"/>
<link name="bob"><inertial><origin xyz="0.1 0.2 -0.4"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial></link>
<joint name="ball" type="ball"><parent link="ground"/><child link="bob"/></joint></robot>
"""


def test_sensitivities_of_quaternions_are_the_same_bits_on_native_code(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(PENDULUM)
    robot = robot_file.load(path)
    table = robot_calls.random_states(robot, "drk4", 3, seed=9)
    found = [
        robot_calls.call(robot, "drk4", table, "float32", x).table for x in ("model", "native")
    ]
    for name, column in found[0].items():
        np.testing.assert_array_equal(column, found[1][name])
