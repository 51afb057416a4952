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


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
def test_segments_as_pinocchio(name, floating):
    robot = load(ROBOTS / f"{name}.urdf", floating)
    states = robot_calls.random_states(reduced(robot), "dFD", STATES, seed=9)
    expected = pinocchio_reference.call(robot, "dFD", states)
    (row,) = chained(reduced(robot)).evaluate(Float64Arrays(), states)
    zero = np.zeros(STATES)
    found = {key: row.get(key, zero) + zero for key in expected}
    assert row.keys() <= expected.keys()
    assert relative_error(found, expected) < SAME
