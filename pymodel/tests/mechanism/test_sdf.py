"""Robots of SDF files, beside Drake's own functions of them; needs Drake: `make example-robots`."""

import re

import numpy as np
import pytest

from pymodel.app.command import main
from pymodel.mechanism import robot_file
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.robot_model import RobotModel, load_robot

pytest.importorskip("pydrake")

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import MultibodyForces

pytestmark = pytest.mark.example_robots

SAME = 1e-10
LINK = """<link name="{name}"><pose relative_to="{at}">{pose}</pose><inertial>
<pose>0.1 0.02 0.2 0.1 -0.2 0.3</pose><mass>1.5</mass><inertia><ixx>0.1</ixx><iyy>0.12</iyy>
<izz>0.05</izz><ixy>0.01</ixy><ixz>0</ixz><iyz>0.002</iyz></inertia></inertial></link>"""
ARM = """<sdf version="1.9"><model name="arm">{links}
<joint name="fix" type="fixed"><parent>world</parent><child>base</child></joint>
<joint name="ja" type="revolute"><pose relative_to="base">0 0 0.3 0.1 0.2 0.3</pose>
<parent>base</parent><child>a</child><axis><xyz expressed_in="__model__">0 0.6 0.8</xyz>
<dynamics><damping>0.3</damping><friction>0.2</friction></dynamics></axis></joint>
<joint name="jb" type="screw"><parent>a</parent><child>b</child>
<axis><xyz>0.6 0 0.8</xyz></axis><screw_thread_pitch>0.2</screw_thread_pitch></joint>
<joint name="jc" type="universal"><parent>b</parent><child>c</child>
<axis><xyz>0 1 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>
<joint name="jd" type="prismatic"><pose>0 0.1 0 0.4 0 0</pose><parent>c</parent><child>d</child>
<axis><xyz>0 0 1</xyz></axis></joint>{more}</model></sdf>"""
#: Where a link is against another frame, or its joint.
PLACES = {
    "base": ("__model__", "0 0 0.2 0 0 0.5"),
    "a": ("ja", "0 0 0.1 0 0.3 0"),
    "b": ("a", "0 0.2 0.4 0.2 0 0"),
    "c": ("b", "0.3 0 0 0 0 0.7"),
    "d": ("c", "0.3 0.1 0 0 0.4 0"),
}
BALL = (
    "<joint name='je' type='ball'><parent>d</parent><child>e</child></joint>",
    {"e": ("d", "0.2 0 0.1 0.5 0 0.1")},
)


def sdf(more="", places=None):
    links = (PLACES | (places or {})).items()
    text = "".join(LINK.format(name=x, at=at, pose=pose) for x, (at, pose) in links)
    return ARM.format(links=text, more=more)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.sdf"
    path.write_text(sdf())
    return path


class Drake:
    """Drake's own model of a file."""

    def __init__(self, path):
        self.plant = MultibodyPlant(0.0)
        Parser(self.plant).AddModels(str(path))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        indices = self.plant.GetJointIndices()
        self.joints = {x.name(): x for x in map(self.plant.get_joint, indices)}

    def order(self, robot):
        """Where the robot's rates stand among Drake's."""
        found = []
        for link in robot.links:
            joint = self.joints[link.part.joint if link.part else link.joint]
            found.append(joint.velocity_start() + (link.part.index if link.part else 0))
        return found

    def set(self, q, qd):
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, qd)

    def torques(self, qdd):
        """Without damping, which is a force element."""
        forces = MultibodyForces(self.plant)
        gravity = self.plant.CalcGravityGeneralizedForces(self.context)
        return self.plant.CalcInverseDynamics(self.context, qdd, forces) - gravity


