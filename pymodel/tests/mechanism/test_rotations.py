"""Angles of rotations, also where roll and yaw turn about one axis."""

from itertools import product

import numpy as np
import pytest

from pymodel.mechanism.rotations import from_angles, to_angles

NEAR = (0.0, 1e-9, 0.3, np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2, 2.0)


@pytest.mark.parametrize("pitch", NEAR)
def test_angles_make_the_rotation_again(pitch):
    for roll, yaw in product(NEAR, repeat=2):
        rotation = from_angles((roll, pitch, yaw))
        np.testing.assert_allclose(from_angles(to_angles(rotation)), rotation, rtol=0, atol=1e-15)


def test_quarter_turns_are_exact():
    assert to_angles(np.eye(3)).tolist() == [0.0, 0.0, 0.0]
    assert to_angles(-0.0 * np.ones((3, 3)) + np.eye(3)).tolist() == [0.0, 0.0, 0.0]
    quarter = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    assert to_angles(quarter).tolist() == [0.0, np.pi / 2, 0.0]
    third = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x to y to z
    assert to_angles(third).tolist() == [np.pi / 2, 0.0, np.pi / 2]
