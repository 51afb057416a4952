"""Reduced robots: the same dynamics, fewer parameters."""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.mechanism import urdf
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot import PRISMATIC, REVOLUTE, Robot
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.tests.robots import NAMES, ROBOTS, random_state, random_urdf
from pymodel.tests.spatial import inverse_dynamics


def offsets(robot):
    """How many entries of the offsets are not zero."""
    return sum(np.count_nonzero(link.offset) for link in robot.links)


def assert_same_dynamics(robot, other, rng, states=5):
    for _ in range(states):
        state = random_state(robot, rng)
        want = inverse_dynamics(robot, *state)
        assert np.abs(inverse_dynamics(other, *state) - want).max() < 1e-12 * np.abs(want).max()


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
def test_reduction_keeps_inverse_dynamics(name, floating):
    robot = urdf.load(ROBOTS / f"{name}.urdf", floating)
    assert_same_dynamics(robot, reduced(robot), np.random.default_rng(1))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.nightly(every=8)
def test_reduction_keeps_inverse_dynamics_of_random_trees(seed, floating, tmp_path):
    rng = np.random.default_rng(seed)
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(rng))
    robot = urdf.load(path, floating, armature=0.1)
    small = reduced(robot)
    assert offsets(small) <= offsets(robot)
    assert_same_dynamics(robot, small, rng)


@pytest.mark.parametrize(
    ("name", "floating", "count"),
    [
        ("iiwa14", False, 2),
        ("iiwa14", True, 3),
        ("hyq", False, 8),
        ("hyq", True, 16),
        ("atlas", False, 32),
        ("atlas", True, 36),
    ],
)
def test_offsets_that_are_left(name, floating, count):
    assert offsets(reduced(urdf.load(ROBOTS / f"{name}.urdf", floating, snap=SNAP))) == count


def test_base_parameters_are_left(tmp_path):
    path = tmp_path / "random.urdf"
    kinds = set()
    for seed in range(10):
        path.write_text(random_urdf(np.random.default_rng(seed)))
        for link in reduced(urdf.load(path)).links:
            kinds.add(link.kind)
            moved_away = np.s_[2:, 2:] if link.kind == REVOLUTE else np.s_[:3, :3]
            assert not link.inertia[moved_away].any()
    assert kinds == {REVOLUTE, PRISMATIC}


def test_prismatic_frame_goes_where_offsets_vanish(tmp_path):
    path = tmp_path / "random.urdf"
    path.write_text(random_urdf(np.random.default_rng(3)))
    robot = urdf.load(path, floating=True)
    sliding = [k for k, link in enumerate(robot.links) if link.kind == PRISMATIC]
    leaves = [k for k in sliding if k not in {link.parent for link in robot.links}]
    assert leaves
    for k in leaves:
        assert not reduced(robot).links[k].offset.any()


@pytest.mark.parametrize("tilt", ["1e-3", "1e-4", "1e-8"])
def test_frames_do_not_slide_far_along_nearly_perpendicular_axes(tilt, tmp_path):
    inertial = (
        "<inertial><origin xyz='0.05 -0.02 0.1'/><mass value='2'/>"
        "<inertia ixx='0.02' ixy='0.001' ixz='0.002' iyy='0.025' iyz='0.0015' izz='0.01'/>"
        "</inertial>"
    )
    joints = (("0 0 0.3", "0 1 0"), ("0.3 0 0.5", f"{tilt} 0 1"), ("0.1 0.3 0.5", f"1 {tilt} 0"))
    text = "<link name='l0'/>" + "".join(
        f"<link name='l{k}'>{inertial}</link><joint name='j{k}' type='revolute'>"
        f"<parent link='l{k - 1}'/><child link='l{k}'/><origin xyz='{xyz}'/><axis xyz='{axis}'/>"
        "</joint>"
        for k, (xyz, axis) in enumerate(joints, start=1)
    )
    path = tmp_path / "tilted.urdf"
    path.write_text(f"<robot name='tilted'>{text}</robot>")
    robot = urdf.load(path)
    small = reduced(robot)
    assert_same_dynamics(robot, small, np.random.default_rng(1))
    assert max(np.linalg.norm(link.frame_offset) for link in small.links) < 1  # m


def with_masses(robot: Robot, factor):
    """The robot with the inertia of each link scaled."""
    links = (
        replace(link, inertia=f * link.inertia) for link, f in zip(robot.links, factor, strict=True)
    )
    return replace(robot, links=tuple(links))


@pytest.mark.parametrize("name", NAMES)
def test_other_masses_leave_the_zeros_and_act_linearly(name):
    robot, rng = urdf.load(ROBOTS / f"{name}.urdf", floating=True), np.random.default_rng(2)
    factors = rng.uniform(0.5, 2, (2, len(robot.links)))
    a, b, both = (reduced(with_masses(robot, f)) for f in (*factors, factors.sum(axis=0)))
    for one, two, sum_ in zip(a.links, b.links, both.links, strict=True):
        assert np.array_equal(one.offset, two.offset)
        assert np.array_equal(one.frame_offset, two.frame_offset)
        assert np.array_equal(one.inertia == 0, two.inertia == 0)
        assert np.allclose(one.inertia + two.inertia, sum_.inertia, rtol=1e-13, atol=1e-13)
