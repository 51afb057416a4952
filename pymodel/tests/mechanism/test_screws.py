"""Placements as screws, and robots in the frames that suit them."""

import numpy as np
import pytest

from pymodel.mechanism import screws, urdf
from pymodel.mechanism.robot import FIXED_BASE
from pymodel.mechanism.robot_of_scenario import robot_of
from pymodel.mechanism.rotations import from_angles
from pymodel.mechanism.scenario import FIXED, PRISMATIC, REVOLUTE
from pymodel.tests.robots import NAMES, ROBOTS, random_state
from pymodel.tests.space import random_mechanism
from pymodel.tests.spatial import inverse_dynamics

QUARTERS = 0.5 * np.pi * np.arange(4)


def assert_makes(placement, rotation, offset):
    for found, want in zip(screws.composed(placement), (rotation, offset), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_any_placement_is_three_screws(seed):
    rng = np.random.default_rng(seed)
    rotation, offset = from_angles(rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3)
    assert_makes(screws.placement(rotation, offset), rotation, offset)


@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 2.0), (1, 2, 3)])
def test_quarter_turns_have_zeros_and_ones_only(offset):
    for angles in np.stack(np.meshgrid(QUARTERS, QUARTERS, QUARTERS), axis=-1).reshape(-1, 3):
        rotation = np.round(from_angles(angles))
        found = screws.placement(rotation, np.array(offset, dtype=float))
        assert_makes(found, rotation, offset)
        assert screws.is_quarter_turn(found.across.angle)


def test_placements_of_denavit_and_hartenberg_are_two_screws():
    rng = np.random.default_rng(0)
    for twist, a, d in rng.uniform(-1.5, 1.5, (10, 3)):
        offset = np.array((a, -d * np.sin(twist), d * np.cos(twist)))
        found = screws.placement(screws.about(0, twist), offset)
        np.testing.assert_allclose(found, ((0, d), (twist, a), (0, 0)), atol=1e-15)


def assert_same_dynamics(robot, other, rng, states=3):
    for _ in range(states):
        state = random_state(robot, rng)
        want = inverse_dynamics(robot, *state)
        assert np.abs(inverse_dynamics(other, *state) - want).max() < 1e-12 * np.abs(want).max()


@pytest.mark.parametrize("name", NAMES)
def test_aligned_robots_have_the_same_dynamics(name):
    robot = urdf.load(ROBOTS / f"{name}.urdf", mimic=False)
    assert_same_dynamics(robot, screws.aligned(robot), np.random.default_rng(1))


@pytest.mark.parametrize("seed", range(10))
def test_outer_screws_of_aligned_chains_vanish(seed):
    rng = np.random.default_rng(seed)
    joints = (REVOLUTE, PRISMATIC, FIXED)
    robot = robot_of(random_mechanism(rng, 6, joints=joints, parents=range(-1, 5)))
    found = screws.aligned(robot)
    assert_same_dynamics(robot, found, rng)
    for link in found.links:
        if link.parent != FIXED_BASE:
            inner, _, outer = screws.placement(link.rotation, link.offset)
            assert outer == (0.0, 0.0)
            assert inner.angle == 0.0 or link.kind == PRISMATIC
