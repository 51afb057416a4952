"""Base parameters by rank, and an identification with them."""

import numpy as np
import pytest

from pymodel.mechanism.robot import PRISMATIC
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.runs.base_parameters import base_parameters
from pymodel.runs.input_error import InputError
from pymodel.runs.robot_model import RobotModel, load_robot
from pymodel.tests.robots import ROBOTS, random_urdf
from pymodel.tests.trees import random_robot


@pytest.mark.parametrize(
    ("name", "floating", "number"),
    [("iiwa14", False, 43), ("hyq", False, 68), ("hyq", True, 10 + 7 * 12)],
)
def test_numbers_of_base_parameters(name, floating, number):
    """Seven a joint that turns; all ten of a base that floats, fewer on the ground.

    On the ground an axis that is vertical keeps the moment about it, one that is not two first
    moments as well.
    """
    base = load_robot(ROBOTS / f"{name}.urdf", floating).base_parameters()
    assert len(base.columns) == len(set(base.names)) == number
    assert np.array_equal(base.matrix[:, base.columns], np.eye(number))


def test_joints_that_slide_have_four():
    """Of a link that never turns against its parent the moments of inertia are the parent's."""
    robot = RobotModel(random_robot(4, 6, floating=True))
    slides = sum(link.kind == PRISMATIC for link in robot.robot.links)
    assert slides
    assert len(robot.base_parameters().columns) == 10 + 7 * (5 - slides) + 4 * slides


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_torques_are_linear_in_them(tmp_path, floating):
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(np.random.default_rng(3)))
    robot = load_robot(path, floating)
    its = pinocchio_reference.model(robot.robot)
    theirs = np.concatenate([x.toDynamicParameters() for x in list(its.inertias)[1:]])
    np.testing.assert_allclose(robot.inertial_parameters, theirs, atol=1e-13)

    table = robot_calls.random_states(robot.robot, "Y", 100, seed=9)
    q, qd, qdd = (
        np.stack([table[f"{kind}{k}"] for k in range(size)], axis=-1)
        for kind, size in (("q", robot.nq), ("qd", robot.nv), ("qdd", robot.nv))
    )
    base, torques = robot.base_parameters(), robot.inverse_dynamics(q, qd, qdd)
    Y = robot.regressor(q, qd, qdd).reshape(torques.size, -1)
    assert np.linalg.matrix_rank(Y) == len(base.columns)
    found, *_ = np.linalg.lstsq(Y[:, base.columns], torques.ravel())
    np.testing.assert_allclose(found, base.matrix @ theirs, atol=1e-10)


def test_the_tolerance_is_that_of_the_diagonal():
    columns = np.eye(20)[:, :10]
    columns[:, 1] = columns[:, 0] + 1e-6 * columns[:, 1]
    assert len(base_parameters(columns, ["link"], 1e-5).columns) == 9
    fine = base_parameters(columns, ["link"], 1e-7)
    assert fine.names[:2] == ("m link", "mx link") and len(fine.names) == 10


@pytest.mark.parametrize("tolerance", [0, -1.0, 1, True, "1e-9"])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    robot = load_robot(ROBOTS / "iiwa14.urdf")
    with pytest.raises(InputError, match="^tolerance: must be a number between 0 and 1, got "):
        robot.base_parameters(tolerance)
