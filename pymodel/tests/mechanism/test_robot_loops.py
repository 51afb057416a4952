"""Robots with loops: against Pinocchio, MuJoCo and projection; what is refused."""

import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

from pymodel.algorithms.rigid_body.functions import CONSTRAINED, evaluate, inputs
from pymodel.app.command import main
from pymodel.arith.errors import InputError
from pymodel.arith.fp import BINARY32
from pymodel.arith.scalars import BitExact, Float64
from pymodel.compile.robot_kernels import recorded
from pymodel.control.states import States
from pymodel.mechanism import robot_file
from pymodel.mechanism.loop import HINGE, POINTS, WELD, Loop
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import FIXED_BASE
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.mechanism.robot_loops import LoopGeometry, with_loops
from pymodel.mechanism.robot_scenario import scenario_of_robot
from pymodel.mechanism.scenario import ScenarioError
from pymodel.runs import lagrangian, pinocchio_reference, robot_calls
from pymodel.runs.joint_forces import joint_forces
from pymodel.runs.robot_model import RobotModel, load_robot
from pymodel.runs.simulate import simulate
from pymodel.tests.mjcf import mjcf
from pymodel.tests.robots import ROBOTS, random_inertial, random_origin, relative_error

STATES = 100
SAME = 1e-10
KEEP = "FDc, dFDc, IDc, stepc and dstepc keep"
LEG = ROBOTS / "closed_leg.urdf"
BASES = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def two_arms(rng, shared, mimic="", joints=5):
    """Two arms of so many joints in space, on a joint of their own if that is shared."""

    def joint(name, parent, child, kind="revolute", more=""):
        axis = " ".join(map(str, rng.normal(size=3)))
        ends = f"<parent link='{parent}'/><child link='{child}'/>{random_origin(rng)}"
        link = f"<link name='{child}'>{random_inertial(rng)}</link>"
        return f"{link}<joint name='{name}' type='{kind}'>{ends}<axis xyz='{axis}'/>{more}</joint>"

    text = [f"<link name='root'>{random_inertial(rng)}</link>", joint("s", "root", "stem")]
    for arm in "ab":
        parent = "stem" if shared else "root"
        for k in range(joints):
            kind = "prismatic" if (arm, k) == ("a", 2) else "revolute"
            more = mimic if (arm, k) == ("b", 1) else ""
            text.append(joint(f"{arm}{k}", parent, f"l{arm}{k}", kind, more))
            parent = f"l{arm}{k}"
    return f"<robot name='arms'>{''.join(text)}</robot>"


@pytest.fixture
def arms(tmp_path):
    """Two arms whose last links are held together, or the first one's to the ground."""

    def loaded(
        kind,
        shared=False,
        floating=False,
        mimic="",
        gains=(0.0, 0.0),
        armature=0.1,
        joints=5,
        ground=False,
        gravity=None,
    ):
        rng = np.random.default_rng(4)
        path = tmp_path / "arms.urdf"
        path.write_text(two_arms(rng, shared, mimic, joints))
        robot = robot_file.load(path, floating, armature=armature, gravity=gravity)
        names = [link.name for link in robot.links]
        turns = [np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2)]
        turns = tuple(turn * np.linalg.det(turn) for turn in turns)
        offsets = tuple(rng.uniform(-0.1, 0.1, (2, 3)))
        loop = Loop(
            "hands",
            kind,
            (
                names.index(f"la{joints - 1}"),
                FIXED_BASE if ground else names.index(f"lb{joints - 1}"),
            ),
            turns,
            offsets,
        )
        found, told = with_loops(robot, [replace(loop, gains=gains)])
        assert told == [f"loops: {KEEP}, and all others leave open: hands"]
        return found

    return loaded


def states(robot, function, rows=STATES):
    return robot_calls.random_states(reduced(robot), function, rows, seed=3)


def array(robot, table, kind):
    n = robot.nq if kind == "q" else robot.nv
    if kind in ("q", "qd", "qdd", "tau"):
        return np.stack([table[f"{kind}{k}"] for k in range(n)], axis=-1)
    names = [[f"{kind}{i}_{k}" for k in range(n)] for i in range(n)]
    return np.moveaxis(np.array([[table[x] for x in row] for row in names]), -1, 0)


