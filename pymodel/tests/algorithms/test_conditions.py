"""Condition numbers of joints' matrices of any size, one or many at once."""

import numpy as np
import pytest

from pymodel.algorithms.conditions import eta_condition, joint_condition
from pymodel.algorithms.linalg import condition_2x2
from pymodel.mechanism.scenario_file import load
from pymodel.tests.every_joint import every_joint
from pymodel.tests.places import SCENARIOS


def positive(rng, c, count):
    """Symmetric positive definite matrices with entries of one order, shape (count, c, c)."""
    a = rng.normal(size=(count, c, c))
    return a @ np.swapaxes(a, -1, -2) + np.eye(c)


@pytest.mark.parametrize("c", [1, 2, 3, 5, 6])
def test_many_at_once(c):
    scenario, matrices = every_joint(), positive(np.random.default_rng(c), c, 20)
    found = joint_condition(scenario, np.moveaxis(matrices, 0, -1))
    for one, condition in zip(matrices, found, strict=True):
        assert joint_condition(scenario, one.tolist()) == condition
        scales = np.sqrt(np.diag(one))
        assert condition == pytest.approx(np.linalg.cond(one / np.outer(scales, scales)), rel=1e-6)


def test_pins_keep_their_formula():
    scenario = load(SCENARIOS / "four_bar.toml")
    (matrix,) = positive(np.random.default_rng(1), 2, 1)
    assert joint_condition(scenario, matrix) == condition_2x2(matrix)


def test_no_unit_of_length_counts():
    scenario, (matrix,) = every_joint(), positive(np.random.default_rng(2), 5, 1)
    weights = np.array([1.0, 1.0, 1.0, 1e3, 1e3])  # in mm
    in_mm = weights[:, None] * matrix * weights
    found = joint_condition(scenario, matrix)
    assert 1.0 < found == pytest.approx(joint_condition(scenario, in_mm))
    assert np.linalg.cond(in_mm) > 1e4 * found


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("c", [1, 2, 3, 6])
def test_what_is_not_positive_definite_is_infinite(c, wrong):
    matrices = positive(np.random.default_rng(3), c, 2)
    matrices[1, -1, :] = matrices[1, :, -1] = 0.0
    matrices[1, -1, -1] = wrong
    found = joint_condition(every_joint(), np.moveaxis(matrices, 0, -1))
    assert np.isfinite(found[0]) and found[1] == np.inf


def test_eta_of_loops_in_space():
    scenario = every_joint(loops=("spherical", "revolute"))
    assert [sum(held) for held in scenario.constraints[len(scenario.bodies) :]] == [3, 5]
    rng = np.random.default_rng(4)
    eta = np.zeros((8, 8))
    eta[:3, :3], eta[3:, 3:] = positive(rng, 3, 1)[0], positive(rng, 5, 1)[0]
    found = eta_condition(scenario, eta)
    weights = np.where(np.arange(8) < 6, 1.0, 1e3)
    many = np.stack((eta, weights[:, None] * eta * weights, np.full((8, 8), np.nan)))
    np.testing.assert_allclose(eta_condition(scenario, many), [found, found, np.inf])
