"""Calls on tables: files, warnings in one line, programs that are kept; see the command line's."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pymodel.algorithms.rigid_body.functions import FUNCTIONS
from pymodel.arith.fp import Format
from pymodel.machine.isa import Machine
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.runs import robot_calls
from pymodel.runs.input_error import InputError
from pymodel.tests.robots import ROBOTS

WHEEL = """<robot name='wheel'><link name='ground'/><link name='disc'><inertial>
<mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='0.5'/></inertial></link>
<joint name='axle' type='continuous'><parent link='ground'/><child link='disc'/>
<axis xyz='0 0 1'/></joint></robot>"""
IIWA = reduced(load(ROBOTS / "iiwa14.urdf"))
HYQ = reduced(load(ROBOTS / "hyq.urdf", floating=True))


def test_numbers_read_back_exactly(tmp_path):
    table = {"a": np.array([0.1, -0.0, 1e-310]), "b": np.array([np.inf, np.nan, 2 / 3])}
    robot_calls.write_table(tmp_path / "deep" / "table.csv", table)
    again = robot_calls.read_table(tmp_path / "deep" / "table.csv")
    assert list(again) == ["a", "b"]
    for name, column in table.items():
        assert again[name].tobytes() == column.tobytes()


def test_random_states_are_calls():
    """Of each function, reproducible, with unit quaternions."""
    for function in FUNCTIONS:
        states = robot_calls.random_states(HYQ, function, 3, seed=2)
        assert set(states) == set(robot_calls.input_columns(HYQ, function))
        again = robot_calls.random_states(HYQ, function, 3, seed=2)
        assert all(states[name].tobytes() == again[name].tobytes() for name in states)
        answer = robot_calls.call(HYQ, function, states)
        assert answer.finite and not answer.warnings and answer.cycles is None


def test_a_ball_joints_quaternion_is_normalised():
    robot = load(ROBOTS / "mobile_arm.urdf")
    states = robot_calls.random_states(robot, "FD", 2, seed=3)
    plain = robot_calls.call(robot, "FD", states)
    assert plain.finite and not plain.warnings
    longer = states | {f"q{k}": states[f"q{k}"] * [1.0, 3.0] for k in range(4, 8)}
    answer = robot_calls.call(robot, "FD", longer)
    assert answer.warnings == ("row 2: quaternions differ from length 1 by up to 2; normalised",)
    error = max(np.abs(answer.table[name] - x).max() for name, x in plain.table.items())
    assert error < 1e-9
    with pytest.raises(InputError, match=r"row 1: the quaternion q4\.\.q7 is zero"):
        robot_calls.call(robot, "FD", states | {f"q{k}": np.zeros(2) for k in range(4, 8)})


def test_wrenches_act_on_bodies_not_on_parts_of_a_ball_joint():
    robot = load(ROBOTS / "mobile_arm.urdf")
    states = robot_calls.random_states(robot, "ID", 1, seed=3)
    pushed = {f"fext4_{k}": np.ones(1) for k in range(6)}
    with pytest.raises(InputError, match="fext4_0: a wrench on the ball joint head itself; its bo"):
        robot_calls.call(robot, "ID", states | pushed)


def test_rows_that_rounding_spoils_are_named_in_one_line():
    states = robot_calls.random_states(IIWA, "dFD", 8, seed=1)
    answer = robot_calls.call(IIWA, "dFD", states, "6/4")
    (warning,) = answer.warnings
    assert warning.startswith("rows 1, 2, 3, 4, ... (8 in all): rounding changes results by up to")


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_zero_but_for_rounding_are_not_spoiled(seed):
    """A robot that falls, at rest: its weight cancels, and no format is wide enough."""
    turn = Rotation.random(rng=seed)
    state = dict.fromkeys(robot_calls.input_columns(HYQ, "ID"), np.zeros(1))
    for k, x in enumerate(turn.as_quat()):
        state[f"q{3 + k}"] = np.array([x])
    for k, x in enumerate(turn.inv().apply([0.0, 0.0, -HYQ.gravity])):
        state[f"qdd{k}"] = np.array([x])
    answer = robot_calls.call(HYQ, "ID", state, "float32")
    assert 0.0 < np.abs(list(answer.table.values())).max() < 1e-4
    assert not answer.warnings
    state["qdd2"] = state["qdd2"] + 1e-6
    assert robot_calls.call(HYQ, "ID", state, "float32").warnings


@pytest.mark.parametrize("target", robot_calls.TARGETS)
def test_results_that_are_zero_by_structure(tmp_path, target):
    """A wheel on a vertical axis through its centre of mass: torque depends on qdd alone."""
    (tmp_path / "wheel.urdf").write_text(WHEEL)
    wheel = reduced(load(tmp_path / "wheel.urdf"))
    states = robot_calls.random_states(wheel, "dID", 3, seed=1)
    answer = robot_calls.call(wheel, "dID", states, "float32", target)
    assert {name: x.tolist() for name, x in answer.table.items()} == {
        "dtau_dq0_0": [0.0] * 3,
        "dtau_dqd0_0": [0.0] * 3,
    }
    assert answer.cycles is None and not answer.warnings
    with pytest.raises(InputError, match="dID of wheel: all results are zero"):
        robot_calls.prepare(Machine(), wheel, "dID")
    answer = robot_calls.call(wheel, "ID", states, "float32", target)
    assert answer.table["tau0"] == pytest.approx(0.5 * states["qdd0"], rel=1e-6)


def test_watching():
    seen = []
    states = robot_calls.random_states(IIWA, "ID", 3, seed=1)
    robot_calls.call(IIWA, "ID", states, "float32", watch=lambda *found: seen.append(found))
    assert seen == [(0, 3), (1, 3), (2, 3)]


def test_a_program_is_scheduled_once():
    one, again = (robot_calls.prepare(Machine(), IIWA, "ID") for _ in range(2))
    assert one is again
    assert robot_calls.prepare(Machine(), IIWA, "ID", Format(5, 10)) is not one


@pytest.mark.parametrize("target", robot_calls.TARGETS)
def test_flags_are_of_all_rows(target):
    """A row that overflows in half precision, between two that do not."""
    states = robot_calls.random_states(IIWA, "FD", 3, seed=1)
    quiet = robot_calls.call(IIWA, "FD", states, "5/10", target)
    states["tau6"][1] = 6e4
    answer = robot_calls.call(IIWA, "FD", states, "5/10", target)
    assert quiet.finite and not answer.finite
    assert answer.flags & 4 and not quiet.flags & 4
    for name, column in answer.table.items():
        assert column[[0, 2]].tobytes() == quiet.table[name][[0, 2]].tobytes()
