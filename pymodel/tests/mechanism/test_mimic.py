"""Joints that mimic others: against Pinocchio, MuJoCo and G by hand; bits; what is refused."""

import mujoco
import numpy as np
import pinocchio
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, evaluate, force_columns, inputs
from pymodel.app.command import main
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact, Float64, Float64Arrays
from pymodel.compile.robot_kernels import chained, cheapest, recorded
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FIXED_BASE, Mimic
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.runs import mujoco_reference, pinocchio_reference, robot_calls
from pymodel.runs.closed_loop import bent, simulate
from pymodel.runs.robot_model import RobotModel, load_robot
from pymodel.tests.mjcf import mjcf
from pymodel.tests.robots import ROBOTS, random_inertial, random_origin, relative_error

STATES = 100
SAME = 1e-10
BASES = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
GRIPPER = ROBOTS / "gripper.urdf"

INERTIAL = (
    "<inertial><origin xyz='0.1 0.02 -0.03'/><mass value='2'/>"
    "<inertia ixx='1' iyy='1.1' izz='1.2' ixy='0' ixz='0.1' iyz='0'/></inertial>"
)


def link(name, inertial=INERTIAL):
    return f"<link name='{name}'>{inertial}</link>"


def joint(name, parent, child, kind="revolute", mimic="", axis="0 0 1"):
    ends = f"<parent link='{parent}'/><child link='{child}'/><axis xyz='{axis}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}{mimic}</joint>"


def mimics(other, more=""):
    return f"<mimic joint='{other}' {more}/>"


@pytest.fixture
def load(tmp_path):
    """Load a robot from the elements of its file."""

    def loaded(elements, **options):
        path = tmp_path / "robot.urdf"
        path.write_text(f"<robot name='r'>{elements}</robot>")
        return robot_file.load(path, **options)

    return loaded


def random_mimics(rng, joints=7):
    """A tree in which three of seven joints mimic others: ancestors, descendants, other branches.

    Names are in no order, so that some stand before what they mimic.
    """
    order = rng.permutation(joints)
    followers = rng.choice(joints, 3, replace=False)
    text = [link("l0", random_inertial(rng))]
    for index in range(joints):
        kind = rng.choice(["revolute", "continuous", "prismatic"])
        mimic = ""
        if index in followers:
            free = [k for k in range(joints) if k not in followers]
            earlier = [k for k in followers if k < index]  # chains that end
            other = order[rng.choice(free + earlier)]
            numbers = rng.uniform(-2, 2, 2).round(2)
            mimic = mimics(f"j{other}", f"multiplier='{numbers[0]}' offset='{numbers[1]}'")
        parent = f"l{rng.integers(max(index - 1, 0), index + 1)}"
        axis = rng.choice(["1 0 0", "0 1 0", "0 0 1", "1 2 -3"])
        origin = random_origin(rng)
        text.append(link(f"l{index + 1}", random_inertial(rng)))
        text.append(joint(f"j{order[index]}", parent, f"l{index + 1}", kind, origin + mimic, axis))
    return "".join(text)


@pytest.mark.nightly(every=4)
@BASES
@pytest.mark.parametrize("seed", range(4))
def test_as_the_free_joints_of_pinocchio(load, seed, floating):
    """By G^T and G of what it gives for the tree, all functions and wrenches."""
    rng = np.random.default_rng(seed)
    robot = load(random_mimics(rng), floating=floating, armature=0.3)
    assert len(robot.mimics) == 3 and robot.nv == 4 + 6 * floating
    small = reduced(robot)
    pushed = {c: rng.uniform(-1, 1, STATES) for c in force_columns(range(len(robot.links)))}
    for function in FUNCTIONS:
        table = robot_calls.random_states(small, function, STATES, seed)
        table |= pushed if FUNCTIONS[function].forces and function in ("ID", "FD") else {}
        found = robot_calls.call(small, function, table).table
        expected = pinocchio_reference.call(robot, function, table)
        assert relative_error(found, expected) < SAME, function


