"""Trajectories side by side."""

from dataclasses import replace

import numpy as np
import pytest

from pymodel.mechanism.scenario import REVOLUTE, SPHERICAL
from pymodel.mechanism.scenario_file import load
from pymodel.runs.comparison import compare, reference, with_signs_of
from pymodel.runs.input_error import InputError
from pymodel.runs.simulate import simulate
from pymodel.runs.trajectory import Trajectory
from pymodel.tests.every_joint import every_joint
from pymodel.tests.places import SCENARIOS


@pytest.fixture(scope="module")
def scenario():
    return load(SCENARIOS / "double_pendulum.toml", steps=20)


@pytest.fixture(scope="module")
def run(scenario):
    return simulate(scenario)


def test_equal_runs(run):
    found = compare(run, replace(run))
    assert found.identical and found.largest("q") == 0.0
    assert str(found) == "bit-identical: 21 rows"


def test_one_bit(run):
    q = run.q.copy()
    q[7, 1] = np.nextafter(q[7, 1], 1.0)
    found = compare(run, replace(run, q=q))
    assert not found.identical
    assert [name for name, column in found.columns.items() if not column.identical] == ["q1"]
    column = found.columns["q1"]
    assert (column.rows, column.time) == (1, run.t[7])
    assert column.largest == found.largest("q") == abs(q - run.q).max() > 0.0
    assert found.largest("q0") == found.columns["q0"].largest
    assert "q1" in str(found) and "1 rows, from t = 0.0007 s" in str(found)


def test_the_sign_of_zero_is_a_difference(run):
    column = compare(run, replace(run, loop_position=-run.loop_position)).columns["loop_position"]
    assert (column.rows, column.largest) == (21, 0.0)


def test_runs_of_different_length(run):
    found = compare(run, run.first(5))
    assert not found.identical and found.rows == (21, 5)
    assert all(column.identical for column in found.columns.values())


def test_a_scenario_stands_for_its_reference(scenario, run):
    found = compare(run, scenario)
    assert found.columns == compare(run, reference(scenario)).columns
    assert found.columns["t"].identical and 0.0 < found.largest("q") < 1e-3


def test_quaternions_compare_up_to_sign():
    scenario = every_joint((REVOLUTE, SPHERICAL))
    rng = np.random.default_rng(1)
    q, rates, nothing = rng.normal(size=(6, 5)), np.zeros((6, 4)), np.zeros(6)
    run = Trajectory(np.arange(6.0), q, rates, rates, *[nothing] * 4)
    turned = q.copy()
    turned[2:4] *= -1.0
    found = with_signs_of(run, replace(run, q=turned).first(5), scenario)
    assert len(found) == 5
    np.testing.assert_array_equal(found.q[:, 1:], q[:5, 1:])
    np.testing.assert_array_equal(found.q[:, 0], turned[:5, 0])


def test_what_cannot_be_compared(scenario, run):
    with pytest.raises(InputError, match="four_bar.toml: 3 coordinates, the trajectory has 2"):
        compare(run, load(SCENARIOS / "four_bar.toml"))
    with pytest.raises(InputError, match="runs of 2 coordinates and 1 coordinate cannot be"):
        compare(run, replace(run, q=run.q[:, :1], qd=run.qd[:, :1], p=run.p[:, :1]))
    with pytest.raises(InputError, match="must be a Trajectory, as pymodel.simulate makes one"):
        compare(run, "run.csv")
    with pytest.raises(InputError, match="quantity 'angle': no column"):
        compare(run, run).largest("angle")
    for t in ([0.0, 0.2, 0.1], [-0.1], [], [[0.0]], [np.nan], [0.0, np.inf], [np.inf] * 2):
        with pytest.raises(InputError, match="t: must be times in s"):
            reference(scenario, t)
