"""All robots of PyPI's example-robot-data (a large download): as Pinocchio reads them, or refused.

`make example-robots` installs them and runs this.
"""

import contextlib
from importlib import metadata

import numpy as np
import pinocchio
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.tests.robots import pinocchio_inverse_dynamics, random_state, relative_error
from pymodel.tests.spatial import inverse_dynamics

pytestmark = pytest.mark.example_robots

try:
    FILES = [path for path in metadata.files("example-robot-data") if path.suffix == ".urdf"]
except metadata.PackageNotFoundError:
    pytest.skip("the package example-robot-data is not installed", allow_module_level=True)

BASES = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
ROBOTS = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)

STATES = 20
MOST = 25  # degrees of freedom; recording derivatives of larger robots takes minutes

MASSLESS = "that resists joint"
REFUSED = {
    "romeo.urdf": MASSLESS,
    "romeo_laas_small.urdf": MASSLESS,
    "ur3.urdf": "<robot> has no name",  # Pinocchio refuses it, too
}
REFUSED_ON_THE_GROUND = {
    "iris_simple.urdf": "no joint moves",
    "quadrotor_base.urdf": "no joint moves",
}


def assert_as_pinocchio(robot):
    model, rng = pinocchio_reference.model(robot), np.random.default_rng(1)
    assert list(model.names)[1:] == [link.joint for link in robot.links]
    assert list(model.parents)[1:] == [link.parent + 1 for link in robot.links]
    small = reduced(robot)
    for _ in range(5):
        state = random_state(robot, rng)
        want = pinocchio_inverse_dynamics(model, state)
        for found in (robot, small):
            assert np.abs(inverse_dynamics(found, *state) - want).max() < 1e-12 * np.abs(want).max()


@BASES
@ROBOTS
def test_as_pinocchio_or_refused(path, floating):
    refusal = REFUSED | ({} if floating else REFUSED_ON_THE_GROUND)
    try:
        robot = urdf.load(path.locate(), floating, mimic=False)  # as Pinocchio does by default
    except urdf.RobotError as error:
        assert refusal[path.name] in str(error)
    else:
        assert path.name not in refusal
        assert_as_pinocchio(robot)


@BASES
@pytest.mark.parametrize(
    "path",
    [path for path in FILES if REFUSED.get(path.name) == MASSLESS],
    ids=lambda path: path.name,
)
def test_massless_links_with_armature(path, floating):
    assert_as_pinocchio(urdf.load(path.locate(), floating, armature=0.01, mimic=False))


@BASES
@ROBOTS
def test_functions_as_pinocchio(path, floating):
    try:
        robot = urdf.load(path.locate(), floating)
    except urdf.RobotError as error:
        pytest.skip(str(error))
    if robot.nv > MOST:
        pytest.skip(f"{robot.nv} degrees of freedom are too many")
    small = reduced(robot)
    for function in FUNCTIONS:
        states = robot_calls.random_states(small, function, STATES, seed=4)
        found = robot_calls.call(small, function, states).table
        expected = pinocchio_reference.call(robot, function, states)
        assert relative_error(found, expected) < 1e-12, function


def test_most_are_read():
    """At least nine in ten of those that Pinocchio has joints of, mimic joints as they are."""
    loaded = taken = 0
    for path in FILES:
        try:
            loaded += bool(pinocchio.buildModelFromUrdf(str(path.locate())).nv)
        except ValueError:
            continue
        with contextlib.suppress(urdf.RobotError):
            taken += bool(urdf.load(path.locate()).nv)
    assert taken >= 0.9 * loaded >= 50
