"""The seven functions against Pinocchio, in float64, on the repository's robots."""

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, force_columns
from pymodel.arith.scalars import Float64Arrays
from pymodel.compile.robot_kernels import chained
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.runs import pinocchio_reference, robot_calls
from pymodel.tests.robots import NAMES, ROBOTS, relative_error

STATES = 200
SAME = 1e-12  # relative to the largest entry of all states


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.nightly("hyq-floating")
def test_functions_as_pinocchio(name, floating):
    robot = load(ROBOTS / f"{name}.urdf", floating)
    small, rng = reduced(robot), np.random.default_rng(9)
    pushed = {c: rng.uniform(-1, 1, STATES) for c in force_columns(range(len(robot.links)))}
    errors = {}
    for function in FUNCTIONS:
        states = robot_calls.random_states(small, function, STATES, seed=9)
        for wrenches in ({}, pushed) if function in ("ID", "FD") else ({},):
            table = states | wrenches
            found = robot_calls.call(small, function, table).table
            expected = pinocchio_reference.call(robot, function, table)
            errors[function, len(wrenches)] = relative_error(found, expected)
    assert max(errors.values()) < SAME, errors


@pytest.mark.parametrize("gravity", [(1.0, -2.0, 3.0), (0.0, 9.81, 0.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.nightly(every=4)
def test_functions_under_any_gravity(floating, gravity):
    robot = load(ROBOTS / "hyq.urdf", floating, gravity=gravity)
    assert robot.gravity_vector == pytest.approx(np.array(gravity), rel=1e-15, abs=1e-15)
    down = load(ROBOTS / "hyq.urdf", floating)
    for function in FUNCTIONS:
        table = robot_calls.random_states(reduced(robot), function, STATES, seed=9)
        found = robot_calls.call(reduced(robot), function, table).table
        expected = pinocchio_reference.call(robot, function, table)
        assert relative_error(found, expected) < SAME, function
        other = relative_error(found, robot_calls.call(reduced(down), function, table).table)
        assert (other > 1e-3) == FUNCTIONS[function].gravity, function


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.nightly("iiwa14-fixed", "hyq-floating")
def test_segments_as_pinocchio(name, floating):
    robot = load(ROBOTS / f"{name}.urdf", floating)
    states = robot_calls.random_states(reduced(robot), "dFD", STATES, seed=9)
    expected = pinocchio_reference.call(robot, "dFD", states)
    (row,) = chained(reduced(robot)).evaluate(Float64Arrays(), states)
    zero = np.zeros(STATES)
    found = {key: row.get(key, zero) + zero for key in expected}
    assert row.keys() <= expected.keys()
    assert relative_error(found, expected) < SAME


def test_masses_that_grow_outward(tmp_path):
    """Each a hundred times the one before: a small inertia added to a large one is no rounding."""
    inertia = "<inertia ixx='{}' iyy='{}' izz='{}' ixy='0' ixz='0' iyz='0'/>"
    parts = ["<link name='l0'/>"]
    for i in range(6):
        numbers = inertia.format(100**i / 120, 100**i / 12, 100**i / 12)
        parts += [f"<link name='l{i + 1}'><inertial><origin xyz='0.5 0 0'/>"]
        parts += [f"<mass value='{100**i}'/>{numbers}</inertial></link>"]
        parts += [f"<joint name='j{i}' type='continuous'><parent link='l{i}'/><axis xyz='0 1 0'/>"]
        parts += [f"<child link='l{i + 1}'/><origin xyz='{min(i, 1)} 0 0'/></joint>"]
    path = tmp_path / "grows.urdf"
    path.write_text(f"<robot name='grows'>{''.join(parts)}</robot>")
    robot = load(path)
    table = robot_calls.random_states(reduced(robot), "ID", STATES, seed=9)
    table |= pinocchio_reference.call(robot, "ID", table)  # torques of known accelerations
    wanted = {name: table.pop(name) for name in [*table] if name.startswith("qdd")}
    errors = [
        np.median([np.abs(found[name] - wanted[name]) for name in wanted])
        for found in (
            robot_calls.call(reduced(robot), "FD", table).table,
            pinocchio_reference.call(robot, "FD", table),
        )
    ]
    assert errors[0] < 10 * errors[1], errors