def test_the_peer_by_hand(load):
    """The reference itself, on one state: q, tau and M of two joints, one of which mimics."""
    robot = load(
        link("a")
        + link("b")
        + link("c")
        + joint("j", "a", "b", axis="0 1 0")
        + joint("k", "b", "c", "prismatic", mimics("j", "multiplier='-0.5' offset='0.25'"))
    )
    assert robot.coupling.tolist() == [[1.0], [-0.5]]
    assert robot.coordinates_of_tree(np.array([0.4])).tolist() == [0.4, 0.25 - 0.2]
    free = RobotModel(robot.tree)
    q, qd, qdd = np.array((0.4, 0.05)), np.array((0.3, -0.15)), np.array((0.7, -0.35))
    tau = free.inverse_dynamics(q, qd, qdd)
    table = {"q0": [0.4], "qd0": [0.3], "qdd0": [0.7]}
    table = {name: np.array(x) for name, x in table.items()}
    its = pinocchio_reference.call(robot, "ID", table)["tau0"][0]
    assert its == pytest.approx(tau[0] - 0.5 * tau[1], rel=1e-12)
    m = free.mass_matrix(q)
    want = m[0, 0] - m[0, 1] + 0.25 * m[1, 1]
    assert RobotModel(robot).mass_matrix(np.array([0.4])) == pytest.approx(want, rel=1e-12)


def test_as_pinocchio_with_mimic_joints_of_its_own(load):
    """Where it takes them: no chain, no continuous joint."""
    elements = "".join(link(name) for name in "abcd") + (
        joint("j", "a", "b", axis="0 1 0")
        + joint("k", "b", "c", mimic=mimics("j", "multiplier='-0.5' offset='0.25'"))
        + joint("l", "c", "d", axis="1 0 0")
    )
    limited = elements.replace(
        "<axis", "<limit effort='1' velocity='1' lower='-9' upper='9'/><axis"
    )
    robot = RobotModel(load(elements))
    its = pinocchio.buildModelFromXML(f"<robot name='r'>{limited}</robot>", True)
    rng = np.random.default_rng(3)
    assert (its.nv, robot.joints) == (2, ["j", "l"])
    for q, qd, qdd in rng.uniform(-1, 1, (STATES, 3, 2)):
        data = its.createData()  # a used one spoils crba with mimic joints
        tau = pinocchio.rnea(its, data, q, qd, qdd)
        found = robot.inverse_dynamics(q, qd, qdd)
        assert np.abs(found - tau).max() < SAME * np.abs(tau).max()
        upper = np.triu(pinocchio.crba(its, data, q))
        want = upper + np.triu(upper, 1).T
        assert np.abs(robot.mass_matrix(q) - want).max() < SAME * np.abs(want).max()
        found = robot.forward_dynamics(q, qd, tau)
        assert np.abs(found - qdd).max() < SAME


def test_derivatives_are_those_of_differences(load):
    """Central ones, of functions that were compared."""
    robot = RobotModel(load(random_mimics(np.random.default_rng(2))))
    q, qd, tau = np.random.default_rng(5).uniform(-1, 1, (3, robot.nv))
    by_q, by_qd = robot.forward_dynamics_derivatives(q, qd, tau)
    step = 1e-6 * np.eye(robot.nv)
    fd = robot.forward_dynamics
    q_s = (fd(q + step, qd, tau) - fd(q - step, qd, tau)).T / 2e-6
    qd_s = (fd(q, qd + step, tau) - fd(q, qd - step, tau)).T / 2e-6
    for found, want in ((by_q, q_s), (by_qd, qd_s)):
        assert np.abs(found - want).max() < 1e-7 * np.abs(want).max()


@pytest.mark.parametrize(
    ("floating", "functions"),
    [(False, FUNCTIONS), (True, ("FD",))],
    ids=["fixed", "floating"],
)
def test_model_native_and_twin_have_the_bits_of_the_text(floating, functions):
    robot = reduced(robot_file.load(GRIPPER, floating))
    for function in functions:
        table = robot_calls.random_states(robot, function, 3, seed=4)
        model, native, twin = (
            robot_calls.call(robot, function, table, "float32", target).table
            for target in robot_calls.TARGETS
        )
        for name, column in model.items():
            assert column.tobytes() == native[name].tobytes() == twin[name].tobytes(), name
        arithmetic, method = BitExact(BINARY32), cheapest(robot, function)
        given = {x: arithmetic.const(float(table[x][0])) for x in inputs(robot, function)}
        for as_data in (True, False):
            text = evaluate(function, robot, arithmetic, given, method, (), as_data)
            kernel = recorded(robot, function, method, (), as_data)
            again = kernel.evaluate(arithmetic, given)
            assert {k: x.bits for k, x in text.items()} == {k: x.bits for k, x in again.items()}
        found = {name: arithmetic.to_float(x) for name, x in text.items()}
        assert found == {name: model[name][0] for name in found}


