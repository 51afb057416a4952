"""Robots from URDF files: as Pinocchio reads them, and what is refused."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from pymodel.algorithms.rigid_body.functions import inputs
from pymodel.arith.errors import InputError
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FREE, PRISMATIC, REVOLUTE
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.mechanism.rotations import from_angles
from pymodel.mechanism.scenario import ScenarioError
from pymodel.runs import pinocchio_reference
from pymodel.runs.newton_euler import NewtonEuler
from pymodel.runs.robot_calls import call, random_states
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.robots import (
    NAMES,
    ROBOTS,
    pinocchio_inverse_dynamics,
    random_state,
    random_urdf,
)
from pymodel.tests.spatial import inverse_dynamics

BASES = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])

INERTIAL = (
    "<inertial><mass value='2'/>"
    "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
)


def link(name, inertial=INERTIAL):
    return f"<link name='{name}'>{inertial}</link>"


def joint(name, parent, child, kind="revolute", more="<axis xyz='0 0 1'/>"):
    ends = f"<parent link='{parent}'/><child link='{child}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}{more}</joint>"


LINKS = link("a") + link("b")
ARM = LINKS + joint("j", "a", "b")


@pytest.fixture
def load(tmp_path):
    """Load a robot from the elements of its file."""

    def loaded(elements, **options):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{elements}</robot>")
        return urdf.load(path, **options)

    return loaded


def assert_as_pinocchio(robot, rng, states=5):
    model = pinocchio_reference.model(robot)
    assert list(model.names)[1:] == [link.joint for link in robot.links]
    assert list(model.parents)[1:] == [link.parent + 1 for link in robot.links]
    assert model.nv == robot.nv
    for _ in range(states):
        state = random_state(robot, rng)
        want = pinocchio_inverse_dynamics(model, state)
        assert np.abs(inverse_dynamics(robot, *state) - want).max() < 1e-12 * np.abs(want).max()


@BASES
@pytest.mark.parametrize("name", NAMES)
def test_inverse_dynamics_as_pinocchio(name, floating):
    robot = urdf.load(ROBOTS / f"{name}.urdf", floating, mimic=False)
    assert_as_pinocchio(robot, np.random.default_rng(1))


@BASES
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.nightly(every=8)
def test_random_trees_as_pinocchio(seed, floating, tmp_path):
    rng = np.random.default_rng(seed)
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(rng))
    assert_as_pinocchio(urdf.load(path, floating, armature=0.2), rng)


@pytest.mark.parametrize(("name", "fixed"), [("iiwa14", 7), ("hyq", 12), ("atlas", 30)])
def test_degrees_of_freedom(name, fixed):
    path = ROBOTS / f"{name}.urdf"
    assert (urdf.load(path).nv, urdf.load(path, floating=True).nv) == (fixed, fixed + 6)
    base = urdf.load(path, floating=True).links[0]
    assert (base.joint, base.kind) == ("root_joint", FREE)
    assert str(urdf.load(path)) == f"{name}: {fixed} degrees of freedom, fixed base"


@pytest.mark.parametrize("snap", [0.0, SNAP])
def test_pinocchio_has_the_placements_of_the_file(snap):
    for name in NAMES:
        robot = urdf.load(ROBOTS / f"{name}.urdf", floating=True, snap=snap)
        file = pinocchio.buildModelFromUrdf(robot.source, pinocchio.JointModelFreeFlyer())
        for ours, theirs in zip(
            pinocchio_reference.model(robot).jointPlacements, file.jointPlacements, strict=True
        ):
            assert np.array_equal(ours.homogeneous, theirs.homogeneous)


TILTED = "<origin xyz='0 0 0.1' rpy='8e-6 0 0'/><axis xyz='0 0 1'/>"
HEAVY = (
    "<inertial><origin xyz='0.3 0 0'/><mass value='4'/>"
    "<inertia ixx='0.01' ixy='0' ixz='0' iyy='0.05' iyz='0' izz='0.05'/></inertial>"
)


def test_a_small_tilt_that_is_meant_is_kept(load):
    """The gravity torque of an upright hinge that is not quite; as asked, it is none."""
    elements = link("a") + link("b", HEAVY) + joint("j", "a", "b", more=TILTED)
    torque = 4.0 * 9.81 * 0.3 * np.sin(8e-6)
    tilted, upright = load(elements), load(elements, snap=SNAP)
    still = {"q": np.zeros(1), "qd": np.zeros(1), "qdd": np.zeros(1)}
    found, expected = (RobotModel(robot).inverse_dynamics(**still) for robot in (tilted, upright))
    assert found[0] == pytest.approx(torque, rel=1e-9) and expected[0] == 0.0
    assert tilted.warnings == ()
    assert upright.warnings == ("4 entries of joint transforms rounded to 0, 1 or -1: j (4)",)
    entries, saved = RobotModel(upright).warnings
    assert entries == upright.warnings[0]
    assert saved.startswith("snap 1e-05: inverse dynamics take ") and "without it" in saved


@pytest.mark.parametrize("snap", [-1e-5, 0.02, np.nan, True, "1e-5"])
def test_what_cannot_be_snapped_by_is_refused(load, snap):
    with pytest.raises(InputError, match=r"snap: must be a number of 0 to 0\.01, got "):
        load(LINKS + joint("j", "a", "b"), snap=snap)


def test_pinocchio_has_the_joints_that_the_file_gives_it():
    """An axis along z has a joint of its own, quicker than one along any axis."""
    for name in NAMES:
        robot = urdf.load(ROBOTS / f"{name}.urdf", floating=True)
        file = pinocchio.buildModelFromUrdf(robot.source, pinocchio.JointModelFreeFlyer())
        kinds = [joint.shortname() for joint in pinocchio_reference.model(robot).joints]
        assert kinds == [joint.shortname() for joint in file.joints]
        assert "JointModelRZ" in kinds


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"offset": (0.2, 0.0, 3e-9)}, r"turned by 0, shifted by 3e-09 m$"),
        ({"rotation": from_angles((0.0, 2e-5, 0.0))}, r"turned by 2e-05, shifted by 0 m$"),
    ],
    ids=["offset", "rotation"],
)
def test_a_misread_placement_is_not_given_to_pinocchio(load, wrong, said):
    """It would be wrong on both sides."""
    more = "<origin xyz='0.2 0 0'/><axis xyz='0 0 1'/>"
    robot = load(ARM + link("c") + joint("k", "b", "c", more=more))
    first, second = robot.links
    second = replace(second, **{name: np.array(x) for name, x in wrong.items()})
    robot = replace(robot, links=(first, second))
    with pytest.raises(urdf.RobotError, match=f"joint k: not where Pinocchio has it: {said}"):
        pinocchio_reference.model(robot)


def test_what_is_not_read_is_passed_over_in_silence(load, monkeypatch, capsys):
    """Without another stderr, which is the whole process'."""
    said = lambda element: sys.stderr.write(f"{element.name} ")  # noqa: E731
    for kind in (urdf.UrdfLink, urdf.Joint):
        monkeypatch.setattr(kind, "check_valid", said)
    more = "<axis xyz='0 0 1' of='it'/><dynamics dumping='1'/>" + 2 * "<limit effort='1'/>"
    odd = INERTIAL.replace("'2'/>", "'2' unit='kg'/><density of='it'/>")
    shape = 2 * "<visual><origin/><origin/></visual>" + 2 * "<collision/>"
    found = load(
        link("a") + link("b", odd + shape) + joint("j", "a", "b", "revolute' to='it", more)
    )
    assert capsys.readouterr().err == "a b j "
    assert found.links[0].mass == 2.0 and found.links[0].rotation.tolist() == np.eye(3).tolist()


