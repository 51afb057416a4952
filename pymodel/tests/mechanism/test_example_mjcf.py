"""The MJCF files of PyPI's gymnasium: as MuJoCo has them.

`make example-robots` installs it and runs this.
"""

from importlib import metadata

import pytest

from pymodel.mechanism import robot_file
from pymodel.tests.mjcf import assert_as_mujoco

pytestmark = pytest.mark.example_robots

try:
    FILES = [path for path in metadata.files("gymnasium") if path.match("mujoco/assets/*.xml")]
except metadata.PackageNotFoundError:
    pytest.skip("the package gymnasium is not installed", allow_module_level=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_as_mujoco(path):
    robot = robot_file.load(path.locate())
    assert_as_mujoco(robot, states=20)
    assert all(line.isprintable() for line in robot.warnings + robot.notes)


def test_all_are_read():
    assert len(FILES) >= 14
