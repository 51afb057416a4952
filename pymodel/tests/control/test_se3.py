"""Logarithms of placements against Pinocchio, and their Jacobians against the series."""

import numpy as np
import pytest

from pymodel.control import se3
from pymodel.mechanism.rotations import skew

pinocchio = pytest.importorskip("pinocchio")

ANGLES = [0.0, 1e-9, 1e-6, 2e-4, 1e-3, 0.0499, 0.0501, 0.3, 1.0, 2.5, 3.1, np.pi - 1e-4]


def twists(angle):
    rng = np.random.default_rng(7)
    axes = rng.normal(size=(20, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return np.hstack([rng.normal(size=(20, 3)), angle * axes])


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithms_of_exponentials(angle):
    given = twists(angle)
    placements = [pinocchio.exp6(x) for x in given]
    R, p = (np.array([getattr(m, x) for m in placements]) for x in ("rotation", "translation"))
    np.testing.assert_allclose(se3.log6(R.reshape(-1, 9).T, p.T).T, given, atol=1e-11)


def test_a_half_turn_is_about_its_axis_either_way():
    given = twists(np.pi)[:, 3:]
    R = np.array([pinocchio.exp3(x) for x in given])
    found = se3.log6(R.reshape(-1, 9).T, np.zeros((3, len(R))))[3:].T
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.pi, atol=1e-12)
    np.testing.assert_allclose(np.abs((found * given).sum(axis=1)), np.pi**2, atol=1e-7)


def series(twist):
    """The inverse of the right Jacobian of the exponential: sum of (-ad)^k / (k + 1)!."""
    v, w = skew(twist[:3]), skew(twist[3:])
    ad = np.block([[w, v], [np.zeros((3, 3)), w]])
    term = total = np.eye(6)
    for k in range(1, 60):
        term = term @ -ad / (k + 1)
        total = total + term
    return np.linalg.inv(total)


@pytest.mark.parametrize("angle", ANGLES)
def test_jacobians_of_logarithms(angle):
    """Pinocchio 4.1 is off by 1e-5 between 1e-4 and 1e-3 rad, so it is no reference here."""
    for twist in twists(angle):
        found = se3.jacobian_log6(twist[:, None])
        np.testing.assert_allclose(found.reshape(6, 6), series(twist), atol=1e-12)