def test_right_angles_are_snapped_where_asked(load):
    elements = LINKS + joint("j", "a", "b", more="<origin rpy='1.5708 0 0' xyz='1e-10 0 1'/>")
    robot = load(elements + link("c") + joint("k", "b", "c"), snap=1e-5)
    # The default axis is x; our frame is (y, z, x).
    assert robot.links[0].rotation.tolist() == [[0, 0, 1], [0, -1, 0], [1, 0, 0]]
    assert robot.links[0].offset.tolist() == [0, 0, 1]
    assert robot.warnings == ("5 entries of joint transforms rounded to 0, 1 or -1: j (5)",)


def test_angles_as_they_should_be_are_not_noted(load):
    placement = "<origin rpy='1.5707963267948966 0.2 0' xyz='1 2 3'/><axis xyz='0 0 1'/>"
    robot = load(LINKS + joint("j", "a", "b", more=placement), snap=1e-5)
    assert robot.warnings == ()
    assert np.count_nonzero(robot.links[0].rotation) == 5


def test_a_snapped_placement_is_a_rotation(load):
    placement = "<origin rpy='1.5708 0.3 0.4'/><axis xyz='0 0 1'/>"
    rotation = load(LINKS + joint("j", "a", "b", more=placement), snap=1e-5).links[0].rotation
    assert rotation[2, 2] == 0
    assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 1e-15


@pytest.mark.parametrize(
    "angles", [(1.57, 0, 0), (1.2e-5, 0, 0), (0.004, 0, 1e-4), (0, 0.0044, 0), (0.003, 1.573, 3.14)]
)
def test_a_placement_that_is_not_round_is_kept(load, angles):
    placement = f"<origin rpy='{' '.join(map(str, angles))}'/><axis xyz='0 0 1'/>"
    robot = load(LINKS + joint("j", "a", "b", more=placement), snap=1e-5)
    assert robot.warnings == ()
    frame = robot.links[0].frame_rotation
    assert np.array_equal(robot.links[0].rotation @ frame, from_angles(angles))


def test_a_right_angle_beside_a_small_one_is_snapped(load):
    placement = "<origin rpy='0.004 0 1.5708'/><axis xyz='0 0 1'/>"
    robot = load(LINKS + joint("j", "a", "b", more=placement), snap=1e-5)
    assert robot.warnings == ("5 entries of joint transforms rounded to 0, 1 or -1: j (5)",)
    rotation = robot.links[0].rotation @ robot.links[0].frame_rotation
    assert np.abs(rotation - from_angles((0.004, 0, np.pi / 2))).max() < 1e-15


