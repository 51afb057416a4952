"""Robots from MJCF files: as MuJoCo has them, and what is refused."""

import os
import sys

import mujoco
import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, force_columns
from pymodel.arith.errors import InputError
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FIXED_BASE, FREE, PRISMATIC, REVOLUTE
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.runs import mujoco_reference, pinocchio_reference, robot_calls
from pymodel.runs.mujoco_reference import Peer
from pymodel.runs.robot_model import RobotModel
from pymodel.tests.mjcf import ARM, BOX, LEGS, QUADRUPED, SAME, STATES, assert_as_mujoco, mjcf
from pymodel.tests.robots import random_state, relative_error
from pymodel.tests.spatial import rotation_of

#: Ball joints away from the body's origin and behind a slide; free bodies beside others.
BALLS = f"""
<option gravity="1 -2 -9"/>
<worldbody>
  <body name="arm" pos="0.1 0 1" euler="10 20 30">
    <joint name="shoulder" type="ball" pos="0.05 -0.1 0.02" damping="0.3" armature="0.02"/>{BOX}
    <body name="hand" pos="0.3 0 0" quat="0.8 0.2 -0.4 0.4">
      <joint name="reach" type="slide" axis="1 2 -1" ref="0.2"/>
      <joint name="wrist" type="ball" pos="-0.1 0 0.2"/>
      <inertial pos="0.1 0 0.02" mass="2" fullinertia="0.03 0.04 0.05 0.001 -0.002 0.003"/>
      <body name="finger" pos="0 0 0.2"><joint name="bend" axis="0 1 0"/>{BOX}</body>
    </body>
  </body>
  <body name="ball" pos="1 0 0"><freejoint name="one"/>{BOX}
    <body name="flap"><joint name="lid" axis="1 0 0"/>{BOX}</body>
  </body>
  <body name="cube" euler="0 40 0"><freejoint name="two"/>{BOX}</body>
</worldbody>
"""
ONE = f'<worldbody><body name="b"><joint name="j" axis="0 1 0"/>{BOX}</body></worldbody>'


@pytest.fixture
def load(tmp_path):
    """Load a robot from the elements of its file."""

    def loaded(elements, **options):
        path = tmp_path / "robot.xml"
        path.write_text(mjcf(elements))
        return robot_file.load(path, **options)

    return loaded


def test_friction_of_the_file(load):
    """MuJoCo's frictionloss, at work where a scale of velocity is given."""
    rubbing = ONE.replace('"j"', '"j" frictionloss="2"')
    left_out, applied = load(rubbing), load(rubbing, friction=0.1)
    assert left_out.links[0].friction_scale == 0.0
    assert (applied.links[0].friction, applied.links[0].friction_scale) == (2.0, 0.1)
    told = "dry friction is not applied: j"
    assert left_out.warnings == (*applied.warnings, told) and told not in applied.warnings
    with pytest.raises(RobotError, match="joint f: friction of a floating joint is not applied"):
        free = f'<body name="b">{BOX}<joint name="f" type="free" frictionloss="1"/></body>'
        load(f"<worldbody>{free}</worldbody>", friction=0.1)


@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["fixed", "floating"])
def test_as_mujoco(load, elements):
    assert_as_mujoco(load(elements))


@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["fixed", "floating"])
def test_as_the_library_alone(load, elements):
    assert_as_the_library(load(elements))


def test_ball_and_free_joints_as_mujoco(load):
    """Derivatives as Pinocchio's on the links that were read."""
    robot = load(BALLS, damping=True)
    assert not robot.floating and (robot.nq, robot.nv) == (4 + 1 + 4 + 1 + 7 + 1 + 7, 21)
    assert [link.armature for link in robot.links[:4]] == [0.02, 0.02, 0.02, 0.0]
    assert [link.damping for link in robot.links[:4]] == [0.3, 0.3, 0.3, 0.0]
    for function in ("ID", "FD", "M", "Minv"):
        table = robot_calls.random_states(robot, function, STATES, seed=9)
        found = robot_calls.call(reduced(robot), function, table).table
        assert relative_error(found, mujoco_reference.call(robot, function, table)) < SAME
    free = load(BALLS)
    for function in ("dID", "dFD"):
        table = robot_calls.random_states(free, function, 10, seed=9)
        found = robot_calls.call(reduced(free), function, table).table
        assert relative_error(found, pinocchio_reference.call(free, function, table)) < 1e-12