class Pinocchio:
    """Pinocchio's own constrained dynamics of a robot with one ball or weld."""

    def __init__(self, robot):
        (loop,) = robot.loops
        kinds = {POINTS: pinocchio.ContactType.CONTACT_3D, WELD: pinocchio.ContactType.CONTACT_6D}
        self.model = pinocchio_reference.model(robot)
        self.data = self.model.createData()
        places = map(pinocchio.SE3, loop.rotations, loop.offsets)
        ends = [x for end in zip(loop.links, places, strict=True) for x in (end[0] + 1, end[1])]
        local = pinocchio.ReferenceFrame.LOCAL
        self.loops = pinocchio.StdVec_RigidConstraintModel()
        self.loops.append(
            pinocchio.RigidConstraintModel(kinds[loop.kind], self.model, *ends, local)
        )
        self.states = pinocchio.StdVec_RigidConstraintData()
        self.states.append(self.loops[0].createData())
        pinocchio.initConstraintDynamics(self.model, self.data, self.loops, self.states)

    def accelerations(self, q, qd, tau):
        given = q, qd, tau, self.loops, self.states
        return pinocchio.constraintDynamics(self.model, self.data, *given).copy()

    def derivatives(self, q, qd, tau):
        self.accelerations(q, qd, tau)
        given = self.model, self.data, self.loops, self.states
        pinocchio.computeConstraintDynamicsDerivatives(*given)
        return self.data.ddq_dq.copy(), self.data.ddq_dv.copy()


@pytest.mark.parametrize(
    ("kind", "shared", "floating", "ground"),
    [(POINTS, False, False, False), (POINTS, True, True, False), (WELD, True, False, False)]
    + [(POINTS, False, True, True), (WELD, True, True, True)],
)
def test_forward_dynamics_as_pinocchio(arms, kind, shared, floating, ground):
    robot = arms(kind, shared, floating, ground=ground)
    table = states(robot, "FDc")
    found = array(robot, robot_calls.call(reduced(robot), "FDc", table).table, "qdd")
    peer = Pinocchio(robot)
    q, qd, tau = (array(robot, table, name) for name in ("q", "qd", "tau"))
    want = np.array([peer.accelerations(*row) for row in zip(q, qd, tau, strict=True)])
    assert np.abs(found - want).max() < SAME * np.abs(want).max()


@pytest.mark.parametrize("shared", [False, True], ids=["ground", "stem"])
def test_derivatives_as_pinocchio(arms, shared):
    """In directions that keep the loops: qd changes with q, so that velocities keep them, too.

    Of a weld: those of Pinocchio 4.1 of points are not those of its own accelerations.
    """
    robot = arms(WELD, shared)
    table, rng = states(robot, "dFDc", 20), np.random.default_rng(5)
    found = robot_calls.call(reduced(robot), "dFDc", table).table
    by_q, by_qd = (array(robot, found, f"dqdd_{name}") for name in ("dq", "dqd"))
    peer, geometry = Pinocchio(robot), LoopGeometry(robot)
    state = (array(robot, table, name) for name in ("q", "qd", "tau"))
    reference = pinocchio_reference._Frames(robot, peer.model)
    rows = pinocchio_reference._Loops(robot, peer.model, reference)
    for q, qd, tau, ours, ours_d in zip(*state, by_q, by_qd, strict=True):
        theirs, theirs_d = peer.derivatives(q, qd, tau)
        inverse = np.linalg.pinv(geometry.jacobian(q))
        dq = geometry.kept(q, rng.normal(size=robot.nv))
        bias = [rows._rows(q, qd + sign * dq)[1] for sign in (1, -1)]  # quadratic in qd
        dqd = -inverse @ (bias[0] - bias[1]) / 4
        changes = [x @ dq + y @ dqd for x, y in ((ours, ours_d), (theirs, theirs_d))]
        assert np.abs(changes[0] - changes[1]).max() < SAME * np.abs(changes[1]).max()
        dqd = geometry.kept(q, rng.normal(size=robot.nv))
        assert np.abs((ours_d - theirs_d) @ dqd).max() < SAME * np.abs(theirs_d @ dqd).max()