@pytest.mark.parametrize("small", [0.9e-5, 1.2e-5, 1.5e-5])
def test_a_right_angle_is_snapped_whatever_stands_beside_it(load, small):
    """Also where a cosine is nearly 1, and its sine not nearly 0."""
    placement = f"<origin rpy='1.5708 0 {small}'/><axis xyz='0 0 1'/>"
    rotation = load(LINKS + joint("j", "a", "b", more=placement), snap=1e-5).links[0].rotation
    assert np.count_nonzero(rotation) == (3 if small < 1e-5 else 5)
    assert np.abs(rotation.T @ rotation - np.eye(3)).max() < 1e-15


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("main", range(3))
def test_a_main_axis_is_a_signed_permutation(load, main, sign):
    axis = sign * np.eye(3)[main]
    xyz = " ".join(map(str, 2 * axis))
    (found,) = load(LINKS + joint("j", "a", "b", more=f"<axis xyz='{xyz}'/>")).links
    assert found.rotation[:, 2].tolist() == axis.tolist()
    assert set(found.rotation.ravel()) <= {0.0, 1.0, -1.0}
    assert np.linalg.det(found.rotation) == pytest.approx(1)
    assert np.array_equal(found.frame_rotation, found.rotation.T)
    assert not np.signbit(found.rotation[found.rotation == 0]).any()


def test_kinds_of_joints(load):
    robot = load(
        LINKS
        + link("c")
        + link("d")
        + joint("j", "a", "b", "continuous")
        + joint("k", "b", "c", "prismatic")
        + joint("l", "c", "d", "fixed")
    )
    assert [link.kind for link in robot.links] == [REVOLUTE, PRISMATIC]
    assert robot.links[1].mass == 4


def test_a_mimic_joint_is_a_joint_of_its_own_where_that_is_asked_for(load):
    mimic = joint("k", "b", "c", more="<mimic joint='j'/>")
    robot = load(ARM + link("c") + mimic, mimic=False)
    assert robot.nv == 2
    assert robot.warnings == ("mimic joints are joints of their own: k (j)",)


def test_a_mimic_of_nothing_is_warned_of(load):
    """As in Alex of example-robot-data, which Pinocchio reads, too."""
    robot = load(LINKS + joint("j", "a", "b", more="<mimic joint='k'/>"), mimic=False)
    assert robot.warnings[1:] == ("what a mimic joint mimics is not there: j (k)",)


def hinges(*axes, last=INERTIAL):
    """A chain of joints at one point, with massless links between them."""
    names = [f"l{k}" for k in range(len(axes) + 1)]
    between = "".join(link(name, "") for name in names[1:-1])
    joints = (
        joint(f"j{k}", names[k], names[k + 1], more=f"<axis xyz='{axis}'/>")
        for k, axis in enumerate(axes)
    )
    return link("l0") + between + link(names[-1], last) + "".join(joints)


@pytest.mark.parametrize("floating", [False, True])
def test_a_universal_joint_has_a_link_without_inertia(load, floating, monkeypatch):
    robot = load(hinges("1 0 0", "0 1 0"), floating=floating)
    said = "resisted by what hangs on the link only, so M may become singular"
    assert robot.warnings == (f"{said}: l1 (j0)",)
    model, rng = pinocchio_reference.model(robot), np.random.default_rng(1)
    q, qd, tau, _ = random_state(robot, rng)
    want = pinocchio.aba(model, model.createData(), q, qd, tau)
    found = RobotModel(robot).forward_dynamics(q, qd, tau)
    assert np.abs(found - want).max() < 1e-12 * np.abs(want).max()
    # What robots are compared with solves with M there: aba lost digits of a large one.
    monkeypatch.setattr(pinocchio, "aba", lambda *_: pytest.fail("aba"))
    table = random_states(robot, "dFD", 3, seed=1)
    for function in ("FD", "dFD"):
        given = {name: table[name] for name in inputs(robot, function)}
        want = pinocchio_reference.call(robot, function, given)
        found = call(robot, function, given).table
        scale = max(1.0, *(np.abs(x).max() for x in want.values()))
        for name, x in want.items():
            np.testing.assert_allclose(found[name], x, rtol=0, atol=1e-12 * scale)
    assert not load(hinges("1 0 0", "0 1 0"), floating=floating, armature=0.1).warnings


@pytest.mark.parametrize(
    ("axes", "joint_"),
    [
        (("1 0 0", "1 0 0"), "j0"),  # the two are one axis
        (("1 0 0", "0 1 0", "0 0 1", "1 1 0"), "j0"),  # a body at a point has three turns
        (("0 1 0", "1 0 0", "0 1 0", "0 0 1", "1 1 0"), "j0"),
    ],
)
def test_joints_that_nothing_resists_in_any_configuration(load, axes, joint_):
    with pytest.raises(urdf.RobotError, match=f"no inertia, .* that resists joint {joint_}; arm"):
        load(hinges(*axes))


