"""Placements, Jacobians, energies, centre of mass and regressor, against Pinocchio and MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FURTHER, NEEDS_LINK, evaluate, inputs, suited
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact
from pymodel.compile.robot_kernels import recorded
from pymodel.mechanism import robot_file
from pymodel.mechanism.robot import FIXED_BASE, at_link
from pymodel.runs import mujoco_reference, pinocchio_reference, robot_calls
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import ROBOTS, random_urdf, relative_error
from pymodel.tests.trees import random_robot

STATES = 100
SAME = 1e-12  # relative to the largest entry of all states


def asked(robot, function):
    """The robot at a link on a moving joint, at one on a fixed joint, and at none, as it goes."""
    fixed = [name for name, at in robot.fixed.items() if at.carrier != FIXED_BASE]
    names = [robot.links[-1].name, *fixed[-1:]] if FURTHER[function].link else []
    none = [] if FURTHER[function].link == NEEDS_LINK else [robot]
    return [*none, *(at_link(robot, name) for name in names)]


@pytest.mark.parametrize("gravity", [None, (1.0, -2.0, 3.0)], ids=["down", "slanting"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(2))
def test_functions_as_pinocchio(tmp_path, seed, floating, gravity):
    """On trees of mixed joints with links on fixed ones, and with drives."""
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(np.random.default_rng(20 + seed)))
    robot = robot_file.load(path, floating, armature=0.3, gravity=gravity)
    assert any(at.carrier != FIXED_BASE for at in robot.fixed.values())
    for function in FURTHER:
        for each in asked(robot, function):
            table = robot_calls.random_states(each, function, STATES, seed=9)
            found = robot_calls.call(each, function, table).table
            expected = pinocchio_reference.call(each, function, table)
            assert relative_error(found, expected) < SAME, function


@pytest.mark.parametrize("name", [*FURTHER])
@pytest.mark.parametrize(
    ("file", "floating"),
    [("quadruped.xml", False), ("gripper.urdf", True), ("mobile_arm.urdf", False)]
    + [("tethered.urdf", False)],
)
@pytest.mark.nightly(every=3)
def test_an_mjcf_mimics_and_joints_of_several_coordinates_as_pinocchio(file, floating, name):
    """An MJCF's bodies' frames are not those of their joints."""
    robot = robot_file.load(ROBOTS / file, floating)
    for each in asked(robot, name):
        table = robot_calls.random_states(each, name, STATES, seed=9)
        found = robot_calls.call(each, name, table).table
        assert relative_error(found, pinocchio_reference.call(each, name, table)) < SAME


def test_a_base_that_a_floating_joint_carries_stands_at_its_origin(tmp_path):
    arm = random_urdf(np.random.default_rng(20)).partition("<link")
    joint = "<joint name='f' type='floating'><parent link='world'/><child link='link0'/>"
    joint += "<origin xyz='1 2 3' rpy='0.1 0.2 0.3'/></joint><link name='world'/>"
    path = tmp_path / "base.urdf"
    path.write_text(f"{arm[0]}{joint}{arm[1]}{arm[2]}")
    robot = robot_file.load(path, gravity=(1.0, -2.0, 3.0))
    assert robot.floating
    for function in FURTHER:
        for each in asked(robot, function):
            table = robot_calls.random_states(each, function, STATES, seed=9)
            found = robot_calls.call(each, function, table).table
            assert relative_error(found, pinocchio_reference.call(each, function, table)) < SAME


def test_bodies_stand_where_mujoco_has_them():
    robot, rng = robot_file.load(ROBOTS / "quadruped.xml"), np.random.default_rng(9)
    names, peer = [link.name for link in robot.links], mujoco_reference.Peer(robot)
    q = rng.uniform(-1, 1, (10, robot.nq))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    position, rotation = RobotModel(robot).placement(q)
    for k in range(10):
        expected = peer.placements(q[k], names)
        np.testing.assert_allclose(position[k], expected[0], atol=1e-14)
        np.testing.assert_allclose(rotation[k], expected[1], atol=1e-14)


@pytest.mark.parametrize("name", [*FURTHER])
@pytest.mark.parametrize("as_data", [False, True], ids=["numbers", "data"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.nightly(every=3)
def test_text_and_kernel_agree_bit_for_bit(floating, as_data, name):
    robot = at_link(random_robot(3, 4, floating=floating), "link3")
    rng = np.random.default_rng(7)
    state = {column: rng.uniform(-1, 1) for column in inputs(robot, name)}
    direct, by_graph, numbers = BitExact(BINARY32), BitExact(BINARY32), []
    for arithmetic, on in ((direct, evaluate), (by_graph, _by_kernel)):
        given = {column: arithmetic.const(x) for column, x in state.items()}
        found = on(name, robot, arithmetic, given, "", (), as_data)
        numbers.append({column: x.bits for column, x in found.items()})
    assert numbers[0] == numbers[1]
    again = evaluate(name, robot, BitExact(BINARY32), given, "", (), not as_data)
    assert again.keys() == numbers[0].keys()


def _by_kernel(name, robot, arithmetic, given, method, external, as_data):
    return recorded(robot, name, method, external, as_data).evaluate(arithmetic, given)


def test_what_has_no_link_or_no_mass_is_refused():
    robot = random_robot(5, 3)
    for function in ("J", "Jbody"):
        with pytest.raises(InputError, match=f"^{function} of random 5: needs the name of a link$"):
            suited(robot, function)
    with pytest.raises(InputError, match="^link: no link 'hand'; those that move are link0, link1"):
        at_link(robot, "hand")
    light = replace(robot, links=tuple(replace(x, inertia=np.zeros((4, 4))) for x in robot.links))
    with pytest.raises(InputError, match="^com of random 5: what moves has no mass$"):
        suited(light, "com")