def test_derivatives_of_pinned_points_as_pinocchio(arms):
    """In all directions: of points on the ground those of Pinocchio are right."""
    robot = arms(POINTS, floating=True, ground=True)
    table = states(robot, "dFDc", 5)
    found = robot_calls.call(reduced(robot), "dFDc", table).table
    by = np.concatenate([array(robot, found, f"dqdd_{name}") for name in ("dq", "dqd")], axis=-1)
    state = zip(*(array(robot, table, name) for name in ("q", "qd", "tau")), strict=True)
    peer = Pinocchio(robot)
    want = np.array([np.hstack(peer.derivatives(*row)) for row in state])
    assert np.abs(by - want).max() < SAME * np.abs(want).max()


@pytest.mark.parametrize("kind", [POINTS, HINGE, WELD])
@pytest.mark.nightly(HINGE)
def test_a_floating_base_held_to_the_ground_with_gains(arms, kind):
    """Derivatives of FDc and of the step are what differences in the tangent space tend to."""
    robot = arms(
        kind, floating=True, gains=(100.0, 20.0), joints=2, ground=True, gravity=(1.0, -2.0, 3.0)
    )
    model, on, h, near = RobotModel(robot), States(robot), 0.02, 1e-6
    table = states(robot, "dFDc", 1)
    q, qd, tau = (array(robot, table, name)[0] for name in ("q", "qd", "tau"))
    x, n = np.concatenate([q, qd]), robot.nv
    assert np.abs(LoopGeometry(robot).errors(q)).max() < 1e-9

    def accelerations(x):
        return model.constrained_forward_dynamics(x[:, : robot.nq], x[:, robot.nq :], tau)

    def after(x, tau):
        given = x[..., : robot.nq], x[..., robot.nq :], tau, h
        return on.difference(start, np.concatenate(model.constrained_step(*given), axis=-1))

    start = np.concatenate(model.constrained_step(q, qd, tau, h))
    ways = near * np.eye(2 * n)
    moved = [on.integrate(x, way) for way in (ways, -ways)]
    by = np.hstack(model.constrained_forward_dynamics_derivatives(q, qd, tau))
    want = (accelerations(moved[0]) - accelerations(moved[1])).T / (2 * near)
    assert np.abs(by - want).max() < 1e-7 * np.abs(want).max()
    A, B = model.constrained_step_derivatives(q, qd, tau, h)
    want = (after(moved[0], tau) - after(moved[1], tau)).T / (2 * near)
    assert np.abs(A - want).max() < 1e-8
    want = (after(x, tau + np.eye(n)) - after(x, tau - np.eye(n))).T / 2
    assert np.abs(B - want).max() < 1e-10
    geometry = LoopGeometry(robot)
    x = on.integrate(x, 1e-5 * np.random.default_rng(6).normal(size=2 * n))
    q, qd = np.split(x, [robot.nq])
    plain = RobotModel(replace(robot, loops=tuple(replace(k, gains=(0, 0)) for k in robot.loops)))
    added = [each.constrained_forward_dynamics(q, qd, tau) for each in (model, plain)]
    jacobian = geometry.jacobian(q)
    want = -100.0 * geometry.errors(q) - 20.0 * jacobian @ qd
    assert jacobian @ (added[0] - added[1]) == pytest.approx(want, rel=1e-3)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_steps_with_loops_are_rates_first(floating):
    robot = robot_file.load(LEG, floating)
    table = states(robot, "stepc", 5)
    found = robot_calls.call(reduced(robot), "stepc", table).table
    assert relative_error(found, pinocchio_reference.call(robot, "stepc", table)) < SAME


def test_a_file_pins_a_foot_to_the_ground(tmp_path):
    """A loop without a second link; a base so held is not driven."""
    path = tmp_path / "leg.urdf"
    path.write_text(LEG.read_text())
    pin = "[[loop]]\nkind = 'weld'\nlink = 'hip'\nat = [0.1, 0.2, 0.7]\n"
    names = ["abduction", "flexion", "knee", "motor", "rod"]
    (tmp_path / "leg.loops.toml").write_text(f"actuated = {names}\n{pin}")
    robot = robot_file.load(path, floating=True)
    fixed = LoopGeometry(robot).closed(np.array([0.0] * 6 + [1.0] + [0.3] * 5))
    np.testing.assert_allclose(fixed[:3], [0.1, 0.2, 0.7], atol=1e-12)
    table = states(robot, "IDc", 5)
    found = robot_calls.call(reduced(robot), "IDc", table).table
    assert list(found) == [f"tau{k}" for k in range(11)] and not found["tau0"].any()
    assert relative_error(found, pinocchio_reference.call(robot, "IDc", table)) < SAME