def test_multipliers_and_offsets_are_parameters():
    """Another gripper of the same structure needs no other program."""
    robot = reduced(robot_file.load(GRIPPER))
    kernel = recorded(robot, "FD", "factors", (), True)
    values = {name: x for name, x in kernel.parameters.items() if "mimic" in name}
    assert values == {
        "left_tip.mimic_multiplier": -0.8,
        "left_tip.mimic_offset": 0.1,
        "right_tip.mimic_multiplier": 0.8,
        "right_tip.mimic_offset": -0.1,
    }


def test_segments_of_derivatives():
    """What the array does column by column."""
    robot = robot_file.load(GRIPPER, floating=True)
    states = robot_calls.random_states(reduced(robot), "dFD", STATES, seed=9)
    expected = pinocchio_reference.call(robot, "dFD", states)
    (row,) = chained(reduced(robot)).evaluate(Float64Arrays(), states)
    zero = np.zeros(STATES)
    found = {key: row.get(key, zero) + zero for key in expected}
    assert row.keys() <= expected.keys() and relative_error(found, expected) < SAME


def test_a_closed_loop():
    loop = bent(robot_file.load(GRIPPER), steps=50)
    found = loop.table([[float(x) for x in row] for row in simulate(loop, Float64())])
    want = pinocchio_reference.closed_loop(loop)
    assert all(np.allclose(found[name], want[name], rtol=1e-9, atol=1e-12) for name in want)


# --- MJCF -----------------------------------------------------------------------------------------

BOX = '<geom type="box" size="0.1 0.2 0.05"/>'
HAND = f"""
<worldbody><body name="palm"><joint name="wrist" axis="0 0 1"/>{BOX}
  <body name="l" pos="0.1 0 0"><joint name="drive" axis="0 1 0" ref="20"/>{BOX}
    <body name="lt" pos="0.2 0 0"><joint name="tip" axis="0 1 0" ref="-10"/>{BOX}</body></body>
  <body name="r" pos="-0.1 0 0">
    <joint name="slide" type="slide" axis="1 0 0" ref="0.3" armature="0.2"/>{BOX}</body>
  <body name="x" pos="0 0.3 0"><joint name="held" axis="1 1 0"/>{BOX}</body>
</body></worldbody>
<equality>
  <joint name="a" joint1="slide" joint2="drive" polycoef="0.1 -0.4 0 0 0"/>
  <joint joint1="tip" joint2="slide" polycoef="0 2 0 0 0"/>
  <joint joint1="held" polycoef="0.6 0 0 0 0"/>
  <joint joint1="wrist" joint2="drive" active="false"/>
</equality>
"""


@pytest.fixture
def hand(tmp_path):
    """Load a robot from the elements of its MJCF."""

    def loaded(elements=HAND, **options):
        path = tmp_path / "hand.xml"
        path.write_text(mjcf(elements))
        return robot_file.load(path, **options)

    return loaded


def test_equality_of_joints_as_mujoco(hand):
    """Its own constraints vanish where ours say that joints are, and G^T M G is its M's."""
    robot = hand()
    names = [x.joint for x in robot.links]
    assert robot.nv == 2 and not [x for x in robot.warnings if "equality" in x]
    assert robot.notes == (
        "mimic joints, without coordinates of their own: tip = "
        f"{robot.mimics[2].multiplier:.12g} drive {'+' if robot.mimics[2].offset > 0 else '-'} "
        f"{abs(robot.mimics[2].offset):.12g}, slide = -0.4 drive + {robot.mimics[3].offset:.12g}, "
        "held = 0.6",
    )
    assert robot.mimics[names.index("held")] == Mimic(FIXED_BASE, 0.0, 0.6)
    model = mujoco.MjModel.from_xml_path(robot.source)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    for q in rng.uniform(-1, 1, (10, 2)):
        data.qpos[:] = robot.coordinates_of_tree(q)
        data.qvel[:] = robot.coupling @ rng.uniform(-1, 1, 2)
        mujoco.mj_forward(model, data)
        assert data.ne == 3 and np.abs(data.efc_pos[:3]).max() < 1e-15
        assert np.abs(data.efc_vel[:3]).max() < 1e-15
    small = reduced(robot)
    for function in mujoco_reference.EVALUATED:
        table = robot_calls.random_states(small, function, STATES, seed=9)
        found = robot_calls.call(small, function, table).table
        assert relative_error(found, mujoco_reference.call(robot, function, table)) < SAME
    for function in FUNCTIONS:
        table = robot_calls.random_states(small, function, STATES, seed=9)
        found = robot_calls.call(small, function, table).table
        assert relative_error(found, pinocchio_reference.call(robot, function, table)) < SAME


