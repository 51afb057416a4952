"""The table of others' robots: right is what Pinocchio gives, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from pymodel.mechanism import robot_file
from scripts.evidence.robots import others
from scripts.kernel.places import ROOT

pytestmark = pytest.mark.rtl_of()


@pytest.mark.parametrize("function", ["M", "J"])
def test_what_differs_is_not_right(function):
    robot = robot_file.load(ROOT / "robots" / "gripper.urdf")
    assert others.verdict(robot, function) == others.RIGHT
    links = [replace(x, inertia=1.01 * x.inertia, offset=1.01 * x.offset) for x in robot.links]
    monkeyed = replace(robot, links=tuple(links), snap=0.01)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(others.pinocchio_reference, "_check_placement", lambda *given: None)
        assert others.verdict(monkeyed, function).startswith("differs by ")


def test_what_takes_long_is_left_out():
    robot = robot_file.load(ROOT / "robots" / "atlas.urdf")
    assert others.verdict(robot, "dFD") == others.LEFT_OUT


def test_names():
    assert others.named(Path("iCubGenova01/model.urdf")) == "iCubGenova01"
    assert others.named(Path("a/b.urdf")) == "b.urdf"