def test_names_of_several_lines_stay_in_one_line(load):
    more = "<dynamics damping='1'/><mimic joint='j&#10;k'/>"
    robot = load(LINKS + joint("j&#10;k", "a", "b", more=more), mimic=False)
    assert robot.links[0].joint == "j\nk"
    assert robot.warnings == (
        "mimic joints are joints of their own: j k (j k)",
        "damping is not applied: j k",
    )
    for armature in ({"x\ny": 1.0}, {"j\nk": -1.0}):
        with pytest.raises(InputError, match=r"^[^\n]*robot.urdf: [^\n]*\Z"):
            load(LINKS + joint("j&#10;k", "a", "b"), armature=armature)
    arm = LINKS.replace("'b'", "'b&#10;c'") + joint("j", "a", "b&#10;c")
    assert scenario_of_robot(load(arm)).bodies[0].name == "b c"
    blanks = arm.replace("b&#10;c", "b  c")  # another link may be named with one
    assert scenario_of_robot(load(blanks)).bodies[0].name == "b  c"
    with pytest.raises(ScenarioError, match="link b c: a scenario has no armature"):
        scenario_of_robot(load(arm, armature=1.0))


def test_quaternions_of_origins_are_refused(load):
    """They are of URDF 1.1; Pinocchio reads them."""
    turned = joint("j", "a", "b", more="<origin xyz='1 0 0' quat_xyzw='0.6 0 0 0.8'/>")
    with pytest.raises(urdf.RobotError, match="joint j: <origin> quat_xyzw is not known, must be"):
        load(LINKS + turned)


def test_damping_of_the_file(load):
    elements = LINKS + joint("j", "a", "b", more="<dynamics damping='0.5' friction='1'/>")
    friction = "dry friction is not applied: j"
    left_out, applied = load(elements), load(elements, damping=True)
    assert left_out.links[0].damping == 0 and applied.links[0].damping == 0.5
    assert left_out.warnings == ("damping is not applied: j", friction)
    assert applied.warnings == (friction,)
    assert load(ARM, damping=True).warnings == ("there is no joint damping to apply",)


def test_armature_by_joint_and_for_all(load):
    elements = ARM + link("c") + joint("k", "b", "c")
    for armature, want in ((0.1, [0.1, 0.1]), ({"k": 0.2}, [0.0, 0.2])):
        robot = load(elements, armature=armature, floating=True)
        assert [link.armature for link in robot.links] == [0.0, *want]


def test_a_small_mass_far_from_a_slider_resists_it(load):
    far = INERTIAL.replace("<mass", "<origin xyz='0 2e6 0'/><mass")
    assert load(link("a") + link("b", far) + joint("j", "a", "b", "prismatic")).links[0].mass == 2


def test_any_joint_may_be_called_as_the_base(load):
    more = "<dynamics damping='0.5'/>"
    robot = load(LINKS + joint("root_joint", "a", "b", more=more), damping=True, armature=0.1)
    assert (robot.links[0].damping, robot.links[0].armature) == (0.5, 0.1)
    fixed = LINKS + link("c") + joint("root_joint", "a", "b", "fixed", more) + joint("j", "b", "c")
    base = load(fixed, floating=True, damping=True).links[0]
    assert (base.joint, base.damping) == ("root_joint", 0.0)


def test_armature_replaces_inertia(load):
    elements = link("a") + link("b", "") + joint("j", "a", "b")
    assert load(elements, armature=0.1).links[0].mass == 0


def test_inertias_that_no_body_has_are_noted():
    *_, negative, uneven = urdf.load(ROBOTS / "atlas.urdf").warnings
    assert negative.startswith("a principal moment of inertia is negative: utorso (-0.653 kg m^2),")
    said = "beyond the sum of the others: l_lglut (0.00156 > 0.000243 + 0.00122 kg m^2)"
    assert uneven == f"a principal moment of inertia is {said}"


@pytest.mark.parametrize("com", ["0.31 0.17 -0.23", "0.3 0.1 -0.2", "1e6 2e6 3e6"])
def test_the_moments_of_a_point_are_zero_but_for_rounding(load, com):
    point = INERTIAL.replace("'1'", "'0'").replace("'2'", "'0.7'")
    point = point.replace("<mass", f"<origin xyz='{com}'/><mass")
    arm = joint("j", "a", "b", "continuous", "<axis xyz='0 1 0'/>")
    assert not load(link("a") + link("b", point) + arm).warnings


@pytest.mark.parametrize(("izz", "noted"), [(2.01, False), (2.03, True)])
def test_moments_of_inertia_are_typed_decimals(load, izz, noted):
    """Those of a plate."""
    assert bool(load(ARM.replace("izz='1'", f"izz='{izz}'")).warnings) == noted


@pytest.mark.parametrize("space", ["xmlns", "xmlns:xacro"])
def test_namespaces(load, tmp_path, space):
    """As others write them, and as xacro leaves them."""
    plain, path = load(ARM), tmp_path / "space.urdf"
    text = Path(plain.source).read_text()
    path.write_text(text.replace("<robot", f"<robot {space}='http://www.ros.org/wiki'"))
    robot = urdf.load(path)
    assert np.array_equal(robot.links[0].inertia, plain.links[0].inertia)
    assert_as_pinocchio(robot, np.random.default_rng(1), states=1)