def assert_as_the_library(robot, states=STATES):
    """Its mj_fullM and qfrc_bias, with the conventions of a floating base written out here."""
    rng = np.random.default_rng(6)
    model = mujoco.MjModel.from_xml_path(robot.source)
    data, ours = mujoco.MjData(model), RobotModel(robot)
    for _ in range(states):
        q, qd, qdd, _ = random_state(robot, rng)
        turn, position, acceleration = np.eye(robot.nv), q.copy(), qdd.copy()
        if robot.floating:
            turn[:3, :3] = rotation_of(q[3:7])
            position[3:7] = q[6], *q[3:6]
            acceleration[:3] += np.cross(qd[3:6], qd[:3])
        data.qpos[:], data.qvel[:] = position, turn @ qd
        mujoco.mj_forward(model, data)
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        want = turn.T @ (mass @ turn @ acceleration + data.qfrc_bias)
        found = ours.inverse_dynamics(q, qd, qdd)
        assert np.abs(found - want).max() < SAME * np.abs(want).max()
        mass = turn.T @ mass @ turn
        assert np.abs(ours.mass_matrix(q) - mass).max() < SAME * np.abs(mass).max()


@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["fixed", "floating"])
def test_wrenches_act_in_the_frames_of_bodies(load, elements):
    """MuJoCo's xfrc_applied acts at the centre of mass, in the world's axes."""
    robot, rng = load(elements), np.random.default_rng(7)
    model = mujoco.MjModel.from_xml_path(robot.source)
    data, ours, still = mujoco.MjData(model), RobotModel(robot), np.zeros(robot.nv)
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, b) for b in range(model.nbody)]
    for index, name in enumerate(names):
        if name in ("world", "stand"):
            with pytest.raises(InputError, match="stands on the ground"):
                ours.inverse_dynamics(np.zeros(robot.nq), still, still, {name: np.ones(6)})
            continue
        q, wrench = random_state(robot, rng).q, rng.uniform(-1, 1, 6)
        data.qpos[:] = q
        if robot.floating:
            data.qpos[3:7] = q[6], *q[3:6]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        axes = data.xmat[index].reshape(3, 3)
        want = np.zeros(robot.nv)
        force, moment = axes @ wrench[:3], axes @ wrench[3:]
        mujoco.mj_applyFT(model, data, force, moment, data.xpos[index], index, want)
        if robot.floating:
            want[:3] = rotation_of(q[3:7]).T @ want[:3]
        free, pushed = (ours.inverse_dynamics(q, still, still, x) for x in (None, {name: wrench}))
        assert np.abs(free - pushed - want).max() < SAME * np.abs(want).max()


def test_joints_are_in_the_order_of_the_file(load):
    arm, quadruped = load(ARM), load(QUADRUPED)
    assert [link.joint for link in arm.links] == ["shoulder", "yaw", "reach", "pitch", "alone"]
    assert [link.kind for link in arm.links] == [REVOLUTE] * 2 + [PRISMATIC] + [REVOLUTE] * 2
    assert [link.parent for link in arm.links] == [FIXED_BASE, 0, 1, 2, FIXED_BASE]
    names = [link.name for link in arm.links]
    assert names == ["upper", "wrist:yaw", "wrist:reach", "wrist", "other"]
    assert [at.carrier for at in arm.fixed.values()] == [FIXED_BASE, FIXED_BASE, 3]
    joints = [f"{leg}_{joint}" for leg in LEGS for joint in ("haa", "hfe", "kfe")]
    assert [link.joint for link in quadruped.links] == ["root_joint", *joints]
    assert quadruped.links[0].kind == FREE and str(quadruped) == (
        "r: 18 degrees of freedom, floating base"
    )
    assert load(QUADRUPED, floating=True).nv == 18  # as the file says


def test_the_coordinate_is_ref_where_bodies_stand_as_written(load):
    """Gravity acts at ref as it does without it at 0."""
    body = '<body name="b" euler="0.3 0.2 0.1"><joint axis="0 1 0" {}/><geom size="0.1" pos="1 0 0"'
    for joint in ("", "type='slide'"):
        elements = f"<compiler angle='radian'/><worldbody>{body}/></body></worldbody>"
        plain, moved = load(elements.format(joint)), load(elements.format(f"ref='0.5' {joint}"))
        still = np.zeros(1)
        found = RobotModel(moved).inverse_dynamics(np.array([0.5]), still, still)
        want = RobotModel(plain).inverse_dynamics(still, still, still)
        assert found == pytest.approx(want, rel=1e-14) and want[0] != 0