@pytest.mark.nightly(every=4)
@pytest.mark.parametrize(
    ("kind", "floating", "mimic"),
    [
        (POINTS, True, "<mimic joint='b3' multiplier='-0.7'/>"),
        (HINGE, False, ""),
        (HINGE, True, ""),
        (WELD, False, "<mimic joint='b3' multiplier='-0.7'/>"),
    ],
)
def test_by_projection(arms, kind, floating, mimic):
    """What is left in the loops' directions of motion, and by Pinocchio's kinematics."""
    robot = arms(kind, floating=floating, mimic=mimic)
    table = states(robot, "FDc")
    found = robot_calls.call(reduced(robot), "FDc", table).table
    assert relative_error(found, pinocchio_reference.call(robot, "FDc", table)) < SAME
    model, geometry = RobotModel(robot), LoopGeometry(robot)
    q, qd, tau = (array(robot, table, name) for name in ("q", "qd", "tau"))
    qdd = array(robot, found, "qdd")
    left = model.inverse_dynamics(q, qd, qdd) - tau
    for posture, force in zip(q, left, strict=True):
        jacobian = geometry.jacobian(posture)
        assert len(jacobian) == {POINTS: 3, HINGE: 5, WELD: 6}[kind]
        motions = np.linalg.svd(jacobian)[2][len(jacobian) :]
        assert np.abs(motions @ force).max() < SAME * np.abs(force).max()


@pytest.mark.parametrize("kind", [POINTS, HINGE, WELD])
def test_loops_stay_closed(arms, kind):
    """Errors and velocities of a path with these accelerations grow with the third power."""
    robot = arms(kind)
    table = states(robot, "FDc", 3)
    qdd = array(robot, robot_calls.call(reduced(robot), "FDc", table).table, "qdd")
    q, qd = (array(robot, table, name) for name in ("q", "qd"))
    geometry, size = LoopGeometry(robot), []
    for t in (1e-2, 5e-3):
        size.append(
            max(
                np.abs(geometry.errors(a + t * b + t * t / 2 * c)).max()
                for a, b, c in zip(q, qd, qdd, strict=True)
            )
        )
    assert 7 < size[0] / size[1] < 9


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize("kind", [POINTS, HINGE, WELD])
def test_derivatives_are_those_of_differences(arms, kind):
    """With Baumgarte's gains."""
    robot = reduced(arms(kind, shared=kind == POINTS, gains=(100.0, 20.0)))
    kernel = recorded(robot, "FDc")
    table = robot_calls.random_states(robot, "dFDc", 1, seed=2)
    state = [array(robot, table, name)[0] for name in ("q", "qd", "tau")]

    def accelerations(q, qd, tau):
        given = dict(zip(inputs(robot, "FDc"), map(float, (*q, *qd, *tau)), strict=True))
        found = kernel.evaluate(Float64(), given)
        return np.array([found[f"qdd{k}"] for k in range(robot.nv)])

    found = robot_calls.call(robot, "dFDc", table).table
    for place, name in enumerate(("dq", "dqd")):
        ours, want = array(robot, found, f"dqdd_{name}")[0], []
        for step in 1e-6 * np.eye(robot.nv):
            pair = [
                [x + sign * step * (k == place) for k, x in enumerate(state)] for sign in (1, -1)
            ]
            want.append((accelerations(*pair[0]) - accelerations(*pair[1])) / 2e-6)
        assert np.abs(ours - np.array(want).T).max() < 1e-6 * np.abs(want).max()


def test_gains_pull_back(arms):
    """What they add: accelerations of the loops' errors against these and their rates."""
    stiff, plain = arms(HINGE, gains=(100.0, 20.0)), arms(HINGE)
    geometry, rng = LoopGeometry(stiff), np.random.default_rng(6)
    table = states(plain, "FDc", 1)
    q, qd, tau = (array(plain, table, name)[0] for name in ("q", "qd", "tau"))
    q, qd = q + 1e-5 * rng.normal(size=q.size), qd + 0.1 * rng.normal(size=qd.size)
    added = [RobotModel(x).constrained_forward_dynamics(q, qd, tau) for x in (stiff, plain)]
    jacobian = geometry.jacobian(q)
    want = -100.0 * geometry.errors(q) - 20.0 * jacobian @ qd
    assert jacobian @ (added[0] - added[1]) == pytest.approx(want, rel=1e-3)