def test_prefixes_that_nobody_declares(load):
    """Those of Drake, as published files have them; Pinocchio takes them, too."""
    plain = load(ARM)
    limit = "<limit drake:acceleration='3' effort='4' lower='-3' upper='3' velocity='2'/>"
    group = "<drake:group name='g'><drake:member link='a'/></drake:group>"
    robot = load(ARM.replace("</joint>", f"{limit}</joint>") + group)
    assert robot.notes == ("prefix drake is not declared: what has it is not read",)
    assert np.array_equal(robot.links[0].inertia, plain.links[0].inertia)
    with pytest.raises(urdf.RobotError, match="has macros: make a URDF of it"):
        load(ARM + "<xacro:arm/>")
    with pytest.raises(urdf.RobotError, match="not XML: "):
        load(ARM + "<drake:group><link></drake:group>")


@pytest.mark.parametrize("on", ["a", "b"])
def test_a_mass_without_moments_where_something_holds_it(load, on):
    """It is a point mass: on the ground nobody feels it, on a link it adds its own."""
    mass = "<inertial><origin xyz='0 0.5 0'/><mass value='3'/></inertial>"
    robot, plain = load(ARM + link("tool", mass) + joint("k", on, "tool", "fixed")), load(ARM)
    if on == "b":
        body = plain.links[0]
        point = body.frame_rotation @ [0.0, 0.5, 0.0]
        added = 3 * np.outer([*point, 1.0], [*point, 1.0])
        assert np.abs(robot.links[0].inertia - body.inertia - added).max() < 1e-14
    else:
        assert np.array_equal(robot.links[0].inertia, plain.links[0].inertia)


def test_the_rest_of_a_file_is_not_read(load):
    robot = load(
        ARM + "<gazebo><x/></gazebo><transmission name='t'/><material name='m'><y/></material>"
    )
    assert robot.nv == 1


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ("", "no links"),
        ("<link/>", "link: Required attribute not set in XML: name"),
        (link("a"), "no joint moves"),
        (LINKS + joint("j", "a", "b", "fixed"), "no joint moves"),
        (
            LINKS + joint("j", "a", "b", "universal"),
            "joint j: a universal joint turns about x, then y of its <origin>: turn that, without "
            "<axis>",
        ),
        (
            LINKS + joint("j", "a", "b", "screw"),
            "joint j: <screw_thread_pitch>, m a turn, must stand in joints of the type screw, and "
            "in no others",
        ),
        (
            LINKS + joint("j", "a", "b", more="<screw_thread_pitch value='1'/>"),
            "joint j: <screw_thread_pitch>, m a turn, must stand in joints of the type screw",
        ),
        (
            LINKS + joint("j", "a", "b", "screw", more="<screw_thread_pitch/>"),
            "joint j: <screw_thread_pitch> has no value",
        ),
        (LINKS + joint("j", "a", "b", "planar", more="<axis xyz='0 0 0'/>"), "its axis is zero"),
        (
            ARM.replace("'j'", "'k.rz'") + link("c") + joint("k", "b", "c", "planar"),
            "joint k: its planar motion has the joint k.rz, and another has this name",
        ),
        (
            link("a") + link("b", "") + joint("j", "a", "b", "ball"),
            "link b: no inertia, with all that it carries, that resists joint j.rx",
        ),
        (LINKS + joint("j", "a", "b", "unknown"), "joint j: unknown type unknown"),
        (LINKS + joint("j", "a", "b", "gear"), "joint j: unknown type gear, must be revolute, "),
        (LINKS + joint("j", "a", "b", ""), "joint j: unknown type , must be revolute, continuous"),
        (LINKS + joint("j", "a", "x"), "joint j: there is no link x"),
        (LINKS + joint("j", "x", "b"), "joint j: there is no link x"),
        (
            LINKS + "<joint name='j' type='fixed'><parent link='a'/></joint>",
            "joint j: Required element not set in XML: child",
        ),
        (
            LINKS + joint("j", "a", "b", more="<dynamics damping='-1'/>"),
            "joint j: its damping must be a number of 0 to 1e+30, got -1.0",
        ),
        (LINKS + joint("j", "a", "b", more="<dynamics friction='-1'/>"), "its friction must be"),
        (LINKS, "several links hang on no joint: a, b"),
        (ARM + joint("k", "a", "b"), "link b: closed chain: hangs on joint j and on joint k"),
        (ARM + joint("k", "b", "a"), "link a: closed chain: it hangs on itself"),
        (
            ARM + link("c") + link("d") + joint("k", "c", "d") + joint("l", "d", "c"),
            "link c: closed chain: it hangs on itself",
        ),
        (ARM + link("a"), "link a: 2 links have this name"),
        (ARM + link("c") + joint("j", "b", "c"), "joint j: 2 joints have this name"),
        (link("a") + link("b", "") + joint("j", "a", "b"), "link b: no inertia"),
        (
            link("a") + link("b", "") + link("c") + joint("j", "a", "b") + joint("k", "b", "c"),
            "link b: no inertia, with all that it carries, that resists joint j; armature would",
        ),
        (
            link("a") + link("b", "") + joint("j", "a", "b", "prismatic"),
            "link b: no inertia, with all that it carries, that resists joint j; armature would",
        ),
        (
            link("a") + link("b", INERTIAL.replace("'1'", "'0'")) + joint("j", "a", "b"),
            "link b: no inertia, with all that it carries, that resists joint j; armature would",
        ),
        (ARM.replace("value='2'", "value='-2'"), "link a: its mass is negative: -2.0"),
        (ARM.replace("ixx='1'", "ixx='-1'"), "link a: its moment of inertia is negative: -1.0"),
        (ARM.replace("value='2'", "value='-1e-14'"), "link a: its mass is negative: -1e-14"),
        (ARM.replace("<mass value='2'/>", ""), "link a: Required element not set in XML: mass"),
        (ARM.replace("<mass value='2'/>", "<mass/>"), "link a: <mass> has no value"),
        (ARM.replace("ixx='1'", ""), "link a: Required attribute not set in XML: ixx"),
        (
            link("a") + link("b", "<inertial><mass value='1'/></inertial>") + joint("j", "a", "b"),
            "link b: a mass without moments of inertia",
        ),
        (link("a") + link("b", 2 * INERTIAL), "link b: <link> has several <inertial>"),
        *(
            (ARM.replace("<mass", f"{2 * one}<mass"), f"link a: <inertial> has several <{name}>")
            for name, one in (
                ("mass", "<mass value='1'/>"),
                ("origin", "<origin/>"),
                ("inertia", "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"),
            )
        ),
        *(
            (LINKS + joint("j", "a", "b", more=2 * one), f"joint j: <joint> has several <{name}>")
            for name, one in (
                ("origin", "<origin xyz='0 0 1'/>"),
                ("axis", "<axis xyz='0 0 1'/>"),
                ("parent", "<parent link='a'/>"),
                ("child", "<child link='b'/>"),
                ("dynamics", "<dynamics damping='1'/>"),
                ("mimic", "<mimic joint='k'/>"),
            )
        ),
        (LINKS + joint("j", "a", "b", more="<mimic/>"), "joint j: <mimic> has no joint"),
        (LINKS + joint("j", "a", "b", more="<axis xyz='0 0 0'/>"), "joint j: its axis is zero"),
        (LINKS + joint("j", "a", "b", more="<axis/>"), "joint j: <axis> has no xyz"),
        (ARM.replace("<parent link='a'/>", "<parent/>"), "joint j: <parent> has no link"),
        (ARM.replace("<child link='b'/>", "<child/>"), "joint j: <child> has no link"),
    ],
)
def test_bad_files_are_refused_in_one_line(load, elements, message):
    with pytest.raises(urdf.RobotError) as caught:
        load(elements)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "robot.urdf: " in str(caught.value)