@pytest.mark.parametrize("gravity", ["0 9.81 0", "-1 2 3", "0 0 0", "0 0 5", "0 0 -1.62"])
@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["fixed", "floating"])
def test_gravity_of_the_file(load, elements, gravity):
    robot, vector = load(f'<option gravity="{gravity}"/>{elements}'), gravity.split()
    assert robot.gravity_vector == pytest.approx(np.array(vector, float), rel=1e-15, abs=1e-15)
    assert_as_the_library(robot, 5)
    still = np.zeros(robot.nv)
    q = random_state(robot, np.random.default_rng(1)).q
    asked = load(elements, gravity=[float(x) for x in vector])
    want = RobotModel(robot).inverse_dynamics(q, still, still)
    assert np.array_equal(RobotModel(asked).inverse_dynamics(q, still, still), want)


def test_gravity_that_is_switched_off(load):
    robot = load(f'<option><flag gravity="disable"/></option>{QUADRUPED}')
    assert robot.gravity == 0
    assert_as_the_library(robot, 5)


def test_armature_of_the_file_and_of_its_actuators(load):
    """An actuator's inertia is seen through its gear, squared; what is asked for replaces both."""
    drives = """<actuator><motor name="m" joint="j" gear="3" armature="0.25" damping="2"/>
      <motor joint="j" gear="2" damping="1"/></actuator>"""
    elements = ONE.replace('"j"', '"j" armature="0.5" damping="4"') + drives
    assert load(elements).links[0].armature == 0.5 + 3**2 * 0.25
    assert load(elements).links[0].damping == 0
    damped = load(elements, damping=True)
    assert damped.links[0].damping == 4 + 3**2 * 2 + 2**2 * 1
    peer = mujoco.MjModel.from_xml_path(damped.source)
    data = mujoco.MjData(peer)
    data.qvel[:] = 1.0
    mujoco.mj_forward(peer, data)
    mass = np.zeros((1, 1))
    mujoco.mj_fullM(peer, data, mass)
    assert RobotModel(damped).mass_matrix(np.zeros(1)) == pytest.approx(mass)
    assert data.qfrc_passive == pytest.approx([-damped.links[0].damping])
    assert load(elements, armature=7.0).links[0].armature == 7
    assert load(elements, armature={"j": 0.0}).links[0].armature == 0
    with pytest.raises(InputError, match="armature: there is no moving joint k"):
        load(elements, armature={"k": 1.0})


def test_what_is_not_read_is_told_once(load):
    elements = f"""<option density="1"/>
    <worldbody>
      <body name="a" gravcomp="1">
        <joint name="j" stiffness="2" damping="1" frictionloss="3" range="-1 1"/>{BOX}
        <site name="s"/>
        <body name="b" pos="0 0 1"><joint name="k"/>{BOX}<site name="t"/></body>
      </body>
    </worldbody>
    <equality>
      <connect name="loop" body1="b" anchor="0 0 0"/><joint joint1="j" joint2="k"/>
    </equality>
    <tendon><spatial name="rope"><site site="s"/><site site="t"/></spatial></tendon>
    <actuator><motor name="m" joint="j"/><position tendon="rope"/></actuator>
    <sensor><jointpos joint="j"/></sensor>
    <keyframe><key qpos="0 0"/></keyframe>
    """
    assert load(elements, mimic=False).warnings == (
        "not read: contacts, joint limits, springs of joints (j), equality constraints "
        "(number 1), tendons (rope), actuators (m, number 1), gravity compensation of bodies (a), "
        "forces of a fluid",
        "damping is not applied: j",
        "dry friction is not applied: j",
    )
    assert_as_mujoco(load(elements, mimic=False), 5)
    quiet = load(ONE.replace("<geom", '<geom contype="0" conaffinity="0"'))
    assert quiet.warnings == quiet.notes == ()