# --- the leg --------------------------------------------------------------------------------------


@BASES
def test_the_leg(floating):
    """Of its hinge's five constraints two are left: the others follow from parallel joints."""
    robot = robot_file.load(LEG, floating)
    assert robot.loops[0].rows == (0, 1)  # across the axis, z of the rod's frame
    for function in ("FDc", "IDc"):
        table = states(robot, function)
        found = robot_calls.call(reduced(robot), function, table).table
        assert relative_error(found, pinocchio_reference.call(robot, function, table)) < SAME
    model = load_robot(LEG, floating)
    q, qd, tau = (array(robot, states(robot, "FDc"), x) for x in ("q", "qd", "tau"))
    tau[:, [k + 6 * floating for k in (2, 4)]] = 0.0  # knee and rod are not driven
    qdd = model.constrained_forward_dynamics(q, qd, tau)
    again = model.constrained_inverse_dynamics(q, qd, qdd)
    assert np.abs(again - tau).max() < SAME * np.abs(qdd).max()
    assert model.warnings == ()


def test_model_native_and_twin_have_the_bits_of_the_text():
    robot = reduced(robot_file.load(LEG))
    for function in CONSTRAINED.keys() - {"dstepc"}:  # it is FDc, dFDc and the step's text
        table = robot_calls.random_states(robot, function, 3, seed=4)
        model, native, twin = (
            robot_calls.call(robot, function, table, "float32", target).table
            for target in robot_calls.TARGETS
        )
        for name, column in model.items():
            assert column.tobytes() == native[name].tobytes() == twin[name].tobytes(), name
        arithmetic = BitExact(BINARY32)
        given = {x: arithmetic.const(float(table[x][0])) for x in inputs(robot, function)}
        text = evaluate(function, robot, arithmetic, given)
        assert {k: arithmetic.to_float(x) for k, x in text.items()} == {
            name: model[name][0] for name in text
        }
        data = recorded(robot, function, parameters_as_data=True).parameters
        assert any(name.startswith("loop rod.point") for name in data)


def test_states_that_do_not_keep_the_loops_are_warned_of():
    model = load_robot(LEG)
    q, qd = np.full(5, 0.1), np.full(5, 0.1)
    model.constrained_forward_dynamics(q, qd, qd)
    (said,) = model.warnings
    assert re.match(
        r"row 1: the state does not keep the loops: off by up to [\d.e-]+ \(m, rad", said
    )
    model.constrained_forward_dynamics(*model.close_loops(q, qd), qd)
    assert model.warnings == ()


# --- MJCF -----------------------------------------------------------------------------------------

BOX = '<geom type="box" size="0.1 0.2 0.05"/>'
FIVE_BAR = f"""
<worldbody>
  <body name="a" pos="-0.3 0 0"><joint name="a" axis="0 1 0" ref="30"/>{BOX}
    <body name="b" pos="0.4 0 0.5"><joint name="b" axis="0 1 0"/>{BOX}</body></body>
  <body name="c" pos="0.3 0 0"><joint name="c" axis="0 1 0"/>{BOX}
    <body name="d" pos="-0.3 0 0.6"><joint name="d" axis="0 1 0"/>{BOX}
      <body name="e" pos="0 0 0.1"><geom size="0.05"/><site name="s" pos="0.1 0 0"/></body></body>
  </body>
</worldbody>
<equality>{{}}</equality>
<actuator><motor joint="a"/><motor joint="c"/></actuator>
"""


@pytest.fixture
def bars(tmp_path):
    """Load a five-bar with constraints."""

    def loaded(equality, elements=FIVE_BAR):
        path = tmp_path / "bars.xml"
        path.write_text(mjcf(elements.format(equality)))
        return robot_file.load(path)

    return loaded


