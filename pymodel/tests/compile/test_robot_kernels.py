"""Operations of the rigid-body functions: no more than the best formulation known needs."""

import numpy as np
import pytest

from pymodel.compile.robot_kernels import cheapest, count, recorded
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.urdf import load
from pymodel.tests.robots import ROBOTS

LOADED = {
    "iiwa": reduced(load(ROBOTS / "iiwa14.urdf")),
    "hyq": reduced(load(ROBOTS / "hyq.urdf", floating=True)),
    "atlas": reduced(load(ROBOTS / "atlas.urdf", floating=True)),
}
#: Function -> multiplications and additions of each robot.
OPERATIONS = {
    "ID": ((220, 197), (728, 716), (1602, 1477)),
    "M": ((112, 97), (324, 360), (1722, 1423)),
    "FD": ((440, 374), (1689, 1664), (4232, 3992)),
    "Minv": ((286, 231), (1872, 1646), (9477, 8224)),
    "dID": ((1003, 876), (3031, 2860), (11707, 9863)),
    "dFD": ((1860, 1644), (8155, 7545), (40484, 36363)),
    "diFD": ((1633, 1415), (7748, 7175), (47632, 43712)),
}
CASES = [
    (robot, function, *counts)
    for function, row in OPERATIONS.items()
    for robot, counts in zip(LOADED, row, strict=True)
]
AS_DATA = 1.03  # operations with parameters as data against those with numbers


@pytest.mark.parametrize(("robot", "function", "mul", "add"), CASES)
def test_operations(robot, function, mul, add):
    found = count(LOADED[robot], function)
    assert found.mul <= mul
    assert found.add <= add


@pytest.mark.parametrize(("robot", "function", "mul", "add"), CASES)
def test_operations_with_parameters_as_data(robot, function, mul, add):
    if robot == "atlas" and function in ("dFD", "diFD"):
        pytest.skip("takes half a minute, and has the structure of Atlas' dID and Minv")
    found = count(LOADED[robot], function, parameters_as_data=True)
    assert found.mul + found.add <= AS_DATA * (mul + add)


def test_the_cheapest_formulation():
    assert cheapest(LOADED["iiwa"], "FD") == "factors"
    assert cheapest(LOADED["hyq"], "FD") == "articulated"
    assert cheapest(LOADED["atlas"], "dFD") == "inverse factors"


def test_other_masses_leave_the_program():
    """Parameters as data: a heavier robot of the same structure has the same operations."""
    robot = load(ROBOTS / "iiwa14.urdf")
    links = [
        type(x)(**{**vars(x), "inertia": x.inertia * f})
        for x, f in zip(robot.links, np.linspace(1.1, 1.9, 7), strict=True)
    ]
    heavier = reduced(type(robot)(robot.name, tuple(links)))
    one, other = (recorded(r, "FD", parameters_as_data=True) for r in (LOADED["iiwa"], heavier))
    assert one.graph.nodes == other.graph.nodes
    assert one.parameters != other.parameters
    assert one.parameters.keys() == other.parameters.keys()
