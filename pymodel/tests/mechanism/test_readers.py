"""What of a file other readers take in another way: each situation is met at the right elements."""

import pytest

from pymodel.app.command import main
from pymodel.mechanism import readers
from pymodel.mechanism.robot_bodies import RobotError
from pymodel.tests.robots import ROBOTS

INERTIAL = "<inertial><mass value='1'/><inertia ixx='{}' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
HAND = f"<link name='hand'>{INERTIAL.format(1)}</inertial></link>"
BOX = "<link name='shape'><collision><geometry><box size='1 1 1'/></geometry></collision></link>"


def joint(name="j", kind="revolute", parent="root", child="hand", more="<axis xyz='0 0 1'/>"):
    """A joint."""
    ends = f"<parent link='{parent}'/><child link='{child}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}{more}</joint>"


def mimic(of, more="<axis xyz='0 0 1'/>"):
    """What a joint that mimics another has."""
    return f"{more}<mimic joint='{of}'/>"


FOLLOWS = joint("k", child="third", more=mimic("j"))
MET = {
    "plain": (HAND + joint(), {}),
    "axis_length": (HAND + joint(more="<axis xyz='0 0 2'/>"), "joint j"),
    "axis_zero": (HAND + joint(more="<axis xyz='0 0 0'/>"), "joint j"),
    "continuous_limits": (
        HAND + joint(kind="continuous", more="<axis xyz='0 0 1'/><limit lower='0' upper='1'/>"),
        "joint j",
    ),
    "mimic": (HAND + joint() + FOLLOWS, "joint k"),
    "mimic_chain": (
        HAND + joint() + FOLLOWS + joint("l", child="fourth", more=mimic("k")),
        {"mimic": "joint k", "mimic_chain": "joint l"},
    ),
    "mimic_continuous": (HAND + joint(kind="continuous") + FOLLOWS, "joint k"),
    "collision_mass": (HAND + joint() + BOX, "link shape"),
    "moments_of_no_body": (
        f"<link name='hand'>{INERTIAL.format(3)}</inertial></link>{joint()}",
        "link hand",
    ),
    "root_inertia": (joint(parent="hand", child="third") + HAND, "link hand"),
    "same_name": (HAND + joint() + joint(child="third"), "joint j"),
    "joint_order": (HAND + joint() + joint("a", child="third"), "on link root"),
    "effort_zero": (
        HAND + joint(more="<axis xyz='0 0 1'/><limit effort='0' velocity='1'/>"),
        "joint j",
    ),
    "planar_axis": (HAND + joint(kind="planar", more=""), "joint j"),
    "floating_inside": (
        HAND + joint() + joint("k", "floating", "hand", "third"),
        "joint k",
    ),
    "undeclared_prefix": (f"{HAND}{joint()}<drake:thing/>", "prefix drake"),
}


@pytest.mark.parametrize("key", MET)
def test_a_urdf_meets_what_it_has(tmp_path, key):
    text, elements = MET[key]
    path = tmp_path / "r.urdf"
    path.write_text(f"<robot name='r'>{text}</robot>")
    wanted = elements if isinstance(elements, dict) else {key: elements}
    assert dict(readers.met(str(path))) == wanted


@pytest.mark.parametrize(
    ("option", "key"),
    [
        ("", "integrator_Euler"),
        ("<option integrator='implicit'/>", "integrator_implicit"),
        ("<option integrator='RK4'/>", "integrator_RK4"),
    ],
)
def test_an_mjcf_meets_its_integrator(tmp_path, option, key):
    path = tmp_path / "r.xml"
    path.write_text(f"<mujoco>{option}<worldbody/></mujoco>")
    assert readers.met(str(path)) == [(key, "")]
    path.write_text(f"<mujoco>{option}<body><freejoint/></body></mujoco>")
    assert [found for found, _ in readers.met(str(path))] == ["base_velocity", key]


def test_each_situation_was_seen():
    """And has a file here, or is of no URDF."""
    assert readers.seen()["situations"].keys() == readers.SITUATIONS.keys()
    assert all(readers.seen()["situations"].values())
    of_urdf = {
        key
        for key in readers.SITUATIONS
        if not key.startswith(("integrator", "base_velocity", "discrete"))
    }
    assert MET.keys() - {"plain"} == of_urdf


def test_what_is_printed(capsys, tmp_path):
    assert main(["joints", str(ROBOTS / "atlas.urdf"), "--check"]) == 0
    out = capsys.readouterr().out
    assert "moments of inertia that no body has, as (1, 1, 3): link " in out
    assert "\n  Drake " in out and "takes a ball of water" in out and "\n  here: kept" in out
    path = tmp_path / "r.urdf"
    path.write_text(f"<robot name='r'>{HAND}{joint()}</robot>")
    assert main(["joints", str(path), "--check"]) == 0
    assert capsys.readouterr().out == f"{readers.NONE}\n"


@pytest.mark.parametrize("text", ["<sdf/>", "<robot", "<mujoco><worldbody>"])
def test_a_file_that_is_no_robot_is_refused(tmp_path, text):
    path = tmp_path / "r.xml"
    path.write_text(text)
    with pytest.raises(RobotError):
        readers.met(str(path))
    assert main(["joints", str(path), "--check"]) == 2