@pytest.mark.parametrize(
    "equality",
    [
        '<connect name="pin" body1="b" body2="e" anchor="0.1 0 0.3"/>',
        '<weld name="pin" body1="b" body2="e" anchor="0.1 0 0.3"/>',
    ],
    ids=["connect", "weld"],
)
def test_mjcf_as_mujoco(bars, equality):
    """Its constraints vanish where ours do, and forces are those of its Jacobian."""
    robot = bars(equality)
    left_out = {"connect": "pin 1 of 3", "weld": "pin 3 of 6"}[equality[1:].split()[0]]
    assert robot.notes[-1] == f"loops: constraints that follow from others are left out: {left_out}"
    assert "equality" not in "".join(robot.warnings)
    table = states(robot, "FDc")
    found = array(robot, robot_calls.call(reduced(robot), "FDc", table).table, "qdd")
    model = mujoco.MjModel.from_xml_path(robot.source)
    data, mass = mujoco.MjData(model), np.zeros((4, 4))
    state = (array(robot, table, name) for name in ("q", "qd", "tau"))
    for q, qd, tau, qdd in zip(*state, found, strict=True):
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        rows = data.efc_J.reshape(-1, 4)[: data.ne]
        assert data.ne in (3, 6)
        assert np.abs(data.efc_pos[: data.ne]).max() < 1e-11
        assert np.abs(rows @ qd).max() < 1e-11
        mujoco.mj_fullM(model, data, mass)
        left = mass @ qdd + data.qfrc_bias - tau
        _, sizes, motions = np.linalg.svd(rows)
        motions = motions[np.sum(sizes > 1e-9) :]
        assert np.abs(motions @ left).max() < SAME * np.abs(left).max()
    assert (
        relative_error(
            robot_calls.call(reduced(robot), "FDc", table).table,
            pinocchio_reference.call(robot, "FDc", table),
        )
        < SAME
    )


def test_sites_and_the_ground(bars):
    """The same loop by sites, and one to the world; actuators say what is driven."""
    by_body = bars('<connect body1="e" body2="b" anchor="0.1 0 0"/>')
    sites = FIVE_BAR.replace(
        '<body name="b" pos="0.4 0 0.5">',
        '<body name="b" pos="0.4 0 0.5"><site name="t" pos="0.1 0 0.2"/>',
    )
    by_site = bars('<connect site1="s" site2="t"/>', sites)
    assert [x.name for x in (by_site.links[k] for k in by_site.loops[0].links)] == ["d", "b"]
    assert by_site.loops[0].offsets[0] == pytest.approx(by_body.loops[0].offsets[0])
    assert by_site.actuated == (0, 2)
    table = states(by_site, "IDc", 5)
    found = robot_calls.call(reduced(by_site), "IDc", table).table
    assert relative_error(found, pinocchio_reference.call(by_site, "IDc", table)) < SAME
    ground = bars('<connect body1="b" anchor="0 0 0.1"/>')
    assert (
        ground.loops == ()
        and ground.warnings[-1].startswith(
            "loops stay open: loop number 0: no joint can move, so it holds"
        )
        or ground.loops[0].links[1] == -1
    )


# --- what is refused ------------------------------------------------------------------------------

