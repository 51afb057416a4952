"""Operations of the rigid-body functions: no more than the best formulation known needs."""

import re
from dataclasses import replace

import numpy as np
import pytest

from pymodel.algorithms.rigid_body.functions import FUNCTIONS, methods
from pymodel.arith.errors import InputError
from pymodel.compile import graph, recording_limit, robot_kernels
from pymodel.compile.robot_kernels import cheapest, count, recorded
from pymodel.mechanism.loop import Loop
from pymodel.mechanism.reduction import reduced
from pymodel.mechanism.robot_bodies import SNAP
from pymodel.mechanism.urdf import load
from pymodel.tests.robots import ROBOTS
from pymodel.tests.trees import random_robot

LOADED = {
    "iiwa": reduced(load(ROBOTS / "iiwa14.urdf", snap=SNAP)),
    "hyq": reduced(load(ROBOTS / "hyq.urdf", floating=True, snap=SNAP)),
    "atlas": reduced(load(ROBOTS / "atlas.urdf", floating=True, snap=SNAP)),
}
#: Function -> multiplications and additions of each robot.
OPERATIONS = {
    "ID": ((218, 190), (728, 704), (1595, 1457)),
    "M": ((112, 97), (324, 360), (1722, 1423)),
    "FD": ((438, 369), (1673, 1650), (4094, 3894)),
    "Minv": ((286, 231), (1872, 1646), (9477, 8224)),
    "dID": ((944, 832), (3012, 2816), (11668, 9784)),
    "dFD": ((1749, 1554), (8100, 7465), (40379, 36217)),
    "diFD": ((1516, 1322), (7657, 7059), (47413, 43453)),
}
CASES = [
    (robot, function, *counts)
    for function, row in OPERATIONS.items()
    for robot, counts in zip(LOADED, row, strict=True)
]
AS_DATA = 1.03  # operations with parameters as data against those with numbers
#: Those of iiwa where it shows in its numbers only that its flange is a body of revolution.
ROUND_FLANGE = {"dID": (1000, 871), "dFD": (1857, 1639), "diFD": (1629, 1410)}


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
    if robot == "iiwa" and function in ROUND_FLANGE:
        assert (found.mul, found.add) == ROUND_FLANGE[function]
    else:
        assert found.mul + found.add <= AS_DATA * (mul + add)


def test_the_cheapest_formulation():
    assert cheapest(LOADED["iiwa"], "FD") == "factors"
    assert cheapest(LOADED["hyq"], "FD") == "articulated"
    assert cheapest(LOADED["atlas"], "dFD") == "inverse factors"