def test_equality_of_joints_is_left_out_on_request(hand):
    robot = hand(mimic=False)
    assert robot.nv == 5 and not robot.mimics
    assert "equality constraints (a, number 1, number 2)" in robot.warnings[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0 2 0 0 0", "0 2 0.5 0 0", r"equality joint number 1: polycoef of an order above 1"),
        ('joint1="held"', 'joint1="tip"', r"equality joint number 2: joint tip follows two others"),
        (
            'joint1="slide" joint2="drive"',
            'joint1="slide" joint2="tip"',
            r"joint (slide|tip): it mimics itself, by way of (slide|tip): ",
        ),
    ],
    ids=["order", "twice", "circle"],
)
def test_equalities_that_are_refused(hand, old, new, said):
    assert old in HAND
    with pytest.raises(RobotError, match=said):
        hand(HAND.replace(old, new))
    hand(HAND.replace(old, new), mimic=False)


# --- what is said and refused ---------------------------------------------------------------------

ABC = link("a") + link("b") + link("c")


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        (
            joint("j", "a", "b") + joint("k", "b", "c", mimic=mimics("x")),
            "joint k: it mimics joint x, which is not there: ",
        ),
        (
            joint("j", "a", "b", "fixed") + joint("k", "b", "c", mimic=mimics("j")),
            "joint k: it mimics joint j, which does not move: ",
        ),
        (
            joint("j", "a", "b") + joint("k", "b", "c", mimic=mimics("k")),
            "joint k: it mimics itself: ",
        ),
        (
            joint("j", "a", "b", mimic=mimics("k")) + joint("k", "b", "c", mimic=mimics("j")),
            "joint j: it mimics itself, by way of k: ",
        ),
        (
            joint("j", "a", "b", mimic=mimics("root_joint")) + joint("k", "b", "c"),
            "joint root_joint: it has several coordinates, and is mimicked by joint j: ",
        ),
        (
            joint("i", "a", "b", mimic=mimics("j", "multiplier='1e20'"))
            + joint("j", "b", "c", mimic=mimics("k", "multiplier='1e20'"))
            + link("d")
            + joint("k", "c", "d"),
            "joint i: what it mimics, through all others: beyond 1e+30",
        ),
    ],
    ids=["missing", "fixed", "itself", "circle", "base", "large"],
)
def test_what_is_refused(load, capsys, elements, said):
    floating = "root_joint" in elements
    with pytest.raises(RobotError) as caught:
        load(ABC + elements, floating=floating)
    line = str(caught.value)
    assert said in line and "\n" not in line and ("--no-mimic" in line) == ("beyond" not in said)
    path = line.partition(": ")[0]
    command = ["joints", path, *(["--floating"] if floating else [])]
    assert main(command) == 2
    assert capsys.readouterr().err.splitlines() == [line]
    assert main([*command, "--no-mimic"]) == 0


def test_joints_show_who_mimics_whom(capsys):
    assert main(["joints", str(GRIPPER)]) == 0
    out, err = capsys.readouterr()
    follow, left, right = "follow = -drive", "left_tip = -0.8 drive + 0.1", "0.8 drive - 0.1"
    assert out.splitlines() == ["wrist", "drive", left, follow, f"right_tip = {right}"]
    assert err.splitlines()[0] == "gripper: 2 degrees of freedom, fixed base"
    assert main(["joints", str(GRIPPER), "--no-mimic"]) == 0
    assert capsys.readouterr().out.split() == ["wrist", "drive", "left_tip", "follow", "right_tip"]
    robot = load_robot(GRIPPER)
    assert (robot.nv, robot.joints) == (2, ["wrist", "drive"])
    assert robot.mimics["follow"] == ("drive", -1.0, 0.0)


def test_a_link_without_inertia_may_follow_or_lead(load):
    elements = link("a") + link("b", "") + link("c")
    follows = joint("j", "a", "b", mimic=mimics("k")) + joint("k", "a", "c")
    leads = joint("j", "a", "b") + joint("k", "a", "c", mimic=mimics("j"))
    for joints in (follows, leads):
        m = RobotModel(load(elements + joints)).mass_matrix(np.zeros(1))
        assert m > 1.0 and np.isfinite(m)
        with pytest.raises(RobotError, match="no inertia"):
            load(elements + joints, mimic=False)
    with pytest.raises(RobotError, match="no inertia"):
        load(elements + leads.replace("<mimic joint='j' ", "<mimic joint='j' multiplier='0' "))