FINE = Path(LEG).with_suffix(".loops.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "hinge"', 'kind = "gear"', "loop[0].kind: must be one of ball, hinge, weld"),
        ('link = "rod"', 'link = "rood"', "loop[0].link: there is no link 'rood'; there are hip, "),
        ("at = [0.06, 0.03, 0.0]", "at = [0.06, 0.03]", "loop[0].at: must be 3 numbers of at most"),
        ("at =", "att =", "loop[0]: unknown key 'att', must be one of name, kind, link, "),
        ("axis = [0.0, 1.0, 0.0]", "axis = [0, 0, 0]", "loop[0].axis: must not be zero"),
        ("axis = [0.0, 1.0, 0.0]", "damping = -1", "loop[0].axis: must be 3 numbers"),
        ('"motor"]', '"rotor"]', "actuated: there is no moving joint rotor"),
        ("[[loop]]", "[[loops]]", "unknown key 'loops', must be one of loop, actuated"),
        ("[[loop]]", "[loop", "not TOML: "),
        ('to = "shank"', 'to = "rod"', "loop rod: both its ends are on link rod"),
        (
            "at = [0.06, 0.03, 0.0]",
            "at = [9.0, 0.03, 0.0]",
            "loop rod: no posture closes it, of 60",
        ),
        ('kind = "hinge"', 'kind = "ball"', "loop[0]: unknown key 'axis'"),
    ],
)
def test_files_that_are_refused(tmp_path, capsys, old, new, said):
    assert old in FINE
    path = tmp_path / "leg.urdf"
    path.write_text(LEG.read_text())
    (tmp_path / "leg.loops.toml").write_text(FINE.replace(old, new))
    assert main(["joints", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_loop_that_holds_all_is_refused(tmp_path):
    """A second hinge of two links that turn about the same axis adds none, another point does."""
    path = tmp_path / "arm.urdf"
    inertial, ends = (
        random_inertial(np.random.default_rng(1)),
        "<parent link='a'/><child link='b'/>",
    )
    arm = "".join(f"<link name='{name}'>{inertial}</link>" for name in "ab")
    arm += f"<joint name='j' type='revolute'>{ends}<axis xyz='0 0 1'/></joint>"
    path.write_text(f"<robot name='arm'>{arm}</robot>")
    text = "[[loop]]\nkind = 'ball'\nlink = 'b'\nto = 'a'\npoint = {0}\nat = {0}\n"
    (tmp_path / "arm.loops.toml").write_text(text.format("[0.0, 0.0, 1.0]"))
    robot = robot_file.load(path)
    state = {name: np.array([0.3]) for name in ("q0", "qd0", "tau0")}
    free, kept = (robot_calls.call(reduced(robot), name, state).table for name in ("FD", "FDc"))
    assert free == kept
    assert robot.loops[0].rows == () and robot.notes[-1].endswith("left out: loop 0 3 of 3")
    (tmp_path / "arm.loops.toml").write_text(text.format("[1.0, 0.0, 1.0]"))
    with pytest.raises(RobotError, match="loop loop 0: no joint can move, so it holds"):
        robot_file.load(path)


def test_functions_that_a_robot_has_not(tmp_path, capsys):
    iiwa = ROBOTS / "iiwa14.urdf"
    assert main(["robot", str(iiwa), "--function", "FDc", "--out", str(tmp_path / "o")]) == 2
    assert "FDc of iiwa14: it has no loops: " in capsys.readouterr().err
    robot = robot_file.load(LEG)
    table = states(robot, "IDc", 1)
    for actuated, said in (
        (None, "nothing says which"),
        ((0, 1), "2 degrees of freedom are driven, must be 3"),
    ):
        with pytest.raises(InputError, match=said):
            RobotModel(replace(robot, actuated=actuated)).constrained_inverse_dynamics(
                *(array(robot, table, x) for x in ("q", "qd", "qdd"))
            )
    assert not (tmp_path / "o").exists()


@pytest.mark.nightly(every=3)
@pytest.mark.parametrize(
    ("kind", "shared", "floating"),
    [(POINTS, False, False), (HINGE, True, True), (WELD, False, False)],
)
def test_a_scenario_has_the_loops(arms, kind, shared, floating):
    """It starts with the accelerations of FDc, moves as the reference, and keeps them."""
    model = RobotModel(arms(kind, shared, floating, armature=0.0, joints=4))
    rng, start = np.random.default_rng(7), scenario_of_robot(model)
    qd = model.close_loops(start.q0, rng.uniform(-1, 1, model.nv))[1]
    scenario = replace(start.with_state(start.q0, qd), step=1e-3, end=1e-3)
    run = simulate(scenario)
    want = model.constrained_forward_dynamics(start.q0, qd, np.zeros(model.nv))
    found = joint_forces(scenario, run).acceleration[0]
    assert np.abs(found - want).max() < 1e-9 * np.abs(want).max()
    exact = lagrangian.simulate(scenario, run.t)
    assert np.abs(run.qd - exact.qd).max() < 1e-9 * np.abs(exact.qd).max()
    assert run.loop_velocity.max() < 1e-12


def test_a_scenario_starts_with_closed_loops():
    robot = robot_file.load(LEG)
    assert not LoopGeometry(robot, whole=True).errors(scenario_of_robot(robot).q0).any()
    with pytest.raises(ScenarioError, match=r"loop\[0\]: does not close at the initial posture"):
        scenario_of_robot(robot, q=np.full(5, 0.3))
    far = replace(robot.loops[0], offsets=(np.zeros(3), np.full(3, 9.0)))
    with pytest.raises(ScenarioError, match="q: its loops do not close near zero"):
        scenario_of_robot(replace(robot, loops=(far,)))