def test_files_that_no_inertia_comes_from_are_not_needed(load):
    """Pictures, skins and the meshes of bodies with an inertia of their own."""
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    elements = f"""<compiler meshdir="nowhere" texturedir="nowhere"/>
    <asset>
      <mesh name="m" file="m.stl"/><texture name="t" type="2d" file="t.png"/>
      <material name="mat" texture="t"/><hfield name="h" file="h.png" size="1 1 1 1"/>
    </asset>
    <worldbody>
      <geom type="hfield" hfield="h"/>
      <body name="b">{inertial}<joint/><geom name="g" type="mesh" mesh="m" material="mat"/>
        <body name="c"><joint/><geom name="k" size="1" material="mat"/>
          <site name="s" material="mat"/></body>
      </body>
    </worldbody>
    <contact><pair geom1="g" geom2="k"/><exclude body1="b" body2="c"/></contact>
    <deformable><skin name="s" file="s.skn" material="mat"/></deformable>
    """
    assert load(elements).nv == 2
    needed = elements.replace(inertial, "")
    with pytest.raises(RobotError, match=r"MuJoCo: Error opening file '.*nowhere/m\.stl'$"):
        load(needed)


def test_shapes_give_inertias_where_the_file_says_so(load):
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    elements = ONE.replace("<geom", f'{inertial}<geom mass="5"')
    always = '<compiler inertiafromgeom="true"/>'
    assert (load(elements).links[0].mass, load(always + elements).links[0].mass) == (1, 5)


def test_parts_of_a_model_in_files_of_their_own(load, tmp_path):
    (tmp_path / "arm.xml").write_text(f"<mujocoinclude>{ONE}</mujocoinclude>")
    assert load('<include file="arm.xml"/>').nv == 1
    with pytest.raises(RobotError, match="a part of an MJCF: give the file that includes it"):
        robot_file.load(tmp_path / "arm.xml")


def test_warnings_of_mujoco_are_notes(load, tmp_path, monkeypatch, capfd):
    """It would print them, and leave MUJOCO_LOG.TXT in the current folder."""
    monkeypatch.chdir(tmp_path)
    robot = load(f'<compiler settotalmass="3"/>{ONE}')
    assert robot.links[0].mass == pytest.approx(3)
    (note,) = robot.notes
    assert note.startswith("MuJoCo: compiler attribute 'settotalmass' is deprecated")
    assert os.listdir(tmp_path) == ["robot.xml"]
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is None


def test_what_has_no_name_gets_one(load):
    body = f"<body><joint/>{BOX}<body name='body1'><joint name='joint0'/>{BOX}</body></body>"
    robot = load(f"<worldbody>{body}</worldbody>")
    assert [(link.name, link.joint) for link in robot.links] == [
        ("body1_", "joint0_"),
        ("body1", "joint0"),
    ]


def test_right_angles_are_snapped_where_asked(load):
    elements = f"""<compiler angle="radian"/>
    <worldbody>
      <body name="a"><joint name="i"/>{BOX}
        <body name="b" pos="0.1 0 0.2" euler="1.5708 0 0"><joint name="j"/>{BOX}</body>
      </body>
    </worldbody>"""
    assert abs(load(elements).links[1].rotation[1, 1]) > 1e-7
    snapped = load(elements, snap=1e-5)
    assert set(np.abs(snapped.links[1].rotation).ravel()) == {0.0, 1.0}
    assert snapped.warnings[0] == "4 entries of joint transforms rounded to 0, 1 or -1: j (4)"


