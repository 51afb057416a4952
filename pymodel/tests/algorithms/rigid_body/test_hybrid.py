"""Hybrid dynamics: against projection of Pinocchio's M and h, on all targets, and refused."""

import numpy as np
import pytest

from pymodel.app.command import main
from pymodel.arith.errors import InputError
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.robot_model import load_robot
from pymodel.tests.robots import ROBOTS

SAME = 1e-12
#: File, whether the base floats, which joints are held, options.
CASES = {
    "arm": ("iiwa14.urdf", False, ("iiwa_joint_2", "iiwa_joint_6"), {}),
    "floating": ("hyq.urdf", True, ("lf_hfe_joint", "rh_haa_joint"), {}),
    "held base": ("hyq.urdf", True, ("root_joint", "lf_kfe_joint"), {}),
    "mimic": ("gripper.urdf", False, ("drive",), {}),
    "kinds": ("mobile_arm.urdf", False, ("base",), {}),
    "friction": ("resisting.urdf", False, ("a",), {"damping": True, "friction": 0.05}),
}
RESISTING = """<robot name="resisting">
<link name="root"/>{links}
<joint name="a" type="revolute"><parent link="root"/><child link="la"/><axis xyz="0 1 0"/>
<dynamics damping="0.4" friction="0.3"/></joint>
<joint name="b" type="continuous"><parent link="la"/><child link="lb"/><origin xyz="0 0 0.4"/>
<axis xyz="1 0 0"/><dynamics damping="0.2" friction="0.5"/></joint>
<joint name="c" type="prismatic"><parent link="lb"/><child link="lc"/><origin xyz="0 0.1 0.4"/>
<axis xyz="0 0 1"/><dynamics friction="0.7"/></joint></robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0.02 0.2"/><mass value="1.5"/>
<inertia ixx="0.1" iyy="0.12" izz="0.05" ixy="0.01" ixz="0" iyz="0.002"/></inertial></link>"""


@pytest.fixture
def resisting(tmp_path):
    path = tmp_path / "resisting.urdf"
    path.write_text(RESISTING.format(links="".join(map(LINK.format, ("la", "lb", "lc")))))
    return path


def held(case, resisting):
    file, floating, names, options = CASES[case]
    path = resisting if file == resisting.name else ROBOTS / file
    if case == "kinds":
        names = (robot_file.load(path).links[0].part.joint,)
    if case == "mimic":
        names = (robot_file.load(path).links[1].joint,)
    robot = robot_file.load(path, floating, **options)
    return robot_file.with_fixed_acceleration(robot, names)


@pytest.mark.nightly(
    "HD-arm",
    "HD-floating",
    "HD-held base",
    "dHD-mimic",
    "dHD-kinds",
    "dHD-friction",
    "dHD-held base",
)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("function", ["HD", "dHD"])
def test_as_projection_of_pinocchios(case, function, resisting):
    robot = held(case, resisting)
    assert 0 < len(robot.held) < robot.nv
    states = robot_calls.random_states(reduced(robot), function, 20, seed=1)
    assert sum(name[:3] in ("tau", "qdd") for name in states) == robot.nv
    found = robot_calls.call(reduced(robot), function, states).table
    want = pinocchio_reference.call(robot, function, states)
    assert list(found) == list(want)
    a, b = (np.array([table[name] for name in want]) for table in (found, want))
    assert np.abs(a - b).max() < SAME * np.abs(b).max()


@pytest.mark.parametrize("function", ["ID", "FD", "dID", "dFD", "diFD"])
def test_what_resists_is_compared_with(function, resisting):
    """So that `hdca robot --damping --friction` has a peer."""
    robot = robot_file.load(resisting, damping=True, friction=0.05)
    states = robot_calls.random_states(reduced(robot), function, 10, seed=2)
    found = robot_calls.call(reduced(robot), function, states).table
    want = pinocchio_reference.call(robot, function, states)
    plain = pinocchio_reference.call(robot_file.load(resisting), function, states)
    a, b, c = (np.array([table[name] for name in want]) for table in (found, want, plain))
    assert np.abs(a - b).max() < SAME * np.abs(b).max() < np.abs(b - c).max()


def test_one_program_on_all_targets():
    robot = reduced(held("mimic", ROBOTS / "x"))
    for function in ("HD", "dHD"):
        states = robot_calls.random_states(robot, function, 3, seed=1)
        answers = [
            robot_calls.call(robot, function, states, "float32", target).table
            for target in ("model", "native", "twin")
        ]
        for name, column in answers[0].items():
            for other in answers[1:]:
                assert column.tobytes() == other[name].tobytes()


def test_in_python():
    names = ["iiwa_joint_1", "iiwa_joint_4"]
    model = load_robot(ROBOTS / "iiwa14.urdf", fixed_acceleration=names)
    q, qd, qdd, tau = np.random.default_rng(1).uniform(-1, 1, (4, 5, 7))
    own, free = [0, 3], [1, 2, 4, 5, 6]
    torques, accelerations = model.hybrid_dynamics(q, qd, qdd, tau)
    assert np.array_equal(accelerations[:, own], qdd[:, own])
    assert np.array_equal(torques[:, free], tau[:, free])
    again = model.inverse_dynamics(q, qd, accelerations)
    np.testing.assert_allclose(torques, again, rtol=0, atol=1e-12)
    by = model.hybrid_dynamics_derivatives(q, qd, qdd, tau)
    assert not by[0][:, free].any() and not by[2][:, own].any()
    step = 1e-6 * np.eye(7)[2]
    ends = [model.hybrid_dynamics(q + x, qd, qdd, tau) for x in (step, -step)]
    for k in range(2):
        slope = (ends[0][k] - ends[1][k]) / 2e-6
        np.testing.assert_allclose(by[2 * k][:, :, 2], slope, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["elbow"], "fixed_acceleration: there is no moving joint 'elbow'; there are "),
        (["iiwa_joint_1"] * 2, "fixed_acceleration: iiwa_joint_1 stands twice"),
        ("iiwa_joint_1", "fixed_acceleration: must be names of joints, got 'iiwa_joint_1'"),
    ],
)
def test_what_makes_no_sense_is_refused(names, said):
    with pytest.raises(InputError) as caught:
        load_robot(ROBOTS / "iiwa14.urdf", fixed_acceleration=names)
    assert said in str(caught.value)


def test_what_has_no_use_is_refused(tmp_path, capsys):
    def said(*options):
        out = ["--out", str(tmp_path / "out"), "--target", "model"]
        assert main(["robot", str(ROBOTS / "gripper.urdf"), *options, *out]) == 2
        return capsys.readouterr().err

    follower = robot_file.load(ROBOTS / "gripper.urdf").links[2].joint
    assert "HD of gripper: no joint's acceleration is given" in said("--function", "HD")
    fixed = f"--fixed-acceleration={follower}"
    assert f"{fixed[:20]}: {follower} mimics another joint" in said("--function", "HD", fixed)
    unused = said("--function", "ID", "--fixed-acceleration=drive")
    assert "--fixed-acceleration: " in unused
    assert "no joint of" in said("--function", "ID", "--damping")
