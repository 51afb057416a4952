"""Which format a robot's file has, whatever its name, and the order of its joints."""

from importlib.util import find_spec

import mujoco
import numpy as np
import pytest

from pymodel.arith.errors import InputError
from pymodel.compile.robot_kernels import count, recorded
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import RobotError, ground_under
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.tests.places import ROOT

INERTIAL = (
    "<inertial><mass value='2'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
)
#: Joint -> parent and child; siblings stand in no order of names, a fixed joint among them.
TREE = {"m": "ac", "z": "ab", "q": "bd", "f": "be", "k": "eg", "a": "ch", "b": "bi"}


def urdf_of(tree):
    links = "".join(f"<link name='{name}'>{INERTIAL}</link>" for name in "abcdeghi")
    joints = (
        f"<joint name='{name}' type='{'fixed' if name == 'f' else 'revolute'}'>"
        f"<parent link='{parent}'/><child link='{child}'/><axis xyz='0 0 1'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint>"
        for name, (parent, child) in tree.items()
    )
    return f"<?xml version='1.0'?><robot name='r'>{links}{''.join(joints)}</robot>"


MJCF = "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>"


@pytest.fixture
def write(tmp_path):
    def written(text, name="robot.xml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


SDF = "SDF: its name must" if find_spec("pydrake") else "to read SDF needs Drake: pip install "


def test_the_root_element_says_the_format(write):
    comment = "<!-- <robot> -->"
    assert robot_file.load(write(urdf_of(TREE), "robot.xml")).nv == 6
    assert robot_file.load(write(MJCF.replace("<mujoco", f"{comment}<mujoco"))).nv == 1
    spaced = urdf_of(TREE).replace("<robot", "<robot xmlns='http://drake.mit.edu'")
    assert robot_file.load(write(spaced, "robot.sdf")).nv == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf version='1.7'/>", SDF),
        ("<mujocoinclude/>", "a part of an MJCF: give the file that includes it"),
        (
            "<svg/>",
            "no robot file: the root element is <svg>, must be <robot> (URDF), <mujoco> (MJCF) or ",
        ),
        ("name = 'pendulum'", "not XML: syntax error: line 1, column 0"),
        ("", "not XML: no element found: line 1, column 0"),
        ("<robot", "not XML: unclosed token: line 1, column 0"),
        ("<robot name='r'><link></robot>", "not XML: mismatched tag: line 1, column 24"),
        ("<mujoco><link></mujoco>", "MuJoCo: XML parse error"),
    ],
)
def test_what_is_no_robot_is_refused_in_one_line(write, text, said):
    path = write(text)
    with pytest.raises(RobotError) as caught:
        robot_file.load(path)
    assert str(caught.value).startswith(f"{path}: {said}") and "\n" not in str(caught.value)


def test_paths_that_are_none(tmp_path):
    with pytest.raises(RobotError, match="none.xml: cannot read: No such file or directory$"):
        robot_file.load(tmp_path / "none.xml")
    with pytest.raises(InputError, match="^path: "):
        robot_file.load(7)


@pytest.mark.parametrize("floating", [False, True])
def test_the_order_of_the_file_is_that_of_mujoco(write, floating):
    path = write(urdf_of(TREE))
    robot = robot_file.load(path, floating)
    model = mujoco.MjModel.from_xml_path(str(path))
    names = [
        mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in range(model.njnt)
    ]
    assert names == ["m", "a", "z", "q", "k", "b"]
    assert robot_file.file_order(robot) == ["root_joint"] * floating + names
    base = ["root_joint"] * floating
    assert [link.joint for link in robot.links] == [*base, "m", "a", "z", "b", "k", "q"]


IIWA = ROOT / "robots" / "iiwa14.urdf"


@pytest.mark.parametrize("floating", [False, True])
def test_gravity_that_points_down_changes_nothing(floating):
    plain = robot_file.load(IIWA, floating)
    asked = robot_file.load(IIWA, floating, gravity=(0.0, 0.0, -9.81))
    assert plain.gravity == asked.gravity == 9.81
    assert np.array_equal(plain.ground, np.eye(3)) and np.array_equal(asked.ground, np.eye(3))
    assert plain.gravity_vector.tolist() == [0.0, 0.0, -9.81]
    for one, other in zip(plain.links, asked.links, strict=True):
        assert np.array_equal(one.rotation, other.rotation)
    if floating:
        moon = robot_file.load(IIWA, floating, gravity=[0, 0, -1.62])
        kernels = [recorded(reduced(each), "ID", parameters_as_data=True) for each in (plain, moon)]
        assert kernels[0].parameters.keys() == kernels[1].parameters.keys()
        other = recorded(
            reduced(robot_file.load(IIWA, floating, gravity=(1, 2, -3))),
            "ID",
            parameters_as_data=True,
        )
        more = other.parameters.keys() - kernels[0].parameters.keys()
        assert more == {"up[0]", "up[1]", "up[2]"}


def test_the_ground_under_a_gravity_of_any_strength_is_exact():
    for strength in np.random.default_rng(1).uniform(0.1, 100, 200):
        assert np.array_equal(ground_under(np.array([0, 0, -strength])), np.eye(3))
        assert set(ground_under(np.array([0, strength, 0])).ravel()) == {-1.0, 0.0, 1.0}


def test_gravity_along_an_axis_keeps_what_is_zero():
    """The ground turns by right angles: no operation more on a fixed base."""
    counts = [
        count(reduced(robot_file.load(IIWA, gravity=gravity)), "ID")
        for gravity in ((0, 0, -9.81), (0, 0, 9.81), (9.81, 0, 0), (0, -3, 0))
    ]
    plain = counts[0].mul + counts[0].add
    assert all(found.mul + found.add <= 1.05 * plain for found in counts)


@pytest.mark.parametrize(
    "gravity", [(1.0, 2.0), 9.81, "down", (0, 0, np.nan), (0, 0, 1e31), [[0, 0, 1]], (0, 0, "1")]
)
def test_gravity_that_is_none_is_refused(write, gravity):
    for text in (urdf_of(TREE), MJCF):
        with pytest.raises(InputError, match="^gravity: ") as caught:
            robot_file.load(write(text), gravity=gravity)
        assert "\n" not in str(caught.value)


def test_a_scenario_has_the_gravity_and_the_ground_of_the_file():
    gravity = (1.0, -2.0, 3.0)
    robot = robot_file.load(IIWA, gravity=gravity)
    turned, plain = scenario_of_robot(robot), scenario_of_robot(robot_file.load(IIWA))
    assert turned.gravity == pytest.approx(gravity)
    assert plain.gravity == (0.0, 0.0, -9.81)
    for one, other in zip(turned.bodies, plain.bodies, strict=True):
        assert one.rotation == pytest.approx(other.rotation, abs=1e-12)
        assert one.attach == pytest.approx(other.attach, abs=1e-12)


def test_the_order_of_an_mjcf_is_its_own(write):
    assert robot_file.file_order(robot_file.load(write(MJCF))) == ["j"]


def test_shipped_robots_have_both_orders():
    for path in (ROOT / "robots").glob("*.urdf"):
        robot = robot_file.load(path, floating=path.stem not in ("mobile_arm", "tethered"))
        found = robot_file.file_order(robot)
        assert sorted(found) == sorted(link.joint for link in robot.links)