FLAT = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'
BODY = '<body name="{}"><joint name="{}" {}/>' + BOX + "</body>"


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        (
            f'<worldbody><body name="a">{BOX}<joint name="j" type="ball"/></body>'
            + BODY.format("b", "j.rx", "")
            + "</worldbody>",
            "joint j: its ball motion has the joint j.rx, and another has this name",
        ),
        (
            "<worldbody>" + BODY.format("b", "j", 'type="free" armature="1"') + "</worldbody>",
            "joint j: armature of a free joint: write <freejoint/>, or armature='0'",
        ),
        (
            "<worldbody>" + BODY.format("b", "j", 'armature="-1"') + "</worldbody>",
            "joint j: its armature must be a number of 0 to 1e+30, got -1.0",
        ),
        ("<worldbody/>", "no joint moves"),
        (
            f"<worldbody><body name='b'><joint/>{FLAT}</body></worldbody>",
            "MuJoCo: inertia must satisfy A + B >= C; use 'balanceinertia' to fix, Element name "
            "'b', id 1",
        ),
        ("<nonsense/>", "MuJoCo: Schema violation: unrecognized element, Element 'nonsense'"),
        ("<include file='none.xml'/>", "MuJoCo: Error opening file"),
        (
            "<worldbody>"
            + BODY.format("b", "j", "").replace("<joint", "<freejoint/><joint")
            + "</worldbody>",
            "MuJoCo: more than 6 dofs in body 'b'",
        ),
        (
            '<worldbody><flexcomp name="cloth" type="grid" count="3 3 1" spacing="1 1 1" dim="2" '
            'mass="1"/></worldbody>',
            "flex cloth: flexible parts are no links: remove them",
        ),
        (
            ONE.replace('name="b"', 'name="b" pos="0 0 1e31"'),
            "body b: its placement must be in numbers of at most 1e+30 in size",
        ),
        (
            ONE.replace('"j"', '"j" type="slide" ref="inf"'),
            "joint j: its placement must be in numbers of at most 1e+30 in size",
        ),
        (
            f'<option gravity="0 0 -inf"/>{ONE}',
            "option: gravity must be in numbers of at most 1e+30 in size",
        ),
        (
            '<worldbody><body name="a"><joint name="j"/><geom size="1" mass="1e31"/></body>'
            "</worldbody>",
            "body a: mass and moments of inertia must be numbers of 0 to 1e+30",
        ),
    ],
)
def test_bad_files_are_refused_in_one_line(load, elements, message):
    with pytest.raises(RobotError) as caught:
        load(elements)
    text = str(caught.value)
    source, _, said = text.partition(": ")
    assert source.endswith("robot.xml") and said.startswith(message) and "\n" not in text


def test_options_that_do_not_fit_are_refused(load):
    with pytest.raises(InputError, match=r"floating: its base is fixed: write <freejoint/> in"):
        load(ONE, floating=True)
    poly = ONE.replace('"j"', '"j" damping="1 2"')
    assert load(poly).warnings[-1] == "damping is not applied: j"
    with pytest.raises(RobotError, match="joint j: its damping must be linear"):
        load(poly, damping=True)
    free = f'<worldbody><body name="b">{BOX}<joint name="f" type="free" damping="1"/></body>'
    with pytest.raises(RobotError, match="joint f: damping of a free joint is not applied"):
        load(f"{free}</worldbody>", damping=True)
    with pytest.raises(InputError, match="no base carries all that moves: other joints stand on"):
        load(BALLS, floating=True)


def test_the_name_must_be_one_that_mujoco_takes(tmp_path):
    path = tmp_path / "robot.mjcf"
    path.write_text(f"<mujoco>{ONE}</mujoco>")
    with pytest.raises(RobotError, match=r"MJCF: its name must end with \.xml, for MuJoCo$"):
        robot_file.load(path)


def test_without_mujoco_the_extra_is_named(load, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(RobotError) as caught:
        load(ONE)
    needs = "to read MJCF needs MuJoCo: pip install 'hdca-accelerator[mjcf]'"
    assert str(caught.value).endswith(f"robot.xml: {needs}")


@pytest.mark.parametrize("elements", [ARM, QUADRUPED], ids=["fixed", "floating"])
def test_functions_as_pinocchio(load, elements):
    """All seven, with wrenches: Pinocchio has the derivatives that MuJoCo has not."""
    robot = load(elements)
    small, rng = reduced(robot), np.random.default_rng(9)
    pushed = {c: rng.uniform(-1, 1, STATES) for c in force_columns(range(len(robot.links)))}
    for function in FUNCTIONS:
        table = robot_calls.random_states(small, function, STATES, seed=9)
        table |= pushed if function in ("ID", "FD") else {}
        found = robot_calls.call(small, function, table).table
        assert relative_error(found, pinocchio_reference.call(robot, function, table)) < 1e-12


def test_a_quadruped_in_float32(load):
    """In the numbers that the engine has."""
    robot = load(QUADRUPED)
    single = RobotModel(robot, "float32")
    exact, rng = RobotModel(robot), np.random.default_rng(8)
    q, qd, tau, _ = random_state(robot, rng)
    want = exact.forward_dynamics(q, qd, tau)
    assert np.abs(single.forward_dynamics(q, qd, tau) - want).max() < 1e-5 * np.abs(want).max()
    assert want == pytest.approx(forward_dynamics(Peer(robot), q, qd, tau), rel=1e-9)


def forward_dynamics(peer, q, qd, tau):
    bias = peer.inverse_dynamics(q, qd, np.zeros_like(qd))
    return np.linalg.solve(peer.mass_matrix(q), tau - bias)