@pytest.mark.nightly("9")
@pytest.mark.parametrize("links", [pytest.param(n, id=str(n)) for n in (9, 13, 24)])
def test_the_method_that_loses_is_not_recorded(monkeypatch, tmp_path, links):
    robot = reduced(load(chain(tmp_path, links)))
    costs = [
        robot_kernels.operations(recorded(robot, "dFD", method))
        for method in ("factors", "inverse factors")
    ]
    more = {op: costs[1][op] - costs[0][op] for op in ("mul", "add")}
    assert more == dict.fromkeys(more, links * (links - 1) * (links - 2) // 6)
    fresh = reduced(load(tmp_path / "chain.urdf"))
    monkeypatch.setattr(robot_kernels, "recorded", lambda *_: pytest.fail("a rival was recorded"))
    assert cheapest(fresh, "dFD") == "factors"


@pytest.mark.parametrize("name", ["iiwa14", "hyq", "mobile_arm", "tethered", "random"])
def test_products_of_articulated_bodies_have_a_bound(name):
    """With everything at angles that are no right ones."""
    if name == "random":
        robot = random_robot(3, 12)
    else:
        robot = load(ROBOTS / f"{name}.urdf", floating=name == "hyq")
    found = robot_kernels.operations(recorded(robot, "FD", "articulated"))["mul"]
    assert found < 0.8 * robot_kernels.PRODUCTS_OF_A_JOINT * robot.nv


def test_factors_of_a_long_branch_are_not_recorded(tmp_path):
    """They alone take more products than articulated bodies."""
    robot = reduced(load(chain(tmp_path, 70)))
    assert robot_kernels._possible(robot, "FD") == ("articulated",)
    assert len(robot_kernels._possible(reduced(load(chain(tmp_path, 40))), "FD")) == 2


def test_other_masses_leave_the_program():
    """Parameters as data: a heavier robot of the same structure has the same operations."""
    robot = load(ROBOTS / "iiwa14.urdf", snap=SNAP)
    links = [
        type(x)(**{**vars(x), "inertia": x.inertia * f})
        for x, f in zip(robot.links, np.linspace(1.1, 1.9, 7), strict=True)
    ]
    heavier = reduced(type(robot)(robot.name, tuple(links)))
    one, other = (recorded(r, "FD", parameters_as_data=True) for r in (LOADED["iiwa"], heavier))
    assert one.graph.nodes == other.graph.nodes
    assert one.parameters != other.parameters
    assert one.parameters.keys() == other.parameters.keys()


@pytest.mark.nightly("ID")
@pytest.mark.parametrize("function", ["FD", "ID", "Minv"])
def test_operations_of_a_long_chain_are_estimated(monkeypatch, tmp_path, function):
    robot = load(chain(tmp_path, 40))
    monkeypatch.setattr(recording_limit, "FEW", 33)
    for method in FUNCTIONS[function].methods:
        expected = robot_kernels.estimated(robot, function, method)
        told = []
        monkeypatch.setattr(graph, "WATCHED", 1000)
        with recording_limit.watched(lambda done, all_, told=told: told.append((done, all_))):
            found = len(recorded(robot, function, method).graph.nodes)
        assert expected == pytest.approx(found, rel=0.02)
        assert [done for done, _ in told] == list(range(1000, found + 1, 1000))
        assert all(all_ == max(done, expected) for done, all_ in told)
    with monkeypatch.context() as patch:  # what is known by now says it: nothing is recorded
        patch.setattr(robot_kernels, "recorded", lambda *_: pytest.fail("a rival was recorded"))
        cheapest = robot_kernels.cheapest(robot, function)
    costs = {
        method: [
            robot_kernels.operations(recorded(robot, function, method))[op] for op in ("mul", "add")
        ]
        for method in FUNCTIONS[function].methods
    }
    assert costs[cheapest] == min(costs.values())
    fewest = min(robot_kernels.estimated(robot, function, x) for x in FUNCTIONS[function].methods)
    fresh = load(tmp_path / "chain.urdf")
    monkeypatch.setattr(recording_limit, "MOST", fewest + 1)
    assert robot_kernels.cheapest(fresh, function) == cheapest
    monkeypatch.setattr(recording_limit, "MOST", fewest - 1)
    with pytest.raises(InputError) as caught:
        recorded(load(tmp_path / "chain.urdf"), function)
    said = re.match(f"{function} of chain: about (.*) operations, at ", str(caught.value))
    assert fewest - 1 < float(said[1]) < 1.1 * fewest


def beyond(folder, what):
    """A chain of 14 links, and a function; what it has refers to links behind a cut, or lies on it.

    The first links that it is estimated from are 4, 6, 8, and 10.
    """
    robot = load(chain(folder, 14))
    if what == "ball":  # links 3, 4, and 5
        text = (folder / "chain.urdf").read_text()
        ball = text.replace("name='j4' type='revolute'", "name='j4' type='ball'")
        (folder / "chain.urdf").write_text(ball)
        return load(folder / "chain.urdf"), "FD"
    if what == "fixed":
        return replace(robot, fixed_acceleration=(12,)), "HD"
    ends = (np.eye(3), np.eye(3)), (np.zeros(3), np.ones(3))
    return replace(robot, loops=(Loop("rod", "ball", (5, 12), *ends, (0, 1, 2)),)), "FDc"


@pytest.mark.parametrize("what", ["ball", "fixed", "loop"])
def test_what_lies_behind_a_cut_is_no_part_of_an_estimate(monkeypatch, tmp_path, what):
    robot, function = beyond(tmp_path, what)
    want = recorded(robot, function)
    monkeypatch.setattr(recording_limit, "FEW", 10)
    monkeypatch.setattr(robot_kernels, "FIRST", (4, 6, 8, 10))
    robot = replace(robot)  # of which nothing is kept
    known = methods(robot, function)
    assert min(robot_kernels.estimated(robot, function, method) for method in known) > 100
    assert recorded(robot, function).graph.nodes == want.graph.nodes


def test_an_estimate_ends_where_it_shows_too_many(monkeypatch, tmp_path):
    """And the line never says that there are as many as may be."""
    robot, sizes = load(chain(tmp_path, 40)), []
    monkeypatch.setattr(recording_limit, "FEW", 33)
    found = robot_kernels.recorded

    def record(robot, *rest):
        sizes.append(len(robot.links))
        return found(robot, *rest)

    monkeypatch.setattr(robot_kernels, "recorded", record)
    (method,) = FUNCTIONS["dID"].methods
    expected = robot_kernels.estimated(robot, "dID", method)
    assert sizes == list(robot_kernels.FIRST)
    monkeypatch.setattr(recording_limit, "MOST", expected // 2)
    sizes.clear()
    assert recording_limit.MOST < robot_kernels.estimated(replace(robot), "dID", method)
    assert sizes == list(robot_kernels.FIRST)[:2]
    for more, said in ((1, "about 20001 "), (900, "about 2.1e+04 ")):
        monkeypatch.setattr(recording_limit, "MOST", 20_000)
        with pytest.raises(InputError, match=re.escape(said)):
            recording_limit.require_few("dID", 20_000 + more)


def chain(folder, links):
    """A chain of equal links whose axes alternate."""
    inertial = "<inertial><origin xyz='0.1 0 0.05'/><mass value='1'/><inertia ixx='0.1' ixy='0.01' "
    inertial += "ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial>"
    parts = [
        f"<link name='l{k}'>{inertial}</link><joint name='j{k}' type='revolute'>"
        f"<parent link='l{k - 1}'/><child link='l{k}'/><origin xyz='0.1 0.02 0.2' rpy='0.3 0 0'/>"
        f"<axis xyz='{'1 0 0' if k % 2 else '0 0 1'}'/></joint>"
        for k in range(1, links + 1)
    ]
    path = folder / "chain.urdf"
    path.write_text(f"<robot name='chain'><link name='l0'/>{''.join(parts)}</robot>")
    return path