NUMBERS = [
    ("mass", "value", "{}", "a number, at most 1e+30 in size"),
    ("inertia", "ixy", "{}", "a number, at most 1e+30 in size"),
    ("dynamics", "damping", "{}", "a number, at most 1e+30 in size"),
    ("dynamics", "friction", "{}", "a number, at most 1e+30 in size"),
    ("mimic", "multiplier", "{}", "a number, at most 1e+30 in size"),
    ("mimic", "offset", "{}", "a number, at most 1e+30 in size"),
    ("origin", "xyz", "{} 1 0", "3 numbers, at most 1e+30 in size"),
    ("origin", "rpy", "{} 1 0", "3 numbers, at most 1e+30 in size"),
    ("axis", "xyz", "{} 1 0", "3 numbers, at most 1.8e+308 in size"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("word", ["two", "1_0", "٢", "２", "0x10", "", "nan", "inf", "1e400"])
@pytest.mark.parametrize(("tag", "name", "text", "want"), NUMBERS)
def test_numbers_that_are_none_are_named(load, tag, name, text, want, word):
    more = "<origin/><axis xyz='0 0 1'/><dynamics/><mimic joint='j'/>"
    elements = LINKS + joint("j", "a", "b", more=more)
    broken = text.format(word)
    if tag in ("mass", "inertia"):
        elements = re.sub(f"(<{tag} [^>]*{name})='[^']*'", rf"\1='{broken}'", elements, count=1)
        where = "link a"
    else:
        own = "joint='j' " if tag == "mimic" else ""
        elements = re.sub(f"<{tag}[^>]*/>", f"<{tag} {own}{name}='{broken}'/>", elements)
        where = "joint j"
    with pytest.raises(urdf.RobotError) as caught:
        load(elements)
    assert str(caught.value).endswith(f"{where}: <{tag}> {name} is '{broken}', must be {want}")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("length", ["1e200", "1e-200"])
def test_an_axis_has_any_length(load, length):
    one, other = (
        load(LINKS + joint("j", "a", "b", more=f"<axis xyz='0 {y} {x}'/>"))
        for x, y in (("1", "1"), (length, length))
    )
    assert np.abs(one.links[0].rotation - other.links[0].rotation).max() < 1e-15


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value='2'", "value='1e308'"),
        ("ixx='1'", "ixx='1.7e308'"),
        ("<mass", "<origin xyz='1e160 0 0'/><mass"),
        ("<axis", "<origin xyz='0 1e200 0'/><axis"),
    ],
)
def test_numbers_of_no_robot_are_refused(load, old, new):
    """Products of them would not be finite."""
    with pytest.raises(urdf.RobotError, match=r"at most 1e\+30 in size"):
        load(ARM.replace(old, new))


def test_a_moment_may_be_negative_by_rounding(load):
    assert load(ARM.replace("ixx='1'", "ixx='-1e-20'")).links