def test_functions_are_drakes(arm):
    """Frames, axes in other frames, a screw and a universal joint: M, and ID with rates."""
    robot, drake = robot_file.load(arm), Drake(arm)
    model, order = RobotModel(robot), drake.order(robot)
    assert sorted(order) == list(range(robot.nv)) and robot.nv == 5
    for q, qd, qdd in np.random.default_rng(1).uniform(-1, 1, (10, 3, robot.nv)):
        theirs = [np.zeros(robot.nv) for _ in range(3)]
        for whole, own in zip(theirs, (q, qd, qdd), strict=True):
            whole[order] = own
        drake.set(*theirs[:2])
        m = drake.plant.CalcMassMatrixViaInverseDynamics(drake.context)[np.ix_(order, order)]
        assert np.abs(model.mass_matrix(q) - m).max() < SAME * np.abs(m).max()
        tau = drake.torques(theirs[2])[order]
        assert np.abs(model.inverse_dynamics(q, qd, qdd) - tau).max() < SAME * np.abs(tau).max()
        place = drake.plant.GetBodyByName("d").EvalPoseInWorld(drake.context)
        position, turn = model.placement(q, "d")
        np.testing.assert_allclose(position, place.translation(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(turn, place.rotation().matrix(), rtol=0, atol=1e-12)


def test_a_ball_joint(tmp_path):
    """At rest in the posture of the file, where Drake's axes are those of the body."""
    path = tmp_path / "ball.sdf"
    path.write_text(sdf(*BALL))
    robot, drake = robot_file.load(path), Drake(path)
    order, q = drake.order(robot), np.zeros(robot.nq)
    q[-1] = 1.0
    m = drake.plant.CalcMassMatrixViaInverseDynamics(drake.context)[np.ix_(order, order)]
    found = RobotModel(robot).mass_matrix(q)
    assert np.abs(found - m).max() < SAME * np.abs(m).max()


def test_a_model_that_is_not_fixed_floats(tmp_path):
    path = tmp_path / "free.sdf"
    joints = re.sub(r"<joint name=\"fix\".*?</joint>", "", sdf(), flags=re.DOTALL)
    path.write_text(joints)
    model = load_robot(path)
    assert model.robot.floating and model.nv == 11
    drake = Drake(path)
    assert drake.plant.CalcTotalMass(drake.context) == pytest.approx(5 * 1.5)
    assert model.inertial_parameters.reshape(-1, 10)[:, 0].sum() == pytest.approx(5 * 1.5)


def test_all_functions_are_compared_with_pinocchio(arm, tmp_path, capsys):
    robot = robot_file.load(arm, damping=True)
    for function in ("ID", "FD", "M", "dID", "dFD"):
        states = robot_calls.random_states(reduced(robot), function, 5, seed=1)
        found = robot_calls.call(reduced(robot), function, states).table
        want = pinocchio_reference.call(robot, function, states)
        a, b = (np.array([table[name] for name in want]) for table in (found, want))
        assert np.abs(a - b).max() < 1e-11 * np.abs(b).max()
    out = ["--target", "model", "--rows", "2", "--out", str(tmp_path / "out")]
    assert main(["robot", str(arm), "--function", "ID", *out]) == 0
    assert "friction of ja" in (said := capsys.readouterr().out) and "Pinocchio" in said
    assert main(["joints", str(arm), "--order", "file"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["ja", "jb"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<sdf version='1.9'><model name='m'/></sdf>", "Drake: "),
        (sdf().replace("<parent>base</parent>", "<parent>nobody</parent>"), "Drake: "),
        (sdf().replace('type="universal"', 'type="gearbox"'), "Drake: "),
    ],
)
def test_what_makes_no_robot_is_refused(text, said, tmp_path):
    path = tmp_path / "x.sdf"
    path.write_text(text)
    with pytest.raises(RobotError) as caught:
        robot_file.load(path)
    assert str(caught.value).startswith(f"{path}: {said}") and "\n" not in str(caught.value)
    other = tmp_path / "x.xml"
    other.write_text(text)
    with pytest.raises(RobotError, match="its name must end with .sdf"):
        robot_file.load(other)