def test_what_others_put_into_inertial_is_not_read(load):
    assert load(ARM.replace("<mass", "<gazebo><axis/><mass/></gazebo><mass")).links


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_are_read(load):
    largest = ARM.replace("value='2'", "value='1e30'").replace("'1'", "'1e30'")
    largest = largest.replace("<mass", "<origin xyz='1e30 0 0'/><mass")
    assert np.isfinite(reduced(load(largest)).links[0].inertia).all()


@pytest.mark.parametrize(
    ("elements", "options", "message"),
    [
        (ARM, {"armature": -1.0}, "joint j: its armature must be a number of 0 to 1e+30"),
        (ARM, {"armature": 1.1e30}, "joint j: its armature must be a number of 0 to 1e+30"),
        (ARM, {"armature": "a"}, "joint j: its armature must be a number of 0 to 1e+30"),
        (ARM, {"armature": {"j": None}}, "joint j: its armature must be a number of 0 to"),
        (ARM, {"armature": float("nan")}, "joint j: its armature must be a number of 0 to"),
        (ARM, {"armature": {"k": 1.0}}, "armature: there is no moving joint k"),
    ],
)
def test_a_bad_armature_is_refused_in_one_line(load, elements, options, message):
    """It is the caller's, not the file's."""
    with pytest.raises(InputError) as caught:
        load(elements, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("elements", "options", "message"),
    [
        (
            link("a", "") + link("b") + joint("j", "a", "b"),
            {"floating": True},
            "link a: a floating base without inertia",
        ),
        (
            LINKS + joint("root_joint", "a", "b"),
            {"floating": True},
            "joint root_joint: the floating base has this name",
        ),
    ],
)
def test_bad_options_are_refused_in_one_line(load, elements, options, message):
    with pytest.raises(urdf.RobotError) as caught:
        load(elements, **options)
    assert message in str(caught.value)


def test_files_that_are_no_urdf(tmp_path):
    path = tmp_path / "x.urdf"
    for content, message in (
        (None, "cannot read: No such file or directory"),
        ("", "not XML: no element found: line 1, column 0"),
        ("hello", "not XML: syntax error: line 1, column 0"),
        (
            "<?xml version='1.0' encoding='x'?><robot/>",
            "not XML: unknown encoding: x",
        ),
        (
            "<?xml version='1.0' encoding='utf-7'?><robot/>",
            "not XML: multi-byte encodings are not supported",
        ),
        (
            "<?xml version='1.0' encoding='idna'?><robot/>",
            "not XML: decoding with 'idna' codec failed (UnicodeError: Unsupported error handling "
            "replace)",
        ),
        ("<sdf/>", "not URDF: the root element is <sdf>, not <robot>"),
        ("<robot/>", "<robot> has no name"),
        (
            "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='a'/>"
            "<xacro:leg prefix='l'/></robot>",
            "has macros: make a URDF of it, `pip install xacro` and `xacro <file> > robot.urdf`",
        ),
    ):
        if content is not None:
            path.write_text(content)
        with pytest.raises(urdf.RobotError) as caught:
            urdf.load(path)
        assert str(caught.value) == f"{path}: {message}"
    with pytest.raises(urdf.RobotError, match="cannot read: Is a directory$"):
        urdf.load(tmp_path)
    with pytest.raises(urdf.RobotError, match="cannot read: embedded null byte$"):
        urdf.load("a\0b")
    with pytest.raises(InputError, match="^path: .* got a text of many lines$"):
        urdf.load("<robot name='r'>\n</robot>")


# --- joints of several degrees of freedom ---------------------------------------------------------

ROOT_LINK = "<link name='w'/>"


@pytest.mark.parametrize("axis", ["0 0 1", "1 0 0", "0 -1 0", "0 0.6 0.8", "0 0 -1"])
def test_a_planar_joint_moves_across_its_axis_as_mujocos(load, axis):
    """Its slides are along the axes that the shortest turn takes from the joint's to its axis."""
    mujoco = pytest.importorskip("mujoco")
    robot = load(ROOT_LINK + link("b") + joint("p", "w", "b", "planar", f"<axis xyz='{axis}'/>"))
    model = mujoco.MjModel.from_xml_path(robot.source)
    turn, axes = np.eye(3), []
    for part in robot.links:
        turn = turn @ part.rotation
        axes.append(turn[:, 2])
    assert [x.joint for x in robot.links] == ["p.x", "p.y", "p.rz"]
    assert [x.kind for x in robot.links] == [PRISMATIC, PRISMATIC, REVOLUTE]
    assert np.abs(np.array(axes) - model.jnt_axis).max() < 1e-15
    note = "planar joints move across their axis, which Pinocchio takes for z: p"
    assert robot.notes == (() if axis.split()[:2] == ["0", "0"] else (note,))


@pytest.mark.parametrize("asked", [False, True], ids=["", "floating"])
def test_a_floating_joint_that_carries_all_is_the_floating_base(load, asked):
    """Whatever is fixed in front of it, and wherever its origin is."""
    body = link("b") + link("c") + joint("j", "b", "c")
    plain = load(body, floating=True)
    origin = "<origin xyz='1 2 3' rpy='0.3 -0.2 0.1'/>"
    held = ROOT_LINK + link("v") + joint("f", "w", "v", "fixed") + body
    robot = load(held + joint("k", "v", "b", "floating", origin), floating=asked)
    assert robot.floating and [x.joint for x in robot.links] == ["k", "j"]
    assert (robot.nq, robot.nv, robot.warnings) == (8, 7, ())
    assert urdf.file_order(robot) == ["k", "j"]
    rng = np.random.default_rng(2)
    rows = [rng.uniform(-1, 1, (4, 7)) for _ in "vt"]
    q = rng.uniform(-1, 1, (4, 8))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    turned, turn = q.copy(), from_angles([0.3, -0.2, 0.1])  # as it stands on the ground
    for one in turned:
        one[3:7] = pinocchio.Quaternion(
            turn @ pinocchio.Quaternion(*one[[6, 3, 4, 5]]).matrix()
        ).coeffs()
    found, wanted = RobotModel(robot), RobotModel(plain)
    assert (
        np.abs(found.forward_dynamics(q, *rows) - wanted.forward_dynamics(turned, *rows)).max()
        < 1e-12
    )
    table = {
        f"{name}{k}": x
        for name, many in zip(("q", "qd", "tau"), (q, *rows), strict=True)
        for k, x in enumerate(many.T)
    }
    theirs = pinocchio_reference.call(robot, "FD", table)
    assert np.abs(np.transpose([*theirs.values()]) - found.forward_dynamics(q, *rows)).max() < 1e-12
    with pytest.raises(ScenarioError, match="joint k: a floating base of a scenario stands in"):
        scenario_of_robot(robot)


def test_a_floating_joint_beside_others_is_a_joint(load):
    robot = load(ARM + link("c") + joint("k", "a", "c", "floating"))
    assert not robot.floating and (robot.nq, robot.nv) == (8, 7)
    assert robot.told() == [
        "k, floating: q1..q7, qd1..qd6: position (m), quaternion x, y, z, w; velocity (m/s), "
        "angular velocity (rad/s) in the body's axes"
    ]


def test_joints_as_drake_writes_them(load):
    """With its prefix, declared or not."""
    inner = "<drake:screw_thread_pitch value='0.5'/>"
    own = joint("j", "a", "b", "screw", inner).replace("joint", "drake:joint")
    robot = load(LINKS + own)
    assert robot.links[0].pitch == 0.5 / (2 * np.pi) and not robot.notes
    path = Path(robot.source)
    path.write_text(path.read_text().replace("<robot", "<robot xmlns:drake='http://drake.mit.edu'"))
    assert urdf.load(path).links[0].pitch == robot.links[0].pitch


def test_damping_and_armature_of_all_parts(load):
    """By the name of the whole joint or of a part."""
    damped = "<dynamics damping='0.3'/>"
    body = LINKS + joint("j", "a", "b", "ball", damped)
    robot = load(body, damping=True, armature={"j": 0.1})
    assert [(x.damping, x.armature) for x in robot.links] == [(0.3, 0.1)] * 3
    robot = load(body, armature={"j.ry": 0.2})
    assert [x.armature for x in robot.links] == [0.0, 0.2, 0.0]
    with pytest.raises(ScenarioError, match="armature"):
        scenario_of_robot(robot)
    held = ARM + link("c") + joint("k", "b", "c", "floating", damped)
    assert [x.armature for x in load(held, armature=0.2).links] == [0.2, *[0.0] * 6]
    with pytest.raises(
        urdf.RobotError, match="joint k: damping of a floating joint is not applied"
    ):
        load(held, damping=True)
    with pytest.raises(InputError, match="armature: there is no moving joint k"):
        load(held, armature={"k": 0.1})


def test_a_ball_joint_is_one_of_a_scenario(load):
    """The same accelerations by Newton-Euler equations."""
    robot = load(
        ARM
        + link("c", INERTIAL.replace("<mass", "<origin xyz='0.2 0 -0.1'/><mass"))
        + joint("k", "b", "c", "ball", "<origin xyz='0 0 1' rpy='1 2 3'/>")
    )
    rng = np.random.default_rng(4)
    q, qd = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, 4)
    q[1:] /= np.linalg.norm(q[1:])
    scenario = scenario_of_robot(robot, q=q, qd=qd)
    qdd = RobotModel(robot).forward_dynamics(q, qd, np.zeros(4))
    assert np.abs(NewtonEuler(scenario).accelerations(q, qd) - qdd).max() < 1e-12
    for kind in ("planar", "cylindrical"):
        other = load(LINKS + joint("k", "a", "b", kind))
        with pytest.raises(ScenarioError, match=f"joint k: a scenario has no {kind} joint"):
            scenario_of_robot(other)


def test_resisted_by_the_body_of_the_joint_itself(load):
    """Massless links of a chain are no reason to warn; a body that is a line is."""
    assert not load(LINKS + joint("j", "a", "b", "universal", "")).warnings
    thin = INERTIAL.replace("izz='1'", "izz='0'")
    robot = load(link("a") + link("b", thin) + joint("j", "a", "b", "universal", ""))
    assert robot.warnings == (
        "resisted by what hangs on the link only, so M may become singular: b (j.rx)",
    )
